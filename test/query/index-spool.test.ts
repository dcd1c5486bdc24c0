/**
 * Lookups that go over to a table kept in the order of an index find what they find in records: in the same order, with
 * NULLs, bounds, descending columns and what the transaction has changed itself.
 */
import t from "tap";
import { IndexSpool } from "../../src/query/exec/index-spool.js";
import { SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { Random } from "./random-plans.js";
import { SIZES, Side } from "./segment-histories.js";

const ROWS = 300;
const OUTER = 100;

const INDEXES = [
  "(k, at)",
  "(k, at DESC)",
  "(k DESC, n NULLS FIRST, at)",
  "(at, k)",
  "(n)",
  "(f, k)",
  "(d NULLS FIRST, at DESC NULLS LAST)",
];

/** `$o` are the columns of the outer row, `e` the table that is looked up. */
const QUERIES = [
  "SELECT o.id, x.id, x.at FROM o, LATERAL (SELECT id, at FROM e WHERE e.k = o.k ORDER BY at LIMIT 2) x",
  "SELECT o.id, x.id FROM o LEFT JOIN LATERAL (SELECT id, at FROM e WHERE e.k = o.k ORDER BY at DESC LIMIT 3) x ON true",
  "SELECT o.id, x.id FROM o, LATERAL (SELECT id FROM e WHERE e.k = o.k AND e.at >= o.at ORDER BY at OFFSET 1 LIMIT 2) x",
  "SELECT o.id, (SELECT array_agg(e.id ORDER BY e.id) FROM e WHERE e.k = o.k AND e.at < o.at) FROM o",
  "SELECT o.id, (SELECT array_agg(e.t ORDER BY e.id) FROM e WHERE e.n = o.n AND e.k <> o.k) FROM o",
  "SELECT o.id, (SELECT max(at) FROM e WHERE e.k = o.k), (SELECT min(n) FROM e WHERE e.k = o.k) FROM o",
  "SELECT o.id, (SELECT string_agg(e.t, ',' ORDER BY e.id) FROM e WHERE e.f = o.f) FROM o",
  "SELECT o.id, (SELECT string_agg(e.t, ',' ORDER BY e.id) FROM e WHERE e.d = o.d AND e.at > o.at) FROM o",
  "SELECT o.id, (SELECT count(DISTINCT e.t) FROM e WHERE e.at > o.at AND e.at < o.at + interval '5 hours') FROM o",
  "SELECT o.id, EXISTS (SELECT 1 FROM e WHERE e.k = o.k AND e.n > o.n OFFSET 1) FROM o",
  `WITH RECURSIVE r AS (SELECT id, k, 1 AS depth FROM e WHERE id < 9
    UNION ALL SELECT e.id, e.k, r.depth + 1 FROM r JOIN e ON e.k = r.id WHERE r.depth < 4) SELECT * FROM r`,
  `WITH RECURSIVE r AS (SELECT id, k FROM e WHERE id < 30
    UNION SELECT e.id, e.k FROM r JOIN e ON e.k = r.id) SELECT * FROM r`,
];

/** Runs a statement that may not fail. */
async function change(side: Side, sql: string): Promise<void> {
  const answer = await side.run(0, sql);
  if (answer.startsWith("error")) throw new Error(`${answer}: ${sql}`);
  side.flush();
}

async function fill(side: Side, random: Random, ddl: readonly string[]): Promise<void> {
  for (const statement of ddl) await change(side, statement);
  const value = (make: () => string) => (random.below(9) === 0 ? "NULL" : make());
  const row = (id: number) => {
    const at = () => `timestamp '2024-01-01' + ${random.below(90)} * interval '1 hour'`;
    const values = [
      value(() => String(random.below(40) - 5)),
      value(at),
      value(() => String(random.below(60))),
      value(() => String(random.below(30) / 4)),
      value(() => `date '2024-01-01' + ${random.below(20)}`),
    ];
    return `(${id}, ${values.join()}, 't${random.below(50)}')`;
  };
  for (const [table, rows] of [
    ["e", ROWS],
    ["o", OUTER],
  ] as const) {
    // Few at a time: the engine has them at once.
    for (let id = 0; id < rows; id += 25) {
      const values = Array.from({ length: 25 }, (_, i) => row(id + i));
      await change(side, `INSERT INTO ${table} VALUES ${values.join()}`);
    }
  }
  // So that there are column segments of all columns.
  for (let i = 0; i < 4; i++)
    await side.run(0, "SELECT count(k), max(at), sum(n), sum(f), max(d), max(t), sum(id) FROM e");
}

t.test("the same rows in the same order as from records", async (t) => {
  await loadParser();
  let answered = 0;
  const { lookUp } = IndexSpool.prototype;
  t.teardown(() => {
    IndexSpool.prototype.lookUp = lookUp;
  });
  IndexSpool.prototype.lookUp = function () {
    const kept = lookUp.call(this);
    if (kept !== null) answered++;
    return kept;
  };
  for (let seed = 1; seed <= 2; seed++) {
    const columns = "id int PRIMARY KEY, k int, at timestamp, n bigint, f float8, d date, t text";
    const random = new Random(seed);
    const chosen = INDEXES.filter(() => random.below(3) > 0);
    const ddl = [`CREATE TABLE e (${columns})`, `CREATE TABLE o (${columns})`];
    const create = [...ddl, ...chosen.map((index) => `CREATE INDEX ON e ${index}`)];
    const on = await Side.open(t, new SegmentCache(1e9, SIZES));
    const off = await Side.open(t, new SegmentCache(0));
    for (const side of [on, off]) await fill(side, new Random(seed), create);
    const compare = async (label: string) => {
      for (const query of QUERIES) {
        for (const yields of [false, true]) {
          const [found, expected] = [await on.run(0, query, yields), await off.run(0, query)];
          t.notMatch(expected, /error/i);
          t.equal(found, expected, `seed ${seed}, ${label}: ${query}`);
        }
      }
    };
    const both = async (sql: string) => {
      for (const side of [on, off]) await change(side, sql);
    };
    await compare("as filled");
    await both("UPDATE e SET at = at + interval '2 hours', k = k + 1 WHERE id % 7 = 0");
    await both("DELETE FROM e WHERE id % 11 = 3");
    await compare("with changes");
    await both("BEGIN");
    await both("UPDATE e SET n = n + 1, k = k - 1 WHERE id % 5 = 0");
    await both("INSERT INTO e SELECT id + 1000, k, at, n, f, d, t FROM e WHERE id % 4 = 0");
    await compare("in a transaction");
    await both("UPDATE e SET n = (SELECT count(*) FROM e i WHERE i.k = e.k AND i.n IS NOT NULL)");
    await compare("after an update by lookups");
    await both("ROLLBACK");
    await compare("after it was taken back");
  }
  t.ok(answered > 1000, `${answered} lookups were answered by kept rows`);
});
