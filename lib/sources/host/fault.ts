/** What a plugin's error says, in one line. */
import { firstChars } from "../../events/json.ts";

/** The most of it that is passed on, in characters. */
const MOST = 500;

/** The error in one line, without a stack. Never throws, whatever was thrown. */
export function faultLine(error: unknown): string {
  let text: string;
  try {
    const named = error instanceof Error ? error : undefined;
    text = named ? `${named.name}: ${named.message}${placeOf(named)}` : String(error);
  } catch {
    text = "an error that cannot be shown";
  }
  return firstChars(text.replace(/\s+/g, " ").trim(), MOST);
}

/** Where a file does not parse: the runtime keeps that beside the message. */
function placeOf(error: Error): string {
  const { position, errors } = error as { position?: unknown; errors?: unknown };
  if (Array.isArray(errors) && errors.length > 0) return ` (${faultLine(errors[0])})`;
  const at = position as { file?: unknown; line?: unknown; column?: unknown } | null | undefined;
  return at && typeof at.line === "number" ? ` (${at.file}:${at.line}:${at.column})` : "";
}
