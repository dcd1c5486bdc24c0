/** Texts of many definitions: printing each takes about as long as a turn, so others get theirs in between. */
import t from "tap";
import { Session } from "../../src/session/session.js";

import { open, TextRows } from "../conformance/sql-adapter.js";

const VIEWS = 60;

type Database = Awaited<ReturnType<typeof open>>;

/** What a statement answers that gives way wherever it may, and how often it did, or waited for a round of the loop. */
async function watched({ tenant }: Database, sql: string): Promise<{ answer: string; turns: number }> {
  let turns = 0;
  let isOver = false;
  const round = (): void => {
    turns++;
    if (!isOver) setImmediate(round);
  };
  const options = {
    isolation: null,
    readOnly: false,
    user: "tester",
    tenantName: "tester",
    control: "routes",
  } as const;
  const request = {
    checkpoint: () => undefined,
    shouldYield: () => true,
    yieldTurn: () => {
      turns++;
      return Promise.resolve();
    },
  };
  setImmediate(round);
  const collector = (shape: ConstructorParameters<typeof TextRows>[0]) => new TextRows(shape);
  const session = new Session(tenant, options);
  const { rows } = await session.execute({ sql, params: [], maxRows: 10, collector, request }, (tx) =>
    tenant.commit(tx),
  );
  isOver = true;
  return { answer: String(rows.plain?.[0]?.[0]), turns };
}

t.test("definitions of many views", async (t) => {
  const database = await open();
  await database.exec("CREATE TABLE tab (id integer PRIMARY KEY, name varchar(20), at timestamptz)");
  for (let n = 0; n < VIEWS; n++) {
    await database.exec(
      `CREATE VIEW view_${n} AS SELECT id, lower(name) AS name, count(*) FILTER (WHERE at > now() - interval '1 day')
         FROM tab WHERE name IN ('a', 'b', 'c') AND id > ${n} GROUP BY 1, 2 HAVING max(at) IS NOT NULL`,
    );
  }
  for (const sql of [
    "SELECT count(definition) FROM pg_views",
    "SELECT count(view_definition) FROM information_schema.views",
    "SELECT count(pg_get_viewdef(oid)) FROM pg_class WHERE relkind = 'v'",
    "SELECT count(*) FROM pg_class WHERE relkind = 'v' AND pg_get_viewdef(oid) LIKE '%lower%'",
  ]) {
    // Texts are kept until then.
    await database.exec("ALTER TABLE tab ADD extra integer");
    await database.exec("ALTER TABLE tab DROP extra");
    const { answer, turns } = await watched(database, sql);
    t.equal(answer, String(VIEWS), sql);
    t.ok(turns > 10, `${sql}: ${turns} turns`);
  }
  // Inside an expression, nothing can be waited for.
  const inside =
    "SELECT (SELECT count(definition) FROM pg_views WHERE length(viewname) > x) FROM generate_series(1, 1) x";
  t.equal((await database.exec(inside)).rows[0]![0], String(VIEWS));
  await database.close();
});

t.test("a text is kept until something changes that it depends on", async (t) => {
  const database = await open();
  const run = async (...statements: string[]) => {
    for (const each of statements) await database.exec(each);
  };
  const text = async () => String((await database.exec("SELECT pg_get_viewdef('v'::regclass)")).rows[0]![0]);
  await run("CREATE TABLE tab (id integer, kind text)", "CREATE VIEW inner_view AS SELECT id, kind FROM tab");
  await run("CREATE FUNCTION f(x integer) RETURNS integer LANGUAGE sql AS 'SELECT x'");
  await run("CREATE VIEW v AS SELECT f(id) AS one, kind FROM inner_view");
  const before = " SELECT f(inner_view.id) AS one,\n    inner_view.kind\n   FROM inner_view;";
  t.equal(await text(), before);
  await run("CREATE TABLE other ()");
  t.equal(await text(), before, "something else");
  await run("ALTER TABLE inner_view RENAME TO seen");
  t.equal(await text(), before.replaceAll("inner_view", "seen"), "a name");
  await run("ALTER FUNCTION f(integer) RENAME TO g");
  t.equal(await text(), before.replaceAll("inner_view", "seen").replace("f(", "g("), "a function's name");
  await run("CREATE SCHEMA s", "SET search_path = s, public");
  const now = " SELECT g(seen.id) AS one,\n    seen.kind\n   FROM seen;";
  t.equal(await text(), now, "another path");
  await run("CREATE TABLE s.seen ()");
  t.equal(await text(), now.replace("FROM seen", "FROM public.seen"), "a relation that hides it");
  await run("DROP TABLE s.seen", "CREATE FUNCTION s.g(x integer) RETURNS integer LANGUAGE sql AS 'SELECT x'");
  t.equal(await text(), now.replace("g(", "public.g("), "a function that hides it");
  await database.close();
});
