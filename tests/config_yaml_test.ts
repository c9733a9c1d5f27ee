import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { at, type ConfigNode } from "../lib/config/node.ts";
import { readYaml, YamlSyntaxError } from "../lib/config/yaml.ts";

const corpus = new URL("./corpus/yaml/", import.meta.url);

function lists(file: string): Record<string, string[]> {
  return JSON.parse(readFileSync(new URL(file, corpus), "utf8"));
}

/** What PyYAML makes of each text: a value, or null where it refuses; undefined without PyYAML. */
function safeLoad(texts: readonly string[]): (string | null)[] | undefined {
  const script = fileURLToPath(new URL("safe_load.py", corpus));
  const run = spawnSync("python3", [script], {
    input: JSON.stringify(texts),
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (run.status === 0) return JSON.parse(run.stdout);
  const absent = run.error !== undefined || run.stderr.includes("No module named 'yaml'");
  assert.ok(absent, run.stderr);
  console.warn("skipped: python3 with PyYAML is not here, nothing was compared with it");
  return undefined;
}

/** JSON's spelling of a string with only ASCII in it, as Python writes it. */
function ascii(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}

function dump(node: ConfigNode | undefined): string {
  if (node === undefined) return "null";
  if (node.kind === "list") return `[${node.items.map(dump).join(",")}]`;
  if (node.kind === "map") {
    const entries = [...node.entries.values()];
    return `{${entries.map(({ key, value }) => `${dump(key)}:${dump(value)}`).join(",")}}`;
  }
  const { value, type } = node;
  if (type === "str") return ascii(String(value));
  if (type !== "float") return typeof value === "string" ? type : String(value);
  if (Number.isNaN(value)) return "float nan";
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, Number(value));
  return "float " + bytes.getBigUint64(0).toString(16).padStart(16, "0");
}

function ours(text: string): string | null {
  try {
    return dump(readYaml(text, "config.yaml").root);
  } catch (error) {
    if (error instanceof YamlSyntaxError) return null;
    throw error;
  }
}

function assertAsPython(texts: readonly string[]): void {
  const expected = safeLoad(texts);
  if (!expected) return;
  const different = texts.flatMap((text, i) => {
    const [python, here] = [expected[i] ?? null, ours(text)];
    return here === python ? [] : [{ text, python, here }];
  });
  assert.deepEqual(different, []);
}

function refusal(text: string): YamlSyntaxError {
  try {
    readYaml(text, "config.yaml");
  } catch (error) {
    if (error instanceof YamlSyntaxError) return error;
    throw error;
  }
  return assert.fail(`read without an error: ${JSON.stringify(text.slice(0, 80))}`);
}

/** A seeded source of numbers in [0, 1): the same cases on every run. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SCALARS =
  `a|b c|yes|No|on|y|1|-1|010|08|0x1F|0b11|1_000|1:30|1e3|1.5|1.5e+3|-.5|.inf|~|null|2024-01-02
2024-01-02 03:04:05|=|''|""|"x y"|'it''s'|"\\n\\u00e9"|"a # b"|a#b|a:b|http://x/y|-x|é|日本
x, y|a/b.sh --x|\${A}|$(x)|+1|_1|190:20:30|1:30.5|a (b)|%x|@x|*x|"a\\\n  b"`.split(/[|\n]/);
const PROPERTIES = ["!!str ", "!!int ", "!!null ", "!!bool ", "!!binary ", "!foo ", "!!map "];
const BREAKS = ["", "", "", " ", "\n  ", "\n", "\n# c\n"];
const COMMENTS = ["", "", "", "", " # c", "  # 'x", "#x", " # a: b"];
const BLANKS = ["", "", "", "", "\n", "  \n", "# c\n", "   # c\n"];
const EDITS = [..." \t:-'\"#\n,]{}&*!|>%@`\r\\", ": ", " #", "- ", "\n "];

/** Texts that look like config files, many of them broken in one place. */
class Generator {
  #anchors = 0;
  constructor(readonly next: () => number) {}

  text(): string {
    const text = this.#block(0, 3);
    if (this.next() > 0.3) return this.next() < 0.1 ? text.replaceAll("\n", "\r\n") : text;
    const edit = Math.floor(this.next() * text.length);
    const cut = this.next() < 0.3 ? 1 : 0;
    return text.slice(0, edit) + (cut ? "" : this.#pick(EDITS)) + text.slice(edit + cut);
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[Math.floor(this.next() * from.length)];
    assert.ok(picked !== undefined);
    return picked;
  }

  #properties(): string {
    const chance = this.next();
    if (chance < 0.04) return `&x${this.#anchors++} `;
    return chance < 0.07 ? this.#pick(PROPERTIES) : "";
  }

  #scalar(): string {
    return this.#properties() + this.#pick(SCALARS);
  }

  #value(depth: number): string {
    const chance = this.next();
    if (chance < 0.05 && this.#anchors > 0) return `*x${Math.floor(this.next() * this.#anchors)} `;
    if (depth === 0 || chance < 0.5) return this.#scalar();
    const items = Array.from({ length: Math.floor(this.next() * 4) }, () => {
      const value = this.#pick(BREAKS) + this.#value(depth - 1);
      return chance < 0.75 ? value : `${this.#pick(BREAKS)}${this.#pick(SCALARS)}: ${value}`;
    });
    const inside = items.join(this.#pick(BREAKS) + ",") + this.#pick(BREAKS);
    return chance < 0.75 ? `[${inside}]` : `{${inside}}`;
  }

  #blockScalar(indent: number): string {
    const head = this.#pick(["|", ">", "|-", ">-", "|+", ">+"]);
    const lines = Array.from(
      { length: Math.floor(this.next() * 4) },
      () =>
        this.next() < 0.2
          ? this.#pick(["\n", "  \n"])
          : " ".repeat(indent + this.#pick([0, 0, 1])) + this.#pick(["x", "y z", "- k", "a: b"]) +
            "\n",
    );
    return head + this.#pick(COMMENTS).replace(/^#x/, "") + "\n" + lines.join("");
  }

  #block(indent: number, depth: number): string {
    const list = this.next() < 0.4;
    let text = "";
    for (let i = 0; i < 1 + this.next() * 3; i++) {
      text += this.#pick(BLANKS) + " ".repeat(indent) +
        (list ? "- " : this.#scalar() + this.#pick([": ", ": ", ":  ", " : "]));
      const chance = this.next();
      if (depth > 0 && chance < 0.3) {
        text += this.#pick(COMMENTS) + "\n" +
          this.#block(indent + this.#pick([0, 1, 2, 2]), depth - 1);
      } else if (chance < 0.4) text += this.#blockScalar(indent + this.#pick([1, 2, 2]));
      else if (chance < 0.6) text += this.#value(2) + this.#pick(COMMENTS) + "\n";
      else text += this.#value(0) + this.#pick(COMMENTS) + "\n";
    }
    return text;
  }
}

for (const [name, texts] of Object.entries(lists("cases.json"))) {
  test(`${name} are read as PyYAML's safe_load reads them`, () => {
    assert.ok(texts.length > 20);
    assertAsPython(texts);
  });
}

test("what looks like a config is read as PyYAML reads it, or refused as PyYAML refuses it", () => {
  const generator = new Generator(random(1));
  assertAsPython(Array.from({ length: 2000 }, () => generator.text()));
});

// The known differences: all refusals of what PyYAML reads. One more, found by longer runs and not
// in the list: spaces on the last, otherwise blank, lines of a block scalar that states its
// indentation ("|2") are dropped.
for (const [name, texts] of Object.entries(lists("known.json"))) {
  test(`${name}: refused, though PyYAML reads it`, () => {
    assert.deepEqual(texts.map(ours), texts.map(() => null));
    assert.ok(!safeLoad(texts)?.includes(null));
  });
}

test("an empty file and one with nothing but comments have no root", () => {
  for (const text of ["", "\n", "  \n\n", "# hooks:\n", "\ufeff"]) {
    assert.deepEqual(readYaml(text, "f"), { root: undefined, problems: [] });
  }
});

test("a duplicate key is warned about once, with both lines, and the last wins", () => {
  const text = "hooks:\n  pre_tool_call: 1\n  on_session_end: 2\n  pre_tool_call: 3\n";
  const { root, problems } = readYaml(text, "/h/config.yaml");
  assert.equal(dump(at(at(root, "hooks"), "pre_tool_call")), "3");
  assert.deepEqual(problems, [{
    severity: "warning",
    file: "/h/config.yaml",
    path: "hooks.pre_tool_call",
    line: 4,
    message: 'duplicate key "pre_tool_call": lines 2 and 4; the last wins',
  }]);
});

test("a key that stands three times is one warning that names three lines", () => {
  const { problems } = readYaml("- a: 1\n  a: 2\n  a: 3\n", "f");
  assert.deepEqual(problems.map(({ path, message }) => [path, message]), [
    ["[0].a", 'duplicate key "a": lines 1, 2 and 3; the last wins'],
  ]);
});

test("a key of its own beside a merged one is no duplicate", () => {
  const text = "d: &d {a: 1, b: 2}\nx:\n  <<: *d\n  a: 3\n";
  const { root, problems } = readYaml(text, "f");
  assert.deepEqual(problems, []);
  assert.equal(dump(at(root, "x")), '{"a":3,"b":2}');
});

test("keys such as __proto__ are data", () => {
  assert.equal(
    dump(readYaml("__proto__: 1\nconstructor: 2\n", "f").root),
    '{"__proto__":1,"constructor":2}',
  );
});

test("a node knows its line and column, also where the file has CRLF and a BOM", () => {
  const { root } = readYaml("\ufeffa: 1\r\nhooks:\r\n  - é: {b: x}\r\n", "f");
  const list = at(root, "hooks");
  assert.ok(list?.kind === "list");
  const value = at(at(list.items[0], "é"), "b");
  assert.deepEqual([value?.line, value?.column], [3, 12]);
});

test("lines inside brackets that were moved for the parser keep their column", () => {
  const { root } = readYaml("hooks: [\n{a: x},\n  {a: y}]\n", "f");
  const list = at(root, "hooks");
  assert.ok(list?.kind === "list");
  const places = list.items.map((item) => at(item, "a")).map((node) => [node?.line, node?.column]);
  assert.deepEqual(places, [[2, 5], [3, 7]]);
});

test("a syntax error says where", () => {
  const places = ["a: 1\nb: [1,\n", "a:\n\tb: 1\n", "a: 1\n  b: 2\n", "a: 'x\n", "a: 1\nb: *c\n"]
    .map(refusal).map(({ file, line, column }) => [file, line, column]);
  assert.deepEqual(places, [
    ["config.yaml", 2, 4],
    ["config.yaml", 2, 1],
    ["config.yaml", 2, 4],
    ["config.yaml", 1, 4],
    ["config.yaml", 2, 4],
  ]);
});

test("aliases that expand without bound are refused, quickly", () => {
  const lines = ["a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]"];
  for (let i = 1; i < 30; i++) {
    lines.push(`a${i}: &a${i} [${Array(9).fill(`*a${i - 1}`).join(", ")}]`);
  }
  const started = performance.now();
  assert.match(refusal(lines.join("\n")).message, /aliases expand to more than 100000 values/);
  assert.ok(performance.now() - started < 2000);
});

test("merges that expand without bound are refused", () => {
  const lines = ["a0: &a0 {x: [1, 2, 3, 4, 5, 6, 7, 8, 9]}"];
  for (let i = 1; i < 30; i++) {
    lines.push(`a${i}: &a${i}\n  <<: [*a${i - 1}, *a${i - 1}]\n  k${i}: *a${i - 1}`);
  }
  assert.match(refusal(lines.join("\n")).message, /aliases expand/);
});

test("nesting without bound is refused and overflows no stack", () => {
  for (const [open, close = ""] of [["[", "]"], ["{a: ", "}"], ["- "], ["? "], ["[{a: ", "}]"]]) {
    assert.ok(open);
    const text = open.repeat(20_000) + close.repeat(20_000);
    assert.match(refusal(text).message, /nested deeper than 200 levels/);
  }
  const aliases = Array.from(
    { length: 30 },
    (_, i) => `a${i}: &a${i} ${"[".repeat(9)}${i ? `*a${i - 1}` : 1}${"]".repeat(9)}`,
  );
  assert.match(refusal(aliases.join("\n")).message, /nested deeper than 200 levels/);
});

test("an alias gives the very node it names", () => {
  const { root } = readYaml("a: &a [1]\nb: *a\n", "f");
  assert.ok(at(root, "a") !== undefined);
  assert.equal(at(root, "a"), at(root, "b"));
});
