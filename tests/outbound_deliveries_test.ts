import assert from "node:assert/strict";
import test from "node:test";
import { isDelivery, timeOrderedId } from "../lib/outbound/deliveries.ts";

test("ids are 32 hex digits that sort by the time they were made at", () => {
  const times = [0, 1, 1_700_000_000_000, 1_700_000_000_001, Date.UTC(2200, 0, 1)];
  const ids = times.map((ms) => timeOrderedId(new Date(ms)));
  for (const id of ids) assert.match(id, /^[0-9a-f]{32}$/);
  assert.deepEqual(ids.toSorted(), ids);
  assert.equal(Number.parseInt(ids[2]!.slice(0, 12), 16), times[2]);
});

test("ids made in the same millisecond differ", () => {
  const at = new Date();
  const ids = Array.from({ length: 20_000 }, () => timeOrderedId(at));
  assert.equal(new Set(ids).size, ids.length);
});

test("a time that cannot be read makes an id all the same", () => {
  const id = timeOrderedId(new Date(Number.NaN));
  const other = { target: "t", event: "e", wire: "{}", occurredAt: "2026-01-01T00:00:00.000Z" };
  assert.ok(isDelivery({ ...other, id, attempts: 0 }));
});
