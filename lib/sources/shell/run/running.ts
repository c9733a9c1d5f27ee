/** Which processes run right now, so that a signal to us can end them all (rule 3.8). */

/** One running process, as the registry sees it. */
export interface RunningProcess {
  /** Ends it with its group, KILL after `graceMs`; settles when that is done. */
  stop(graceMs: number): Promise<void>;
  /** KILL to its group, now. */
  killNow(): void;
}

const GRACE_MS = 400;

/** The processes under way. A hook that finished leaves it, whatever it left in the background. */
export class Running {
  #processes = new Set<RunningProcess>();
  #closing: Promise<void> | undefined;

  /** Not undefined once {@link killAll} was called: nothing may be started any more. */
  get closing(): Promise<void> | undefined {
    return this.#closing;
  }

  /** How many are under way. */
  get size(): number {
    return this.#processes.size;
  }

  add(one: RunningProcess): void {
    this.#processes.add(one);
  }

  delete(one: RunningProcess): void {
    this.#processes.delete(one);
  }

  /**
   * Ends every running process with its group: TERM, then KILL after 400 ms. Closes the registry
   * for good: a run that begins afterwards is answered as aborted and starts nothing. No run is
   * answered before this settles, so that who exits then never sees a verdict made of dead hooks.
   */
  killAll(): Promise<void> {
    this.#closing ??= Promise.all([...this.#processes].map((one) => one.stop(GRACE_MS)))
      .then(() => {});
    return this.#closing;
  }

  /** KILL to every group, now: for a second signal, or the last moment before our own exit. */
  killAllNow(): void {
    this.#closing ??= Promise.resolve();
    for (const one of this.#processes) one.killNow();
  }
}

/** Those of this program: signals come to a program as a whole, so there is one. */
export const running: Running = new Running();

/** Ends all that run; see {@link Running.killAll}. */
export function killAll(): Promise<void> {
  return running.killAll();
}

/** KILL to all that run; see {@link Running.killAllNow}. */
export function killAllNow(): void {
  running.killAllNow();
}
