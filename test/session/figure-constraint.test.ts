/** EXCLUDE USING gist over boxes of all sizes against a model that compares each with each. */
import fc from "fast-check";
import t from "tap";
import { Session } from "../../src/session/session.js";
import { boxText } from "../../src/values/geometry.js";
import { boxesOverlap } from "../../src/values/geometry-relations.js";
import { open } from "../conformance/sql-adapter.js";
import { sized } from "../lengths.js";

const at = fc.tuple(fc.integer({ min: -50, max: 50 }), fc.constantFrom(-3, 0, 0, 0, 1, 3)).map(([x, e]) => x * 10 ** e);
const side = fc.oneof(fc.constantFrom(0, 1, 1e-7, 64, 1e12), fc.double({ min: 0, max: 30, noNaN: true }));
const box = fc
  .tuple(at, at, side, side)
  .map(([x, y, width, height]) => ({ low: { x, y }, high: { x: x + width, y: y + height } }));

t.test("a box is refused just when it overlaps another", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  let refused = 0;
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(box, { minLength: 15, maxLength: 30 }), async (boxes) => {
      await database.exec("drop table if exists b");
      await database.exec("create table b (id int primary key, b box, exclude using gist (b with &&))");
      const rows: typeof boxes = [];
      for (const [id, each] of boxes.entries()) {
        const outcome = await database.exec(`insert into b values (${id}, '${boxText(each)}')`).then(
          () => "done",
          (error: { code: string }) => error.code,
        );
        const expected = rows.some((other) => boxesOverlap(other, each)) ? "23P01" : "done";
        if (outcome !== expected) throw new Error(`${boxText(each)}: ${outcome} instead of ${expected}`);
        if (expected === "done") rows.push(each);
      }
      refused += boxes.length - rows.length;
      taken += rows.length;
    }),
    { numRuns: sized(25, 400) },
  );
  t.ok(refused > 5 && taken > 100, `both happen: ${refused} and ${taken} times`);
});

t.test("a search among very many figures at one place gives way", async (t) => {
  const COUNT = 500;
  const database = await open();
  t.teardown(() => database.close());
  const { tenant, shard } = database;
  const session = new Session(tenant, {
    ...{ isolation: "read committed", readOnly: false, user: "other", tenantName: "tester" },
    control: "statements",
  });
  let turns = 0;
  const request = {
    checkpoint: () => {},
    shouldYield: () => true,
    yieldTurn: () => {
      turns++;
      return Promise.resolve();
    },
  };
  /** Answers with what it ended in and how often it gave way. */
  const run = async (sql: string): Promise<readonly [string, number]> => {
    turns = 0;
    const collector = () => ({ append: () => 0 });
    const text = { sql, params: [], maxRows: 10, collector: collector as never, request };
    const ended = await Promise.resolve(session.execute(text, (tx) => tenant.commit(tx))).then(
      ({ rowsAffected }) => `${rowsAffected} rows`,
      (error: { details?: { sqlstate?: string } }) => error.details?.sqlstate ?? String(error),
    );
    shard.flush();
    return [ended, turns];
  };
  await database.exec("create table plain (id int primary key, b box)");
  await database.exec("create table b (id int primary key, b box, exclude using gist (b with ~=))");
  const boxes = `select i, box(point(0, 0), point(1 + i / 1e5, 1)) from generate_series(1, ${COUNT}) i`;
  await database.exec(`insert into plain ${boxes}`);
  await database.exec(`insert into b ${boxes}`);
  const least = COUNT / 100 + 5;
  const cases = [
    ["insert into b values (0, '(1,2),(0,0)')", "1 rows"],
    [`insert into b values (-1, box(point(0, 0), point(1 + ${COUNT} / 1e5, 1)))`, "23P01"],
    ["insert into b values (-1, '(1,3),(0,0)') on conflict do nothing", "1 rows"],
    ["insert into b values (-2, '(1,3),(0,0)') on conflict do nothing", "0 rows"],
    ["update b set b = '(1,4),(0,0)' where id = 0", "1 rows"],
  ] as const;
  for (const [sql, expected] of cases) {
    const [ended, gaveWay] = await run(sql);
    t.equal(ended, expected, sql);
    t.ok(gaveWay > least, `${sql}: ${gaveWay} times`);
  }
  t.equal((await run("alter table plain add exclude using gist (b with ~=)"))[0], "null rows");
  t.same(await run("insert into plain values (-1, '(1.5,1),(0,0)')").then(([ended]) => ended), "1 rows");
  t.equal((await run("insert into plain values (-2, '(1.5,1),(0,0)')"))[0], "23P01");
});
