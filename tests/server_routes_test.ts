import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { reloadListener } from "../lib/server/client.ts";
import { fileDigest } from "../lib/server/digest.ts";
import { ROUTES } from "../lib/server/routes.ts";
import { ask, Home, hooksConfig, startHere } from "./programs/server_home.ts";

const ACCEPT = { consent: { accept: "--accept-hooks" } } as const;
const TERMINAL = JSON.stringify({ tool_name: "terminal", args: { command: "ls" } });

test("an event is answered with the verdict that fire prints, 200 also for a block", async () => {
  const home = new Home();
  const gate = home.script(
    "gate.sh",
    `cat >"$HERMES_HOME/seen"; printf '{"decision":"block","reason":"no"}'`,
  );
  home.write(hooksConfig([gate]));
  const { server } = await startHere(home, ACCEPT);
  const body = `{"tool_name":"terminal","args":{"id":12345678901234567890,"2":1.0,"1":"é"}}`;
  const answer = await ask(home.socket, "/v1/events/pre_tool_call", { body });
  assert.equal(answer.status, 200);
  assert.equal(answer.json.decision, "block");
  assert.equal(answer.json.message, "no");
  assert.equal(answer.json.hooks[0].name, gate);
  // Digits and key order reach the hook as they were sent.
  const seen = fs.readFileSync(path.join(home.folder, "seen"), "utf8");
  assert.match(seen, /"tool_input": \{"id": 12345678901234567890, "2": 1\.0, "1": "é"\}/);
  await server.stop();
  home.remove();
});

test("answers are JSON that no browser guesses about or shares with other pages", async () => {
  const home = new Home();
  const { server } = await startHere(home);
  for (const url of ["/healthz", "/v1/hooks", "/nowhere", "/v1/events/nope"]) {
    const { headers } = await ask(home.socket, url);
    assert.equal(headers["content-type"], "application/json", url);
    assert.equal(headers["x-content-type-options"], "nosniff", url);
    assert.equal(headers["access-control-allow-origin"], undefined, url);
  }
  await server.stop();
  home.remove();
});

test("the wire form is taken, and another event in it than in the path is refused", async () => {
  const home = new Home();
  const { server } = await startHere(home);
  const body = JSON.stringify({ hook_event_name: "pre_tool_call", tool_name: "x", tool_input: {} });
  assert.equal((await ask(home.socket, "/v1/events/pre_tool_call", { body })).status, 200);
  const other = await ask(home.socket, "/v1/events/post_tool_call", { body });
  assert.equal(other.status, 400);
  assert.match(other.json.error.message, /the payload is a "pre_tool_call" event/);
  assert.equal((await ask(home.socket, "/v1/events/pre_tool_call", { body: "" })).status, 200);
  await server.stop();
  home.remove();
});

test("what is no JSON object is a clear 400", async () => {
  const home = new Home();
  const { server } = await startHere(home);
  for (const body of ["{", "[1]", "null", '"text"']) {
    const answer = await ask(home.socket, "/v1/events/pre_tool_call", { body });
    assert.equal(answer.status, 400, body);
    assert.equal(answer.json.error.code, "bad_request");
    assert.match(answer.json.error.message, /JSON/);
  }
  await server.stop();
  home.remove();
});

test("an unknown event is 404 with a hint, and so is the row of all commands", async () => {
  const home = new Home();
  const { server } = await startHere(home);
  const near = await ask(home.socket, "/v1/events/pre_tool_cal", { body: "{}" });
  assert.equal(near.status, 404);
  assert.equal(near.json.error.hint, 'did you mean "pre_tool_call"?');
  const foreign = await ask(home.socket, "/v1/events/PreToolUse", { body: "{}" });
  assert.match(foreign.json.error.hint, /pre_tool_call/);
  const any = await ask(home.socket, "/v1/events/command:<name>", { body: "{}" });
  assert.equal(any.status, 404);
  await server.stop();
  home.remove();
});

test("a wrong method is 405 with the right one, a wrong path 404", async () => {
  const home = new Home();
  const { server } = await startHere(home);
  const wrong = await ask(home.socket, "/v1/events/pre_tool_call");
  assert.equal(wrong.status, 405);
  assert.equal(wrong.headers.allow, "POST");
  assert.equal((await ask(home.socket, "/v1/events/")).status, 404);
  assert.equal((await ask(home.socket, "/v1/nothing")).status, 404);
  await server.stop();
  home.remove();
});

test("a page in a browser and a rebound name are refused over the socket too", async () => {
  const home = new Home();
  const { server } = await startHere(home);
  const page = { headers: { origin: "http://localhost" } };
  assert.equal((await ask(home.socket, "/healthz", page)).status, 403);
  const rebound = { headers: { host: "evil.example" } };
  assert.equal((await ask(home.socket, "/nowhere", rebound)).status, 403);
  await server.stop();
  home.remove();
});

test("over TCP the token made at the first start is asked for, and kept 0600", async () => {
  const home = new Home();
  const listen = { host: "127.0.0.1", port: 0 };
  const { server, log } = await startHere(home, { listen });
  const port = server.tcp!.port;
  const file = path.join(home.folder, "run", "token");
  const token = fs.readFileSync(file, "utf8").trim();
  assert.equal((fs.statSync(file).mode & 0o777).toString(8), "600");
  assert.equal((await ask(port, "/healthz")).status, 200);
  assert.equal((await ask(port, "/readyz")).status, 200);
  assert.equal((await ask(port, "/v1/hooks")).status, 401);
  const headers = { authorization: `Bearer ${token}` };
  assert.equal((await ask(port, "/v1/hooks", { headers })).status, 200);
  const handOver = await ask(port, "/v1/outbound", { headers, body: "{}" });
  assert.equal(handOver.status, 403);
  assert.ok(!log.join().includes(token), "the token is in the log");
  await server.stop();
  const again = await startHere(home, { listen });
  assert.equal((await ask(again.server.tcp!.port, "/v1/hooks", { headers })).status, 200);
  await again.server.stop();
  home.remove();
});

test("a token variable is taken, and one that is unset opens nothing", async () => {
  const home = new Home(
    "hermes_hooks:\n  serve:\n    listen: 127.0.0.1:0\n    token_env: HOOKS_TOKEN\n",
  );
  await assert.rejects(startHere(home), /"HOOKS_TOKEN", which is unset or empty/);
  assert.equal(fs.existsSync(home.socket), false);
  const token = "from-the-environment";
  const { server } = await startHere(home, { env: { HOOKS_TOKEN: token } });
  const headers = { authorization: `Bearer ${token}` };
  assert.equal((await ask(server.tcp!.port, "/v1/hooks", { headers })).status, 200);
  assert.equal(fs.existsSync(path.join(home.folder, "run", "token")), false);
  await server.stop();
  home.remove();
});

test("a token file that others may read is refused", async () => {
  const home = new Home();
  fs.mkdirSync(path.join(home.folder, "run"), { mode: 0o700 });
  const file = path.join(home.folder, "run", "token");
  fs.writeFileSync(file, "a-token-everybody-knows\n");
  fs.chmodSync(file, 0o644);
  await assert.rejects(
    startHere(home, { listen: { host: "127.0.0.1", port: 0 } }),
    /not ours alone/,
  );
  home.remove();
});

test("listening beyond this machine is warned about loudly", async () => {
  const home = new Home();
  const { server, log } = await startHere(home, { listen: { host: "0.0.0.0", port: 0 } });
  assert.match(log.join("\n"), /LISTENING BEYOND THIS MACHINE on 0\.0\.0\.0/);
  await server.stop();
  home.remove();
});

test("a body over 16 MiB is 413, said or only sent", async () => {
  const home = new Home();
  const { server } = await startHere(home);
  const body = "x".repeat(16 * 1024 * 1024 + 1);
  assert.equal((await ask(home.socket, "/v1/events/pre_tool_call", { body })).status, 413);
  const headers = { "transfer-encoding": "chunked" };
  const chunked = await ask(home.socket, "/v1/events/pre_tool_call", { body, headers });
  assert.equal(chunked.status, 413);
  assert.equal(chunked.json.error.code, "payload_too_large");
  await server.stop();
  home.remove();
});

test("a body that does not come is 408 after serve.body_timeout", async () => {
  const home = new Home("hermes_hooks:\n  serve:\n    body_timeout: 0.2\n");
  const { server } = await startHere(home);
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = net.connect(home.socket);
    socket.on("error", reject);
    socket.on("data", (bytes) => {
      resolve(String(bytes));
      socket.destroy();
    });
    socket.write(
      'POST /v1/events/pre_tool_call HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{"a"',
    );
  });
  assert.match(answer, /^HTTP\/1\.1 408 /);
  await server.stop();
  home.remove();
});

test("more than serve.max_inflight events at a time are 429, and room comes back", async () => {
  const home = new Home();
  const slow = home.script(
    "slow.sh",
    "cat >/dev/null; touch started; while [ ! -e go ]; do sleep 0.05; done",
  );
  home.write(hooksConfig([slow], "    max_inflight: 1\n"));
  const { server } = await startHere(home, ACCEPT);
  const first = ask(home.socket, "/v1/events/pre_tool_call", { body: TERMINAL });
  while (!fs.existsSync(path.join(home.folder, "started"))) {
    await new Promise((next) => setTimeout(next, 20));
  }
  const second = await ask(home.socket, "/v1/events/pre_tool_call", { body: TERMINAL });
  assert.equal(second.status, 429);
  assert.equal(second.json.error.code, "too_many_requests");
  assert.equal((await ask(home.socket, "/healthz")).status, 200);
  fs.writeFileSync(path.join(home.folder, "go"), "");
  assert.equal((await first).status, 200);
  assert.equal(
    (await ask(home.socket, "/v1/events/pre_tool_call", { body: TERMINAL })).status,
    200,
  );
  await server.stop();
  home.remove();
});

test("readiness tells the digests of the bytes in force", async () => {
  const home = new Home();
  const gate = home.script("gate.sh", "printf '{}'");
  home.write(hooksConfig([gate]));
  // Accepting writes the allowlist, so it is another file after the start.
  const { server } = await startHere(home, ACCEPT);
  const { json } = await ask(home.socket, "/readyz");
  assert.equal(json.status, "ready");
  assert.equal(json.pid, process.pid);
  assert.equal(json.config_sha256, fileDigest(home.config));
  const allowlist = path.join(home.folder, "shell-hooks-allowlist.json");
  assert.equal(json.allowlist_sha256, fileDigest(allowlist));
  assert.match(json.allowlist_sha256, /^[0-9a-f]{64}$/);
  await server.stop();
  home.remove();
});

test("unapproved hooks are left out with the usual warnings, and nobody is asked per request", async () => {
  const home = new Home();
  const gate = home.script("gate.sh", "printf '{}'");
  home.write(hooksConfig([gate]));
  let asked = 0;
  const consent = {
    ask: () => {
      asked++;
      return Promise.resolve(false);
    },
  };
  const { server, log } = await startHere(home, { consent });
  for (let i = 0; i < 3; i++) {
    const { json } = await ask(home.socket, "/v1/events/pre_tool_call", { body: TERMINAL });
    assert.deepEqual(json.hooks, []);
    assert.match(json.warnings.join(), /is not approved and did not run/);
  }
  await ask(home.socket, "/v1/reload", { method: "POST" });
  assert.equal(asked, 1);
  assert.match(log.join("\n"), /is not approved and did not run/);
  await server.stop();
  home.remove();
});

test("reload takes a changed config at once, and a broken one changes nothing", async () => {
  const home = new Home();
  const [one, two] = ["one", "two"].map((name) => home.script(`${name}.sh`, "printf '{}'"));
  home.approve(one!, two!);
  home.write(hooksConfig([one!]));
  const { server } = await startHere(home);
  const names = async () => {
    const { json } = await ask(home.socket, "/v1/events/pre_tool_call", { body: TERMINAL });
    return json.hooks.map((hook: { name: string }) => hook.name);
  };
  home.write(hooksConfig([one!, two!]));
  assert.deepEqual(await names(), [one]);
  const reloaded = await ask(home.socket, "/v1/reload", { method: "POST" });
  assert.equal(reloaded.status, 200);
  assert.equal(reloaded.json.config_sha256, fileDigest(home.config));
  assert.deepEqual(await names(), [one, two]);
  const { json: before } = await ask(home.socket, "/readyz");
  home.write("hooks: [\n");
  const broken = await ask(home.socket, "/v1/reload", { method: "POST" });
  assert.equal(broken.status, 422);
  assert.match(broken.json.error.message, /^config\.yaml:\d+:\d+: /);
  assert.deepEqual(await names(), [one, two]);
  assert.deepEqual((await ask(home.socket, "/readyz")).json, before);
  await server.stop();
  home.remove();
});

test("a revoked hook is left out from the reload on, whatever approves the others", async () => {
  const home = new Home();
  const gate = home.script("gate.sh", "printf '{}'");
  const later = home.script("later.sh", "printf '{}'");
  home.write(hooksConfig([gate]));
  const { server } = await startHere(home, ACCEPT);
  const fire = () => ask(home.socket, "/v1/events/pre_tool_call", { body: TERMINAL });
  assert.equal((await fire()).json.hooks.length, 1);
  home.approve();
  home.write(hooksConfig([gate, later]));
  await ask(home.socket, "/v1/reload", { method: "POST" });
  const { json } = await fire();
  assert.deepEqual(json.hooks.map((hook: { name: string }) => hook.name), [later]);
  assert.match(json.warnings.join(), /gate\.sh" is not approved/);
  await server.stop();
  home.remove();
});

test("safe mode runs nothing, sends nothing, and every verdict says so", async () => {
  const home = new Home();
  const gate = home.script("gate.sh", "printf '{}'");
  home.write(hooksConfig([gate]));
  home.approve(gate);
  const { server, log } = await startHere(home, { env: { HERMES_SAFE_MODE: "1" } });
  const { json } = await ask(home.socket, "/v1/events/pre_tool_call", { body: TERMINAL });
  assert.deepEqual(json.hooks, []);
  assert.match(json.warnings.join(), /safe mode: 1 hooks not run/);
  assert.match(log.join("\n"), /safe mode/);
  await server.stop();
  home.remove();
});

test("an event goes out to its targets, can be seen, and sent once more", async () => {
  const home = new Home();
  const got: { id: string; event: string }[] = [];
  const sink = http.createServer((request, response) => {
    const { "x-hermes-delivery": id, "x-hermes-event": event } = request.headers;
    got.push({ id: String(id), event: String(event) });
    request.resume().on("end", () => response.end());
  });
  await new Promise<void>((resolve) => sink.listen(0, "127.0.0.1", resolve));
  const { port } = sink.address() as net.AddressInfo;
  home.write(
    `hooks:\n  outbound:\n    - url: http://127.0.0.1:${port}/in\n      events: [on_session_end]\n`,
  );
  const { server } = await startHere(home);
  await ask(home.socket, "/v1/events/on_session_end", { body: '{"session_id":"s"}' });
  const wire = { hook_event_name: "on_session_end", session_id: "t" };
  const body = JSON.stringify({
    event: "on_session_end",
    wire,
    occurred_at: "2026-01-01T00:00:00Z",
  });
  const handed = await ask(home.socket, "/v1/outbound?flush=5", { body });
  assert.equal(handed.status, 202);
  assert.deepEqual(handed.json.settled, {
    delivered: 1,
    failed: 0,
    dropped: 0,
    pending: 0,
    unknown: 0,
  });
  const [id] = handed.json.ids;
  assert.equal(got.length, 2);
  // Meant for targets that are not all ours, nothing of it is taken.
  const others = JSON.stringify({ event: "on_session_end", wire, targets: ["a", "b"] });
  const refused = await ask(home.socket, "/v1/outbound?flush=5", { body: others });
  assert.deepEqual([refused.status, refused.json.error.code, got.length], [
    409,
    "other_targets",
    2,
  ]);
  assert.deepEqual(got[1], { id, event: "on_session_end" });
  const seen = await ask(home.socket, "/v1/deliveries");
  assert.equal(seen.json.deliveries[0].id, id);
  assert.equal(seen.json.deliveries[0].status, 200);
  const again = await ask(home.socket, `/v1/deliveries/${id}/redeliver`, { method: "POST" });
  assert.equal(again.status, 202);
  const none = await ask(home.socket, `/v1/deliveries/${"0".repeat(32)}/redeliver`, {
    method: "POST",
  });
  assert.equal(none.status, 404);
  await server.stop();
  assert.equal(got.length, 3);
  assert.equal(got[2]!.id, id);
  sink.close();
  sink.closeAllConnections?.();
  home.remove();
});

test("a hand-over that is not of the right shape is a clear 400", async () => {
  const home = new Home();
  const { server } = await startHere(home);
  const say = async (body: string, query = "") => {
    const { status, json } = await ask(home.socket, `/v1/outbound${query}`, { body });
    return `${status} ${json.error.message}`;
  };
  assert.match(await say("{"), /^400 not JSON/);
  assert.match(await say('{"event":"on_session_end","wire":3}'), /^400 "wire": expected an object/);
  assert.match(await say('{"wire":{}}'), /^400 "event": expected a string/);
  assert.match(await say('{"event":"nope","wire":{}}'), /^404 unknown event "nope"/);
  const wrong = '{"event":"on_session_end","wire":{},"occurred_at":"yesterday"}';
  assert.match(await say(wrong), /^400 "occurred_at": expected a time/);
  assert.match(await say("{}", "?flush=long"), /^400 "flush": expected a number/);
  await server.stop();
  home.remove();
});

test("metrics count events by decision and time their hooks", async () => {
  const home = new Home();
  const gate = home.script("gate.sh", "exit 2");
  home.write(hooksConfig([gate]));
  const { server } = await startHere(home, ACCEPT);
  await ask(home.socket, "/v1/events/pre_tool_call", { body: TERMINAL });
  await ask(home.socket, "/v1/events/pre_tool_call", { body: "{" });
  const { text, headers } = await ask(home.socket, "/metrics");
  assert.match(String(headers["content-type"]), /^text\/plain; version=0\.0\.4/);
  assert.match(text, /^hermes_hooks_events_total\{event="pre_tool_call",decision="block"\} 1$/m);
  assert.match(text, /^hermes_hooks_events_refused_total\{status="400"\} 1$/m);
  assert.match(
    text,
    /^hermes_hooks_hook_duration_seconds_count\{event="pre_tool_call",outcome="directive"\} 1$/m,
  );
  assert.match(text, /^hermes_hooks_events_inflight 0$/m);
  await server.stop();
  home.remove();
});

test("metrics tell the queues of this moment, added up where targets share a name", async () => {
  const home = new Home();
  const sink = http.createServer(() => {});
  await new Promise<void>((resolve) => sink.listen(0, "127.0.0.1", resolve));
  const { port } = sink.address() as net.AddressInfo;
  const one = `    - {url: "http://127.0.0.1:${port}/", events: [on_session_end], name: t}\n`;
  home.write(`hooks:\n  outbound:\n${one}${one}`);
  const { server } = await startHere(home);
  const body = JSON.stringify({ event: "on_session_end", wire: {} });
  for (let i = 0; i < 3; i++) await ask(home.socket, "/v1/outbound", { body });
  const scrapes = await Promise.all([1, 2].map(() => ask(home.socket, "/metrics")));
  for (const { text } of scrapes) {
    assert.match(text, /^hermes_hooks_queue_depth\{target="t"\} 6$/m);
    assert.match(text, /^hermes_hooks_deliveries_total\{target="t",result="dropped"\} 0$/m);
  }
  sink.closeAllConnections();
  sink.close();
  await server.stop();
  home.remove();
});

test("one line an event is logged, and nothing of its payload", async () => {
  const home = new Home();
  const { server, log } = await startHere(home);
  const body = '{"tool_name":"terminal","args":{"command":"hunter2"}}';
  const { headers } = await ask(home.socket, "/v1/events/pre_tool_call", { body });
  await server.stop();
  const lines = () => log.filter((line) => line.includes('"message":"event"'));
  while (lines().length === 0) await new Promise((next) => setTimeout(next, 10));
  const line = JSON.parse(lines()[0]!);
  assert.equal(line.event, "pre_tool_call");
  assert.equal(line.decision, "allow");
  assert.equal(line.hooks, 0);
  assert.equal(line.id, headers["x-request-id"]);
  assert.ok(line.ms >= 0);
  assert.ok(!log.join().includes("hunter2"));
  home.remove();
});

test("the OpenAPI document has every route with its parameters and refusals", async () => {
  const home = new Home();
  const { server } = await startHere(home);
  const { json } = await ask(home.socket, "/openapi.json");
  assert.equal(json.openapi, "3.1.0");
  for (const { path, method } of Object.values(ROUTES)) {
    assert.ok(json.paths[path][method.toLowerCase()], `${method} ${path}`);
  }
  const fire = json.paths["/v1/events/{event}"].post;
  assert.deepEqual(Object.keys(fire.responses), [
    "200",
    "400",
    "401",
    "403",
    "404",
    "408",
    "413",
    "429",
    "503",
  ]);
  assert.deepEqual(fire.parameters[0].name, "event");
  const handOver = json.paths["/v1/outbound"].post.requestBody.content["application/json"].schema;
  assert.deepEqual(handOver.required, ["event", "wire"]);
  assert.equal(handOver.properties.wire.type, "object");
  assert.deepEqual(json.paths["/healthz"].get.security, []);
  await server.stop();
  home.remove();
});

test("a listener can be told to read again, and says when it stays as it is", async () => {
  const home = new Home();
  assert.deepEqual(await reloadListener(home.socket), { kind: "none" });
  const { server } = await startHere(home);
  assert.deepEqual(await reloadListener(home.socket), { kind: "reloaded" });
  home.write("hooks: [\n");
  const refused = await reloadListener(home.socket);
  assert.equal(refused.kind, "refused");
  assert.match("reason" in refused ? refused.reason : "", /^config\.yaml:/);
  await server.stop();
  home.remove();
});
