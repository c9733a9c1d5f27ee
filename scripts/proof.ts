/**
 * Proves that what was accepted arrives, by breaking things under load; `scripts/proof` calls it.
 * One summary a proof; exit 1 when anything accepted was lost. Loopback only.
 */
import process from "node:process";

const proofs: Readonly<Record<string, (words: readonly string[]) => Promise<boolean>>> = {
  kill: async ([times = "200"]) => {
    const { proveKill } = await import("./proofs/kill.ts");
    const tally = await proveKill(Number(times));
    console.log(
      `kill: killed ${times} times; ${tally.accepted} accepted, ${tally.lost.length} lost, ` +
        `${tally.duplicates} duplicates`,
    );
    return tally.lost.length === 0;
  },
  disk: async () => {
    const { proveDisk } = await import("./proofs/disk.ts");
    const proof = await proveDisk();
    if (!proof) {
      console.log("disk: not run: no tmpfs can be mounted here");
      return true;
    }
    const { accepted, lost, refused, said, faults } = proof;
    console.log(
      `disk: ${accepted} accepted, ${refused} refused, ${lost.length} lost; said: ${said}`,
    );
    for (const fault of faults) console.log(`disk: FAULT ${fault}`);
    return lost.length === 0 && faults.length === 0;
  },
  redis: async ([times = "4"]) => {
    const { proveRedis } = await import("./proofs/redis.ts");
    const proof = await proveRedis(Number(times));
    if (!proof) {
      console.log("redis: not run: there is no redis-server here (scripts/redis installs it)");
      return true;
    }
    const { accepted, lost, duplicates, refused } = proof;
    console.log(
      `redis: stopped ${times} times, a listener killed ${times} times; ${accepted} accepted, ` +
        `${lost.length} lost, ${duplicates} duplicates, ${refused} refused`,
    );
    return lost.length === 0;
  },
  broken: async () => {
    const { proveBroken } = await import("./proofs/broken.ts");
    const found = await proveBroken();
    for (const { how, faults } of found) {
      console.log(`broken: ${how}: ${faults.length === 0 ? "set aside, went on" : "FAULT"}`);
      for (const fault of faults) console.log(`broken: FAULT ${fault}`);
    }
    return found.every(({ faults }) => faults.length === 0);
  },
};

const [name, ...words] = process.argv.slice(2);
const wanted = name === undefined ? Object.keys(proofs) : [name];
let ok = true;
for (const each of wanted) {
  const proof = Object.hasOwn(proofs, each) ? proofs[each]! : undefined;
  if (!proof) {
    console.error(`proof: no "${each}"; there are ${Object.keys(proofs).join(", ")}`);
    process.exit(64);
  }
  ok = await proof(words) && ok;
}
process.exit(ok ? 0 : 1);
