import assert from "node:assert/strict";
import { performance } from "node:perf_hooks";
import test from "node:test";
import { mergedEnv, parseDotenv } from "../lib/config/dotenv.ts";

function assertParses(cases: readonly (readonly [string, Record<string, string>])[]): void {
  for (const [text, expected] of cases) {
    assert.deepEqual(Object.fromEntries(parseDotenv(text)), expected, JSON.stringify(text));
  }
}

test("an unquoted value is trimmed and ends at a comment", () => {
  assertParses([
    ["A=b", { A: "b" }],
    ["  A  =  b c  ", { A: "b c" }],
    ["A=b # c", { A: "b" }],
    ["A=b#c", { A: "b#c" }],
    ["A=b\t#c", { A: "b" }],
    ["A=", { A: "" }],
    ["A=\nB=c", { A: "", B: "c" }],
    ["A=b=c", { A: "b=c" }],
    ['A=it\'s "so"', { A: 'it\'s "so"' }],
    ["A=b\\nc", { A: "b\\nc" }],
    ["a.b-c=1", { "a.b-c": "1" }],
  ]);
});

test("export before a key is dropped, a key that begins with it is kept", () => {
  assertParses([["export A=b", { A: "b" }], ["  export\tA=b", { A: "b" }], ["exported=b", {
    exported: "b",
  }]]);
});

test("single quotes keep everything but \\' and \\\\", () => {
  assertParses([
    ["A='b # c'", { A: "b # c" }],
    ["A='b\\nc'", { A: "b\\nc" }],
    ["A='it\\'s'", { A: "it's" }],
    ["A='b\\\\c'", { A: "b\\c" }],
    ["A=' b '  # c", { A: " b " }],
    ["A='${B}'", { A: "${B}" }],
  ]);
});

test("double quotes know Python's one-letter escapes and no others", () => {
  assertParses([
    ['A="b\\nc\\td"', { A: "b\nc\td" }],
    ['A="say \\"b\\""', { A: 'say "b"' }],
    ['A="b\\\\n"', { A: "b\\n" }],
    ['A="\\a\\b\\f\\r\\v"', { A: "\x07\b\f\r\v" }],
    ['A="\\x41\\$b"', { A: "\\x41\\$b" }],
    ['A="b" #c', { A: "b" }],
    ['A=""', { A: "" }],
  ]);
});

test("a quoted value may span lines", () => {
  assertParses([
    ['A="b\nc"\nD=e', { A: "b\nc", D: "e" }],
    ["A='b\r\nc'\r\nD=e\r\n", { A: "b\r\nc", D: "e" }],
  ]);
});

test("nothing is interpolated", () => {
  assertParses([['A=1\nB=${A}\nC="$A ${A}"', { A: "1", B: "${A}", C: "$A ${A}" }]]);
});

test("comments, blank lines and keys without a value are ignored", () => {
  assertParses([["# A=b\n\n  # c\nD\nE=f", { E: "f" }], ["", {}], ["export", {}]]);
});

test("a bad line is skipped and takes no other line with it", () => {
  assertParses([
    ['A="b\nC=d', { C: "d" }],
    ['A="b" c\nD=e', { D: "e" }],
    ["=b\nC=d", { C: "d" }],
    ["a b c\nD=e", { D: "e" }],
    ["A='b\nC=d\nE=f", { C: "d", E: "f" }],
    ['A="b\nc" d\nE=f', { E: "f" }],
  ]);
});

test("quoted keys, BOM and every kind of line ending are understood", () => {
  assertParses([
    ["'A b'=c", { "A b": "c" }],
    ["\ufeffA=b\r\nC=d\rE=f", { A: "b", C: "d", E: "f" }],
  ]);
});

test("the last of two values wins", () => {
  assertParses([["A=1\nA=2", { A: "2" }]]);
});

test("a long file of bad lines is read in linear time", () => {
  const started = performance.now();
  assert.equal(parseDotenv('A="b\n'.repeat(3000)).size, 0);
  assert.equal(parseDotenv(`A="${"b".repeat(200_000)}"`).get("A")?.length, 200_000);
  assert.ok(performance.now() - started < 2000);
});

test("the environment wins over .env, also with an empty value", () => {
  const dotenv = new Map([["A", "file"], ["B", "file"], ["C", "file"]]);
  const env = { A: "own", B: "", D: undefined };
  assert.deepEqual(mergedEnv(env, dotenv), { A: "own", B: "", C: "file" });
});

test(".env cannot set HERMES_HOME", () => {
  const dotenv = new Map([["HERMES_HOME", "/elsewhere"]]);
  assert.deepEqual(mergedEnv({}, dotenv), {});
  assert.deepEqual(mergedEnv({ HERMES_HOME: "/own" }, dotenv), { HERMES_HOME: "/own" });
});
