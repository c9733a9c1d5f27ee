/** What plugins and gateway hooks do wrong, in the log: the same again only at debug (rule 8.5). */
import type { Context } from "../context.ts";

/** So many different failures are remembered; then it starts over. */
const REMEMBERED = 1000;

/** The failures of one home's plugins, or of its gateway hooks. */
export class Failures {
  readonly #log: Context["log"];
  readonly #said = new Set<string>();

  constructor(log: Context["log"]) {
    this.#log = log;
  }

  /** Logs one failure; the line names whose it is. */
  say(line: string): void {
    const again = this.#said.has(line);
    if (!again && this.#said.size >= REMEMBERED) this.#said.clear();
    this.#said.add(line);
    this.#log(again ? "debug" : "warning", line);
  }

  /** For what is worth knowing only to who looks for it. */
  debug(line: string): void {
    this.#log("debug", line);
  }
}
