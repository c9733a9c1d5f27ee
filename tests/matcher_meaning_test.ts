/** What matchers mean (rule 2.4): every line of these tables was answered by Python 3.11. */
import assert from "node:assert/strict";
import test from "node:test";
import { compileMatcher, type Matcher } from "../lib/sources/shell/matcher/matcher.ts";

type Row = [pattern: string, matches: string[], others: string[]];

async function check(rows: Row[], kind?: Matcher["kind"]): Promise<void> {
  for (const [pattern, matches, others] of rows) {
    const matcher = compileMatcher(pattern);
    assert.notEqual(matcher.kind, "broken", `${pattern}: ${matcher.error}`);
    if (kind) assert.equal(matcher.kind, kind, pattern);
    for (const name of matches) {
      assert.deepEqual(await matcher.test(name), { matched: true }, `${pattern} on "${name}"`);
    }
    for (const name of others) {
      assert.deepEqual(await matcher.test(name), { matched: false }, `${pattern} on "${name}"`);
    }
  }
}

test("a pattern must match the whole name", async () => {
  await check([
    ["term[a-z]*", ["term", "terminal"], ["xterm", "terminal2", "term\n", ""]],
    ["a|ab", ["a", "ab"], ["abc", "b"]],
    ["(?:a|ab)c?", ["ab", "abc", "ac"], ["abcc"]],
    ["a*?", ["", "aaa"], ["b"]],
  ]);
});

test("anchors, flags, groups and comments are read as Python reads them", async () => {
  await check([
    ["\\Aterminal\\Z", ["terminal"], ["terminal\n", "x"]],
    ["a$\\n", ["a\n"], ["a"]],
    ["(?m)a$\\nb", ["a\nb"], ["ab"]],
    ["(?i)Terminal", ["TERMINAL", "terminal"], ["term"]],
    ["(?i:a)b", ["ab", "Ab"], ["aB"]],
    ["(?i)(?-i:a)b", ["ab", "aB"], ["Ab"]],
    ["(?x) ter minal # the shell\n", ["terminal"], ["ter minal"]],
    ["(?x)a\\ b[ ]c", ["a b c"], ["abc"]],
    ["(?#tools)read(?#s)_file", ["read_file"], ["read"]],
    ["(?s)a.b", ["a\nb", "axb"], ["ab"]],
    ["a.b", ["axb", "a😀b"], ["a\nb", "ab"]],
    ["(?P<n>a|b)x(?P=n)", ["axa", "bxb"], ["axb"]],
    ["(a)?(?(1)b|c)", ["ab", "c"], ["ac", "b"]],
    ["(a|b)\\1", ["aa", "bb"], ["ab"]],
    ["(?i)(a)\\1", ["aA", "AA"], ["ab"]],
    ["()\\1", [""], ["a"]],
  ]);
});

test("lookaround, atomic groups and possessive repeats choose as Python does", async () => {
  await check([
    ["^(?!read_).*$", ["write_file"], ["read_file"]],
    ["(?=.*file)[a-z_]+", ["read_file", "file_x"], ["terminal"]],
    ["\\w+(?<!_file)", ["terminal"], ["read_file"]],
    ["\\w+(?<=_file)", ["read_file"], ["terminal", "_fil"]],
    ["(?!)", [], ["", "a"]],
    ["a*+a", [], ["a", "aa"]],
    ["a++b", ["aab"], ["b"]],
    ["a{1,2}+ab?", ["aaa", "aaab"], ["aa", "aab"]],
    ["(?:a|ab)*+c", ["aac"], ["abc"]],
    ["(?:a|ab){2}+", ["aa"], ["aba", "abab"]],
    ["(?>a|ab)c", ["ac"], ["abc"]],
    ["(?>(?:|a)*)a", ["a"], ["aa"]],
    ["(?>(a)b)\\1", ["aba"], ["abb"]],
    ["(?:(?>(a)|b)\\1?)+", ["aab", "aaa"], ["b!"]],
    // A round that failed inside one lookahead may succeed inside the next.
    ["a?(?=(?:(?:[aA]|)(?:[qQ]|)|b)*c)(?=abc)abc", ["abc"], ["bc"]],
    // What an atomic group remembered is forgotten with it.
    ["(?:(?>(a)|x)y|a)(?(1)b|c)", ["ac", "ayb", "xyc"], ["ab", "ayc"]],
  ], "backtrack");
});

test("repeats take bounds as Python writes them", async () => {
  await check([
    ["a{,2}", ["", "a", "aa"], ["aaa", "a{,2}"]],
    ["a{2}", ["aa"], ["a", "aaa"]],
    ["a{2,}?", ["aa", "aaaa"], ["a"]],
    ["a{,}", ["", "aaa"], ["b"]],
    ["a{}", ["a{}"], ["a"]],
    ["a{1,x}", ["a{1,x}"], ["a"]],
    ["x{0}y", ["y"], ["xy"]],
  ]);
});

test("sets hold what Python puts in them", async () => {
  await check([
    ["[]abc]", ["]", "a"], ["[", "abc"]],
    ["[^]]", ["a", "["], ["]"]],
    ["[a-]", ["a", "-"], ["b"]],
    ["[\\w-]+", ["a-b", "é"], ["a.b"]],
    ["[^\\W_]+", ["aé1"], ["_", "-"]],
    ["[a&&b]", ["a", "&", "b"], ["c"]],
    ["[\\b]", ["\b"], ["b"]],
    ["[\\x61-\\143]", ["a", "b", "c"], ["d"]],
    ["(?i)[a-c]", ["A", "c"], ["d"]],
    ["[[:alpha:]", ["[", ":", "l"], ["b", "]"]],
  ]);
});

test("escapes stand for characters, also beyond ASCII", async () => {
  await check([
    ["\\x41\\u0042\\U00000043\\104", ["ABCD"], ["abcd"]],
    ["\\0a", ["\0a"], ["a"]],
    ["mcp\\.x\\-y", ["mcp.x-y"], ["mcp_x-y"]],
    ["\\t\\n", ["\t\n"], ["tn"]],
    ["\\U0001F600.?", ["😀", "😀😀"], ["😀😀😀"]],
  ]);
});

test("letters, digits and spaces are Unicode ones unless (?a)", async () => {
  await check([
    ["\\w+", ["é", "日本", "a_1", "²", "Ⅷ"], ["a b", "", "😀"]],
    ["\\d+", ["1", "٣"], ["²", "a"]],
    ["a\\sb", ["a b", "a\u00a0b", "a\u001cb", "a\u3000b"], ["a\u200bb", "a\ufeffb"]],
    ["(?a)\\w+", ["a"], ["é"]],
    ["(?a)a\\sb", ["a b"], ["a\u001cb", "a\u00a0b"]],
    ["é\\b.x", ["é-x"], ["éax"]],
    ["(?a)é\\b.x", ["éax"], ["é-x"]],
    ["\\b|\\B", [], [""]],
  ]);
});

test("case is ignored as Python folds it", async () => {
  await check([
    ["(?i)k", ["k", "K", "\u212a"], ["x"]],
    ["(?ai)k", ["k", "K"], ["\u212a"]],
    ["(?i)s", ["s", "ſ", "S"], ["ß"]],
    ["(?i)ß", ["ß", "ẞ"], ["ss", "SS"]],
    ["(?i)Σ", ["σ", "ς", "Σ"], ["s"]],
    ["(?i)[İ]", ["i", "I", "ı", "İ"], ["j"]],
    ["(?i)É+", ["éÉ"], ["e"]],
    ["(?i)[à-é]", ["É", "à"], ["Z"]],
  ]);
});

test("what Python rejects is broken, with a reason, and compared as text", async () => {
  const rejected = [
    ["[", "unterminated character set"],
    ["(", "missing ), unterminated subpattern"],
    ["a)", "unbalanced parenthesis"],
    ["*a", "nothing to repeat"],
    ["^*", "nothing to repeat"],
    ["a**", "multiple repeat"],
    ["a{2}{3}", "multiple repeat"],
    ["a{3,2}", "min repeat greater than max repeat"],
    ["a{4294967295}", "the repetition number is too large"],
    ["\\z", "bad escape \\z"],
    ["\\pL", "bad escape \\p"],
    ["\\Qa\\E", "bad escape \\Q"],
    ["\\", "bad escape (end of pattern)"],
    ["(?<n>a)", "unknown extension ?<n"],
    ["(?U)a", "unknown extension ?U"],
    ["a(?i)b", "global flags not at the start of the expression"],
    ["(?L)a", "bad inline flags: cannot use 'L' flag with a str pattern"],
    ["(?au:a)", "bad inline flags: flags 'a', 'u' and 'L' are incompatible"],
    ["(a\\1)", "cannot refer to an open group"],
    ["\\1", "invalid group reference 1"],
    ["(?(1)a)", "invalid group reference 1"],
    ["(?P=n)", 'unknown group name "n"'],
    ["(?P<1>a)", 'bad character in group name "1"'],
    ["(?P<n>a)(?P<n>b)", 'redefinition of group name "n"'],
    ["(?<=a+)b", "look-behind requires fixed-width pattern"],
    ["(?<=(a)\\1)b", "cannot refer to group defined in the same lookbehind subpattern"],
    ["[b-a]", "bad character range b-a"],
    ["[\\w-a]", "bad character range \\w-a"],
    ["\\x4", "incomplete escape \\x4"],
    ["\\777", "octal escape value \\777 outside of range 0-0o377"],
    ["\\N{DASH}", "character names (\\N{…}) are not supported"],
  ] as const;
  for (const [pattern, error] of rejected) {
    const matcher = compileMatcher(pattern);
    assert.deepEqual([matcher.kind, matcher.error], ["broken", error], pattern);
    assert.deepEqual(await matcher.test(pattern), { matched: true });
    assert.deepEqual(await matcher.test("a"), { matched: false });
  }
});
