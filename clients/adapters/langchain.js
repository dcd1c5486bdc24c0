/** LangChain.js: a vector store, a retriever over a collection, and a chat history. */
import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import { Document } from "@langchain/core/documents";
import { mapStoredMessagesToChatMessages } from "@langchain/core/messages";
import { BaseRetriever } from "@langchain/core/retrievers";
import { VectorStore } from "@langchain/core/vectorstores";
import { MessageTable, VectorTable } from "./vector-table.js";

/** Documents with vectors that LangChain's embeddings make, in a table. `{client, table}`. */
export class TesseraVectorStore extends VectorStore {
  #table;

  constructor(embeddings, fields) {
    super(embeddings, { table: fields.table });
    this.#table = new VectorTable(fields.client, fields.table);
  }

  _vectorstoreType() {
    return "tessera";
  }

  async addDocuments(documents, options = {}) {
    const vectors = await this.embeddings.embedDocuments(documents.map(({ pageContent }) => pageContent));
    return this.addVectors(vectors, documents, options);
  }

  addVectors(vectors, documents, { ids } = {}) {
    const rows = documents.map(({ id, pageContent: content, metadata }, i) => ({
      id: ids?.[i] ?? id,
      content,
      metadata,
      vector: vectors[i],
    }));
    return this.#table.put(rows);
  }

  async similaritySearchVectorWithScore(query, k, filter) {
    const rows = await this.#table.nearest(query, k, filter);
    return rows.map(({ score, ...row }) => [documentOf(row), score]);
  }

  /** By `{ids}`, or by `{filter}`: what the metadata have to contain. */
  async delete({ ids, filter } = {}) {
    if (ids !== undefined) await this.#table.delete(ids);
    else if (filter !== undefined) await this.#table.deleteWhere(filter);
    else throw new Error("Name what to delete: {ids} or {filter}.");
  }

  static async fromDocuments(documents, embeddings, fields) {
    const store = new TesseraVectorStore(embeddings, fields);
    await store.addDocuments(documents);
    return store;
  }

  static fromTexts(texts, metadatas, embeddings, fields) {
    const documents = texts.map((pageContent, i) => {
      const metadata = Array.isArray(metadatas) ? metadatas[i] : metadatas;
      return new Document({ pageContent, metadata });
    });
    return TesseraVectorStore.fromDocuments(documents, embeddings, fields);
  }
}

const documentOf = ({ id, content: pageContent, metadata }) => new Document({ id, pageContent, metadata });

/** The server's own search in a collection: by words, by meaning, or by both. `{client, collection, field, k, mode}`. */
export class TesseraRetriever extends BaseRetriever {
  lc_namespace = ["tessera", "retrievers"];
  #fields;

  constructor({ client, collection, field = "text", k = 4, mode = "hybrid", ...rest }) {
    super(rest);
    this.#fields = { collection: client.collection(collection), field, k, mode };
  }

  async _getRelevantDocuments(query) {
    const { collection, field, k, mode } = this.#fields;
    const found = await collection.search({ query, mode, limit: k });
    return found.map(({ id, [field]: text, ...metadata }) => {
      return new Document({ id, pageContent: String(text ?? ""), metadata });
    });
  }
}

/** The messages of one conversation, in a table of many. `{client, session, table}`. */
export class TesseraChatMessageHistory extends BaseListChatMessageHistory {
  lc_namespace = ["tessera", "stores", "message"];
  #table;
  #session;

  constructor({ client, session, table = "langchain_messages" }) {
    super({ session, table });
    this.#table = new MessageTable(client, table);
    this.#session = session;
  }

  async getMessages() {
    return mapStoredMessagesToChatMessages(await this.#table.list(this.#session));
  }

  addMessage(message) {
    return this.#table.add(this.#session, message.toDict());
  }

  clear() {
    return this.#table.clear(this.#session);
  }
}
