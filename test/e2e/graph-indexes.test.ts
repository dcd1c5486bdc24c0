/**
 * CREATE INDEX and CREATE CONSTRAINT of Cypher over HTTP: over rows that are there, for rows that come, and dropped.
 */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const cypher = async (text: string, parameters: object = {}) =>
  (await server.expect(200, "POST", "/v1/graph/match", { cypher: text, parameters })).body.data;

const rows = async (text: string, parameters: object = {}) => (await cypher(text, parameters)).rows;

const refused = async (text: string, parameters: object = {}) => {
  const { status, body } = await server.call("POST", "/v1/graph/match", { cypher: text, parameters });
  return [status, body.error.details?.type ?? body.error.details?.sqlstate, body.error.details?.detail];
};

const planOf = async (text: string) =>
  (await server.expect(200, "POST", "/v1/query/execute", { sql: `EXPLAIN ${text}`, language: "cypher" })).body.data.rows
    .flat()
    .join("\n");

t.test("an index over what is there, and what comes", async (t) => {
  await cypher("UNWIND range(1, 3000) AS i CREATE (:Item {sku: 'sku' + toString(i), price: i % 100})");
  await cypher("CREATE INDEX item_sku FOR (n:Item) ON (n.sku)");
  await cypher("CREATE INDEX FOR (n:Item) ON (n.price)");
  t.match(await planOf("MATCH (n:Item {sku: 'sku77'}) RETURN n"), /using item_sku/);
  t.same(await rows("MATCH (n:Item {sku: $sku}) RETURN n.price", { sku: "sku77" }), [[77]]);
  t.same(await rows("MATCH (n:Item) WHERE n.price >= 98 RETURN count(*)"), [[60]]);
  t.same(await rows("MATCH (n:Item) WHERE n.sku STARTS WITH 'sku299' RETURN count(*)"), [[11]]);
  t.match(await planOf("MATCH (n:Item) WHERE n.sku STARTS WITH 'sku299' RETURN n"), /item_sku/);
  t.same(await rows("MATCH (n:Item) WHERE n.sku IN ['sku1', 'sku2', 5, null] RETURN count(*)"), [[2]]);
  t.match(await planOf("MATCH (n:Item) WHERE n.sku IN $list RETURN n"), /item_sku/);
  await cypher("MATCH (n:Item {sku: 'sku77'}) SET n.sku = 'other', n.price = 'dear'");
  t.same(await rows("MATCH (n:Item {sku: 'sku77'}) RETURN n"), []);
  t.same(await rows("MATCH (n:Item {sku: 'other'}) RETURN n.price"), [["dear"]]);
  await cypher("MATCH (n:Item {sku: 'other'}) REMOVE n:Item");
  t.same(await rows("MATCH (n:Item {sku: 'other'}) RETURN n"), [], "without the label it is not in the index");
  t.same(await rows("MATCH (n {sku: 'other'}) RETURN count(n)"), [[1]]);
  const listed = await rows(
    "CALL db.indexes() YIELD name, type, label, properties RETURN name, type, label, properties",
  );
  t.same(listed, [
    ["item_sku", "RANGE", "Item", ["sku"]],
    ["Item_price_idx", "RANGE", "Item", ["price"]],
  ]);
  await cypher("DROP INDEX item_sku");
  t.notMatch(await planOf("MATCH (n:Item {sku: 'sku77'}) RETURN n"), /item_sku/);
  t.same(await refused("DROP INDEX item_sku"), [400, "42704", undefined]);
  await cypher("DROP INDEX item_sku IF EXISTS");
});

t.test("constraints", async (t) => {
  await cypher("CREATE (:User {name: 'ann'}), (:User {name: 'bob'}), (:User {name: 'bob'}), (:User)");
  const [status] = await refused("CREATE CONSTRAINT FOR (u:User) REQUIRE u.name IS UNIQUE");
  t.equal(status, 409, "not over rows that violate it");
  await cypher("MATCH (u:User {name: 'bob'}) WITH u LIMIT 1 SET u.name = 'cid'");
  await cypher("CREATE CONSTRAINT user_name FOR (u:User) REQUIRE u.name IS UNIQUE");
  const duplicate = ["ConstraintValidationFailed", "DuplicateValue"];
  t.same((await refused("CREATE (:User {name: 'ann'})")).slice(1), duplicate);
  t.same((await refused("MATCH (u:User {name: 'bob'}) SET u.name = 'ann'")).slice(1), duplicate);
  t.same((await refused("CREATE (u:Other {name: 'ann'}) SET u:User")).slice(1), duplicate);
  await cypher("CREATE (:User), (:Other {name: 'ann'})");
  await cypher("MATCH (a:User {name: 'ann'}), (b:User {name: 'bob'}) SET a.name = 'bob', b.name = 'ann'");
  t.same(await rows("UNWIND ['ann', 'dan', 'dan'] AS name MERGE (u:User {name: name}) RETURN count(DISTINCT u)"), [
    [2],
  ]);
  const missing = (await refused("CREATE CONSTRAINT FOR (u:User) REQUIRE u.name IS NOT NULL"))[1];
  t.equal(missing, "23502");
  await cypher("MATCH (u:User) WHERE u.name IS NULL DELETE u");
  await cypher("CREATE CONSTRAINT user_has_name FOR (u:User) REQUIRE u.name IS NOT NULL");
  const none = ["ConstraintValidationFailed", "MissingProperty"];
  t.same((await refused("CREATE (:User {age: 3})")).slice(1), none);
  t.same((await refused("MATCH (u:User {name: 'bob'}) REMOVE u.name")).slice(1), none);
  t.same((await refused("MATCH (u:User {name: 'bob'}) SET u = {}")).slice(1), none);
  await cypher("CREATE CONSTRAINT rated FOR ()-[r:RATED]-() REQUIRE (r.by, r.at) IS RELATIONSHIP KEY");
  await cypher("MATCH (a:User {name: 'ann'}), (b:User {name: 'bob'}) CREATE (a)-[:RATED {by: 1, at: 2}]->(b)");
  const again = "MATCH (a:User {name: 'ann'}), (b:User {name: 'bob'}) CREATE (b)-[:RATED {by: 1, at: 2}]->(a)";
  t.same((await refused(again)).slice(1), duplicate);
  t.same((await refused(again.replace(", at: 2", ""))).slice(1), none);
  await cypher("DROP CONSTRAINT user_name");
  await cypher("CREATE (:User {name: 'ann'})");
});

t.test("lookup indexes, and indexes of texts over several labels", async (t) => {
  await cypher("CREATE LOOKUP INDEX by_label IF NOT EXISTS FOR (n) ON EACH labels(n)");
  await cypher("CREATE LOOKUP INDEX IF NOT EXISTS FOR ()-[r]-() ON type(r)");
  t.equal((await refused("CREATE LOOKUP INDEX FOR (n) ON EACH labels(n)"))[1], "42P07");
  t.equal((await refused("CREATE LOOKUP INDEX FOR (n) ON EACH type(n)"))[0], 400);
  t.equal((await refused("DROP INDEX nodes_labels"))[1], "0A000");
  await cypher(
    "CREATE (:Film {t: 'the harbour'}), (:Book {t: 'harbour lights'}), (:Film:Book {t: 'a harbour'}), (:Song {t: 'harbour'})",
  );
  await cypher("CREATE FULLTEXT INDEX titles FOR (n:Film|Book) ON EACH [n.t, n.sub]");
  await cypher("CREATE FULLTEXT INDEX titles IF NOT EXISTS FOR (n:Film|Book) ON EACH [n.t, n.sub]");
  await cypher(
    "CREATE (:Book {sub: 'of a harbour'})-[:OF {note: 'green'}]->(:Song)-[:BY {note: 'green'}]->(:Song)-[:TO {note: 'green'}]->(:Song)",
  );
  const found =
    "CALL db.index.fulltext.queryNodes('titles', 'harbour') YIELD node RETURN coalesce(node.t, node.sub) AS t ORDER BY t";
  t.same(await rows(found), [["a harbour"], ["harbour lights"], ["of a harbour"], ["the harbour"]]);
  await cypher("MATCH (b:Book {sub: 'of a harbour'}) REMOVE b:Book");
  t.equal((await rows(found)).length, 3);
  await cypher("CREATE FULLTEXT INDEX notes FOR ()-[r:OF|BY]-() ON EACH [r.note]");
  t.same(
    await rows(
      "CALL db.index.fulltext.queryRelationships('notes', 'green') YIELD relationship AS r RETURN type(r) ORDER BY type(r)",
    ),
    [["BY"], ["OF"]],
  );
  t.same(await rows("SHOW FULLTEXT INDEXES YIELD name, labelsOrTypes ORDER BY name"), [
    ["notes", ["OF", "BY"]],
    ["titles", ["Film", "Book"]],
  ]);
  t.equal((await refused("CREATE INDEX FOR (n:Film|Book) ON (n.t)"))[0], 400);
  await cypher("DROP INDEX titles");
});

t.test("constraints of types", async (t) => {
  await cypher("CREATE (:Part {no: 1, tags: ['a']}), (:Part {no: 'x'}), (:Part)");
  const ofType = "CREATE CONSTRAINT part_no FOR (p:Part) REQUIRE p.no IS :: INTEGER";
  t.same((await refused(ofType))[1], "23514", "not over rows that violate it");
  await cypher("MATCH (p:Part {no: 'x'}) SET p.no = 2");
  await cypher(ofType);
  await cypher("CREATE CONSTRAINT FOR (p:Part) REQUIRE p.tags IS TYPED LIST<STRING NOT NULL> | STRING");
  await cypher("CREATE CONSTRAINT used_at FOR ()-[u:USED]-() REQUIRE u.at IS :: DATE");
  const wrong = ["ConstraintValidationFailed", "WrongPropertyType"];
  t.same((await refused("CREATE (:Part {no: 1.0})")).slice(1), wrong);
  t.same((await refused("MATCH (p:Part {no: 1}) SET p.no = '1'")).slice(1), wrong);
  t.same((await refused("MATCH (p:Part {no: 1}) SET p += {tags: [1]}")).slice(1), wrong);
  t.same((await refused("CREATE (p:Other {no: 'x'}) SET p:Part")).slice(1), wrong);
  t.same((await refused("MATCH (p:Part {no: 1}) CREATE (p)-[:USED {at: '2026-01-01'}]->(p)")).slice(1), wrong);
  await cypher("MATCH (p:Part {no: 1}) SET p.tags = 'b' REMOVE p.no CREATE (p)-[:USED {at: date('2026-01-01')}]->(p)");
  t.equal((await refused(ofType.replace("INTEGER", "STRING")))[1], "42710");
  t.equal((await refused(ofType))[1], "42P07");
  await cypher(ofType.replace(" FOR", " IF NOT EXISTS FOR"));
  t.same(await rows("SHOW NODE PROPERTY TYPE CONSTRAINTS YIELD name, type, propertyType WHERE name = 'part_no'"), [
    ["part_no", "NODE_PROPERTY_TYPE", "INTEGER"],
  ]);
  await cypher("DROP CONSTRAINT part_no");
  await cypher("CREATE (:Part {no: 'y'})");
});

t.test("indexes of vectors and texts", async (t) => {
  await cypher(
    "UNWIND range(0, 99) AS i CREATE (:Doc {id: i, e: [cos(i / 50.0), sin(i / 50.0), 0], title: 'number ' + i})",
  );
  await cypher("CREATE VECTOR INDEX doc_e FOR (n:Doc) ON (n.e) OPTIONS {indexConfig: {`vector.dimensions`: 3}}");
  await cypher("CREATE (:Doc {id: 500, e: [0.0, 0.0, 1.0], title: 'the odd one'}), (:Doc {id: 501, e: 'none'})");
  const near = "CALL db.index.vector.queryNodes('doc_e', 2, $query) YIELD node, score RETURN node.id, score > 0.99";
  t.same(await rows(near, { query: [0.1, 0, 1] }), [
    [500, true],
    [0, false],
  ]);
  await cypher("MATCH (d:Doc {id: 500}) SET d.e = [0.0, 0.0, -1.0]");
  t.same((await rows(near, { query: [1, 0, 0] }))[0], [0, true]);
  t.match(
    await planOf("CALL db.index.vector.queryNodes('doc_e', 2, [1, 0, 0]) YIELD node RETURN node"),
    /Vector Search/,
  );
  await cypher("CREATE FULLTEXT INDEX doc_title FOR (n:Doc) ON EACH [n.title]");
  t.same(
    await rows(
      "CALL db.index.fulltext.queryNodes('doc_title', 'odd ones') YIELD node, score RETURN node.id, score > 0",
    ),
    [[500, true]],
  );
  await cypher("MATCH (d:Doc {id: 7}) SET d.title = 'odd'");
  t.equal((await rows("CALL db.index.fulltext.queryNodes('doc_title', 'odd') YIELD node RETURN node.id")).length, 2);
  await cypher("DROP INDEX doc_e");
  t.same(await rows("MATCH (d:Doc {id: 7}) RETURN d.title"), [["odd"]], "the rows stay as they are");
  t.same((await refused("CREATE VECTOR INDEX FOR (n:Doc) ON (n.e)"))[1], "22023");
});

t.test("SQL reads the tables of a graph and changes nothing", async (t) => {
  const sql = (text: string) => server.call("POST", "/v1/query/execute", { sql: text });
  const counted = await sql(`SELECT count(*) FROM "graph:default".nodes WHERE has_label(labels, 'Item')`);
  t.same(counted.body.data.rows, [[2999]]);
  for (const text of [`DELETE FROM "graph:default".edges`, `SELECT setval('"graph:default".nodes_id', 1)`]) {
    t.equal((await sql(text)).body.error.details.sqlstate, "42809", text);
  }
});

t.test("patterns that begin at a relationship's property", async (t) => {
  await cypher(
    "CREATE (a:Stop {n: 1})-[:LEG {w: 1}]->(:Stop {n: 2})-[:LEG {w: 2}]->(:Stop {n: 3}), (a)-[:LEG {w: 7}]->(a)",
  );
  await cypher("UNWIND range(100, 400) AS i MATCH (a:Stop {n: 1}) CREATE (a)-[:LEG {w: i}]->(:Stop {n: i})");
  const questions = [
    "MATCH (x)<-[r:LEG {w: 1}]-(y) RETURN x.n, y.n, r.w",
    "MATCH (x)-[r:LEG {w: 1}]-(y) RETURN x.n, y.n ORDER BY x.n",
    "MATCH (x)-[r:LEG {w: 7}]-(y) RETURN x.n, y.n",
    "MATCH (x)-[r:LEG {w: 7}]->(x) RETURN x.n",
    "MATCH (x)-[r:LEG {w: 1}]->(y:Stop)-[:LEG]->(z) RETURN x.n, y.n, z.n",
    "MATCH (x:Stop {n: 2}) OPTIONAL MATCH ()-[r:LEG {w: 1}]->(y) WHERE y.n = x.n RETURN x.n, y.n",
    "MATCH (x)-[r:LEG]->(y) WHERE r.w > 1 AND r.w < 7 RETURN r.w",
  ];
  const before = await Promise.all(questions.map((question) => rows(question)));
  await cypher("CREATE INDEX leg_w FOR ()-[r:LEG]-() ON (r.w)");
  for (const [i, question] of questions.entries()) {
    t.match(await planOf(question), /using leg_w/, question);
    t.same(await rows(question), before[i], question);
  }
});

t.test("names of indexes as parameters, and options of a search", async (t) => {
  await cypher(
    "CREATE VECTOR INDEX $name FOR (n:Text) ON n.v OPTIONS {indexConfig: {`vector.dimensions`: toInteger($d)}}",
    {
      name: "text_v",
      d: 2.0,
    },
  );
  await cypher("CALL db.index.vector.createNodeIndex($name, $label, $property, $d, 'euclidean')", {
    ...{ name: "other_v", label: "Other", property: "v", d: 2 },
  });
  await cypher("CREATE FULLTEXT INDEX $name FOR (n:Text) ON EACH [n.t]", { name: "text_t" });
  await cypher(
    "CREATE (:Text {v: [1.0, 0.0], t: 'red red fox'}), (:Text {v: [0.0, 1.0], t: 'a red hen and more'}), (:Other {v: [3.0, 3.0], t: 'other'})",
  );
  const near = "CALL db.index.vector.queryNodes($index, $k, $v) YIELD node RETURN node.t";
  // The same text: a plan is made for each index.
  t.same(await rows(near, { index: "text_v", k: 1, v: [0, 1] }), [["a red hen and more"]]);
  t.same(await rows(near, { index: "other_v", k: 1, v: [0, 1] }), [["other"]]);
  t.same(await rows(near, { index: "text_v", k: 1, v: [1, 0] }), [["red red fox"]]);
  t.same(await refused(near, { index: "none", k: 1, v: [0, 1] }), [400, "42704", undefined]);
  t.same(await refused(near, { index: 7, k: 1, v: [0, 1] }), [400, "22023", undefined]);
  t.same(await refused(near, { k: 1, v: [0, 1] }), [400, "ParameterMissing", "MissingParameter"]);
  const words = "CALL db.index.fulltext.queryNodes('text_t', 'red', $options) YIELD node RETURN node.t";
  t.same(await rows(words, { options: {} }), [["red red fox"], ["a red hen and more"]]);
  t.same(await rows(words, { options: { limit: 1 } }), [["red red fox"]]);
  t.same(await rows(words, { options: { skip: 1, limit: 5 } }), [["a red hen and more"]]);
  t.same(await refused(words, { options: { limits: 1 } }), [400, "ArgumentError", "InvalidArgumentValue"]);
  t.same(await refused(words, { options: { limit: -1 } }), [400, "ArgumentError", "NegativeIntegerArgument"]);
});

t.test("SEARCH restricts a variable to what a vector index finds", async (t) => {
  const like = "OPTIONS {indexConfig: {`vector.dimensions`: 2, `vector.similarity_function`: 'euclidean'}}";
  await rows(`CREATE VECTOR INDEX near FOR (m:Spot) ON (m.v) ${like}`);
  await rows(`CREATE VECTOR INDEX alike FOR ()-[r:NEXT]-() ON (r.v) ${like}`);
  await rows(
    "UNWIND range(1, 20) AS i CREATE (:Spot {id: i, v: [i, 0.0], even: i % 2 = 0})-[:NEXT {v: [0.0, i], id: i}]->(:End {id: i})",
  );
  const search = "SEARCH m IN (VECTOR INDEX near FOR [3.0, 0.0]";
  t.same(await rows(`MATCH (m:Spot) ${search} LIMIT 3) SCORE AS s RETURN m.id, s ORDER BY s DESC, m.id`), [
    [3, 1],
    [2, 0.5],
    [4, 0.5],
  ]);
  const ids = "WITH m ORDER BY m.id RETURN collect(m.id)";
  t.same(await rows(`MATCH (m:Spot) ${search} WHERE m.even LIMIT 3) ${ids}`), [[[2, 4, 6]]], "before they are taken");
  t.same(await rows(`MATCH (m:Spot) ${search} LIMIT 3) WHERE m.even ${ids}`), [[[2, 4]]], "after");
  t.same(await rows(`MATCH (m:Spot {id: 2})-[:NEXT]->(e) ${search} LIMIT 3) RETURN e.id`), [[2]]);
  const relations = "SEARCH r IN (VECTOR INDEX $index FOR $q WHERE r.id > 8 LIMIT 2)";
  t.same(
    await rows(`MATCH ()-[r:NEXT]->(e) ${relations} SCORE AS s RETURN e.id, s ORDER BY e.id`, {
      index: "alike",
      q: [0, 9],
    }),
    [
      [9, 1],
      [10, 0.5],
    ],
  );
  const around = "SEARCH m IN (VECTOR INDEX near FOR [a.id * 1.0, 0.0] WHERE m.id <> a.id LIMIT 2)";
  t.same(await rows(`MATCH (a:End {id: 7}) MATCH (m:Spot) ${around} ${ids}`), [[[6, 8]]], "by what is around it");
  t.same(await refused(`MATCH (m:Spot) ${search.replace("near", "none")} LIMIT 3) RETURN m`), [
    400,
    "42704",
    undefined,
  ]);
  t.same(await refused(`MATCH (m:Spot) ${search} LIMIT 0) RETURN m`), [
    400,
    "ArgumentError",
    "NegativeIntegerArgument",
  ]);
  t.same(await refused(`MATCH (m:Spot) MATCH (m) ${search} LIMIT 1) RETURN m`), [
    400,
    "SyntaxError",
    "VariableAlreadyBound",
  ]);
});
