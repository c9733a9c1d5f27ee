/** The bearer token that TCP asks for: named by the config, or made once and kept in the home. */
import { randomBytes } from "node:crypto";
import { linkSync, lstatSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ownFolder, ServeError } from "./socket.ts";

/** A token and where it comes from. */
export interface Token {
  readonly token: string;
  /** The file it is kept in; absent when a variable gave it. */
  readonly file?: string;
  /** Made just now: the only time it is shown. */
  readonly fresh: boolean;
}

/** Shorter ones could be guessed, in characters. */
const LEAST = 16;

/**
 * The token from the environment.
 * @throws ServeError when the variable is unset, empty or too short: never open by accident
 */
export function tokenFromEnv(name: string, env: Readonly<Record<string, string>>): Token {
  const token = env[name]?.trim() ?? "";
  if (token === "") {
    throw new ServeError(`serve.token_env names "${name}", which is unset or empty`);
  }
  if (token.length < LEAST || /\s/.test(token)) {
    throw new ServeError(
      `the token in "${name}" must have ${LEAST} characters or more and no spaces`,
    );
  }
  return { token, fresh: false };
}

/**
 * The token kept in `<home>/run/token` (0600), made when there is none.
 * @throws ServeError when it cannot be made or read, or others may read it
 */
export function tokenFromHome(home: string, uid: number | undefined): Token {
  const folder = path.join(home, "run");
  ownFolder(folder, uid);
  const file = path.join(folder, "token");
  const kept = readToken(file, uid);
  if (kept !== undefined) return { token: kept, file, fresh: false };
  const token = randomBytes(32).toString("base64url");
  const draft = `${file}.${randomBytes(4).toString("hex")}`;
  try {
    writeFileSync(draft, token + "\n", { mode: 0o600, flag: "wx" });
    // Never replaces one that another listener made meanwhile.
    linkSync(draft, file);
    return { token, file, fresh: true };
  } catch (error) {
    const made = readToken(file, uid);
    if (made !== undefined) return { token: made, file, fresh: false };
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new ServeError(`token file "${file}" cannot be written: ${code}`);
  } finally {
    rmSync(draft, { force: true });
  }
}

function readToken(file: string, uid: number | undefined): string | undefined {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (!stat) return undefined;
  const advice = "remove it, and a new one is made";
  if (!stat.isFile()) throw new ServeError(`token file "${file}" is no file; ${advice}`);
  if (uid !== undefined && (stat.uid !== uid || (stat.mode & 0o077) !== 0)) {
    throw new ServeError(`token file "${file}" is not ours alone (0600); ${advice}`);
  }
  const token = readFileSync(file, "utf8").trim();
  if (token.length < LEAST) throw new ServeError(`token file "${file}" holds no token; ${advice}`);
  return token;
}
