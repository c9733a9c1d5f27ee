import test from "node:test";
import assert from "node:assert/strict";
import {
  firstChars,
  fromJs,
  JsonNumber,
  JsonSyntaxError,
  MAX_DEPTH,
  parseJson,
  printable,
  toJs,
  writeJson,
} from "../lib/events/json.ts";
import type { Json } from "../lib/events/json.ts";

/** What is wrong with a text, or "ok". */
function complaint(text: string): string {
  try {
    parseJson(text);
    return "ok";
  } catch (error) {
    assert.ok(error instanceof JsonSyntaxError, `${error}`);
    return error.message;
  }
}

test("what is written in Python's form comes back byte for byte", () => {
  for (
    const text of [
      '{"b": 1, "a": 2, "10": 3, "9": 4, "__proto__": {"constructor": null}, "": 0}',
      "[1.0, 1e5, 1E+05, -0, -0.0, 12345678901234567890, 0.1000, 1e400]",
      '["é😀", "\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f", "\u007f", "/"]',
      '"\\ud800"',
      '[true, false, null, [], {}, ""]',
    ]
  ) assert.equal(writeJson(parseJson(text)), text);
});

test("a __proto__ key is data and touches no prototype", () => {
  const value = parseJson('{"__proto__": {"polluted": true}}');
  assert.ok(value instanceof Map && value.has("__proto__"));
  const plain = toJs(value) as Record<string, unknown>;
  assert.deepEqual(Object.keys(plain), ["__proto__"]);
  assert.equal(plain.polluted, undefined);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

test("a duplicate key keeps its first place and its last value", () => {
  assert.equal(writeJson(parseJson('{"a": 1, "b": 2, "a": 3}')), '{"a": 3, "b": 2}');
});

test("NaN and the infinities are read as Python reads them and written as strings", () => {
  assert.equal(
    writeJson(parseJson("[NaN, Infinity, -Infinity]")),
    '["NaN", "Infinity", "-Infinity"]',
  );
  assert.equal(writeJson(fromJs([NaN, -Infinity, -0])), '["NaN", "-Infinity", -0]');
});

test("escapes and lone surrogates are decoded, and a pair becomes one character", () => {
  assert.equal(parseJson('"\\u00e9\\ud83d\\ude00\\/\\u2028"'), "é😀/\u2028");
  assert.equal(parseJson('"\\udc00x"'), "\udc00x");
  assert.equal(writeJson("\ud800é\udc00"), '"\\ud800é\\udc00"');
});

test("what is no JSON is refused with its line and column", () => {
  const cases: [string, string][] = [
    ["", "unexpected end at line 1 column 1"],
    ["nope", "unexpected character at line 1 column 1"],
    ['{"a": 1,}', "expected a key in quotes at line 1 column 9"],
    ['{"a" 1}', "expected ':' at line 1 column 6"],
    ['{"a": 1', "unexpected end at line 1 column 8"],
    ['{"a": 1 "b": 2}', "expected ',' or '}' at line 1 column 9"],
    ["[1 2]", "expected ',' or ']' at line 1 column 4"],
    ["[1,]", "unexpected character at line 1 column 4"],
    ['{\n  "a": [\n    ?]}', "unexpected character at line 3 column 5"],
    ['"😀é" x', "unexpected text after the value at line 1 column 6"],
    ["01", "unexpected text after the value at line 1 column 2"],
    ["+1", "unexpected character at line 1 column 1"],
    ["1.", "unexpected text after the value at line 1 column 2"],
    [".5", "unexpected character at line 1 column 1"],
    ["-", "unexpected character at line 1 column 1"],
    ["nulls", "unexpected text after the value at line 1 column 5"],
    ["{} {}", "unexpected text after the value at line 1 column 4"],
    ["'a'", "unexpected character at line 1 column 1"],
    ['"a', "unterminated string at line 1 column 1"],
    ['["a\\"', "unterminated string at line 1 column 2"],
    ['"a\\x"', "bad escape in a string at line 1 column 1"],
    ['"\\u12"', "bad escape in a string at line 1 column 1"],
    ['"a\tb"', "raw control character in a string at line 1 column 3"],
    ["[1]\u00a0", "unexpected text after the value at line 1 column 4"],
  ];
  for (const [text, expected] of cases) assert.equal(complaint(text), expected, text);
});

test("backslashes before a closing quote are counted", () => {
  assert.equal(parseJson('"a\\\\"'), "a\\");
  assert.deepEqual(parseJson('["\\\\", "\\\\\\""]'), ["\\", '\\"']);
});

test("a byte order mark in front is tolerated", () => {
  assert.deepEqual(parseJson("\ufeff[true]"), [true]);
});

test("nesting is read to MAX_DEPTH and refused beyond it", () => {
  const nested = (n: number) => "[".repeat(n) + "]".repeat(n);
  assert.equal(complaint(nested(MAX_DEPTH)), "ok");
  assert.match(complaint(nested(MAX_DEPTH + 1)), /nested deeper than 1000/);
  assert.match(complaint("[".repeat(5_000_000)), /nested deeper than 1000/);
  assert.equal(writeJson(parseJson(nested(MAX_DEPTH))), nested(MAX_DEPTH));
});

test("ten megabytes of string are read, written and complained about in no time", () => {
  const plain = JSON.stringify("é".repeat(10_000_000));
  const escaped = JSON.stringify('"\\\n'.repeat(1_700_000));
  for (const text of [plain, escaped]) {
    const start = performance.now();
    assert.equal(writeJson(parseJson(text)).length, text.length);
    const took = performance.now() - start;
    assert.ok(took < 1000, `${took} ms`);
  }
  assert.match(complaint(plain + "x"), /line 1 column 10000003/);
});

test("indent and sortKeys write what Python's json.dumps writes", () => {
  const value = parseJson(
    '{"b": [1, {"z": null, "a": []}], "a": {}, "\uffff": 1, "\u{10000}": 2, "B": "é"}',
  );
  assert.equal(
    writeJson(value, { indent: 2, sortKeys: true }),
    `{
  "B": "é",
  "a": {},
  "b": [
    1,
    {
      "a": [],
      "z": null
    }
  ],
  "\uffff": 1,
  "\u{10000}": 2
}`,
  );
});

test("printable writing escapes what steers a terminal and stays the same JSON", () => {
  const text = "a\u001b[31m\u009b\u202e\u2028\ufeff\u007fé";
  const written = writeJson(text, { printable: true });
  assert.equal(written, '"a\\u001b[31m\\u009b\\u202e\\u2028\\ufeff\\u007fé"');
  assert.equal(parseJson(written), text);
});

test("printable text shows control and bidi characters, and keeps lines when asked", () => {
  assert.equal(printable("a\n\t\r\u001b\u009b\u202eé"), "a\\n\\t\\r\\x1b\\x9b\\u202eé");
  assert.equal(printable("a\n\t\r", true), "a\n\t\\r");
});

test("firstChars counts code points and never halves one", () => {
  assert.equal(firstChars("😀😀😀", 2), "😀😀");
  assert.equal(firstChars("a😀", 2), "a😀");
  assert.equal(firstChars("é".repeat(10), 3), "ééé");
  assert.equal(firstChars("\ud800ab", 2), "\ud800a");
  assert.equal(firstChars("ab", 0), "");
});

test("any JavaScript value becomes JSON, nothing is dropped and nothing throws", () => {
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  class Bag {
    inside = 1;
  }
  const hostile = {
    get x(): never {
      throw new Error("no");
    },
  };
  const cases: [unknown, string][] = [
    [{ a: 12345678901234567890n }, '{"a": 12345678901234567890}'],
    [{ a: undefined }, '{"a": null}'],
    [new Array(2), "[null, null]"],
    [new Map<unknown, unknown>([[1, new Set([2])]]), '{"1": [2]}'],
    [loop, '{"self": "[circular]"}'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    [new Date(NaN), '"Invalid Date"'],
    [new URL("http://a/"), '"http://a/"'],
    [new Error("boom"), '"Error: boom"'],
    [Symbol("s"), '"Symbol(s)"'],
    [new Bag(), '{"inside": 1}'],
    [{ toJSON: () => [1] }, "[1]"],
    [hostile, '"[unprintable]"'],
    [Object.create(null), "{}"],
    [JSON.parse('{"__proto__": 1}'), '{"__proto__": 1}'],
    [1e21, "1e+21"],
    [new JsonNumber("1.0"), "1.0"],
  ];
  for (const [value, expected] of cases) assert.equal(writeJson(fromJs(value)), expected);
});

test("plain JavaScript gets exact integers and no prototype", () => {
  assert.deepEqual(toJs(parseJson("[9007199254740993, 1.5, 7, -0]")), [
    9007199254740993n,
    1.5,
    7,
    -0,
  ]);
  assert.equal(Object.getPrototypeOf(toJs(parseJson("{}"))), null);
});

test("a value nested too deep for JSON is cut with a word", () => {
  let value: Json[] = [];
  for (let i = 0; i < MAX_DEPTH + 5; i++) value = [value];
  assert.match(writeJson(fromJs(value)), /"\[too deep\]"/);
});
