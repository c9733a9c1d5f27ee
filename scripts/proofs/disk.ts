/** The disk is full: `fire` says so and fails, and nothing that was accepted is lost. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { Home } from "./home.ts";
import { startReceiver, type Tally } from "./receiver.ts";

/** What came of it. */
export interface DiskProof extends Tally {
  /** Events that were refused, with exit 1 and words that say why. */
  readonly refused: number;
  /** What `fire` said. */
  readonly said: string;
  readonly faults: readonly string[];
}

/** Fills a tmpfs of 2 MiB; undefined when nothing can be mounted here. */
export async function proveDisk(): Promise<DiskProof | undefined> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "proof-disk-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", folder]);
  if (mounted.status !== 0) {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  const receiver = await startReceiver();
  const home = new Home("sqlite", receiver.port, folder);
  try {
    return await fill(home, receiver);
  } finally {
    receiver.close();
    spawnSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(home: Home, receiver: Awaited<ReturnType<typeof startReceiver>>) {
  const accepted = new Set<string>();
  const faults: string[] = [];
  let refused = 0, said = "";
  // Nothing may be sent while it fills up: who sends makes room.
  const holder = await home.serve();
  process.kill(holder.pid!, "SIGSTOP");
  for (let n = 0; n < 400 && refused < 20; n++) {
    const session = `d${n}`;
    const body = JSON.stringify({ session_id: session, note: "x".repeat(20_000) });
    const { code, stderr, stdout } = await home.run(["fire", "on_session_end"], body);
    if (code === 0 && !/not accepted|dropped/.test(stdout)) accepted.add(session);
    else {
      refused++;
      said = (stdout + stderr).trim();
      if (code !== 1) faults.push(`${session}: exit ${code}, not 1`);
      if (!/full|space|disk/i.test(said)) faults.push(`${session}: does not say why: ${said}`);
    }
  }
  if (refused === 0) faults.push("the disk never filled up");
  writeFileSync(path.join(home.folder, ".room"), "");
  process.kill(holder.pid!, "SIGCONT");
  holder.kill("SIGKILL");
  await new Promise((resolve) => holder.once("exit", resolve));
  spawnSync("mount", ["-o", "remount,size=64m", home.folder]);
  await home.deliverAll();
  return { ...receiver.tally(accepted), refused, said, faults };
}
