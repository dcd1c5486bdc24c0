/** LangChain's graph and vector store over Neo4j, and what retrievers and memories of agents send by themselves. */

import { GraphDocument, Node, Relationship } from "@langchain/community/graphs/document";
import { Neo4jGraph } from "@langchain/community/graphs/neo4j_graph";
import { Neo4jVectorStore } from "@langchain/community/vectorstores/neo4j_vector";
import { Document as GraphSource } from "@langchain/core/documents";
import { Embeddings } from "@langchain/core/embeddings";
import neo4j from "neo4j-driver";
import { equal, matches, step } from "./steps.mjs";

const { BOLT_URL: url, BOLT_USER: username, BOLT_PASSWORD: password } = process.env;

/** How often a text has each letter: no model is needed. */
class Letters extends Embeddings {
  constructor() {
    super({});
  }

  async embedQuery(text) {
    const counts = new Array(26).fill(0.01);
    for (const letter of text.toLowerCase()) if (letter >= "a" && letter <= "z") counts[letter.charCodeAt(0) - 97]++;
    return counts;
  }

  embedDocuments(texts) {
    return Promise.all(texts.map((text) => this.embedQuery(text)));
  }
}

const graph = await Neo4jGraph.initialize({ url, username, password });
const ada = new Node({ id: "Ada", type: "Person", properties: { age: 36 } });
const bob = new Node({ id: "Bob", type: "Person" });
const relationships = [new Relationship({ source: ada, target: bob, type: "KNOWS", properties: { since: 2020 } })];
const source = new GraphSource({ pageContent: "Ada knows Bob.", metadata: { id: "d1" } });
const documents = [new GraphDocument({ nodes: [ada, bob], relationships, source })];
await step("a graph of documents", async () => {
  for (let i = 0; i < 2; i++) await graph.addGraphDocuments(documents);
  equal(await graph.query("MATCH (a:Person)-[r:KNOWS]->(b) RETURN a.id AS a, r.since AS since, b.id AS b"), [
    { a: "Ada", since: 2020, b: "Bob" },
  ]);
});
await step("the same with its sources and a label for all", async () => {
  for (let i = 0; i < 2; i++) {
    await graph.addGraphDocuments(documents, { includeSource: true, baseEntityLabel: true });
  }
  equal(
    await graph.query("MATCH (:Document {id: 'd1'})-[:MENTIONS]->(n:__Entity__:Person) RETURN n.id AS id ORDER BY id"),
    [{ id: "Ada" }, { id: "Bob" }],
  );
});
await step("the schema for a model", async () => {
  await graph.refreshSchema();
  matches(graph.getSchema(), /Person \{age: FLOAT, id: STRING\}/);
  matches(graph.getSchema(), /\(: ?Person\) ?- ?\[: ?KNOWS\] ?-> ?\(: ?Person\)/);
});
await step("the schema with values", async () => {
  const enhanced = await Neo4jGraph.initialize({ url, username, password, enhancedSchema: true });
  matches(enhanced.getSchema(), /`id`: STRING Available options: (Ada, Bob|Bob, Ada)/);
  await enhanced.close();
});
await graph.close();

const places = {
  ...{ url, username, password, indexName: "vector", keywordIndexName: "words" },
  ...{ nodeLabel: "Chunk", textNodeProperty: "text", embeddingNodeProperty: "embedding" },
};
const texts = ["Cats purr and sleep", "Dogs bark loudly", "Zebras run fast"];
const found = (list) => list.map(({ pageContent }) => pageContent);
await step("a vector store from texts, searched by vectors and words", async () => {
  const metadata = texts.map((_, n) => ({ n }));
  const store = await Neo4jVectorStore.fromTexts(texts, metadata, new Letters(), { ...places, searchType: "hybrid" });
  equal(found(await store.similaritySearch("Cats purr", 1)), [texts[0]]);
  const [[best, score]] = await store.similaritySearchWithScore("zebras run", 2);
  equal([best.pageContent, best.metadata, score], [texts[2], { n: 2 }, 1]);
  await store.close();
});
await step("an index that is there, and a filter by metadata", async () => {
  const store = await Neo4jVectorStore.fromExistingIndex(new Letters(), { ...places, searchType: "vector" });
  equal(found(await store.similaritySearch("Dogs bark", 1)), [texts[1]]);
  const filter = { n: { $gte: 1 } };
  equal(found(await store.similaritySearch("Cats purr", 3, { filter })).includes(texts[0]), false);
  await store.close();
});
await step("nodes that are there become a vector store", async () => {
  const people = { indexName: "people", keywordIndexName: "names", nodeLabel: "Person", embeddingNodeProperty: "v" };
  const options = { ...places, ...people, textNodeProperties: ["id"], searchType: "hybrid" };
  const store = await Neo4jVectorStore.fromExistingGraph(new Letters(), options);
  equal(found(await store.similaritySearch("Ada", 1)), ["\nid: Ada"]);
  await store.close();
});

const driver = neo4j.driver(url, neo4j.auth.basic(username, password));
const run = async (text, parameters = {}) =>
  (await driver.executeQuery(text, parameters)).records.map((record) => record.toObject());
await step("what retrievers of Neo4j's GraphRAG package send", async () => {
  const vector = await new Letters().embedQuery("Dogs bark");
  const [{ node, labels }] = await run(
    `CALL db.index.vector.queryNodes($vector_index_name, $top_k * $effective_search_ratio, $query_vector) YIELD node, score
     WITH node, score LIMIT $top_k
     RETURN node { .*, \`embedding\`: null } AS node, labels(node) AS labels, elementId(node) AS elementId, score`,
    { vector_index_name: "vector", top_k: neo4j.int(1), effective_search_ratio: neo4j.int(2), query_vector: vector },
  );
  equal([node.text, node.embedding, labels], [texts[1], null, ["Chunk"]]);
});
await step("what memories of agents send", async () => {
  await run(
    `CREATE FULLTEXT INDEX name_and_summary IF NOT EXISTS FOR (n:Entity) ON EACH [n.name, n.summary, n.group_id]`,
  );
  const entity = { uuid: "u1", name: "Ada", summary: "knows Bob", group_id: "g", name_embedding: [0.5, 0.5] };
  const [saved] = await run(
    `MERGE (n:Entity {uuid: $entity_data.uuid}) SET n:$($labels) SET n = $entity_data
     WITH n CALL db.create.setNodeVectorProperty(n, "name_embedding", $entity_data.name_embedding) RETURN n.uuid AS uuid`,
    { entity_data: entity, labels: ["Person"] },
  );
  equal(saved, { uuid: "u1" });
  const rows = await run(
    `CALL db.index.fulltext.queryNodes("name_and_summary", $query, {limit: $limit}) YIELD node AS n, score
     WITH n, score WHERE n.group_id IN $group_ids RETURN n.name AS name ORDER BY score DESC LIMIT $limit`,
    { query: "Bob", limit: neo4j.int(3), group_ids: ["g"] },
  );
  equal(rows, [{ name: "Ada" }]);
});
await driver.close();
