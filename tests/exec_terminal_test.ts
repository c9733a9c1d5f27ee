import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import * as fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { PYTHON, SELF } from "./programs/host_home.ts";

const TYPE = path.join(import.meta.dirname!, "programs/pty_type.py");
const BASH = fs.existsSync("/bin/bash");

type Step = readonly [awaited: string | null, typed: string];

/** `$EXEC` in what is typed is our own command line, up to and with `--`. */
async function type(command: readonly string[], steps: readonly Step[]) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "hooks-tty-"));
  const own = [SELF.file, ...SELF.args, "--home", home, "exec", "--"];
  const script = path.join(home, "EXEC");
  fs.writeFileSync(script, `#!/bin/sh\nexec ${own.map((word) => `'${word}'`).join(" ")} "$@"\n`, {
    mode: 0o755,
  });
  const typed = JSON.stringify(steps).replaceAll("$EXEC", script);
  const words = command.map((word) => word.replaceAll("$EXEC", script));
  try {
    const text = await new Promise<string>((resolve, reject) =>
      execFile(
        PYTHON!,
        [TYPE, typed, ...words],
        { env: { ...process.env, TERM: "dumb" } },
        (error, stdout) => error ? reject(error) : resolve(stdout),
      )
    );
    return JSON.parse(text) as { shown: string; exit: number; hung: boolean };
  } finally {
    fs.rmSync(home, { recursive: true });
  }
}

const skip = (!PYTHON || !BASH || process.platform !== "linux") && "needs Linux, python3 and bash";

// Counts SIGINT one by one: two at once would be one to a handler.
const COUNT = `import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
print("listening", flush=True)
count, end = 0, time.monotonic() + 1
while time.monotonic() < end:
    count += bool(signal.sigtimedwait([signal.SIGINT], 0.1))
print("interrupts:", count, flush=True)`;

// It starts nothing: a shell that Ctrl-Z meets between fork and exec hangs, with or without us.
const SLEEPER = `python3 -c 'import time
print("run" + "ning", flush=True)
time.sleep(1)
print("wo" + "ken", flush=True)'`;

test("Ctrl-C reaches the command once, also when stdin is a pipe", { skip }, async () => {
  for (const before of ["", "sleep 1.5 | "]) {
    const line = `${before}$EXEC python3 -c '${COUNT}'`;
    const { shown } = await type(["/bin/sh", "-c", line], [["listening", "^C"]]);
    assert.match(shown, /interrupts: 1/, before);
  }
});

test("a command that Ctrl-C ends gives 130, and the shell is told so", { skip }, async () => {
  const { shown } = await type(["/bin/bash", "--norc", "-i"], [
    ["bash-", "$EXEC sh -c 'echo run''ning; exec sleep 20'\r"],
    ["running", "^C"],
    ["bash-", "echo code=$?\r"],
    ["code=130", "exit\r"],
  ]);
  assert.match(shown, /code=130/);
});

test("Ctrl-Z stops it with its command, and fg goes on with both", { skip }, async () => {
  const { shown } = await type(["/bin/bash", "--norc", "-i"], [
    ["bash-", `$EXEC ${SLEEPER}\r`],
    ["running", "\x1a"],
    ["Stopped", "fg\r"],
    ["woken", "echo code=$?\r"],
    ["code=0", "exit\r"],
  ]);
  assert.match(shown, /Stopped[\s\S]*woken[\s\S]*code=0/);
});

test("a shell inside it has its own job control", { skip }, async () => {
  const { shown, exit, hung } = await type(["$EXEC", "bash", "--norc", "-i"], [
    ["bash-", `${SLEEPER}\r`],
    ["running", "\x1a"],
    ["Stopped", "fg\r"],
    ["woken", "exit 9\r"],
  ]);
  assert.ok(!hung);
  assert.doesNotMatch(shown, /no job control/);
  assert.equal(exit, 9);
});
