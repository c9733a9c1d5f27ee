import assert from "node:assert/strict";
import test from "node:test";
import { copyOutput, type Source } from "../lib/platform/copy_output.ts";

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const piece = (size = 10) => new Uint8Array(size);

/** A source that asks `pieces` for each piece, and remembers that it was given up. */
function source(pieces: (count: number) => Promise<Uint8Array | undefined>) {
  let count = 0, stopped = false;
  const made: Source = { next: () => pieces(count++), stop: () => void (stopped = true) };
  return { made, stopped: () => stopped };
}

const never = () => new Promise<undefined>(() => {});

async function timed(what: Promise<unknown>): Promise<number> {
  const began = performance.now();
  await what;
  return performance.now() - began;
}

test("a slow reader gets all of it, however long that takes after the end", async () => {
  const { made } = source((count) => Promise.resolve(count < 5 ? piece() : undefined));
  let bytes = 0;
  const copy = copyOutput(made, async (part) => {
    await pause(300);
    bytes += part.length;
    return true;
  });
  await copy.finish();
  assert.equal(bytes, 50);
});

test("no piece is asked for before the last one was taken", async () => {
  let asked = 0;
  const { made } = source(() => Promise.resolve(asked++ < 100 ? piece() : undefined));
  const copy = copyOutput(made, () => new Promise<boolean>(() => {}));
  await pause(20);
  assert.equal(asked, 1);
  copy.hurry();
  await copy.finish();
});

test("when nobody reads any more, the source is given up", async () => {
  const { made, stopped } = source(() => Promise.resolve(piece()));
  const copy = copyOutput(made, () => Promise.resolve(false));
  await copy.finish();
  assert.ok(stopped());
});

test("after the end an empty pipe that somebody holds open is waited for 100 ms", async () => {
  const { made, stopped } = source((count) => count === 0 ? Promise.resolve(piece()) : never());
  const copy = copyOutput(made, () => Promise.resolve(true));
  await pause(10);
  const took = await timed(copy.finish());
  assert.ok(took > 90 && took < 600, `${took} ms`);
  assert.ok(stopped());
});

test("after the end one that trickles is waited for 1 s, and one that floods for 2 MiB", async () => {
  const trickle = source(async () => (await pause(30), piece()));
  const slow = copyOutput(trickle.made, () => Promise.resolve(true));
  const took = await timed(slow.finish());
  assert.ok(took > 900 && took < 2500, `${took} ms`);
  let bytes = 0;
  const flood = source(() => Promise.resolve(piece(65_536)));
  const fast = copyOutput(flood.made, async (part) => {
    bytes += part.length;
    await pause(1);
    return true;
  });
  await pause(10);
  const before = bytes;
  await fast.finish();
  assert.ok(bytes - before <= 2 * 1024 * 1024 + 2 * 65_536, `${bytes - before} bytes`);
});

test("in a hurry, a reader that stalls is waited for 1 s after the end, and not before", async () => {
  const { made } = source(() => Promise.resolve(piece()));
  const copy = copyOutput(made, () => new Promise<boolean>(() => {}));
  copy.hurry();
  const took = await timed(copy.finish());
  assert.ok(took > 900 && took < 2000, `${took} ms`);
});
