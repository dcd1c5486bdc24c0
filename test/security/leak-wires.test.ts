/**
 * The tenants of leak-hunt.test.ts, asked by the protocols of PostgreSQL and Neo4j and by the WebSocket: every kind of
 * statement, every relation and function of the catalog, every procedure, every kind of message. The bytes of the
 * answers are the same with and without what is hidden: rows, counts, notices, plans, hints and errors.
 */
import t, { type Test } from "tap";
import { MESSAGES } from "../../src/protocol/endpoints.js";
import { SYSTEM_FUNCTIONS } from "../../src/sql/bind/system/system-functions.js";
import { systemRelationNames } from "../../src/sql/bind/system/system-relations.js";
import { BoltClient, boltPort, pull, run as runMessage, type Struct, WITH_BOLT } from "../e2e/bolt-client.js";
import { TestServer } from "../e2e/server.js";
import { SocketClient } from "../e2e/socket-client.js";
import {
  bind,
  execute,
  fieldsOf,
  message,
  parse,
  postgresPort,
  query,
  type Received,
  sync,
  valuesOf,
  WITH_POSTGRES,
  WireClient,
} from "../e2e/wire-client.js";
import { signIn } from "../e2e/wire-sign-in.js";
import { BY_CLAUSE, callsOf } from "./leak-cypher.js";
import { type Asked, BESIDE_KINDS, BY_KIND, CONFLICTS, type Sent } from "./leak-statements.js";
import { fill, type LeakTenant, PASSWORD, SECRET } from "./leak-tenants.js";

let server: TestServer;
/** With what is hidden, and without. */
let tenants: readonly [LeakTenant, LeakTenant];
t.before(async () => {
  server = await TestServer.start({ ...WITH_POSTGRES, ...WITH_BOLT, TESSERA_ACTORS: "1" });
  tenants = [await fill(server, "alpha", true), await fill(server, "omega", false)];
});
t.teardown(() => server?.stop());

/** What differs between any two tenants, and from one moment to the next. */
const alike = (text: string): string =>
  text
    .replaceAll(/alpha|omega/g, "tenant")
    // Of the administrator, who has imported a recipe.
    .replaceAll(/"\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}"/g, "a user's id")
    .replaceAll(/(?:default|tenant)-transaction-\d+-\d+(?:-\d+)?|(?:bolt|postgresql)-\d+/g, "a number")
    .replaceAll(/"PT[\d.]+S"/g, '"a duration"')
    .replaceAll(
      /(?:actual time=|Execution Time: |Planning Time: |"(?:Actual [\w ]*Time|Execution Time|Planning Time)": )[\d.]+(?:\.\.[\d.]+)?/g,
      "",
    )
    .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.\d]*(?:\+00|Z)?/g, "a time");

async function postgres({ user }: Pick<LeakTenant, "user">): Promise<WireClient> {
  const client = await WireClient.connect(postgresPort(server));
  client.start({ user, database: "postgres" });
  const refused = (await signIn(client, PASSWORD)) ?? (await client.until("Z")).find(({ type }) => type === "E");
  if (refused !== undefined) throw new Error(JSON.stringify(fieldsOf(refused)));
  return client;
}

/** All that comes for it, a message a line. */
async function answerOf(client: WireClient, asked: Asked, i: number): Promise<string> {
  const { sql: text, copied, rowsMax }: Sent = typeof asked === "string" ? { sql: asked } : asked;
  const sql = text.replace("$PAST", tenants[i]!.past);
  client.send(...(rowsMax === undefined ? [query(sql)] : [parse("", sql), bind("", ""), execute("", rowsMax), sync]));
  const all: Received[] = [];
  for (let next = await client.receive(); next !== null; next = await client.receive()) {
    all.push(next);
    if (next.type === "G") client.send(message("d", copied ?? ""), message("c"));
    if (next.type === "Z") break;
  }
  // Numbers of sessions.
  const own = all.filter(({ type }) => type !== "A").map(shown);
  return alike(own.join("\n"));
}

function shown(received: Received): string {
  const { type, body } = received;
  if (type === "D") return `D ${JSON.stringify(valuesOf(received))}`;
  if (type === "E" || type === "N") return `${type} ${JSON.stringify(fieldsOf(received))}`;
  return type + body.toString("latin1");
}

interface Difference {
  readonly asked: Asked;
  readonly there: string;
  readonly without: string;
}

async function compared(t: Test, what: string, asks: readonly Asked[]): Promise<void> {
  const clients = await Promise.all(tenants.map(postgres));
  const differ: Difference[] = [];
  for (const asked of asks) {
    const [there, without] = [await answerOf(clients[0]!, asked, 0), await answerOf(clients[1]!, asked, 1)];
    if (there !== without || /"C":"XX/.test(there)) differ.push({ asked, there, without });
  }
  t.same(differ, [], what);
  for (const client of clients) client.close();
}

t.test("every kind of statement", { timeout: 180_000 }, async (t) => {
  for (const [kind, asks] of Object.entries(BY_KIND)) {
    t.ok(asks.length > 0, kind);
    await compared(t, kind, asks);
  }
  await compared(t, "beside", BESIDE_KINDS);
});

t.test("a key of a hidden row is taken, which is all that is said", async (t) => {
  const client = await postgres(tenants[0]);
  for (const asked of CONFLICTS) {
    const answer = await answerOf(client, asked, 0);
    t.match(answer, asked.answer, asked.sql);
    t.notMatch(answer, SECRET, asked.sql);
    t.notMatch(answer, /"D":/, "no detail");
  }
  client.close();
});

/** Sessions have numbers of their own. Numbers that a sequence gave to hidden rows are gone, as in PostgreSQL. */
const COLUMNS: Readonly<Record<string, string>> = {
  pg_locks: "locktype, database, relation, mode, granted, fastpath, waitstart",
  pg_stat_activity: "datname, usename, state, query",
  pg_sequences: "schemaname, sequencename, sequenceowner",
};

t.test("every relation and function of the catalog", { timeout: 180_000 }, async (t) => {
  const relations = ["pg_catalog", "information_schema"].flatMap((schema) =>
    systemRelationNames(schema).map((name) => `SELECT ${COLUMNS[name] ?? "*"} FROM ${schema}.${name}`),
  );
  await compared(t, "catalog", relations);
  const ofTables = [...new Set(SYSTEM_FUNCTIONS.filter(({ args }) => args.length === 1).map(({ name }) => name))];
  await compared(
    t,
    "function",
    ofTables.flatMap((name) => ["board", "vault"].map((table) => `SELECT ${name}('${table}'::regclass)`)),
  );
});

async function bolt({ user }: LeakTenant): Promise<BoltClient> {
  const client = await BoltClient.connect(boltPort(server));
  await client.start([5, 8], { user, password: PASSWORD });
  return client;
}

/**
 * With the summary, which has counters, a plan and notifications. In a session of its own: one looks again for a name
 * that was missing only after a while, and may not warn of it meanwhile.
 */
async function told(tenant: LeakTenant, text: string): Promise<string> {
  const client = await bolt(tenant);
  client.send(runMessage(text), pull());
  const all = await client.until(2);
  client.close();
  return alike(JSON.stringify(all, (key, value) => (isTime(key, value) ? "a time" : value), 1));
}

const DURATION = 0x45;

const isTime = (key: string, value: unknown): boolean =>
  /^(?:t_first|t_last|time|bookmark)$/i.test(key) || (value as Partial<Struct> | null)?.tag === DURATION;

t.test("every kind of clause, and every procedure", { timeout: 180_000 }, async (t) => {
  const [hiding, plain] = tenants;
  const client = await bolt(plain);
  const rows = (await client.rows("SHOW PROCEDURES YIELD signature")) as unknown[][];
  client.close();
  t.ok(rows.length > 30, "procedures are listed");
  const calls = rows.flatMap(([signature]) => callsOf(signature as string));
  const differ: Difference[] = [];
  for (const asked of [...Object.values(BY_CLAUSE).flat(), ...calls]) {
    const [there, without] = [await told(hiding, asked), await told(plain, asked)];
    if (there !== without) differ.push({ asked, there, without });
  }
  t.same(differ, []);
});

/** By the kind of message. A query ends with `sql.done`; of all else the first answer counts. */
const BY_MESSAGE: Readonly<Record<string, readonly object[]>> = {
  "sql.execute.stream": [
    { sql: "SELECT * FROM board ORDER BY id" },
    { sql: "SELECT count(*), max(note) FROM board" },
    { sql: "TABLE vault" },
    { sql: "SELECT pay FROM staff" },
    { sql: "EXPLAIN ANALYZE SELECT * FROM board WHERE id > 0" },
    { sql: "SELECT id, score FROM search('board', 'word common') ORDER BY score DESC" },
    { sql: "MATCH (n) RETURN count(n)", language: "cypher" },
    { sql: "SELECT 1 / (id - 9) FROM board" },
  ],
  query: [{ sql: "SELECT id, note FROM board ORDER BY id" }, { sql: "TABLE _chat_messages" }],
  "transaction.begin": [{}, { read_only: true }],
  "transaction.commit": [{ transaction: "none" }],
  "transaction.rollback": [{ transaction: "none" }],
  subscribe: [
    { table: "board" },
    { table: "vault" },
    { table: "_chat_messages" },
    { collection: "notes" },
    { collection: "closed" },
    { label: "Note" },
    { relationship: "SECRETLY" },
    { sql: "SELECT * FROM vault" },
    { sql: "SELECT id, note FROM board ORDER BY id" },
    { table: "board", sequence: 1 },
  ],
  listen: [{ channel: "board" }],
  "model.pull": [{ model: "none" }],
  "graph.algorithm": [{ algorithm: "pagerank" }, { algorithm: "pagerank", graph: "none" }],
  send_message: [{ session_id: "none", content: "word" }],
  "automl.follow": [{ job_id: "none" }],
  "files.follow": [{ collection_id: "notes" }],
};

t.test("every kind of message on the WebSocket", { timeout: 60_000 }, async (t) => {
  const kinds = MESSAGES.flatMap(({ messages = [] }) => messages);
  t.same([...kinds].sort(), Object.keys(BY_MESSAGE).sort(), "each kind has a case");
  const answerTo = async ({ token }: LeakTenant, ask: { readonly type: string }): Promise<string> => {
    const client = await SocketClient.open(server.url, "/v1/ws", { authorization: `Bearer ${token}` });
    client.send(ask);
    const all = "sql" in ask && ask.type !== "subscribe" ? await client.until("sql.done") : [await client.next()];
    client.destroy();
    return alike(JSON.stringify(all)).replaceAll(
      /"(?:\w+_ms|sequence|timestamp|transaction|transaction_id|request_id)":(?:"[^"]*"|[\d.]+)/g,
      "",
    );
  };
  let answered = 0;
  for (const [type, asks] of Object.entries(BY_MESSAGE)) {
    for (const ask of asks) {
      const sent = { type, id: "one", ...ask };
      const [there, without] = [await answerTo(tenants[0], sent), await answerTo(tenants[1], sent)];
      t.equal(there, without, JSON.stringify(sent));
      t.notMatch(there, SECRET, JSON.stringify(sent));
      if (!there.includes('"type":"error"')) answered++;
    }
  }
  t.ok(answered >= 8, `${answered} were answered, not refused`);
});

/** Rows of what is asked, as text; of an error its SQLSTATE, message and detail. */
async function outcome(client: WireClient, sql: string): Promise<string> {
  client.send(query(sql));
  const all = await client.until("Z");
  const error = all.find(({ type }) => type === "E");
  if (error !== undefined) {
    const { C = "", M = "", D = "" } = fieldsOf(error);
    return `${C} ${M} ${D}`.trimEnd();
  }
  return all.flatMap((one) => (one.type === "D" ? valuesOf(one).join() : [])).join(" ");
}

t.test("what a user makes changes nothing in the policies and views of others", { timeout: 60_000 }, async (t) => {
  await server.expect(201, "POST", "/admin/tenants", { id: "delta" });
  for (const [username, role] of [
    ["delta-boss", "super_admin"],
    ["delta-ann", "user"],
  ]) {
    const user = { username, password: PASSWORD, roles: [role] };
    await server.expect(201, "POST", "/admin/tenants/delta/users", user);
  }
  const [boss, ann] = [await postgres({ user: "delta-boss" }), await postgres({ user: "delta-ann" })];
  const must = async (sql: string) => t.notMatch(await outcome(boss, sql), /^[0-9A-Z]{5} /, sql);
  const yes = "RETURNS boolean LANGUAGE sql STABLE AS 'SELECT true'";
  // Before there are roles, nobody owns what is made.
  await must("CREATE FUNCTION is_own(o text) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT o = session_user'");
  await must("CREATE TABLE board (id serial PRIMARY KEY, owner varchar(50), n int GENERATED ALWAYS AS IDENTITY)");
  await must("INSERT INTO board (owner) VALUES ('delta-ann'), ('other'), ('other')");
  await must("CREATE POLICY own ON board USING (is_own(owner) AND length(owner) > 5)");
  await must("ALTER TABLE board ENABLE ROW LEVEL SECURITY");
  await must("CREATE VIEW theirs AS SELECT id FROM board WHERE is_own(owner); GRANT SELECT ON theirs TO member");
  const sees = async (what: string) => {
    t.equal(await outcome(ann, "SELECT id FROM board ORDER BY id"), "1", what);
    t.equal(await outcome(ann, "SELECT id FROM theirs ORDER BY id"), "1", `${what}: by the view`);
  };
  await sees("before");
  t.match(await outcome(ann, `CREATE OR REPLACE FUNCTION is_own(o text) ${yes}`), /^42501 must be owner/);
  t.match(await outcome(ann, "DROP FUNCTION is_own(text)"), /^(?:42501|2BP01) /);
  await sees("the policy's function is its administrators'");
  // It fits a varchar better.
  t.equal(await outcome(ann, `CREATE FUNCTION is_own(o varchar) ${yes}`), "");
  t.equal(await outcome(ann, "CREATE FUNCTION length(o varchar) RETURNS int LANGUAGE sql AS 'SELECT 1 / 0'"), "");
  await sees("a function of the same name");
  t.equal(await outcome(ann, `CREATE SCHEMA evil; CREATE FUNCTION evil.is_own(o varchar) ${yes}`), "");
  t.equal(await outcome(ann, "SET search_path = evil, pg_catalog, public"), "");
  await sees("in a schema that comes earlier");
  t.equal(await outcome(ann, "RESET search_path"), "");
  t.match(await outcome(boss, "DROP FUNCTION is_own(text)"), /^2BP01 .*\n?.*policy own on table board depends on/s);

  // How many rows there are, and keys that come twice.
  for (const sql of [
    "SELECT last_value FROM board_id_seq",
    "SELECT last_value FROM board_n_seq",
    "SELECT setval('board_id_seq', 1)",
    "SELECT setval('board_n_seq', 1)",
  ]) {
    t.match(await outcome(ann, sql), /^42501 permission denied for sequence/, sql);
  }
  t.equal(await outcome(ann, "SELECT last_value FROM pg_sequences WHERE last_value IS NOT NULL"), "");
  t.equal(await outcome(ann, "SELECT pg_sequence_last_value('board_id_seq'::regclass)"), "");
  t.equal(await outcome(ann, "INSERT INTO board (owner) VALUES ('delta-ann') RETURNING id, n"), "4,4");
  await must("REVOKE ALL ON board, theirs FROM member");
  t.match(await outcome(ann, "SELECT nextval('board_id_seq')"), /^42501 /);

  await must(
    `CREATE TABLE par (id int PRIMARY KEY, name text UNIQUE); CREATE TABLE parts (id int, area text DEFAULT '${SECRET}') PARTITION BY LIST (area)`,
  );
  await must(`CREATE TABLE child (id int, par text DEFAULT '${SECRET}' REFERENCES par (name))`);
  await must("REVOKE ALL ON par, child, parts FROM member; GRANT INSERT (id) ON child, parts TO member");
  t.equal(
    await outcome(ann, "INSERT INTO child (id) VALUES (1)"),
    `23503 insert or update on table "child" violates foreign key constraint "child_par_fkey" Key is not present in table "par".`,
  );
  t.equal(
    await outcome(ann, "INSERT INTO parts (id) VALUES (1)"),
    `23514 no partition of relation "parts" found for row`,
  );
  for (const client of [boss, ann]) client.close();
});
