/** Signals that reach `exec` while its command runs. */
import process from "node:process";
import type { Foreground } from "../platform/spawn_foreground.ts";
import { terminalIsOurs } from "../platform/tty.ts";

/** Signals that are ours to pass on. */
const PASSED = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGINT", "SIGQUIT"] as const;
/** What a terminal sends to its whole foreground group, the command included. */
const FROM_TERMINAL: readonly string[] = ["SIGINT", "SIGQUIT"];

/** Passes them on to the command, from `passSignals` until `stop`. */
export interface PassedSignals {
  /** Whom they go to; what came before it is there waits for it. */
  to(child: Foreground): void;
  stop(): void;
}

/** @param ignored signals that whoever started us had us ignore: the command ignores them too */
export function passSignals(ignored: ReadonlySet<string>, stdinTty: boolean): PassedSignals {
  let child: Foreground | undefined;
  const waiting: NodeJS.Signals[] = [];
  const listeners = PASSED.filter((name) => !ignored.has(name)).map((name) => {
    const listener = () => {
      // Twice is more than a person pressed: many programs give up without cleaning up then.
      if (FROM_TERMINAL.includes(name) && terminalIsOurs(stdinTty)) return;
      if (child) child.signal(name);
      else waiting.push(name);
    };
    process.on(name, listener);
    return [name, listener] as const;
  });
  return {
    to(started) {
      child = started;
      for (const name of waiting.splice(0)) started.signal(name);
    },
    stop() {
      for (const [name, listener] of listeners) process.removeListener(name, listener);
    },
  };
}
