/**
 * The texts of views are those that PostgreSQL prints (test/golden/view-texts.txt was recorded from it), and
 * a view that is made of such a text has the same text and the same rows.
 */
import { readFileSync } from "node:fs";
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

const golden = readFileSync(new URL("../../../test/golden/view-texts.txt", import.meta.url), "utf8");
const [head, ...cases] = golden.split(/^> /m);
const setup = /^setup: (.*)$/m.exec(head!)![1]!;

t.test("the texts of views", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec(setup);
  for (const [i, each] of cases.entries()) {
    const [, sql, plain, pretty] = /^(.*?)\n(.*)\n--\n(.*)\n$/s.exec(`${each.trimEnd()}\n`)!;
    const text = async (view: string, isPretty: boolean) =>
      (await database.exec(`select pg_get_viewdef('${view}'::regclass, ${isPretty})`)).rows[0]![0];
    await database.exec(`create view v${i} as ${sql}`);
    t.equal(await text(`v${i}`, false), plain, sql);
    t.equal(await text(`v${i}`, true), pretty, `${sql} (pretty)`);
    const rows = await database.exec(`table v${i}`);
    for (const isPretty of [false, true]) {
      const [again, third] = [`a${i}_${isPretty}`, `b${i}_${isPretty}`];
      await database.exec(`create view ${again} as ${await text(`v${i}`, isPretty)}`);
      t.same(await database.exec(`table ${again}`), rows, `${sql}: rows`);
      // Casts of arrays move into their elements when they are read again, as in PostgreSQL.
      await database.exec(`create view ${third} as ${await text(again, isPretty)}`);
      t.equal(await text(third, isPretty), await text(again, isPretty), `${sql} again`);
    }
  }
});
