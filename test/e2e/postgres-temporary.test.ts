/** What a session of PostgreSQL's protocol leaves in pg_temp goes with it, whatever kind of object it is. */
import t from "tap";
import { TestServer } from "./server.js";
import { valuesOf, WITH_POSTGRES, WireClient } from "./wire-client.js";

let server: TestServer;
t.before(async () => {
  server = await TestServer.start({ ...WITH_POSTGRES, TESSERA_ACTORS: "1" });
});
t.teardown(() => server?.stop());

const MADE = [
  "CREATE FUNCTION pg_temp.one() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
  "CREATE TYPE pg_temp.mood AS ENUM ('sad')",
  "CREATE DOMAIN pg_temp.small AS integer",
  "CREATE AGGREGATE pg_temp.total(integer) (SFUNC = int4pl, STYPE = integer)",
  "CREATE OPERATOR pg_temp.=== (LEFTARG = integer, RIGHTARG = integer, FUNCTION = int4eq)",
  "CREATE TEMP SEQUENCE numbers",
  "CREATE TEMP TABLE many AS SELECT g, 'sad'::pg_temp.mood AS m FROM generate_series(1, 20000) g",
  "CREATE TEMP VIEW seen AS SELECT pg_temp.one() AS one, * FROM many",
];

const left = () =>
  server.rows(
    `SELECT proname FROM pg_proc WHERE proname IN ('one', 'total', 'takes')
     UNION ALL SELECT typname FROM pg_type WHERE typname IN ('mood', 'small')
     UNION ALL SELECT oprname FROM pg_operator WHERE oprname = '==='
     UNION ALL SELECT relname FROM pg_class WHERE relname IN ('numbers', 'many', 'seen') ORDER BY 1`,
  );

for (const [way, end] of [
  ["DISCARD TEMP", (client: WireClient) => client.ask("DISCARD TEMP")],
  ["the end of the session", (client: WireClient) => client.ask("SELECT pg_terminate_backend(pg_backend_pid())")],
] as const) {
  for (const statements of [MADE, MADE.slice(0, 1), MADE.slice(4, 5)]) {
    t.test(`${statements.length} of them, at ${way}`, async (t) => {
      const client = await WireClient.open(server);
      for (const sql of statements) {
        const messages = await client.ask(sql);
        t.notOk(
          messages.some(({ type }) => type === "E"),
          sql,
        );
      }
      t.equal((await left()).length, statements.length);
      // A definition elsewhere that needs one goes with it, as in PostgreSQL.
      if (statements === MADE) {
        await client.ask("CREATE FUNCTION takes(pg_temp.mood) RETURNS integer LANGUAGE sql AS 'SELECT 1'");
        t.equal((await left()).length, statements.length + 1);
      }
      await end(client);
      // The session's end is told before its temporary objects are gone.
      while ((await left()).length > 0) await new Promise((resolve) => setImmediate(resolve));
      if (way === "DISCARD TEMP") {
        const again = await client.ask(`${statements[0]!}; SELECT 1`);
        t.equal(valuesOf(again.find(({ type }) => type === "D")!)[0], "1", "its name is free again");
        await client.ask("DISCARD TEMP");
      }
    });
  }
}
