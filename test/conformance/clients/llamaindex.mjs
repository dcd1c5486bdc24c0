/** LlamaIndex's PGVectorStore: nodes, collections, filters; its document store. */

import { Document } from "@llamaindex/core/schema";
import { PGVectorStore, PostgresDocumentStore } from "@llamaindex/postgres";
import { equal, step } from "./steps.mjs";

const clientConfig = { connectionString: process.env.DATABASE_URL };
const store = new PGVectorStore({ clientConfig, embeddingModel: {}, dimensions: 3, tableName: "llama" });
const ids = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
const found = async (filters, similarityTopK = 3) =>
  (await store.query({ queryEmbedding: [1, 0, 0], similarityTopK, mode: "default", filters })).ids;
await step("add, query", async () => {
  store.setCollection("one");
  const nodes = [
    [1, 0, 0],
    [0, 1, 0],
    [0.9, 0.1, 0],
  ].map(
    (embedding, n) =>
      new Document({ id_: ids[n], text: `text ${n}`, embedding, metadata: { n, tags: ["a", `t${n}`], name: `x${n}` } }),
  );
  equal(await store.add(nodes), ids);
  equal(await store.add(nodes), ids);
  equal(await found(), [ids[0], ids[2], ids[1]]);
});
await step("filters", async () => {
  const of = (key, operator, value) => found({ filters: [{ key, operator, value }] });
  equal(await of("n", ">=", 1), [ids[2], ids[1]]);
  equal(await of("name", "==", "x1"), [ids[1]]);
  equal(await of("name", "in", ["x1", "x2"]), [ids[2], ids[1]]);
  equal(await of("tags", "contains", "t2"), [ids[2]]);
  equal(await of("tags", "any", ["t1", "t2"]), [ids[2], ids[1]]);
  equal(await of("tags", "all", ["a", "t2"]), [ids[2]]);
  equal(await of("name", "text_match", "x"), [ids[0], ids[2], ids[1]]);
  equal(await of("gone", "is_empty"), [ids[0], ids[2], ids[1]]);
});
await step("delete, clear, exists", async () => {
  await store.delete(ids[0]);
  equal(await found(), [ids[2], ids[1]]);
  await store.clearCollection();
  equal(await found(), []);
});
await step("document store", async () => {
  const docs = new PostgresDocumentStore({ clientConfig });
  await docs.addDocuments([new Document({ id_: "a", text: "t" })], true);
  equal(Object.keys(await docs.docs()), ["a"]);
  await docs.deleteDocument("a");
});
process.exit();
