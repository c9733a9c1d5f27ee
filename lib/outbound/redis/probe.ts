/** Looks whether a Redis can be trusted with deliveries, for `doctor`. */
import { readRedisUrl, type RedisAddress } from "../../config/redis_url.ts";
import { redisFailure } from "./failure.ts";
import { RedisLink } from "./link.ts";

/** What was found; every line names the server, and none who we are to it. */
export interface RedisReport {
  readonly isReached: boolean;
  /** Such as `redis 7.0.15`; absent when it was not reached. */
  readonly server?: string;
  /** Deliveries can be lost, or none can be made. */
  readonly problems: readonly string[];
  /** What could not be looked at, or is worth knowing. */
  readonly notes: readonly string[];
}

/** What BullMQ asks for, of Redis; every Valkey is newer. */
const MINIMUM = [6, 2] as const;

/** Asks it; never throws, and takes about 5 s at most. */
export async function probeRedis(url: string): Promise<RedisReport> {
  const address = readRedisUrl(url);
  if (typeof address === "string") {
    return { isReached: false, problems: [`the URL ${address}`], notes: [] };
  }
  const link = new RedisLink(address, () => {});
  try {
    const client = await link.ready();
    const info = readInfo(await client.info("server", "memory", "persistence", "replication"));
    const settings = new Map<string, string>();
    let isAllowed = true;
    for (const name of ["maxmemory-policy", "appendonly", "appendfsync"]) {
      // Managed servers refuse this.
      const answer = await client.config("GET", name).catch(() => undefined) as
        | string[]
        | undefined;
      if (answer?.[1] === undefined) isAllowed = false;
      else settings.set(name, answer[1]);
    }
    return judged(address, info, settings, isAllowed);
  } catch (error) {
    const problem = error instanceof Error && error.name === "NotAccepted"
      ? error.message
      : redisFailure(address, error);
    return { isReached: false, problems: [problem], notes: [] };
  } finally {
    link.close();
  }
}

function judged(
  { shown }: RedisAddress,
  info: ReadonlyMap<string, string>,
  settings: ReadonlyMap<string, string>,
  isAllowed: boolean,
): RedisReport {
  const at = `redis at "${shown}"`;
  const problems: string[] = [], notes: string[] = [];
  const valkey = info.get("valkey_version");
  const version = info.get("redis_version") ?? "0";
  if (!valkey && isOlder(version)) {
    problems.push(`${at} is version ${version}, and ${MINIMUM.join(".")} or later is needed`);
  }
  if (info.get("role") === "slave") {
    problems.push(`${at} is a replica, which takes nothing; name the primary in the URL`);
  }
  const policy = settings.get("maxmemory-policy") ?? info.get("maxmemory_policy");
  if (policy !== undefined && policy !== "noeviction") {
    problems.push(
      `${at} throws deliveries away when its memory is full (maxmemory-policy "${policy}"); ` +
        'set it to "noeviction"',
    );
  }
  const aof = settings.get("appendonly") ??
    { "1": "yes", "0": "no" }[info.get("aof_enabled") ?? ""];
  if (aof === "no") {
    problems.push(
      `${at} forgets its last minutes when it stops (appendonly no); set "appendonly yes"`,
    );
  }
  const fsync = settings.get("appendfsync");
  if (aof === "yes" && fsync === "no") {
    problems.push(`${at} leaves it to the system when to write (appendfsync no); set "everysec"`);
  } else if (aof === "yes" && fsync === "everysec") {
    notes.push(
      `${at} writes to disk once a second: a power cut loses what it took in that second, unless ` +
        '"appendfsync always" is set',
    );
  }
  if (!isAllowed) {
    const unknown = ["maxmemory-policy", "appendonly", "appendfsync"]
      .filter((name) => !settings.has(name)).join(", ");
    notes.push(`${at} does not tell ${unknown}; see that it neither evicts nor forgets`);
  }
  return {
    isReached: true,
    server: valkey ? `valkey ${valkey}` : `redis ${version}`,
    problems,
    notes,
  };
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < MINIMUM[0] || (major === MINIMUM[0] && minor < MINIMUM[1]);
}

function readInfo(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(":");
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)] as const] : [];
    }),
  );
}
