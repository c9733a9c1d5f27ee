import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import path from "node:path";
import { inspect } from "node:util";
import test from "node:test";
import { readTargets, signingState } from "../lib/outbound/target.ts";
import { call, targetOf, targetsOf, texts } from "./programs/outbound_outbox.ts";

const URL_LINE = "url: https://hooks.example.com/x";

test("a target has the documented defaults, and its host for a name", () => {
  const target = targetOf(`- ${URL_LINE}\n  events: [on_session_end]`);
  const { name, timeout, concurrency, maxQueue, ratePerSecond, format, redact, network } =
    target.options;
  assert.equal(name, "hooks.example.com");
  assert.deepEqual({ timeout, concurrency, maxQueue, ratePerSecond, format, redact, network }, {
    timeout: 10,
    concurrency: 1,
    maxQueue: 256,
    ratePerSecond: undefined,
    format: "hermes",
    redact: false,
    network: { private: "allow" },
  });
  assert.equal(signingState(target), "UNSIGNED");
});

test("no outbound block, an empty one and null are no targets and no problems", () => {
  assert.deepEqual(readTargets(undefined, "config.yaml", {}), { targets: [], problems: [] });
  assert.deepEqual(targetsOf("").problems, []);
});

test("a bad entry is one located problem and takes no sibling down", () => {
  const { targets, problems } = targetsOf(`
- just text
- events: [on_session_end]
- url: ftp://files.example.com/x
  events: [on_session_end]
- url: "::nonsense"
  events: [on_session_end]
- ${URL_LINE}
- ${URL_LINE}
  events: on_session_end
- ${URL_LINE}
  events: []
- ${URL_LINE}
  events: [on_session_end]`);
  assert.equal(targets.length, 1);
  assert.equal(targets[0]?.options.path, "hooks.outbound[7]");
  assert.deepEqual(texts(problems), [
    "hooks.outbound[0] (config.yaml:4): is text, expected a mapping with url and events; skipped",
    "hooks.outbound[1] (config.yaml:5): has no url, expected an http or https URL; skipped",
    'hooks.outbound[2].url (config.yaml:6): scheme "ftp" is not supported, expected https or http; skipped',
    'hooks.outbound[3].url (config.yaml:8): is "::nonsense", expected an http or https URL; skipped',
    "hooks.outbound[4] (config.yaml:10): has no events, expected a list of events; skipped",
    'hooks.outbound[5].events (config.yaml:12): is "on_session_end", expected a list of events; skipped',
    "hooks.outbound[6].events (config.yaml:14): is an empty list, expected a list of events; skipped",
  ]);
});

test("unknown and gateway events are left out with a hint, and with none left the entry goes", () => {
  const { targets, problems } = targetsOf(`
- ${URL_LINE}
  events: [on_sesion_end, agent:end, subagent_stop, 3]
- ${URL_LINE}
  events: [agent:end]`);
  assert.deepEqual(targets.map((t) => t.options.events), [["subagent_stop"]]);
  const lines = texts(problems);
  assert.match(lines[0]!, /events\[0\].*"on_sesion_end".*did you mean "on_session_end"\?/);
  assert.match(lines[1]!, /events\[1\].*"agent:end".*HOOK\.yaml/);
  assert.match(lines[2]!, /events\[3\].*is 3/);
  assert.match(lines[4]!, /outbound\[1\]\.events .*skipped/);
});

test("numbers are clamped with a warning, and words that are none fall back", () => {
  const { targets: [target], problems } = targetsOf(`
- ${URL_LINE}
  events: [on_session_end]
  timeout: 100
  concurrency: 0
  max_queue: lots
  rate_limit_per_second: 0.01
  format: standrd
  redact: please
  network: {private: nope}
  tiemout: 3`);
  const { timeout, concurrency, maxQueue, ratePerSecond, format, redact, network } = target!
    .options;
  assert.deepEqual(
    [timeout, concurrency, maxQueue, ratePerSecond, format, redact, network.private],
    [60, 1, 256, 0.1, "hermes", true, "deny"],
  );
  assert.deepEqual(texts(problems).map((t) => t.replace(/^hooks.outbound\[0\]\./, "")), [
    'tiemout (config.yaml:13): unknown key "tiemout", ignored: did you mean "timeout"?',
    'network.private (config.yaml:12): is "nope", expected "allow" or "deny"; taken as "deny"',
    'format (config.yaml:10): is "standrd", expected "hermes" or "standard"; taken as "hermes"',
    "timeout (config.yaml:6): is 100, above 60; using 60",
    "concurrency (config.yaml:7): is 0, below 1; using 1",
    'max_queue (config.yaml:8): is "lots", expected deliveries from 1 to 1000000; using 256',
    "rate_limit_per_second (config.yaml:9): is 0.01, below 0.1; using 0.1",
    'redact (config.yaml:11): is "please", expected true or false; taken as true',
  ]);
});

test("plain http is warned about, but not to this machine", () => {
  const events = "events: [on_session_end]";
  const warned = (url: string) => texts(targetsOf(`- url: ${url}\n  ${events}`).problems);
  assert.match(warned("http://ci.example.com/")[0]!, /plain http to "ci\.example\.com"/);
  for (const url of ["http://localhost:1/", "http://127.0.0.9:1/", '"http://[::1]:1/"']) {
    assert.deepEqual(warned(url), []);
  }
});

test("a secret_env that is unset or empty disables the target with an error naming the variable", () => {
  const item = `- ${URL_LINE}\n  events: [on_session_end]\n  secret_env: HOOK_SECRET\n  secret: s`;
  const { targets: [target], problems } = targetsOf(item);
  assert.equal(signingState(target!), 'disabled: secret: "HOOK_SECRET" is not set');
  assert.equal(problems[0]?.severity, "error");
  assert.deepEqual(texts(problems), [
    'hooks.outbound[0].secret_env (config.yaml:5): "HOOK_SECRET" is not set; the target is disabled',
  ]);
  assert.deepEqual(target!.wants(call("on_session_end")), { matched: false });
  const empty = targetsOf(item, { HOOK_SECRET: "" });
  assert.equal(signingState(empty.targets[0]!), 'disabled: secret: "HOOK_SECRET" is empty');
  assert.equal(signingState(targetOf(item, { HOOK_SECRET: "x" })), "signed");
});

test("secret_env beats secret, and takes several names; one that is unset is one too many", () => {
  const item = (names: string) =>
    `- ${URL_LINE}\n  events: [on_session_end]\n  secret_env: ${names}\n  secret: plain`;
  const env = { NEW: "n", OLD: "o" };
  assert.deepEqual(targetOf(item("NEW OLD"), env).secrets().secrets, ["n", "o"]);
  assert.deepEqual(targetOf(item("[OLD, NEW]"), env).secrets().secrets, ["o", "n"]);
  assert.match(signingState(targetOf(item("NEW GONE"), env)), /disabled: secret: "GONE"/);
  assert.match(signingState(targetOf(item("'sk live!'"), env)), /disabled: .*names no variable/);
});

test("a secret that is there but unusable disables the target instead of sending unsigned", () => {
  const state = (line: string) =>
    signingState(targetOf(`- ${URL_LINE}\n  events: [on_session_end]\n  ${line}`));
  assert.match(state("secret: 12345"), /^disabled: secret: is a number/);
  assert.match(state('secret: ""'), /^disabled: /);
  assert.match(state('secret: "${NOT_SET}"'), /^disabled: secret: "NOT_SET" is not set/);
  assert.match(state('secret: "whsec_${NOT_SET}"'), /^disabled: secret: "NOT_SET" is not set/);
  assert.match(state("secrets: []"), /^disabled: /);
  assert.match(state("secrets: [a, 1]"), /^disabled: /);
  assert.match(state("secret: whsec_!!!\n  format: standard"), /^disabled: .*base64/);
  assert.equal(state("secret:"), "UNSIGNED");
  assert.equal(state("secrets: [new, old]"), "signed");
});

test("no secret, header, password or token of a URL is in a target's JSON or in a problem", () => {
  const { targets, problems } = targetsOf(`
- url: https://user:hunter2@hooks.example.com/x?token=hunter3&a=1
  events: [nope, on_session_end]
  secrets: [hunter4, hunter5]
  headers: {Authorization: Bearer hunter6, X-Hermes-Event: hunter7}
- url: "https://user:hunter8@[nonsense/"
  events: [on_session_end]
- url: foo://user:hunter9@host/
  events: [on_session_end]
- "https://user:hunter10@host/"`);
  const shown = JSON.stringify([targets, problems, targets.map(signingState)]) + texts(problems);
  assert.doesNotMatch(shown, /hunter/);
  assert.doesNotMatch(inspect(targets, { depth: 9, showHidden: true }), /hunter/);
  assert.doesNotMatch(Object.values(targets[0]!).map(String).join(), /hunter/);
  assert.equal(
    targets[0]!.options.shownUrl,
    "https://hooks.example.com/x?token=[redacted]&a=1",
  );
  assert.equal(problems.length, 5);
});

test("two entries with the same URL both count, each under a key of its own that stays", () => {
  const item = `- ${URL_LINE}\n  events: [on_session_end]\n`;
  const first = targetsOf(item + item).targets.map((t) => t.key);
  assert.equal(new Set(first).size, 2);
  const again = targetsOf(item + item.replace("\n", "\n  timeout: 3\n")).targets.map((t) => t.key);
  assert.deepEqual(again, first);
});

test("a matcher narrows the two tool events only, and is warned about where it narrows nothing", async () => {
  const target = targetOf(`
- ${URL_LINE}
  events: [post_tool_call, on_session_end]
  matcher: "terminal|write_.*"`);
  const wants = async (event: string, tool?: string) =>
    (await target.wants(call(event, {}, tool))).matched;
  assert.equal(await wants("post_tool_call", "terminal"), true);
  assert.equal(await wants("post_tool_call", "write_file"), true);
  assert.equal(await wants("post_tool_call", "terminals"), false);
  assert.equal(await wants("post_tool_call"), false);
  assert.equal(await wants("pre_tool_call", "terminal"), false);
  assert.equal(await wants("on_session_end"), true);
  const { problems } = targetsOf(`- ${URL_LINE}\n  events: [on_session_end]\n  matcher: x`);
  assert.match(texts(problems)[0]!, /matcher .*narrows pre_tool_call and post_tool_call only/);
});

test("headers of ours and ones that would break the request are refused, others are kept", () => {
  const { targets: [target], problems } = targetsOf(`
- ${URL_LINE}
  events: [on_session_end]
  headers:
    X-Team: ops
    X-Number: 7
    content-type: text/plain
    X-Hermes-Signature-256: forged
    Webhook-Id: forged
    Transfer-Encoding: chunked
    "bad name": x
    X-Break: "a\\r\\nX-Evil: 1"`);
  assert.deepEqual(target!.secrets().headers, [["X-Team", "ops"], ["X-Number", "7"]]);
  assert.equal(problems.length, 6);
});

test("an address that is always refused disables the target, and a private one only under deny", () => {
  const state = (url: string, more = "") =>
    signingState(targetOf(`- url: "${url}"\n  events: [on_session_end]\n${more}`));
  assert.match(state("https://169.254.169.254/latest"), /^disabled: .*metadata/);
  assert.match(state("http://0x7f.1/", "  network: {private: deny}"), /^disabled: .*loopback/);
  assert.equal(state("https://10.0.0.1/"), "UNSIGNED");
});

test("a ca_file is read from beside the config, and one that cannot be used disables the target", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "outbound-"));
  try {
    fs.writeFileSync(path.join(folder, "empty.pem"), "nothing");
    const state = (file: string) =>
      signingState(targetOf(`- ${URL_LINE}\n  events: [on_session_end]\n  ca_file: ${file}`));
    assert.match(state(path.join(folder, "gone.pem")), /^disabled: ca_file: .*ENOENT/);
    assert.match(state(path.join(folder, "empty.pem")), /^disabled: ca_file: .*no certificate/);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

const item = (more: string) => `- ${URL_LINE}\n  events: [on_session_end]\n${more}`;
const HOUR = 3_600_000;

test("where deliveries are kept a target has room for 100,000, and ten attempts over three days", () => {
  for (const queue of ["sqlite", "redis://127.0.0.1/"]) {
    const { targets: [target], problems } = targetsOf(item(""), {}, queue);
    const { maxQueue, whenFull, ordering, retry } = target!.options;
    assert.deepEqual({ maxQueue, whenFull, ordering, retry }, {
      maxQueue: 100_000,
      whenFull: "drop_new",
      ordering: "none",
      retry: {
        attempts: 10,
        maxAgeMs: 72 * HOUR,
        scheduleMs: [5, 300, 1_800, 7_200, 18_000, 36_000].map((seconds) => seconds * 1000),
      },
    });
    assert.deepEqual(problems, []);
  }
});

test("what is said of retries, a full queue and order is taken where deliveries are kept", () => {
  const said = `  max_queue: 10000000
  when_full: refuse
  ordering: session
  retry: {attempts: 3, max_age: 1:30:00, schedule: [1, 90s, 1:30, 2d]}`;
  const { targets: [target], problems } = targetsOf(item(said), {}, "sqlite");
  const { maxQueue, whenFull, ordering, retry } = target!.options;
  assert.deepEqual({ maxQueue, whenFull, ordering, retry }, {
    maxQueue: 10_000_000,
    whenFull: "refuse",
    ordering: "session",
    retry: { attempts: 3, maxAgeMs: 1.5 * HOUR, scheduleMs: [1_000, 90_000, 90_000, 48 * HOUR] },
  });
  assert.deepEqual(problems, []);
});

test("with memory they count for nothing, each with a warning, and max_queue is bounded lower", () => {
  const said = `  retry: {attempts: 3}
  when_full: refuse
  ordering: session
  max_queue: 10000000`;
  const { targets: [target], problems } = targetsOf(item(said));
  const { maxQueue, whenFull, ordering, disabled } = target!.options;
  assert.deepEqual([maxQueue, whenFull, ordering, disabled], [
    1_000_000,
    "drop_new",
    "none",
    undefined,
  ]);
  const counts = "counts only with hermes_hooks.outbound.queue sqlite or redis; ignored";
  assert.deepEqual(texts(problems).map((t) => t.replace(/^hooks.outbound\[0\]\./, "")).sort(), [
    "max_queue (config.yaml:8): is 10000000, above 1000000; using 1000000",
    `ordering (config.yaml:7): ${counts}`,
    `retry (config.yaml:5): ${counts}`,
    `when_full (config.yaml:6): ${counts}`,
  ]);
});

test("an order that redis cannot keep disables the target rather than being given up", () => {
  const { targets: [target], problems } = targetsOf(
    item("  ordering: session"),
    {},
    "redis://127.0.0.1/",
  );
  assert.match(signingState(target!), /^disabled: ordering: "session" cannot be had/);
  assert.equal(problems[0]?.severity, "error");
});

test("a retry that cannot be read falls back part by part; spans are clamped with a warning", () => {
  const lines = (retry: string) => {
    const { targets: [target], problems } = targetsOf(item(`  retry: ${retry}`), {}, "sqlite");
    const said = texts(problems).map((t) => t.replace(/^hooks.outbound\[0\]\.|\(.*?\): /g, ""));
    return { ...target!.options.retry, said };
  };
  const span = "expected a span such as 90s, 5m or 72h from";
  const clamped = lines("{attempts: 1000, max_age: 1y, schedule: [0, 8d]}");
  assert.deepEqual(clamped, {
    attempts: 100,
    maxAgeMs: 72 * HOUR,
    scheduleMs: [1_000, 7 * 24 * HOUR],
    said: [
      "retry.attempts is 1000, above 100; using 100",
      `retry.max_age is "1y", ${span} 1m to 30d; using 3d`,
      "retry.schedule[0] is 0, below 1s; using 1s",
      'retry.schedule[1] is "8d", above 7d; using 7d',
    ],
  });
  const partly = lines("{attempts: 2, schedule: [5s, soon], max_age: 5s, atempts: 1}");
  assert.deepEqual([partly.attempts, partly.maxAgeMs, partly.scheduleMs.length], [2, 60_000, 6]);
  assert.deepEqual(partly.said, [
    'retry.atempts unknown key "atempts", ignored: did you mean "attempts"?',
    'retry.max_age is "5s", below 1m; using 1m',
    `retry.schedule[1] is "soon", ${span} 1s to 7d; using the default schedule`,
  ]);
  assert.match(lines("{schedule: []}").said[0]!, /is a list of 0, expected a list of 1 to 100/);
  assert.match(lines("{schedule: 5s}").said[0]!, /is "5s", expected a list of 1 to 100/);
  assert.match(lines("3").said[0]!, /^retry is 3, expected a mapping; using the defaults/);
});
