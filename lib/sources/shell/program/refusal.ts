/** Why a command cannot be started (rule 3.9), as a value. */
import { printable } from "../../../events/json.ts";

/** The kinds of failure, in the words users see. */
export type RefusalCode =
  | "command not found"
  | "not executable"
  | "bad interpreter"
  | "exec format error"
  | "cannot be parsed"
  | "script not found";

/** A command that is not started. */
export interface Refusal {
  readonly ok: false;
  readonly code: RefusalCode;
  /** One line that begins with the code: `command not found: "x"`. */
  readonly reason: string;
}

/** A refusal whose reason is `code: detail`. */
export function refuse(code: RefusalCode, detail: string): Refusal {
  return { ok: false, code, reason: `${code}: ${detail}` };
}

/** A value for a message: in quotes, nothing in it that could steer a terminal. */
export function quoted(text: string): string {
  return `"${printable(text)}"`;
}
