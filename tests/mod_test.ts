import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { ConfigError, createDispatcher } from "../lib/mod.ts";

const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };

async function inHomes(count: number, use: (homes: string[]) => Promise<void>): Promise<void> {
  const homes = Array.from(
    { length: count },
    () => mkdtempSync(path.join(os.tmpdir(), "mod-test-")),
  );
  try {
    await use(homes);
  } finally {
    for (const home of homes) rmSync(home, { recursive: true, force: true });
  }
}

/** A home whose one gate answers `answer`; approved unless told otherwise. */
function lay(home: string, answer: string, approved = true): string {
  const hook = path.join(home, "g.sh");
  writeFileSync(hook, `#!/bin/sh\ncat >/dev/null\nprintf '%s' '${answer}'\n`);
  chmodSync(hook, 0o755);
  writeFileSync(
    path.join(home, "config.yaml"),
    `hooks:\n  pre_tool_call:\n    - command: ${hook}\n`,
  );
  const approvals = approved ? [{ event: "pre_tool_call", command: hook }] : [];
  writeFileSync(path.join(home, "shell-hooks-allowlist.json"), JSON.stringify({ approvals }));
  return hook;
}

test("two homes in one process never see each other's hooks", async () => {
  await inHomes(2, async ([one, two]) => {
    lay(one!, '{"action":"block","message":"one"}');
    lay(two!, '{"action":"modify","args":{"a":1}}');
    const [first, second] = [
      await createDispatcher({ home: one, env }),
      await createDispatcher({ home: two, env }),
    ];
    const fields = { tool_name: "terminal", args: { b: 2n ** 70n } };
    const verdicts = await Promise.all([
      first.fire("pre_tool_call", fields),
      second.fire("pre_tool_call", fields),
    ]);
    assert.equal(verdicts[0]!.decision, "block");
    assert.equal(verdicts[0]!.message, "one");
    assert.equal(verdicts[1]!.decision, "allow");
    assert.deepEqual({ ...verdicts[1]!["args"] as object }, { b: 2n ** 70n, a: 1 });
  });
});

test("a hook not seen before is left out, asked about once, or accepted", async () => {
  await inHomes(1, async ([home]) => {
    const hook = lay(home!, '{"action":"block","message":"no"}', false);
    const left = await (await createDispatcher({ home, env })).fire("pre_tool_call", {});
    assert.equal(left.decision, "allow");
    assert.match(left.warnings.join("\n"), /not approved/);
    const asked: string[] = [];
    const asking = await createDispatcher({
      home,
      env,
      ask: (question) => (asked.push(question.command), Promise.resolve(true)),
    });
    assert.equal((await asking.fire("pre_tool_call", {})).decision, "block");
    assert.equal((await asking.fire("pre_tool_call", {})).decision, "block");
    assert.deepEqual(asked, [hook]);
    assert.equal(
      (await (await createDispatcher({ home, env })).fire("pre_tool_call", {})).decision,
      "block",
    );
  });
});

test("an unknown event, odd fields and a broken config are errors, not verdicts", async () => {
  await inHomes(1, async ([home]) => {
    const dispatcher = await createDispatcher({ home, env });
    await assert.rejects(dispatcher.fire("nope", {}), RangeError);
    await assert.rejects(dispatcher.fire("agent:end", {}), RangeError);
    await assert.rejects(dispatcher.fire("pre_tool_call", [1]), TypeError);
    writeFileSync(path.join(home!, "config.yaml"), "hooks: [\n");
    await assert.rejects(createDispatcher({ home, env }), ConfigError);
  });
});
