/** rule 3.8: a signal to a one-shot command ends its hooks with their groups, and no verdict is invented. */
import process from "node:process";
import { killAll, killAllNow } from "../sources/shell/run/running.ts";

const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/**
 * From here on a signal kills running hooks first; a second one does not wait for them.
 * @param ignored signals to leave as they are
 * @returns ends that
 */
export function endHooksOnSignals(ignored?: ReadonlySet<string>): () => void {
  let ending = false;
  const heard = Object.entries(NUMBERS).filter(([name]) => !ignored?.has(name));
  const listeners = heard.map(([name, number]) => {
    const listener = () => {
      const exit = 128 + number;
      if (ending) {
        killAllNow();
        process.exit(exit);
      }
      ending = true;
      killAll().finally(() => process.exit(exit));
    };
    process.on(name, listener);
    return [name, listener] as const;
  });
  return () => {
    for (const [name, listener] of listeners) process.removeListener(name, listener);
  };
}
