import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { findGatewayFolders } from "../lib/sources/gateway/folder.ts";
import { handle as bootMd } from "../hooks/gateway/boot-md/handler.ts";
import { handle as commandLogger } from "../hooks/gateway/command-logger/handler.ts";
import { handle as longTaskAlert } from "../hooks/gateway/long-task-alert/handler.ts";
import { handle as sessionWebhook } from "../hooks/gateway/session-webhook/handler.ts";

const READY_MADE = path.join(import.meta.dirname!, "..", "hooks", "gateway");

/** A receiver on this machine. */
class Sink {
  readonly got: { readonly url: string; readonly body: unknown }[] = [];
  status = 200;
  answer = "{}";
  readonly #server = http.createServer((request, response) => {
    let text = "";
    request.on("data", (bytes) => text += bytes);
    request.on("end", () => {
      this.got.push({ url: request.url ?? "", body: JSON.parse(text) });
      response.writeHead(this.status, { location: "/elsewhere", connection: "close" });
      response.end(this.answer);
    });
  });

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

/** Runs with these variables, a fresh home, and what is printed collected. */
async function within(
  env: Readonly<Record<string, string>>,
  run: (home: string, printed: string[]) => Promise<void>,
): Promise<void> {
  const home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "ready-")));
  const printed: string[] = [];
  const before = { ...process.env };
  const { log, error } = console;
  Object.assign(process.env, { HERMES_HOME: home, ...env });
  console.log = (text: string) => void printed.push(text);
  console.error = (text: string) => void printed.push(`error: ${text}`);
  try {
    await run(home, printed);
  } finally {
    Object.assign(console, { log, error });
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
    fs.rmSync(home, { recursive: true });
  }
}

test("every ready-made gateway hook is one that loads, with a header and a description", async () => {
  await within({}, async (home) => {
    fs.symlinkSync(READY_MADE, path.join(home, "hooks"));
    const { hooks, problems } = await findGatewayFolders(home);
    assert.deepEqual(problems, []);
    assert.deepEqual(hooks.map(({ name, events }) => [name, events]), [
      ["boot-md", ["gateway:startup"]],
      ["command-logger", ["command:*"]],
      ["long-task-alert", ["agent:step"]],
      ["session-webhook", ["session:start", "session:reset"]],
    ]);
    for (const { handler, name, description } of hooks) {
      assert.notEqual(description, "");
      const text = fs.readFileSync(handler, "utf8");
      assert.ok(text.startsWith(`/**\n * ${name}: `), name);
      assert.match(text, /^ \* Needs/m);
      // Nothing has to be installed for any of them.
      assert.doesNotMatch(text, /from "(?!node:)/);
    }
  });
});

test("long-task-alert writes to Telegram at the threshold, once, and never shows the token", async () => {
  const sink = new Sink();
  const base = await sink.open();
  await within({ TELEGRAM_API_BASE: base }, async (_home, printed) => {
    await longTaskAlert("agent:step", { iteration: 10 });
    await longTaskAlert("agent:step", { iteration: 10 });
    assert.deepEqual(printed, [
      "error: nothing is sent: set TELEGRAM_BOT_TOKEN and TELEGRAM_HOME_CHANNEL",
    ]);
    Object.assign(process.env, { TELEGRAM_BOT_TOKEN: "123:abc", TELEGRAM_HOME_CHANNEL: "84" });
    for (const iteration of [9, 10, 11]) {
      await longTaskAlert("agent:step", { iteration, tool_names: ["terminal", "patch"] });
    }
    assert.deepEqual(sink.got, [{
      url: "/bot123:abc/sendMessage",
      body: { chat_id: "84", text: "⚠️ The agent is at step 10. Last tools: terminal, patch" },
    }]);
    process.env["HERMES_LONG_TASK_STEPS"] = "3";
    await longTaskAlert("agent:step", { iteration: 3 });
    assert.equal(sink.got.length, 2);
    sink.status = 400;
    sink.answer = '{"ok":false,"description":"Bad Request: chat not found"}';
    await assert.rejects(longTaskAlert("agent:step", { iteration: 3 }), {
      message: "Telegram answered 400: Bad Request: chat not found",
    });
    await sink.close();
    await assert.rejects(longTaskAlert("agent:step", { iteration: 3 }), (error: Error) => {
      return error.message === "Telegram could not be reached" && error.cause === undefined;
    });
  });
});

test("command-logger appends a line a command to a file that is yours alone", async () => {
  await within({}, async (home) => {
    const context = { platform: "slack", user_id: "U1", command: "model", args: 'a "b"\n' };
    assert.equal(await commandLogger("command:model", context), undefined);
    await commandLogger("command:new", { command: "new" });
    const file = path.join(home, "logs", "command_usage.jsonl");
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    const lines = fs.readFileSync(file, "utf8").trimEnd().split("\n").map((l) => JSON.parse(l));
    const { ts, ...first } = lines[0];
    assert.ok(Math.abs(Date.parse(ts) - Date.now()) < 60_000);
    assert.deepEqual(first, { command: "model", args: 'a "b"\n', platform: "slack", user: "U1" });
    assert.deepEqual([lines.length, lines[1].command, lines[1].user], [2, "new", null]);
  });
});

test("session-webhook posts event and context, and a failure names the host but not the path", async () => {
  const sink = new Sink();
  const base = await sink.open();
  await within({}, async (_home, printed) => {
    await sessionWebhook("session:start", {});
    await sessionWebhook("session:start", {});
    assert.deepEqual(printed, ["error: nothing is sent: set HERMES_SESSION_WEBHOOK_URL"]);
    process.env["HERMES_SESSION_WEBHOOK_URL"] = `${base}/secret-path`;
    await sessionWebhook("session:reset", { platform: "telegram", session_key: "k" });
    assert.deepEqual(sink.got, [{
      url: "/secret-path",
      body: { event: "session:reset", platform: "telegram", session_key: "k" },
    }]);
    const { host } = new URL(base);
    for (const status of [500, 302]) {
      sink.status = status;
      const message = `${host} answered ${status}`;
      await assert.rejects(sessionWebhook("session:start", {}), { message });
    }
    assert.equal(sink.got.length, 3);
    await sink.close();
    const message = `${host} could not be reached`;
    await assert.rejects(sessionWebhook("session:start", {}), { message });
  });
});

/** A stand-in for an agent: keeps its prompt, and answers. */
function agent(home: string, body: string): string {
  const file = path.join(home, "my agent");
  fs.writeFileSync(file, `#!/bin/sh\ncat >>"$HERMES_HOME/prompt"\n${body}\n`, { mode: 0o755 });
  return `'${file}' --quiet "two words" \\$x`;
}

test("boot-md is silent without a BOOT.md, or with an empty one", async () => {
  await within({ HERMES_BOOT_WAIT: "1" }, async (home, printed) => {
    process.env["HERMES_BOOT_AGENT_COMMAND"] = agent(home, "echo ran");
    await bootMd();
    fs.writeFileSync(path.join(home, "BOOT.md"), " \n\t\n");
    await bootMd();
    assert.deepEqual(printed, []);
    assert.equal(fs.existsSync(path.join(home, "prompt")), false);
  });
});

test("boot-md gives the checklist on stdin, without a shell, and logs the start of the answer", async () => {
  await within({ HERMES_BOOT_WAIT: "1" }, async (home, printed) => {
    fs.writeFileSync(path.join(home, "BOOT.md"), "\n# Liste ✓😀\n\n1. look\n");
    const answer = `printf '%s|' "$@" >"$HERMES_HOME/args"; printf '\\n ${"é".repeat(250)}\\n'`;
    process.env["HERMES_BOOT_AGENT_COMMAND"] = agent(home, answer);
    await bootMd();
    assert.deepEqual(printed, [
      "Running BOOT.md (19 chars)",
      `boot-md completed: ${"é".repeat(200)}`,
    ]);
    const read = (name: string) => fs.readFileSync(path.join(home, name), "utf8");
    assert.ok(read("prompt").includes("\n# Liste ✓😀\n\n1. look\n"));
    assert.match(read("prompt"), /\[SILENT\]/);
    assert.equal(read("args"), "--quiet|two words|$x|");
  });
});

test("boot-md has nothing to report when the agent says so, in any case", async () => {
  await within({ HERMES_BOOT_WAIT: "1" }, async (home, printed) => {
    fs.writeFileSync(path.join(home, "BOOT.md"), "look");
    for (const word of ["[silent]", "Silent", "no_reply", "  NO REPLY"]) {
      process.env["HERMES_BOOT_AGENT_COMMAND"] = agent(home, `echo "${word}"`);
      await bootMd();
    }
    process.env["HERMES_BOOT_AGENT_COMMAND"] = agent(home, `echo "[SILENT] but look"`);
    await bootMd();
    assert.deepEqual(printed.filter((line) => !line.startsWith("Running")), [
      ...Array(4).fill("boot-md completed (nothing to report)"),
      "boot-md completed: [SILENT] but look",
    ]);
  });
});

test("boot-md says why the agent failed, on one line", async () => {
  await within({ HERMES_BOOT_WAIT: "1" }, async (home, printed) => {
    fs.writeFileSync(path.join(home, "BOOT.md"), "look");
    await bootMd();
    process.env["HERMES_BOOT_AGENT_COMMAND"] = "/nowhere/agent -p";
    await bootMd();
    process.env["HERMES_BOOT_AGENT_COMMAND"] = agent(home, "echo no >&2; echo key >&2; exit 3");
    await bootMd();
    process.env["HERMES_BOOT_AGENT_COMMAND"] = "agent 'x";
    await bootMd();
    const failed = printed.filter((line) => !line.startsWith("Running"));
    assert.deepEqual(failed.map((line) => line.replace("error: boot-md agent failed: ", "")), [
      "HERMES_BOOT_AGENT_COMMAND is not set: the command that reads a prompt on stdin",
      '"/nowhere/agent" is not found',
      "exit code 3: no key",
      "HERMES_BOOT_AGENT_COMMAND has a quote that is not closed",
    ]);
  });
});

test("boot-md returns at once, and a second start does not disturb a run under way", async () => {
  await within({}, async (home, printed) => {
    fs.writeFileSync(path.join(home, "BOOT.md"), "look");
    const go = path.join(home, "go");
    const waits = `while [ ! -e '${go}' ]; do sleep 0.02; done; echo done`;
    process.env["HERMES_BOOT_AGENT_COMMAND"] = agent(home, waits);
    await bootMd();
    await bootMd();
    assert.deepEqual(printed, ["Running BOOT.md (4 chars)"]);
    fs.writeFileSync(go, "");
    for (let i = 0; i < 200 && printed.length < 2; i++) await new Promise((r) => setTimeout(r, 25));
    assert.equal(printed[1], "boot-md completed: done");
  });
});
