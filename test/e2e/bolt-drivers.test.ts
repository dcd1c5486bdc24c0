/** Neo4j's driver against the server: values, transactions that are run again, streams, WebSockets. */
import { once } from "node:events";
import neo4j, { type Driver, type Plan, type ProfiledPlan, type Session, type Transaction } from "neo4j-driver";
import { lastValueFrom, toArray } from "rxjs";
import t from "tap";
import { createWebSocketStream, WebSocket } from "ws";
import { boltPort, WITH_BOLT } from "./bolt-client.js";
import { DUMPED, NEO4J_DUMPS } from "./neo4j-dumps.js";
import { TestServer } from "./server.js";

let server: TestServer;
let driver: Driver;
t.before(async () => {
  server = await TestServer.start({ ...WITH_BOLT, TESSERA_ACTORS: "1" });
  driver = open({});
});
t.teardown(async () => {
  await driver?.close();
  await server?.stop();
});

function open(config: Parameters<typeof neo4j.driver>[2], scheme = "bolt"): Driver {
  const token = neo4j.auth.basic("admin", server.password);
  return neo4j.driver(`${scheme}://127.0.0.1:${boltPort(server)}`, token, config);
}

/** Tells integers from floats; in dates and times the driver does not tell them either. */
function text(value: unknown): string {
  if (neo4j.isInt(value)) return `int ${value}`;
  return JSON.stringify(value, (_, each) => (neo4j.isInt(each) ? each.toNumber() : each));
}

const codeOf = (error: unknown): string => (error as { code: string }).code;
const counted = async (session: Session, label: string): Promise<number> =>
  (await session.run(`MATCH (n:${label}) RETURN count(n) AS c`)).records[0]!.get("c").toNumber();

t.test("values come as they went", async (t) => {
  const { types, int } = neo4j;
  const values = [
    null,
    true,
    int(0),
    int("-9223372036854775808"),
    int("9223372036854775807"),
    1.5,
    -0.0,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    "",
    "é\u{1f600}\u0000",
    "x".repeat(70_000),
    [],
    [int(1), [2.5, null], "x"],
    { a: int(1), b: { c: [true] }, __proto__x: null },
    new types.Date(2024, 2, 29),
    new types.Date(-1, 1, 1),
    new types.Time(1, 2, 3, 4, -3600),
    new types.LocalTime(23, 59, 59, 999_999_999),
    new types.LocalDateTime(1969, 12, 31, 23, 59, 59, 5),
    new types.DateTime(2024, 7, 1, 12, 30, 0, 7, 19_800),
    new types.DateTime(2024, 1, 1, 0, 0, 0, 0, 3600, "Europe/Stockholm"),
    new types.Duration<number>(14, -3, 5, 999_999_999),
    new types.Point<number>(7203, 1, -2.5),
    new types.Point<number>(4979, 12.5, 55.7, 10),
    new Int8Array([0, 1, -128]),
    [new Int8Array(), new Int8Array(70_000)],
  ];
  const { records } = await driver.executeQuery("UNWIND range(0, size($list) - 1) AS i RETURN $list[i] AS v", {
    list: values,
  });
  for (const [i, value] of values.entries()) {
    const got = records[i]!.get("v");
    t.equal(text(got), text(value));
    if (typeof value === "number") t.ok(Object.is(got, value), String(value));
    if (value !== null && typeof value === "object") t.equal(got.constructor.name, value.constructor.name);
  }
});

t.test("vectors, which Bolt 6 has", async (t) => {
  const { protocolVersion } = await driver.getServerInfo();
  t.match(String(protocolVersion?.toString()), /6\.0/);
  const all = [
    Float32Array.of(1.5, -0.25),
    Float64Array.of(0.1),
    Int8Array.of(-128, 127),
    Int16Array.of(300),
    Int32Array.of(-70_000),
    BigInt64Array.of(-(2n ** 63n), 1n),
  ].map((array) => neo4j.vector(array as Float32Array));
  const { records } = await driver.executeQuery(
    "UNWIND $all AS v CREATE (n:Vec {v: v}) WITH n MATCH (n) RETURN n.v AS v, n",
    { all },
  );
  for (const [i, vector] of all.entries()) {
    t.same(records[i]!.get("v"), vector);
    t.same(records[i]!.get("n").properties.v, vector);
  }
  await driver.executeQuery(
    "CREATE VECTOR INDEX vecs FOR (n:Emb) ON (n.v) OPTIONS {indexConfig: {`vector.dimensions`: 2}}",
  );
  await driver.executeQuery("UNWIND $all AS each CREATE (n:Emb) SET n += each", {
    all: [
      { i: 1, v: neo4j.vector(Float32Array.of(1, 0)) },
      { i: 2, v: neo4j.vector(Float64Array.of(0.1, 1)) },
      { i: 3, v: [1, -1] },
    ],
  });
  const found = await driver.executeQuery(
    "CALL db.index.vector.queryNodes('vecs', 1, $v) YIELD node RETURN node.i AS i, valueType(node.v) AS t",
    { v: neo4j.vector(Float32Array.of(0, 1)) },
  );
  t.same([found.records[0]!.get("i"), found.records[0]!.get("t")], [2, "VECTOR<FLOAT NOT NULL>(2) NOT NULL"]);
});

t.test("nodes, relationships and paths", async (t) => {
  const { records } = await driver.executeQuery(
    "CREATE p = (a:A:B {x: 1})-[r:R {y: 'z'}]->(b)<-[s:S]-(a2:A) RETURN a, r, p, elementId(a) AS id",
  );
  const record = records[0]!;
  const [a, r, p] = [record.get("a"), record.get("r"), record.get("p")];
  t.ok(neo4j.isNode(a) && neo4j.isRelationship(r) && neo4j.isPath(p));
  t.same([a.labels.toSorted(), a.properties.x.toNumber(), a.elementId], [["A", "B"], 1, record.get("id")]);
  t.equal(r.startNodeElementId, a.elementId);
  t.equal(r.endNodeElementId, p.segments[0].end.elementId);
  t.same(
    p.segments.map((each: (typeof p.segments)[0]) => each.relationship.type),
    ["R", "S"],
  );
  t.equal(p.segments[1].relationship.startNodeElementId, p.segments[1].end.elementId, "against its direction");
  const again = await driver.executeQuery("MATCH (n) WHERE elementId(n) = $id RETURN n", { id: a.elementId });
  t.equal(again.records.length, 1);
});

t.test("names of indexes and constraints as parameters", async (t) => {
  const named = (text: string, name: unknown) => driver.executeQuery(text, { name });
  for (const name of ["by parameter", "another"]) {
    const created = await named("CREATE CONSTRAINT $name FOR (n:Sum) REQUIRE n.b IS UNIQUE", name);
    t.equal(created.summary.counters.updates().constraintsAdded, 1);
    const dropped = await named("DROP CONSTRAINT $name", name);
    t.equal(dropped.summary.counters.updates().constraintsRemoved, 1, "the name is that of this run");
  }
  await t.rejects(named("DROP INDEX $name", 5), { message: /"name" names an index or a constraint/ });
});

t.test("a summary tells what was done", async (t) => {
  const made = (await driver.executeQuery("CREATE (:Sum {a: 1})-[:T]->(:Sum) RETURN 1 AS one")).summary;
  t.match(made.counters.updates(), { nodesCreated: 2, relationshipsCreated: 1, propertiesSet: 1, labelsAdded: 2 });
  t.same([made.queryType, made.database.name], ["rw", "default"]);
  const index = (await driver.executeQuery("CREATE INDEX sums FOR (n:Sum) ON (n.a)")).summary;
  t.same([index.queryType, index.counters.updates().indexesAdded], ["s", 1]);
  const again = (await driver.executeQuery("CREATE INDEX sums IF NOT EXISTS FOR (n:Sum) ON (n.a)")).summary;
  t.equal(again.counters.updates().indexesAdded, 0);
  t.match(again.notifications[0], { severityLevel: "INFORMATION", description: /already exists/ });
  t.same(
    again.gqlStatusObjects.map(({ gqlStatus }) => gqlStatus),
    ["00001", "00NA0"],
  );
  const none = (await driver.executeQuery("MATCH (n:Nowhere) RETURN n")).summary;
  t.match(none.gqlStatusObjects[0], { gqlStatus: "02000" });
  const explained = await driver.executeQuery("EXPLAIN MATCH (n:Sum) WHERE n.a = 1 RETURN n.a");
  t.same([explained.records.length, explained.summary.hasPlan(), explained.summary.hasProfile()], [0, true, false]);
  t.match(explained.summary.plan, {
    operatorType: "ProduceResults",
    identifiers: ["n.a"],
    arguments: { runtime: String },
  });
  const profiled = await driver.executeQuery("PROFILE MATCH (n:Sum) RETURN n.a AS a");
  t.same([profiled.records.length, profiled.keys, profiled.summary.hasProfile()], [2, ["a"], true]);
  t.match(profiled.summary.profile, { operatorType: "ProduceResults", identifiers: ["a"], rows: 2 });
  const named = await driver.executeQuery("RETURN 1 AS one", {}, { database: "neo4j" });
  t.equal(named.summary.database.name, "neo4j", "as the client calls it");
});

t.test("plans are as Neo4j Browser and cypher-shell show them", async (t) => {
  await driver.executeQuery("UNWIND range(1, 3) AS i CREATE (:Planned {i: i})-[:T]->(:Planned)");
  const operators = (plan: Plan | ProfiledPlan): (Plan | ProfiledPlan)[] => [plan, ...plan.children.flatMap(operators)];
  const three = "MATCH (a:Planned) WHERE EXISTS { (a)-->() } AND COUNT { (a)--() } > 0 AND a.i IN [1, 2, 3] RETURN a.i";
  const values = "UNWIND [] AS x RETURN x UNION ALL RETURN 1 AS x UNION ALL RETURN 2 AS x";
  for (const text of [three, values, "CREATE (:Planned)", "MATCH (a)-[:T*1..3]->(b) RETURN count(*)"]) {
    const { plan } = (await driver.executeQuery(`EXPLAIN ${text}`)).summary;
    const { profile } = (await driver.executeQuery(`PROFILE ${text}`)).summary;
    if (plan === false || profile === false) return t.fail("no plan");
    t.equal(plan.arguments["version"], "5");
    for (const operator of [...operators(plan), ...operators(profile)]) {
      t.ok(operator.children.length <= 2, "cypher-shell refuses more");
      t.type(operator.arguments["Details"], "string");
      t.type(operator.arguments["EstimatedRows"], "number", "a float: Neo4j Browser computes with it");
    }
    for (const operator of operators(profile)) {
      const { Rows, Time, DbHits } = operator.arguments as Record<string, unknown>;
      t.ok([Rows, Time, DbHits].every(neo4j.isInt), "whole numbers: cypher-shell refuses others");
    }
    t.ok(operators(plan).every((operator) => operator.arguments["Rows"] === undefined));
  }
  const { profile } = (await driver.executeQuery(`PROFILE ${three}`)).summary;
  const found = profile === false ? [] : operators(profile);
  t.ok(found.some(({ arguments: { Details } }) => /Alias: a\b.*Planned/.test(String(Details))));
  t.ok(found.some(({ operatorType }) => operatorType === "Inputs"));
  t.ok(found.every((each) => String((each as ProfiledPlan).rows) === String(each.arguments["Rows"])));
  await driver.executeQuery("MATCH (n:Planned) DETACH DELETE n");
});

t.test("bytes are properties", async (t) => {
  const run = async (query: string, b = new Int8Array([0, 7, -1])) =>
    (await driver.executeQuery(query, { b })).records.map((record) => text([...record.values()]));
  await run("CREATE INDEX bytes FOR (n:Bytes) ON (n.b)");
  await run("CREATE (:Bytes {b: $b}), (:Bytes {b: $b, twice: true})");
  t.same(await run("MATCH (n:Bytes {b: $b}) RETURN count(*), size(n.b), valueType(n.b)"), ['[2,3,"BYTES NOT NULL"]']);
  t.same(await run("MATCH (n:Bytes {b: $b}) RETURN n.b", new Int8Array([0, 7])), []);
  t.same(await run("MATCH (n:Bytes) RETURN DISTINCT n.b AS b, n.b > $b AS more"), [
    text([new Int8Array([0, 7, -1]), null]),
  ]);
  await t.rejects(run("RETURN $b + 1"), { code: "Neo.ClientError.Statement.TypeError", message: /byte array/ });
});

t.test("mistakes", async (t) => {
  const syntax = { code: "Neo.ClientError.Statement.SyntaxError" };
  await t.rejects(driver.executeQuery("SELECT 1"), {
    ...syntax,
    message: /^Invalid input 'SELECT': expected a clause/,
  });
  await t.rejects(driver.executeQuery("RETURN"), { ...syntax, message: /^Invalid input '': expected/ });
});

t.test("managed transactions run again what lost against another", async (t) => {
  await driver.executeQuery("CREATE (:Counter {n: 0})");
  const add = async (): Promise<void> => {
    const session = driver.session();
    await session.executeWrite(async (tx) => {
      const { records } = await tx.run("MATCH (c:Counter) SET c.n = c.n + 1 RETURN c.n AS n");
      return records.length;
    });
    await session.close();
  };
  await Promise.all(Array.from({ length: 20 }, add));
  const { records } = await driver.executeQuery("MATCH (c:Counter) RETURN c.n AS n");
  t.equal(records[0]!.get("n").toNumber(), 20);
});

t.test("transactions: commit, rollback, an error, several at once", async (t) => {
  const session = driver.session();
  const tx = session.beginTransaction();
  await tx.run("CREATE (:Tx)");
  const other = driver.session();
  t.equal(await counted(other, "Tx"), 0, "nobody sees it before");
  await tx.commit();
  t.equal(await counted(other, "Tx"), 1);
  const undone = session.beginTransaction();
  await undone.run("CREATE (:Tx)");
  await undone.rollback();
  const failed = session.beginTransaction();
  await failed.run("CREATE (:Tx)");
  await t.rejects(failed.run("RETURN nonsense"), { code: "Neo.ClientError.Statement.SyntaxError" });
  await t.rejects(failed.commit());
  t.equal(await counted(other, "Tx"), 1);
  await session.close();
  await other.close();
});

t.test("a deadlock is found, and one of the two may go on", async (t) => {
  await driver.executeQuery("CREATE (:Lock {k: 1, n: 0}), (:Lock {k: 2, n: 0})");
  const change = (k: number) => ["MATCH (l:Lock {k: $k}) SET l.n = l.n + 1", { k }] as const;
  const [first, second] = [driver.session(), driver.session()];
  const [a, b] = [first.beginTransaction(), second.beginTransaction()];
  await a.run(...change(1));
  await b.run(...change(2));
  const results = await Promise.allSettled([a.run(...change(2)), b.run(...change(1))]);
  const codes = results.map((each) => (each.status === "rejected" ? codeOf(each.reason) : "ok"));
  t.same(codes.toSorted(), ["Neo.TransientError.Transaction.DeadlockDetected", "ok"]);
  const winner = codes[0] === "ok" ? a : b;
  await winner.commit();
  await Promise.all([first.close(), second.close()]);
});

t.test("bookmarks chain sessions", async (t) => {
  const first = driver.session();
  await first.run("CREATE (:Chained)");
  const bookmarks = first.lastBookmarks();
  t.equal(bookmarks.length, 1);
  const second = driver.session({ bookmarks });
  t.equal(await counted(second, "Chained"), 1);
  await Promise.all([first.close(), second.close()]);
});

t.test("a stream that is left, and one that is read by parts", async (t) => {
  const session = driver.session({ fetchSize: 50 });
  let seen = 0;
  for await (const _ of session.run("UNWIND range(1, 100000) AS x RETURN x")) if (++seen === 120) break;
  t.equal((await session.run("RETURN 1 AS one")).records.length, 1);
  await session.close();
  const rx = driver.rxSession({ fetchSize: 7 });
  const rows = await lastValueFrom(rx.run("UNWIND range(1, 100) AS x RETURN x").records().pipe(toArray()));
  t.equal(rows.length, 100);
  await lastValueFrom(rx.close(), { defaultValue: null });
});

t.test("errors have the codes that programs look for", async (t) => {
  const code = (query: string, parameters = {}): Promise<string> =>
    driver.executeQuery(query, parameters).then(() => "none", codeOf);
  await driver.executeQuery("CREATE CONSTRAINT one FOR (n:One) REQUIRE n.k IS UNIQUE");
  await driver.executeQuery("CREATE (:One {k: 1})");
  const statement = "Neo.ClientError.Statement.";
  t.equal(await code("RETUN 1"), `${statement}SyntaxError`);
  t.equal(await code("RETURN $missing"), `${statement}ParameterMissing`);
  t.equal(await code("UNWIND [1, 'x'] AS x RETURN x.y"), `${statement}TypeError`);
  t.equal(await code("CREATE (:One {k: 1})"), "Neo.ClientError.Schema.ConstraintValidationFailed");
  t.equal(await code("CALL no.such.procedure()"), "Neo.ClientError.Procedure.ProcedureNotFound");
  t.equal(
    await code("CREATE CONSTRAINT one FOR (n:One) REQUIRE n.k IS UNIQUE"),
    "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
  );
  const schema = "Neo.ClientError.Schema.";
  t.equal(await code("CREATE CONSTRAINT two FOR (n:One) REQUIRE n.k IS UNIQUE"), `${schema}ConstraintAlreadyExists`);
  t.equal(await code("CREATE INDEX one FOR (n:One) ON (n.j)"), `${schema}IndexWithNameAlreadyExists`);
  await driver.executeQuery("CREATE INDEX first FOR (n:One) ON (n.i)");
  t.equal(await code("CREATE INDEX second FOR (n:One) ON (n.i)"), `${schema}IndexAlreadyExists`);
  const fulltext = (analyzer: string): Promise<string> =>
    driver
      .executeQuery(
        `CREATE FULLTEXT INDEX IF NOT EXISTS FOR (n:One) ON EACH [n.t] OPTIONS {indexConfig: {\`fulltext.analyzer\`: '${analyzer}'}}`,
      )
      .then(
        () => "none",
        (error: Error) => error.message,
      );
  t.match(await fulltext("cjk"), /no analyzer "cjk".* english, .*standard-no-stop-words/s, "the message lists ours");
  t.equal(await fulltext("standard-no-stop-words"), "none");
});

t.test("neo4j:// finds the server by its own address, and big integers are bigint where asked", async (t) => {
  const routing = open({ useBigInt: true }, "neo4j");
  await routing.verifyConnectivity();
  t.equal(await routing.supportsMultiDb(), true);
  const { records } = await routing.executeQuery("RETURN 9223372036854775807 AS big, $x AS x", { x: 5n });
  t.same([records[0]!.get("big"), records[0]!.get("x")], [9223372036854775807n, 5n]);
  await routing.close();
});

t.test("by WebSocket, as in browsers", async (t) => {
  const socket = new WebSocket(`ws://127.0.0.1:${boltPort(server)}`);
  await once(socket, "open");
  const stream = createWebSocketStream(socket);
  stream.write(Buffer.from([0x60, 0x60, 0xb0, 0x17, 0, 0, 8, 5, ...new Array(12).fill(0)]));
  const [agreed] = (await once(stream, "data")) as [Buffer];
  t.equal(agreed.toString("hex"), "00000805");
  stream.destroy();
  // The driver's build for browsers, with the WebSocket that browsers have.
  Object.assign(globalThis, { WebSocket });
  const path = new URL(import.meta.resolve("neo4j-driver/lib/browser/neo4j-web.esm.js"));
  const web: typeof neo4j = (await import(path.href)).default;
  const inBrowser = web.driver(`bolt://127.0.0.1:${boltPort(server)}`, web.auth.basic("admin", server.password));
  const { records } = await inBrowser.executeQuery("UNWIND range(1, 5000) AS x RETURN x, $text AS text", {
    text: "y".repeat(1000),
  });
  t.equal(records.length, 5000);
  await inBrowser.close();
  const plain = await fetch(`http://127.0.0.1:${boltPort(server)}/`);
  t.match(await plain.text(), /speaks Bolt/);
  t.equal(plain.status, 426);
});

t.test("CALL IN TRANSACTIONS alone, and not within a transaction", async (t) => {
  const session = driver.session();
  const text =
    "UNWIND range(1, 5) AS x CALL (x) { CREATE (:Part {x: x}) } IN TRANSACTIONS OF 2 ROWS RETURN count(*) AS c";
  const { records, summary } = await session.run(text);
  t.equal(records[0]!.get("c").toNumber(), 5);
  t.equal(summary.counters.updates().nodesCreated, 5);
  t.equal(await counted(session, "Part"), 5);
  const inside = session.executeWrite((tx) => tx.run(text));
  await t.rejects(inside, /cannot run inside a transaction/);
  t.equal(await counted(session, "Part"), 5);
  await session.close();
});

t.test("range() takes whole numbers of JavaScript", async (t) => {
  const session = driver.session();
  const { records } = await session.run("UNWIND range($from, $to, $by) AS i RETURN i", { from: 4, to: 0, by: -2 });
  t.same(
    records.map((record) => record.get("i").toNumber()),
    [4, 2, 0],
  );
  await t.rejects(session.run("RETURN range(1, $to)", { to: 1.5 }), { code: /ArgumentError/ });
  await session.close();
});

t.test("a dump of Neo4j, as cypher-shell sends it", async (t) => {
  const session = driver.session();
  const sent = NEO4J_DUMPS["cypher-shell"].split(/(?<=^:begin|^:commit)\n|;\n/m).filter((each) => each !== "");
  let open: Transaction | null = null;
  for (const statement of sent) {
    if (statement === ":begin") open = await session.beginTransaction();
    else if (statement === ":commit") {
      await open!.commit();
      open = null;
    } else await (open ?? session).run(statement);
  }
  const { records } = await session.run(DUMPED.relationships);
  t.same(
    records.map((record) => record.get("t")),
    ["KNOWS", "WROTE", "WROTE"],
  );
  const node = (await session.run('MATCH (p:Person {name: "Bob\'s"}) RETURN p.at AS at')).records[0]!;
  t.match(node.get("at"), { x: 12.5, y: 55.7 });
  t.same((await session.run("MATCH (n:`UNIQUE IMPORT LABEL`) RETURN n")).records, []);
  await session.close();
});

/** What the driver is told of a statement: statuses with the place in the text, as line and column. */
async function told(session: Session, cypher: string): Promise<string[]> {
  const { summary } = await session.run(cypher);
  return summary.gqlStatusObjects.map(({ gqlStatus, position }) => {
    const place = position === undefined ? "" : ` ${position.line}:${position.column}`;
    return `${gqlStatus}${place}`;
  });
}

t.test("notifications", async (t) => {
  const session = driver.session();
  await session.run("CREATE (:Told {name: 'a'})-[:TOLD {since: 1}]->(:Told)");
  const misspelled = "MATCH (n:Tolt {nome: 1})-[r:TOLT]->(m:Told)\nWHERE m.nane > 1 OR r.since = $x.any RETURN m.name";
  const { summary } = await session.run(misspelled, { x: { any: 1 } });
  t.same(
    summary.notifications.map(({ code, severityLevel, category, position }) => [
      code,
      severityLevel,
      category,
      position,
    ]),
    [
      ["Label", { offset: 9, line: 1, column: 10 }],
      ["RelationshipType", { offset: 28, line: 1, column: 29 }],
      ["PropertyKey", { offset: 15, line: 1, column: 16 }],
      ["PropertyKey", { offset: 52, line: 2, column: 9 }],
    ].map(([what, position]) => [
      `Neo.ClientNotification.Statement.Unknown${what}Warning`,
      "WARNING",
      "UNRECOGNIZED",
      position,
    ]),
  );
  t.match(summary.gqlStatusObjects[1]!.statusDescription, "The label `Tolt` does not exist in database `default`");
  t.same(await told(session, "MATCH (a:Told), (b:Told) RETURN 1 AS one"), ["00000", "03N90 1:1"]);
  t.same(await told(session, "MATCH (a:Told) WITH a MATCH (a)-->(b), (a)<--(c) RETURN 1 AS one"), ["02000"]);
  t.same(await told(session, "MATCH (n:Told) RETURN id(n) AS i"), ["01N01 1:23", "00000"]);
  t.same(await told(session, "MATCH (n:Told) CALL { WITH n RETURN n.name AS x } RETURN x"), ["01N00 1:16", "00000"]);
  t.same(await told(session, "MATCH p = shortestPath((a:Told {name: 'a'})-[*]-(b)) WHERE a <> b RETURN 1 AS one"), [
    "00000",
    "03N91 1:7",
  ]);
  t.same(await told(session, "MERGE (n:Fresh {made: 1}) SET n.later = 2 RETURN n.made AS m"), ["00000"]);
  t.same(await told(session, "DROP INDEX none IF EXISTS"), ["00001", "00NA1"]);
  t.same(await told(session, "MATCH (n:Soon) RETURN n"), ["02000", "01N50 1:10"]);
  await session.run("CREATE (:Soon)");
  await session.run("MATCH (n:Soon) DELETE n CREATE (:Soon)");
  await session.close();
});

t.test("notifications that a client does not want", async (t) => {
  const text = "MATCH (a:Absent), (b:Absent) RETURN id(a)";
  const filters = [
    [{ minimumSeverityLevel: "WARNING" }, ["02000", "01N01 1:37", "01N50 1:10", "01N50 1:22"]],
    [{ disabledCategories: ["UNRECOGNIZED", "DEPRECATION"] }, ["02000", "03N90 1:1"]],
    [{ minimumSeverityLevel: "OFF" }, ["02000"]],
  ] as const;
  for (const [notificationFilter, expected] of filters) {
    const session = driver.session({ notificationFilter } as Parameters<Driver["session"]>[0]);
    t.same(await told(session, text), expected);
    await session.close();
  }
  const quiet = open({ notificationFilter: { minimumSeverityLevel: "OFF" } });
  const session = quiet.session();
  t.same(await told(session, text), ["02000"]);
  const transaction = session.beginTransaction();
  t.same((await transaction.run(text)).summary.notifications, []);
  await transaction.rollback();
  await session.close();
  await quiet.close();
});
