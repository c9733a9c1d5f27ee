import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { allowlistFile, readAllowlist } from "../lib/consent/allowlist.ts";
import { run, runtimes } from "./programs/consent_runtimes.ts";

const programs = path.join(import.meta.dirname!, "programs");
const WRITERS = 8;
/** Approvals a writer. The full size is 200. */
const EACH = Number(process.env.CONSENT_AT_ONCE ?? 25);

// rule 6.3
test("eight processes, ours and Python's, add approvals at once and none is lost", async () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "consent-"));
  const file = allowlistFile(home);
  const writers = Array.from({ length: WRITERS }, (_, n) => {
    const ours = [
      ...runtimes()[(n >> 1) % runtimes().length]!,
      path.join(programs, "consent_add.ts"),
    ];
    const words = n % 2 === 0 ? ours : ["python3", path.join(programs, "consent_add.py")];
    return run([...words, file, `writer ${n}`, String(EACH)]);
  });
  const watcher = watch(file);
  const ends = await Promise.all(writers);
  const reads = await watcher.stop();

  assert.deepEqual(ends.map((e) => e.stderr + e.exit), Array(WRITERS).fill("0"));
  assert.deepEqual(readAllowlist(file).problems, []);
  const commands = new Set(readAllowlist(file).approvals.map((approval) => approval.command));
  assert.equal(commands.size, WRITERS * EACH);
  assert.deepEqual(watcher.broken, []);
  assert.ok(reads > EACH, `only ${reads} reads`);
  if (EACH >= 200) console.log(`${commands.size} approvals, ${reads} reads`);
  fs.rmSync(home, { recursive: true });
});

/** Reads the file over and over; every read must be whole JSON with no fewer entries than before. */
function watch(file: string) {
  const broken: string[] = [];
  let reads = 0, most = 0, going = true;
  const loop = (async () => {
    while (going) {
      await new Promise((next) => setTimeout(next, 1));
      if (!fs.existsSync(file)) continue;
      const text = fs.readFileSync(file, "utf8");
      reads++;
      try {
        const count = JSON.parse(text).approvals.length;
        if (count < most) broken.push(`${count} entries after ${most}`);
        most = count;
      } catch {
        broken.push(text.slice(0, 200));
      }
    }
  })();
  return {
    broken,
    stop: async () => {
      going = false;
      await loop;
      return reads;
    },
  };
}
