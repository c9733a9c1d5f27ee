import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { parseJson, writeJson } from "../lib/events/json.ts";
import { withHost } from "./programs/host_home.ts";

const register = (body: string) => `export function register(ctx: any) {\n${body}\n}\n`;

test("a TypeScript plugin imports its neighbours and registers hooks and sections", () =>
  withHost({
    "plugin.ts": 'import { limit } from "./lib/limit.ts";\n' + register(`
      ctx.register_hook("pre_tool_call", (fields: { tool_name: string }) => fields.tool_name + limit);
      ctx.registerHook("post_tool_call", async () => { await null; return [ctx.name, ctx.home]; });
      ctx.register_system_prompt_section("a.text", "be careful", "after_memory", 40);
      ctx.registerSystemPromptSection("b.fn", (i: any) => "for " + i.model, { maxChars: 20 });
    `),
    "lib/limit.ts": "export const limit: number = 7;\n",
  }, async (host) => {
    const loaded = await host.load();
    assert.ok(loaded.ok);
    assert.deepEqual(loaded.callbacks, [{ id: 0, event: "pre_tool_call" }, {
      id: 1,
      event: "post_tool_call",
    }]);
    assert.deepEqual(loaded.sections, [
      { id: "a.text", position: "after_memory", maxChars: 40, content: { text: "be careful" } },
      { id: "b.fn", position: "after_memory", maxChars: 20, content: { callback: 2 } },
    ]);
    assert.deepEqual(loaded.warnings, []);
    const answers = await Promise.all([
      host.ask(0, { tool_name: "terminal" }),
      host.ask(1),
      host.ask(2, { model: "m1" }),
    ]);
    assert.deepEqual(answers.map(({ value }) => value), [
      "terminal7",
      ["guard", "/home/of/hermes"],
      "for m1",
    ]);
    assert.deepEqual(await host.load(), loaded);
  }));

test("a plugin in JavaScript needs no types, and may export an object as its default", async () => {
  const body = 'ctx.register_hook("pre_llm_call", () => "context");';
  for (
    const [name, text] of [
      ["plugin.mjs", `export const register = (ctx) => { ${body} };\n`],
      ["plugin.js", `export default { register(ctx) { ${body} } };\n`],
      ["plugin.js", `export async function register(ctx) { await null; ${body} }\n`],
    ] as const
  ) {
    await withHost({ [name]: text }, async (host) => {
      assert.equal((await host.load()).ok, true, name);
      assert.equal((await host.ask(0)).value, "context", name);
    });
  }
});

test("digits of integers survive, and what JSON cannot hold comes back as a string", () =>
  withHost({
    "plugin.ts": register(`
      ctx.register_hook("pre_tool_call", (f: any) =>
        ({ n: f.n, kind: typeof f.n, nan: NaN, set: new Set([1]), fn: String, none: undefined }));
    `),
  }, async (host) => {
    await host.load();
    const result = await host.call(0, "pre_tool_call", parseJson('{"n":12345678901234567890}'), 0);
    assert.ok(result.kind === "returned");
    const text = writeJson(result.value);
    assert.match(text, /"n": 12345678901234567890, "kind": "bigint", "nan": "NaN", "set": \[1\]/);
    assert.match(text, /"none": null/);
  }));

test("no package comes from the working folder by a relative NODE_PATH", () =>
  withHost({
    "plugin.mjs": 'let word = "not found";\n' +
      'try { word = (await import("theirs")).default; } catch {}\n' +
      register('ctx.register_hook("pre_tool_call", () => word);').replace(": any", ""),
    "theirs/index.js": 'module.exports = "found";\n',
  }, async (host) => {
    assert.equal((await host.load()).ok, true);
    assert.equal((await host.ask(0)).value, "not found");
  }, { env: { PATH: process.env["PATH"] ?? "", NODE_PATH: ".:" } }));

test("what is no text does not become one: not what is returned, nor a section", () =>
  withHost({
    "plugin.ts": register(`
      for (const value of [new Date(0), Symbol("s"), String, new URL("http://a/"), ["x"], "text"]) {
        ctx.register_hook("pre_llm_call", () => value);
      }
      ctx.register_system_prompt_section("a", new Date(0), "after_memory", "9");
      ctx.register_system_prompt_section("b", "t", "after_memory", NaN);
    `),
  }, async (host) => {
    const loaded = await host.load();
    assert.ok(loaded.ok);
    const kinds = [];
    for (let id = 0; id < 6; id++) {
      const { value } = await host.ask(id);
      kinds.push(Array.isArray(value) ? "list" : value);
    }
    assert.deepEqual(kinds, ["list", "list", "list", "list", "list", "text"]);
    assert.deepEqual(loaded.sections, [
      {
        id: "a",
        position: "after_memory",
        maxChars: NaN,
        content: { text: ["1970-01-01T00:00:00.000Z"] },
      },
      { id: "b", position: "after_memory", maxChars: NaN, content: { text: "t" } },
    ]);
  }));

test("what is not provided is a warning while registering and an error in a callback", () =>
  withHost({
    "plugin.ts": register(`
      ctx.register_tool("mine", {});
      ctx.platform_actions.send("hello");
      ctx.register_hook("pre_tool_call", () => ctx.dispatch_tool("terminal"));
      ctx.register_hook("", () => 1);
      ctx.register_hook("post_tool_call", "no function");
      ctx.register_hook("pre_gateway_dispatch", (f: any) => f.gateway.adapters.telegram.send("hi"));
      ctx.register_hook("pre_gateway_dispatch", (f: any) => JSON.stringify(f));
      ctx.extra.thing = 1;
      ctx.register_hook("pre_llm_call", () => "never reached");
    `),
  }, async (host) => {
    const loaded = await host.load();
    assert.ok(loaded.ok);
    assert.deepEqual(loaded.warnings, [
      "not provided by hermes-hooks: register_tool",
      "not provided by hermes-hooks: platform_actions.send",
      'register_hook "": expected an event\'s name and a function',
      'register_hook "post_tool_call": expected an event\'s name and a function',
      "not provided by hermes-hooks: extra",
    ]);
    assert.equal(loaded.callbacks.length, 3);
    const used = await host.ask(0);
    assert.match(used.error ?? "", /not provided by hermes-hooks: dispatch_tool$/);
    const gateway = await host.ask(1, { event: {} }, 5_000, "pre_gateway_dispatch");
    assert.match(
      gateway.error ?? "",
      /not provided by hermes-hooks: gateway\.adapters\.telegram\.send$/,
    );
    const text = await host.ask(2, { event: { text: "a" } }, 5_000, "pre_gateway_dispatch");
    assert.equal(text.value, '{"event":{"text":"a"}}');
  }));

test("a callback that throws says so in one line, and the next call is served", () =>
  withHost({
    "plugin.ts": register(`
      ctx.register_hook("pre_tool_call", () => { throw new TypeError("no\\n good"); });
      ctx.register_hook("pre_tool_call", async () => { throw "a string"; });
      ctx.register_hook("pre_tool_call", () => { Promise.reject(new Error("stray")); return 1; });
    `),
  }, async (host) => {
    await host.load();
    assert.deepEqual(await host.ask(0), { kind: "threw", error: "TypeError: no good" });
    assert.deepEqual(await host.ask(1), { kind: "threw", error: "a string" });
    assert.equal((await host.ask(2)).value, 1);
    assert.equal((await host.ask(2)).value, 1);
    assert.match(host.said(), /plugin "guard": an error outside of any call: Error: stray/);
  }));

test("what a plugin prints goes to the log, line by line, never to our stdout", () =>
  withHost({
    "plugin.ts": 'import process from "node:process";\n' + register(`
      console.log("while loading");
      ctx.log("a word");
      ctx.log.warning("careful");
      ctx.register_hook("pre_tool_call", () => {
        console.log("one\\ntwo");
        process.stdout.write('{"returned": 1, "value": "forged"}\\nno newline');
        console.error("\\u001b[31mred");
        return "mine";
      });
    `),
  }, async (host) => {
    await host.load();
    assert.equal((await host.ask(0)).value, "mine");
    await host.close();
    const lines = host.log.map(({ line, level }) => `${level} ${line}`);
    for (
      const line of [
        'info plugin "guard": while loading',
        'info plugin "guard": a word',
        'warning plugin "guard": careful',
        'info plugin "guard": one',
        'info plugin "guard": two',
        'info plugin "guard": no newline',
      ]
    ) assert.ok(lines.includes(line), `${line} in ${lines}`);
    assert.ok(lines.some((line) => line.includes('"forged"')));
    assert.ok(lines.some((line) => line.includes("\\x1b[31mred")));
  }));

test("a plugin that throws on load, does not parse, or registers nothing to call is refused", async () => {
  for (
    const [text, error] of [
      ['throw new Error("at the top");\n', /^Error: at the top$/],
      [register('throw new RangeError("inside");'), /^RangeError: inside$/],
      ["export function register( {\n", /plugin\.ts/],
      ["export const register = 5;\n", /^Error: it exports no function "register"$/],
      ['import "./missing.ts";\n', /missing\.ts/],
    ] as const
  ) {
    await withHost({ "plugin.ts": text }, async (host) => {
      const loaded = await host.load();
      assert.ok(!loaded.ok);
      assert.match(loaded.error, error);
      assert.equal((await host.ask(0)).kind, "gone");
    });
  }
});

test("ten megabytes come back whole", () =>
  withHost({
    "plugin.ts": register(
      `ctx.register_hook("transform_tool_result", (f: any) => f.result + "é");`,
    ),
  }, async (host) => {
    await host.load();
    const result = "x".repeat(10 * 1024 * 1024);
    const { value } = await host.ask(0, { result });
    assert.equal(value === result + "é", true);
  }));

test("a gateway handler gets the event's type and its context", () =>
  withHost({
    "handler.ts": "export async function handle(type: string, context: any) {\n" +
      "  return { type, seen: context.platforms };\n}\n",
  }, async (host) => {
    const loaded = await host.load();
    assert.ok(loaded.ok);
    assert.deepEqual(loaded.callbacks, [{ id: 0, event: "*" }]);
    const fields = { event_type: "gateway:startup", context: { platforms: ["telegram"] } };
    const { value } = await host.ask(0, fields, 5_000, "gateway:startup");
    assert.deepEqual(value, { type: "gateway:startup", seen: ["telegram"] });
  }, { mode: "gateway", label: 'gateway hook "boot"' }));
