import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import type { ConfigNode } from "../lib/config/node.ts";
import { readYaml } from "../lib/config/yaml.ts";
import { YamlSyntaxError } from "../lib/config/yaml_error.ts";
import { readConfigYaml, type YamlFile } from "../lib/config/yaml_file.ts";
import { readSimpleYaml } from "../lib/config/yaml_simple.ts";

/** A tree in which the order of entries counts too. */
function ordered(node: ConfigNode | undefined): unknown {
  if (node?.kind === "list") return { ...node, items: node.items.map(ordered) };
  if (node?.kind !== "map") return node;
  const entries = [...node.entries].map(([name, { key, value }]) => [name, key, ordered(value)]);
  return { ...node, entries };
}

function comparable({ root, problems }: YamlFile) {
  return { root: ordered(root), problems };
}

function exact(text: string) {
  try {
    return comparable(readYaml(text, "config.yaml"));
  } catch (error) {
    if (error instanceof YamlSyntaxError) return `refused: ${error.message}`;
    throw error;
  }
}

/** Asserts that what is taken is read as the exact reader reads it; returns how many were taken. */
function assertEqualWhereTaken(texts: readonly string[]): number {
  let taken = 0;
  for (const text of texts) {
    const quick = readSimpleYaml(text, "config.yaml");
    if (!quick) continue;
    taken++;
    assert.deepEqual(comparable(quick), exact(text), JSON.stringify(text));
  }
  return taken;
}

function corpus(file: string): string[] {
  const lists = JSON.parse(
    readFileSync(new URL(`./corpus/yaml/${file}`, import.meta.url), "utf8"),
  ) as Record<string, string[]>;
  return Object.values(lists).flat();
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

const KEYS = "a|b|hooks|command|e f|\"q k\"|'s'|yes|1|1.0|~|é😀|=|a:b|x#y|2024-01-02|a[0]".split(
  "|",
);
const SIMPLE_VALUES =
  `b c;yes;No;y;-1;010;08;0x1F;1_000;1:30;1e3;1.5;.inf;~;2024-01-02;'';"x y";'it''s';"\\n\\u00e9";"a # b";a#b;a:b;-x
http://x:80/y?z=1#f;日本 😀;x, y;\${A} $(x);C:\\Users\\x;a - b;a | b;a];a"b;--x;"a\tb";[a, b];[];{};{a: b, c: [d, e]}
{"a":1};[agent:start, -1, --x];{a: 1, a: 2};[a,];[a:b];{'a':'b'};[😀, 'x'] `.split(/[;\n]/);
const NEAR_VALUES =
  `2024-02-31;=;a:;a: b;%x;*x;&x y;!x;? x;- x;:x;a\tb;"\\z";"a;'a;[a;[a]];[a] b;"a" b;{a};{a: };[a: b];[a,,b];{a:b}
[a #b];[a?b];[-];["a":b];|;>-;"\\ud83d\\ude00"`.split(/[;\n]/);
const COMMENTS = [..." ".repeat(8).split(" "), " # c", "  # 'x", "#x", " # a: b", "   ", " #\tx"];
const BLANKS = [..." ".repeat(8).split(" "), "\n", "  \n", "# c\n", "   # c\n", "        \n"];
const SHARDS =
  "{|}|[|]|:|,|\"|'|\n|\t|\r|&a |*a|<<: |!!str |- |-|? |#| #|%|\\|\0|\u2028|\x85|😀|~|---|...|  | |a: |\n\n|\n  |\n- |: |, "
    .split("|");
const BLOCK_LINES = ["x", "y z ", "- k", "a: b", "# x", "'q", "😀", "x\ty", "---"];

/** Simple configs, and such as are simple but for one place. */
class Generator {
  constructor(readonly next: () => number) {}

  text(): string {
    let text = this.#block(0, 3);
    if (this.next() < 0.3) {
      const at = this.#below(text.length);
      text = text.slice(0, at) + this.#pick(SHARDS) + text.slice(at + this.#below(3));
    }
    if (this.next() < 0.1) text = text.replaceAll("\n", "\r\n");
    return (this.next() < 0.05 ? "\ufeff" : this.next() < 0.05 ? "---\n" : "") + text;
  }

  #below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[this.#below(from.length)];
    assert.ok(picked !== undefined);
    return picked;
  }

  #block(indent: number, depth: number): string {
    const list = this.next() < 0.35;
    let text = "";
    for (let i = this.#below(4); i >= 0; i--) {
      text += this.#pick(BLANKS) + " ".repeat(indent) + this.#entry(list, indent, depth);
    }
    return text;
  }

  #entry(list: boolean, indent: number, depth: number): string {
    const gap = this.#pick([" ", " ", " ", "  "]);
    if (list && depth > 0 && this.next() < 0.5) {
      const inner = indent + 1 + gap.length;
      const more = () => this.#pick(BLANKS) + " ".repeat(inner) + this.#entry(false, inner, 0);
      return `-${gap}` + this.#entry(false, inner, depth - 1) + (this.next() < 0.6 ? more() : "");
    }
    return (list ? "-" : this.#pick(KEYS) + this.#pick([":", ":", ":", " :"])) +
      this.#inside(gap, indent, depth);
  }

  #inside(gap: string, indent: number, depth: number): string {
    const chance = this.next();
    if (depth > 0 && chance < 0.3) {
      const deeper = this.#block(indent + this.#pick([0, 1, 2, 2, 2, 4]), depth - 1);
      return this.#pick(COMMENTS) + "\n" + deeper;
    }
    if (chance < 0.37) return gap + this.#blockScalar(indent + this.#pick([0, 1, 2, 2, 2]));
    if (chance < 0.42) return this.#pick(COMMENTS) + "\n";
    const more = chance < 0.43 ? "\n" + " ".repeat(indent + 1) + this.#pick(SIMPLE_VALUES) : "";
    const value = this.#pick(this.next() < 0.95 ? SIMPLE_VALUES : NEAR_VALUES);
    return gap + value + more + this.#pick(COMMENTS) + "\n";
  }

  #blockScalar(indent: number): string {
    const lines = Array.from({ length: this.#below(5) }, () => {
      if (this.next() < 0.2) return this.#pick(["\n", "  \n"]);
      return " ".repeat(indent + (this.next() < 0.1 ? 1 : 0)) + this.#pick(BLOCK_LINES) + "\n";
    });
    return this.#pick(["|", ">", "|-", ">-", "|+", "|2"]) + "\n" + lines.join("");
  }
}

test("what the quick reader takes of the corpus it reads as the exact one", () => {
  const texts = [...corpus("cases.json"), ...corpus("known.json")];
  const variants = texts.flatMap((text) => [text, text.replaceAll("\n", "\r\n"), `x:\n - ${text}`]);
  assert.ok(assertEqualWhereTaken(variants) > 300);
});

test("what the quick reader takes of generated files it reads as the exact one", () => {
  const generator = new Generator(random(7));
  const taken = assertEqualWhereTaken(Array.from({ length: 6000 }, () => generator.text()));
  assert.ok(taken > 1000, `${taken} taken`);
});

const REALISTIC: Readonly<Record<string, string>> = {
  "a hook": "hooks:\n  pre_tool_call:\n    - command: ~/.hermes/guard.sh --strict\n",
  "an empty file": "",
  "a file of comments": "# hooks:\n#   pre_tool_call: []\n\n",
  "hooks with matchers": `# guards
hooks:
  pre_tool_call:
    - matcher: "terminal|write_file"   # both
      command: "~/.hermes/agent-hooks/block-rm-rf.sh"
      timeout: 10
      fail_closed: yes

    - matcher: ^mcp__(github|gitlab)__.*$
      command: 'python3 "~/my hooks/a.py" --name=''x'''
  post_tool_call:
  - command: prettier --write \${FILE} # at the end
  on_session_end: []
  pre_llm_call:

hooks_auto_accept: off
`,
  "outbound targets": `hooks:
  outbound:
    - name: ci
      url: https://ci.example.com:8443/hooks/hermes?source=agent#top
      events: [on_session_end, "post_tool_call", pre_verify]
      secret_env: CI_SECRET
      timeout: 2.5
  output_spill: {enabled: true, max_chars: 20_000, directory: ~/spills}
`,
  "maps in maps": `agent:
  max_verify_nudges: 3
  limits:
      soft: {cpu: 0.5, memory: 1e3}
      hard:
        cpu: 0x10
        memory: ~
plugins:
  enabled:
    - audit
    - "notify slack"
hermes_hooks:
  serve: {listen: "127.0.0.1:8787"}
`,
  "Windows paths": `hooks:
  pre_tool_call:
    - command: C:\\Users\\me\\hook.exe /quiet
    - command: "\\"C:\\\\Program Files\\\\x.exe\\" /q"
    - command: 'C:\\a b\\c.exe'
`,
  "times, dates and numbers": "a: 1:30\nb: 12:30:45\nc: 2024-05-06\nd: 08\ne: -1.5e+3\nf: 1_000\n",
  "emoji and other scripts": 'emoji: 🚀 ok # 🚀\nключ: значение\n名前: "日本 🗾"\n- : x\n'.slice(
    0,
    -6,
  ),
  "a prompt": `agent:
  system_prompt: |
    You are careful.

    - ask first
      and then act # no comment
  motto: >-
    slow is smooth
    smooth is fast

    so it is said
next: 1
`,
  "CRLF and a BOM":
    "\ufeffhooks:\r\n  pre_tool_call:\r\n    - command: a.sh\r\n      timeout: 5\r\n",
  "a document start": "# mine\n---\nhooks: {}\n",
  "sequences in sequences": "a:\n- - 1\n  - 2\n-\n  - 3\n- - - x\nb: [[1, 2], [3]]\n",
  "no line break at the end": "hooks:\n  a: b",
  "written as JSON": '{"hooks": {"pre_tool_call": [{"command":"a.sh","timeout":5}]}}\n',
  "a key that stands twice": "hooks:\n  a: 1\n  b: {x: 1, x: 2}\n  a: 3\n",
};

test("configs as people write them are read without the package", () => {
  const left = Object.entries(REALISTIC).filter(([, text]) => !readSimpleYaml(text, "config.yaml"));
  assert.deepEqual(left, []);
  const texts = Object.values(REALISTIC);
  assert.equal(assertEqualWhereTaken(texts), texts.length);
});

const NOT_SIMPLE = [
  ..."a: &x 1|a: *x|a: !!str 1|? a|<<: {a: 1}|a: <<|%YAML 1.1|a: @x|a: `x|a: %x|a: b: c|a: =|a: 2024-02-31"
    .split("|"),
  ...'a: "x|a: "x" y|a: "x"#c|a: "\\z"|a: "\\ud83d\\ude00"|"a":b|a: \'x|[a]: b|a: [b|a: [b]]|a: {b}'
    .split("|"),
  ...`a: [b: c];a: [a?b];a: [b #c];a: [b:,c];a: {b:c};a: - b;a:b;word;"word"`.split(";"),
  ...["a:\tb", "\ta: b", "a: b\t# c", "a:\n \t\n", "a: b\n  c", "a: b\n  # c\n  d", "a: 'b\n  c'"],
  ...["a: [b,\n  c]", "a: 1\n---\nb: 2\n", "---\n", "--- a\n", "a: 1\n...\n", "a: x\ry: z\n"],
  ...["a: x\x85", "a: x\u2028", "a: x\u0001", "a: \ufeff", "a: \ud83d"],
  ...[
    "- a\n b\n",
    "- a\n  b: 1\n",
    "-\n# c\n b\n-",
    "a:\n    b: 1\n  c: 2\n",
    "a: 1\n b: 2\n",
    "a:\n  - b\n  c: 1\n",
    "- a\nb: 1\n",
    "a: 1\n- b\n",
  ],
  ...[
    "a: |+\n  x\n",
    "a: |2\n  x\n",
    "a: |\nx\n",
    "a: |\n\n  x\n",
    "a: |\n  x",
    "a: >\n  x\n   y\n",
  ],
  ...["a: |\n  x\n \n y\n", "a: |\n  \tx\n", "a: | x\n", "a:\n  |\n  x\n"],
  `${"a".repeat(1100)}: b`,
  "- ".repeat(60) + "a",
  `a: ${"[".repeat(30)}${"]".repeat(30)}`,
];

test("what is not simple, or wrong, is left to the exact reader", () => {
  const taken = NOT_SIMPLE.filter((text) => readSimpleYaml(text, "config.yaml") !== undefined);
  assert.deepEqual(taken, []);
});

test("a text that is not simple is read by the exact reader", async () => {
  const text = "a: &x {b: 1}\nc: *x\n";
  assert.deepEqual(comparable(await readConfigYaml(text, "config.yaml")), exact(text));
  await assert.rejects(
    async () => await readConfigYaml("a: [\n", "config.yaml"),
    (error) => error instanceof YamlSyntaxError && error.line === 1 && error.column === 4,
  );
});

test("a simple text is read at once, without a promise", () => {
  const file = readConfigYaml("a: 1\n", "config.yaml");
  assert.ok("root" in file);
});

test("of the keys true and 'true' the one that can be looked up counts, in either order", () => {
  for (const text of ['true: 1\n"true": 2\n', '"true": 2\ntrue: 1\n']) {
    for (const file of [readSimpleYaml(text, "f"), readYaml(text, "f")]) {
      assert.ok(file?.root?.kind === "map");
      const { key, value } = file.root.entries.get("true") ?? assert.fail("no such key");
      assert.deepEqual([key.type, value.kind === "scalar" && value.value], ["str", 2n]);
    }
  }
});

test("a key equal to a merged one keeps the merged one's spelling, and stands where it stands", () => {
  const { root } = readYaml("<<: {1: a}\n1.0: b\n", "f");
  assert.ok(root?.kind === "map");
  const key = root.entries.get("1")?.key;
  assert.deepEqual([key?.value, key?.type, key?.line, key?.column], [1n, "int", 2, 1]);
});

test("a long file takes time in proportion to its length", () => {
  const entry = "    - matcher: terminal\n      command: \"~/x.sh 'a b'\"\n";
  const text = "hooks:\n  pre_tool_call:\n" + entry.repeat(20_000);
  const started = performance.now();
  assert.ok(readSimpleYaml(text, "config.yaml"));
  assert.ok(performance.now() - started < 2000);
});
