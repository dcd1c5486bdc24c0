/** Procedures and SHOW commands that clients of Neo4j send to learn what a graph holds. */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const send = (sql: string) => server.call("POST", "/v1/query/execute", { sql });

const rows = async (text: string) => {
  const { status, body } = await send(text);
  if (status !== 200) throw new Error(`${text} answered ${status}: ${JSON.stringify(body)}`);
  return body.data.rows;
};

t.before(async () => {
  await rows(
    "CREATE (a:Person {name: 'Ada', born: 1815})-[:KNOWS {since: 1833}]->(:Person:Poet {name: 'Byron'}), (a)-[:LIKES]->(:Thing)",
  );
  await rows("CREATE CONSTRAINT one_name FOR (p:Person) REQUIRE p.name IS UNIQUE");
  await rows("CREATE CONSTRAINT has_since FOR ()-[k:KNOWS]-() REQUIRE k.since IS NOT NULL");
  await rows("CREATE INDEX born FOR (p:Person) ON (p.born)");
  await rows("CREATE VECTOR INDEX near FOR (p:Person) ON (p.v) OPTIONS {indexConfig: {`vector.dimensions`: 2}}");
});

t.test("constraints and indexes", async (t) => {
  const fields = "name, type, entityType, labelsOrTypes, properties";
  const constraints = [
    ["one_name", "UNIQUENESS", "NODE", ["Person"], ["name"]],
    ["has_since", "RELATIONSHIP_PROPERTY_EXISTENCE", "RELATIONSHIP", ["KNOWS"], ["since"]],
  ];
  t.same(await rows(`CALL db.constraints() YIELD ${fields} RETURN ${fields}`), constraints);
  t.match((await rows("CALL db.constraints() YIELD description"))[0], [
    "CREATE CONSTRAINT `one_name` FOR (n:`Person`) REQUIRE n.`name` IS UNIQUE",
  ]);
  t.same(await rows(`SHOW CONSTRAINTS YIELD ${fields}`), constraints);
  t.same(await rows("SHOW UNIQUE CONSTRAINTS YIELD name"), [["one_name"]]);
  t.same(await rows("SHOW RELATIONSHIP PROPERTY EXISTENCE CONSTRAINTS YIELD name"), [["has_since"]]);
  t.same(await rows("SHOW NODE KEY CONSTRAINTS"), []);
  const other = await server.call("POST", "/v1/graph/match", { cypher: "SHOW WORDS" });
  t.match(
    [other.status, other.body.error.details.hint],
    [400, /INDEXES, CONSTRAINTS, PROCEDURES, FUNCTIONS, SETTINGS and TRANSACTIONS/],
  );
  t.same(await rows("SHOW CONSTRAINTS YIELD name AS n ORDER BY n SKIP 0 LIMIT 1 WHERE n <> 'x' RETURN n"), [
    ["has_since"],
  ]);
  const indexes = [
    ["one_name", "RANGE", "one_name"],
    ["born", "RANGE", null],
    ["near", "VECTOR", null],
  ];
  const sorted = (list: (string | null)[][]) => [...list].sort((a, b) => (a[0]! < b[0]! ? -1 : 1));
  t.same(sorted(await rows("CALL db.indexes() YIELD name, type, owningConstraint")), sorted(indexes));
  t.same(sorted(await rows("SHOW INDEXES YIELD name, type, owningConstraint")), sorted(indexes));
  t.same(await rows("SHOW VECTOR INDEXES YIELD name, options RETURN name, options.indexConfig"), [
    ["near", { "vector.dimensions": 2, "vector.similarity_function": "COSINE" }],
  ]);
  const cypher = { sql: "SHOW INDEXES WHERE type = 'RANGE' AND state = 'ONLINE'", language: "cypher" };
  t.equal((await server.expect(200, "POST", "/v1/query/execute", cypher)).body.data.rows.length, 2);
  t.match((await send("SHOW INDEXES YIELD nosuch")).body.error, { code: "syntax_error", message: /gives no `nosuch`/ });
});

t.test("without parentheses, inputs are the parameters of their names", async (t) => {
  t.equal((await rows("CALL db.indexes")).length, 3);
  const send = async (parameters: object) => {
    const { body } = await server.expect(200, "POST", "/v1/query/execute", { sql: "CALL db.indexes", parameters });
    return body.data.rows.map(([name]: string[]) => name);
  };
  t.same(await send({ type: "vector" }), ["near"]);
  t.same((await send({})).length, 3);
  t.equal((await rows("CALL algo.degree")).length, 3, "an option that did not come is none");
  t.same(await rows("CALL db.constraints('key')"), []);
  const wrong = await server.call("POST", "/v1/query/execute", { sql: "CALL db.indexes($x)", parameters: { x: 5 } });
  t.match([wrong.status, wrong.body.error.message], [400, /the type is a string/]);
});

t.test("what libraries ask of APOC about a graph", async (t) => {
  const data = (fields: string, where: string) =>
    rows(`CALL apoc.meta.data() YIELD ${fields}, type, elementType WHERE ${where} RETURN ${fields}`);
  t.same(await data("label, property, unique, index, count", "elementType = 'node' AND type <> 'RELATIONSHIP'"), [
    ["Person", "born", false, true, 1],
    ["Person", "name", true, true, 2],
    ["Poet", "name", false, false, 1],
  ]);
  t.same(await data("label, property, other", "elementType = 'node' AND type = 'RELATIONSHIP'"), [
    ["Person", "KNOWS", ["Person", "Poet"]],
    ["Person", "LIKES", ["Thing"]],
  ]);
  t.same(await data("label, property, existence", "elementType = 'relationship' AND type <> 'RELATIONSHIP'"), [
    ["KNOWS", "since", true],
  ]);
  const [[schema]] = await rows("CALL apoc.meta.schema() YIELD value RETURN value");
  t.match(schema.Person, {
    type: "node",
    count: 2,
    labels: ["Poet"],
    properties: { name: { type: "STRING", unique: true } },
  });
  t.match(schema.Person.relationships.KNOWS, { direction: "out", labels: ["Person", "Poet"] });
  t.match(schema.Poet.relationships, { KNOWS: { direction: "in", labels: ["Person"] } });
  t.match(schema.KNOWS, {
    type: "relationship",
    count: 1,
    properties: { since: { type: "INTEGER", existence: true } },
  });
  t.same(
    await rows(
      "CALL apoc.meta.stats() YIELD labelCount, nodeCount, relCount, relTypes RETURN labelCount, nodeCount, relCount, relTypes['(:Person)-[:KNOWS]->()']",
    ),
    [[3, 3, 2, 1]],
  );
  const fields = "label, properties, type, size, valuesSelectivity";
  t.same(await rows(`CALL apoc.schema.nodes() YIELD ${fields} WHERE properties = ['name'] RETURN ${fields}`), [
    ["Person", ["name"], "UNIQUENESS", 2, 1],
  ]);
  const sample = `CALL apoc.meta.graphSample() YIELD nodes, relationships
    RETURN [n IN nodes | [n.name, n.count]], [r IN relationships WHERE apoc.any.property(r, 'type') = 'LIKES' | r.count]`;
  t.same(await rows(sample), [
    [
      [
        ["Person", 2],
        ["Poet", 1],
        ["Thing", 1],
      ],
      [1],
    ],
  ]);
});

t.test(":sysinfo of clients asks for metrics, many of which there are none of", async (t) => {
  const [[nodes, relationships, types]] = await rows(
    "RETURN COUNT { (n) }, COUNT { ()-[r]->() }, COUNT { MATCH ()-[r]->() RETURN DISTINCT type(r) }",
  );
  const asked = (metric: string, from = "neo4j.metrics:name=neo4j.database.default.") =>
    rows(`CALL dbms.queryJmx("${from}${metric}") YIELD name, attributes RETURN name, attributes.Value.value`);
  const start = "neo4j.metrics:name=neo4j.";
  t.same(await asked("ids_in_use.node"), [[`${start}database.default.ids_in_use.node`, nodes]]);
  t.same(await asked("ids_in_use.relationship", `${start}default.`), [
    [`${start}default.ids_in_use.relationship`, relationships],
  ]);
  t.same(await asked("store.size.total"), []);
  t.same(await asked("ids_in_use.node", `${start}database.other.`), []);
  const all = `UNWIND ['node', 'page', 'relationship_type', null] AS m CALL dbms.queryJmx('${start}default.ids_in_use.' + m)
    YIELD attributes RETURN m, attributes.Value.value`;
  t.same(await rows(all), [
    ["node", nodes],
    ["relationship_type", types],
  ]);
});

t.test("db.stats counts the graph, and collects no statements", async (t) => {
  const [[section, data]] = await rows("CALL db.stats.retrieve('graph counts')");
  t.equal(section, "GRAPH COUNTS");
  t.same(data.nodes, [
    { count: 3 },
    { label: "Person", count: 2 },
    { label: "Poet", count: 1 },
    { label: "Thing", count: 1 },
  ]);
  t.same(data.relationships.slice(0, 5), [
    { count: 2 },
    { relationshipType: "KNOWS", count: 1 },
    { relationshipType: "LIKES", count: 1 },
    { relationshipType: "KNOWS", startLabel: "Person", count: 1 },
    { relationshipType: "LIKES", startLabel: "Person", count: 1 },
  ]);
  t.ok(data.relationships.some((each: { endLabel?: string }) => each.endLabel === "Poet"));
  t.same([data.indexes.length, data.constraints.length], [3, 2]);
  const [[, tokens]] = await rows("CALL db.stats.retrieve('TOKENS', {})");
  t.match(tokens, { labels: ["Person", "Poet", "Thing"], relationshipTypes: ["KNOWS", "LIKES"] });
  t.same(await rows("CALL db.stats.status()"), [["QUERIES", "idle", {}]]);
  t.match(await rows("CALL db.stats.stop('QUERIES')"), [["QUERIES", true, /idle/]]);
  t.match(await rows("CALL db.stats.clear('QUERIES')"), [["QUERIES", true, /no data/]]);
  for (const call of ["collect('QUERIES')", "retrieve('QUERIES')"]) {
    t.match((await send(`CALL db.stats.${call}`)).body.error, { message: /query\.slow_ms.*SHOW TRANSACTIONS/ }, call);
  }
  t.match((await send("CALL db.stats.retrieve('NOTHING')")).body.error.message, /'GRAPH COUNTS' or 'TOKENS'/);
});

t.test("SHOW TRANSACTIONS, filtered and combined", async (t) => {
  t.same(await rows("SHOW TRANSACTIONS YIELD * WHERE username = 'nobody'"), []);
  t.same(await rows("SHOW TRANSACTIONS YIELD * WHERE username = 'nobody' RETURN count(*)"), [[0]]);
  const ended = "TERMINATE TRANSACTIONS 'default-transaction-0-0' YIELD transactionId AS id, message";
  t.same(await rows(`${ended} SHOW TRANSACTIONS id YIELD username`), [], "no row for what is not there");
  t.same(await rows(`${ended} TERMINATE TRANSACTION id YIELD username AS u`), [
    ["default-transaction-0-0", "Transaction not found.", null],
  ]);
  const mistake = async (text: string) => (await send(text)).body.error.message;
  t.match(await mistake("SHOW TRANSACTIONS YIELD transactionId AS id TERMINATE TRANSACTIONS id"), /expected YIELD/);
  t.match(await mistake("SHOW TRANSACTIONS YIELD username TERMINATE TRANSACTIONS YIELD message"), /the ids of trans/);
});

t.test("SHOW CONSTRAINTS of tables", async (t) => {
  await rows("CREATE TABLE parent (id int PRIMARY KEY)");
  await rows("CREATE TABLE child (id int PRIMARY KEY, of int CONSTRAINT up REFERENCES parent, CHECK (id > 0))");
  const { body } = await send("SHOW CONSTRAINTS FROM child");
  t.match(
    body.data.columns.map(({ name }: { name: string }) => name),
    ["constraint_name", "table_name", "constraint_type", "definition"],
  );
  const kinds = body.data.rows.map(([name, table, kind]: string[]) => `${name} ${table} ${kind}`).sort();
  t.same(kinds, ["child_id_check child CHECK", "child_pkey child PRIMARY KEY", "up child FOREIGN KEY"]);
  t.match(await rows("SHOW CONSTRAINTS"), [["child_id_check"], ["child_pkey"], ["up"], ["parent_pkey"]]);
});

t.test("the schema, as it is in the rows", async (t) => {
  const [[nodes, relationships]] = await rows("CALL db.schema.visualization()");
  const names = new Map(nodes.map(({ id, labels }: { id: number; labels: string[] }) => [id, labels[0]]));
  t.same([...names.values()], ["Person", "Poet", "Thing"]);
  t.match(nodes[0].properties, { name: "Person", indexes: ["born", "v"], constraints: [/one_name/] });
  const told = relationships.map(
    ({ src, dst, type }: { src: number; dst: number; type: string }) => `${names.get(src)} ${type} ${names.get(dst)}`,
  );
  t.same(told.sort(), ["Person KNOWS Person", "Person KNOWS Poet", "Person LIKES Thing"]);
  t.same(await rows("CALL db.schema.nodeTypeProperties()"), [
    [":`Person`", ["Person"], "born", ["Long"], true],
    [":`Person`", ["Person"], "name", ["String"], true],
    [":`Person`:`Poet`", ["Person", "Poet"], "name", ["String"], true],
    [":`Thing`", ["Thing"], null, null, false],
  ]);
  await rows("CREATE (:Person {name: 'Cy', tags: ['a'], born: 3.5})");
  t.same(
    await rows(
      "CALL db.schema.nodeTypeProperties() YIELD nodeLabels, propertyName, propertyTypes, mandatory WHERE nodeLabels = ['Person'] RETURN propertyName, propertyTypes, mandatory",
    ),
    [
      ["born", ["Double", "Long"], true],
      ["name", ["String"], true],
      ["tags", ["StringArray"], false],
    ],
  );
  t.same(await rows("CALL db.schema.relTypeProperties()"), [
    [":`KNOWS`", "since", ["Long"], true],
    [":`LIKES`", null, null, false],
  ]);
});

t.test("the server itself", async (t) => {
  t.same(await rows("CALL db.ping()"), [[true]]);
  t.match(await rows("CALL db.info() YIELD name RETURN name"), [["default"]]);
  const components = await rows("CALL dbms.components()");
  t.match(components, [["Neo4j Kernel", [/^5\./], "community"]]);
  t.equal(components.length, 1, "clients read the only row");
  const listed = (await rows("CALL dbms.procedures() YIELD name, signature, description")) as string[][];
  t.match(
    listed.find(([name]) => name === "db.labels"),
    ["db.labels", "db.labels() :: (label :: STRING)", /labels/],
  );
  t.ok(listed.some(([name]) => name === "algo.pageRank"));
  const fields = /^[\w.]+\(.*\) :: (VOID|\((\w+ :: [^,()]+)(, \w+ :: [^,()]+)*\))$/;
  t.same(
    listed.filter(([, signature]) => !fields.test(signature)),
    [],
    "Neo4j's Browser reads what each gives out of its signature",
  );
  t.same(await rows("SHOW PROCEDURES YIELD name, mode WHERE name STARTS WITH 'apoc.merge.' RETURN name, mode"), [
    ["apoc.merge.node", "WRITE"],
    ["apoc.merge.relationship", "WRITE"],
  ]);
  t.notOk(
    listed.some(([, , description]) => !description),
    "each says what it is for",
  );
  t.same(await rows("SHOW PROCEDURES YIELD name RETURN count(*)"), [[listed.length]]);
  t.equal((await rows("SHOW PROCEDURES")).length, listed.length);
  const functions = (await rows("SHOW FUNCTIONS YIELD name RETURN collect(name)"))[0][0];
  t.ok(functions.includes("toUpper") && functions.includes("count"), "functions and aggregates");
  t.same(await rows("CALL dbms.functions() YIELD name RETURN count(*)"), [[functions.length]]);
  t.same(
    await rows("SHOW FUNCTIONS YIELD name, description WHERE description = '' RETURN name"),
    [],
    "all are described",
  );
  t.same(await rows("SHOW FUNCTIONS YIELD name, category, description, isBuiltIn WHERE name = 'toUpper' RETURN *"), [
    ["String", "A string in upper case.", true, "toUpper"],
  ]);
  t.same((await send("CALL db.awaitIndexes(300)")).status, 200);
  t.same((await send("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")).status, 200);
});

t.test("one that there is not", async (t) => {
  for (const text of ["CALL db.lables()", "CALL apoc.nothing()", "CALL db.nothing(1) YIELD a RETURN a"]) {
    const { status, body } = await send(text);
    t.equal(status, 400, text);
    t.match(body.error.message, /there is no procedure/, text);
    t.match(body.error.details.hint, /db\.labels.*db\.schema\.visualization/, text);
  }
  t.match((await send("CALL db.lables()")).body.error.details.hint, /^Did you mean db\.labels\?/);
});
