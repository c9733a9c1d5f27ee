/** The program of a host for TypeScript and JavaScript: loads one file and calls what it registered. */
import { pathToFileURL } from "node:url";
import { fromJs, isObject, type Json, type JsonObject, stringAt, toJs } from "../../events/json.ts";
import { faultLine } from "./fault.ts";
import { writeMessage } from "./message.ts";
import { returnedJson } from "./returned.ts";
import {
  type Callback,
  nothingRegistered,
  NotProvided,
  type Registered,
  scriptContext,
  standIn,
} from "./script_context.ts";

type Send = (message: Readonly<Record<string, Json>>) => void;

/** One host: takes messages, answers through `send`. */
export class ScriptProgram {
  readonly #registered: Registered = nothingRegistered();
  readonly #send: Send;
  #gateway = false;

  constructor(write: (line: string) => void) {
    this.#send = (message) => write(writeMessage(message));
  }

  /** Takes one message; answers come when they are ready. */
  take(message: JsonObject): void {
    switch (stringAt(message, "op")) {
      case "load":
        return void this.#load(message);
      case "call":
        return void this.#call(message);
      case "ping":
        return this.#send({ pong: message.get("id")! });
    }
  }

  /** A fault that no call can be blamed for. */
  stray(error: unknown): void {
    this.#send({ log: `an error outside of any call: ${faultLine(error)}`, level: "warning" });
  }

  async #load(message: JsonObject): Promise<void> {
    try {
      this.#gateway = stringAt(message, "mode") === "gateway";
      const module = await import(pathToFileURL(stringAt(message, "file")!).href);
      const wanted = this.#gateway ? "handle" : "register";
      const found = exported(module as Record<string, unknown>, wanted);
      if (!found) throw new Error(`it exports no function "${wanted}"`);
      if (this.#gateway) this.#addHandler(found);
      else await this.#register(found, message);
    } catch (error) {
      return this.#send({ loaded: false, error: faultLine(error) });
    }
    const { callbacks, sections, warnings } = this.#registered;
    this.#send({ loaded: true, ...toFields({ callbacks, sections, warnings }) });
  }

  #addHandler(handler: Callback): void {
    this.#registered.functions.push(handler);
    this.#registered.callbacks.push({ id: 0, event: "*" });
  }

  async #register(register: Callback, message: JsonObject): Promise<void> {
    const ctx = scriptContext(this.#registered, {
      name: stringAt(message, "name") ?? "",
      home: stringAt(message, "home") ?? "",
      log: (line, level) => this.#send({ log: line, level }),
    });
    try {
      await register(ctx);
    } catch (error) {
      // What it registered before it reached for something that is not here still counts.
      if (!(error instanceof NotProvided)) throw error;
      this.#registered.warnings.push(error.message);
    } finally {
      this.#registered.registering = false;
    }
  }

  async #call(message: JsonObject): Promise<void> {
    const id = message.get("id")!;
    try {
      const callback = this.#registered.functions[Number(message.get("callback"))];
      if (!callback) throw new Error("it is not registered any more");
      const returned = await callback(...this.#arguments(message));
      this.#send({ returned: id, value: returnedJson(returned) });
    } catch (error) {
      this.#send({ threw: id, error: faultLine(error) });
    }
  }

  #arguments(message: JsonObject): unknown[] {
    const fields = message.get("fields") ?? new Map();
    if (this.#gateway && isObject(fields)) {
      return [fields.get("event_type") ?? "", toJs(fields.get("context") ?? new Map())];
    }
    const given = toJs(fields);
    if (stringAt(message, "event") === "pre_gateway_dispatch") addHandles(given as object);
    // A section's function reads what the session is, and changes nothing of it.
    return [this.#isSection(message) ? Object.freeze(given) : given];
  }

  #isSection(message: JsonObject): boolean {
    const callback = Number(message.get("callback"));
    return this.#registered.sections.some(({ content }) =>
      "callback" in content && content.callback === callback
    );
  }
}

/** What no payload can carry is there by name, and says so when it is used. */
function addHandles(given: object): void {
  for (const name of ["gateway", "session_store"]) {
    const value = standIn(name, (used) => {
      throw new NotProvided(used);
    });
    Object.defineProperty(given, name, { value, enumerable: false, configurable: true });
  }
}

function toFields(value: object): Record<string, Json> {
  return Object.fromEntries(fromJs(value) as JsonObject);
}

/** Named, or on the default export, which is where CommonJS puts its own. */
function exported(module: Record<string, unknown>, name: string): Callback | undefined {
  const fallback = module["default"] as Record<string, unknown> | undefined;
  // A gateway handler may be the default export itself.
  const whole = name === "handle" ? fallback : undefined;
  for (const found of [module[name], fallback?.[name], whole]) {
    if (typeof found === "function") return found as Callback;
  }
  return undefined;
}
