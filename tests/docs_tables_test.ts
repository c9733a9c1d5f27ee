/** Tables of the guides that say what the program says: they must not differ from it. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { type Agent, foreignEvents } from "../lib/events/foreign.ts";
import { Metrics } from "../lib/server/metrics.ts";
import { ROOT } from "./programs/doc_blocks.ts";

/** The rows of the first table of a page below a heading, as cells; the head is the first. */
function tableBelow(page: string, heading: string): string[][] {
  const text = fs.readFileSync(path.join(ROOT, page), "utf8");
  const [, section = ""] = text.split(`\n## ${heading}\n`);
  const lines = section.split("\n");
  const first = lines.findIndex((line) => line.startsWith("|"));
  const rows = lines.slice(first, lines.findIndex((line, at) => at > first && line[0] !== "|"));
  return rows.filter((_, at) => at !== 1).map((row) =>
    row.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim())
  );
}

/** What stands in backticks. */
function named(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}

test("every event that coming-from.md maps is one the program gives that advice for", () => {
  const [head = [], ...rows] = tableBelow("docs/coming-from.md", "Events");
  assert.ok(rows.length > 10, "the table is gone");
  const wrong = rows.flatMap(([here = "", ...theirs]) =>
    theirs.flatMap((cell, column) => {
      const agents = head[column + 1]!.split(", ") as Agent[];
      return named(cell).filter((name) => !advised(name, agents, named(here)));
    })
  );
  assert.deepEqual(wrong, []);
});

/** Does the program, asked for that event of these agents, name one of ours, or say there is none? */
function advised(name: string, agents: readonly Agent[], ours: readonly string[]): boolean {
  const known = foreignEvents().find(([theirs]) => theirs.toLowerCase() === name.toLowerCase());
  if (!known?.[1].some((agent) => agents.includes(agent))) return false;
  const advice = known[2];
  if (ours.length === 0) return advice.startsWith("no counterpart here");
  return ours.some((event) => advice.includes(`"${event}"`));
}

test("listener.md names every metric there is, with its kind, and no other", async () => {
  const metrics = new Metrics(() => 0, () => Promise.resolve(new Map()));
  const { text } = await metrics.text();
  const there = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => [name, kind]);
  const [, ...rows] = tableBelow("docs/listener.md", "Metrics");
  const told = rows.map(([name = "", kind]) => [named(name)[0], kind]);
  assert.deepEqual(told.sort(), there.sort());
});

test("every metric that operations.md asks an alert for is one there is", async () => {
  const metrics = new Metrics(() => 0, () => Promise.resolve(new Map()));
  const { text } = await metrics.text();
  const section = fs.readFileSync(path.join(ROOT, "docs/operations.md"), "utf8");
  const names = new Set([...section.matchAll(/hermes_hooks_\w+/g)].map(([name]) => name));
  assert.ok(names.size > 5);
  for (const name of names) {
    assert.ok(text.includes(`# TYPE ${name.replace(/_count$/, "")} `), `there is no ${name}`);
  }
});
