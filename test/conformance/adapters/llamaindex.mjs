/** LlamaIndex.TS: the vector store with nodes of its own. */
import { BaseEmbedding } from "@llamaindex/core/embeddings";
import { MetadataMode, TextNode } from "@llamaindex/core/schema";
import { TesseraVectorStore } from "tessera-adapters/llamaindex";
import { connect } from "tessera-client";
import { equal, step } from "./steps.mjs";

const client = connect({ url: process.env.TESSERA_URL, apiKey: process.env.TESSERA_KEY });
/** The nodes have their vectors. */
class None extends BaseEmbedding {
  getTextEmbedding() {
    throw new Error("not asked");
  }
}
const store = new TesseraVectorStore({ client, table: "li_nodes", embeddingModel: new None() });
const node = (id, text, embedding, metadata) => {
  const made = new TextNode({ id_: id, text, embedding, metadata });
  made.relationships = { SOURCE: { nodeId: `doc-${id}`, metadata: {} } };
  return made;
};

await step("add", async () => {
  equal(await store.add([node("a", "Ferry", [1, 0, 0], { kind: "x" }), node("b", "Bread", [0, 1, 0], { kind: "y" })]), [
    "a",
    "b",
  ]);
});
await step("query", async () => {
  const { ids, similarities, nodes } = await store.query({
    queryEmbedding: [0.9, 0.1, 0],
    similarityTopK: 1,
    mode: "default",
  });
  equal(
    [ids, similarities[0] > 0.99, nodes[0].getContent(MetadataMode.NONE), nodes[0].metadata.kind],
    [["a"], true, "Ferry", "x"],
  );
});
await step("filters", async () => {
  const filters = { filters: [{ key: "kind", value: "y", operator: "==" }] };
  const { ids } = await store.query({ queryEmbedding: [1, 0, 0], similarityTopK: 5, mode: "default", filters });
  equal(ids, ["b"]);
});
await step("other filters are refused", async () => {
  const filters = { filters: [{ key: "kind", value: "y", operator: ">" }] };
  const error = await store
    .query({ queryEmbedding: [1, 0, 0], similarityTopK: 5, mode: "default", filters })
    .catch((e) => e);
  equal(/Only filters/.test(error.message), true);
});
