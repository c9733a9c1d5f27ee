/** What goes over a host's private pipe: one JSON object a line, both ways. */
import { Buffer } from "node:buffer";
import { isObject, type Json, type JsonObject, parseJson, writeJson } from "../../events/json.ts";

/** More than this in one line ends the host, in bytes: what it holds back would be held by us. */
export const MAX_LINE = 256 * 1024 * 1024;

/** One message as a line. */
export function writeMessage(fields: Readonly<Record<string, Json>>): string {
  return writeJson(new Map(Object.entries(fields))) + "\n";
}

/** Takes bytes as they come and gives whole messages. */
export class MessageReader {
  #parts: Uint8Array[] = [];
  #size = 0;

  /** @throws Error when a line is no JSON object or over {@link MAX_LINE} */
  read(bytes: Uint8Array): JsonObject[] {
    const messages: JsonObject[] = [];
    let start = 0;
    for (let end; (end = bytes.indexOf(10, start)) >= 0; start = end + 1) {
      messages.push(this.#message(bytes.subarray(start, end)));
    }
    if (start < bytes.length) this.#keep(bytes.slice(start));
    return messages;
  }

  #keep(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#size += bytes.length;
    if (this.#size > MAX_LINE) throw new Error("sent an answer of over 256 MiB");
  }

  #message(last: Uint8Array): JsonObject {
    const line = Buffer.concat([...this.#parts, last]).toString("utf8");
    this.#parts = [];
    this.#size = 0;
    let value: Json;
    try {
      value = parseJson(line);
    } catch {
      throw new Error("sent an answer that cannot be read");
    }
    if (!isObject(value)) throw new Error("sent an answer that cannot be read");
    return value;
  }
}
