/** The three ways to approve hooks without being asked (rule 6.4). */

import type { ConfigNode } from "../config/node.ts";

/** How an approval came about, as `approved_via` records it. */
export type ApprovedVia =
  | "prompt"
  | "--accept-hooks"
  | "HERMES_ACCEPT_HOOKS"
  | "hooks_auto_accept"
  | "allow";

/** Where acceptance may come from. */
export interface AcceptSources {
  /** Was `--accept-hooks` given? */
  readonly flag: boolean;
  /** The environment; `HERMES_ACCEPT_HOOKS` is read. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The config's `hooks_auto_accept`. */
  readonly configValue: ConfigNode | undefined;
}

/** Does the text say yes: `1`, `true`, `yes` or `on`, trimmed, in any case? */
export function saysYes(text: string | undefined): boolean {
  return text !== undefined && ["1", "true", "yes", "on"].includes(text.trim().toLowerCase());
}

/** Which of the three approves without asking: flag, environment, config, in this order; or none. */
export function acceptedWithoutAsking(sources: AcceptSources): ApprovedVia | undefined {
  if (sources.flag) return "--accept-hooks";
  if (saysYes(sources.env["HERMES_ACCEPT_HOOKS"])) return "HERMES_ACCEPT_HOOKS";
  const value = sources.configValue?.kind === "scalar" ? sources.configValue.value : undefined;
  // A bare 1 is an integer, and no.
  const yes = value === true || (typeof value === "string" && saysYes(value));
  return yes ? "hooks_auto_accept" : undefined;
}
