/** What goes back over HTTP: JSON, and errors of one shape. */
import { type Json, writeJson } from "../events/json.ts";

/** The codes of {@link errorAnswer}, each with its HTTP status. */
export const ERRORS = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  unknown_event: 404,
  unknown_delivery: 404,
  unknown_target: 404,
  method_not_allowed: 405,
  body_timeout: 408,
  other_targets: 409,
  not_kept: 409,
  payload_too_large: 413,
  config_broken: 422,
  too_many_requests: 429,
  internal: 500,
  stopping: 503,
  not_accepted: 503,
} as const;

/** Why a request was not answered as asked. */
export type ErrorCode = keyof typeof ERRORS;

const HEADERS: Readonly<Record<string, string>> = {
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
};

/** JSON text as an answer, with a newline behind it as commands print it. */
export function jsonText(text: string, status = 200, headers?: Record<string, string>): Response {
  return new Response(text + "\n", {
    status,
    headers: headers ? { ...HEADERS, ...headers } : HEADERS,
  });
}

/** A JSON value as an answer; control characters and bidi marks in it are escaped (rule 6.2). */
export function jsonAnswer(
  value: Json,
  status = 200,
  headers?: Record<string, string>,
): Response {
  return jsonText(writeJson(value, { printable: true }), status, headers);
}

/** `{"error": {"code": …, "message": …, "hint"?: …}}` with the code's status. */
export function errorAnswer(
  code: ErrorCode,
  message: string,
  more: { readonly hint?: string; readonly headers?: Record<string, string> } = {},
): Response {
  const error = new Map<string, Json>([["code", code], ["message", message]]);
  if (more.hint !== undefined) error.set("hint", more.hint);
  return jsonAnswer(new Map([["error", error]]), ERRORS[code], more.headers);
}
