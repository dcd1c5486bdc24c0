/**
 * A table of texts with their vectors and metadata, as vector stores of frameworks need one. The adapters beside are thin
 * layers over it; it knows no framework.
 */
import { randomUUID } from "node:crypto";

/** Rows that one statement stores. */
const ROWS_AT_ONCE = 100;
const COLUMNS = "id, content, metadata";

/** The name of a table or schema in SQL. */
const quoted = (name) => `"${name.replaceAll('"', '""')}"`;

export class VectorTable {
  #client;
  #table;
  #name;
  #made = null;

  /** `client`: of tessera-client. `table`: its name, perhaps with its schema before a dot. */
  constructor(client, table) {
    this.#client = client;
    this.#table = table.split(".").map(quoted).join(".");
    this.#name = table.split(".").at(-1);
  }

  async #make(dimensions) {
    await this.#client.query(
      `CREATE TABLE IF NOT EXISTS ${this.#table} (id text PRIMARY KEY, content text NOT NULL, ` +
        `metadata jsonb NOT NULL, embedding vector(${Number(dimensions)}) NOT NULL)`,
    );
    const index = quoted(`${this.#name}_embedding`);
    await this.#client.query(
      `CREATE INDEX IF NOT EXISTS ${index} ON ${this.#table} USING hnsw (embedding vector_cosine_ops)`,
    );
  }

  /** Makes the table where it is not there, for vectors of that length. */
  async #ready(dimensions) {
    this.#made ??= this.#make(dimensions);
    try {
      await this.#made;
    } catch (error) {
      this.#made = null;
      throw error;
    }
  }

  /** Stores rows `{id?, content, metadata?, vector}`, all or none; those with a known id are replaced. Gives the ids. */
  async put(rows) {
    if (rows.length === 0) return [];
    await this.#ready(rows[0].vector.length);
    const stored = rows.map((row) => ({ ...row, id: row.id ?? randomUUID() }));
    await this.#client.tx(async (transaction) => {
      for (let at = 0; at < stored.length; at += ROWS_AT_ONCE) {
        const part = stored.slice(at, at + ROWS_AT_ONCE);
        const places = part.map((_row, r) => `($${4 * r + 1}, $${4 * r + 2}, $${4 * r + 3}, $${4 * r + 4})`);
        await transaction.query(
          `INSERT INTO ${this.#table} (${COLUMNS}, embedding) VALUES ${places.join(", ")} ON CONFLICT (id) DO UPDATE ` +
            "SET content = EXCLUDED.content, metadata = EXCLUDED.metadata, embedding = EXCLUDED.embedding",
          part.flatMap(({ id, content, metadata = {}, vector }) => [id, content, metadata, Array.from(vector)]),
        );
      }
    });
    return stored.map(({ id }) => id);
  }

  /**
   * The `k` rows that are nearest by cosine, best first, with `score` 1 for the same direction. `filter`: what the
   * metadata have to contain.
   */
  async nearest(vector, k, filter) {
    const values = [Array.from(vector), k];
    const where = filter === undefined ? "" : "WHERE metadata @> $3::jsonb ";
    if (filter !== undefined) values.push(filter);
    return this.#rows(
      `SELECT ${COLUMNS}, 1 - (embedding <=> $1) AS score FROM ${this.#table} ${where}ORDER BY embedding <=> $1 LIMIT $2`,
      values,
    );
  }

  /** The rows with these ids. */
  get(ids) {
    return this.#rows(`SELECT ${COLUMNS} FROM ${this.#table} WHERE id = ANY($1::text[])`, [ids]);
  }

  /** Rows whose metadata contain the filter, by their ids. */
  list(filter, most) {
    const sql = `SELECT ${COLUMNS} FROM ${this.#table} WHERE metadata @> $1::jsonb ORDER BY id LIMIT $2`;
    return this.#rows(sql, [filter, most]);
  }

  /** Deletes rows by their ids. */
  async delete(ids) {
    await this.#rows(`DELETE FROM ${this.#table} WHERE id = ANY($1::text[])`, [ids]);
  }

  /** Deletes rows whose metadata contain the filter. */
  async deleteWhere(filter) {
    await this.#rows(`DELETE FROM ${this.#table} WHERE metadata @> $1::jsonb`, [filter]);
  }

  /** Before the first row there is no table, and so nothing. */
  async #rows(sql, values) {
    try {
      return [...(await this.#client.query(sql, values))];
    } catch (error) {
      if (error.sqlstate === "42P01") return [];
      throw error;
    }
  }
}

/** Messages of conversations, in their order. */
export class MessageTable {
  #client;
  #table;
  #made = null;

  constructor(client, table) {
    this.#client = client;
    this.#table = table.split(".").map(quoted).join(".");
  }

  async #ready() {
    this.#made ??= this.#client.query(
      `CREATE TABLE IF NOT EXISTS ${this.#table} (session text, place bigint GENERATED ALWAYS AS IDENTITY, ` +
        "message jsonb NOT NULL, PRIMARY KEY (session, place))",
    );
    try {
      await this.#made;
    } catch (error) {
      this.#made = null;
      throw error;
    }
  }

  async add(session, message) {
    await this.#ready();
    await this.#client.query(`INSERT INTO ${this.#table} (session, message) VALUES ($1, $2)`, [session, message]);
  }

  async list(session) {
    await this.#ready();
    const sql = `SELECT message FROM ${this.#table} WHERE session = $1 ORDER BY place`;
    return [...(await this.#client.query(sql, [session]))].map(({ message }) => message);
  }

  async clear(session) {
    await this.#ready();
    await this.#client.query(`DELETE FROM ${this.#table} WHERE session = $1`, [session]);
  }
}
