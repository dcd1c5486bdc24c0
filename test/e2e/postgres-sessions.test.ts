/**
 * What PostgreSQL's catalog tells of sessions (locks that they hold and wait for, prepared statements, cursors), and
 * what a session is after an error, a change of definitions, its end; COPY's rules for rows of CSV.
 */
import t from "tap";
import { TestServer } from "./server.js";
import {
  bind,
  describe,
  errorIn,
  execute,
  fieldsOf,
  lettersOf,
  message,
  parse,
  query,
  type Received,
  sync,
  valuesOf,
  WITH_POSTGRES,
  WireClient,
  withWire,
} from "./wire-client.js";

let server: TestServer;
t.before(async () => {
  server = await TestServer.start({ ...WITH_POSTGRES, TESSERA_ACTORS: "1" });
});
t.teardown(() => server?.stop());

const withClient = (work: (client: WireClient) => Promise<void>) => withWire(server, work);

const rowsOf = (messages: readonly Received[]): (string | null)[][] =>
  messages.filter(({ type }) => type === "D").map(valuesOf);
async function rows(client: WireClient, sql: string): Promise<(string | null)[][]> {
  const messages = await client.ask(sql);
  const error = messages.find(({ type }) => type === "E");
  if (error !== undefined) throw new Error(`${sql}: ${fieldsOf(error).M}`);
  return rowsOf(messages);
}

async function open(): Promise<{ client: WireClient; pid: string }> {
  const client = await WireClient.open(server);
  return { client, pid: (await rows(client, "SELECT pg_backend_pid()"))[0]![0]! };
}

/** By number, as catalogs list them. */
const inOrder = <T extends { pid: string }[]>(...opened: T): T => opened.sort((a, b) => Number(a.pid) - Number(b.pid));

t.test("pg_locks has the rows that transactions hold, and who waits for whom", async (t) => {
  const [a, b, c, watcher] = inOrder(await open(), await open(), await open(), await open());
  await a.client.ask("CREATE TABLE held (id int PRIMARY KEY, n int); CREATE TABLE read (id int PRIMARY KEY)");
  await a.client.ask("INSERT INTO held VALUES (1, 0), (2, 0); INSERT INTO read VALUES (1)");
  const locks =
    "SELECT pid, locktype, relation::regclass, mode, granted FROM pg_locks WHERE locktype <> 'virtualxid' AND pid <> pg_backend_pid() ORDER BY pid, locktype, mode, relation";
  t.same(await rows(watcher.client, locks), []);
  await a.client.ask("BEGIN; UPDATE held SET n = 1 WHERE id = 1");
  await a.client.ask("SELECT * FROM read FOR UPDATE");
  await b.client.ask("BEGIN; SELECT * FROM held WHERE id = 2 FOR UPDATE");
  const held = [
    [a.pid, "relation", "held", "RowExclusiveLock", "t"],
    [a.pid, "relation", "read", "RowShareLock", "t"],
    [a.pid, "transactionid", null, "ExclusiveLock", "t"],
    [b.pid, "relation", "held", "RowShareLock", "t"],
    [b.pid, "transactionid", null, "ExclusiveLock", "t"],
  ];
  t.same(await rows(watcher.client, locks), held);
  t.same(await rows(watcher.client, `SELECT pg_blocking_pids(${b.pid})`), [["{}"]]);
  // One waits within a transaction, one with a statement that is alone.
  b.client.send(query("UPDATE held SET n = 2 WHERE id = 1"));
  c.client.send(query("UPDATE held SET n = n + 10 WHERE id = 1"));
  const waiting = "SELECT pid FROM pg_locks WHERE NOT granted AND waitstart IS NOT NULL ORDER BY pid";
  while ((await rows(watcher.client, waiting)).length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  t.same(await rows(watcher.client, waiting), [[b.pid], [c.pid]]);
  for (const { pid } of [b, c]) t.same(await rows(watcher.client, `SELECT pg_blocking_pids(${pid})`), [[`{${a.pid}}`]]);
  const isBlocked = `SELECT pg_isolation_test_session_is_blocked(${b.pid}, '{${a.pid}}'),
    pg_isolation_test_session_is_blocked(${b.pid}, '{${c.pid}}'), pg_isolation_test_session_is_blocked(${a.pid}, '{${b.pid}}')`;
  t.same(await rows(watcher.client, isBlocked), [["t", "f", "f"]]);
  const joined =
    "SELECT w.pid, h.pid FROM pg_locks w JOIN pg_locks h USING (transactionid) WHERE NOT w.granted AND h.granted ORDER BY 1";
  t.same(await rows(watcher.client, joined), [
    [b.pid, a.pid],
    [c.pid, a.pid],
  ]);
  const activity = "SELECT wait_event_type, wait_event FROM pg_stat_activity WHERE pid =";
  t.same(await rows(watcher.client, `${activity} ${c.pid}`), [["Lock", "transactionid"]]);
  t.same(await rows(watcher.client, `${activity} ${a.pid}`), [[null, null]]);
  await a.client.ask("ROLLBACK");
  t.match(lettersOf(await b.client.until("Z")), "CZ");
  await b.client.ask("COMMIT");
  t.match(lettersOf(await c.client.until("Z")), "CZ");
  t.same(await rows(watcher.client, locks), []);
  for (const { client } of [a, b, c, watcher]) client.close();
});

t.test("pg_locks has each transaction, and the relation that it is read by", async (t) => {
  const [a, b] = inOrder(await open(), await open());
  await a.client.ask("BEGIN");
  const locks =
    "SELECT pid, locktype, relation::regclass, database IS NULL, mode, virtualxid = virtualtransaction FROM pg_locks ORDER BY pid, locktype";
  t.same(await rows(b.client, locks), [
    [a.pid, "virtualxid", null, "t", "ExclusiveLock", "t"],
    [b.pid, "relation", "pg_locks", "f", "AccessShareLock", null],
    [b.pid, "virtualxid", null, "t", "ExclusiveLock", "t"],
  ]);
  for (const { client } of [a, b]) client.close();
});

t.test("pg_stat_activity has the statements of the protocol itself", async (t) => {
  const [a, watcher] = [await open(), await open()];
  for (const sql of ["LISTEN here", "NOTIFY here", "UNLISTEN *"]) {
    await a.client.ask(sql);
    t.same(await rows(watcher.client, `SELECT query, state FROM pg_stat_activity WHERE pid = ${a.pid}`), [
      [sql, "idle"],
    ]);
  }
  for (const { client } of [a, watcher]) client.close();
});

t.test("pg_locks has advisory locks with their keys", async (t) => {
  const [a, b, watcher] = inOrder(await open(), await open(), await open());
  await a.client.ask("SELECT pg_advisory_lock(-1), pg_advisory_lock_shared(7, -8)");
  await a.client.ask("BEGIN; SELECT pg_advisory_xact_lock(4294967298)");
  await b.client.ask("SELECT pg_advisory_lock_shared(7, -8)");
  b.client.send(query("SELECT pg_advisory_lock(-1)"));
  const waiting = `SELECT pg_blocking_pids(${b.pid})`;
  while ((await rows(watcher.client, waiting))[0]![0] === "{}") await new Promise((resolve) => setTimeout(resolve, 10));
  t.same(await rows(watcher.client, waiting), [[`{${a.pid}}`]]);
  const locks =
    "SELECT pid, classid, objid, objsubid, mode, granted FROM pg_locks WHERE locktype = 'advisory' ORDER BY pid, classid, granted DESC";
  t.same(await rows(watcher.client, locks), [
    [a.pid, "1", "2", "1", "ExclusiveLock", "t"],
    [a.pid, "7", "4294967288", "2", "ShareLock", "t"],
    [a.pid, "4294967295", "4294967295", "1", "ExclusiveLock", "t"],
    [b.pid, "7", "4294967288", "2", "ShareLock", "t"],
    [b.pid, "4294967295", "4294967295", "1", "ExclusiveLock", "f"],
  ]);
  await a.client.ask("COMMIT");
  await a.client.ask("SELECT pg_advisory_unlock_all()");
  await b.client.until("Z");
  t.same(await rows(watcher.client, "SELECT pid FROM pg_locks WHERE locktype = 'advisory'"), [[b.pid], [b.pid]]);
  for (const { client } of [a, b, watcher]) client.close();
});

t.test("pg_prepared_statements has the session's own, by SQL and by the protocol", async (t) => {
  const [a, b] = inOrder(await open(), await open());
  const listed =
    "SELECT name, statement, ARRAY(SELECT t::regtype::text FROM unnest(parameter_types) t), from_sql, prepare_time BETWEEN now() - interval '1 hour' AND now() + interval '1 minute' " +
    "FROM pg_prepared_statements ORDER BY name";
  t.same(await rows(a.client, listed), []);
  await a.client.ask("PREPARE by_sql (int, text) AS SELECT $1 + 1, $2");
  a.client.send(parse("by_message", "SELECT $1::numeric * 2", []), parse("", "SELECT 1"), sync);
  await a.client.until("Z");
  t.same(await rows(a.client, listed), [
    ["by_message", "SELECT $1::numeric * 2", "{numeric}", "f", "t"],
    ["by_sql", "PREPARE by_sql (int, text) AS SELECT $1 + 1, $2", "{integer,text}", "t", "t"],
  ]);
  t.same(await rows(b.client, listed), [], "not those of others");
  a.client.send(message("C", Buffer.from("S"), "by_message"), sync);
  await a.client.until("Z");
  await a.client.ask("DEALLOCATE by_sql");
  t.same(await rows(a.client, listed), []);
  for (const { client } of [a, b]) client.close();
});

t.test("pg_cursors has cursors and named portals of the session", async (t) => {
  const [a, b] = inOrder(await open(), await open());
  const listed = "SELECT name, statement, is_holdable, is_binary, is_scrollable FROM pg_cursors ORDER BY name";
  await a.client.ask("BEGIN; DECLARE declared BINARY SCROLL CURSOR FOR SELECT 1");
  await a.client.ask("DECLARE kept CURSOR WITH HOLD FOR SELECT 2");
  a.client.send(parse("", "SELECT $1::int"), bind("bound", "", ["1"]), message("H"));
  await a.client.until("2");
  const all = await rows(a.client, listed);
  t.same(
    all.map(([name, , holds, binary]) => [name, holds, binary]),
    [
      ["bound", "f", "f"],
      ["declared", "f", "t"],
      ["kept", "t", "f"],
    ],
  );
  t.match(all[0]![1], "SELECT $1::int");
  t.same(await rows(b.client, listed), []);
  await a.client.ask("COMMIT");
  t.same(
    (await rows(a.client, listed)).map(([name]) => name),
    ["kept"],
  );
  await a.client.ask("CLOSE ALL");
  t.same(await rows(a.client, listed), []);
  for (const { client } of [a, b]) client.close();
});

t.test("any error in a transaction leaves it to be rolled back", (t) =>
  withClient(async (client) => {
    await client.ask("CREATE TABLE kept (id int PRIMARY KEY)");
    const stateAfter = (messages: readonly Received[]) => messages.at(-1)!.body.toString();
    const rows = (text: string) => client.send(message("d", Buffer.from(text)), message("c"));
    for (const [name, send] of [
      ["of parsing", () => client.send(parse("", "wat"), sync)],
      ["of binding", () => client.send(parse("", "SELECT $1::int"), bind("", "", ["x"]), sync)],
      ["of a portal that is not there", () => client.send(execute("nowhere"), sync)],
      [
        "of rows that are copied",
        async () => {
          client.send(query("COPY kept FROM STDIN"));
          await client.until("G");
          rows("1\n1\n");
        },
      ],
      [
        "of a copy that its client gives up",
        async () => {
          client.send(query("COPY kept FROM STDIN"));
          await client.until("G");
          client.send(message("d", Buffer.from("7\n")), message("f", Buffer.from("no more\0")));
        },
      ],
    ] as const) {
      t.equal(stateAfter(await client.ask("BEGIN; INSERT INTO kept VALUES (5)")), "T", name);
      await send();
      t.equal(stateAfter(await client.until("Z")), "E", name);
      t.equal(errorIn(await client.ask("SELECT 1")).C, "25P02", name);
      t.equal(stateAfter(await client.ask("COMMIT")), "I", name);
    }
    t.same(valuesOf((await client.ask("SELECT count(*) FROM kept")).find(({ type }) => type === "D")!), ["0"]);
  }),
);

t.test("a pipeline without Sync is worked on when nothing follows", (t) =>
  withClient(async (client) => {
    client.send(parse("", "SELECT 1"), bind("", "", []), execute(""), parse("", "SELECT nothing"));
    t.match(lettersOf(await client.until("E")), /^12DC(?:1)?E$/);
    client.send(sync);
    t.equal(lettersOf(await client.until("Z")), "Z");
  }),
);

t.test("a session that ends itself hears so at once", async (t) => {
  const client = await WireClient.open(server);
  client.send(query("SELECT pg_terminate_backend(pg_backend_pid())"));
  t.equal(errorIn(await client.until("E")).C, "57P01");
  client.close();
});

t.test("answers of a pipeline do not wait for a later statement that waits", (t) =>
  withClient(async (other) => {
    await other.ask("SELECT pg_advisory_lock(77)");
    await withClient(async (client) => {
      const one = (sql: string) => Buffer.concat([parse("", sql), bind("", ""), execute("")]);
      const asked = [one("SELECT 1"), sync, one("SELECT 2"), message("H"), one("SELECT pg_advisory_lock(77)"), sync];
      client.send(...asked, query("SELECT 3"));
      t.equal(lettersOf(await client.until("Z")), "12DCZ");
      t.equal(lettersOf(await client.until("C")), "12DC", "what Flush asks for");
      await other.ask("SELECT pg_advisory_unlock(77)");
      t.equal(lettersOf(await client.until("Z")), "12DCZ");
      t.equal(lettersOf(await client.until("Z")), "TDCZ");
      client.send(one("SELECT 4"), sync, one("SELECT pg_sleep(60)"), sync, query("SELECT 5"));
      t.equal(lettersOf(await client.until("Z")), "12DCZ");
      const [pid] = valuesOf((await other.ask("SELECT pid FROM pg_stat_activity WHERE query LIKE '%sleep(60)'"))[1]!);
      await other.ask(`SELECT pg_cancel_backend(${pid})`);
      t.match(errorIn(await client.until("Z")), { C: "57014" });
      t.equal(lettersOf(await client.until("Z")), "TDCZ");
    });
  }),
);

t.test("a session that another ends hears so while it rests, whatever it did last", (t) =>
  withClient(async (other) => {
    const doings = [
      query("SELECT 1"),
      query("BEGIN"),
      query("LISTEN ended"),
      Buffer.concat([parse("", "SELECT 1"), sync]),
    ];
    for (const doing of doings) {
      const client = await WireClient.open(server);
      const [pid] = valuesOf((await client.ask("SELECT pg_backend_pid()")).find(({ type }) => type === "D")!);
      client.send(doing);
      await client.until("Z");
      await other.ask(`SELECT pg_terminate_backend(${pid})`);
      t.match(errorIn(await client.until("E")), { S: "FATAL", C: "57P01" });
      t.equal(await client.receive(), null);
    }
  }),
);

t.test("a prepared statement whose columns have changed since is refused, not read wrongly", (t) =>
  withClient(async (client) => {
    await client.ask("CREATE TABLE changing (a int, b int); INSERT INTO changing VALUES (1, 2)");
    client.send(parse("all", "SELECT * FROM changing"), describe("S", "all"), sync);
    await client.until("Z");
    const run = async () => {
      client.send(bind("", "all"), execute(""), sync);
      return client.until("Z");
    };
    t.equal(lettersOf(await run()), "2DCZ");
    await client.ask("ALTER TABLE changing ALTER b TYPE text USING b::text");
    t.match(errorIn(await run()), {
      ...{ C: "0A000", M: "cached plan must not change result type" },
      // What pgjdbc and postgres.js know it by, to prepare the statement again.
      R: "RevalidateCachedQuery",
    });
    client.send(bind("", "never"), sync);
    t.match(errorIn(await client.until("Z")), { C: "26000", R: "FetchPreparedStatement" });
    await client.ask("ALTER TABLE changing ALTER b TYPE int USING b::int");
    t.equal(lettersOf(await run()), "2DCZ", "as it was told");
  }),
);

t.test("a cursor and a plan can be had by the extended protocol", (t) =>
  withClient(async (client) => {
    const run = async (sql: string) => {
      client.send(parse("", sql), bind("", ""), describe("P", ""), execute(""), sync);
      return client.until("Z");
    };
    t.equal(lettersOf(await run("BEGIN")), "12nCZ");
    t.equal(lettersOf(await run("DECLARE pairs CURSOR FOR SELECT 1 AS a, 'x' AS b")), "12nCZ");
    const fetched = await run("FETCH ALL FROM pairs");
    t.equal(lettersOf(fetched), "12TDCZ");
    t.same(rowsOf(fetched), [["1", "x"]]);
    t.equal(lettersOf(await run("COMMIT")), "12nCZ");
    t.match(lettersOf(await run("EXPLAIN SELECT 1 AS a, 'x' AS b")), /^12TD+CZ$/);
    t.match(lettersOf(await run("EXPLAIN ANALYZE SELECT 1 AS a, 'x' AS b")), /^12TD+CZ$/);
  }),
);

t.test("functions about the session know it also where rows are fetched in parts", (t) =>
  withClient(async (client) => {
    for (const sql of ["SELECT pg_backend_pid()", "SELECT pg_try_advisory_lock(77)", "SELECT pg_advisory_unlock(77)"]) {
      client.send(parse("", sql), bind("", ""), execute("", 1), sync);
      t.match(lettersOf(await client.until("Z")), /^12D[sC]Z$/, sql);
    }
    await client.ask("BEGIN; DECLARE mine CURSOR FOR SELECT pg_backend_pid()");
    t.match(lettersOf(await client.ask("FETCH mine")), /^TDCZ$/);
    await client.ask("ROLLBACK");
  }),
);

t.test("rows that are fetched in parts are those of the role, the definitions and the path of now", async (t) => {
  const { client } = await open();
  const other = await WireClient.open(server);
  t.teardown(() => {
    client.close();
    other.close();
  });
  await client.ask("CREATE SCHEMA near; CREATE TABLE near.here (n int); INSERT INTO near.here VALUES (2)");
  await client.ask("CREATE TABLE here (n int); INSERT INTO here VALUES (1)");
  let tables = 0;
  /** Parses, does `change`, and fetches: by a portal of its own, or by one that Bind opens in a transaction. */
  const fetched = async (change: (table: string) => Promise<unknown>, inBlock: boolean, named?: string) => {
    const table = named ?? `part_${++tables}`;
    if (named === undefined) {
      await client.ask(`CREATE TABLE ${table} (id int PRIMARY KEY, n int); GRANT SELECT ON ${table} TO part_reader`);
      await client.ask(`INSERT INTO ${table} VALUES (1, 1), (2, 2)`);
    }
    const parsed = parse("s", `SELECT * FROM ${table} WHERE n > $1`);
    client.send(message("C", Buffer.from("S"), "s"), parsed, sync);
    await client.until("Z");
    await change(table);
    if (inBlock) await client.ask("BEGIN");
    client.send(bind("p", "s", ["0"]), execute("p", inBlock ? 0 : 9), sync);
    const messages = await client.until("Z");
    await client.ask(`${inBlock ? "ROLLBACK; " : ""}RESET ROLE; RESET search_path`);
    const error = messages.find(({ type }) => type === "E");
    return error === undefined ? rowsOf(messages) : fieldsOf(error).C;
  };
  await client.ask("CREATE ROLE part_reader");
  const policy = (table: string) =>
    `CREATE POLICY mine ON ${table} USING (id = 1); ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`;
  for (const inBlock of [false, true]) {
    const where = inBlock ? "in a transaction" : "alone";
    const unchanged = await fetched(async () => undefined, inBlock);
    t.same(
      unchanged,
      [
        ["1", "1"],
        ["2", "2"],
      ],
      `${where}: nothing changed`,
    );
    const asReader = await fetched((table) => client.ask(`${policy(table)}; SET ROLE part_reader`), inBlock);
    t.same(asReader, [["1", "1"]], `${where}: another role has a policy`);
    const restricted = await fetched(async (table) => {
      await client.ask("SET ROLE part_reader");
      client.send(message("C", Buffer.from("S"), "s"), parse("s", `SELECT * FROM ${table} WHERE n > $1`), sync);
      await client.until("Z");
      await other.ask(policy(table));
    }, inBlock);
    t.same(restricted, [["1", "1"]], `${where}: another session made a policy`);
    t.equal(await fetched((table) => other.ask(`ALTER TABLE ${table} DROP COLUMN n`), inBlock), "42703", where);
    t.equal(await fetched((table) => other.ask(`ALTER TABLE ${table} ADD COLUMN m int`), inBlock), "0A000", where);
    t.equal(await fetched((table) => other.ask(`DROP TABLE ${table}`), inBlock), "42P01", where);
    const path = await fetched(() => client.ask("SET search_path = near"), inBlock, "here");
    t.same(path, [["2"]], `${where}: another schema comes first`);
  }
});

t.test("RESET and DISCARD go back to what the client began with", async (t) => {
  const given = { TimeZone: "Europe/Zurich", options: "-c extra_float_digits=0" };
  const client = await WireClient.open(server, given);
  const shown = async () => [
    ...(await rows(client, "SHOW timezone")),
    ...(await rows(client, "SELECT 0.1::float8 + 0.2")),
  ];
  t.same(await shown(), [["Europe/Zurich"], ["0.3"]]);
  for (const back of [
    "RESET ALL",
    "RESET timezone; RESET extra_float_digits",
    "SET timezone TO DEFAULT",
    "DISCARD ALL",
  ]) {
    await client.ask("SET timezone = 'UTC'");
    await client.ask(back);
    t.same(await shown(), [["Europe/Zurich"], ["0.3"]], back);
  }
  await client.ask("SET extra_float_digits = 1");
  t.same(await rows(client, "SELECT 0.1::float8 + 0.2, '(0.1,0.2)'::point"), [["0.30000000000000004", "(0.1,0.2)"]]);
  client.close();
});

t.test("COPY of CSV with rules: which rows are stored, which fields are NULL, what the header says", (t) =>
  withClient(async (client) => {
    await client.ask("CREATE TABLE ruled (i int PRIMARY KEY, s text, n text, d numeric(6,2) DEFAULT 7)");
    const copyIn = async (command: string, rows: string): Promise<string> => {
      client.send(query(`COPY ruled (i, s, n) FROM STDIN ${command}`), message("d", Buffer.from(rows)), message("c"));
      const replies = await client.until("Z");
      const error = replies.find(({ type }) => type === "E");
      if (error !== undefined) return `${fieldsOf(error).C} ${fieldsOf(error).M}`;
      return replies
        .find(({ type }) => type === "C")!
        .body.toString()
        .slice(0, -1);
    };
    const csv = "FORMAT csv, HEADER match, NULL '-', ESCAPE '\\', FORCE_NULL (s), FORCE_NOT_NULL (n)";
    const file = 'i,s,n\n1,"-",-\n2,-,"-"\n3,"a\\"b",x\n44,c,y\n';
    t.equal(await copyIn(`WITH (${csv}) WHERE i < 10 AND ruled.n <> 'x' OR s LIKE '%"%';`, file), "COPY 3");
    const stored = await client.ask("SELECT i, coalesce(s, 'NULL'), coalesce(n, 'NULL'), d FROM ruled ORDER BY i");
    t.same(stored.filter(({ type }) => type === "D").flatMap(valuesOf), [
      ...["1", "NULL", "-", "7.00"],
      ...["2", "NULL", "-", "7.00"],
      ...["3", 'a"b', "x", "7.00"],
    ]);
    for (const [command, rows, expected] of [
      [
        "(FORMAT csv, HEADER match)",
        "i,x,n\n",
        '22P04 column name mismatch in header line field 2: got "x", expected "s"',
      ],
      ["(FORMAT csv, HEADER match)", "i,s\n", "22P04 wrong number of fields in header line: got 2, expected 3"],
      ["(FORMAT csv, HEADER)", "what,ever,they say\n5,e,f\n", "COPY 1"],
      ["(FORCE_NULL (s))", "", "0A000 COPY force null available only in CSV mode"],
      ["(ESCAPE 'x')", "", "0A000 COPY escape available only in CSV mode"],
      ["WHERE i > 5", "5\ta\tb\n6\ta\tb\n", "COPY 1"],
      ["WHERE nothing > 5", "7\ta\tb\n", /^42703 column "nothing" does not exist/],
      ["WHERE nothing > 5", "", /^42703 column "nothing" does not exist/],
      ["WHERE i > 0", "8\ta\tb\n6\ta\tb\n", /^23505 /],
      ["WHERE i > 0", "x\ta\tb\n", /^22P02 invalid input syntax for type integer: "x"/],
    ] as const) {
      const answer = await copyIn(command, rows);
      if (typeof expected === "string") t.equal(answer, expected, command);
      else t.match(answer, expected, command);
    }
    t.same(valuesOf((await client.ask("SELECT string_agg(i::text, ',' ORDER BY i) FROM ruled"))[1]!), ["1,2,3,5,6"]);
    await client.ask("CREATE TABLE sized (c char(2), cs char(2)[], b bit(3), bs bit(3)[], w varchar(2))");
    client.send(query("COPY sized FROM STDIN WHERE c = 'ab' AND b = '101' AND cs[2] = 'cd' AND bs[1] = b"));
    client.send(message("d", Buffer.from("ab\t{ab,cd}\t101\t{101,110}\txy\n")), message("c"));
    t.match((await client.until("Z")).at(-2)!.body.toString(), "COPY 1");
    const sized = (await client.ask("SELECT * FROM sized"))[1]!;
    t.same(valuesOf(sized), ["ab", "{ab,cd}", "101", "{101,110}", "xy"], "WHERE cuts no values");
    const out = await client.ask("COPY (SELECT 'a\"b', '\\', 'c,\\') TO STDOUT (FORMAT csv, ESCAPE '\\')");
    t.equal(out.find(({ type }) => type === "d")!.body.toString(), '"a\\"b",\\,"c,\\\\"\n');
    const forced = await client.ask("COPY (SELECT 'a\"\\' AS x) TO STDOUT (FORMAT csv, ESCAPE '\\', FORCE_QUOTE *)");
    t.equal(forced.find(({ type }) => type === "d")!.body.toString(), '"a\\"\\\\"\n');
    const early = await client.ask("COPY ruled (i, s) FROM STDIN (FORMAT csv, FORCE_NULL (d))");
    t.equal(lettersOf(early), "EZ", "before the client may send rows");
    t.match(errorIn(early), { C: "42P10", M: 'FORCE_NULL column "d" not referenced by COPY' });
    t.match(fieldsOf((await client.ask("COPY ruled TO STDOUT (FORMAT csv, FORCE_NULL (s))"))[0]!), { C: "0A000" });
  }),
);

t.test("a wrong COPY is refused before the client is told to send rows", (t) =>
  withClient(async (client) => {
    await client.ask("CREATE TABLE refused (a int, b text)");
    const cases = [
      ["(c) FROM STDIN", "42703"],
      ["(a, b, a) FROM STDIN", "42701"],
      ["FROM STDIN (FORMAT csv, FORMAT csv)", "42601"],
      ["FROM STDIN WHERE c = 1", "42703"],
      ["FROM STDIN WHERE a = max(a)", "42803"],
      ["(c) FROM STDIN (FORMAT csv, HEADER)", "42703"],
    ] as const;
    for (const [rest, code] of cases) {
      const answers = await client.ask(`COPY refused ${rest}`);
      t.equal(lettersOf(answers), "EZ", rest);
      t.match(errorIn(answers), { C: code }, rest);
    }
    t.same(await rows(client, "SELECT count(*) FROM refused"), [["0"]], "the session goes on");
  }),
);
