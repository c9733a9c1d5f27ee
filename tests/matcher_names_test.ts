/** Names and alternatives of names are compared as text: the path of nearly every hook. */
import assert from "node:assert/strict";
import test from "node:test";
import { engineLoads } from "../lib/sources/shell/matcher/linear.ts";
import { compileMatcher } from "../lib/sources/shell/matcher/matcher.ts";

test("names, alternatives and a simple wildcard are compared as text and load no engine", () => {
  const rows: [pattern: string, matches: string[], others: string[]][] = [
    ["terminal", ["terminal"], ["terminal2", "Terminal", "terminal\n", ""]],
    ["terminal|write_file", ["terminal", "write_file"], ["write", "terminal|write_file"]],
    ["^terminal$", ["terminal"], ["^terminal$", "terminal\n"]],
    ["^(terminal|patch)$", ["terminal", "patch"], ["x"]],
    ["(?:terminal|patch)", ["terminal", "patch"], ["(?:terminal|patch)"]],
    ["mcp__x-y", ["mcp__x-y"], ["mcp__x"]],
    ["|a", ["", "a"], ["|a"]],
    [".*", ["", "anything", "日本"], ["a\nb", "a\n"]],
    [".+", ["x"], ["", "\n"]],
    ["mcp__.*|patch", ["mcp__", "mcp__a_b", "patch"], ["mcp_", "patched", "mcp__\n"]],
    [".*_file", ["read_file", "_file"], ["file", "read_files"]],
    ["ab.*ba", ["abba", "abxba"], ["aba", "ab\nba"]],
  ];
  const before = engineLoads();
  for (const [pattern, matches, others] of rows) {
    const matcher = compileMatcher(pattern);
    assert.equal(matcher.kind, "literal", pattern);
    for (const name of matches) assert.deepEqual(matcher.test(name), { matched: true }, pattern);
    for (const name of others) assert.deepEqual(matcher.test(name), { matched: false }, pattern);
  }
  assert.equal(engineLoads(), before);
});

test("anything that means more than text is parsed", () => {
  for (
    const pattern of [
      "a.b",
      "a.*?",
      "a.*+",
      "a.*b.*",
      "a$b",
      "a^",
      "[a]",
      "a{2}",
      "(a)|(b)",
      "a\\.b",
    ]
  ) {
    assert.equal(compileMatcher(pattern).kind === "literal", false, pattern);
  }
});

test("an ordinary pattern answers at once and loads no engine", () => {
  const before = engineLoads();
  const matcher = compileMatcher("mcp__(github|linear)__(create|update)_[a-z]+");
  assert.equal(matcher.kind, "linear");
  assert.deepEqual(matcher.test("mcp__github__create_issue"), { matched: true });
  assert.deepEqual(matcher.test("mcp__github__delete_issue"), { matched: false });
  assert.equal(engineLoads(), before);
});

test("only a linear pattern that proves long to run goes to the engine, and is answered", async () => {
  const before = engineLoads();
  const matcher = compileMatcher("a*a*a*a*b");
  assert.equal(matcher.kind, "linear");
  assert.deepEqual(await matcher.test("a".repeat(2000)), { matched: false });
  assert.deepEqual(await matcher.test("a".repeat(2000) + "b"), { matched: true });
  assert.ok(engineLoads() > before);
});
