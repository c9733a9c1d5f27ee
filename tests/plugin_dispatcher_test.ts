import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { createDispatcher, type Dispatcher, type DispatcherOptions } from "../lib/mod.ts";
import { enabling, ENV, inHome, plugin } from "./programs/plugin_home.ts";

/** A home with these files, fired at through a dispatcher that is closed at the end. */
function dispatching(
  files: Readonly<Record<string, string>>,
  run: (hooks: Dispatcher, home: string) => Promise<void>,
  options: Partial<DispatcherOptions> = {},
): Promise<void> {
  return inHome(files, async (home) => {
    const hooks = await createDispatcher({ home, env: ENV, ...options });
    try {
      await run(hooks, home);
    } finally {
      await hooks.close();
    }
  });
}

const answers = (event: string, answer: string) =>
  `export function register(ctx) { ctx.registerHook("${event}", () => (${answer})); }\n`;
const pyAnswers = (event: string, answer: string) =>
  `def answer(**fields):\n    return ${answer}\n\ndef register(ctx):\n` +
  `    ctx.register_hook("${event}", answer)\n`;
const FIELDS = { tool_name: "terminal", args: { command: "ls" } };
const namesOf = (verdict: Readonly<Record<string, unknown>>) =>
  (verdict["hooks"] as { source: string; name: string }[]).map((one) => one.name);
const until = async (isSo: () => boolean) => {
  for (let i = 0; i < 400 && !isSo(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok(isSo(), "it never came to be so");
};

test("plugins come by name before shell hooks, in TypeScript and Python alike", async () => {
  const modify = (n: number) => `{ action: "modify", args: { [${n}]: ${n}, last: ${n} } }`;
  const files = {
    "config.yaml": "plugins: {enabled: [b, a]}\nhooks_auto_accept: true\n" +
      "hooks: {pre_tool_call: [{command: ./c.sh}]}\n",
    "c.sh": `#!/bin/sh\ncat > /dev/null\necho '{"action": "modify", "args": {"last": 3}}'\n`,
    ...plugin("a", answers("pre_tool_call", modify(1))),
    ...plugin(
      "b",
      pyAnswers("pre_tool_call", '{"action": "modify", "args": {"py": 2, "last": 2}}'),
      {
        file: "__init__.py",
      },
    ),
  };
  await inHome(files, async (home) => {
    const hooks = await createDispatcher({ home, env: ENV, startFolder: home });
    const verdict = await hooks.fire("pre_tool_call", FIELDS);
    assert.deepEqual(namesOf(verdict), ["a", "b", "./c.sh"]);
    assert.deepEqual({ ...verdict["args"] as object }, { command: "ls", "1": 1, py: 2, last: 3 });
    assert.deepEqual(verdict.warnings, []);
    await hooks.close();
  });
});

test("a shell hook's block beats a plugin's approve, and the first of two blocks wins", async () => {
  const blocking = '{"action": "block", "message": "shell"}';
  const config = "hooks_auto_accept: true\nhooks: {pre_tool_call: [{command: ./c.sh}]}\n";
  const script = { "c.sh": `#!/bin/sh\ncat > /dev/null\necho '${blocking}'\n` };
  const approve = '{ action: "approve", message: "plugin", rule_key: "k" }';
  await inHome({
    "config.yaml": `plugins: {enabled: [a]}\n${config}`,
    ...script,
    ...plugin("a", answers("pre_tool_call", approve)),
  }, async (home) => {
    const hooks = await createDispatcher({ home, env: ENV, startFolder: home });
    const verdict = await hooks.fire("pre_tool_call", FIELDS);
    assert.deepEqual([verdict.decision, verdict.message], ["block", "shell"]);
    await hooks.close();
  });
  await inHome({
    "config.yaml": `plugins: {enabled: [a]}\n${config}`,
    ...script,
    ...plugin("a", answers("pre_tool_call", '{ action: "block", message: "plugin" }')),
  }, async (home) => {
    const hooks = await createDispatcher({ home, env: ENV, startFolder: home });
    const verdict = await hooks.fire("pre_tool_call", FIELDS);
    assert.deepEqual([verdict.decision, verdict.message], ["block", "plugin"]);
    // rule 5.2: the hook behind the gate sees what was refused
    assert.equal((verdict["hooks"] as unknown[]).length, 2);
    await hooks.close();
  });
});

test("contexts of plugins and of what is registered here are joined in order", async () => {
  const files = { ...enabling(["a"]), ...plugin("a", answers("pre_llm_call", '"one"')) };
  await dispatching(files, async (hooks) => {
    hooks.registerHook("pre_llm_call", () => ({ context: "two" }));
    hooks.registerHook("pre_llm_call", () => Promise.resolve("three"), "mine");
    const verdict = await hooks.fire("pre_llm_call", {});
    assert.equal(verdict["context"], "one\n\ntwo\n\nthree");
    assert.deepEqual(namesOf(verdict), ["a", "in-process", "mine"]);
  });
});

test("of classifications all run, the first valid one wins and each valid loser is a warning", async () => {
  const event = "transform_api_error_classification";
  const files = {
    ...enabling(["a", "b", "c"]),
    ...plugin("a", answers(event, '{ reason: "" }')),
    ...plugin("b", answers(event, '{ reason: " Rate_Limit ", retryable: true, odd: 1 }')),
    ...plugin("c", pyAnswers(event, '{"reason": "overloaded"}'), { file: "__init__.py" }),
  };
  await dispatching(files, async (hooks) => {
    const verdict = await hooks.fire(event, { provider: "x" });
    assert.deepEqual(
      { ...verdict["classification"] as object },
      { reason: "rate_limit", retryable: true },
    );
    assert.ok(
      verdict.warnings.some((text) => /hook c: classification "overloaded" not used/.test(text)),
    );
    assert.deepEqual(namesOf(verdict), ["a", "b", "c"]);
  });
});

test("two homes with a plugin of the same name never share it, nor its state", async () => {
  const counting = (who: string) =>
    `let n = 0;\nexport function register(ctx) {\n` +
    `  ctx.registerHook("pre_llm_call", () => "${who} " + ++n);\n}\n`;
  await dispatching(
    { ...enabling(["p"]), ...plugin("p", counting("one")) },
    (one) =>
      dispatching({ ...enabling(["p"]), ...plugin("p", counting("two")) }, async (two) => {
        const said = [];
        for (const hooks of [one, two, one, two]) {
          said.push((await hooks.fire("pre_llm_call", {}))["context"]);
        }
        assert.deepEqual(said, ["one 1", "two 1", "one 2", "two 2"]);
      }),
  );
});

test("plugins that throw, on load or when called, are named and take no other down", async () => {
  const log: string[] = [];
  const files = {
    ...enabling(["a", "b", "c"]),
    ...plugin("a", 'throw new Error("no start");\n'),
    ...plugin("b", pyAnswers("pre_llm_call", "1 / 0"), { file: "__init__.py" }),
    ...plugin("c", answers("pre_llm_call", '"fine"')),
  };
  await dispatching(files, async (hooks) => {
    for (let i = 0; i < 2; i++) {
      const verdict = await hooks.fire("pre_llm_call", {});
      assert.equal(verdict["context"], "fine");
      assert.match(verdict.warnings[0]!, /plugin "a" could not be loaded: .*no start/);
      assert.match(verdict.warnings[1]!, /plugin "b": pre_llm_call callback threw: .*division/);
    }
    const about = log.filter((line) => line.includes("division"));
    assert.deepEqual(about.map((line) => line.split(" ")[0]), ["warning", "debug"]);
  }, { log: (level, line) => void log.push(`${level} ${line}`) });
});

test("an async callback that overruns blocks, and so does the call that comes while it runs", async () => {
  const slow = 'import { writeFileSync } from "node:fs";\nexport function register(ctx) {\n' +
    '  ctx.registerHook("pre_tool_call", async () => {\n' +
    "    await new Promise((resolve) => setTimeout(resolve, 1200));\n" +
    '    writeFileSync(process.env.HERMES_HOME + "/done", "");\n  });\n}\n';
  const files = { ...enabling(["slow"], "hook_callback_timeout: 0.4"), ...plugin("slow", slow) };
  await dispatching(files, async (hooks, home) => {
    const first = await hooks.fire("pre_tool_call", FIELDS);
    assert.equal(first.decision, "block");
    assert.match(first.message!, /plugin "slow": .* timed out after 0\.4s/);
    const second = await hooks.fire("pre_tool_call", FIELDS);
    assert.equal(second.decision, "block");
    assert.match(second.message!, /plugin "slow": .* still running/);
    await until(() => existsSync(path.join(home, "done")));
    const third = await hooks.fire("pre_tool_call", FIELDS);
    assert.match(third.message!, /timed out/);
  });
});

test("a callback registered here has the same rules: overrun, still running, throw, fail_closed", async () => {
  await dispatching(enabling([], "hook_callback_timeout: 0.05"), async (hooks) => {
    let free = () => {};
    hooks.registerHook("pre_tool_call", () => new Promise<void>((resolve) => free = resolve));
    assert.match((await hooks.fire("pre_tool_call", {})).message!, /timed out after 0\.05s/);
    assert.match((await hooks.fire("pre_tool_call", {})).message!, /still running/);
    free();
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.match((await hooks.fire("pre_tool_call", {})).message!, /timed out/);
  });
  for (const [closed, decision] of [["true", "block"], ["false", "allow"]] as const) {
    await dispatching(enabling([], `fail_closed: ${closed}`), async (hooks) => {
      hooks.registerHook("pre_tool_call", () => {
        throw new Error("boom");
      }, "mine");
      const verdict = await hooks.fire("pre_tool_call", {});
      assert.equal(verdict.decision, decision);
      assert.match(verdict.message ?? verdict.warnings[0]!, /plugin "mine": .*threw: boom/);
    });
  }
});

test("only events to fire can be registered for", async () => {
  await dispatching({}, (hooks) => {
    assert.throws(() => hooks.registerHook("agent:end", () => {}), RangeError);
    assert.throws(() => hooks.registerHook("pre_tool_cal", () => {}), RangeError);
    return Promise.resolve();
  });
});

test("safe mode loads no plugin and calls nothing that is registered", async () => {
  const files = { ...enabling(["a"]), ...plugin("a", answers("pre_tool_call", "1")) };
  await dispatching(files, async (hooks) => {
    hooks.registerHook("pre_tool_call", () => ({ action: "block", message: "no" }));
    const verdict = await hooks.fire("pre_tool_call", FIELDS);
    assert.equal(verdict.decision, "allow");
    assert.deepEqual(verdict["hooks"], []);
    assert.ok(verdict.warnings.some((text) => /safe mode: plugins not loaded: "a"/.test(text)));
  }, { env: { ...ENV, HERMES_SAFE_MODE: "1" } });
});

test("stream events are answered at once, and each hook gets its own in order", async () => {
  const seen: unknown[] = [];
  await dispatching({}, async (hooks) => {
    hooks.registerHook("on_stream_delta", async ({ delta }) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      seen.push(delta);
    });
    for (let n = 0; n < 4; n++) {
      const verdict = await hooks.fire("on_stream_delta", { delta: `${n}`, kind: "text" });
      assert.deepEqual(verdict["hooks"], []);
    }
    const withheld = await hooks.fire("on_stream_delta", { delta: "think", kind: "reasoning" });
    assert.match(withheld.warnings[0]!, /stream_reasoning_deltas/);
    await until(() => hooks.streamCounts()[0]?.delivered === 4);
    assert.deepEqual(seen, ["0", "1", "2", "3"]);
  });
});

test("reasoning deltas are sent where the config asks for them", async () => {
  const seen: unknown[] = [];
  await dispatching(enabling([], "stream_reasoning_deltas: true"), async (hooks) => {
    hooks.registerHook("on_stream_delta", ({ kind }) => void seen.push(kind));
    await hooks.fire("on_stream_delta", { delta: "think", kind: "reasoning" });
    await until(() => seen.length === 1);
    assert.deepEqual(seen, ["reasoning"]);
  });
});

test("prompt sections are made once a session, and read-only is what a function is told", async () => {
  const code = "let n = 0;\nexport function register(ctx) {\n" +
    '  ctx.registerSystemPromptSection("a.rules", (info) => {\n' +
    '    try { info.cwd = "elsewhere"; } catch { /* as it should be */ }\n' +
    "    return `${++n} ${info.session_id} ${info.profile_name} ${info.cwd}`;\n  });\n}\n";
  const python = "def text(info):\n    try:\n        info['model'] = 'x'\n" +
    "    except TypeError:\n        return 'read-only ' + info['model']\n\n" +
    "def register(ctx):\n    ctx.register_system_prompt_section('b.rules', text)\n";
  const files = {
    ...enabling(["a", "b"]),
    ...plugin("a", code),
    ...plugin("b", python, { file: "__init__.py" }),
  };
  await dispatching(files, async (hooks) => {
    const info = { session_id: "s1", model: "m", cwd: "/w" };
    const first = await hooks.promptSections(info);
    assert.deepEqual(first.sections.map(({ text }) => text), ["1 s1 custom /w", "read-only m"]);
    assert.equal((await hooks.promptSections(info)).block, first.block);
    const other = await hooks.promptSections({ ...info, session_id: "s2" });
    assert.match(other.block, /2 s2/);
  });
});

test("hosts end when the dispatcher is closed", async () => {
  const code = 'import { writeFileSync } from "node:fs";\n' +
    'writeFileSync(process.env.HERMES_HOME + "/pid", String(process.pid));\n' +
    answers("pre_llm_call", "null");
  await inHome({ ...enabling(["a"]), ...plugin("a", code) }, async (home) => {
    const hooks = await createDispatcher({ home, env: ENV });
    await hooks.fire("pre_llm_call", {});
    const pid = readFileSync(path.join(home, "pid"), "utf8");
    assert.ok(existsSync(`/proc/${pid}`));
    await hooks.close();
    await until(() => !existsSync(`/proc/${pid}`));
  });
});
