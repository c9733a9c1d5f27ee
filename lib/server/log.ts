/** The listener's log: one line a thing, as text for people or JSON for machines. */
import { fromJs, printable, writeJson } from "../events/json.ts";

/** From the least to the most urgent. */
export type LogLevel = "debug" | "info" | "warning" | "error";

const LEVELS: readonly LogLevel[] = ["debug", "info", "warning", "error"];

/** How a {@link Log} is set up. */
export interface LogOptions {
  readonly format: "text" | "json";
  /** The least urgent level that is written. */
  readonly level: LogLevel;
  /** Takes finished lines, each with its newline. */
  readonly write: (text: string) => void;
  readonly now: () => Date;
}

/** Values beside a line's message. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** How long lines are collected before they are written, in ms; urgent ones never wait. */
const COLLECT_MS = 20;

/** Writes log lines; those below warning are collected for a moment and written together. */
export class Log {
  #options: LogOptions;
  #lines: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LogOptions) {
    this.#options = options;
  }

  /** Changes the least urgent level that is written. */
  set level(level: LogLevel) {
    this.#options = { ...this.#options, level };
  }

  /** Would a line of this level be written? */
  writes(level: LogLevel): boolean {
    return LEVELS.indexOf(level) >= LEVELS.indexOf(this.#options.level);
  }

  /** Writes one line: when, level, message, then the fields that are set. */
  line(level: LogLevel, message: string, fields: LogFields = {}): void {
    if (!this.writes(level)) return;
    const { format, now } = this.#options;
    this.#lines.push(
      format === "json"
        ? asJson(now(), level, message, fields)
        : asText(now(), level, message, fields),
    );
    if (level === "warning" || level === "error") return this.flush();
    this.#timer ??= setTimeout(() => this.flush(), COLLECT_MS);
  }

  /** Writes what is collected, now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lines.length === 0) return;
    const text = this.#lines.join("");
    this.#lines = [];
    this.#options.write(text);
  }
}

function asJson(time: Date, level: LogLevel, message: string, fields: LogFields): string {
  const line = { time: time.toISOString(), level, message, ...fields };
  const text = JSON.stringify(line);
  // Plain ASCII needs no second look; the rest may steer a terminal.
  return (/[^ -~]/.test(text) ? writeJson(fromJs(JSON.parse(text)), { printable: true }) : text) +
    "\n";
}

function asText(time: Date, level: LogLevel, message: string, fields: LogFields): string {
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${typeof value === "string" ? word(value) : value}`);
  const clock = time.toISOString().slice(11);
  return `${clock} ${level.padEnd(7)} ${printable(message)}${pairs.join("")}\n`;
}

function word(value: string): string {
  return /^[\w.:/-]+$/.test(value) ? value : writeJson(value, { printable: true });
}
