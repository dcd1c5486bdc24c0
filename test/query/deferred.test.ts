/**
 * Functions whose values have to be waited for, wherever a statement may call them: how often they are computed, in
 * which batches, in which rows, and where they cannot be called. `later(text)` gives its text in capitals,
 * `next(text)`, which is volatile, a number behind it, `refuse(text)` an error.
 */
import t, { type Test } from "tap";
import { DbError } from "../../src/protocol/errors.js";
import { deferredFn } from "../../src/query/expr/functions/define.js";
import { registerFunction } from "../../src/query/expr/functions/registry.js";
import { Session } from "../../src/session/session.js";
import { jsonRows } from "../../src/session/sql-result.js";
import { INT4, TEXT, type Value } from "../../src/values/values.js";
import { open } from "../conformance/sql-adapter.js";

/** The texts of each batch, by function. */
const batches: Record<string, string[][]> = {};
let numbers = 0;

function computed(name: string, value: (text: string) => Value, rowsMax?: number) {
  return async ([texts]: readonly (readonly Value[])[], count: number): Promise<Value[]> => {
    if (count > (rowsMax ?? 64) || texts!.length !== count) throw new Error("a batch of another size");
    batches[name] = [...(batches[name] ?? []), texts as string[]];
    await new Promise((resolve) => setImmediate(resolve));
    return (texts as string[]).map(value);
  };
}

const stable = { volatility: "stable" } as const;
registerFunction(
  deferredFn(
    "later",
    [TEXT],
    TEXT,
    computed("later", (text) => text.toUpperCase()),
    stable,
  ),
);
registerFunction(
  deferredFn(
    "next",
    [TEXT],
    TEXT,
    computed("next", (text) => `${text}${++numbers}`, 3),
    { rowsMax: 3 },
  ),
);
registerFunction(
  deferredFn(
    "refuse",
    [TEXT],
    INT4,
    async () => {
      throw new DbError("overloaded", "too much");
    },
    stable,
  ),
);
registerFunction(deferredFn("never", [TEXT], TEXT, () => new Promise(() => undefined), stable));

registerFunction(
  deferredFn("inner", [TEXT], TEXT, async ([texts], count, context) => {
    const answers: string[] = [];
    for (let i = 0; i < count; i++) {
      const failed = (error: DbError) => `${error.details?.sqlstate} ${error.message}`;
      const done = context.run(texts![i] as string, [], 10);
      answers.push(await done.then(({ rows, count: n }) => `${n}: ${rows.join(" ")}`, failed));
    }
    return answers;
  }),
);

const db = await open();
t.teardown(() => db.close());

const exec = (sql: string, params: readonly unknown[] = []) => db.exec(sql, params);

/** The rows as one text, and how many texts each batch had. */
async function run(sql: string, params: readonly unknown[] = []) {
  for (const name of Object.keys(batches)) delete batches[name];
  numbers = 0;
  const { rows } = await exec(sql, params);
  const sizes = (name: string) => (batches[name] ?? []).map((texts) => texts.length).join(" ");
  return { rows: rows.map((row) => row.join("|")).join(" "), later: sizes("later"), next: sizes("next") };
}

await exec("CREATE TABLE w (id int PRIMARY KEY, t text, n int)");
await exec("INSERT INTO w VALUES (1, 'a', 10), (2, 'b', 20), (3, NULL, 30), (4, 'a', 40), (5, 'c', 50)");
await exec("CREATE TABLE many AS SELECT g AS id, 't' || g AS t FROM generate_series(1, 300) g");

/** A statement, its rows, and the sizes of the batches in which later() was computed. */
const cases: readonly (readonly [string, string, string, string])[] = [
  ["the select list", "SELECT later(t), id FROM w ORDER BY id", "A|1 B|2 |3 A|4 C|5", "3"],
  ["in an expression", "SELECT later(t) || '!' || later(t) FROM w WHERE id = 1", "A!A", "1"],
  ["in another call of it", "SELECT later(later(t) || 'x') FROM w WHERE id < 3 ORDER BY id", "AX BX", "2 2"],
  ["WHERE", "SELECT id FROM w WHERE later(t) = 'A' ORDER BY id", "1 4", "3"],
  ["WHERE behind cheaper conditions", "SELECT id FROM w WHERE later(t) = 'A' AND n > 15 ORDER BY id", "4", "3"],
  ["WHERE and the select list", "SELECT later(t) FROM w WHERE later(t) <> 'B' ORDER BY id", "A A C", "3"],
  ["ORDER BY", "SELECT id FROM w WHERE t IS NOT NULL ORDER BY later(t) DESC, id", "5 2 1 4", "3"],
  ["GROUP BY", "SELECT later(t), count(*) FROM w GROUP BY 1 ORDER BY 1", "A|2 B|1 C|1 |1", "3"],
  ["HAVING", "SELECT t FROM w GROUP BY t HAVING later(t) > 'A' ORDER BY 1", "b c", "3"],
  ["aggregates", "SELECT string_agg(later(t), ',' ORDER BY later(t) DESC) FROM w", "C,B,A,A", "3"],
  [
    "FILTER",
    "SELECT count(later(t)) FILTER (WHERE id > 3), max(later(t)) FILTER (WHERE later(t) < 'C') FROM w",
    "2|B",
    "2 3",
  ],
  ["DISTINCT", "SELECT DISTINCT later(t) FROM w WHERE t IS NOT NULL ORDER BY 1", "A B C", "3"],
  ["DISTINCT ON", "SELECT DISTINCT ON (later(t)) id FROM w WHERE t IS NOT NULL ORDER BY later(t), id", "1 2 5", "3"],
  ["windows", "SELECT id, rank() OVER (ORDER BY later(t)) FROM w ORDER BY id", "1|1 2|3 3|5 4|1 5|4", "3"],
  ["joins", "SELECT a.id, b.id FROM w a JOIN w b ON later(a.t) = upper(b.t) AND a.id < b.id", "1|4", "2"],
  [
    "one side of an outer join",
    "SELECT a.id, b.id FROM w a LEFT JOIN w b ON b.id = a.id + 3 AND later(b.t) = 'A' ORDER BY 1",
    "1|4 2| 3| 4| 5|",
    "3",
  ],
  ["LATERAL", "SELECT id, x FROM w, LATERAL (SELECT later(w.t) AS x) s WHERE id < 3 ORDER BY id", "1|A 2|B", "1 1"],
  [
    "arguments of functions in FROM",
    "SELECT id, x FROM w, string_to_table(later(t) || ',z', ',') x WHERE id = 2",
    "2|B 2|z",
    "1",
  ],
  [
    "a function that returns rows in the select list",
    "SELECT string_to_table(later(t) || ',z', ',') FROM w WHERE id = 2",
    "B z",
    "1",
  ],
  ["UNION", "SELECT later(t) FROM w WHERE id = 1 UNION SELECT later(t) FROM w WHERE id = 4", "A", "1 1"],
  [
    "CASE",
    "SELECT CASE WHEN id = 1 THEN later(t) WHEN id = 2 THEN t ELSE 'x' END FROM w ORDER BY id",
    "A b x x x",
    "1",
  ],
  [
    "conditions of CASE",
    "SELECT CASE WHEN id = 1 THEN 0 WHEN later(t) = 'B' THEN 1 ELSE 2 END FROM w ORDER BY id",
    "0 1 2 2 2",
    "3",
  ],
  [
    "what depends on another",
    "SELECT CASE WHEN later(t) = 'A' THEN later(t || 'y') END FROM w WHERE id < 3 ORDER BY id",
    "AY ",
    "2 1",
  ],
  ["COALESCE", "SELECT coalesce(t, later('n')) FROM w ORDER BY id", "a b N a c", "1"],
  ["OR", "SELECT id FROM w WHERE later(t) = 'A' OR n > 15 ORDER BY id", "1 2 3 4 5", "1"],
  ["AND in the select list", "SELECT n > 15 AND later(t) = 'A' FROM w ORDER BY id", "false false  true false", "3"],
  ["IN", "SELECT id FROM w WHERE later(t) IN ('B', 'C') ORDER BY id", "2 5", "3"],
  ["without a table", "SELECT later('x'), later('x') || later('y')", "X|XY", "1 1"],
  ["once for all rows", "SELECT count(*) FROM many WHERE t = lower(later('t7'))", "1", "1"],
  ["VALUES", "VALUES (1, later('x')), (2, 'y'), (3, later('z') || '!'), (4, later('x'))", "1|X 2|y 3|Z! 4|X", "1 1"],
  [
    "an uncorrelated subquery",
    "SELECT id FROM w WHERE upper(t) = (SELECT min(later(t)) FROM w) ORDER BY id",
    "1 4",
    "3",
  ],
  [
    "IN with a subquery",
    "SELECT id FROM w WHERE upper(t) IN (SELECT later(t) FROM w WHERE id > 3) ORDER BY id",
    "1 4 5",
    "2",
  ],
  [
    "a correlated scalar subquery",
    "SELECT id, (SELECT max(later(b.t || a.t)) FROM w b) FROM w a WHERE id < 3",
    "1|CA 2|CB",
    "3 3",
  ],
  [
    "EXISTS",
    "SELECT id FROM w a WHERE EXISTS (SELECT FROM w b WHERE later(a.t || b.t) = 'AC') ORDER BY id",
    "1 4",
    "3 3 3 3",
  ],
  [
    "NOT IN, correlated",
    "SELECT id FROM w a WHERE id < 3 AND 'BB' NOT IN (SELECT later(a.t || b.t) FROM w b WHERE b.id < 3)",
    "1",
    "2 2",
  ],
  [
    "ARRAY of a subquery",
    "SELECT ARRAY(SELECT later(t || a.id) FROM w WHERE id < 3) FROM w a WHERE id = 2",
    "{A2,B2}",
    "2",
  ],
  [
    "WITH",
    "WITH l AS (SELECT id, later(t) AS u FROM w) SELECT a.u FROM l a JOIN l b ON a.u = b.u AND a.id < b.id",
    "A",
    "3",
  ],
  [
    "WITH RECURSIVE",
    "WITH RECURSIVE r(x) AS (SELECT 'a' UNION ALL SELECT later(x) || 'b' FROM r WHERE length(x) < 3) SELECT x FROM r",
    "a Ab ABb",
    "1 1",
  ],
  ["batches of 64", "SELECT count(later(t)) FROM many", "300", "64 64 64 64 44"],
  ["LIMIT", "SELECT later(t) FROM many ORDER BY id LIMIT 3", "T1 T2 T3", "3"],
  ["LIMIT over a condition", "SELECT id FROM many WHERE later(t) <> 'T1' LIMIT 2", "2 3", "64"],
  ["ORDER BY something else", "SELECT later(t), id FROM many ORDER BY length(t) DESC, id LIMIT 1", "T100|100", "1"],
  ["what nobody reads", "SELECT id FROM (SELECT id, later(t) FROM w) s WHERE id = 1", "1", ""],
];

t.test("wherever a statement may call it", async (t) => {
  for (const [name, sql, rows, later] of cases) {
    const found = await run(sql);
    t.same({ rows: found.rows, later: found.later }, { rows, later }, `${name}: ${sql}`);
  }
});

t.test("in changes of rows", async (t) => {
  await exec("CREATE TABLE c (id int PRIMARY KEY, u text)");
  t.equal((await run("INSERT INTO c SELECT id, later(t) FROM w WHERE id < 3 RETURNING id, u")).rows, "1|A 2|B");
  t.equal((await run("INSERT INTO c VALUES (3, later('x') || later('y')), (4, NULL) RETURNING later(u)")).rows, "XY ");
  t.equal(
    (await run("INSERT INTO c VALUES (1, later('q')) ON CONFLICT (id) DO UPDATE SET u = excluded.u RETURNING u")).rows,
    "Q",
  );
  t.match(await run("UPDATE c SET u = later(u || '2') WHERE later(u) > 'K' RETURNING id, later(u || id)"), {
    rows: "1|Q21 3|XY23",
    later: "3 2 2",
  });
  t.equal((await run("DELETE FROM c WHERE id = 4 RETURNING later('gone')")).rows, "GONE");
  const merge =
    "MERGE INTO c USING (VALUES (1, 'one'), (8, 'eight'), (9, 'nine')) s(k, v) ON c.id = s.k " +
    "WHEN MATCHED THEN UPDATE SET u = later(v) WHEN NOT MATCHED AND later(v) = 'NINE' THEN INSERT VALUES (k, later(v || '!')) " +
    "RETURNING id, later(u || '?')";
  t.match(await run(merge), { rows: "1|ONE? 9|NINE!?", later: "1 2 1 2" });
  t.equal((await run("SELECT string_agg(u, ' ' ORDER BY id) FROM c")).rows, "ONE B XY2 NINE!");
  await t.rejects(exec("INSERT INTO c VALUES (1) ON CONFLICT (id) DO UPDATE SET u = later(c.u)"), {
    message: "later cannot be called in ON CONFLICT",
    code: "0A000",
    position: 61,
  });
  t.equal((await run("WITH n AS (INSERT INTO c VALUES (20, later('cte')) RETURNING u) SELECT u FROM n")).rows, "CTE");
});

t.test("a volatile one is computed for each row and call, never twice", async (t) => {
  t.match(await run("SELECT next('x'), next('x') FROM w WHERE id < 5"), {
    rows: "x1|x4 x2|x5 x3|x6 x7|x8",
    next: "3 3 1 1",
  });
  t.equal((await run("SELECT x, x || '!' FROM (SELECT next('x') AS x) s WHERE length(x) > 1")).rows, "x1|x1!");
  t.match(await run("SELECT next('x') FROM many LIMIT 2"), { next: "2" });
  t.match(await run("SELECT count(*) FROM (SELECT next('x') FROM w) s"), { rows: "5", next: "3 2" });
  t.match(await run("SELECT CASE WHEN id = 2 THEN next(t) END FROM w ORDER BY id"), { rows: " b1   ", next: "1" });
  t.match(await run("INSERT INTO w SELECT 100 + id, next('n') FROM w WHERE id < 3 RETURNING t"), { rows: "n1 n2" });
  await exec("DELETE FROM w WHERE id > 100");
});

t.test("parameters, prepared statements and cached plans", async (t) => {
  for (const text of ["p", "q"]) {
    t.match(await run("SELECT later($1), id FROM w WHERE t < $1 AND later(t) <> $2", [text, "B"]), {
      rows: `${text.toUpperCase()}|1 ${text.toUpperCase()}|4 ${text.toUpperCase()}|5`,
    });
  }
  await exec("PREPARE s(text) AS SELECT later($1 || t) FROM w WHERE id = 1");
  t.equal((await run("EXECUTE s('x')")).rows, "XA");
  t.equal((await run("EXECUTE s('y')")).rows, "YA");
});

t.test("functions of SQL and PL/pgSQL", async (t) => {
  await exec("CREATE FUNCTION twice(x text) RETURNS text LANGUAGE sql AS 'SELECT later(x) || later(x)'");
  t.match(await run("SELECT twice(t) FROM w WHERE id < 3 ORDER BY id"), { rows: "AA BB" });
  await exec(
    "CREATE FUNCTION stepwise(x text) RETURNS text LANGUAGE plpgsql AS $$ DECLARE y text; BEGIN y := later(x); " +
      "IF later(y || 'i') = 'QI' THEN RETURN later('yes'); END IF; SELECT later(x || 's') INTO y; RETURN y; END $$",
  );
  t.equal((await run("SELECT stepwise('q')")).rows, "YES");
  t.equal((await run("SELECT stepwise('r')")).rows, "RS");
});

t.test("transactions and cursors", async (t) => {
  await exec("BEGIN");
  await exec("INSERT INTO w VALUES (50, 'own')");
  t.equal((await run("SELECT later(t) FROM w WHERE id = 50")).rows, "OWN");
  await exec("DECLARE cur CURSOR FOR SELECT later(t) FROM many ORDER BY id");
  t.equal((await run("FETCH 2 FROM cur")).rows, "T1 T2");
  t.equal((await run("FETCH 1 FROM cur")).rows, "T3");
  await exec("ROLLBACK");
  t.equal((await run("SELECT later(t) FROM w WHERE id = 50")).rows, "");
});

t.test("errors have the place of the call", async (t) => {
  await t.rejects(exec("SELECT id, refuse(t) FROM w"), { message: "too much", position: 12 });
  t.equal((await run("SELECT CASE WHEN id < 0 THEN refuse(t) ELSE id END FROM w WHERE id = 1")).rows, "1");
  t.equal((await run("SELECT id FROM w WHERE id < 0 AND refuse(t) = 1")).rows, "");
  t.equal((await run("SELECT CASE WHEN id < 0 THEN refuse('x') ELSE 0 END FROM w WHERE id = 1")).rows, "0");
});

t.test("a function may run statements, in the same transaction", async (t) => {
  await exec("CREATE TABLE log (id int PRIMARY KEY, t text)");
  t.equal(
    (await run("SELECT inner('INSERT INTO log VALUES (1, ''one'')'), inner('SELECT t FROM log')")).rows,
    "1: |1: one",
  );
  const failing = "INSERT INTO log VALUES (2, ''two''), (1, ''again'')";
  t.match((await run(`SELECT inner('${failing}'), inner('SELECT count(*) FROM log')`)).rows, /^23505 .*\|1: 1$/);
  t.match((await run("SELECT inner('SELECT 1; SELECT 2'), inner('COMMIT')")).rows, /^42601 .*\|2D000 /);
  await exec("BEGIN");
  await run("SELECT inner('INSERT INTO log VALUES (3, ''three'')')");
  t.equal((await run("SELECT id FROM log ORDER BY id")).rows, "1 3");
  await exec("ROLLBACK");
  t.equal((await run("SELECT id FROM log ORDER BY id")).rows, "1");
  t.match((await run("SELECT inner('SELECT inner(''SELECT 7'')')")).rows, "1: 1: 7");
});

t.test("a statement that is cancelled, or too late, does not wait on", async (t) => {
  const stop = new AbortController();
  const session = new Session(db.tenant, {
    isolation: null,
    readOnly: false,
    user: "tester",
    tenantName: "tester",
    control: "routes",
  });
  const request = {
    checkpoint: () => stop.signal.throwIfAborted(),
    shouldYield: () => false,
    yieldTurn: () => Promise.resolve(),
    signal: () => stop.signal,
  };
  const statement = { sql: "SELECT never(t) FROM w", params: [], maxRows: 10, collector: jsonRows, request };
  const running = Promise.resolve(session.execute(statement, (tx) => db.tenant.commit(tx)));
  setImmediate(() => stop.abort(new DbError("cancelled")));
  await t.rejects(running, { code: "cancelled" });
});

async function refused(t: Test, sql: string, position: number, message: RegExp): Promise<void> {
  await t.rejects(exec(sql), { message, code: "0A000", position }, sql);
}

t.test("where it cannot be called", async (t) => {
  await refused(t, "SELECT 1 FROM w a LEFT JOIN w b ON later(a.t || b.t) = 'x'", 36, /outer join/);
  await refused(t, "CREATE TABLE no (t text DEFAULT later('x'))", 33, /in DEFAULT expressions/);
  await refused(t, "CREATE TABLE no (t text, CHECK (later(t) = 'x'))", 33, /in check constraints/);
  await refused(
    t,
    "CREATE TABLE no (t text, u text GENERATED ALWAYS AS (later(t)) STORED)",
    54,
    /in column generation/,
  );
  await refused(t, "CREATE INDEX no ON w (later(t))", 23, /in index expressions/);
  await refused(t, "CREATE DOMAIN no AS text CHECK (later(value) = 'x')", 33, /in check constraint/);
  await refused(t, "EXECUTE s(later('x'))", 11, /in EXECUTE parameters/);
  await refused(t, "ALTER TABLE w ALTER t SET DEFAULT later('x')", 35, /DEFAULT/);
});

t.test("EXPLAIN", async (t) => {
  const { rows } = await exec(
    "EXPLAIN (COSTS OFF) SELECT CASE WHEN id > 1 THEN later(t) END FROM w ORDER BY n LIMIT 1",
  );
  t.match(rows.map(([line]) => line).join("\n"), /Deferred\n +Calls: later\(t\) if \(id > 1\)\n +-> {2}Top-N Sort/);
});
