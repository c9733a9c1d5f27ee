/** A broken file: a clear error, set aside and never deleted, and a fresh one goes on. */
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Home, sleep } from "./home.ts";
import { startReceiver } from "./receiver.ts";

/** What came of one way to break it. */
export interface BrokenProof {
  readonly how: string;
  readonly faults: readonly string[];
}

const WAYS: Readonly<Record<string, (file: string) => void>> = {
  "replaced by garbage": (file) => writeFileSync(file, "not a database ".repeat(1000)),
  "cut in the middle": (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
  "cut to nothing": (file) => truncateSync(file, 0),
  "cut inside the header": (file) => truncateSync(file, 50),
};

/** Breaks it in each way. */
export async function proveBroken(): Promise<BrokenProof[]> {
  const found: BrokenProof[] = [];
  for (const [how, damage] of Object.entries(WAYS)) {
    found.push({ how, faults: await breakOnce(damage) });
  }
  return found;
}

async function breakOnce(damage: (file: string) => void): Promise<string[]> {
  const receiver = await startReceiver();
  const home = new Home("sqlite", receiver.port);
  const file = path.join(home.folder, "outbound.db");
  const faults: string[] = [];
  const dead = await home.run(["fire", "on_session_end"], `{"session_id": "before"}`);
  if (dead.code !== 0) faults.push(`fire before: exit ${dead.code}`);
  // The sender that fire left behind holds the file open; it ends by itself.
  await sleep(3_000);
  damage(file);
  const size = statSync(file).size;
  const after = await home.run(["fire", "on_session_end"], `{"session_id": "after"}`);
  const aside = readdirSync(home.folder).filter((name) =>
    name.startsWith("outbound.db.broken-") && !/-(?:wal|shm)$/.test(name)
  );
  if (aside.length !== 1) faults.push(`${aside.length} files set aside, not 1`);
  else if (statSync(path.join(home.folder, aside[0]!)).size !== size) {
    faults.push("what was set aside is not what was broken");
  }
  if (after.code !== 0) faults.push(`fire after: exit ${after.code}: ${after.stderr}`);
  const said = after.stdout + after.stderr + logOf(home);
  if (!said.includes("broken")) faults.push(`nothing says that it is broken: ${said}`);
  await home.deliverAll();
  if (!receiver.seen.has("after")) faults.push("what was accepted afterwards did not arrive");
  const { stdout } = await home.run(["doctor"]);
  if (!stdout.includes("outbound.db.broken-")) faults.push("doctor does not name it");
  receiver.close();
  home.remove();
  return faults;
}

function logOf(home: Home): string {
  try {
    return readFileSync(path.join(home.folder, "logs", "outbound.log"), "utf8");
  } catch {
    return "";
  }
}
