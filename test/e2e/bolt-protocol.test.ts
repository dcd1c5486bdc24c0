/**
 * Messages of Bolt one by one: the handshake, the states of a session, rows in parts, what interrupts and what ends.
 */
import t from "tap";
import { ASK, STRUCT } from "../../src/protocol/bolt/message-tags.js";
import { PackWriter } from "../../src/protocol/bolt/pack-writer.js";
import {
  BoltClient,
  begin,
  boltPort,
  codeOf,
  commit,
  discard,
  message,
  pull,
  reset,
  rollback,
  run,
  type Told,
  WITH_BOLT,
} from "./bolt-client.js";
import { TestServer } from "./server.js";

let server: TestServer;
t.before(async () => {
  server = await TestServer.start({ ...WITH_BOLT, TESSERA_ACTORS: "1" });
});
t.teardown(() => server?.stop());

const kindsOf = (all: readonly Told[]): string => all.map(({ kind }) => kind).join(" ");
const rowsOf = (all: readonly Told[]): unknown[] =>
  all.filter(({ kind }) => kind === "record").map(({ data }) => data[0]);
const ENDLESS = "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y WITH x, y WHERE x + y < 0 RETURN count(*)";
const INVALID = "Neo.ClientError.Request.Invalid";

t.test("the newest revision that both speak", async (t) => {
  const agreed = async (...proposals: number[][]): Promise<string> => {
    const client = await BoltClient.connect(boltPort(server));
    const answer = await client.shake(...proposals);
    client.close();
    return answer.toString("hex");
  };
  t.equal(await agreed([0, 8, 8, 5], [0, 0, 4, 4]), "00000805");
  t.equal(await agreed([0, 0, 9, 5], [0, 2, 4, 4]), "00000404", "a range has its lower end");
  t.equal(await agreed([0, 3, 10, 5]), "00000805");
  t.equal(await agreed([0, 1, 1, 6], [0, 8, 8, 5]), "00000006");
  t.equal(await agreed([0, 0, 0, 3], [0, 0, 3, 4]), "00000000", "nothing in common");
  t.equal(await agreed([0, 0, 1, 0xff], [0, 8, 8, 5]), "000001ff", "a manifest");
  const other = await BoltClient.connect(boltPort(server));
  other.send(Buffer.from("xxxxxxxxxxxxxxxxxxxx"));
  t.equal(await other.receive(), null, "what is no Bolt gets no answer");
});

t.test("a client chooses from the manifest", async (t) => {
  const client = await BoltClient.connect(boltPort(server));
  await client.shake([0, 0, 1, 0xff]);
  t.equal((await client.take(14)).toString("hex"), "03" + "00000006" + "00080805" + "00000404" + "00");
  client.send(Buffer.from([0, 0, 4, 5, 0]), message("hello", { user_agent: "x" }));
  t.equal((await client.receive())!.data.server, "Neo4j/5.26.0");
  client.close();
  const wrong = await BoltClient.connect(boltPort(server));
  await wrong.shake([0, 0, 1, 0xff]);
  wrong.send(Buffer.from([0, 0, 0, 7, 0]));
  await wrong.closed();
});

/** RUN with a parameter $v. */
function sentVector(mark: readonly number[], bytes: readonly number[]): Buffer {
  const writer = new PackWriter();
  writer.begin(ASK.run, 3);
  writer.string("RETURN valueType($v) AS t");
  writer.map(1);
  writer.string("v");
  writer.structure(STRUCT.vector, 2);
  for (const each of [mark, bytes]) writer.bytes(Uint8Array.from(each));
  writer.map(0);
  writer.end();
  return writer.take();
}

const NAN = [[0xc6], [0x7f, 0xc0, 0, 0]] as const;

t.test("vectors are values since Bolt 6, and maps before", async (t) => {
  const of = "RETURN vector([1, 2], 2, INTEGER) AS v";
  const old = await BoltClient.open(server);
  t.same(await old.rows(of), [[{ originalType: "VECTOR(2, INTEGER64)", reason: "UNKNOWN_TYPE" }]]);
  old.close();
  const client = await BoltClient.open(server, [6, 0]);
  client.send(run(of), pull());
  t.equal(kindsOf(await client.until(2)), "success record success");
  client.send(sentVector([0xc9], [0, 1, 255, 254]), pull());
  t.same(rowsOf(await client.until(2)), ["VECTOR<INTEGER16 NOT NULL>(2) NOT NULL"]);
  client.send(sentVector([0xc6], [0x3f, 0xc0, 0, 0]), pull());
  t.same(rowsOf(await client.until(2)), ["VECTOR<FLOAT32 NOT NULL>(1) NOT NULL"]);
  client.close();
  for (const [mark, bytes] of [[[0xc9], [0]], [[0xcc], [0]], [[0xc8, 0xc8], [0]], NAN] as const) {
    const wrong = await BoltClient.open(server, [6, 0]);
    wrong.send(sentVector(mark, bytes));
    t.match(await wrong.receive(), { kind: "failure", data: { message: /a vector has|a vector's coordinates/ } });
    wrong.close();
  }
});

t.test("a vector of no or too many coordinates is a mistake of the statement", async (t) => {
  const client = await BoltClient.open(server, [6, 0]);
  for (const count of [0, 4097]) {
    client.send(sentVector([0xc8], new Array(count).fill(1)), reset);
    const [told] = await client.until(2);
    t.match(told, { kind: "failure", data: { message: `a vector has 1 to 4096 coordinates, not ${count}` } });
    t.equal(codeOf(told!), "Neo.ClientError.Statement.ArgumentError");
  }
  client.send(sentVector([0xc8], [1]), pull());
  t.same(rowsOf(await client.until(2)), ["VECTOR<INTEGER8 NOT NULL>(1) NOT NULL"], "the connection goes on");
  client.close();
});

t.test("messages come in pieces of any length, with empty chunks between them", async (t) => {
  const client = await BoltClient.open(server);
  const bytes = Buffer.concat([run("RETURN $x AS x", { x: "é".repeat(50_000) }), Buffer.alloc(4), pull()]);
  for (let at = 0; at < bytes.length; at += 7_001) {
    client.send(bytes.subarray(at, at + 7_001));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const all = await client.until(2);
  t.equal(kindsOf(all), "success record success");
  t.equal((all[1]!.data as string[])[0]!.length, 50_000);
  client.close();
});

t.test("rows in parts", async (t) => {
  const client = await BoltClient.open(server);
  client.send(run("UNWIND range(1, 5) AS x RETURN x"), pull(2));
  const first = await client.until(2);
  t.same(first[0]!.data.fields, ["x"]);
  t.same(rowsOf(first), [1, 2]);
  t.same(first.at(-1)!.data, { has_more: true });
  client.send(pull(3));
  const rest = await client.until(1);
  t.same(rowsOf(rest), [3, 4, 5]);
  t.match(
    rest.at(-1)!.data,
    { type: "r", db: "default", bookmark: /^tessera:0:\d+$/ },
    "the last row is known to be one",
  );
  t.notOk("has_more" in rest.at(-1)!.data);
  client.send(run("UNWIND range(1, 5) AS x CREATE (:Part {x: x}) RETURN x"), pull(2), discard(1), pull(1), pull());
  const made = await client.until(5);
  t.same(rowsOf(made), [1, 2, 4, 5]);
  t.match(made.at(-1)!.data, {
    type: "rw",
    stats: { "nodes-created": 5, "properties-set": 5, "contains-updates": true },
  });
  client.send(run("MATCH (p:Part) DELETE p"), discard());
  t.match((await client.until(2)).at(-1)!.data, { type: "w", stats: { "nodes-deleted": 5 } });
  client.close();
});

t.test("several results of one transaction", async (t) => {
  const client = await BoltClient.open(server);
  client.send(begin(), run("UNWIND [1, 2] AS x RETURN x"), run("UNWIND [3, 4] AS x RETURN x"), pull(1, 0), pull(1));
  const all = await client.until(5);
  t.same([all[1]!.data.qid, all[2]!.data.qid], [0, 1]);
  t.same(rowsOf(all), [1, 3], "-1 is the newest");
  client.send(pull(-1, 0), pull(-1, 1), commit);
  const rest = await client.until(3);
  t.same(rowsOf(rest), [2, 4]);
  t.match(rest.at(-1)!.data.bookmark, /^tessera:/);
  client.send(begin(), run("CREATE (:Gone)"), pull(), rollback);
  t.equal(kindsOf(await client.until(4)), "success success success success");
  t.same(await client.rows("MATCH (g:Gone) RETURN count(g)"), [[0]]);
  client.close();
});

t.test("after an error messages are left aside up to a RESET", async (t) => {
  const client = await BoltClient.open(server);
  client.send(begin(), run("CREATE (:Half)"), pull(), run("RETURN 1 / 0"), pull(), commit);
  const all = await client.until(6);
  t.equal(kindsOf(all), "success success success success failure ignored");
  t.match(all[4]!.data, {
    neo4j_code: "Neo.ClientError.Statement.ArithmeticError",
    gql_status: /^22/,
    description: /^error: data exception/,
    diagnostic_record: { OPERATION: "", OPERATION_CODE: "0", CURRENT_SCHEMA: "/", _classification: "CLIENT_ERROR" },
  });
  client.send(run("RETURN 1"), reset);
  t.equal(kindsOf(await client.until(2)), "ignored success");
  t.same(await client.rows("MATCH (h:Half) RETURN count(h)"), [[0]], "the transaction is gone");
  client.close();
});

t.test("a RESET interrupts what runs and what waits", async (t) => {
  const client = await BoltClient.open(server);
  client.send(run(ENDLESS), pull(), run("CREATE (:Late)"));
  t.equal((await client.receive())!.kind, "success");
  client.send(reset);
  const all = await client.until(3);
  t.equal(kindsOf(all), "failure ignored success");
  t.equal(codeOf(all[0]!), "Neo.TransientError.Transaction.Terminated");
  t.same(await client.rows("MATCH (l:Late) RETURN count(l)"), [[0]]);
  client.close();
});

t.test("messages out of order end the connection", async (t) => {
  const cases: readonly (readonly [what: string, ...messages: Buffer[]])[] = [
    ["rows of nothing", pull()],
    ["a commit of nothing", commit],
    ["a transaction within one", begin(), begin()],
    ["a statement before all rows were pulled", run("RETURN 1"), run("RETURN 2")],
    ["a statement with too few fields", message("run", "RETURN 1")],
    ["a second HELLO", message("hello", {})],
    ["a structure that is none", Buffer.from([0, 3, 0xb1, 0x10, 0xc5, 0, 0])],
  ];
  for (const [what, ...messages] of cases) {
    const client = await BoltClient.open(server);
    client.send(...messages);
    const all = await client.until(messages.length + 1);
    t.equal(codeOf(all.at(-1)!), INVALID, what);
    await client.closed();
  }
});

t.test("what a client may not send before it is known", async (t) => {
  const client = await BoltClient.connect(boltPort(server));
  await client.shake([0, 0, 8, 5]);
  t.equal(codeOf(await client.ask(run("RETURN 1"))), INVALID);
  await client.closed();
  const long = await BoltClient.connect(boltPort(server));
  await long.shake([0, 0, 8, 5]);
  t.equal(codeOf(await long.ask(message("hello", { user_agent: "x".repeat(70_000) }))), INVALID);
  await long.closed();
});

t.test("another user takes the connection over", async (t) => {
  await server.tenant("acme");
  const client = await BoltClient.open(server);
  await client.rows("CREATE (:OfAdmin)");
  t.equal((await client.ask(message("logoff"))).kind, "success");
  const token = { scheme: "basic", principal: "acme-user", credentials: "password of acme" };
  t.equal((await client.ask(message("logon", token))).kind, "success");
  t.same(await client.rows("MATCH (n) RETURN count(n)"), [[0]], "the graph is another tenant's");
  t.equal((await client.ask(message("logoff"))).kind, "success");
  t.equal(
    codeOf(await client.ask(message("logon", { ...token, credentials: "wrong" }))),
    "Neo.ClientError.Security.Unauthorized",
  );
  await client.closed();
});

const routeFor = (extra: { readonly imp_user: string }) => message("route", { address: "x:1" }, [], extra);

t.test("databases are graphs", async (t) => {
  await server.expect(201, "POST", "/v1/graph/graphs", { name: "second" });
  const client = await BoltClient.open(server);
  await client.rows("CREATE (:InSecond)", {}, { db: "second" });
  const count = (db: string): Promise<unknown> => client.rows("MATCH (n:InSecond) RETURN count(n)", {}, { db });
  t.same([await count("second"), await count("system.second"), await count("default")], [[[1]], [[1]], [[0]]]);
  t.same([await count("neo4j"), await count("system")], [[[0]], [[0]]], "names that tools ask for");
  for (const db of ["third", "acme.default"]) t.equal(await count(db), "Neo.ClientError.Database.DatabaseNotFound");
  const other = { imp_user: "acme-user" };
  for (const message of [run("RETURN 1", {}, other), begin(other), routeFor(other)]) {
    t.equal(codeOf(await client.ask(message)), "Neo.ClientError.Security.Forbidden", "another user");
    await client.ask(reset);
  }
  const itself = { imp_user: "admin" };
  t.same(await client.rows("RETURN 1", {}, itself), [[1]], "the user itself");
  t.equal((await client.ask(routeFor(itself))).kind, "success");
  t.equal(codeOf(await client.ask(run("RETURN 1", {}, { imp_user: 5 }))), "Neo.ClientError.Request.Invalid");
  client.close();
});

t.test("a routing table has this server", async (t) => {
  const client = await BoltClient.open(server);
  const table = await client.ask(message("route", { address: "x:1" }, [], {}));
  const address = `127.0.0.1:${boltPort(server)}`;
  t.same(table.data.rt, {
    ttl: 300,
    db: "default",
    servers: ["WRITE", "READ", "ROUTE"].map((role) => ({ role, addresses: [address] })),
  });
  // Neo4j's driver for Python looks for the table under the name that it asked for.
  const named = await client.ask(message("route", { address: "x:1" }, [], { db: "neo4j" }));
  t.equal(named.data.rt.db, "neo4j");
  client.close();
});

t.test("bookmarks of another server, and of commits that there are not", async (t) => {
  const client = await BoltClient.open(server);
  const code = (bookmark: string): Promise<unknown> => client.rows("RETURN 1", {}, { bookmarks: [bookmark] });
  t.equal(await code("FB:kcwQ"), "Neo.ClientError.Transaction.InvalidBookmark");
  t.equal(await code("tessera:0:999999999"), "Neo.TransientError.Transaction.BookmarkTimeout");
  t.same([await code("tessera:0:1"), await code("tessera:9:999999999")], [[[1]], [[1]]]);
  client.close();
});

t.test("time is bounded by the client", async (t) => {
  const client = await BoltClient.open(server);
  t.equal(await client.rows(ENDLESS, {}, { tx_timeout: 50 }), "Neo.ClientError.Transaction.TransactionTimedOut");
  client.send(begin({ tx_timeout: 100 }));
  await client.receive();
  await new Promise((resolve) => setTimeout(resolve, 150));
  client.send(run("RETURN 1"));
  const ended = (await client.receive())!;
  t.equal(codeOf(ended), "Neo.ClientError.Transaction.TransactionTimedOut");
  t.match(ended.data.message, /^The transaction has been terminated: /, "with the word that clients look for");
  t.equal((await client.ask(reset)).kind, "success");
  client.close();
});

t.test("access modes", async (t) => {
  const client = await BoltClient.open(server);
  const reads = { mode: "r" };
  t.equal(await client.rows("CREATE (:Never)", {}, reads), "Neo.ClientError.Statement.AccessMode");
  t.equal(await client.rows("CREATE INDEX FOR (n:Never) ON (n.x)", {}, reads), "Neo.ClientError.Statement.AccessMode");
  t.same(await client.rows("RETURN 1", {}, reads), [[1]]);
  client.send(begin(reads), run("CREATE (:Never)"), reset);
  const all = await client.until(3);
  t.equal(codeOf(all[1]!), "Neo.ClientError.Statement.AccessMode");
  client.close();
});

t.test("Bolt 4.4 and 5.0 have one message for the sign-in, and older values", async (t) => {
  for (const version of [
    [4, 4],
    [5, 0],
  ] as const) {
    const client = await BoltClient.open(server, version);
    client.send(run("CREATE (n:Old {at: datetime('2024-07-01T12:00:00+02:00')}) RETURN n, n.at"), pull());
    const all = await client.until(2);
    const [node, at] = all[1]!.data;
    t.equal(node.fields.length, version[0] === 4 ? 3 : 4, "element ids");
    t.equal(at.tag, version[0] === 4 ? 0x46 : 0x49);
    const local = Date.UTC(2024, 6, 1, 12) / 1000;
    t.same(at.fields, [version[0] === 4 ? local : local - 7200, 0, 7200]);
    const failure = await client.ask(run("nonsense"));
    t.same(Object.keys(failure.data).sort(), ["code", "message"]);
    client.close();
  }
});

t.test("many rows are sent as the client takes them", async (t) => {
  const client = await BoltClient.open(server);
  client.socket.pause();
  client.send(run("UNWIND range(1, 50000) AS x RETURN x, 'a text that makes rows longer ' + x"), pull());
  const before = (await server.call("GET", "/metrics", undefined, { token: null })).body as string;
  t.match(before, /tessera_bolt_connections \d/);
  client.socket.resume();
  const all = await client.until(2);
  t.equal(rowsOf(all).length, 50_000);
  t.same(await client.rows("RETURN 1"), [[1]]);
  const after = (await server.call("GET", "/metrics", undefined, { token: null })).body as string;
  t.match(after, /tessera_bolt_requests_total\{kind="run",outcome="answered"\} \d+/);
  client.close();
});

t.test("transactions are listed, and ended from outside", async (t) => {
  await server.tenant("watched");
  const mate = { username: "watched-mate", password: "password of mate", roles: ["user"] };
  await server.expect(201, "POST", "/admin/tenants/watched/users", mate);
  const boss = { username: "watched-boss", password: "password of boss", roles: ["admin"] };
  await server.expect(201, "POST", "/admin/tenants/watched/users", boss);
  const openAs = async (user: string, password: string): Promise<BoltClient> => {
    const client = await BoltClient.connect(boltPort(server));
    await client.start([5, 8], { user, password });
    return client;
  };
  const [own, mates, bosses] = [
    await openAs("watched-user", "password of watched"),
    await openAs(mate.username, mate.password),
    await openAs(boss.username, boss.password),
  ];
  await own.rows("CREATE (:First)");
  t.equal((await own.ask(begin({ tx_metadata: { job: "nightly" } }))).kind, "success");
  t.same(await own.rows("CREATE (:Unseen) RETURN 1"), [[1]]);
  const listed = "SHOW TRANSACTIONS YIELD username, database, status, metaData, currentQuery ORDER BY username";
  t.same(await bosses.rows(listed), [
    ["watched-boss", "default", "Running", {}, listed],
    ["watched-user", "default", "Running", { job: "nightly" }, ""],
  ]);
  t.same(await own.rows("RETURN $secret", { secret: 1 }), [[1]]);
  const pulled = "SHOW TRANSACTIONS YIELD username AS u, parameters AS p WHERE u = 'watched-user' RETURN p";
  t.same(await bosses.rows(pulled), [[{}]], "of what runs, not of what is done");
  t.same(await own.rows("CALL tx.setMetaData({job: 'daily', at: 5})"), []);
  t.same(await own.rows("CALL tx.getMetaData()"), [[{ job: "daily", at: 5 }]]);
  t.same(await bosses.rows("SHOW TRANSACTIONS YIELD metaData AS m WHERE m.at = 5 RETURN m.job"), [["daily"]]);
  t.same(await mates.rows("SHOW TRANSACTIONS YIELD username RETURN username"), [["watched-mate"]], "another's is not");
  t.same(
    await mates.ask(run("SHOW TRANSACTIONS")).then(({ data }) => data.fields),
    [
      ...["database", "transactionId", "currentQueryId", "connectionId", "clientAddress", "username"],
      ...["currentQuery", "startTime", "status", "elapsedTime"],
    ],
    "Neo4j's columns",
  );
  await mates.ask(reset);
  const ids = "SHOW TRANSACTIONS YIELD transactionId AS id, username AS u WHERE u = 'watched-user' RETURN id";
  const [[id]] = (await bosses.rows(ids)) as [[string]];
  t.same(await mates.rows("TERMINATE TRANSACTION $id", { id }), [[id, null, "Transaction not found."]]);
  t.same(await own.rows("RETURN 2"), [[2]], "so it goes on");
  t.same(await bosses.rows(`SHOW TRANSACTIONS '${id}' YIELD username`), [["watched-user"]]);
  t.same(await bosses.rows(`TERMINATE TRANSACTIONS '${id}', 'default-transaction-0-0'`), [
    [id, "watched-user", "Transaction terminated."],
    ["default-transaction-0-0", null, "Transaction not found."],
  ]);
  t.same(await bosses.rows(ids), []);
  const ended = await own.ask(run("RETURN 3"));
  t.equal(codeOf(ended), "Neo.ClientError.Transaction.TransactionTerminated");
  t.match(ended.data.message, /^The transaction has been terminated\. /);
  await own.ask(reset);
  t.same(await own.rows("MATCH (u:Unseen) RETURN count(u)"), [[0]], "nothing of it stays");

  // Its statement waits for a client that does not read: what the transaction has locked is free all the same.
  await own.ask(begin());
  await own.rows("MERGE (n:Held {id: 1}) SET n.by = 'own'");
  const many = "UNWIND range(1, 30000) AS x RETURN x, $long AS long";
  t.equal((await own.ask(run(many, { long: "x".repeat(1000) }))).kind, "success");
  const [[held]] = (await bosses.rows(ids)) as [[string]];
  const query = "SHOW TRANSACTIONS $id YIELD currentQueryId AS q, currentQueryStartTime AS t RETURN q, t";
  const shown = await bosses.rows(query, { id: held });
  own.send(pull());
  await own.receive();
  own.socket.pause();
  t.same(await bosses.rows(query, { id: held }), shown, "PULL begins no other query");
  t.same(await bosses.rows("TERMINATE TRANSACTIONS $id", { id: held }), [
    [held, "watched-user", "Transaction terminated."],
  ]);
  t.same(await bosses.rows("MERGE (n:Held {id: 1}) SET n.by = 'boss' RETURN n.by"), [["boss"]]);
  own.socket.resume();
  const left = await own.until(1);
  t.equal(codeOf(left.at(-1)!), "Neo.ClientError.Transaction.TransactionTerminated");
  await own.ask(reset);
  t.same(await own.rows("MATCH (n:Held) RETURN n.by"), [["boss"]]);

  own.send(run(ENDLESS, { job: { of: [1, "x"] } }), pull());
  t.equal((await own.receive())!.kind, "success");
  const ending = (await bosses.rows(
    "SHOW TRANSACTIONS YIELD transactionId AS id, currentQuery AS q, parameters AS p WHERE q = $q RETURN id, p",
    { q: ENDLESS },
  )) as [[string, unknown]];
  t.same(ending[0]![1], { job: { of: [1, "x"] } });
  const combined = `SHOW TRANSACTIONS YIELD * WHERE currentQuery = $q AND username = 'watched-user'
    TERMINATE TRANSACTIONS transactionId YIELD transactionId AS id, message`;
  t.match(await bosses.rows(`${combined} RETURN id, username, message`, { q: ENDLESS }), [
    [ending[0]![0], "watched-user", "Transaction terminated."],
  ]);
  t.equal(codeOf((await own.receive())!), "Neo.ClientError.Transaction.TransactionTerminated", "what runs ends, too");
  await own.ask(reset);
  t.same(await own.rows("RETURN 4"), [[4]], "the session goes on");
  for (const client of [own, mates, bosses]) client.close();
  const match = { cypher: "SHOW TRANSACTIONS YIELD username" };
  t.same((await server.expect(200, "POST", "/v1/graph/match", match)).body.data.rows, [], "another tenant's are not");
});

t.test("procedures that drivers of old ask for routes, and commands of administrators", async (t) => {
  const client = await BoltClient.open(server);
  const [[ttl, servers]] = (await client.rows("CALL dbms.routing.getRoutingTable({}, 'neo4j')")) as [
    [number, { role: string; addresses: string[] }[]],
  ];
  t.ok(ttl > 0);
  t.same(servers.map(({ role }) => role).sort(), ["READ", "ROUTE", "WRITE"]);
  t.match(servers[0]!.addresses, [/:\d+$/]);
  t.same(await client.rows("CALL dbms.cluster.routing.getRoutingTable({}) YIELD ttl"), [[ttl]]);
  t.equal(
    await client.rows("CALL dbms.routing.getRoutingTable({}, 'none')"),
    "Neo.ClientError.Database.DatabaseNotFound",
  );
  t.equal(await client.rows("CALL tx.setMetaData({a: 1}) MATCH (n) RETURN n"), "Neo.ClientError.Statement.SyntaxError");
  for (const text of [
    "SHOW USERS",
    "CREATE ALIAS a FOR DATABASE b",
    "DENY READ {*} ON GRAPH * TO x",
    "STOP DATABASE d",
  ]) {
    t.equal(await client.rows(text), "Neo.ClientError.Statement.UnsupportedAdministrationCommand", text);
  }
  const overHttp = await server.call("POST", "/v1/graph/match", { cypher: "CALL tx.getMetaData()" });
  t.match([overHttp.status, overHttp.body.error.message], [501, /Only a session of Bolt/]);
  client.close();
});
