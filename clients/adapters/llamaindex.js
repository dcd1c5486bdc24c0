/** LlamaIndex.TS: a vector store. */
import { MetadataMode } from "@llamaindex/core/schema";
import { BaseVectorStore, metadataDictToNode, nodeToMetadata } from "@llamaindex/core/vector-store";
import { VectorTable } from "./vector-table.js";

/** Nodes with their vectors, in a table. `{client, table, embeddingModel?}`. */
export class TesseraVectorStore extends BaseVectorStore {
  storesText = true;
  #table;
  #client;

  constructor({ client, table, ...rest }) {
    super(rest);
    this.#client = client;
    this.#table = new VectorTable(client, table);
  }

  client() {
    return this.#client;
  }

  add(nodes) {
    const rows = nodes.map((node) => ({
      id: node.id_,
      content: node.getContent(MetadataMode.NONE),
      metadata: nodeToMetadata(node, true),
      vector: node.getEmbedding(),
    }));
    return this.#table.put(rows);
  }

  delete(refDocId) {
    return this.#table.deleteWhere({ ref_doc_id: refDocId });
  }

  async query({ queryEmbedding, similarityTopK, filters }) {
    const rows = await this.#table.nearest(queryEmbedding, similarityTopK, containedOf(filters));
    return {
      nodes: rows.map(({ content, metadata }) => {
        const node = metadataDictToNode(metadata);
        node.setContent(content);
        return node;
      }),
      similarities: rows.map(({ score }) => score),
      ids: rows.map(({ id }) => id),
    };
  }
}

/** Equalities that all hold. Others are refused, so that no filter is left out unnoticed. */
function containedOf(filters) {
  if (filters === undefined || filters.filters.length === 0) return undefined;
  const isPlain = (filters.condition ?? "and") === "and" && filters.filters.every(({ operator }) => operator === "==");
  if (!isPlain) throw new Error("Only filters with the operator == that are joined by and are known.");
  return Object.fromEntries(filters.filters.map(({ key, value }) => [key, value]));
}
