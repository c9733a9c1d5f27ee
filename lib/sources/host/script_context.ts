/** `ctx` as a plugin in TypeScript or JavaScript sees it. */
import { type Json, JsonNumber } from "../../events/json.ts";
import { returnedJson } from "./returned.ts";

/** Anything that can be called with what a hook is given. */
export type Callback = (...given: unknown[]) => unknown;

/** What a plugin has registered so far. */
export interface Registered {
  readonly callbacks: { id: number; event: string }[];
  readonly sections: {
    id: string;
    position: string;
    max_chars: Json;
    content: { text: Json } | { callback: number };
  }[];
  readonly warnings: string[];
  /** By id: hooks and sections share the numbers. */
  readonly functions: Callback[];
  /** Is `register` still running? After it, what is not provided throws instead of warning. */
  registering: boolean;
}

/** Nothing registered yet. */
export function nothingRegistered(): Registered {
  return { callbacks: [], sections: [], warnings: [], functions: [], registering: true };
}

/** What a plugin learns about itself. */
export interface About {
  readonly name: string;
  readonly home: string;
  /** Writes a line to our log. */
  log(line: string, level: string): void;
}

/** What the use of something that is not provided throws. */
export class NotProvided extends Error {
  constructor(name: string) {
    super(`not provided by hermes-hooks: ${name}`);
    this.name = "NotProvided";
  }
}

/** Builds `ctx`. */
export function scriptContext(registered: Registered, about: About): object {
  const hook = (event: unknown, callback: unknown) => registerHook(registered, event, callback);
  const section = (...given: unknown[]) => registerSection(registered, given);
  const provided: Record<string, unknown> = {
    register_hook: hook,
    registerHook: hook,
    register_system_prompt_section: section,
    registerSystemPromptSection: section,
    log: logger(about),
    name: about.name,
    home: about.home,
  };
  return new Proxy(provided, {
    get(target, key) {
      if (typeof key === "symbol" || SILENT.has(key)) return undefined;
      if (Object.hasOwn(target, key)) return target[key];
      return standIn(key, (name) => refuse(registered, name));
    },
    set: () => false,
  });
}

/** What the language itself asks of any object. */
const SILENT = new Set(["then", "toJSON", "constructor", "prototype", "toString", "valueOf"]);

function refuse(registered: Registered, name: string): undefined {
  if (!registered.registering) throw new NotProvided(name);
  const warning = new NotProvided(name).message;
  if (!registered.warnings.includes(warning)) registered.warnings.push(warning);
}

/** Something that is not there: it may be named, and `use` says what calling it does. */
export function standIn(name: string, use: (name: string) => unknown): unknown {
  return new Proxy(function () {}, {
    get: (_, key) =>
      typeof key === "symbol" || SILENT.has(key) ? undefined : standIn(`${name}.${key}`, use),
    apply: () => use(name),
    construct: () => {
      throw new NotProvided(name);
    },
    set: () => {
      throw new NotProvided(name);
    },
  });
}

function registerHook(registered: Registered, event: unknown, callback: unknown): void {
  if (typeof event !== "string" || event === "" || typeof callback !== "function") {
    const shown = typeof event === "string" ? `"${event}"` : "without an event's name";
    registered.warnings.push(`register_hook ${shown}: expected an event's name and a function`);
    return;
  }
  const id = registered.functions.push(callback as Callback) - 1;
  registered.callbacks.push({ id, event });
}

function registerSection(registered: Registered, given: readonly unknown[]): void {
  const [id, content, third, fourth] = given;
  if (typeof id !== "string") {
    registered.warnings.push("register_system_prompt_section: expected an id that is a string");
    return;
  }
  const options = typeof third === "object" && third !== null
    ? third as Record<string, unknown>
    : { position: third, max_chars: fourth };
  const position = options["position"] ?? "after_memory";
  const most = options["maxChars"] ?? options["max_chars"] ?? null;
  registered.sections.push({
    id,
    position: String(position),
    max_chars: most === null ? null : numberOrText(most),
    content: typeof content === "function"
      ? { callback: registered.functions.push(content as Callback) - 1 }
      : { text: returnedJson(content) },
  });
}

/** Whoever reads it says of a text that it is no number. */
function numberOrText(value: unknown): Json {
  if (typeof value === "number" && Number.isFinite(value)) return new JsonNumber(String(value));
  return typeof value;
}

function logger(about: About): Callback {
  const log: Callback = (line, level = "info") => about.log(String(line), String(level));
  const as = (level: string) => (line: unknown) => about.log(String(line), level);
  return Object.assign(log, {
    debug: as("debug"),
    info: as("info"),
    warn: as("warning"),
    warning: as("warning"),
    error: as("error"),
  });
}
