/** Accepts deliveries without end, and says the id of each once it is accepted: to be killed. */
import process from "node:process";
import { openSqlite } from "../../lib/outbound/sqlite/open.ts";

const home = process.argv[2]!;
const open = await openSqlite({
  home,
  log: () => {},
  now: () => new Date(),
  target: () => undefined,
  retainMs: 86_400_000,
});
for (let n = 0;; n++) {
  const ids = [0, 1, 2].map((i) => `${process.pid}${n}`.padStart(31, "0") + i);
  await open.kept.accept(ids.map((id) => ({
    id,
    target: "a",
    event: "on_session_end",
    wire: `{"note": "${"x".repeat(500)}"}`,
    occurredAt: new Date().toISOString(),
    attempts: 0,
  })));
  process.stdout.write(ids.join("\n") + "\n");
}
