/** The command of `--exec`: run once for each accepted delivery, one after another. */
import { firstChars } from "../events/json.ts";
import { prepareCommand } from "../sources/shell/program.ts";
import { type ProcessResult, runProcess } from "../sources/shell/run/process.ts";
import { type Delivery, quoted } from "./delivery.ts";

/** What is run, and where. */
export interface CommandPlan {
  /** Split as shell hooks' commands are (rule 3.1); no shell is involved. */
  readonly command: string;
  /** Its environment, to which the delivery's own variables are added; no secrets in it. */
  readonly env: Readonly<Record<string, string>>;
  /** Its working folder, absolute, and what relative paths in the command are relative to. */
  readonly folder: string;
  readonly expandTilde: (word: string) => string;
  readonly log: (level: "debug" | "warning", line: string) => void;
  /** For one run, in ms. Default 60,000. */
  readonly timeoutMs?: number;
  /** How many deliveries may wait. Default 256. */
  readonly most?: number;
  /** How many bytes of bodies may wait. Default 64 MiB; one body alone may always. */
  readonly mostBytes?: number;
}

interface Job {
  readonly delivery: Delivery;
  readonly body: Uint8Array;
}

const STDERR_SHOWN = 400;

/** Runs the command in the order in which deliveries came. */
export class CommandQueue {
  readonly #plan: CommandPlan;
  readonly #giveUp = new AbortController();
  #waiting: Job[] = [];
  #bytes = 0;
  #running: Promise<void> | undefined;

  constructor(plan: CommandPlan) {
    this.#plan = plan;
  }

  /** Takes a delivery in; false when too many wait already. */
  offer(delivery: Delivery, body: Uint8Array): boolean {
    const { most = 256, mostBytes = 64 * 1024 * 1024 } = this.#plan;
    const full = this.#waiting.length >= most ||
      (this.#waiting.length > 0 && this.#bytes + body.length > mostBytes);
    if (full || this.#giveUp.signal.aborted) return false;
    this.#waiting.push({ delivery, body });
    this.#bytes += body.length;
    this.#running ??= this.#runAll();
    return true;
  }

  /**
   * Lets what waits run for so long, then ends the command that runs, with its group.
   * @returns how many deliveries the command was not run on to its end
   */
  async stop(graceMs: number): Promise<number> {
    let cut = 0;
    const timer = setTimeout(() => {
      cut = 1;
      this.#giveUp.abort();
    }, graceMs);
    await this.#running;
    clearTimeout(timer);
    this.#giveUp.abort();
    return cut + this.#waiting.length;
  }

  async #runAll(): Promise<void> {
    // Not before who offered the first one has gone on.
    await Promise.resolve();
    for (let job; !this.#giveUp.signal.aborted && (job = this.#waiting.shift());) {
      this.#bytes -= job.body.length;
      await this.#run(job);
    }
    this.#running = undefined;
  }

  async #run({ delivery, body }: Job): Promise<void> {
    const { command, folder, expandTilde, log, timeoutMs = 60_000 } = this.#plan;
    const env = { ...this.#plan.env, ...deliveryEnv(delivery) };
    const place = { env, startFolder: folder, cwd: folder, expandTilde };
    const program = prepareCommand(command, place);
    const result = program.ok
      ? await runProcess(program, {
        stdin: body,
        cwd: folder,
        env,
        timeoutMs,
        signal: this.#giveUp.signal,
      })
      : program.reason;
    const failure = typeof result === "string" ? result : failureOf(result, timeoutMs);
    const on = delivery.deliveryId === undefined ? "a delivery" : quoted(delivery.deliveryId);
    if (failure !== undefined) log("warning", `--exec ${quoted(command)} on ${on}: ${failure}`);
    else log("debug", `--exec ${quoted(command)} on ${on}: done`);
  }
}

function deliveryEnv({ event, deliveryId }: Delivery): Record<string, string> {
  return {
    ...(event === undefined ? {} : { HERMES_HOOK_EVENT: event }),
    ...(deliveryId === undefined ? {} : { HERMES_DELIVERY_ID: deliveryId }),
  };
}

function failureOf(result: ProcessResult, timeoutMs: number): string | undefined {
  if (result.spawnError !== undefined) return result.spawnError;
  if (result.timedOut) return `timed out after ${timeoutMs / 1000}s`;
  if (result.aborted) return "was ended, since the receiver stops";
  if (result.exitCode === 0) return undefined;
  const end = result.signal === null ? `exit ${result.exitCode}` : `killed by ${result.signal}`;
  const said = firstChars(result.stderr.trim(), STDERR_SHOWN);
  return said === "" ? end : `${end}: ${said}`;
}
