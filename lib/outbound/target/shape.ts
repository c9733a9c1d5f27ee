/** One outbound target, ready to be sent to: what is secret in it cannot be printed. */
import type { Call, Match } from "../../sources/hook.ts";
import type { Matcher } from "../../sources/shell/matcher/matcher.ts";
import type { AddressPolicy } from "../address.ts";
import type { Format } from "../sign.ts";
import type { Endpoint } from "./endpoint.ts";

/** The events on which a matcher narrows (rule 10.1). */
export const TOOL_EVENTS: readonly string[] = ["pre_tool_call", "post_tool_call"];

/** How long a delivery is tried, where deliveries are kept. */
export interface RetryPlan {
  /** Attempts in all. Default 10. */
  readonly attempts: number;
  /** Milliseconds from the event after which nothing more is tried. Default 72 hours. */
  readonly maxAgeMs: number;
  /** Milliseconds between one attempt and the next; the last one repeats. */
  readonly scheduleMs: readonly number[];
}

/** What of a target may be seen by everyone. */
export interface TargetOptions {
  /** The same over restarts and reloads while name and URL are; different for every target. */
  readonly key: string;
  /** The label: `name`, else the URL's host. */
  readonly name: string;
  /** Fit to be shown: no credentials in it. */
  readonly shownUrl: string;
  readonly events: readonly string[];
  /** Python regular expression for tool names; absent: every tool. */
  readonly matcher?: string;
  /** Seconds an attempt may take, 1–60. */
  readonly timeout: number;
  /** Attempts at a time, 1–32; more than 1 gives up the order. */
  readonly concurrency: number;
  /** Deliveries that may wait. */
  readonly maxQueue: number;
  /** What gives way when so many wait. Where nothing is kept it is always what is new. */
  readonly whenFull: "drop_new" | "drop_old" | "refuse";
  /** Where deliveries are kept: is a session's next delivery held back until the one before ended? */
  readonly ordering: "none" | "session";
  /** Counts where deliveries are kept; elsewhere rule 10.4's one retry. */
  readonly retry: RetryPlan;
  /** Attempts a second at most, 0.1–1000; absent: as many as come. */
  readonly ratePerSecond?: number;
  readonly format: Format;
  readonly redact: boolean;
  readonly network: AddressPolicy;
  /** Why nothing is sent to it; absent: it is in use. */
  readonly disabled?: string;
  /** Such as `hooks.outbound[1]`. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
}

/** What of a target nobody may see. */
export interface TargetSecrets {
  readonly endpoint: Endpoint;
  /** Newest first; empty: unsigned. */
  readonly secrets: readonly string[];
  /** Extra headers, checked already. */
  readonly headers: readonly (readonly [string, string])[];
  /** Certificates (PEM) to trust instead of the system's. */
  readonly ca?: string;
}

/** A target. Its secrets are private to it: printing it or `JSON.stringify` shows its options. */
export class Target {
  readonly key: string;
  readonly name: string;
  readonly options: TargetOptions;
  readonly #secrets: TargetSecrets;
  readonly #matcher: Matcher | undefined;
  readonly #events: ReadonlySet<string>;

  constructor(options: TargetOptions, secrets: TargetSecrets, matcher?: Matcher) {
    this.key = options.key;
    this.name = options.name;
    this.options = options;
    this.#secrets = secrets;
    this.#matcher = matcher;
    this.#events = new Set(options.events);
  }

  /** Only for who signs and sends. */
  secrets(): TargetSecrets {
    return this.#secrets;
  }

  /** Is it told of this call? Never of any while it is disabled. */
  wants(call: Call): Match | Promise<Match> {
    if (this.options.disabled !== undefined || !this.#events.has(call.event)) return UNWANTED;
    if (!this.#matcher || !TOOL_EVENTS.includes(call.event)) return WANTED;
    // rule 2.4: a matcher takes no event without a tool's name
    return call.toolName === undefined ? UNWANTED : this.#matcher.test(call.toolName);
  }
}

const WANTED: Match = Object.freeze({ matched: true });
const UNWANTED: Match = Object.freeze({ matched: false });

/** How `list` shows a target: `signed`, `UNSIGNED`, or `disabled: …` with the reason. */
export function signingState(target: Target): string {
  if (target.options.disabled !== undefined) return `disabled: ${target.options.disabled}`;
  return target.secrets().secrets.length > 0 ? "signed" : "UNSIGNED";
}
