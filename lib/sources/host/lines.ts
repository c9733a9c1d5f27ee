/** What a host prints, as lines for the log. */
import { printable } from "../../events/json.ts";

/** A longer line is cut here, in characters. */
const MOST = 4_096;

/** Takes bytes as they come and tells of whole lines, safe to print; empty ones are left out. */
export class LineLog {
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(readonly tell: (line: string) => void) {}

  take(bytes: Uint8Array): void {
    this.#add(this.#decoder.decode(bytes, { stream: true }));
  }

  /** What came without a newline at its end. */
  end(): void {
    this.#add(this.#decoder.decode() + "\n");
  }

  #add(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = lines.pop()!;
    for (const line of lines) this.#line(line);
    if (this.#rest.length <= MOST) return;
    // Without bound only the log would grow, but the rest is kept here.
    this.#line(this.#rest);
    this.#rest = "";
  }

  #line(line: string): void {
    const text = line.trimEnd();
    if (text === "") return;
    this.tell(printable(text.length > MOST ? `${text.slice(0, MOST)}…` : text, true));
  }
}
