import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import path from "node:path";
import test from "node:test";
import { questionText } from "../lib/consent/prompt.ts";
import { terminalAvailable } from "../lib/platform/tty.ts";
import { run, runtimes } from "./programs/consent_runtimes.ts";

const programs = path.join(import.meta.dirname!, "programs");
const ASKED = "[y/N]: ";
/** A prompt waits to be answered: nobody can before it stands. */
const type = (...keys: string[]) => keys.map((key) => [ASKED, key]);

interface Shown {
  readonly shown: string;
  readonly exit: number;
  readonly hung: boolean;
  readonly answers: readonly string[];
}

async function atTerminal(runtime: string[], steps: unknown, mode: string, count: number) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "consent-"));
  const report = path.join(folder, "report");
  const ask = [...runtime, path.join(programs, "consent_ask.ts"), String(count), report, mode];
  const quoted = ask.map((word) => `'${word}'`).join(" ");
  const lines: Record<string, string> = {
    piped: `printf payload | ${quoted}`,
    // With job control on, a job gets a process group of its own.
    background: `set -m; ${quoted} & wait $!; echo /h/g.sh`,
  };
  const line = lines[mode];
  const words = line === undefined ? ask : ["sh", "-c", line];
  const typist = ["python3", path.join(programs, "pty_type.py"), JSON.stringify(steps)];
  const { stdout, stderr } = await run([...typist, ...words]);
  assert.equal(stderr, "");
  const answers = fs.readFileSync(report, "utf8").trimEnd().split("\n");
  fs.rmSync(folder, { recursive: true });
  return { ...JSON.parse(stdout), answers } as Shown;
}

async function eachRuntime(
  steps: unknown,
  mode: string,
  expected: { answers: string[]; exit?: number },
) {
  const count = expected.answers.filter((answer) => /^(yes|no)$/.test(answer)).length;
  const all = await Promise.all(runtimes().map((r) => atTerminal(r, steps, mode, count)));
  for (const { shown, exit, hung, answers } of all) {
    assert.deepEqual({ answers, hung, exit }, {
      ...expected,
      hung: false,
      exit: expected.exit ?? 0,
    });
    assert.ok(shown.includes("/h/g.sh"), shown);
  }
}

test("the question shows event, command, script and whose permissions, all made printable", () => {
  const text = questionText({ event: "e\u202e", command: "a\nb\u001b[2J", script: "/s\r" });
  assert.ok(text.includes("e\\u202e") && text.includes("a\\nb\\x1b[2J") && text.includes("/s\\r"));
  assert.match(text, /runs with your full user permissions\nAllow this hook to run\? \[y\/N\]: $/);
});

test("y and yes in any case are yes, everything else is no", () =>
  eachRuntime(type("y\n", " YES \n", "n\n", "\n", "yep\n"), "asks", {
    answers: ["yes", "yes", "no", "no", "no", "done"],
  }));

test("lines typed ahead answer the questions that follow", () =>
  eachRuntime([[null, "y\nn\ny\n"]], "asks", { answers: ["yes", "no", "yes", "done"] }));

test("end-of-file is no, also after half a line, and the next question is still asked", () =>
  eachRuntime(type("^D", "y^D^D", "y\n"), "asks", { answers: ["no", "no", "yes", "done"] }));

test("Ctrl-C is no, and the next question is still asked", () =>
  eachRuntime(type("^C", "y\n"), "asks", { answers: ["no", "yes", "done"] }));

test("after the last question Ctrl-C ends the program again", () =>
  eachRuntime([...type("^C"), ["waiting", "^C"]], "waits", { answers: ["no", "done"], exit: -2 }));

test("a listener of the program's own sees no Ctrl-C that answers, and every later one", () =>
  eachRuntime([...type("^C", "y\n"), ["waiting", "^C"]], "listener", {
    answers: ["no", "yes", "done", "own listener"],
    exit: 7,
  }));

test("a job in the background of its terminal asks nobody, so that nothing stops it", () =>
  eachRuntime([], "background", { answers: ["no terminal", "done"] }));

test("with a payload on stdin the terminal itself is asked and the payload stays whole", () =>
  eachRuntime(type("y\n"), "piped", { answers: ["yes", "stdin payload", "done"] }));

test("nobody is asked when stderr is no terminal, or stdin neither one nor in use", () => {
  const facts = { stdinTty: false, stderrTty: false, stdinInUse: true };
  assert.equal(terminalAvailable({ ...facts, stdinTty: true }), false);
  assert.equal(terminalAvailable({ ...facts, stderrTty: true, stdinInUse: false }), false);
});
