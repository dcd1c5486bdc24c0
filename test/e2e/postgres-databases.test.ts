/** CREATE, ALTER and DROP DATABASE: branches of the tenant, by the name that clients connect to. */
import { once } from "node:events";
import pg from "pg";
import t from "tap";
import { passwordOf, TestServer } from "./server.js";
import { postgresPort, WITH_POSTGRES } from "./wire-client.js";

let server: TestServer;
t.before(async () => {
  server = await TestServer.start({ ...WITH_POSTGRES, TESSERA_ACTORS: "1" });
  await server.tenant("shop");
});
t.teardown(() => server?.stop());

async function connect(database: string, user = "admin", password = server.password): Promise<pg.Client> {
  const client = new pg.Client({ host: "127.0.0.1", port: postgresPort(server), user, password, database });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

const codeOf = (error: unknown): string => (error as { code: string }).code;
const refused = (client: pg.Client, sql: string) => client.query(sql).then(() => "done", codeOf);
async function rows(client: pg.Client, text: string): Promise<unknown[][]> {
  return (await client.query<unknown[]>({ text, rowMode: "array" })).rows;
}

t.test("a database begins empty, or as a copy of its template, and is no other's", async (t) => {
  const home = await connect("postgres");
  await home.query("CREATE TABLE kept (id int PRIMARY KEY); INSERT INTO kept VALUES (1), (2)");
  t.equal(
    (await home.query("CREATE DATABASE fresh WITH ENCODING 'UTF8' LC_COLLATE 'C' OWNER admin")).command,
    "CREATE",
  );
  await home.query("CREATE DATABASE copied TEMPLATE postgres");
  const fresh = await connect("fresh");
  t.same(await rows(fresh, "SELECT current_database(), current_catalog"), [["fresh", "fresh"]]);
  t.same(await rows(fresh, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), [["0"]]);
  await fresh.query("CREATE TABLE own (id int PRIMARY KEY); INSERT INTO own SELECT generate_series(1, 20)");
  t.same(await rows(fresh, "SELECT count(*), min(id), max(id) FROM own"), [["20", 1, 20]]);
  t.same(await rows(fresh, "SELECT table_catalog FROM information_schema.tables WHERE table_name = 'own'"), [
    ["fresh"],
  ]);
  t.equal(await refused(home, "SELECT * FROM own"), "42P01");
  const copied = await connect("copied");
  await copied.query("DELETE FROM kept WHERE id = 1");
  t.same(await rows(copied, "SELECT id FROM kept"), [[2]]);
  t.same(await rows(home, "SELECT id FROM kept ORDER BY id"), [[1], [2]]);
  await home.query("CREATE DATABASE again TEMPLATE fresh");
  const again = await connect("system:again");
  t.same(await rows(again, "SELECT current_database(), count(*) FROM own"), [["again", "20"]]);
  const listed = 'SELECT datname FROM pg_database ORDER BY datname COLLATE "C"';
  for (const client of [home, fresh])
    t.same(await rows(client, listed), [["again"], ["copied"], ["fresh"], ["system"]]);
  const own =
    "SELECT d.datname FROM pg_stat_activity a JOIN pg_database d ON d.oid = a.datid WHERE a.pid = pg_backend_pid()";
  t.same(await rows(fresh, own), [["fresh"]]);
  const answer = await server.call("GET", "/v1/branches");
  t.match(answer.body.data, {
    branches: [{ name: "again", from: "fresh", empty: false }, { name: "copied" }, { empty: true }],
  });
  t.match((await server.call("GET", "/v1/branches/fresh/diff")).body, { error: { code: "conflict" } });
  t.match((await server.call("POST", "/v1/branches/fresh/merge")).body, { error: { code: "conflict" } });
  await Promise.all([home, fresh, copied, again].map((client) => client.end()));
});

t.test("what is refused", async (t) => {
  const home = await connect("postgres");
  t.equal(await refused(home, "CREATE DATABASE fresh"), "42P04");
  t.equal(await refused(home, "CREATE DATABASE template1"), "42P04");
  t.equal(await refused(home, 'CREATE DATABASE "Not a name"'), "42602");
  t.equal(await refused(home, "CREATE DATABASE other TEMPLATE nothing"), "3D000");
  t.equal(await refused(home, "CREATE DATABASE other ENCODING 'LATIN1'"), "22023");
  t.equal(await refused(home, "CREATE DATABASE other COLOUR 'red'"), "42601");
  t.equal(await refused(home, "DO $$ BEGIN EXECUTE 'CREATE DATABASE other'; END $$"), "25001");
  await home.query("BEGIN");
  t.equal(await refused(home, "CREATE DATABASE other"), "25001");
  await home.query("ROLLBACK");
  t.equal(await refused(home, "DROP DATABASE nothing"), "3D000");
  t.equal(await refused(home, "DROP DATABASE system"), "55006");
  t.equal(await connect("nothing").then(() => "in", codeOf), "3D000");
  await home.query("DROP DATABASE IF EXISTS nothing");
  const fresh = await connect("fresh");
  t.equal(await refused(fresh, "DROP DATABASE fresh"), "55006");
  t.equal(await refused(fresh, "DROP DATABASE system"), "0A000", "the tenant itself");
  await home.end();
  await fresh.end();
});

t.test("who may", async (t) => {
  const password = passwordOf("shop");
  const member = await connect("shop", "shop-user", password);
  t.equal(await refused(member, "CREATE DATABASE mine"), "42501");
  t.equal(await connect("fresh", "shop-user", password).then(() => "in", codeOf), "3D000", "it is another tenant's");
  await member.end();
});

t.test("a database in use is not dropped, unless by force; its rows are gone then", async (t) => {
  const home = await connect("postgres");
  const fresh = await connect("fresh");
  const ended = once(fresh, "error");
  await home.query("DROP DATABASE fresh WITH (FORCE)");
  await ended;
  await home.query("CREATE DATABASE fresh");
  const next = await connect("fresh");
  t.equal(await refused(next, "SELECT * FROM own"), "42P01");
  // The session ends while DROP DATABASE waits for it.
  const dropped = home.query("DROP DATABASE fresh");
  await next.end();
  await dropped;
  t.equal(await connect("fresh").then(() => "in", codeOf), "3D000");
  await home.end();
});

t.test("a database outlives the template that it shares rows with", async (t) => {
  const home = await connect("postgres");
  await home.query("CREATE DATABASE template");
  const template = await connect("template");
  await template.query("CREATE TABLE own (id int PRIMARY KEY); INSERT INTO own SELECT generate_series(1, 500)");
  await template.end();
  await home.query("CREATE DATABASE one TEMPLATE template");
  await home.query("DROP DATABASE template");
  await home.query("CREATE DATABASE template");
  await home.query("DROP DATABASE template");
  t.equal(await connect("template").then(() => "in", codeOf), "3D000");
  const one = await connect("one");
  t.same(await rows(one, "SELECT count(*) FROM own"), [["500"]]);
  await one.end();
  await home.query("DROP DATABASE one");
  // Made from `fresh` above.
  await home.query("DROP DATABASE again");
  const left = "SELECT datname FROM pg_database WHERE datname LIKE 'dropped%'";
  for (let i = 0; i < 100 && (await rows(home, left)).length > 0; i++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  t.same(await rows(home, left), [], "the template has ended after what was made from it");
  await home.end();
});

t.test("a database gets another name, with its rows", async (t) => {
  const home = await connect("postgres");
  await home.query("CREATE DATABASE before");
  await home.query("CREATE DATABASE taken");
  const inside = await connect("before");
  await inside.query("CREATE TABLE own (id int PRIMARY KEY); INSERT INTO own VALUES (7)");
  t.equal(await refused(inside, "ALTER DATABASE before RENAME TO after"), "0A000", "it is open");
  t.equal(await refused(inside, "ALTER DATABASE system RENAME TO after"), "0A000", "it is the tenant");
  await inside.end();
  t.equal(await refused(home, "ALTER DATABASE nothing RENAME TO after"), "3D000");
  t.equal(await refused(home, "ALTER DATABASE before RENAME TO taken"), "42P04");
  t.equal(await refused(home, "ALTER DATABASE before RENAME TO postgres"), "42P04");
  t.equal(await refused(home, 'ALTER DATABASE before RENAME TO "Not a name"'), "42602");
  t.equal(await refused(home, "ALTER DATABASE postgres RENAME TO after"), "0A000");
  await home.query("BEGIN");
  t.equal(await refused(home, "ALTER DATABASE before RENAME TO after"), "25001");
  await home.query("ROLLBACK");
  const both = await Promise.all([
    refused(home, "ALTER DATABASE before RENAME TO after"),
    connect("taken").then(async (other) => {
      const answer = await refused(other, "ALTER DATABASE before RENAME TO after");
      await other.end();
      return answer;
    }),
  ]);
  t.match(both.sort(), [/^(?:3D000|42P04)$/, "done"], "one of two has it");
  t.equal(await connect("before").then(() => "in", codeOf), "3D000");
  await home.query("CREATE DATABASE before");
  await home.query("DROP DATABASE before");
  const after = await connect("after");
  t.same(await rows(after, "SELECT current_database(), id FROM own"), [["after", 7]]);
  await after.end();
  const notices: string[] = [];
  home.on("notice", ({ message }) => void notices.push(String(message)));
  const altered = await home.query("ALTER DATABASE after OWNER TO admin");
  t.equal(altered.command, "ALTER");
  t.match(notices, [/the owner stays/]);
  await home.query("ALTER DATABASE after WITH CONNECTION LIMIT -1 ALLOW_CONNECTIONS true");
  t.equal(await refused(home, "ALTER DATABASE after CONNECTION LIMIT 3"), "0A000");
  t.equal(await refused(home, "CREATE DATABASE fewer CONNECTION LIMIT 3"), "0A000");
  t.equal(await refused(home, "CREATE DATABASE pattern IS_TEMPLATE true"), "0A000");
  t.equal(await refused(home, "ALTER DATABASE after COLOUR 'red'"), "42601");
  t.equal(await refused(home, "ALTER DATABASE nothing OWNER TO admin"), "3D000");
  t.equal(await refused(home, "ALTER DATABASE after SET work_mem = '1MB'"), "0A000");
  await home.query("DROP DATABASE taken");
  const member = await connect("shop", "shop-user", passwordOf("shop"));
  t.equal(await refused(member, "ALTER DATABASE after RENAME TO mine"), "42501");
  await member.end();
  await home.end();
});

t.test("they outlive the server, with their rows", async (t) => {
  let home = await connect("postgres");
  await home.query("CREATE DATABASE lasting");
  const first = await connect("lasting");
  await first.query("CREATE TABLE own (id int PRIMARY KEY); INSERT INTO own SELECT generate_series(1, 20000)");
  await first.end();
  await home.end();
  await server.kill();
  await server.boot();
  const renamed = await connect("after");
  t.same(await rows(renamed, "SELECT id FROM own"), [[7]]);
  await renamed.end();
  const second = await connect("lasting");
  t.same(await rows(second, "SELECT count(*), max(id) FROM own"), [["20000", 20000]]);
  await second.end();
  home = await connect("postgres");
  await home.query("DROP DATABASE lasting");
  await home.end();
});
