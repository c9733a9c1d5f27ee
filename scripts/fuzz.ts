/**
 * Random and mutated input for the readers of everything that comes from outside: the config, an
 * answer, a payload. Each must return or throw its own error, in time. Says what was fed and how
 * much; exits 1 at the first crash, hang or stray error, with the input that did it.
 *
 *   scripts/fuzz [SECONDS] [SEED]
 */
import assert from "node:assert/strict";
import process from "node:process";
import { parseDotenv } from "../lib/config/dotenv.ts";
import { expandNode } from "../lib/config/expand.ts";
import { readSettings } from "../lib/config/settings.ts";
import { readSimpleYaml } from "../lib/config/yaml_simple.ts";
import { readYaml, YamlSyntaxError } from "../lib/config/yaml.ts";
import { readAnswer } from "../lib/events/answer.ts";
import { fromJs, isObject, parseJson, writeJson } from "../lib/events/json.ts";
import { hintFor } from "../lib/events/names.ts";
import { problemText } from "../lib/events/problem.ts";
import { readFields, toWire } from "../lib/events/payload.ts";
import { exitCodeOf, reduce } from "../lib/events/verdict.ts";
import { readEntries } from "../lib/sources/shell/entry.ts";
import { matcherOf } from "../lib/sources/shell/hook.ts";
import { splitWords, WordsError } from "../lib/sources/shell/words.ts";

const seconds = Number(process.argv[2] ?? 60);
let state = Number(process.argv[3] ?? Date.now() % 2 ** 31) >>> 0;
const seed = state;
/** Slower than this on input this small is a hang, in ms. */
const TOO_SLOW = 2000;

function random(below: number): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}
const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;

const CONFIGS = [
  'hooks:\n  pre_tool_call:\n    - matcher: "terminal|write_file"\n      command: ~/a.sh --x\n      timeout: 10\n      fail_closed: yes\n',
  "a: &a\n  timeout: 5\nhooks:\n  post_tool_call:\n    - <<: *a\n      command: 'b c'\n  outbound:\n    - url: https://x/y\n      secret_env: S\nhooks_auto_accept: off\n",
  '\ufeffhooks: {pre_llm_call: [{command: "${HOME}/x"}], output_spill: {max_chars: 5}}\r\nagent: {max_verify_nudges: 2}\r\n',
  "hermes_hooks:\n  serve: {listen: 1:30}\nplugins:\n  enabled: [a, b]\n? complex\n: |\n  text\n",
];
const ANSWERS = [
  '{"action":"block","message":"no"}',
  '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"x","updatedInput":{"a":1}}}',
  '{"decision":"modify","tool_input":{"b":[1,2,{"c":null}]}}',
  '{"context":"today"}',
  '"text"',
  '{"permission":"ask","user_message":"sure?"}',
  '{"action":"approve","rule_key":"k","args":{}}',
];
const PAYLOADS = [
  '{"tool_name":"terminal","args":{"command":"ls"},"session_id":"s1","cwd":"/tmp"}',
  '{"hook_event_name":"pre_tool_call","tool_name":"x","tool_input":{"1":2,"__proto__":3},"session_id":"s","extra":{"n":12345678901234567890}}',
  '{"event":{"text":"hi","internal":true},"session_id":7,"x":NaN}',
];
const WORDS = ["a.sh 'x y'", '"a" b\\ c', "env A=1 python3 '~/x'", "sh -c 'echo \"$1\"'"];
const PATTERNS = [
  "terminal|write_.*",
  "(?i)(?P<n>a+)(?P=n)?",
  "^(?!x)[]a-z]+$",
  "(a|b*)*c",
  "\\d{2,}\\w\\Z",
];
const SHARDS = [
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  '"',
  "'",
  "\n",
  "\t",
  "\r\n",
  "&a",
  "*a",
  "<<",
  "!!",
  "!!binary ",
  "|",
  ">",
  "-",
  "?",
  "#",
  "%",
  "\\",
  "\\u",
  "\\ud800",
  "\0",
  "\ufeff",
  "\u2028",
  "😀",
  "é",
  "null",
  "true",
  "1e999",
  "-",
  "0x",
  "${",
  "${A}",
  "---",
  "...",
  "(",
  ")",
  "(?",
  "(?<",
  "{1,99}",
  "*",
  "+",
  "\\1",
  "[^",
  "hooks",
  "action",
  "block",
  "  ",
  "    ",
  "\x1b[31m",
];

function mutate(text: string): string {
  let out = text;
  for (let n = 1 + random(6); n > 0; n--) {
    const at = random(out.length + 1);
    const end = Math.min(out.length, at + random(12));
    const how = random(6);
    if (how === 0) out = out.slice(0, at) + out.slice(end);
    else if (how === 1) out = out.slice(0, at) + pick(SHARDS) + out.slice(at);
    else if (how === 2) {
      out = out.slice(0, at) + out.slice(at, end).repeat(1 + random(40)) + out.slice(end);
    } else if (how === 3) {
      out = out.slice(0, at) + String.fromCharCode(random(0x10000)) + out.slice(at);
    } else if (how === 4) out = out.slice(0, at);
    else out = pick(SHARDS).repeat(1 + random(300)) + out;
  }
  return out;
}

const noise = () => Array.from({ length: random(80) }, () => pick(SHARDS)).join("");

function made(corpus: readonly string[]): string {
  return random(8) === 0 ? noise() : mutate(pick(corpus));
}

/** One reader: what it is fed, and what must hold. */
const READERS: Readonly<
  Record<string, { corpus: readonly string[]; read: (text: string) => void }>
> = {
  config: {
    corpus: CONFIGS,
    read(text) {
      try {
        const simple = readSimpleYaml(text, "config.yaml");
        const { root, problems } = readYaml(text, "config.yaml");
        if (simple) assert.deepEqual(simple, { root, problems });
        const node = root && expandNode(root, { A: "b", HOME: "/h" }, "config.yaml").node;
        const entries = readEntries(node, "config.yaml", hintFor);
        const settings = readSettings(node, "config.yaml");
        for (const p of [...problems, ...entries.problems, ...settings.problems]) problemText(p);
        for (const entry of entries.entries) matcherOf(entry);
      } catch (error) {
        if (!(error instanceof YamlSyntaxError)) throw error;
      }
    },
  },
  dotenv: {
    corpus: ["A=1\nexport B='x y' # c\nC=\"a\\nb\"\n"],
    read: (text) => void parseDotenv(text),
  },
  words: {
    corpus: WORDS,
    read(text) {
      try {
        splitWords(text);
      } catch (error) {
        if (!(error instanceof WordsError)) throw error;
      }
    },
  },
  matcher: {
    corpus: PATTERNS,
    read(text) {
      const entry = {
        event: "pre_tool_call",
        command: "x",
        timeout: 1,
        failClosed: true,
        path: "",
        line: 1,
      };
      void matcherOf({ ...entry, matcher: text })?.test("terminal_aab");
    },
  },
  answer: {
    corpus: ANSWERS,
    read(stdout) {
      const event = pick([
        "pre_tool_call",
        "pre_llm_call",
        "pre_verify",
        "transform_tool_result",
        "post_tool_call",
        "pre_transcription",
        "pre_gateway_dispatch",
      ]);
      const failClosed = random(2) === 0 && event === "pre_tool_call";
      const exitCode = pick([0, 0, 0, 1, 2, null]);
      const signal = exitCode === null ? "SIGSEGV" : null;
      const answer = readAnswer({
        event,
        command: "x",
        exitCode,
        signal,
        stdout,
        stderr: noise(),
        stdoutOver: false,
        failClosed,
      });
      const outcome = {
        source: "shell",
        name: "x",
        outcome: answer.outcome,
        durationMs: 1,
        directive: answer.directive,
        error: answer.error,
        warnings: answer.warnings,
      } as const;
      const verdict = reduce(event, new Map(), [outcome], {});
      JSON.parse(writeJson(verdict, { printable: true }));
      if (failClosed && exitCode !== 0 && exitCodeOf(verdict) === 0) {
        throw new Error("a closed gate let a failure pass");
      }
    },
  },
  payload: {
    corpus: PAYLOADS,
    read(text) {
      const read = readFields(text, "pre_tool_call");
      if (!read.ok) return;
      const wire = toWire("pre_tool_call", read.fields, {
        cwd: "/",
        profile: "custom",
        telemetry: true,
      });
      const written = writeJson(wire);
      JSON.parse(written);
      const again = parseJson(written);
      if (!isObject(again) || writeJson(fromJs(again)) !== written) {
        throw new Error("the wire form does not come back");
      }
    },
  },
};

const counts = new Map<string, number>();
const end = Date.now() + seconds * 1000;
let slowest = 0;
while (Date.now() < end) {
  const name = pick(Object.keys(READERS));
  const { corpus, read } = READERS[name]!;
  const text = made(corpus);
  const began = performance.now();
  try {
    read(text);
  } catch (error) {
    console.error(
      `${name} failed (seed ${seed}) on ${JSON.stringify(text)}\n${(error as Error).stack}`,
    );
    process.exit(1);
  }
  const took = performance.now() - began;
  slowest = Math.max(slowest, took);
  if (took > TOO_SLOW) {
    console.error(
      `${name} took ${Math.round(took)} ms (seed ${seed}) on ${
        JSON.stringify(text).slice(0, 2000)
      }`,
    );
    process.exit(1);
  }
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
console.log([...counts].sort().map(([name, count]) => `${name} ${count}`).join(", "));
console.log(`no crash, no hang, no stray error; slowest ${slowest.toFixed(0)} ms; seed ${seed}`);
