import assert from "node:assert/strict";
import test from "node:test";
import { type Json, writeJson } from "../lib/events/json.ts";
import type { CallResult, HostedSection, HostSpec } from "../lib/sources/host/host.ts";
import type { LoadedPlugin } from "../lib/sources/plugin/plugins.ts";
import { promptSections, sectionHeading } from "../lib/sources/plugin/sections.ts";
import { fakeHost, registered } from "./programs/plugin_home.ts";

const INFO = {
  session_id: "s1",
  model: "m",
  provider: "p",
  platform: "cli",
  profile_name: "default",
  cwd: "/w",
};

/** A section with this text. */
const section = (id: string, text: Json, more: Partial<HostedSection> = {}): HostedSection => ({
  id,
  position: "after_memory",
  maxChars: undefined,
  content: { text },
  ...more,
});

function loaded(
  name: string,
  sections: readonly HostedSection[],
  answer?: (callback: number, fields: Json, timeoutMs: number) => CallResult,
): LoadedPlugin {
  const host = fakeHost({ label: name } as HostSpec, registered([]), answer);
  const plugin = { name, folder: "/", file: "/x", language: "script" } as const;
  return { plugin, host, hooks: [], sections, warnings: [], notes: [] };
}

const made = (...plugins: LoadedPlugin[]) => promptSections(plugins, INFO, 1000);

test("sections stand by id, each under a heading that names it and its plugin", async () => {
  const { block, sections, warnings } = await made(
    loaded("one", [section("b.rules", "Be kind.")]),
    loaded("two", [section("a.rules", "Be brief.")]),
  );
  assert.equal(
    block,
    `${sectionHeading("two", "a.rules")}\n\nBe brief.\n\n` +
      `${sectionHeading("one", "b.rules")}\n\nBe kind.`,
  );
  assert.match(sectionHeading("one", "b.rules"), /b\.rules.*one/);
  assert.deepEqual(sections.map(({ id, chars }) => [id, chars]), [["a.rules", 9], ["b.rules", 8]]);
  assert.deepEqual(warnings, []);
});

test("without a section the block is empty", async () => {
  assert.deepEqual(await made(loaded("p", [])), { sections: [], block: "", warnings: [] });
});

test("an id is 1 to 128 lower-case characters of the allowed ones, and stands once", async () => {
  const good = ["a", "0", "a.b_c-9", "x".repeat(128)];
  const bad = ["", "A", "a b", "a/b", "ä", "a\n", "x".repeat(129)];
  const all = [...good, ...bad].map((id) => section(id, "t"));
  const { sections, warnings } = await made(loaded("p", all));
  assert.deepEqual(sections.map(({ id }) => id), [...good].sort());
  assert.equal(warnings.length, bad.length);
  const twice = await made(loaded("p", [section("x", "1")]), loaded("q", [section("x", "2")]));
  assert.deepEqual(twice.sections.map(({ text }) => text), ["1"]);
  assert.match(twice.warnings[0]!, /plugin "q": prompt section "x" .* plugin "p" has registered/);
});

test("only after_memory is a position, and max_chars goes from 1 to 4000", async () => {
  const bad = [
    section("a", "t", { position: "first" }),
    section("b", "t", { maxChars: 4001 }),
    section("c", "t", { maxChars: 0 }),
    section("d", "t", { maxChars: 1.5 }),
    section("d2", "t", { maxChars: NaN }),
  ];
  const { sections, warnings } = await made(
    loaded("p", [
      ...bad,
      section("e", "t", { maxChars: 4000 }),
      section("f", "t", { maxChars: 1 }),
    ]),
  );
  assert.deepEqual(sections.map(({ id }) => id), ["e", "f"]);
  assert.equal(warnings.length, 5);
  assert.match(warnings[4]!, /"d2" .* its max_chars is no number, expected a whole number/);
});

test("an empty, oversized or non-string text is left out with a warning, the rest stay", async () => {
  const { sections, warnings } = await made(loaded("p", [
    section("a", ""),
    section("b", " \n"),
    section("c", null),
    section("d", ["x"]),
    section("e", "x".repeat(4001)),
    section("f", "123", { maxChars: 2 }),
    section("g", "x".repeat(4000)),
    // Characters are code points.
    section("h", "😀😀", { maxChars: 2 }),
  ]));
  assert.deepEqual(sections.map(({ id }) => id), ["g", "h"]);
  assert.equal(warnings.length, 6);
  assert.match(warnings[4]!, /4001 characters, over 4000/);
});

test("all together have at most 8,000 characters, headings included", async () => {
  const room = 8000 - 2 * [...sectionHeading("p", "a")].length - 2 * 2 - 2;
  const fits = [section("a", "x".repeat(4000)), section("b", "x".repeat(room - 4000))];
  const whole = await made(loaded("p", fits));
  assert.equal([...whole.block].length, 8000);
  assert.deepEqual(whole.warnings, []);
  const over = await made(
    loaded("p", [fits[0]!, section("b", "x".repeat(room - 3999)), section("c", "small")]),
  );
  assert.deepEqual(over.sections.map(({ id }) => id), ["a", "c"]);
  assert.match(over.warnings[0]!, /"b" is left out: .* over 8000 characters/);
});

test("there are at most 32 sections", async () => {
  const many = Array.from({ length: 34 }, (_, i) => section(`s${String(i).padStart(2, "0")}`, "t"));
  const { sections, warnings } = await made(loaded("p", many));
  assert.equal(sections.length, 32);
  assert.equal(sections.at(-1)!.id, "s31");
  assert.equal(warnings.length, 2);
});

test("a function is told of the session once, and one that fails is left out", async () => {
  const asked: string[] = [];
  const answers: CallResult[] = [
    { kind: "returned", value: "dynamic" },
    { kind: "threw", error: "boom" },
    { kind: "overran", afterMs: 1000 },
    { kind: "gone", error: "exited with code 3" },
  ];
  const sections = answers.map((_, i) => section(`s${i}`, null, { content: { callback: i } }));
  const result = await made(loaded("p", sections, (callback, fields, timeoutMs) => {
    asked.push(`${callback} ${timeoutMs} ${writeJson(fields)}`);
    return answers[callback]!;
  }));
  assert.equal(asked.length, 4);
  assert.equal(asked[0], `0 1000 ${JSON.stringify(INFO, null, 0).replace(/([:,])"/g, '$1 "')}`);
  assert.deepEqual(result.sections.map(({ text }) => text), ["dynamic"]);
  assert.match(result.warnings[0]!, /s1.*threw: boom/);
  assert.match(result.warnings[1]!, /s2.*timed out after 1s/);
  assert.match(result.warnings[2]!, /s3.*exited with code 3/);
});
