/** `--secret-env NAME`: the secrets themselves, from the environment and never from an argument. */
import type { Context } from "../context.ts";
import { printable } from "../events/json.ts";
import { standardKey } from "../receive/signature.ts";
import { type Args, UsageError } from "./args.ts";

/** Secrets, or the one line that says which is not there. */
export type Secrets = { readonly ok: true; readonly secrets: readonly string[] } | {
  readonly ok: false;
  readonly reason: string;
};

/**
 * The values of the named variables, from the environment, then `<home>/.env`.
 * @throws UsageError for a name that no variable can have
 */
export function readSecrets(args: Args, context: Context): Secrets {
  const secrets: string[] = [];
  for (const name of args.options["secret-env"] ?? []) {
    if (name === "" || /[=\0]/.test(name)) {
      throw new UsageError("--secret-env takes the name of a variable, not its value");
    }
    const value = Object.hasOwn(context.env, name) ? context.env[name] : undefined;
    const shown = `--secret-env: the variable "${printable(name)}"`;
    if (!value) {
      const state = value === undefined ? "is not set" : "is empty";
      return { ok: false, reason: `${shown} ${state}; set it here or in <home>/.env` };
    }
    if (standardKey(value) === undefined) {
      return { ok: false, reason: `${shown} begins with whsec_, and what follows is no base64` };
    }
    secrets.push(value);
  }
  return { ok: true, secrets };
}
