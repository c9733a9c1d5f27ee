/** What the log says of an attempt. */
import { roughText } from "../config/duration.ts";
import type { AttemptEnd } from "./work.ts";

/** A line, and whether it is a failure that somebody should hear of. */
export interface AttemptLine {
  readonly text: string;
  readonly isFailure: boolean;
}

/** @param kept are deliveries kept, so that one that is given up is a dead letter? */
export function attemptLine(end: AttemptEnd, kept: boolean): AttemptLine {
  const { target, delivery: { event, id }, attempt, result, step: { settlement, disable } } = end;
  const of = `${event} ${id}`;
  if (result.outcome === "delivered") {
    return { text: `${of} delivered (attempt ${attempt})`, isFailure: false };
  }
  const error = result.error ?? "failed";
  if (settlement.kind === "retry") {
    const { attempts } = target.options.retry;
    const next = disable === undefined
      ? `trying again in ${roughText(settlement.afterMs)} (attempt ${attempt} of ${attempts})`
      : "it waits until the target is enabled again";
    return { text: `${of}: ${error}; ${kept ? next : "trying again"}`, isFailure: false };
  }
  const tries = attempt === 1 ? "" : ` (${attempt} attempts)`;
  if (!kept || settlement.kind !== "dead") {
    return { text: `${of} not delivered: ${error}${tries}`, isFailure: true };
  }
  const { why } = settlement;
  const count = why.error === error ? tries : "";
  return { text: `${of} not delivered: ${why.error}${count}: a dead letter now`, isFailure: true };
}
