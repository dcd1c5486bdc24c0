/**
 * Definitions name functions and types by ids. In a branch, a copy, a backup that is restored and a tenant that moved,
 * they call what they called, also where an id, a name or both mean something else in the one that they came from.
 */
import t from "tap";
import { branchCalls } from "./branch-calls.js";
import { type Reply, TestServer } from "./server.js";

const server = await TestServer.start({ TESSERA_ACTORS: "2" });
t.teardown(() => server.stop());
t.setTimeout(300_000);
const { fork, rows, sequence } = branchCalls(server);

/** One of each text that is kept. */
const MADE = [
  "CREATE TYPE feel AS ENUM ('sad', 'glad')",
  "CREATE FUNCTION okay(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT $1 <> 'bad' $$",
  "CREATE FUNCTION mark(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT $1 || '!' $$",
  "CREATE FUNCTION plus(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT coalesce($1, 0) + $2'",
  "CREATE AGGREGATE total(int) (sfunc = plus, stype = int)",
  "CREATE DOMAIN short AS text DEFAULT mark('d') CHECK (okay(value))",
  `CREATE TABLE t (id int PRIMARY KEY, v text CHECK (okay(v)), w text DEFAULT mark('w'), s short, f feel DEFAULT 'glad',
   g text GENERATED ALWAYS AS (mark(v)) STORED)`,
  "CREATE UNIQUE INDEX t_marked ON t (mark(v)) WHERE okay(v)",
  "CREATE TABLE log (what text)",
  "CREATE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.w := new.w || '?'; RETURN new; END $$",
  "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW WHEN (okay(new.v)) EXECUTE FUNCTION fire()",
  "CREATE RULE r AS ON INSERT TO t DO ALSO INSERT INTO log SELECT mark(new.v) WHERE okay(new.v)",
  "CREATE VIEW seen AS SELECT mark(v) AS m, f = 'glad'::feel AS glad, total(id) OVER () AS n FROM t WHERE okay(v)",
  "CREATE FUNCTION body(text) RETURNS text RETURN mark($1)",
  "CREATE FUNCTION put(n int, x text) RETURNS text BEGIN ATOMIC INSERT INTO t (id, v) VALUES (n, mark(x)) RETURNING w; END",
  "CREATE ROLE reader",
  "GRANT SELECT ON t TO reader",
  "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
  "CREATE POLICY p ON t USING (okay(v) AND mark(v) <> 'hidden!')",
];

type Ask = (sql: string) => Promise<unknown[][]>;

/** What all of them say, in one place; nothing stays. */
async function said(ask: Ask): Promise<unknown> {
  const refused = (sql: string) =>
    ask(sql).then(String, (error: Error) => /(?<="sqlstate":")\w+/.exec(error.message)?.[0]);
  const answer = [
    await ask("SELECT put(1, 'a')"),
    await ask("INSERT INTO t (id, v) VALUES (2, 'hidden') RETURNING w, s, g, f"),
    await ask("SELECT m, glad, n FROM seen ORDER BY m"),
    await ask("SELECT what FROM log ORDER BY what"),
    await ask("SELECT body('x'), NULL::short"),
    await ask("SELECT string_agg(pg_get_expr(adbin, adrelid), ', ' ORDER BY adnum) FROM pg_attrdef"),
    await ask("SELECT qual FROM pg_policies"),
    await refused("INSERT INTO t (id, v) VALUES (3, 'bad')"),
    await refused("INSERT INTO t (id, v, s) VALUES (3, 'c', 'bad')"),
    await refused("INSERT INTO t (id, v) VALUES (3, 'hidden')"),
    await refused("DROP FUNCTION plus(int, int)"),
    await refused("DROP TYPE feel"),
  ];
  await ask("DELETE FROM t");
  await ask("DELETE FROM log");
  return answer;
}

const SAID = [
  [["w!?"]],
  [["w!?", "d!", "hidden!", "glad"]],
  [
    ["a!!", true, 3],
    ["hidden!", true, 3],
  ],
  [["a!!"], ["hidden!"]],
  [["x!", null]],
  [["mark('w'::text), 'glad'::feel, mark(v)"]],
  [["(okay(v) AND (mark(v) <> 'hidden!'::text))"]],
  "23514",
  "23514",
  "23505",
  "2BP01",
  "2BP01",
];

/** Nearer ones, and ones of the same names and types. */
const HIJACKED = [
  "CREATE FUNCTION mark(varchar) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'evil' $$",
  "CREATE FUNCTION okay(varchar) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true'",
  "ALTER FUNCTION mark(text) RENAME TO was_mark",
  "ALTER FUNCTION okay(text) RENAME TO was_okay",
  "CREATE FUNCTION mark(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'evil' $$",
  "CREATE FUNCTION okay(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true'",
];
const RENAMED = JSON.parse(JSON.stringify(SAID).replace(/(mark|okay)\(/g, "was_$1(")) as unknown;

t.test("in branches, copies and the past", async (t) => {
  const token = await server.tenant("kept", ["super_admin"]);
  const at =
    (branch?: string): Ask =>
    (sql) =>
      rows(token, sql, branch);
  const all = async (statements: readonly string[], branch?: string) => {
    for (const sql of statements) await rows(token, sql, branch);
  };
  const merge = async (name: string) => (await server.call("POST", `/v1/branches/${name}/merge`, {}, { token })).body;
  await all(MADE);
  await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token });
  await fork(token, { name: "b" });
  const before = await sequence(token);
  await all(HIJACKED);
  t.same(await said(at()), RENAMED, "the tenant itself");
  t.same(await said(at("b")), SAID, "its branch has the names of then");
  await all(HIJACKED, "b");
  t.same(await said(at("b")), RENAMED, "and may do the same");
  await fork(token, { name: "past", as_of: before });
  t.same(await said(at("past")), SAID);
  await rows(token, "CREATE DATABASE copied TEMPLATE b");
  t.same(await said(at("copied")), RENAMED);
  await rows(token, "INSERT INTO t (id, v) VALUES (1, 'x')");
  const later = await sequence(token);
  await all(["DROP TABLE t, log CASCADE", "DROP DOMAIN short", "DROP FUNCTION was_okay(text), was_mark(text) CASCADE"]);
  t.same(await rows(token, `SELECT m FROM seen AS OF SEQUENCE ${later}`), [["x!"]]);
  t.same(await rows(token, `SELECT was_mark('x'), mark('x'::text) AS OF SEQUENCE ${later}`), [["x!", "evil"]]);
  // From here on the same ids are other functions in the tenant and in what was forked from it.
  await fork(token, { name: "one" });
  const named = (name: string) =>
    `CREATE FUNCTION ${name}(int) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '${name}' $$`;
  const using = (name: string) => [
    `CREATE TABLE of_${name} (id int, v text DEFAULT ${name}(1))`,
    `CREATE VIEW v_${name} AS SELECT ${name}(1) AS v`,
  ];
  await all([named("ours"), named("other"), ...using("ours")]);
  await all([named("first"), named("theirs"), ...using("theirs"), "DROP FUNCTION first(int)"], "one");
  await fork(token, { name: "two", from: "one" });
  for (const [name, branch] of [["ours"], ["theirs", "one"], ["theirs", "two"]] as const) {
    t.same(await rows(token, `INSERT INTO of_${name} VALUES (1) RETURNING v`, branch), [[name]]);
    t.same(await rows(token, `SELECT v FROM v_${name}`, branch), [[name]]);
  }
  t.match(await merge("one"), { error: { code: "conflict" } });
  await rows(token, "ALTER FUNCTION theirs(int) RENAME TO moved", "two");
  await rows(token, "CREATE FUNCTION theirs(int) RETURNS text LANGUAGE sql AS $$ SELECT 'evil' $$", "two");
  t.match(await merge("two"), { data: { merged: true } });
  t.same(await rows(token, "SELECT v, theirs(1) FROM v_theirs", "one"), [["theirs", "evil"]]);
  t.same(await rows(token, "INSERT INTO of_theirs VALUES (2) RETURNING v", "one"), [["theirs"]]);
});

t.test("after a branch that made all of them anew is merged", async (t) => {
  const token = await server.tenant("anew", ["super_admin"]);
  const at =
    (branch?: string): Ask =>
    (sql) =>
      rows(token, sql, branch);
  for (const sql of MADE) await rows(token, sql);
  t.same(await said(at()), SAID);
  await fork(token, { name: "b" });
  for (const sql of [
    ...["DROP VIEW seen", "DROP FUNCTION put, body", "DROP TABLE t, log", "DROP AGGREGATE total(int)"],
    ...["DROP DOMAIN short", "DROP FUNCTION plus, okay, mark, fire", "DROP TYPE feel", "DROP ROLE reader", ...MADE],
  ])
    await rows(token, sql, "b");
  t.same(await said(at("b")), SAID);
  t.match((await server.call("POST", "/v1/branches/b/merge", {}, { token })).body, { data: { merged: true } });
  t.same(await said(at()), SAID);
});

async function ended(path: string, token?: string): Promise<Reply["body"]> {
  for (;;) {
    const { data } = (await server.expect(200, "GET", path, undefined, token === undefined ? {} : { token })).body;
    if (data.state === undefined ? data.status !== "running" : /^(?:completed|failed|done|cancelled)$/.test(data.state))
      return data;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

t.test("in backups that are restored, and in tenants that move", async (t) => {
  const token = await server.tenant("home", ["super_admin"]);
  const there = await server.tenant("there", ["super_admin"]);
  const at =
    (who: string): Ask =>
    (sql) =>
      rows(who, sql);
  // The same ids are others there.
  for (const sql of HIJACKED.slice(0, 2)) await rows(there, sql);
  t.same(await rows(there, "SELECT mark('x'::varchar)"), [["evil"]]);
  for (const sql of MADE) await rows(token, sql);
  t.same(await said(at(token)), SAID);
  const { id } = (await server.expect(202, "POST", "/v1/backups", {}, { token })).body.data;
  t.match(await ended(`/v1/backups/${id}`, token), { status: "completed" });
  await server.expect(202, "POST", "/admin/tenants/there/restore", { backup: id, from: "home", replace: true });
  t.match(await ended("/admin/tenants/there/restore"), { state: "completed" });
  t.same(await said(at(there)), SAID, "another tenant");
  for (const sql of HIJACKED) await rows(token, sql);
  t.same(await said(at(token)), RENAMED);
  await server.expect(202, "POST", "/admin/tenants/home/restore", { backup: id, replace: true });
  t.match(await ended("/admin/tenants/home/restore"), { state: "completed" });
  t.same(await said(at(token)), SAID, "the same one, as it was");
  for (const sql of HIJACKED.toReversed().slice(0, 2)) await rows(token, sql.replace(/(mark|okay)/, "$1_"));
  // As many changes of definitions as before.
  for (let i = 2; i < HIJACKED.length; i++) await rows(token, `CREATE TABLE again${i} (id int)`);
  t.same(await said(at(token)), SAID, "and after as many changes");
  for (let i = 0; i < 2; i++) {
    const { partition } = (await server.expect(200, "GET", "/admin/tenants/home")).body.data;
    await server.expect(202, "POST", "/admin/tenants/home/move", { partition: 1 - partition });
    t.match(await ended("/admin/tenants/home/move"), { state: "done" });
    t.same(await said(at(token)), i === 0 ? SAID : RENAMED, "moved");
    if (i === 0) for (const sql of HIJACKED) await rows(token, sql);
  }
});
