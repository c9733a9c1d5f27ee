/** Thousands of made-up patterns and names, answered by Python's own `re.fullmatch` beside ours. */
import { spawnSync } from "node:child_process";
import process from "node:process";
import assert from "node:assert/strict";
import test from "node:test";
import { linearSize, matchLinear, suitsLinear } from "../lib/sources/shell/matcher/linear.ts";
import { compileMatcher } from "../lib/sources/shell/matcher/matcher.ts";
import { parsePattern } from "../lib/sources/shell/matcher/parse.ts";
import type { Node } from "../lib/sources/shell/matcher/syntax.ts";

const seed = Number(process.env.MATCHER_SEED ?? 1);
const count = Number(process.env.MATCHER_COUNT ?? 4000);

// Gives up on what runs away, and on what CPython's engine itself answers with a SystemError.
const oracle = `
import json, re, signal, sys, warnings
warnings.simplefilter("ignore")
class Slow(Exception): pass
def slow(*_): raise Slow()
signal.signal(signal.SIGALRM, slow)
answers = []
for pattern, names in json.load(sys.stdin):
    try:
        compiled = re.compile(pattern)
    except (re.error, ValueError, OverflowError) as problem:
        answers.append(str(problem) or "rejected")
        continue
    except RecursionError:
        answers.append(None)
        continue
    row = []
    for name in names:
        answer = None
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            answer = compiled.fullmatch(name) is not None
            signal.setitimer(signal.ITIMER_REAL, 0)
        except (Slow, SystemError, RuntimeError, MemoryError):
            signal.setitimer(signal.ITIMER_REAL, 0)
        row.append(answer)
    answers.append(row)
    re.purge()
json.dump(answers, sys.stdout)
`;

/**
 * Whether a conditional asks about a group that it stands in: CPython may then look at where the group
 * ended on a way it has long given up.
 */
function asksOpenGroup(node: Node, open: readonly number[] = []): boolean {
  switch (node.op) {
    case "sequence":
      return node.items.some((item) => asksOpenGroup(item, open));
    case "choice":
      return node.branches.some((branch) => asksOpenGroup(branch, open));
    case "group":
      return asksOpenGroup(node.body, [...open, node.group]);
    case "repeat":
    case "look":
    case "atomic":
      return asksOpenGroup(node.body, open);
    case "conditional":
      return open.includes(node.group) || asksOpenGroup(node.yes, open) ||
        (node.no !== undefined && asksOpenGroup(node.no, open));
    default:
      return false;
  }
}

type Answer = string | null | (boolean | null)[];
type Sample = [pattern: string, names: string[]];

/** A small generator with a seed (mulberry32). */
function random(from: number): (below: number) => number {
  let state = from >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

class Maker {
  readonly #below: (n: number) => number;
  #groups = 0;
  #names: string[] = [];
  /** Half of the patterns are of few letters and many groups, where the order of choices shows. */
  #narrow = false;

  constructor(below: (n: number) => number) {
    this.#below = below;
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#below(from.length)] as T;
  }

  sample(): Sample {
    this.#groups = 0;
    this.#names = [];
    this.#narrow = this.#below(2) === 0;
    const flags = this.#below(4)
      ? ""
      : this.#pick(["(?i)", "(?s)", "(?m)", "(?x)", "(?a)", "(?ai)"]);
    let pattern = flags + this.#choice(3);
    if (this.#below(6) === 0) pattern = this.#damaged(pattern);
    const names = Array.from({ length: 8 }, () => this.#name());
    names.push("", "a");
    return [pattern, names];
  }

  #name(): string {
    const letters = this.#narrow || this.#below(3) ? ["a", "b", "a", "b", "c", "_"] : [
      "a",
      "A",
      "b",
      "B",
      "\n",
      "_",
      "-",
      "1",
      " ",
      "é",
      "É",
      "ß",
      "ſ",
      "s",
      "k",
      "K",
      "\u212a",
      "i",
    ]
      .concat("ı", "İ", "٣", "²", "日", "😀", "\u001c", "σ", "ς", "Σ", "\u00a0", "K");
    return Array.from({ length: this.#below(7) }, () => this.#pick(letters)).join("");
  }

  #choice(depth: number): string {
    const branches = Array.from(
      { length: this.#pick([1, 1, 1, 2, 2, 3]) },
      () => this.#sequence(depth),
    );
    return branches.join("|");
  }

  #sequence(depth: number): string {
    return Array.from({ length: this.#pick([0, 1, 1, 2, 2, 3, 4]) }, () => this.#item(depth)).join(
      "",
    );
  }

  #item(depth: number): string {
    const atom = this.#atom(depth);
    const repeatable = !/^(?:[$^]|\\[AZbB])$/.test(atom) && atom !== "(?#c)";
    return atom + (repeatable && this.#below(5) < 2 ? this.#quantifier() : "");
  }

  #quantifier(): string {
    const base = this.#pick([
      "*",
      "+",
      "?",
      "*",
      "+",
      "{2}",
      "{1,2}",
      "{,2}",
      "{1,}",
      "{0}",
      "{,}",
      "{0,3}",
    ]);
    return base + this.#pick(["", "", "", "?", "?", "+"]);
  }

  #atom(depth: number): string {
    if (depth > 0 && this.#below(5) < (this.#narrow ? 3 : 2)) return this.#group(depth - 1);
    if (this.#narrow) return this.#pick(["a", "b", "c", "a", "b", "ab", "."]);
    switch (this.#below(12)) {
      case 0:
        return this.#set();
      case 1:
        return this.#pick(["\\w", "\\W", "\\d", "\\D", "\\s", "\\S"]);
      case 2:
        return this.#pick(["^", "$", "\\A", "\\Z", "\\b", "\\B"]);
      case 3:
        return ".";
      case 4:
        return this.#pick([
          "\\x61",
          "\\u0062",
          "\\141",
          "\\n",
          "\\.",
          "\\-",
          "\\0",
          " ",
          "#",
          "\\U0001F600",
        ]);
      case 5:
        return this.#groups ? "\\" + (1 + this.#below(this.#groups)) : "a";
      case 6:
        return this.#names.length ? `(?P=${this.#pick(this.#names)})` : "b";
      case 7:
        return this.#pick(["é", "ß", "ſ", "K", "k", "s", "i", "İ", "ı", "σ", "Σ", "B", "A", "😀"]);
      default:
        return this.#pick(["a", "b", "a", "b", "c", "ab"]);
    }
  }

  #group(depth: number): string {
    if (this.#narrow) {
      const opening = this.#pick(["(?:", "(?:", "(?:", "(?>", "(?=", "(?!", "("]);
      const inside = this.#choice(depth);
      if (opening === "(") this.#groups++;
      return `${opening}${inside})`;
    }
    switch (this.#below(14)) {
      case 0:
        return `(?=${this.#choice(depth)})`;
      case 1:
        return `(?!${this.#choice(depth)})`;
      case 2:
        return `(?<=${this.#pick(["a", "b", "ab", "a|b", "^", ".", "\\w", this.#sequence(0)])})`;
      case 3:
        return `(?<!${this.#pick(["a", "b", "ab", "a|b", "^", ".", "\\w", this.#sequence(0)])})`;
      case 4:
        return `(?>${this.#choice(depth)})`;
      case 5:
        return this.#pick(["(?i:", "(?-i:", "(?s:", "(?m:", "(?x:", "(?a:", "(?u:", "(?i-s:"]) +
          this.#choice(depth) + ")";
      case 6: {
        const name = this.#pick(["n", "é", "x1"]) + this.#names.length + depth;
        const inside = this.#choice(depth);
        if (this.#names.includes(name)) return `(?:${inside})`;
        this.#groups++;
        this.#names.push(name);
        return `(?P<${name}>${inside})`;
      }
      case 7:
        return `(?(${1 + this.#below(this.#groups + 1)})${this.#sequence(depth)}` +
          (this.#below(2) ? `|${this.#sequence(depth)})` : ")");
      case 8:
        return "(?#c)";
      case 9:
      case 10:
      case 11: {
        const inside = this.#choice(depth);
        this.#groups++;
        return `(${inside})`;
      }
      default:
        return `(?:${this.#choice(depth)})`;
    }
  }

  #set(): string {
    const members = [
      [
        "a",
        "b",
        "c",
        "]",
        "^",
        "-",
        "a-c",
        "\\w",
        "\\W",
        "\\d",
        "\\s",
        "\\b",
        "é",
        "[",
        "&&",
        "A-Z",
        "K",
      ],
      ["\\n", "\\]", "ß", "i", "à-ÿ", "!-~", "\\x61-\\x63", "σ", "😀", "0-9", " ", "#", "s", "\\-"],
    ].flat();
    const inside = Array.from({ length: 1 + this.#below(3) }, () => this.#pick(members)).join("");
    return `[${this.#pick(["", "", "^", "]"])}${inside}]`;
  }

  /** A pattern with a few tokens put in, taken out or swapped: most are rejected. */
  #damaged(pattern: string): string {
    const chars = Array.from(pattern);
    const tokens = [
      "(",
      ")",
      "[",
      "]",
      "{",
      "}",
      "*",
      "+",
      "?",
      "|",
      "\\",
      "(?",
      "(?P",
      "<",
      ">",
      "=",
      "-",
    ]
      .concat(
        ":",
        "!",
        "#",
        "{2,1}",
        "{1",
        "\\z",
        "\\8",
        "\\400",
        "(?<n>",
        "(?L)",
        "\\x1",
        "\\N{DASH}",
      )
      .concat(
        "(?i)",
        "(?x)",
        "^",
        "$",
        "\\Q",
        "\\p",
        ",",
        "}",
        "(?-",
        "(?t)",
        "(?au:",
        "(?(1)",
        "\n",
        "0",
      );
    for (let i = 0; i <= this.#below(2); i++) {
      const at = this.#below(chars.length + 1);
      chars.splice(at, this.#below(2), this.#pick(tokens));
    }
    return chars.join("");
  }
}

function samples(): Sample[] {
  const maker = new Maker(random(seed));
  return Array.from({ length: count }, () => maker.sample());
}

function askPython(input: Sample[]): Answer[] {
  const python = spawnSync("python3", ["-c", oracle], {
    input: JSON.stringify(input),
    encoding: "utf8",
    maxBuffer: 1 << 28,
    timeout: 300_000,
  });
  assert.equal(python.status, 0, `${python.signal} ${python.stderr}`);
  return JSON.parse(python.stdout) as Answer[];
}

const version = spawnSync("python3", ["-c", "import sys; print(*sys.version_info[:3])"], {
  encoding: "utf8",
}).stdout?.trim();
const [major, minor, micro] = (version ?? "").split(" ").map(Number);
// Before 3.11.5 Python's possessive quantifiers match wrongly (cpython#106052, cpython#100061).
const isOracle = major === 3 && minor === 11 && micro! >= 5;
const skip = isOracle ? false : `needs python3 3.11.5 or a later 3.11, found ${version || "none"}`;

test("generated patterns are accepted, rejected and matched as Python does", {
  skip,
  timeout: 300_000,
}, async () => {
  const input = samples();
  const answers = askPython(input);
  const differences: string[] = [];
  let compared = 0;
  let matches = 0;
  let rejected = 0;
  let unsure = 0;
  for (const [index, [pattern, names]] of input.entries()) {
    const answer = answers[index];
    if (answer === null || answer === undefined) continue;
    const parsed = parsePattern(pattern);
    if (parsed.ok && asksOpenGroup(parsed.pattern.root)) continue;
    const matcher = compileMatcher(pattern);
    if (typeof answer === "string" || matcher.kind === "broken") {
      const unnamed = matcher.error?.includes("not supported");
      if ((typeof answer === "string") !== (matcher.kind === "broken") && !unnamed) {
        differences.push(`${JSON.stringify(pattern)}: Python ${answer}, we ${matcher.error}`);
      }
      rejected++;
      continue;
    }
    for (const [at, name] of names.entries()) {
      if (answer[at] === null) continue;
      compared++;
      const ours = await matcher.test(name);
      if (ours.matched) matches++;
      if (ours.warning) unsure++;
      if (ours.matched === answer[at] || ours.warning) continue;
      differences.push(
        `${JSON.stringify([pattern, name])}: Python ${answer[at]}, we ${JSON.stringify(ours)}`,
      );
    }
  }
  assert.deepEqual(differences, []);
  // What was compared is only worth something when every kind of answer is well among it.
  const seen = JSON.stringify({ compared, matches, rejected, unsure });
  assert.ok(compared > count * 3 && matches > count / 4 && rejected > count / 20, seen);
  assert.ok(unsure < 1 + count / 1000, seen);
  if (process.env.MATCHER_SEED) console.log(seen);
});

test("RE2, where it is used at all, answers as the backtracking matcher does", async () => {
  const differences: string[] = [];
  let compared = 0;
  for (const [pattern, names] of samples().slice(0, 1000)) {
    const parsed = parsePattern(pattern);
    const size = parsed.ok ? linearSize(parsed.pattern) : undefined;
    if (!parsed.ok || size === undefined) continue;
    for (const name of names) {
      if (!suitsLinear(size, name)) continue;
      compared++;
      const linear = await matchLinear(parsed.pattern, name);
      if (linear !== (await compileMatcher(pattern).test(name)).matched) {
        differences.push(`${JSON.stringify([pattern, name])}: RE2 ${linear}`);
      }
    }
  }
  assert.deepEqual(differences, []);
  assert.ok(compared > 500, `only ${compared} names compared`);
});
