/** What PostgreSQL's protocol tells beside rows: command tags, and notices in the order of what happened. */
import t from "tap";
import { TestServer } from "./server.js";
import {
  bind,
  execute,
  fieldsOf,
  lettersOf,
  parse,
  sync,
  WITH_POSTGRES,
  type WireClient,
  withWire,
} from "./wire-client.js";

let server: TestServer;
t.before(async () => {
  server = await TestServer.start({ ...WITH_POSTGRES, TESSERA_ACTORS: "1" });
});
t.teardown(() => server?.stop());

const withClient = (work: (client: WireClient) => Promise<void>) => withWire(server, work);

/** The tags of the statements of a text. */
async function tags(client: WireClient, sql: string): Promise<readonly string[]> {
  const answer = await client.ask(sql);
  return answer.filter(({ type }) => type === "C").map(({ body }) => body.toString().replace(/\0$/, ""));
}

t.test("a tag says what the statement did", (t) =>
  withClient(async (client) => {
    t.same(await tags(client, "START TRANSACTION READ ONLY; COMMIT; BEGIN; END"), [
      ...["START TRANSACTION", "COMMIT", "BEGIN", "COMMIT"],
    ]);
    await client.ask("CREATE TABLE tagged (id int)");
    await client.ask("PREPARE ins AS INSERT INTO tagged VALUES (1), (2)");
    await client.ask("PREPARE upd AS UPDATE tagged SET id = id + 1");
    await client.ask("PREPARE del AS DELETE FROM tagged WHERE id = 3 RETURNING id");
    await client.ask("PREPARE sel AS SELECT FROM tagged");
    t.same(await tags(client, "EXECUTE ins; EXECUTE upd; EXECUTE del; EXECUTE sel"), [
      ...["INSERT 0 2", "UPDATE 2", "DELETE 1", "SELECT 1"],
    ]);
  }),
);

t.test("notices of a statement that fails come before its error", (t) =>
  withClient(async (client) => {
    const answer = await client.ask("DO $$ BEGIN RAISE NOTICE 'one'; RAISE NOTICE 'two'; PERFORM 1 / 0; END $$");
    t.equal(lettersOf(answer), "NNEZ");
    t.same(
      answer.slice(0, 3).map((message) => fieldsOf(message).M),
      ["one", "two", "division by zero"],
    );
    t.equal(lettersOf(await client.ask("SELECT nothing")), "EZ", "they are told once");
  }),
);

t.test("COMMIT of a failed transaction answers ROLLBACK, and nothing else", (t) =>
  withClient(async (client) => {
    await client.ask("BEGIN");
    t.equal(lettersOf(await client.ask("SELECT nothing")), "EZ");
    const answer = await client.ask("COMMIT");
    t.equal(lettersOf(answer), "CZ");
    t.equal(answer[0]!.body.toString(), "ROLLBACK\0");
  }),
);

t.test("procedures commit, in both ways to query", (t) =>
  withClient(async (client) => {
    await client.ask("CREATE TABLE steps (id int)");
    await client.ask(`CREATE PROCEDURE step(INOUT n int) LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO steps VALUES (n); COMMIT; INSERT INTO steps VALUES (-n); ROLLBACK; END $$`);
    t.equal(lettersOf(await client.ask("CALL step(1)")), "TDCZ");
    client.send(parse("", "CALL step(2)"), bind("", "", []), execute(""), sync);
    t.equal(lettersOf(await client.until("Z")), "12DCZ");
    const several = await client.ask("INSERT INTO steps VALUES (9); CALL step(3)");
    t.match(fieldsOf(several.find(({ type }) => type === "E")!), { C: "2D000" }, "one transaction");
    const rows = await client.ask("SELECT string_agg(id::text, ' ' ORDER BY id) FROM steps");
    t.match(rows.find(({ type }) => type === "D")!.body.toString(), "1 2");
  }),
);
