/** LOCK TABLE holds off what PostgreSQL's table of conflicts says, until the transaction ends. */
import pg from "pg";
import t from "tap";
import { TestServer } from "./server.js";
import { postgresPort, WITH_POSTGRES } from "./wire-client.js";

let server: TestServer;
const open: pg.Client[] = [];
t.before(async () => {
  server = await TestServer.start({ ...WITH_POSTGRES, TESSERA_ACTORS: "1" });
});
t.teardown(async () => {
  await Promise.all(open.map((client) => client.end()));
  await server?.stop();
});

async function connect(): Promise<pg.Client> {
  const port = postgresPort(server);
  const login = { host: "127.0.0.1", port, user: "admin", password: server.password, database: "postgres" };
  const client = new pg.Client(login);
  client.on("error", () => undefined);
  await client.connect();
  open.push(client);
  return client;
}

async function tried(client: pg.Client, sql: string): Promise<string> {
  return client.query(sql).then(
    () => "done",
    (error: unknown) => (error as { code: string }).code,
  );
}

const MODES = [
  ...["ACCESS SHARE", "ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE"],
  ...["SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE", "ACCESS EXCLUSIVE"],
];
/** Of PostgreSQL 15: a row for each mode that is held; x: the one in this place has to wait. */
const CONFLICTS = [
  ...[".......x", "......xx", "....xxxx", "...xxxxx"],
  ...["..xx.xxx", "..xxxxxx", ".xxxxxxx", "xxxxxxxx"],
];

t.test("which modes go together", async (t) => {
  const [first, second] = [await connect(), await connect()];
  await first.query("CREATE TABLE held (id int PRIMARY KEY, n int); INSERT INTO held VALUES (1, 0)");
  for (const [i, mode] of MODES.entries()) {
    await first.query(`BEGIN; LOCK TABLE held IN ${mode} MODE`);
    let found = "";
    for (const wanted of MODES) {
      const outcome = await tried(second, `BEGIN; LOCK TABLE held IN ${wanted} MODE NOWAIT`);
      found += outcome === "done" ? "." : outcome === "55P03" ? "x" : outcome;
      await second.query("ROLLBACK");
    }
    t.equal(found, CONFLICTS[i], mode);
    await first.query("ROLLBACK");
  }
});

t.test("writers wait for it, and it waits for writers; readers do not", async (t) => {
  const [first, second] = [await connect(), await connect()];
  await second.query("SET lock_timeout = '100ms'");
  await first.query("BEGIN; LOCK held");
  t.same((await second.query("SELECT n FROM held")).rows, [{ n: 0 }]);
  for (const sql of [
    "INSERT INTO held VALUES (2, 0)",
    "INSERT INTO held SELECT g, g FROM generate_series(10, 20000) g",
    "UPDATE held SET n = 5",
    "DELETE FROM held",
    "SELECT * FROM held FOR UPDATE",
  ]) {
    t.equal(await tried(second, sql), "55P03", sql);
    t.equal(await tried(second, `BEGIN; ${sql}`), "55P03", `in a transaction: ${sql}`);
    await second.query("ROLLBACK");
  }
  t.same((await first.query("SELECT mode FROM pg_locks WHERE relation = 'held'::regclass")).rows, [
    { mode: "AccessExclusiveLock" },
  ]);
  await second.query("SET lock_timeout = 0");
  const waiting = second.query("UPDATE held SET n = n + 1");
  await first.query("UPDATE held SET n = 10; COMMIT");
  await waiting;
  t.same((await first.query("SELECT * FROM held")).rows, [{ id: 1, n: 11 }], "it saw what the holder committed");

  await first.query("BEGIN; UPDATE held SET n = 0");
  await second.query("BEGIN; SET LOCAL lock_timeout = '100ms'");
  t.equal(await tried(second, "LOCK TABLE held IN SHARE MODE"), "55P03");
  await second.query("ROLLBACK");
  t.equal(await tried(second, "BEGIN; LOCK TABLE held IN ROW EXCLUSIVE MODE NOWAIT"), "done");
  await second.query("ROLLBACK");
  await first.query("ROLLBACK");
});

t.test("two that count before they insert take turns", async (t) => {
  const clients = [await connect(), await connect(), await connect()];
  await clients[0]!.query("CREATE TABLE seats (n int)");
  await Promise.all(
    clients.flatMap((client) =>
      Array.from({ length: 4 }, () =>
        client.query(
          "BEGIN; LOCK TABLE seats IN SHARE ROW EXCLUSIVE MODE; INSERT INTO seats SELECT count(*) FROM seats HAVING count(*) < 5; COMMIT",
        ),
      ),
    ),
  );
  t.same(
    (await clients[0]!.query("SELECT n FROM seats ORDER BY n")).rows.map(({ n }) => n),
    [0, 1, 2, 3, 4],
  );
});

t.test("two that wait for each other", async (t) => {
  const [first, second] = [await connect(), await connect()];
  await first.query("BEGIN; LOCK TABLE held IN SHARE MODE");
  await second.query("BEGIN; LOCK TABLE held IN SHARE MODE");
  const outcomes = await Promise.all([
    tried(first, "UPDATE held SET n = 1"),
    tried(second, "UPDATE held SET n = 2").then(async (outcome) => {
      await second.query("ROLLBACK");
      return outcome;
    }),
  ]);
  t.same(outcomes.sort(), ["40P01", "done"]);
  await Promise.all([first.query("ROLLBACK"), second.query("ROLLBACK")]);
});

t.test("what is refused", async (t) => {
  const client = await connect();
  t.equal(await tried(client, "LOCK TABLE held"), "25P01", "outside a transaction");
  t.equal(await tried(client, "BEGIN; LOCK TABLE nothing"), "42P01");
  await client.query("ROLLBACK");
});

t.test("LOCK of a view locks the tables that it reads, and asks for rights to the view alone", async (t) => {
  const [first, second] = [await connect(), await connect()];
  await first.query("CREATE ROLE reader");
  await first.query("CREATE TABLE below (id int); CREATE TABLE beside (id int)");
  await first.query("CREATE VIEW shown AS SELECT * FROM below WHERE id IN (SELECT id FROM beside)");
  await first.query("BEGIN; LOCK shown IN ACCESS EXCLUSIVE MODE");
  for (const name of ["below", "beside", "shown"]) {
    t.equal(await tried(second, `LOCK ${name} IN ACCESS SHARE MODE NOWAIT`), "25P01", "outside of a transaction");
    await second.query("BEGIN");
    t.equal(await tried(second, `LOCK ${name} IN ACCESS SHARE MODE NOWAIT`), "55P03", name);
    await second.query("ROLLBACK");
  }
  await first.query("ROLLBACK");
  await first.query("REVOKE ALL ON below, shown FROM member; GRANT UPDATE ON shown TO reader; SET ROLE reader");
  await first.query("BEGIN");
  t.equal(await tried(first, "LOCK below IN EXCLUSIVE MODE"), "42501");
  await first.query("ROLLBACK; BEGIN");
  t.equal(await tried(first, "LOCK shown IN EXCLUSIVE MODE"), "done");
  await first.query("ROLLBACK; RESET ROLE; DROP OWNED BY reader; DROP ROLE reader");
});
