/**
 * The property graph over HTTP: Cypher, nodes, edges, graphs, indexes, transactions, what is refused, other tenants.
 */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const match = async (cypher: string, parameters: object = {}, graph?: string) =>
  (await server.expect(200, "POST", "/v1/graph/match", { cypher, parameters, ...(graph && { graph }) })).body.data;

const refused = async (path: string, body: object) => {
  const { status, body: reply } = await server.call("POST", path, body);
  return [status, reply.error.code];
};

t.test("Cypher on its route", async (t) => {
  const made = await match(
    "CREATE (a:Person {name: $name, age: 36})-[k:KNOWS {since: 1833}]->(b:Person:Author) RETURN a, k, b",
    {
      name: "Ada",
    },
  );
  t.match(made.columns, ["a", "k", "b"]);
  t.equal(made.count, 1);
  const [[a, k, b]] = made.rows;
  t.match(a, { labels: ["Person"], properties: { name: "Ada", age: 36 } });
  t.match(k, { type: "KNOWS", src: a.id, dst: b.id, properties: { since: 1833 } });
  t.same(b.labels, ["Author", "Person"]);
  t.match(made.stats, { nodes_created: 2, relationships_created: 1, properties_set: 3 });
  const { body } = await server.expect(200, "POST", "/v1/graph/match", {
    sql: "MATCH (n:Person) WHERE n.age > $least RETURN n.name AS name, n.age",
    params: { least: 30 },
  });
  t.same(body.columns, ["name", "n.age"], "the payload stands at top level, too");
  t.same(body.data.rows, [["Ada", 36]]);
  t.same(body.rows, [["Ada", 36]]);
});

t.test("Cypher where statements are sent", async (t) => {
  const execute = async (body: object) => (await server.expect(200, "POST", "/v1/query/execute", body)).body.data;
  t.same((await execute({ sql: "MATCH (n:Author) RETURN count(n) AS n" })).rows, [[1]], "told by its text");
  t.same((await execute({ sql: "MATCH (n) WHERE n.name = $name RETURN n.age", params: { name: "Ada" } })).rows, [[36]]);
  t.same((await execute({ sql: "CALL db.labels()" })).columns[0].name, "label", "a call of Cypher's procedure");
  t.same((await execute({ sql: "-- all\nCALL db.relationshipTypes()" })).columns[0].name, "relationshipType");
  t.same((await execute({ sql: "RETURN 1 + $x AS y", language: "cypher", parameters: { x: 2 } })).rows, [[3]]);
  const prepared = await server.expect(201, "POST", "/v1/query/prepare", {
    sql: "MATCH (n:Person) RETURN count(*) + $k",
  });
  t.equal(prepared.body.data.param_count, 1);
  const { statement_id } = prepared.body.data;
  const again = await server.expect(200, "POST", "/v1/query/exec", { statement_id, params: { k: 1 } });
  t.same(again.body.data.rows, [[3]]);
  const batch = await server.expect(200, "POST", "/v1/query/execute/batch", {
    statements: ["SELECT 1", "MATCH (n) RETURN count(n)", { sql: "RETURN $a", parameters: { a: [1, "x"] } }],
  });
  t.same(
    batch.body.data.results.map(({ data }: { data: { rows: unknown } }) => data.rows),
    [[[1]], [[2]], [[[1, "x"]]]],
  );
  t.same(await refused("/v1/query/execute", { sql: "SELECT $1", parameters: { a: 1 } }), [400, "invalid_request"]);
});

t.test("nodes and edges one by one", async (t) => {
  const node = (
    await server.expect(201, "POST", "/v1/graph/nodes", {
      labels: ["City", "Place"],
      properties: { name: "Paris", p: [1, 2.5] },
    })
  ).body;
  t.match(node, { labels: ["City", "Place"], properties: { name: "Paris", p: [1, 2.5] } });
  const other = (await server.expect(201, "POST", "/v1/graph/nodes", { label: "odd `label`" })).body.data;
  t.same(other.labels, ["odd `label`"]);
  const path = `/v1/graph/nodes/${node.id}`;
  t.same((await server.expect(200, "GET", path)).body.data, {
    id: node.id,
    labels: node.labels,
    properties: node.properties,
  });
  const patched = await server.expect(200, "PATCH", path, {
    properties: { p: null, size: 2 },
    labels: ["City", "Capital"],
  });
  t.match(patched.body.data, { labels: ["Capital", "City"], properties: { name: "Paris", size: 2 } });
  t.notOk("p" in patched.body.data.properties);
  const edge = (
    await server.expect(201, "POST", "/v1/graph/edges", {
      from: node.id,
      to: other.id,
      type: "NEAR",
      properties: { km: 3 },
    })
  ).body;
  t.match(edge, { src: node.id, dst: other.id, type: "NEAR", properties: { km: 3 } });
  const near = (await server.expect(200, "GET", `${path}/neighbors?direction=out`)).body;
  t.match(near.neighbors, [{ node: { id: other.id }, edge: { id: edge.id } }]);
  t.match(near, { nodes: [{ id: other.id }], edges: [{ id: edge.id }] });
  t.same((await server.expect(200, "GET", `${path}/neighbors?direction=in`)).body.neighbors, []);
  t.match((await server.expect(200, "GET", `/v1/graph/edges/${edge.id}`)).body, { type: "NEAR" });
  t.match((await server.expect(200, "PATCH", `/v1/graph/edges/${edge.id}`, { properties: { km: 4 } })).body, {
    properties: { km: 4 },
  });
  t.equal((await server.expect(200, "GET", "/v1/graph/nodes?label=City")).body.count, 1);
  t.equal((await server.expect(200, "GET", "/v1/graph/edges?type=NEAR")).body.count, 1);
  const kept = await server.call("DELETE", `${path}?detach=false`);
  t.equal(kept.status, 409, "it has a relationship");
  t.equal((await server.call("DELETE", path)).status, 204);
  t.equal((await server.call("GET", path)).status, 404);
  t.equal((await server.call("DELETE", path)).status, 404);
  t.equal((await server.call("GET", `/v1/graph/edges/${edge.id}`)).status, 404, "went with its node");
  t.equal((await server.call("POST", "/v1/graph/edges", { src: node.id, dst: other.id, type: "T" })).status, 404);
});

t.test("several graphs, and their indexes", async (t) => {
  t.equal((await server.call("POST", "/v1/graph/graphs", { name: "roads" })).status, 201);
  const twice = await server.call("POST", "/v1/graph/graphs", { name: "roads" });
  t.equal(twice.status, 409);
  t.match(twice.body.error.message, /already exists/);
  await match("UNWIND range(1, 100) AS i CREATE (:Town {n: i})", {}, "roads");
  t.same((await match("MATCH (n) RETURN count(n)", {}, "roads")).rows, [[100]]);
  t.same((await match("MATCH (n:Town) RETURN count(n)")).rows, [[0]], "another graph has none");
  const { graphs } = (await server.expect(200, "GET", "/v1/graph/graphs")).body;
  t.match(
    graphs.map(({ name, node_count }: { name: string; node_count: number }) => [name, node_count]),
    [
      ["default", 3],
      ["roads", 100],
    ],
  );
  t.notOk("adjacency_bytes" in graphs[1], "no walk has needed its adjacency");
  await match("MATCH (a:Town {n: 1}), (b:Town {n: 2}) CREATE (a)-[:ROAD]->(b)", {}, "roads");
  await match("MATCH ()-[:ROAD]->(b) RETURN count(b)", {}, "roads");
  const walked = (await server.expect(200, "GET", "/v1/graph/graphs")).body.graphs[1];
  t.equal(typeof walked.adjacency_bytes, "number", "a walk has");
  const made = await server.expect(201, "POST", "/v1/graph/indexes", {
    graph: "roads",
    label: "Town",
    property: "n",
    name: "town_n",
  });
  t.match(made.body.data.indexes, [{ name: "town_n", entity: "node", label: "Town", properties: ["n"] }]);
  const plan = await server.expect(200, "POST", "/v1/graph/match/profile", {
    graph: "roads",
    cypher: "MATCH (t:Town {n: 7}) RETURN t",
  });
  t.match(plan.body.data.plan.join("\n"), /town_n/, "a lookup by it");
  t.equal((await server.call("DELETE", "/v1/graph/indexes/town_n?graph=roads")).status, 204);
  t.equal((await server.call("DELETE", "/v1/graph/indexes/town_n?graph=roads")).status, 404);
  t.equal((await server.call("DELETE", "/v1/graph/graphs/roads")).status, 204);
  t.equal((await server.call("POST", "/v1/graph/match", { cypher: "MATCH (n) RETURN n", graph: "roads" })).status, 404);
});

t.test("a transaction of rows, nodes and edges vanishes as one", async (t) => {
  await server.rows("CREATE TABLE account (id int PRIMARY KEY)");
  const before = (await match("MATCH (n) RETURN count(n)")).rows;
  const { id } = (await server.expect(201, "POST", "/v1/transactions", {})).body.data;
  const inside = (sql: string) => server.expect(200, "POST", `/v1/transactions/${id}/execute`, { sql });
  await inside("INSERT INTO account VALUES (1)");
  await inside("CREATE (:Account {id: 1})-[:OF]->(:Owner)");
  t.same((await inside("MATCH (n:Account)-->(m) RETURN labels(m)")).body.data.rows, [[["Owner"]]]);
  await server.expect(200, "POST", `/v1/transactions/${id}/rollback`, {});
  t.same((await match("MATCH (n) RETURN count(n)")).rows, before);
  t.same(await server.rows("SELECT count(*) FROM account"), [[0]]);
});

t.test("algorithms", async (t) => {
  await server.expect(201, "POST", "/v1/graph/graphs", { name: "web" });
  await match(
    "CREATE (a:Page {n: 1})-[:L]->(b:Page {n: 2})-[:L]->(c:Page {n: 3})-[:L]->(a), (d:Other {n: 4})-[:L]->(a)",
    {},
    "web",
  );
  const run = async (body: object) =>
    (await server.expect(200, "POST", "/v1/graph/algorithms", { graph: "web", ...body })).body.data;
  const ranks = await run({ algorithm: "PageRank", options: { max_iterations: 50 } });
  t.same(ranks.columns, ["node_id", "score"]);
  t.equal(ranks.count, 4);
  const sum = ranks.results.reduce((total: number, { score }: { score: number }) => total + score, 0);
  t.ok(Math.abs(sum - 1) < 1e-6, "ranks add up to one");
  t.equal((await run({ algorithm: "page_rank", node_filter: "Page" })).count, 3);
  t.equal(
    (await run({ algorithm: "page_rank", node_filter: { where: "n.n > 2" }, edge_filter: { where: "type(r) = 'L'" } }))
      .count,
    2,
  );
  t.equal((await run({ algorithm: "page_rank", node_filter: { label: "Page" } })).count, 3);
  t.equal(
    (await run({ algorithm: "page_rank", node_filter: { labels: ["Page"] }, edge_filter: { type: "L" } })).count,
    3,
  );
  t.equal((await run({ algorithm: "page_rank", edge_filter: { types: ["L"] } })).count, 4);
  for (const [field, filter] of [
    ["node_filter", { type: "L" }],
    ["edge_filter", { label: "Page" }],
    ["node_filter", { label: "Page", where: "n.n > 2" }],
    ["node_filter", {}],
  ] as const) {
    const refused = await server.call("POST", "/v1/graph/algorithms", { algorithm: "page_rank", [field]: filter });
    t.match(refused, { status: 400, body: { error: { details: { field: new RegExp(`^${field}`) } } } });
  }
  t.match(await run({ algorithm: "wcc", write_property: "part" }), { written: 4, stats: { properties_set: 4 } });
  t.same((await match("MATCH (n) RETURN count(DISTINCT n.part)", {}, "web")).rows, [[1]]);
  t.same(
    (await match("CALL algo.triangleCount() YIELD node, triangles RETURN node.n, triangles ORDER BY 1", {}, "web"))
      .rows,
    [
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 0],
    ],
  );
  t.same(await refused("/v1/graph/algorithms", { algorithm: "magic" }), [400, "invalid_request"]);
  t.same(await refused("/v1/graph/algorithms", { algorithm: "pagerank", options: { damping_factor: 2 } }), [
    400,
    "invalid_request",
  ]);
  t.same(await refused("/v1/graph/algorithms", { algorithm: "pagerank", options: { colour: 2 } }), [
    400,
    "invalid_request",
  ]);
});

t.test("a text's names and relations", async (t) => {
  const text = "Marie Curie worked at the Sorbonne. Pierre Curie married Marie Curie.";
  await server.expect(201, "POST", "/v1/graph/graphs", { name: "people" });
  const extract = async (store: boolean) =>
    (await server.expect(200, "POST", "/v1/graph/extract", { text, graph: "people", store })).body.data;
  const found = await extract(false);
  t.match(
    found.nodes.map(({ name }: { name: string }) => name),
    ["Marie Curie", "Sorbonne", "Pierre Curie"],
  );
  t.match(found.edges, [
    { from: "Marie Curie", to: "Sorbonne" },
    { from: "Pierre Curie", to: "Marie Curie", type: "MARRY" },
  ]);
  const [{ spans }] = found.nodes;
  t.equal(text.slice(spans[0].start, spans[0].end), "Marie Curie");
  t.same((await match("MATCH (n) RETURN count(n)", {}, "people")).rows, [[0]], "nothing was stored");
  t.match((await extract(true)).stats, { nodes_created: 3, relationships_created: 2 });
  t.notOk("stats" in (await extract(true)), "what is there is merged");
  t.same((await match("MATCH (:Person {name: 'Pierre Curie'})-[:MARRY]->(n) RETURN n.name", {}, "people")).rows, [
    ["Marie Curie"],
  ]);
});

t.test("what is refused", async (t) => {
  const wrong = await server.call("POST", "/v1/graph/match", { cypher: "MATCH (n RETURN n" });
  t.equal(wrong.status, 400);
  t.match(wrong.body.error, { code: "syntax_error", message: /expected .* at offset 9/ });
  t.same(await refused("/v1/graph/match", { cypher: "RETURN x" }), [400, "syntax_error"]);
  t.same(await refused("/v1/graph/match", { cypher: "RETURN $x" }), [400, "query_error"]);
  t.same(await refused("/v1/graph/match", { cypher: "RETURN 1 / 0" }), [400, "query_error"]);
  t.same(await refused("/v1/graph/match", {}), [400, "invalid_request"]);
  t.same(await refused("/v1/graph/match", { cypher: "RETURN 1", colour: 1 }), [400, "invalid_request"]);
  t.same(await refused("/v1/graph/nodes", { labels: [""] }), [400, "invalid_request"]);
  t.same(await refused("/v1/graph/nodes", { properties: { a: { b: 1 } } }), [400, "query_error"]);
  t.same(await refused("/v1/query/execute", { sql: "INSERT INTO \"graph:default\".nodes VALUES (1, '', NULL)" }), [
    400,
    "query_error",
  ]);
});

t.test("parameters of Cypher are an object", async (t) => {
  const path = "/v1/graph/match";
  t.same((await match("RETURN $1 AS a", { "1": 10 })).rows, [[10]]);
  t.same((await match("RETURN 1 AS a", [])).rows, [[1]]);
  const told = (field: string) => ({ code: "invalid_request", details: { field, hint: /"name": value/ } });
  for (const given of [{ parameters: [10, 20] }, { params: [10, 20] }]) {
    const error = told(Object.keys(given)[0]!);
    t.match(await server.call("POST", path, { cypher: "RETURN $1 AS a", ...given }), { status: 400, body: { error } });
    const text = { sql: "MATCH (n) WHERE id(n) = $1 RETURN n", ...given };
    t.match(await server.call("POST", "/v1/query/execute", text), { status: 400, body: { error } });
  }
  const none = { cypher: "RETURN 1 AS a", parameters: [1] };
  const refusal = { status: 400, body: { error: told("parameters") } };
  t.match(await server.call("POST", path, none), refusal, "for a statement without any, too");
});

t.test("graphs and indexes come in pages", async (t) => {
  for (const name of ["page_a", "page_b", "page_c"]) await server.expect(201, "POST", "/v1/graph/graphs", { name });
  const graphs = async (query = "") => (await server.expect(200, "GET", `/v1/graph/graphs${query}`)).body.data;
  const all = await graphs();
  t.equal(all.graphs.length, all.count);
  t.same(await graphs("?limit=2&offset=1"), { graphs: all.graphs.slice(1, 3), count: all.count });
  t.same(await graphs("?offset=99"), { graphs: [], count: all.count });
  t.equal((await server.call("GET", "/v1/graph/graphs?limit=x")).status, 400);
  const path = "/v1/graph/indexes";
  for (const property of ["a", "b", "c"]) {
    await server.expect(201, "POST", path, { label: "Page", property, name: `by_${property}`, graph: "page_a" });
  }
  const { data } = (await server.expect(200, "GET", `${path}?graph=page_a&limit=1&offset=1`)).body;
  t.match(data, { indexes: [{ name: "by_b" }], count: 3 });
  t.equal(data.indexes.length, 1);
  for (const name of ["page_a", "page_b", "page_c"]) await server.call("DELETE", `/v1/graph/graphs/${name}`);
});

t.test("a pattern that is entered by one of two nodes keeps its other conditions", async (t) => {
  const graph = "wide";
  await server.expect(201, "POST", "/v1/graph/graphs", { name: graph });
  await match("UNWIND range(0, 399) AS i CREATE (:N {i: i, y: i % 2})", {}, graph);
  await match("MATCH (a:N), (b:N) WHERE b.i = (a.i * 7 + 3) % 400 CREATE (a)-[:X {w: a.i % 2}]->(b)", {}, graph);
  const patterns = [
    "(a:N)-[:X]->(b:N) WHERE (a.i = 3 OR b.i = 1) AND EXISTS { (a)-[:X]->() }",
    "(a:N) ((x)-[r:X {w: b.y}]->(m)-[:X]->(y)){1,2} (b:N) WHERE a.i = 3 OR b.i = 1",
    "(a:N)-[:X*1..2 {w: a.y}]->(b:N) WHERE a.i = 3 OR b.i = 1",
  ];
  const found = async () => {
    const rows = [];
    for (const pattern of patterns) {
      rows.push((await match(`MATCH ${pattern} RETURN a.i, b.i ORDER BY a.i, b.i`, {}, graph)).rows);
    }
    return rows;
  };
  const before = await found();
  t.ok(before.every((rows) => rows.length > 0));
  await match("CREATE INDEX FOR (n:N) ON (n.i)", {}, graph);
  await server.rows("ANALYZE");
  t.same(await found(), before);
});
