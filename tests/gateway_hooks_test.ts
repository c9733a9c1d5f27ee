import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";
import { findGatewayFolders } from "../lib/sources/gateway/folder.ts";
import { type Behaviour, Fakes, gatewayHome, hookYaml, write } from "./programs/gateway_home.ts";

/** Hooks that note their name when called. */
function noting(...names: string[]) {
  const called: string[] = [];
  const note = (name: string): [string, Behaviour] => [name, (event) => {
    called.push(`${name} ${event}`);
  }];
  return { called, behaviours: Object.fromEntries(names.map(note)) };
}

const gone = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("exact subscriptions fire before the wildcard, each in directory order", async () => {
  const { called, behaviours } = noting("a", "b", "c", "d");
  const fakes = new Fakes(behaviours);
  fakes.listen({
    a: ["agent:*"],
    b: ["agent:end"],
    c: ["agent:*", "session:end"],
    d: ["agent:end", "agent:*"],
  });
  const verdict = await fakes.emit("agent:end");
  assert.deepEqual(called, ["b agent:end", "d agent:end", "a agent:end", "c agent:end"]);
  assert.equal(verdict.event, "agent:end");
  assert.deepEqual(Object.keys(verdict), ["event", "hooks", "warnings"]);
  assert.deepEqual(
    verdict.hooks.map((h: Record<string, unknown>) => [h["source"], h["name"], h["outcome"]]),
    [
      ["gateway", "b", "none"],
      ["gateway", "d", "none"],
      ["gateway", "a", "none"],
      ["gateway", "c", "none"],
    ],
  );
});

test("a wildcard takes only its own base, and command:* any command", async () => {
  const { called, behaviours } = noting("a", "c");
  const fakes = new Fakes(behaviours);
  fakes.listen({ a: ["agent:*"], c: ["command:*"] });
  await fakes.emit("session:end");
  await fakes.emit("command:model");
  await fakes.emit("command:a:b");
  assert.deepEqual(called, ["c command:model", "c command:a:b"]);
});

test("message and response are cut to 500 code points, nothing else is", async () => {
  let seen: Record<string, unknown> = {};
  const fakes = new Fakes({ a: (_event, context) => void (seen = context) });
  fakes.listen({ a: ["agent:*"] });
  await fakes.emit("agent:end", {
    message: "😀".repeat(600),
    response: "r".repeat(501),
    chat_id: "c".repeat(600),
    tokens: 12345678901234567890n,
  });
  assert.equal(seen["message"], "😀".repeat(500));
  assert.equal(seen["response"], "r".repeat(500));
  assert.equal(seen["chat_id"], "c".repeat(600));
  assert.equal(seen["tokens"], 12345678901234567890n);
});

test("gateway:startup has platforms, empty when nobody says", async () => {
  const seen: unknown[] = [];
  const fakes = new Fakes({ a: (_event, context) => void seen.push(context["platforms"]) });
  fakes.listen({ a: ["gateway:startup"] });
  await fakes.emit("gateway:startup");
  await fakes.emit("gateway:startup", { platforms: ["slack"] });
  assert.deepEqual(seen, [[], ["slack"]]);
});

test("a handler that throws or overruns between two good ones is told, and the next runs", async () => {
  const { called, behaviours } = noting("a", "d");
  const fakes = new Fakes({
    ...behaviours,
    b: () => {
      throw new Error("boom");
    },
    c: { ends: { kind: "overran", afterMs: 1500 } },
  });
  fakes.listen({ a: ["agent:end"], b: ["agent:end"], c: ["agent:end"], d: ["agent:end"] });
  const verdict = await fakes.emit("agent:end");
  assert.deepEqual(called, ["a agent:end", "d agent:end"]);
  assert.deepEqual(verdict.warnings, ["hook b: threw: boom", "hook c: timed out after 1.5s"]);
  assert.equal(verdict.hooks[1].outcome, "failed");
  assert.equal(verdict.hooks[1].error, "threw: boom");
  assert.deepEqual(fakes.log, [
    'warning gateway hook "b" on agent:end: threw: boom',
    'warning gateway hook "c" on agent:end: timed out after 1.5s',
  ]);
});

test("the same failure again is told at debug, another one at warning", async () => {
  let error = "one";
  const fakes = new Fakes({
    a: () => {
      throw new Error(error);
    },
  });
  fakes.listen({ a: ["agent:*"] });
  await fakes.emit("agent:end");
  await fakes.emit("agent:end");
  error = "two";
  await fakes.emit("agent:end");
  assert.deepEqual(fakes.log.map((line) => line.replace(/^(\w+).* threw/, "$1")), [
    "warning: one",
    "debug: one",
    "warning: two",
  ]);
});

test("a deny ends the command, and the handlers after it are not called", async () => {
  const { called, behaviours } = noting("a", "c");
  const fakes = new Fakes({ ...behaviours, b: () => ({ decision: "deny", message: "no" }) });
  fakes.listen({ a: ["command:stop"], b: ["command:stop"], c: ["command:*"] });
  const verdict = await fakes.emit("command:stop");
  assert.deepEqual(called, ["a command:stop"]);
  assert.equal(verdict.decision, "deny");
  assert.equal(verdict.message, "no");
  assert.deepEqual(verdict.hooks.length, 2);
  assert.deepEqual(verdict.hooks[1].directive, { decision: "deny", message: "no" });
});

test("handled and rewrite end it too; allow, nothing and nonsense go on", async () => {
  const answers: Record<string, unknown> = {};
  const names = ["a", "b", "c", "d"];
  const fakes = new Fakes(Object.fromEntries(names.map((name) => [name, () => answers[name]])));
  fakes.listen(Object.fromEntries(names.map((name) => [name, ["command:*"]])));
  const decided = async (...given: unknown[]) => {
    names.forEach((name, i) => answers[name] = given[i]);
    const { hooks, warnings, event: _, ...rest } = await fakes.emit("command:x");
    return { ...rest, ran: hooks.length, warned: warnings.length };
  };
  assert.deepEqual(await decided(), { decision: "allow", ran: 4, warned: 0 });
  assert.deepEqual(
    await decided({ decision: "allow" }, null, { decision: "handled" }, { decision: "deny" }),
    { decision: "handled", ran: 3, warned: 0 },
  );
  assert.deepEqual(
    await decided({ decision: "rewrite", command_name: " model ", raw_args: "x y" }),
    { decision: "rewrite", command_name: "model", raw_args: "x y", ran: 1, warned: 0 },
  );
  assert.deepEqual(
    await decided({ decision: "rewrite" }, { decision: "block" }, "text", {
      decision: "deny",
    }),
    { decision: "deny", ran: 4, warned: 2 },
  );
});

test("exact and wildcard answers count in firing order, not in directory order", async () => {
  const fakes = new Fakes({
    a: () => ({ decision: "handled", message: "wildcard" }),
    b: () => ({ decision: "deny", message: "exact" }),
  });
  fakes.listen({ a: ["command:*"], b: ["command:x"] });
  assert.equal((await fakes.emit("command:x")).message, "exact");
  assert.equal((await fakes.emit("command:y")).message, "wildcard");
});

test("what is returned on any other event decides nothing and is not shown", async () => {
  const fakes = new Fakes({ a: () => ({ decision: "deny" }) });
  fakes.listen({ a: ["agent:start"] });
  const verdict = await fakes.emit("agent:start");
  assert.equal(verdict.decision, undefined);
  assert.equal(verdict.hooks[0].outcome, "none");
  assert.equal(verdict.hooks[0].directive, undefined);
});

test("each call is bounded by the timeout in force", async () => {
  const { behaviours } = noting("a");
  const fakes = new Fakes(behaviours);
  fakes.listen({ a: ["agent:end"] }, { timeoutMs: 1234 });
  await fakes.emit("agent:end");
  fakes.listen({ a: ["agent:end"] }, { timeoutMs: 0 });
  await fakes.emit("agent:end");
  assert.deepEqual(fakes.hosts.map(({ timeouts }) => timeouts), [[1234, 0]]);
});

test("one that does not load is told once, named in each verdict, and the rest run", async () => {
  const { called, behaviours } = noting("b");
  const fakes = new Fakes({ ...behaviours, a: { rejected: 'it exports no function "handle"' } });
  fakes.listen({ a: ["agent:end"], b: ["agent:end"] });
  await fakes.hooks.load();
  const text = 'gateway hook "a" is not loaded: it exports no function "handle"';
  assert.deepEqual(fakes.log, [`warning ${text}`]);
  const verdict = await fakes.emit("agent:end");
  assert.deepEqual(verdict.warnings, [text]);
  assert.deepEqual(called, ["b agent:end"]);
  assert.equal(fakes.log.length, 1);
  assert.equal(fakes.hosts[0]!.loads, 1);
});

test("under safe mode nothing is loaded, and the verdict says how many were left out", async () => {
  const { called, behaviours } = noting("a", "b");
  const fakes = new Fakes(behaviours);
  fakes.listen({ a: ["agent:end"], b: ["session:end"] }, { safeMode: true });
  const verdict = await fakes.emit("agent:end");
  assert.deepEqual([called, fakes.hosts, verdict.hooks], [[], [], []]);
  assert.deepEqual(verdict.warnings, ["safe mode: 1 hooks not run, 0 of them fail_closed"]);
});

test("a reload keeps the host of a hook that has not changed and starts one that has", async () => {
  const home = gatewayHome({
    "a/HOOK.yaml": hookYaml("agent:end"),
    "a/handler.ts": "1",
    "b/HOOK.yaml": hookYaml("agent:end"),
    "b/handler.ts": "1",
  });
  const { behaviours } = noting("a", "b", "c");
  const fakes = new Fakes(behaviours);
  const setup = { env: {}, cwd: "/", memoryMb: 0, timeoutMs: 0, safeMode: false };
  const reload = async () => {
    fakes.hooks.update({ ...setup, ...await findGatewayFolders(home) });
    await fakes.hooks.load();
  };
  await reload();
  // A log that a handler writes beside itself is no change of it.
  write(home, "a/activity.log", "line");
  write(home, "b/lib/neighbour.py", "changed");
  write(home, "c/HOOK.yaml", hookYaml("agent:end"));
  write(home, "c/handler.py", "");
  await reload();
  await gone(5);
  assert.deepEqual(
    fakes.hosts.map(({ spec, closed }) => [spec.folder.slice(-1), closed]),
    [["a", false], ["b", true], ["b", false], ["c", false]],
  );
  assert.equal(fakes.hooks.size, 3);
  fs.rmSync(home, { recursive: true });
});

test("an event at work keeps the handlers it began with across a reload", async () => {
  let release = () => {};
  const called: string[] = [];
  const fakes = new Fakes({
    a: () => new Promise<void>((resolve) => release = resolve),
    b: () => void called.push("b"),
  });
  fakes.listen({ a: ["agent:end"], b: ["agent:end"] });
  const verdict = fakes.emit("agent:end");
  await gone(5);
  fakes.listen({});
  await gone(5);
  assert.deepEqual(fakes.hosts.map(({ closed }) => closed), [false, false]);
  release();
  await verdict;
  await gone(5);
  assert.deepEqual(called, ["b"]);
  assert.deepEqual(fakes.hosts.map(({ closed }) => closed), [true, true]);
});

test("closing ends every host, retired ones too, and what was at work says nothing more", async () => {
  let release = () => {};
  const fakes = new Fakes({
    a: () => new Promise<void>((_, reject) => release = () => reject(new Error("ended"))),
    b: () => {},
  });
  fakes.listen({ a: ["agent:end"], b: ["agent:end"] });
  const verdict = fakes.emit("agent:end");
  await gone(5);
  fakes.listen({ b: ["agent:end"] });
  await fakes.hooks.close();
  release();
  assert.deepEqual((await verdict).hooks, []);
  assert.deepEqual(fakes.hosts.map(({ closed }) => closed), [true, true]);
  assert.deepEqual(fakes.log, []);
  assert.deepEqual((await fakes.emit("agent:end")).hooks, []);
});
