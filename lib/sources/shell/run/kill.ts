/** Ending a process group: asked first, then made to (rule 3.7). */
import { groupRuns, signalGroup } from "../../../platform/spawn.ts";

/** How long a group that was made to end is waited for: what the kernel holds on to stays. */
const AFTER_KILL_MS = 250;

/** One group on its way to the end. Once found empty it is never signalled again. */
export class GroupEnd {
  #gone: boolean;
  #killAt: number;
  #killed = false;
  /** Settles when the group is empty, or was killed and 250 ms have passed. */
  readonly done: Promise<void>;

  /**
   * Sends TERM at once.
   * @param pid the group's leader, dead or alive
   * @param graceMs how long after TERM the group gets KILL
   */
  constructor(readonly pid: number, graceMs: number) {
    this.#gone = !signalGroup(pid, "SIGTERM");
    this.#killAt = performance.now() + graceMs;
    this.done = this.#watch();
  }

  /** Makes the wait for KILL no longer than this from now. */
  hurry(graceMs: number): void {
    this.#killAt = Math.min(this.#killAt, performance.now() + graceMs);
  }

  /** KILL, now. */
  kill(): void {
    if (this.#gone || this.#killed) return;
    this.#killed = true;
    this.hurry(0);
    this.#gone = !signalGroup(this.pid, "SIGKILL");
  }

  async #watch(): Promise<void> {
    let pauseMs = 5;
    while (!this.#gone) {
      await new Promise((resume) => setTimeout(resume, pauseMs));
      pauseMs = Math.min(pauseMs * 1.5, 50);
      const late = performance.now() - this.#killAt;
      if (!signalGroup(this.pid, 0)) this.#gone = true;
      // The last KILL is for a process whose first thread alone is a zombie; others do not mind.
      else if (!groupRuns(this.pid)) return this.kill();
      else if (this.#killed && late >= AFTER_KILL_MS) return;
      else if (late >= 0) this.kill();
    }
  }
}
