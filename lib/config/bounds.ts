/**
 * Known keys, defaults and bounds of the config, as plain data: the loaders and the schema of
 * `schema/` both read them here, so that they cannot say different things. No zod: `fire` loads it.
 */

/** A number's bounds, and what it is when nothing usable is given. */
export interface NumberBounds<T extends number | undefined = number | undefined> {
  readonly from: number;
  readonly to: number;
  readonly fallback: T;
  /** Such as `seconds`, for messages and the docs. */
  readonly unit: string;
  /** The fraction is cut off, as Python's `int()` does. Default false. */
  readonly whole?: boolean;
}

/** What one entry under an event may hold (rule 2.7). */
export const HOOK_KEYS = ["matcher", "command", "timeout", "fail_closed", "failClosed"] as const;
/** `timeout` of a shell hook (rule 2.5). */
export const HOOK_TIMEOUT = { from: 1, to: 300, fallback: 60, unit: "seconds", whole: true };

/** Keys under `hooks:` that are no events (rule 1.5). */
export const RESERVED_KEYS = ["outbound", "output_spill"] as const;

/** `hooks.output_spill` (rule 5.3b): characters. */
export const SPILL = { max_chars: 10_000, preview_head: 500, preview_tail: 500 } as const;

/** Strings that `hooks_auto_accept` understands beside booleans, in any case (rule 6.4). */
export const YES_NO = ["1", "true", "yes", "on", "0", "false", "no", "off", ""] as const;

/** `agent.max_verify_nudges` (rule 5.4). */
export const MAX_VERIFY_NUDGES = 3;

/** `plugins.hook_callback_timeout` (rule 8.3). */
export const CALLBACK_TIMEOUT = { from: 0, to: 600, fallback: 30, unit: "seconds" };

/** The keys of `hermes_hooks`, ours alone (rule 1.5). */
export const OWN_KEYS = ["serve", "outbound", "hosts"] as const;
/** The keys of `hermes_hooks.hosts`. */
export const HOST_KEYS = ["memory_mb"] as const;
/** `hermes_hooks.hosts.memory_mb`: MiB. */
export const HOST_MEMORY_MB = 512;

/** What an outbound target may hold (rule 10.1). */
export const TARGET_KEYS = [
  "name",
  "url",
  "events",
  "matcher",
  "timeout",
  "secret",
  "secret_env",
  "secrets",
  "headers",
  "ca_file",
  "concurrency",
  "max_queue",
  "when_full",
  "ordering",
  "retry",
  "rate_limit_per_second",
  "format",
  "redact",
  "network",
] as const;
/** A target's numbers. */
export const TARGET_LIMITS = {
  timeout: { from: 1, to: 60, fallback: 10, unit: "seconds" },
  // `to` is far below what all targets have together: one that hangs must leave slots to the others.
  concurrency: { from: 1, to: 32, fallback: 1, unit: "attempts at a time", whole: true },
  max_queue: { from: 1, to: 1_000_000, fallback: 256, unit: "deliveries", whole: true },
  rate_limit_per_second: { from: 0.1, to: 1000, fallback: undefined, unit: "attempts a second" },
};
/** The same of `max_queue` where deliveries are kept. */
export const KEPT_MAX_QUEUE = { ...TARGET_LIMITS.max_queue, to: 10_000_000, fallback: 100_000 };
/** A target's `when_full`, the default first. */
export const WHEN_FULL = ["drop_new", "drop_old", "refuse"] as const;
/** A target's `ordering`, the default first. */
export const ORDERINGS = ["none", "session"] as const;
/** The keys of a target's `retry`. */
export const RETRY_KEYS = ["attempts", "max_age", "schedule"] as const;
/** `retry.attempts`. */
export const RETRY_ATTEMPTS = {
  from: 1,
  to: 100,
  fallback: 10,
  unit: "attempts",
  whole: true,
};
/** A target's `format`, the default first. */
export const TARGET_FORMATS = ["hermes", "standard"] as const;
/** A target's `network.private`, the default first. */
export const NETWORK_WORDS = ["allow", "deny"] as const;
