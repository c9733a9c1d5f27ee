/** The file, opened by a process that does not send: `fire` hands in, `deliveries` looks. */
import type { OpenKept } from "../open_kept.ts";
import type { QueueOptions } from "../queue.ts";
import { storeError } from "./database.ts";
import { QueueFile } from "./file.ts";
import { NOT_SENDING, SqliteKept } from "./kept.ts";
import { whoseTurn } from "./turn.ts";
import { Writer } from "./writer.ts";

/**
 * Opens it, making it when it is missing.
 * @throws NotAccepted when it cannot be had
 */
export async function openSqlite(options: QueueOptions): Promise<OpenKept> {
  const { home, log, now, target } = options;
  const file = await QueueFile.open(home, log, now);
  const writer = new Writer({
    store: () => file.writable,
    intakeOf: target,
    now,
    onAccepted: () => {},
    errorOf: (error) => storeError(file.file, error),
    mend: (error) => file.mend(error),
    onStuck: () => {},
  });
  const kept = new SqliteKept(file, writer, NOT_SENDING, now);
  return {
    kept,
    counts: () => kept.counts(),
    sending: async () => await whoseTurn(file.file) ?? "nobody",
    async close() {
      await writer.flush();
      writer.close();
      file.close();
    },
  };
}
