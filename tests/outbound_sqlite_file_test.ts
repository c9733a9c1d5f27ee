import assert from "node:assert/strict";
import * as fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import { NotAccepted } from "../lib/outbound/engine.ts";
import { deliveriesTo, deliveryTo, targetAt } from "./programs/kept_queue_contract.ts";
import { SqliteHome, takeAll, withHome } from "./programs/sqlite_process.ts";

const target = targetAt("http://127.0.0.1:1/");
const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);
const asideIn = ({ folder }: SqliteHome) =>
  fs.readdirSync(folder).filter((name) => name.startsWith("outbound.db.broken-")).sort();

/** A home whose file holds `count` deliveries; `open` leaves the log beside it, as a crash does. */
async function filled(home: SqliteHome, count: number, open = false): Promise<void> {
  const { kept, close } = await home.beside([target]);
  await kept.accept(
    Array.from({ length: count }, () => deliveryTo(target, { wire: `{"x":"${"y".repeat(500)}"}` })),
  );
  if (!open) return await close();
  for (const end of ["", "-wal"]) fs.copyFileSync(home.file + end, `${home.file}${end}.copy`);
  await close();
  for (const end of ["", "-wal"]) fs.renameSync(`${home.file}${end}.copy`, home.file + end);
}

test("the file, its log and its index are for their owner alone", async () => {
  await withHome(async (home) => {
    const mask = process.umask(0);
    try {
      const engine = await home.engine([target]);
      await engine.kept.accept([deliveryTo(target)]);
      for (const name of fs.readdirSync(home.folder)) {
        const mode = fs.statSync(path.join(home.folder, name)).mode & 0o777;
        assert.equal(mode.toString(8), "600", name);
      }
      assert.ok(fs.existsSync(`${home.file}-wal`));
      assert.ok(fs.existsSync(`${home.file}-shm`));
    } finally {
      process.umask(mask);
    }
  });
});

const BROKEN: Readonly<Record<string, (file: string) => void>> = {
  "empty": (file) => fs.truncateSync(file, 0),
  "cut inside its header": (file) => fs.truncateSync(file, 50),
  "cut after its header": (file) => fs.truncateSync(file, 100),
  "cut in the middle of a page": (file) => fs.truncateSync(file, 10_000),
  "cut at a page's end": (file) => fs.truncateSync(file, 8_192),
  "cut by a page": (file) => fs.truncateSync(file, fs.statSync(file).size - 4_096),
  "garbage": (file) => fs.writeFileSync(file, "not a database ".repeat(1_000)),
  "zeros": (file) => fs.writeFileSync(file, new Uint8Array(50_000)),
  "somebody else's database": (file) => {
    fs.rmSync(file);
    const other = new DatabaseSync(file);
    other.exec("CREATE TABLE a (b); INSERT INTO a VALUES (1)");
    other.close();
  },
  "without its tables": (file) => {
    const database = new DatabaseSync(file);
    database.exec("DROP TABLE delivery");
    database.close();
  },
};

for (const [how, damage] of Object.entries(BROKEN)) {
  test(`a file that is ${how} is set aside whole, with an error, and a fresh one begun`, async () => {
    await withHome(async (home) => {
      await filled(home, 60);
      damage(home.file);
      const before = fs.readFileSync(home.file);
      const engine = await home.engine([target]);
      const one = deliveryTo(target);
      assert.deepEqual(await engine.kept.accept([one]), ["queued"]);
      assert.deepEqual(idsOf(await takeAll(engine, target)), [one.id]);
      const aside = asideIn(home);
      assert.match(aside[0] ?? "", /^outbound\.db\.broken-\d{8}T\d{6}Z$/);
      assert.deepEqual(fs.readFileSync(path.join(home.folder, aside[0]!)), before);
      assert.equal(home.lines.length, 1, home.lines.join("\n"));
      assert.match(
        home.lines[0]!,
        /^error: "[^"]*outbound\.db" .*set aside as "outbound\.db\.broken/,
      );
    });
  });
}

/** Overwrites pages from the third on, where rows and indexes are. */
function scribble(file: string): void {
  const fd = fs.openSync(file, "r+");
  const size = fs.fstatSync(fd).size;
  fs.writeSync(fd, new Uint8Array(size - 3 * 4096).fill(0xab), 0, size - 3 * 4096, 3 * 4096);
  fs.closeSync(fd);
}

for (
  const [how, use] of Object.entries({
    "taking": async (home: SqliteHome) => {
      const engine = await home.engine([target]);
      engine.take(target.key);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await engine.kept.accept([deliveryTo(target)]);
    },
    "accepting": async (home: SqliteHome) => {
      await (await home.beside([target])).kept.accept([deliveryTo(target)]);
    },
    "looking": async (home: SqliteHome) => {
      const { kept } = await home.beside([target]);
      await kept.find({});
      await kept.accept([deliveryTo(target)]);
    },
  })
) {
  test(`a file whose pages are spoiled is set aside when that shows while ${how}`, async () => {
    await withHome(async (home) => {
      await filled(home, 500);
      scribble(home.file);
      await use(home);
      assert.equal(asideIn(home).length, 1, home.lines.join("\n"));
      const { kept } = await home.beside([target]);
      assert.equal((await kept.find({})).length, 1);
      assert.equal(home.lines.filter((line) => line.includes("set aside")).length, 1);
    });
  });
}

test("a log that a crash left behind is taken up whole", async () => {
  await withHome(async (home) => {
    await filled(home, 60, true);
    assert.ok(fs.statSync(`${home.file}-wal`).size > 0);
    const { kept } = await home.beside([target]);
    assert.equal((await kept.find({})).length, 60);
    assert.deepEqual(asideIn(home), []);
  });
});

test("a log without its file is set aside, not mixed into the next file", async () => {
  await withHome(async (home) => {
    await filled(home, 60, true);
    const log = fs.readFileSync(`${home.file}-wal`);
    fs.rmSync(home.file);
    const { kept } = await home.beside([target]);
    assert.deepEqual(await kept.find({}), []);
    await kept.accept([deliveryTo(target)]);
    assert.equal((await kept.find({})).length, 1);
    const aside = asideIn(home);
    assert.match(aside[0] ?? "", /-wal$/);
    assert.deepEqual(fs.readFileSync(path.join(home.folder, aside[0]!)), log);
  });
});

test("a file of a later version is refused and left as it is", async () => {
  await withHome(async (home) => {
    await filled(home, 1);
    const database = new DatabaseSync(home.file);
    database.exec("PRAGMA user_version = 9");
    database.close();
    for (const open of [() => home.engine([target]), () => home.beside([target])]) {
      await assert.rejects(
        open(),
        (error) => error instanceof NotAccepted && /later version.*update/.test(error.message),
      );
    }
    assert.deepEqual(asideIn(home), []);
  });
});

test("many that find the file broken at once set one aside, and all of them go on with the same", async () => {
  await withHome(async (home) => {
    await filled(home, 5);
    fs.writeFileSync(home.file, "garbage");
    const all = await Promise.all(Array.from({ length: 6 }, () => home.beside([target])));
    await Promise.all(all.map(({ kept }) => kept.accept([deliveryTo(target)])));
    assert.equal((await all[0]!.kept.find({})).length, 6);
    assert.equal(asideIn(home).length, 1);
  });
});

test("many that make the file at once make one", async () => {
  await withHome(async (home) => {
    const all = await Promise.all(Array.from({ length: 6 }, () => home.beside([target])));
    await Promise.all(all.map(({ kept }) => kept.accept([deliveryTo(target)])));
    assert.equal((await all[0]!.kept.find({})).length, 6);
    assert.deepEqual(fs.readdirSync(home.folder).filter((name) => name.includes("new")), []);
  });
});

test("whoever has a file open that was moved away goes on with the one that is there now", async () => {
  await withHome(async (home) => {
    const engine = await home.engine([target]);
    await engine.kept.accept(deliveriesTo(target, 3));
    for (const end of ["", "-wal", "-shm"]) {
      fs.renameSync(home.file + end, `${home.folder}/moved.db${end}`);
    }
    const beside = await home.beside([target]);
    const [one, two] = deliveriesTo(target, 2);
    await beside.kept.accept([one!]);
    await engine.kept.accept([two!]);
    assert.deepEqual(idsOf(await beside.kept.find({})), [one!.id, two!.id]);
    await engine.close();
    // Closing the old one must not take the new one's log away.
    assert.deepEqual(idsOf(await beside.kept.find({})), [one!.id, two!.id]);
    await beside.close();
    const { kept } = await home.beside([target]);
    assert.deepEqual(idsOf(await kept.find({})), [one!.id, two!.id]);
    assert.ok(home.lines.some((line) => /moved|another file/.test(line)), home.lines.join("\n"));
  });
});

test("a home that cannot be written says so, and nothing is thought to be broken", async () => {
  await withHome(async (home) => {
    const lost = new SqliteHome(path.join(home.folder, "gone", "home"));
    await assert.rejects(
      lost.beside([target]),
      (error) => error instanceof NotAccepted && error.reason === "unavailable",
    );
    fs.mkdirSync(path.join(home.folder, "outbound.db"));
    await assert.rejects(home.beside([target]), { name: "NotAccepted", reason: "unavailable" });
  });
});

test("while another process holds the file for writing others wait, and the loop goes on", async () => {
  await withHome(async (home) => {
    const engine = await home.engine([target]);
    await engine.kept.accept(deliveriesTo(target, 1));
    const other = new DatabaseSync(home.file);
    other.exec("BEGIN IMMEDIATE");
    let lag = 0, last = performance.now();
    const watch = setInterval(() => {
      lag = Math.max(lag, performance.now() - last - 10);
      last = performance.now();
    }, 10);
    const accepted = engine.kept.accept(deliveriesTo(target, 1));
    const changed = engine.kept.setStatus(target.key, { disabled: { since: "x", reason: "y" } });
    await new Promise((resolve) => setTimeout(resolve, 600));
    other.exec("ROLLBACK");
    other.close();
    assert.deepEqual(await accepted, ["queued"]);
    await changed;
    clearInterval(watch);
    assert.ok(lag < 1_000, `the loop stood still for ${Math.round(lag)} ms`);
  });
});
