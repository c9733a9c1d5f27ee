/** A delivery as BullMQ keeps it, and back. */
import { Job, type JobsOptions, type Queue } from "bullmq";
import type { Delivery, Failure } from "../engine.ts";

/** What a job carries; its id is the delivery's and its name the event's. */
export interface JobData {
  readonly target: string;
  readonly wire: string;
  readonly occurredAt: string;
  readonly session?: string;
}

/** A job of ours. */
export type DeliveryJob = Job<JobData, unknown, string>;

/** The name of the backoff that takes the delay from the policy's step. */
export const POLICY_BACKOFF = "policy";

const OPTIONS: JobsOptions = {
  // The policy ends a delivery, by what the config says at that moment; this bound is never met.
  attempts: 1_000_000,
  backoff: { type: POLICY_BACKOFF },
  stackTraceLimit: 0,
};

/** The job of a delivery, not added yet. */
export function jobOf(queue: Queue, delivery: Delivery): DeliveryJob {
  const { id, target, event, wire, occurredAt, session } = delivery;
  const data = { target, wire, occurredAt, ...(session !== undefined && { session }) };
  return new Job<JobData>(queue, event, data, { ...OPTIONS, jobId: id }, id);
}

/** The delivery of a job. A stall counts as no attempt: nothing is known of how it ended. */
export function deliveryOf(job: DeliveryJob): Delivery {
  const { target, wire, occurredAt, session } = job.data;
  return {
    id: job.id as string,
    target,
    event: job.name,
    wire,
    occurredAt,
    attempts: job.attemptsMade,
    ...(session !== undefined && { session }),
  };
}

/** A failure as the one line that BullMQ keeps: the status or a dash, a space, the error. */
export function failureLine({ status, error }: Failure): string {
  return `${status ?? "-"} ${error}`;
}

/** The failure of such a line; one that BullMQ wrote by itself is an error without a status. */
export function failureIn(line: string): Failure {
  const [, status, error] = /^([1-5][0-9][0-9]|-) ([\s\S]*)$/.exec(line) ?? [];
  if (error === undefined) return { error: line };
  return { error, ...(status !== "-" && { status: Number(status) }) };
}
