/** Builds the one {@link Context} of a run from the command line, the environment and the home. */
import path from "node:path";
import process from "node:process";
import { mergedEnv } from "../config/dotenv.ts";
import { readDotenv } from "../config/dotenv_file.ts";
import { expandTilde, ownHome, profileOf, resolveHome } from "../config/home.ts";
import { ConfigError } from "../config/load.ts";
import type { Context } from "../context.ts";
import { printable } from "../events/json.ts";
import type { Args } from "./args.ts";
import type { Io } from "./io.ts";

/** The folder we were started in; the root when it is gone. */
function startFolder(): string {
  try {
    return process.cwd();
  } catch {
    return path.parse(process.execPath).root;
  }
}

function processEnv(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined) env[name] = value;
  }
  return env;
}

// A path whose bytes are no UTF-8 reaches us with replacement characters: another path, at which
// there is no config, so that every gate would be open without a word.
function refuseGarbled(...paths: string[]): void {
  const garbled = paths.find((each) => each.includes("\ufffd"));
  if (garbled === undefined) return;
  throw new ConfigError(`"${garbled}" is not valid UTF-8: give home and config paths that are`);
}

/**
 * Where this run stands (rules 1.1–1.4). Log lines go to stderr, those of level debug only with
 * `--debug`.
 * @throws ConfigError for a path that is not valid UTF-8
 */
export function contextOf(args: Args, io: Io): Context {
  const own = processEnv();
  const folder = startFolder();
  const userHome = ownHome(own);
  const home = path.resolve(folder, resolveHome({ flag: args.options.home, env: own, userHome }));
  const named = args.options.config;
  const configFile = named
    ? path.resolve(folder, expandTilde(named, own))
    : path.join(home, "config.yaml");
  refuseGarbled(home, configFile);
  const env = mergedEnv(own, readDotenv(home));
  return {
    home,
    configFile,
    profile: profileOf(home, userHome),
    env,
    startFolder: folder,
    now: () => new Date(),
    log: (level, text) => {
      if (level === "debug" && !args.options.debug) return;
      io.err(`hermes-hooks: ${level}: ${printable(text)}\n`);
    },
  };
}
