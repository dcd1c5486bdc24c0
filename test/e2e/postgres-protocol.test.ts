/** PostgreSQL's protocol message by message: the start, both ways to query, errors, cancellation, the end. */
import t from "tap";
import { TestServer } from "./server.js";
import {
  bind,
  CANCEL_REQUEST,
  describe,
  errorIn,
  execute,
  fieldsOf,
  int16,
  int32,
  lettersOf,
  message,
  parse,
  postgresPort,
  query,
  sync,
  valuesOf,
  WITH_POSTGRES,
  WireClient,
  withWire,
} from "./wire-client.js";
import { signIn } from "./wire-sign-in.js";

const SSL_REQUEST = 80_877_103;
const GSS_REQUEST = 80_877_104;

let server: TestServer;
t.before(async () => {
  server = await TestServer.start({ ...WITH_POSTGRES, TESSERA_ACTORS: "1" });
});
t.teardown(() => server?.stop());

const withClient = (work: (client: WireClient) => Promise<void>) => withWire(server, work);

t.test("a start without encryption tells settings and the key for cancellation", async (t) => {
  const client = await WireClient.connect(postgresPort(server));
  client.send(int32(8), int32(GSS_REQUEST));
  t.equal((await client.raw(1)).toString(), "N");
  client.send(int32(8), int32(SSL_REQUEST));
  t.equal((await client.raw(1)).toString(), "N", "no certificate is configured");
  client.start({ user: "admin", database: "system", application_name: "test", options: "-c statement_timeout=5s" });
  t.equal(await signIn(client, server.password), null);
  const messages = await client.until("Z");
  t.match(lettersOf(messages), /^KS+Z$/);
  const settings = new Map(
    messages.filter(({ type }) => type === "S").map(({ body }) => body.toString().split("\0") as [string, string]),
  );
  t.equal(settings.get("server_version"), "15.0");
  t.equal(settings.get("application_name"), "test");
  t.equal(settings.get("client_encoding"), "UTF8");
  t.same(valuesOf((await client.ask("SHOW statement_timeout")).find(({ type }) => type === "D")!), ["5s"]);
  client.send(message("X"));
  t.equal(await client.receive(), null, "Terminate ends the connection");
});

t.test("BEGIN in a text of several statements makes them its own transaction without a warning", (t) =>
  withClient(async (client) => {
    t.equal(lettersOf(await client.ask("BEGIN; SET statement_timeout = 30000; COMMIT; SELECT 1")), "CCCTDCZ");
    const twice = await client.ask("BEGIN; BEGIN; COMMIT");
    const notice = twice.find(({ type }) => type === "N")!;
    t.match(fieldsOf(notice), { S: "WARNING", C: "25001", M: "there is already a transaction in progress" });
  }),
);

t.test("starts that cannot go on end with a FATAL error that says why", async (t) => {
  const refused = async (parameters: Record<string, string>, password: string | null, version?: number) => {
    const client = await WireClient.connect(postgresPort(server));
    client.start(parameters, version);
    const refusal = password === null ? null : await signIn(client, password);
    const error = refusal ?? (await client.until("E")).at(-1)!;
    t.equal(await client.receive(), null, "the connection is closed");
    return fieldsOf(error);
  };
  t.match(await refused({ user: "admin" }, "wrong"), { S: "FATAL", C: "28P01", M: /authentication failed .*"admin"/ });
  t.match(await refused({ user: "nobody" }, "wrong"), { S: "FATAL", C: "28P01" });
  t.match(await refused({ user: "admin", database: "elsewhere" }, server.password), { C: "3D000", H: /"system"/ });
  t.match(await refused({ user: "admin@elsewhere" }, server.password), { C: "3D000" });
  t.match(await refused({ user: "admin", no_such: "1" }, server.password), { C: "42704", M: /no_such/ });
  t.match(await refused({}, null), { C: "28000", M: /no PostgreSQL user name/ });
  t.match(await refused({ user: "admin" }, null, 0x20000), { C: "0A000", M: /unsupported frontend protocol 2/ });
});

t.test("a client that wants a newer protocol hears of 3.0 and goes on", async (t) => {
  const client = await WireClient.connect(postgresPort(server));
  client.start({ user: "admin", "_pq_.fancy": "on" }, 0x30002);
  const negotiate = (await client.receive())!;
  t.equal(negotiate.type, "v");
  t.equal(negotiate.body.readInt32BE(), 0x30000);
  t.match(negotiate.body.toString(), "_pq_.fancy");
  t.equal(await signIn(client, server.password), null);
  t.equal((await client.until("Z")).at(-1)!.type, "Z");
  client.close();
});

t.test("an API key is a password, and a ReadOnly one cannot write", async (t) => {
  const made = await server.expect(201, "POST", "/v1/api-keys", { name: "reader", permission: "ReadOnly" });
  const client = await WireClient.connect(postgresPort(server));
  client.start({ user: "key", database: "system" });
  await client.receive();
  client.send(message("p", made.body.raw_key));
  t.equal((await client.until("Z")).at(-1)!.type, "Z");
  t.equal(lettersOf(await client.ask("SELECT 1")), "TDCZ");
  const refused = await client.ask("CREATE TABLE no (i int)");
  t.match(fieldsOf(refused[0]!), { C: "42501" });
  client.close();
});

t.test("one text with several statements is one transaction", (t) =>
  withClient(async (client) => {
    await client.ask("CREATE TABLE several (i int PRIMARY KEY)");
    const failed = await client.ask("INSERT INTO several VALUES (1); SELECT 1/0; SELECT 2");
    t.match(lettersOf(failed), /^CT?EZ$/, "what follows the error does not run");
    t.equal(errorIn(failed).C, "22012");
    t.same(valuesOf((await client.ask("SELECT count(*) FROM several"))[1]!), ["0"]);
    const mixed = await client.ask(
      "INSERT INTO several VALUES (1); COMMIT; INSERT INTO several VALUES (2); SELECT 1/0",
    );
    t.match(lettersOf(mixed), /^CCNCT?EZ$|^CNCCT?EZ$/);
    t.same(valuesOf((await client.ask("SELECT count(*) FROM several"))[1]!), ["1"]);
    t.equal(lettersOf(await client.ask(" ; -- nothing\n;")), "IZ");
    const open = await client.ask("BEGIN; SELECT 1");
    t.equal(open.at(-1)!.body.toString(), "T", "BEGIN leaves the transaction open");
    t.equal((await client.ask("SELECT nope")).at(-1)!.body.toString(), "E");
    t.match(fieldsOf((await client.ask("SELECT 1"))[0]!), { C: "25P02" });
    t.equal((await client.ask("ROLLBACK")).at(-1)!.body.toString(), "I");
    for (const control of ["SAVEPOINT a", "RELEASE a", "ROLLBACK TO a", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN"]) {
      const refused = await client.ask(`INSERT INTO several VALUES (3); ${control}; SELECT 1`);
      t.match(errorIn(refused), { C: "25P01", M: /can only be used in transaction blocks/ }, control);
      t.equal(refused.at(-1)!.body.toString(), "I", control);
    }
    t.same(valuesOf((await client.ask("SELECT count(*) FROM several"))[1]!), ["1"]);
    t.equal(lettersOf(await client.ask("BEGIN; SAVEPOINT a; ROLLBACK TO a; COMMIT")), "CCCCZ");
  }),
);

t.test("positions of errors count in the text that was sent", (t) =>
  withClient(async (client) => {
    const error = (await client.ask("SELECT 'é'; SELECT nope")).find(({ type }) => type === "E")!;
    t.match(fieldsOf(error), { C: "42703", P: "20" });
    const syntax = (await client.ask("SELECT 1; SELEC 2")).find(({ type }) => type === "E")!;
    t.match(fieldsOf(syntax), { C: "42601", P: "11" });
    const open = (await client.ask("SELECT 1; SELECT 'open")).find(({ type }) => type === "E")!;
    t.match(fieldsOf(open), { C: "42601" });
    const early = (await client.ask("SELECT 'é'; SELECT 1 +\n;")).find(({ type }) => type === "E")!;
    t.match(fieldsOf(early), { M: 'syntax error at or near ";"', P: "24" });
    const ends = (await client.ask("SELECT 'é'; SELECT 1 +\n")).find(({ type }) => type === "E")!;
    t.match(fieldsOf(ends), { M: "syntax error at end of input", P: "24" });
    client.send(parse("", "SELECT (1 ;"), sync);
    const parsed = (await client.until("Z")).find(({ type }) => type === "E")!;
    t.match(fieldsOf(parsed), { M: 'syntax error at or near ";"', P: "11" });
  }),
);

t.test("a column that is not grouped is shown where a subquery first names it", (t) =>
  withClient(async (client) => {
    const rows = "(VALUES (1, 2)) t(a, b)";
    for (const sql of [
      `SELECT a, (SELECT 1 WHERE t.b = 1 AND t.b > 0) FROM ${rows} GROUP BY a`,
      `SELECT a FROM ${rows} GROUP BY a HAVING EXISTS (SELECT 1 WHERE (SELECT a = t.b))`,
    ]) {
      const error = (await client.ask(sql)).find(({ type }) => type === "E")!;
      t.match(fieldsOf(error), { C: "42803", P: String(sql.indexOf("t.b") + 1) }, sql);
    }
  }),
);

t.test("the tag of a statement that fills a new table counts its rows", (t) =>
  withClient(async (client) => {
    const tags = async (sql: string) =>
      (await client.ask(sql)).filter(({ type }) => type === "C").map(({ body }) => body.toString().slice(0, -1));
    t.same(await tags("CREATE TEMP TABLE filled AS SELECT generate_series(1, 3) AS n"), ["SELECT 3"]);
    t.same(await tags("SELECT n INTO TEMP two FROM filled WHERE n > 1; DROP TABLE two"), ["SELECT 2", "DROP TABLE"]);
    t.same(await tags("CREATE TEMP TABLE empty AS TABLE filled WITH NO DATA"), ["CREATE TABLE AS"]);
    t.same(await tags("CREATE TEMP TABLE none AS SELECT n FROM filled WHERE n > 9"), ["SELECT 0"]);
    t.same(await tags("CREATE TEMP TABLE IF NOT EXISTS filled AS SELECT 1"), ["CREATE TABLE AS"]);
    t.same(await tags("CREATE MATERIALIZED VIEW seen AS SELECT 1 AS n; REFRESH MATERIALIZED VIEW seen"), [
      "SELECT 1",
      "REFRESH MATERIALIZED VIEW",
    ]);
    await client.ask("DROP MATERIALIZED VIEW seen");
  }),
);

t.test("notices bring what errors bring", (t) =>
  withClient(async (client) => {
    await client.ask("CREATE TABLE told (id int PRIMARY KEY); CREATE VIEW told_v AS SELECT * FROM told");
    await client.ask("CREATE VIEW told_w AS SELECT * FROM told; CREATE TABLE telling (id int REFERENCES told)");
    const dropped = await client.ask("DROP TABLE told CASCADE");
    t.match(fieldsOf(dropped[0]!), { S: "NOTICE", C: "00000", M: "drop cascades to 3 other objects" });
    const detail = fieldsOf(dropped[0]!).D!.split("\n").sort();
    t.same(detail, [
      "drop cascades to constraint telling_id_fkey on table telling",
      "drop cascades to view told_v",
      "drop cascades to view told_w",
    ]);
    t.notOk(
      "D" in fieldsOf((await client.ask("CREATE VIEW v1 AS SELECT * FROM telling; DROP TABLE telling CASCADE"))[1]!),
    );
    const raise = (options: string) => client.ask(`DO $$ BEGIN RAISE ${options}; END $$`);
    const all = "USING DETAIL = 'd', HINT = 'h', ERRCODE = '22012', TABLE = 't', COLUMN = 'c', DATATYPE = 'int4'";
    t.same(fieldsOf((await raise(`NOTICE 'one' ${all}`))[0]!), {
      ...{ S: "NOTICE", V: "NOTICE", C: "22012", M: "one", D: "d", H: "h", t: "t", c: "c", d: "int4" },
    });
    t.same(fieldsOf((await raise("WARNING 'two'"))[0]!), { S: "WARNING", V: "WARNING", C: "01000", M: "two" });
    t.equal(lettersOf(await client.ask("SET client_min_messages = warning")), "CZ");
    t.equal(lettersOf(await raise("NOTICE 'one'")), "CZ", "not wanted");
    t.equal(lettersOf(await raise("INFO 'one'")), "NCZ", "always");
    t.equal(lettersOf(await raise("WARNING 'one'")), "NCZ");
    t.match(fieldsOf((await client.ask("SET client_min_messages = loud"))[0]!), { C: "22023" });
  }),
);

t.test("an ivfflat index is made as hnsw, and a notice says so", (t) =>
  withClient(async (client) => {
    await client.ask("CREATE TEMP TABLE near (id int PRIMARY KEY, v vector(3))");
    const answer = await client.ask("CREATE INDEX ON near USING ivfflat (v vector_l2_ops) WITH (lists = 100)");
    t.same(answer.map(({ type }) => type).join(""), "NCZ");
    t.match(fieldsOf(answer[0]!), { S: "NOTICE", M: /the index is made with "hnsw"/ });
  }),
);

t.test("a pipeline goes on after Sync where a part of it failed", (t) =>
  withClient(async (client) => {
    client.send(
      parse("", "SELECT $1::int + 1"),
      bind("", "", ["x"]),
      execute(""),
      sync,
      parse("s", "SELECT $1::int + 1"),
      describe("S", "s"),
      bind("", "s", ["41"]),
      execute(""),
      sync,
    );
    t.equal(lettersOf(await client.until("Z")), "1EZ");
    const second = await client.until("Z");
    t.equal(lettersOf(second), "1tT2DCZ");
    t.same(valuesOf(second[4]!), ["42"]);
    client.send(parse("s", "SELECT 1"), sync);
    t.match(fieldsOf((await client.until("Z"))[0]!), { C: "42P05" });
    client.send(message("C", Buffer.from("S"), "s"), parse("s", "SELECT 1"), bind("", "nope"), sync);
    const third = await client.until("Z");
    t.equal(lettersOf(third), "31EZ");
    t.match(fieldsOf(third[2]!), { C: "26000" });
  }),
);

t.test("several Executes before one Sync are one transaction", (t) =>
  withClient(async (client) => {
    await client.ask("CREATE TABLE piped (i int PRIMARY KEY)");
    const insert = (value: string) => [parse("", "INSERT INTO piped VALUES ($1)"), bind("", "", [value]), execute("")];
    client.send(...insert("1"), ...insert("2"), ...insert("1"), sync);
    t.equal(lettersOf(await client.until("Z")), "12C12C12EZ");
    t.same(valuesOf((await client.ask("SELECT count(*) FROM piped"))[1]!), ["0"]);
    client.send(...insert("1"), ...insert("2"), sync);
    await client.until("Z");
    t.same(valuesOf((await client.ask("SELECT count(*) FROM piped"))[1]!), ["2"]);
  }),
);

t.test("Execute takes as many rows as it asks for", (t) =>
  withClient(async (client) => {
    client.send(
      parse("", "SELECT generate_series(1, 5)"),
      bind("p", ""),
      execute("p", 2),
      execute("p", 2),
      message("H"),
    );
    t.equal(lettersOf(await client.until("s")), "12DDs");
    t.equal(lettersOf(await client.until("s")), "DDs");
    client.send(execute("p", 2), sync);
    t.equal(lettersOf(await client.until("Z")), "DCZ");
    client.send(execute("p", 1), sync);
    t.match(fieldsOf((await client.until("Z"))[0]!), { C: "34000" }, "portals end with their transaction");
  }),
);

t.test("another connection cancels a statement, and the session goes on", (t) =>
  withClient(async (client) => {
    const port = postgresPort(server);
    const starting = await WireClient.connect(port);
    starting.start({ user: "admin" });
    await signIn(starting, server.password);
    const key = (await starting.until("Z")).find(({ type }) => type === "K")!.body;
    starting.send(query("SELECT count(*) FROM generate_series(1, 1000000000) i WHERE i % 7 = 8"));
    const wrong = await WireClient.connect(port);
    wrong.send(int32(16), int32(CANCEL_REQUEST), key.subarray(0, 4), int32(key.readInt32BE(4) ^ 1));
    t.equal(await wrong.receive(), null, "nothing is said to who cancels");
    // What comes before the statement runs cancels nothing.
    const running = `SELECT count(*) FROM pg_stat_activity
      WHERE state = 'active' AND query LIKE '%% 7 = 8%' AND pid <> pg_backend_pid()`;
    const isRunning = async () => valuesOf((await client.ask(running)).find(({ type }) => type === "D")!)[0] === "1";
    while (!(await isRunning()));
    const cancel = await WireClient.connect(port);
    cancel.send(int32(16), int32(CANCEL_REQUEST), key);
    t.match(errorIn(await starting.until("Z")), { C: "57014", M: /user request/ });
    t.same(valuesOf((await starting.ask("SELECT 2"))[1]!), ["2"]);
    starting.close();
  }),
);

t.test("texts that are no UTF-8 are refused, wherever they come", (t) =>
  withClient(async (client) => {
    const broken = Buffer.from("'a\xff'", "latin1");
    const text = Buffer.concat([Buffer.from("SELECT "), broken, Buffer.alloc(1)]);
    const bound = (format: number, value: Buffer) =>
      message("B", "", "", ...[1, format, 1].map(int16), int32(value.length), value, int16(0));
    for (const sent of [
      message("Q", text),
      Buffer.concat([message("P", Buffer.alloc(1), text, int16(0)), sync]),
      ...[0, 1].map((format) =>
        Buffer.concat([parse("", "SELECT $1::text"), bound(format, broken), execute(""), sync]),
      ),
      Buffer.concat([parse("", "SELECT $1::text"), bound(1, Buffer.from("a\0")), execute(""), sync]),
    ]) {
      client.send(sent);
      t.match(errorIn(await client.until("Z")), { C: "22021", M: /invalid byte sequence for encoding "UTF8"/ });
    }
    t.same(valuesOf((await client.ask("SELECT 'goes on'"))[1]!), ["goes on"]);
  }),
);

t.test("statements name portals, and Describe and Close name cursors", (t) =>
  withClient(async (client) => {
    await client.ask("BEGIN");
    client.send(parse("", "SELECT generate_series(1, 9)"), bind("rows", ""), sync);
    await client.until("Z");
    t.equal(lettersOf(await client.ask("MOVE 3 FROM rows")), "CZ");
    client.send(execute("rows", 1), sync);
    t.same(valuesOf((await client.until("Z"))[0]!), ["4"]);
    await client.ask("DECLARE declared CURSOR FOR SELECT 1 AS one");
    client.send(describe("P", "declared"), message("C", Buffer.from("P"), "declared"), sync);
    t.equal(lettersOf(await client.until("Z")), "T3Z");
    t.match(errorIn(await client.ask("FETCH declared")), { C: "34000" });
    await client.ask("ROLLBACK");
  }),
);

t.test("DEALLOCATE is about the protocol's statements too", (t) =>
  withClient(async (client) => {
    for (const ending of ['DEALLOCATE "kept"', "DEALLOCATE ALL", "DISCARD ALL"]) {
      client.send(parse("kept", "SELECT 1"), sync);
      t.equal(lettersOf(await client.until("Z")), "1Z", `before ${ending}`);
      await client.ask(ending);
    }
    t.match(errorIn(await client.ask("DEALLOCATE kept")), { C: "26000" });
  }),
);

t.test("columns of a result name the table's columns that they are", (t) =>
  withClient(async (client) => {
    await client.ask("CREATE TABLE origins (a int, b text)");
    const [description] = await client.ask("SELECT b AS called, a + 1, o.a FROM origins o GROUP BY b, a");
    const oid = Number(valuesOf((await client.ask("SELECT 'origins'::regclass::oid"))[1]!)[0]);
    const found: [string, number, number][] = [];
    const { body } = description!;
    for (let at = 2; at < body.length; at += 18) {
      const end = body.indexOf(0, at);
      found.push([body.toString("utf8", at, end), body.readUInt32BE(end + 1), body.readInt16BE(end + 5)]);
      at = end + 1;
    }
    t.same(found, [
      ["called", oid, 2],
      ["?column?", 0, 0],
      ["a", oid, 1],
    ]);
  }),
);

t.test("a parameter of the type void is no argument", (t) =>
  withClient(async (client) => {
    await client.ask("CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql AS 'SELECT n * 2'");
    const [VOID, INT4] = [2278, 23];
    client.send(parse("", "SELECT * FROM twice($1, $2) AS result", [VOID, INT4]), bind("", "", [null, "21"]));
    client.send(execute(""), sync);
    t.same(valuesOf((await client.until("Z")).find(({ type }) => type === "D")!), ["42"]);
  }),
);

t.test("CREATE TABLE AS has parameters in its query", (t) =>
  withClient(async (client) => {
    const sql =
      "CREATE TEMP TABLE picked AS SELECT n, $2 AS word, $3::date AS day FROM generate_series(1, 9) n WHERE n > $1";
    client.send(
      parse("fill", sql),
      describe("S", "fill"),
      bind("", "fill", ["7", "é", "2026-11-27"]),
      execute(""),
      sync,
    );
    const answer = await client.until("Z");
    t.equal(lettersOf(answer), "1tn2CZ");
    const oids = answer[1]!.body;
    t.same(
      [oids.readUInt16BE(0), oids.readUInt32BE(2), oids.readUInt32BE(6), oids.readUInt32BE(10)],
      [3, 23, 25, 1082],
    );
    t.equal(
      answer
        .find(({ type }) => type === "C")!
        .body.toString()
        .slice(0, -1),
      "SELECT 2",
    );
    const rows = (await client.ask("SELECT * FROM picked ORDER BY n")).filter(({ type }) => type === "D").map(valuesOf);
    t.same(rows, [
      ["8", "é", "2026-11-27"],
      ["9", "é", "2026-11-27"],
    ]);
    await client.ask("DROP TABLE picked");
    client.send(bind("", "fill", ["8", null, null]), execute(""), sync);
    t.equal(lettersOf(await client.until("Z")), "2CZ");
    t.same(valuesOf((await client.ask("SELECT n, word, day FROM picked"))[1]!), ["9", null, null]);
    client.send(parse("", "CREATE MATERIALIZED VIEW seen AS SELECT $1::int AS n"), sync);
    t.match(fieldsOf((await client.until("Z"))[0]!), { C: "42P02" });
  }),
);

t.test("what is no message ends the connection and nothing else", async (t) => {
  const gone = await WireClient.connect(postgresPort(server));
  gone.send(message("X"));
  t.equal(await gone.receive(), null, "a client that leaves at once hears nothing");
  for (const bytes of [Buffer.from("GET / HTTP/1.1\r\n\r\n"), Buffer.alloc(64, 0xff), Buffer.alloc(64)]) {
    const client = await WireClient.connect(postgresPort(server));
    client.send(bytes);
    const messages = await client.until("E");
    t.match(fieldsOf(messages[0]!), { S: "FATAL", C: "08P01" });
    client.close();
  }
  await withClient(async (client) => {
    client.send(Buffer.from([0x51, 0, 0, 0, 1]));
    t.match(fieldsOf((await client.until("E"))[0]!), { S: "FATAL", C: "08P01" });
    t.equal(await client.receive(), null);
  });
  await withClient(async (client) => {
    client.send(message("y"), sync);
    t.match(fieldsOf((await client.until("Z"))[0]!), { S: "ERROR", C: "08P01" });
    t.equal(lettersOf(await client.ask("SELECT 1")), "TDCZ");
  });
});

t.test("a session that rests in a transaction is ended when it asked for that", (t) =>
  withClient(async (client) => {
    await client.ask("SET idle_in_transaction_session_timeout = '50ms'");
    await client.ask("BEGIN");
    // The server looks every half second, or later where it has much to do.
    let error: Record<string, string> | null = null;
    while (error === null) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const [first] = await client.ask("SELECT 1");
      if (first!.type === "E") error = fieldsOf(first!);
    }
    t.match(error, { S: "FATAL", C: "25P03" });
  }),
);

t.test("the actor's thread has the socket of a connection", async (t) => {
  const lent = async (): Promise<number> => {
    const page = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^tessera_postgres_connections_lent (\d+)$/m.exec(page)![1]);
  };
  // Those of earlier tests are noticed to be gone at some time.
  while ((await lent()) > 0);
  const client = await WireClient.open(server);
  t.equal(await lent(), 1);
  // It stands still where it is not read, and nothing of it is lost.
  client.socket.pause();
  client.send(query("SELECT i, repeat('x', 100) FROM generate_series(1, 100000) AS s(i)"), query("SELECT 'later'"));
  const watcher = await WireClient.open(server);
  const state = async (): Promise<string | null> => {
    const found = await watcher.ask(
      "SELECT state FROM pg_stat_activity WHERE query LIKE '%repeat%' AND pid <> pg_backend_pid()",
    );
    return valuesOf(found.find(({ type }) => type === "D")!)[0]!;
  };
  while ((await state()) !== "active");
  client.socket.resume();
  const rows = (await client.until("Z")).filter(({ type }) => type === "D");
  t.equal(rows.length, 100_000);
  t.same(valuesOf(rows.at(-1)!), ["100000", "x".repeat(100)]);
  t.same((await client.until("Z")).filter(({ type }) => type === "D").map(valuesOf), [["later"]]);
  // Who leaves is not waited for, and what runs ends: a statement that waits, and one whose rows nobody reads.
  const left = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%left%' AND pid <> pg_backend_pid()";
  const running = async (): Promise<string | null> =>
    valuesOf((await watcher.ask(left)).find(({ type }) => type === "D")!)[0]!;
  client.socket.pause();
  client.send(query("SELECT 'left', repeat('x', 100) FROM generate_series(1, 100000)"));
  const other = await WireClient.open(server);
  other.send(query("SELECT 'left', pg_sleep(600)"));
  while ((await running()) !== "2");
  client.socket.destroy();
  other.socket.destroy();
  while ((await running()) !== "0");
  while ((await lent()) !== 1);
  watcher.close();
});
