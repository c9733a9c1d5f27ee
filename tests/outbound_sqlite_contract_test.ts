import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { SqliteEngine } from "../lib/outbound/sqlite/engine.ts";
import { testKeptQueue } from "./programs/kept_queue_contract.ts";

testKeptQueue({
  engine: "sqlite",
  store: () => {
    const home = mkdtempSync(path.join(os.tmpdir(), "hermes-sqlite-"));
    return Promise.resolve({
      open: (targets, options = {}) =>
        SqliteEngine.open({
          home,
          log: () => {},
          now: () => new Date(),
          retainMs: 3_600_000,
          target: (key) => targets.find((target) => target.key === key)?.options,
          ...options,
        }),
      remove: () => Promise.resolve(rmSync(home, { recursive: true, force: true })),
    });
  },
});
