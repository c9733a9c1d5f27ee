/** rule 3.8: a signal to a one-shot command ends its hooks with their groups, and no verdict is invented. */
import process from "node:process";
import { killAll, killAllNow } from "../sources/shell/run/running.ts";

const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** From here on a signal kills running hooks first; a second one does not wait for them. */
export function endHooksOnSignals(): void {
  let ending = false;
  for (const [name, number] of Object.entries(NUMBERS)) {
    process.on(name, () => {
      const exit = 128 + number;
      if (ending) {
        killAllNow();
        process.exit(exit);
      }
      ending = true;
      killAll().finally(() => process.exit(exit));
    });
  }
}
