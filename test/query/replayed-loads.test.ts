/**
 * After a crash right after a load, columns of its rows are made from the log, although nothing else tells of it.
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { Ending } from "../../src/query/exec/segments/stored/ending.js";
import type { Shard } from "../../src/storage/shard.js";
import { CHANGES, Loaded, range, SUMS, sums } from "./loaded-side.js";

/** What the engine has of a load when the server is killed; none of it has a note but the log. */
const KILLED: Record<string, (shard: Shard) => void> = {
  "nothing of": () => undefined,
  "a part of": (shard) => shard.applySome(),
};

t.test("a load that the engine did not have before a crash is known from the log", async (t) => {
  for (const [had, applySome] of Object.entries(KILLED)) {
    for (const isChanged of [false, true]) {
      const loaded = await Loaded.open(t);
      // Earlier rows of the same turn.
      await loaded.side.run(0, "INSERT INTO g VALUES (-2, 1, NULL)");
      await loaded.insert(1, 3000);
      loaded.side.flush();
      if (isChanged) for (const [sql] of CHANGES) await loaded.side.run(0, sql);
      loaded.side.flush();
      while (!loaded.shard.canApplySome) await new Promise(setImmediate);
      applySome(loaded.shard);
      const then = loaded.crashed();
      t.notOk(existsSync(join(then.path, "columns", `7-${loaded.storageId}`, "manifest")));
      await loaded.apply();
      await loaded.close();
      const gate = new Ending();
      then.onBuild = () => gate.given;
      await then.open();
      await then.side.run(1, "SELECT 1 FROM g LIMIT 1");
      const begun = then.read;
      const rows = isChanged ? 2994 : 3001;
      t.equal(await then.side.run(1, "SELECT count(*) FROM g"), `[${rows}]`, `it had ${had} the load`);
      if (!isChanged) t.ok(then.read - begun <= 3, `by the load's number, ${then.read - begun} were read`);
      gate.give();
      while (then.held().length > 0) await then.built();
      t.same(then.sources, ["load"]);
      const changed = [
        [25, 1],
        [4000, 1],
        [-3, 1],
      ] as const;
      const all = isChanged
        ? [...range(-2, -2), ...range(1, 6), ...range(7, 7, 5), ...range(8, 19), ...range(30, 3000), ...changed]
        : [...range(-2, -2), ...range(1, 3000)];
      const numbers = SUMS.replace(/, count.c.*c\)/, "");
      t.equal(await then.side.run(1, numbers), sums(all).replace(/,\d+,"text.*"/, ""), "with columns");
      t.equal(then.table!.rows, 3000);
      await then.close();
      await then.open();
      t.equal(await then.side.run(1, "SELECT count(*) FROM g"), `[${rows}]`, "after another start");
      await then.close();
    }
  }
});

t.test("loads of the log that are among other rows make no segments of their own", async (t) => {
  const loaded = await Loaded.open(t);
  const insert = (from: number, to: number, where: string) =>
    loaded.side.run(0, `INSERT INTO g SELECT i, 1, 'text ' || i FROM generate_series(${from}, ${to}) i WHERE ${where}`);
  await loaded.side.run(0, "INSERT INTO g VALUES (22500, 1, NULL)");
  for (const [from, to, where] of [
    [1, 9000, "i NOT BETWEEN 4001 AND 6000"],
    [4001, 6000, "true"],
    [20_000, 23_000, "i <> 22500"],
  ] as const) {
    await insert(from, to, where);
    await loaded.apply();
  }
  const then = loaded.crashed();
  await loaded.close();
  // As after a power cut: the engine had not written any of it.
  for (const folder of ["rocksdb", "columns"]) rmSync(join(then.path, folder), { recursive: true });
  await then.open();
  const answer = JSON.stringify([12_001, (9000 * 9001) / 2 + 3001 * 21_500]);
  t.equal(await then.side.run(1, "SELECT count(*), sum(a) FROM g"), answer);
  while (then.held().length > 0) await then.built();
  t.same(then.sources, ["load"], "of the first one");
  t.equal(then.table!.rows, 7000);
  t.equal(await then.side.run(1, "SELECT count(*), sum(a) FROM g"), answer, "with columns");
  await then.close();
});
