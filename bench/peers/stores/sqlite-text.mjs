/**
 * better-sqlite3 with FTS5, for bench/hybrid: documents and their words in one external-content index, BM25, the Porter
 * stemmer. Adds POST /load {documents} and POST /search {words, k} to the server, and answers nothing else.
 */
import { join } from "node:path";
import Database from "better-sqlite3";

const text = { type: "string" };
const object = (properties) => ({ type: "object", required: Object.keys(properties), properties });

export function open(directory) {
  const database = new Database(join(directory, "peer.sqlite"));
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec(`
    CREATE TABLE document (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL);
    CREATE VIRTUAL TABLE words USING fts5 (title, body, content='document', content_rowid='id', tokenize='porter unicode61')`);
  const insert = database.prepare("INSERT INTO document VALUES (?, ?, ?)");
  const index = database.prepare("INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)");
  const insertAll = database.transaction((first, documents) => {
    documents.forEach(({ title, body }, i) => {
      insert.run(first + i, title, body);
      index.run(first + i, title, body);
    });
  });
  const search = database.prepare(
    "SELECT rowid AS id, -bm25(words) AS score, title FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
  );
  const anyOf = (words) =>
    words
      .split(" ")
      .map((word) => `"${word}"`)
      .join(" OR ");
  return {
    durability: "WAL with synchronous=FULL",
    versions: (versionOf) => ({
      "better-sqlite3": versionOf("better-sqlite3"),
      SQLite: database.prepare("SELECT sqlite_version()").pluck().get(),
    }),
    addRoutes(app, envelope) {
      const hit = object({ id: { type: "integer" }, score: { type: "number" }, title: text });
      const response = {
        200: { type: "object", additionalProperties: true, properties: { data: { type: "array", items: hit } } },
      };
      app.post("/load", { bodyLimit: 2 ** 26 }, (request) => {
        insertAll(request.body.first, request.body.documents);
        return envelope(request, null);
      });
      app.post(
        "/search",
        { schema: { body: object({ words: text, k: { type: "integer" } }), response } },
        (request, reply) => reply.send(envelope(request, search.all(anyOf(request.body.words), request.body.k))),
      );
    },
  };
}
