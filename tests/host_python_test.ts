import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { parseJson, writeJson } from "../lib/events/json.ts";
import { PYTHON, withHost } from "./programs/host_home.ts";

const options = { skip: PYTHON ? false : "there is no python3 on PATH" };

test("a Python plugin is a package: relative imports and neighbours work", options, () =>
  withHost({
    "__init__.py": "from . import rules\nfrom .deep.more import word\nimport rules as again\n" +
      "def register(ctx):\n" +
      "    ctx.register_hook('pre_tool_call', lambda **f: [rules.LIMIT, word, again.LIMIT, ctx.name])\n" +
      "    ctx.register_system_prompt_section('a.fn', lambda info: 'for ' + info['model'],\n" +
      "        position='after_memory', max_chars=20)\n" +
      "    ctx.register_system_prompt_section('b.text', 'be careful')\n",
    "rules.py": "LIMIT = 7\n",
    "deep/__init__.py": "",
    "deep/more.py": "from ..rules import LIMIT\nword = 'w%d' % LIMIT\n",
  }, async (host) => {
    const loaded = await host.load();
    assert.ok(loaded.ok);
    assert.deepEqual(loaded.sections, [
      { id: "a.fn", position: "after_memory", maxChars: 20, content: { callback: 1 } },
      {
        id: "b.text",
        position: "after_memory",
        maxChars: undefined,
        content: { text: "be careful" },
      },
    ]);
    assert.deepEqual((await host.ask(0)).value, [7, "w7", 7, "guard"]);
    assert.equal((await host.ask(1, { model: "m1" })).value, "for m1");
  }));

test("a narrow signature gets only what it declares", options, () =>
  withHost({
    "__init__.py":
      "def narrow(tool_name, *, missing='default'):\n    return [tool_name, missing]\n" +
      "def first(args, /, tool_name):\n    return [args, tool_name]\n" +
      "class Bound:\n    def hook(self, tool_name): return 'bound ' + tool_name\n" +
      "def none():\n    return 'none'\n" +
      "def needs(nothing_like_it):\n    return 1\n" +
      "def register(ctx):\n" +
      "    for f in (narrow, first, Bound().hook, none, needs, dict):\n" +
      "        ctx.register_hook('pre_tool_call', f)\n",
  }, async (host) => {
    await host.load();
    const fields = { tool_name: "t", args: { a: 1 }, session_id: "s" };
    const answers = [];
    for (let id = 0; id < 6; id++) answers.push(await host.ask(id, fields));
    assert.deepEqual(answers.slice(0, 4).map(({ value }) => value), [
      ["t", "default"],
      [{ a: 1 }, "t"],
      "bound t",
      "none",
    ]);
    assert.match(answers[4]!.error ?? "", /^TypeError: needs\(\) missing 1 required/);
    assert.deepEqual(answers[5]!.value, fields);
  }));

test(
  "async callbacks share a loop, sync ones have threads, and none waits for another",
  options,
  () =>
    withHost({
      "__init__.py": "import asyncio, functools, time\n" +
        "async def slow(**f):\n    await asyncio.sleep(0.3)\n    return 'async'\n" +
        "def sync(**f):\n    time.sleep(0.3)\n    return 'sync'\n" +
        "async def register(ctx):\n" +
        "    await asyncio.sleep(0)\n" +
        "    for f in (slow, sync, functools.partial(slow), lambda **f: slow()):\n" +
        "        ctx.register_hook('pre_tool_call', f)\n",
    }, async (host) => {
      await host.load();
      const began = performance.now();
      const answers = await Promise.all([0, 0, 1, 1, 2, 3].map((id) => host.ask(id)));
      assert.deepEqual(
        answers.map(({ value }) => value),
        ["async", "async", "sync", "sync", "async", "async"],
      );
      assert.ok(performance.now() - began < 1_200);
    }),
);

test(
  "a gateway event allows keys and attributes at any depth, and its handles are stand-ins",
  options,
  () =>
    withHost({
      "__init__.py": "import json\n" +
        "def read(event, **kwargs):\n" +
        "    src = event.source\n" +
        "    return [src.chat_type, event['source']['user_id'], event.list[0].a, event.items,\n" +
        "            getattr(event, 'absent', 'none'), event.get('text'), json.dumps(src)]\n" +
        "def send(gateway, **kwargs):\n    gateway.adapters['telegram'].send('hi')\n" +
        "def append(session_store, **kwargs):\n    session_store.append_to_transcript('x')\n" +
        "def register(ctx):\n" +
        "    for f in (read, send, append): ctx.register_hook('pre_gateway_dispatch', f)\n",
    }, async (host) => {
      await host.load();
      const event = {
        text: "hi",
        items: 3,
        list: [{ a: 1 }],
        source: { chat_type: "dm", user_id: "u1" },
      };
      const ask = (id: number) => host.ask(id, { event }, 5_000, "pre_gateway_dispatch");
      assert.deepEqual((await ask(0)).value, [
        "dm",
        "u1",
        1,
        3,
        "none",
        "hi",
        '{"chat_type": "dm", "user_id": "u1"}',
      ]);
      assert.match((await ask(1)).error ?? "", /not provided by hermes-hooks: gateway\.adapters$/);
      assert.match(
        (await ask(2)).error ?? "",
        /not provided by hermes-hooks: session_store\.append_to_transcript$/,
      );
    }),
);

test("in Python too, what is not provided is a warning and then an error", options, () =>
  withHost({
    "__init__.py": "def register(ctx):\n" +
      "    ctx.register_tool(name='a')\n    ctx.platform_actions.send('x')\n" +
      "    ctx.register_hook('pre_tool_call', lambda **f: ctx.dispatch_tool('x'))\n" +
      "    ctx.register_hook('post_tool_call', None)\n" +
      "    ctx.settings['x']\n",
  }, async (host) => {
    const loaded = await host.load();
    assert.ok(loaded.ok);
    assert.deepEqual(loaded.warnings, [
      "not provided by hermes-hooks: register_tool",
      "not provided by hermes-hooks: platform_actions.send",
      'register_hook "post_tool_call": expected an event\'s name and a function',
      "not provided by hermes-hooks: settings",
    ]);
    assert.equal(
      (await host.ask(0)).error,
      "NotProvided: not provided by hermes-hooks: dispatch_tool",
    );
  }));

test(
  "in Python too, digits survive and what JSON cannot hold becomes a string",
  options,
  () =>
    withHost({
      "__init__.py": "import datetime\n" +
        "def odd(n, f, text):\n" +
        "    loop = []; loop.append(loop)\n" +
        "    return {'n': n + 1, 'f': f, 'nan': float('nan'), 'set': {1}, 'day': datetime.date(2026, 1, 2),\n" +
        "            (1, 2): 'key', None: 'none', 'bytes': b'ab', 'loop': loop, 'text': text}\n" +
        "def register(ctx): ctx.register_hook('pre_tool_call', odd)\n",
    }, async (host) => {
      await host.load();
      const fields = parseJson('{"n":12345678901234567890,"f":1.0,"text":"é😀\\ud800"}');
      const result = await host.call(0, "pre_tool_call", fields, 5_000);
      assert.ok(result.kind === "returned");
      assert.equal(
        writeJson(result.value),
        '{"n": 12345678901234567891, "f": 1.0, "nan": "NaN", "set": [1], "day": "2026-01-02", ' +
          '"(1, 2)": "key", "null": "none", "bytes": "ab", "loop": ["[circular]"], ' +
          '"text": "é😀\\ud800"}',
      );
    }),
);

test("in Python too, what is no text does not become one", options, () =>
  withHost({
    "__init__.py": "import datetime, pathlib\n" +
      "class Mine(str): pass\n" +
      "ODD = (b'x', (x for x in []), datetime.date(2026, 1, 2), pathlib.Path('/x'), float('nan'), object())\n" +
      "def register(ctx):\n" +
      "    for value in (*ODD, 'text', Mine('text')):\n" +
      "        ctx.register_hook('pre_llm_call', lambda value=value, **f: value)\n" +
      "    for name, most in (('a', '9'), ('b', True), ('c', float('inf')), ('d', [1])):\n" +
      "        ctx.register_system_prompt_section(name, b'x', max_chars=most)\n",
  }, async (host) => {
    const loaded = await host.load();
    assert.ok(loaded.ok);
    const kinds = [];
    for (let id = 0; id < 8; id++) {
      const { value } = await host.ask(id);
      kinds.push(Array.isArray(value) ? "list" : value);
    }
    assert.deepEqual(kinds, ["list", "list", "list", "list", "list", "list", "text", "text"]);
    const sections = loaded.sections.map(({ maxChars, content }) => [maxChars, content]);
    assert.deepEqual(sections, Array(4).fill([NaN, { text: ["x"] }]));
  }));

test("what Python prints and raises is told in lines", options, () =>
  withHost({
    "__init__.py": "import os, sys\nprint('while loading')\n" +
      "def speaks(**f):\n    print('one')\n    os.system('echo two')\n    sys.stderr.write('three')\n" +
      "    return 'x' * (10 * 1024 * 1024)\n" +
      "def raises(**f):\n    raise ValueError('no\\n good')\n" +
      "def register(ctx):\n" +
      "    ctx.log.warning('careful %s', 1)\n" +
      "    ctx.register_hook('pre_tool_call', speaks)\n" +
      "    ctx.register_hook('pre_tool_call', raises)\n",
  }, async (host) => {
    await host.load();
    assert.equal(String((await host.ask(0)).value).length, 10 * 1024 * 1024);
    assert.deepEqual(await host.ask(1), { kind: "threw", error: "ValueError: no good" });
    await host.close();
    for (const line of ["while loading", "careful 1", "one", "two", "three"]) {
      assert.ok(host.said().split("\n").includes(`plugin "guard": ${line}`), line);
    }
  }));

test(
  "a Python file that raises, does not parse or defines nothing is refused",
  options,
  async () => {
    for (
      const [text, error] of [
        ["raise RuntimeError('at the top')\n", /^RuntimeError: at the top$/],
        ["def register(ctx)\n", /^SyntaxError: .*__init__\.py, line 1/],
        ["x = 1\n", /^ImportError: it has no function "register"$/],
        ["import not_to_be_found\n", /^ModuleNotFoundError: No module named 'not_to_be_found'$/],
        ["import sys\nsys.exit(3)\n", /^exited with code 3$/],
      ] as const
    ) {
      await withHost({ "__init__.py": text }, async (host) => {
        const loaded = await host.load();
        assert.ok(!loaded.ok);
        assert.match(loaded.error, error);
      });
    }
  },
);

test("no module comes from the working folder, nor by a relative PYTHONPATH", options, async () => {
  const cwd = mkdtempSync(path.join(os.tmpdir(), "hermes-hooks-cwd-"));
  const asked = mkdtempSync(path.join(os.tmpdir(), "hermes-hooks-path-"));
  writeFileSync(path.join(asked, "theirs.py"), "WORD = 'fine'\n");
  const env = {
    PATH: process.env["PATH"] ?? "",
    HERMES_HOME: "/home/of/hermes",
    PYTHONPATH: `:${asked}:.`,
  };
  for (const name of ["asyncio", "json", "mine", "sitecustomize"]) {
    writeFileSync(path.join(cwd, `${name}.py`), "raise SystemExit(9)\n");
  }
  try {
    await withHost({
      "__init__.py": "import theirs\ntry:\n    import mine\nexcept ImportError:\n    pass\n" +
        "def register(ctx): ctx.register_hook('pre_tool_call', lambda **f: theirs.WORD)\n",
    }, async (host) => {
      assert.equal((await host.load()).ok, true);
      assert.equal((await host.ask(0)).value, "fine");
    }, { cwd, env });
  } finally {
    for (const folder of [cwd, asked]) rmSync(folder, { recursive: true });
  }
});

test("a Python gateway handler imports its neighbours, sync or async", options, async () => {
  for (const kind of ["async def", "def"]) {
    await withHost({
      "handler.py": `import near\n${kind} handle(event_type: str, context: dict):\n` +
        "    return [event_type, context['user_id'], near.X]\n",
      "near.py": "X = 5\n",
    }, async (host) => {
      assert.equal((await host.load()).ok, true);
      const fields = { event_type: "agent:end", context: { user_id: "u" } };
      assert.deepEqual((await host.ask(0, fields, 5_000)).value, ["agent:end", "u", 5]);
    }, { mode: "gateway", label: 'gateway hook "near"' });
  }
});

test("without python3 on PATH loading says so, in one line", async () => {
  for (const PATH of ["/var/empty", "", ".:bin"]) {
    await withHost({ "__init__.py": "" }, async (host) => {
      const error = "python3 not found on PATH: install Python 3, or take this one out";
      assert.deepEqual(await host.load(), { ok: false, error });
      assert.deepEqual(await host.ask(0), { kind: "gone", error });
    }, { env: { PATH } });
  }
});
