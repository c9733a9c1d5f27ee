/** Redis stops and starts again under load; two listeners share a queue and one is killed. */
import { type RedisServer, startRedis } from "../../tests/programs/redis_server.ts";
import { Home, sleep } from "./home.ts";
import { startReceiver, type Tally } from "./receiver.ts";

/** What came of it. */
export interface RedisProof extends Tally {
  /** Events that were refused while redis was away. */
  readonly refused: number;
}

/** Stops redis so many times under load; undefined where there is no redis. */
export async function proveRedis(times: number): Promise<RedisProof | undefined> {
  const redis = await startRedis({ options: ["--appendonly", "yes", "--appendfsync", "always"] });
  if (!redis) return undefined;
  const receiver = await startReceiver();
  const homes = [new Home(redis.url, receiver.port), new Home(redis.url, receiver.port)];
  try {
    const { accepted, refused } = await load(redis, homes, times);
    await homes[0]!.deliverAll(90_000);
    return { ...receiver.tally(accepted), refused };
  } finally {
    receiver.close();
    for (const home of homes) home.remove();
    await redis.close();
  }
}

async function load(redis: RedisServer, homes: readonly Home[], times: number) {
  const [kept, killed] = homes as [Home, Home];
  const accepted = new Set<string>();
  let stopped = false, made = 0, refused = 0;
  const client = async (home: Home) => {
    while (!stopped) {
      const session = `r${++made}`;
      if (await home.post(session)) accepted.add(session);
      else {
        refused++;
        await sleep(20);
      }
    }
  };
  const first = await kept.serve();
  let second = await killed.serve();
  const clients = homes.flatMap((home) => [client(home), client(home), client(home)]);
  for (let round = 0; round < times; round++) {
    await sleep(800);
    await redis.stop(round % 2 === 0 ? "SIGTERM" : "SIGKILL");
    await sleep(600);
    await redis.start();
    await sleep(800);
    second.kill("SIGKILL");
    await new Promise((resolve) => second.once("exit", resolve));
    second = await killed.serve();
  }
  stopped = true;
  await Promise.all(clients);
  for (const child of [first, second]) {
    child.kill("SIGTERM");
    await new Promise((resolve) => child.once("exit", resolve));
  }
  return { accepted, refused };
}
