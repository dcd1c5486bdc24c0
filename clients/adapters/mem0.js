/** mem0's open-source memory (`mem0ai/oss`): its vectors and memories in a table. */
import { VectorTable } from "./vector-table.js";

/** What mem0 calls a vector store. `{client, table}`. */
export class TesseraMemoryStore {
  #table;
  #user = "tessera";

  constructor({ client, table }) {
    this.#table = new VectorTable(client, table);
  }

  async initialize() {}

  async insert(vectors, ids, payloads) {
    await this.#table.put(vectors.map((vector, i) => rowOf(ids[i], vector, payloads[i])));
  }

  async search(query, topK = 5, filters = {}) {
    const rows = await this.#table.nearest(query, topK, containedOf(filters));
    return rows.map(({ id, metadata: payload, score }) => ({ id, payload, score }));
  }

  /** Words are not searched: null tells mem0 so. */
  async keywordSearch() {
    return null;
  }

  async get(id) {
    const [row] = await this.#table.get([id]);
    return row === undefined ? null : { id, payload: row.metadata };
  }

  async update(id, vector, payload) {
    await this.#table.put([rowOf(id, vector, payload)]);
  }

  async delete(id) {
    await this.#table.delete([id]);
  }

  async deleteCol() {
    await this.#table.deleteWhere({});
  }

  async list(filters = {}, topK = 100) {
    const rows = await this.#table.list(containedOf(filters), topK);
    return [rows.map(({ id, metadata: payload }) => ({ id, payload })), rows.length];
  }

  async getUserId() {
    return this.#user;
  }

  async setUserId(user) {
    this.#user = user;
  }
}

/** mem0 makes its stores by name and knows no other; this puts one into a `Memory` in place of its own. */
export function keptInTessera(memory, fields) {
  memory.vectorStore = new TesseraMemoryStore(fields);
  return memory;
}

const rowOf = (id, vector, payload) => ({ id, content: String(payload.data ?? ""), metadata: payload, vector });

/** Equalities. Operators are refused, so that no filter is left out unnoticed. */
function containedOf(filters) {
  for (const [key, value] of Object.entries(filters)) {
    const isPlain = value === null || typeof value !== "object";
    if (!isPlain || /^(?:AND|OR|NOT|\$)/.test(key)) throw new Error(`Only filters by equality are known, not ${key}.`);
  }
  return filters;
}
