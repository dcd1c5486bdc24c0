/** CALL { … } IN TRANSACTIONS: what is committed when a part fails, what the clauses around it see. */
import t from "tap";
import { DbError } from "../../src/protocol/errors.js";
import { Session } from "../../src/session/session.js";
import { plainRows } from "../../src/session/sql-result.js";
import { open } from "../conformance/sql-adapter.js";

const db = await open();
t.teardown(() => db.close());
let parts = 0;
/** What happens elsewhere before the next part that writes is committed. */
let meanwhile = (): void => undefined;
const request = {
  checkpoint: () => undefined,
  shouldYield: () => false,
  yieldTurn: () => Promise.resolve(),
  commitPart: (tx: Parameters<typeof db.tenant.commit>[0]) => {
    if (tx.dirty) {
      parts++;
      meanwhile();
    }
    db.tenant.commit(tx);
  },
};
const newSession = () =>
  new Session(db.tenant, {
    isolation: "serializable",
    readOnly: false,
    user: "tester",
    tenantName: "tester",
    control: "statements",
  });
const session = newSession();

const run = async (sql: string, params: Record<string, unknown> = {}) => {
  const statement = { sql, language: "cypher", params, maxRows: 1000, collector: plainRows, request } as const;
  const outcome = await session.execute(statement, (tx) => db.tenant.commit(tx));
  return {
    rows: (outcome.rows as unknown as { plain: unknown[][] }).plain.map((row) => row.join("|")),
    stats: outcome.stats,
  };
};

async function failure(sql: string): Promise<string> {
  try {
    await run(sql);
  } catch (error) {
    if (error instanceof DbError) return error.message;
    throw error;
  }
  throw new Error(`did not fail: ${sql}`);
}

t.test("rows are committed so many at a time", async (t) => {
  // The first statement makes the graph.
  await run("RETURN 1");
  parts = 0;
  const { rows, stats } = await run(
    "UNWIND range(1, 10) AS x CALL (x) { CREATE (n:A {x: x}) RETURN n } IN TRANSACTIONS OF 4 ROWS RETURN x, n.x ORDER BY x DESC LIMIT 2",
  );
  t.same(rows, ["10|10", "9|9"]);
  t.equal(parts, 3);
  t.equal(stats?.nodes_created, 10);
  t.same((await run("MATCH (n:A) RETURN count(n)")).rows, ["10"]);
});

t.test("a query without RETURN, alone, and with a parameter for the number", async (t) => {
  parts = 0;
  t.same((await run("MATCH (n:A) CALL (n) { SET n.y = n.x * 2 } IN TRANSACTIONS OF $rows ROWS", { rows: 5 })).rows, []);
  t.equal(parts, 2);
  t.same((await run("MATCH (n:A) RETURN sum(n.y)")).rows, ["110"]);
  t.same((await run("CALL { CREATE (:Alone) } IN TRANSACTIONS")).rows, []);
  t.same((await run("MATCH (n:Alone) RETURN count(n)")).rows, ["1"]);
  await run("MATCH (n:A) WHERE n.x > 8 CALL { WITH n DETACH DELETE n } IN 3 CONCURRENT TRANSACTIONS OF 1 ROW");
  t.same((await run("MATCH (n:A) RETURN count(n)")).rows, ["8"]);
});

t.test("nodes are as they are when their turn comes, values of all kinds stay what they are", async (t) => {
  await run("CREATE (a:N {name: 'a', v: 0})-[:R {w: 1}]->(:N {name: 'b', v: 0})");
  const { rows } = await run(
    `MATCH (a:N {name: 'a'})-[r:R]->(b) UNWIND [1, 2, 3] AS x WITH a, b, r, x, date('2020-01-0' + x) AS d, 1.0 AS f
     CALL (a, x) { SET a.v = a.v + x } IN TRANSACTIONS OF 1 ROW
     RETURN a.v, b.name, r.w, toString(d), f IS :: FLOAT, x ORDER BY x`,
  );
  t.same(rows, ["6|b|1|2020-01-01|true|1", "6|b|1|2020-01-02|true|2", "6|b|1|2020-01-03|true|3"]);
});

t.test("a part that fails", async (t) => {
  const failing =
    "UNWIND [2, 1, 0, 4] AS x CALL (x) { CREATE (n:F {v: 4 / x}) RETURN n.v AS v } IN TRANSACTIONS OF 1 ROW";
  t.match(await failure(`${failing} RETURN v`), /division by zero/);
  t.same((await run("MATCH (n:F) RETURN collect(n.v)")).rows, ["2,4"], "those before it stay");
  await run("MATCH (n:F) DELETE n");
  const status = "RETURN x, v, s.started, s.committed, s.errorMessage IS NULL ORDER BY x";
  t.same((await run(`${failing} ON ERROR CONTINUE REPORT STATUS AS s ${status}`)).rows, [
    "0||true|false|false",
    "1|4|true|true|true",
    "2|2|true|true|true",
    "4|1|true|true|true",
  ]);
  t.same((await run(`${failing} ON ERROR BREAK REPORT STATUS AS s ${status}`)).rows, [
    "0||true|false|false",
    "1|4|true|true|true",
    "2|2|true|true|true",
    "4||false|false|true",
  ]);
});

t.test("queries that run for all rows at once do what they do row by row", async (t) => {
  const rows = "UNWIND [[1, 'a'], [2, 'b'], [1, 'c'], [3, 'a']] AS row";
  const queries = [
    "CREATE (n:S {id: row[0]})-[:R {w: row[1]}]->(:S {id: -row[0]}) SET n.name = row[1], n:$(row[1])",
    "MERGE (n:S {id: row[0]}) ON CREATE SET n.first = row[1] ON MATCH SET n.again = row[1] SET n.name = row[1]",
    // Not at once: a row finds what one before it set or made, or reads it.
    "MERGE (n:S {name: row[1]}) SET n.name = 'a'",
    "MERGE (n:S {id: row[0]}) SET n.count = coalesce(n.count, 0) + 1",
    "CREATE (n:S {id: row[0], before: COUNT { MATCH (s:S) RETURN s }})",
    "MERGE (n:S {id: row[0]}) CREATE (:S {id: row[0] + 1})",
  ];
  for (const query of queries) {
    const after: string[][] = [];
    for (const ofRows of [10, 1]) {
      await run("MATCH (n:S) DETACH DELETE n");
      const { stats } = await run(`${rows} CALL (row) { ${query} } IN TRANSACTIONS OF ${ofRows} ROWS`);
      const found = await run(
        "MATCH (n:S) OPTIONAL MATCH (n)-[r:R]->(m) RETURN apoc.convert.toJson([k IN apoc.coll.sort(keys(n)) | [k, n[k]]]) AS n, labels(n), r.w, m.id ORDER BY n",
      );
      after.push([...found.rows, JSON.stringify(stats)]);
    }
    t.strictSame(after[0], after[1], query);
    t.ok(after[0]!.length > 2);
  }
});

t.test("a part that lost against another transaction runs again with ON ERROR RETRY", async (t) => {
  await run("CREATE (:Counted {v: 0})");
  const adding = { sql: "MATCH (n:Counted) SET n.v = n.v + 10", language: "cypher", collector: plainRows } as const;
  const rival = newSession();
  /** A statement that loses runs four times before anybody hears of it. */
  const rivals = (times: number): void => {
    meanwhile = () => {
      if (times-- <= 0) return;
      const done = rival.execute({ ...adding, params: {}, maxRows: 1, request }, (tx) => db.tenant.commit(tx));
      if (done instanceof Promise) t.fail("the rival had to wait");
    };
  };
  const counting = "FOR x IN [1] CALL (x) { MATCH (n:Counted) SET n.v = n.v + x } IN TRANSACTIONS OF 1 ROW";
  rivals(4);
  t.match(await failure(counting), /conflict|serialize|concurrent/);
  rivals(6);
  await run(`${counting} ON ERROR RETRY FOR 20 SECONDS`);
  t.same((await run("MATCH (n:Counted) RETURN n.v")).rows, ["101"]);
  rivals(6);
  const told = "REPORT STATUS AS s RETURN s.committed";
  t.same((await run(`${counting} ON ERROR RETRY FOR $n SECONDS THEN CONTINUE ${told}`, { n: 20 })).rows, ["true"]);
  t.same((await run("MATCH (n:Counted) RETURN n.v, round(coth(1), 3)")).rows, ["162|1.313"]);
  t.match(
    await failure(`${counting} ON ERROR RETRY FOR 0 SECONDS`),
    /RETRY FOR … SECONDS needs a whole number above 0/,
  );
});

t.test("where it cannot stand", async (t) => {
  const call = "CALL { CREATE (:Never) } IN TRANSACTIONS";
  session.begin({});
  t.match(await failure(call), /cannot run inside a transaction/);
  session.rollback();
  t.match(await failure(`CREATE (:Never) WITH 1 AS x ${call}`), /after a clause that writes/);
  t.match(await failure(`CALL { ${call} }`), /inside a subquery/);
  t.match(await failure(`${call} UNION ${call}`), /UNION/);
  t.match(await failure(`${call} OF 0 ROWS`), /above 0/);
  t.match(await failure(`UNWIND [1] AS x ${call} OF x ROWS`), /not defined/);
  t.match(await failure(`${call} REPORT STATUS AS s`), /ON ERROR/);
  t.same((await run("MATCH (n:Never) RETURN count(n)")).rows, ["0"]);
});
