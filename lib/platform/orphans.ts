/** Process 1 inherits the children of processes that ended, and must reap them. */
import { readdirSync, readFileSync } from "node:fs";

/** The orphans of a process 1 that also has children of its own. */
export class Orphans {
  readonly #own: number;
  readonly #reap: (pid: number) => unknown;
  #seen: ReadonlySet<number> = new Set();

  /**
   * @param own a child that is waited for elsewhere
   * @param reap reaps one zombie
   */
  constructor(own: number, reap: (pid: number) => unknown) {
    this.#own = own;
    this.#reap = reap;
  }

  /**
   * Reaps what was a zombie at the last sweep already: the runtime reaps its own children at once,
   * and must find them.
   */
  sweep(): void {
    const zombies = zombiesOf(1).filter((pid) => pid !== this.#own);
    for (const pid of zombies) if (this.#seen.has(pid)) this.#reap(pid);
    this.#seen = new Set(zombies);
  }
}

function zombiesOf(parent: number): number[] {
  const names = readNames().filter((name) => /^[0-9]+$/.test(name));
  return names.filter((name) => isZombieOf(name, parent)).map(Number);
}

function readNames(): string[] {
  try {
    return readdirSync("/proc");
  } catch {
    return [];
  }
}

function isZombieOf(name: string, parent: number): boolean {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, "latin1");
    // The second field is a file name in brackets and may hold anything.
    const [state, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" && Number(ppid) === parent;
  } catch {
    return false; // gone meanwhile
  }
}
