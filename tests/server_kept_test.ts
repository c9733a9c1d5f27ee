/** Kept deliveries over HTTP: what `hermes-hooks deliveries` does, of a listener that sends. */
import assert from "node:assert/strict";
import test from "node:test";
import { ask, Home, startHere } from "./programs/server_home.ts";
import { receive } from "./programs/outbound_receiver.ts";

const config = (url: string, queue: string, more = "") =>
  `hooks:
  outbound:
    - {name: sink, url: "${url}", events: [on_session_end], secret: s, retry: {attempts: 1}${more}}
hermes_hooks: {outbound: {queue: ${queue}}}
`;
const post = (home: Home, url: string, body: unknown) =>
  ask(home.socket, url, { body: JSON.stringify(body) });
const fire = (home: Home, session: string) =>
  post(home, "/v1/events/on_session_end", { session_id: session });

async function until(check: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !await check(); tries++) {
    assert.ok(tries < 200);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("dead letters are listed, shown, sent again and removed", async () => {
  let status = 500;
  const sink = await receive(() => status);
  const home = new Home();
  home.write(config(sink.url, "sqlite"));
  const { server } = await startHere(home);
  const kept = async (query = "") =>
    (await ask(home.socket, `/v1/deliveries/kept${query}`)).json.deliveries;
  assert.equal((await fire(home, "s1")).status, 200);
  await until(async () => (await kept("?state=dead")).length === 1);
  const [dead] = await kept("?target=sink");
  assert.deepEqual([dead.event, dead.session, dead.attempts, dead.status], [
    "on_session_end",
    "s1",
    1,
    500,
  ]);
  const whole = await ask(home.socket, `/v1/deliveries/${dead.id}`);
  assert.equal(whole.json.wire.session_id, "s1");
  assert.equal((await ask(home.socket, `/v1/deliveries/${"0".repeat(32)}`)).status, 404);
  assert.equal((await ask(home.socket, "/v1/deliveries/kept?target=nobody")).status, 404);
  assert.equal((await ask(home.socket, "/v1/deliveries/kept?state=gone")).status, 400);
  assert.equal((await post(home, "/v1/deliveries/purge", {})).status, 400);
  status = 200;
  const again = await post(home, "/v1/deliveries/redeliver", { ids: [dead.id] });
  assert.deepEqual([again.status, again.json], [202, { count: 1 }]);
  await until(async () => (await kept()).length === 0);
  assert.equal(sink.posts.length, 2);
  assert.equal(sink.posts[1]!.headers.get("x-hermes-delivery"), dead.id);
  await server.stop();
  await sink.close();
  home.remove();
});

test("a target that answers 410 waits until it is enabled, and loses nothing", async () => {
  let status = 410;
  const sink = await receive(() => status);
  const home = new Home();
  home.write(config(sink.url, "sqlite"));
  const { server } = await startHere(home);
  const target = async () => (await ask(home.socket, "/v1/targets")).json.targets[0];
  await fire(home, "s1");
  await until(async () => (await target()).disabled !== undefined);
  await fire(home, "s2");
  assert.equal((await target()).waiting, 2);
  assert.equal(sink.posts.length, 1);
  status = 200;
  assert.equal((await post(home, "/v1/targets/enable", { target: "nobody" })).status, 404);
  assert.equal((await post(home, "/v1/targets/enable", { target: "sink" })).status, 200);
  await until(async () => (await target()).waiting + (await target()).in_flight === 0);
  assert.equal(sink.posts.length, 3);
  await server.stop();
  await sink.close();
  home.remove();
});

test("a full queue that refuses is 503, and nothing of the event is taken", async () => {
  const home = new Home();
  home.write(
    config("http://127.0.0.1:1/", "sqlite", ", max_queue: 1, when_full: refuse").replace(
      "retry: {attempts: 1}",
      "retry: {schedule: [1h]}",
    ),
  );
  const { server } = await startHere(home);
  assert.equal((await fire(home, "s1")).status, 200);
  const refused = await fire(home, "s2");
  assert.equal(refused.status, 503);
  assert.equal(refused.json.error.code, "not_accepted");
  assert.match(refused.json.error.message, /max_queue 1/);
  await server.stop();
  home.remove();
});

test("memory keeps nothing, and says so", async () => {
  const home = new Home();
  home.write(config("http://127.0.0.1:1/", "memory").replace(", retry: {attempts: 1}", ""));
  const { server } = await startHere(home);
  const kept = await ask(home.socket, "/v1/deliveries/kept");
  assert.deepEqual([kept.status, kept.json.error.code], [409, "not_kept"]);
  assert.equal((await ask(home.socket, "/v1/targets")).json.queue, "memory");
  await server.stop();
  home.remove();
});
