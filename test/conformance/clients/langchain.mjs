/** LangChain's PGVectorStore and PostgresRecordManager: documents, filters, collections, an HNSW index. */
import { PostgresRecordManager } from "@langchain/community/indexes/postgres";
import { PGVectorStore } from "@langchain/community/vectorstores/pgvector";
import { Document } from "@langchain/core/documents";
import { SyntheticEmbeddings } from "@langchain/core/utils/testing";
import pg from "pg";
import { equal, step } from "./steps.mjs";

const embeddings = new SyntheticEmbeddings({ vectorSize: 8 });
const postgresConnectionOptions = { connectionString: process.env.DATABASE_URL };
const columns = {
  idColumnName: "id",
  vectorColumnName: "vector",
  contentColumnName: "content",
  metadataColumnName: "metadata",
};
const config = { postgresConnectionOptions, tableName: "testlangchainjs", columns, distanceStrategy: "cosine" };
const ids = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
const texts = (found) => found.map(({ pageContent }) => pageContent);
let store;

await step("initialize, add documents, delete by id", async () => {
  store = await PGVectorStore.initialize(embeddings, config);
  const documents = [
    { pageContent: "foo", metadata: { baz: "bar", num: 4, tags: ["a", "b"] } },
    { pageContent: "thud", metadata: { bar: "baz" } },
    { pageContent: "i will be deleted :(", metadata: {} },
  ];
  await store.addDocuments(documents, { ids });
  await store.delete({ ids: [ids[2]] });
});
await step("similarity search, with filters and their operators, with score", async () => {
  equal(
    (await store.similaritySearch("thud", 1)).map((d) => ({ ...d })),
    [{ pageContent: "thud", metadata: { bar: "baz" }, id: ids[1] }],
  );
  equal(texts(await store.similaritySearch("thud", 1, { baz: "bar" })), ["foo"]);
  equal(texts(await store.similaritySearch("thud", 1, { baz: { in: ["bar", "car"] }, num: { lte: 10 } })), ["foo"]);
  equal(texts(await store.similaritySearch("thud", 2, { bar: { notIn: ["x"] } })), ["thud"]);
  equal(texts(await store.similaritySearch("thud", 2, { num: { gt: 3, lt: 5 }, baz: { neq: "x" } })), ["foo"]);
  equal(texts(await store.similaritySearch("thud", 2, { tags: { arrayContains: ["b", "z"] } })), ["foo"]);
  const [[first, score]] = await store.similaritySearchWithScore("foo", 1);
  equal([first.pageContent, Math.abs(score) < 1e-6], ["foo", true]);
});
await step("as a retriever, by maximal marginal relevance", async () => {
  equal(texts(await store.asRetriever({ searchType: "mmr", k: 1 }).invoke("thud")), ["thud"]);
});
await step("an HNSW index; delete by filter", async () => {
  await store.createHnswIndex({ dimensions: 8 });
  const { rows } = await store.pool.query("SELECT indexname FROM pg_indexes WHERE tablename = 'testlangchainjs'");
  equal(rows.length, 2);
  equal(texts(await store.similaritySearch("foo", 1)), ["foo"]);
  await store.delete({ filter: { bar: "baz" } });
  equal(texts(await store.similaritySearch("thud", 3)), ["foo"]);
});
await step("collections, a schema, each distance", async () => {
  await store.pool.query("CREATE SCHEMA chain");
  for (const distanceStrategy of ["cosine", "innerProduct", "euclidean"]) {
    const more = {
      pool: new pg.Pool(postgresConnectionOptions),
      collectionTableName: "collections",
      tableName: "in_collections",
      schemaName: "chain",
      extensionSchemaName: "public",
      distanceStrategy,
      dimensions: 8,
    };
    const [one, other] = [
      await PGVectorStore.initialize(embeddings, { ...config, ...more, collectionName: `${distanceStrategy} 1` }),
      await PGVectorStore.initialize(embeddings, { ...config, ...more, collectionName: `${distanceStrategy} 2` }),
    ];
    await one.addDocuments([new Document({ pageContent: "hello", metadata: { a: 1 } })]);
    await other.addDocuments([new Document({ pageContent: "bye", metadata: { a: 2 } })]);
    equal(texts(await one.similaritySearch("hello", 5)), ["hello"]);
    one.client.release();
    await other.end();
  }
});
await step("the record manager of the indexing API", async () => {
  const manager = new PostgresRecordManager("pgvector/docs", { postgresConnectionOptions, tableName: "records" });
  await manager.createSchema();
  await manager.createSchema();
  const before = await manager.getTime();
  equal(Math.abs(before / 1000 - Date.now() / 1000) < 60 || Math.abs(before - Date.now() / 1000) < 60, true);
  await manager.update(["a", "b"], { groupIds: ["g", "h"] });
  await manager.update(["a", "b"], { groupIds: ["g", "h"] });
  equal(await manager.exists(["a", "c"]), [true, false]);
  equal(await manager.listKeys({ groupIds: ["g"], after: 1 }), ["a"]);
  await manager.deleteKeys(["a"]);
  equal(await manager.listKeys(), ["b"]);
  await manager.pool.end();
});
await store.end();
