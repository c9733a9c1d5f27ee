/** Has a script been edited since it was approved? Consent stays either way (rule 6.6). */

import type { Approval } from "./allowlist.ts";
import { instantMs, utcText } from "./instant.ts";

/** What comparing the two times gave. */
export interface Drift {
  readonly drifted: boolean;
  /** The recorded mtime, UTC; absent when none is recorded or it is no time. */
  readonly from?: string;
  /** The present mtime, UTC; absent when unknown. */
  readonly to?: string;
}

/** Smaller differences are noise: file systems and writers keep different parts of a second. */
const NOISE_MS = 1000;

/**
 * Compares the recorded and the present mtime as instants. An older present mtime (a restored
 * backup, a fresh checkout) and less than a second are quiet.
 * @param scriptMtimeMs ms since 1970; undefined when the script is unknown or gone: no drift
 */
export function driftOf(approval: Approval, scriptMtimeMs: number | undefined): Drift {
  const recorded = approval.scriptMtime === undefined ? undefined : instantMs(approval.scriptMtime);
  const text = (ms: number) => utcText(BigInt(Math.round(ms * 1000)) * 1000n);
  const from = recorded === undefined ? {} : { from: text(recorded) };
  const to = scriptMtimeMs === undefined ? {} : { to: text(scriptMtimeMs) };
  const drifted = recorded !== undefined && scriptMtimeMs !== undefined &&
    scriptMtimeMs - recorded >= NOISE_MS;
  return { drifted, ...from, ...to };
}
