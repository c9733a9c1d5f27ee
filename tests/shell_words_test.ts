import test from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { quoteWords, splitWords, WordsError } from "../lib/sources/shell/words.ts";

const PYTHON = `
import json, shlex, sys
def split(text):
    try:
        return shlex.split(text)
    except ValueError as error:
        return str(error).lower()
corpus = json.load(sys.stdin)
json.dump({
    "split": [split(text) for text in corpus["lines"]],
    "join": [shlex.join(words) for words in corpus["words"]],
}, sys.stdout)
`;

/** The same numbers each time: a failure can be looked at again. */
function seeded(seed: number): (below: number) => number {
  return (below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
}

const PIECES = [
  ..."'\"\\ \t\r\n#ab",
  "'x y'",
  '"x y"',
  '"\\""',
  '"\\n"',
  "\\\n",
  "\\ ",
  "''",
  '""',
  "\u00a0",
  "\u3000",
  "\u0085",
  "\v",
  "\f",
  "é",
  "字",
  "😀",
  "$HOME",
  "*",
  "|",
  ";",
  "~",
  "--flag=",
  "# no comment",
];

function corpus(count: number): string[] {
  const below = seeded(20_240_229);
  return Array.from(
    { length: count },
    () => Array.from({ length: below(12) }, () => PIECES[below(PIECES.length)]).join(""),
  );
}

function mine(line: string): string[] | string {
  try {
    return splitWords(line);
  } catch (error) {
    assert.ok(error instanceof WordsError);
    return error.message;
  }
}

test("splitting and joining agree with python's shlex on 20,000 lines", (t) => {
  const lines = corpus(20_000);
  const words = lines.slice(0, 2_000).map((line) => [...line.split("a"), line]);
  const python = spawnSync("python3", ["-c", PYTHON], {
    input: JSON.stringify({ lines, words }),
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (python.error) {
    console.log("skipped: python3 is not here to compare with");
    t.skip?.("python3 is not here");
    return;
  }
  assert.equal(python.status, 0, python.stderr);
  const theirs = JSON.parse(python.stdout) as { split: unknown[]; join: string[] };
  lines.forEach((line, i) => assert.deepEqual(mine(line), theirs.split[i], JSON.stringify(line)));
  words.forEach((w, i) => assert.equal(quoteWords(w), theirs.join[i]));
});

test("a hash sign starts no comment", () => {
  assert.deepEqual(splitWords("a #b 'c # d'"), ["a", "#b", "c # d"]);
});

test("empty quotes are a word and blank text is none", () => {
  assert.deepEqual(splitWords(" '' a\"\" "), ["", "a"]);
  assert.deepEqual(splitWords(" \t\r\n"), []);
});

test("spaces outside ASCII part no words", () => {
  assert.deepEqual(splitWords("a\u00a0b c\u3000d"), ["a\u00a0b", "c\u3000d"]);
});

test("an open quotation and a last backslash are told apart", () => {
  assert.throws(() => splitWords("a 'b"), { name: "WordsError", message: "no closing quotation" });
  assert.throws(() => splitWords('a "b'), { message: "no closing quotation" });
  assert.throws(() => splitWords("a \\"), { message: "no escaped character" });
  assert.throws(() => splitWords('a "\\'), { message: "no escaped character" });
});

test("backslashes can be kept for Windows paths", () => {
  const options = { keepBackslashes: true };
  assert.deepEqual(splitWords('C:\\hooks\\a.exe "C:\\my dir\\b.txt" \\', options), [
    "C:\\hooks\\a.exe",
    "C:\\my dir\\b.txt",
    "\\",
  ]);
});

test("joined words split into the same words again", () => {
  const words = ["", "a b", "it's", '"', "\\", "~", "é", "x=1", "a\nb", "#"];
  assert.deepEqual(splitWords(quoteWords(words)), words);
});

test("a megabyte of any kind splits in linear time", () => {
  const size = 1_000_000;
  for (const piece of ["a", " ", "\\a", "'a'", '"\\a"', "'' ", '"', "\\\\", "x "]) {
    const text = piece.repeat(size / piece.length);
    const began = performance.now();
    mine(text);
    assert.ok(performance.now() - began < 1_000, `${JSON.stringify(piece)} took too long`);
  }
});
