/** The first look at pg_proc in a process, which reads the tables of PostgreSQL's catalog: others get their turns. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

t.test("the first look at pg_proc gives way, and two at once see the same", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  let rounds = 0;
  let isOver = false;
  const round = (): void => {
    rounds++;
    if (!isOver) setImmediate(round);
  };
  setImmediate(round);
  const first = database.exec("select count(*) from pg_proc");
  // Inside an expression nothing can be waited for.
  const inside = await database.exec(
    "select x, (select count(*) from pg_proc where oid > x) from generate_series(1, 1) x",
  );
  const { rows } = await first;
  isOver = true;
  t.ok(Number(rows[0]![0]) > 2000, `${rows[0]![0]} functions`);
  t.equal(rows[0]![0], inside.rows[0]![1]);
  t.ok(rounds > 10, `${rounds} rounds`);
  const again = await database.exec("select count(*), count(distinct oid) from pg_proc");
  t.same(again.rows, [[rows[0]![0], rows[0]![0]]]);
});
