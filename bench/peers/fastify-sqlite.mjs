/**
 * The peer: fastify and better-sqlite3 in one process, tuned (WAL, prepared statements, cached JWT checks, compiled
 * schemas), doing the same authenticated JSON work: one row by key, one durable insert. Prints "listening on PORT".
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import Database from "better-sqlite3";
import { createSigner, createVerifier } from "fast-jwt";
import fastify from "fastify";

const database = new Database(join(process.argv[2], "peer.sqlite"));
database.pragma("journal_mode = WAL");
database.pragma("synchronous = FULL");
database.exec(
  "CREATE TABLE IF NOT EXISTS accounts (id INTEGER PRIMARY KEY, name TEXT NOT NULL, balance INTEGER NOT NULL)",
);
const read = database.prepare("SELECT id, name, balance FROM accounts WHERE id = ?");
const write = database.prepare("INSERT INTO accounts (id, name, balance) VALUES (?, ?, ?)");

const key = randomBytes(32);
const verify = createVerifier({ key, algorithms: ["HS256"], cache: 1000 });
const token = createSigner({ key, expiresIn: "1h" })({ sub: "1", tenant_id: "t" });

const app = fastify({ logger: false });
app.addHook("onRequest", (request, reply, done) => {
  try {
    request.claims = verify((request.headers.authorization ?? "").slice(7));
    done();
  } catch {
    reply.code(401).send({ error: { code: "unauthorized" } });
  }
});

const row = { id: { type: "integer" }, name: { type: "string" }, balance: { type: "integer" } };
const meta = { type: "object", properties: { request_id: { type: "string" }, timestamp: { type: "string" } } };
const enveloped = (data) => ({ 200: { type: "object", properties: { data, meta } } });
const envelope = (request, data) => ({ data, meta: { request_id: request.id, timestamp: new Date().toISOString() } });

app.post(
  "/read",
  {
    schema: {
      body: { type: "object", required: ["id"], properties: { id: row.id }, additionalProperties: false },
      response: enveloped({ type: "object", nullable: true, properties: row }),
    },
  },
  (request, reply) => reply.send(envelope(request, read.get(request.body.id) ?? null)),
);
app.post(
  "/insert",
  {
    schema: {
      body: { type: "object", required: ["id", "name", "balance"], properties: row, additionalProperties: false },
      response: enveloped({ type: "object", properties: { rows_affected: { type: "integer" } } }),
    },
  },
  (request, reply) => {
    const { id, name, balance } = request.body;
    reply.send(envelope(request, { rows_affected: write.run(id, name, balance).changes }));
  },
);

// Bulk import: the body is read as a stream, a line a row, within one transaction that a failure rolls back.
database.exec(
  "CREATE TABLE IF NOT EXISTS bulk (id INTEGER PRIMARY KEY, name TEXT, x REAL, at TEXT, ok INTEGER) STRICT",
);
const insertBulk = database.prepare("INSERT INTO bulk (id, name, x, at, ok) VALUES (?, ?, ?, ?, ?)");
const clearBulk = database.prepare("DELETE FROM bulk");

function integer(text) {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || text === "") throw new Error(`not an integer: ${text}`);
  return value;
}

function number(text) {
  const value = Number(text);
  if (Number.isNaN(value) || text === "") throw new Error(`not a number: ${text}`);
  return value;
}

function csvFields(line) {
  if (!line.includes('"')) return line.split(",");
  const fields = [];
  for (const match of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)) {
    fields.push(match[1] === undefined ? match[2] : match[1].replaceAll('""', '"'));
  }
  return fields;
}

const storeLine = {
  csv(line) {
    const [id, name, x, at, ok, ...more] = csvFields(line);
    if (ok === undefined || more.length > 0) throw new Error(`five fields are needed: ${line}`);
    insertBulk.run(integer(id), name, number(x), at, ok === "t" ? 1 : 0);
  },
  ndjson(line) {
    const { id, name, x, at, ok } = JSON.parse(line);
    insertBulk.run(id, name, x, at, ok ? 1 : 0);
  },
};

app.addContentTypeParser(["text/csv", "application/x-ndjson"], (_request, payload, done) => done(null, payload));
app.post("/import/:format", { bodyLimit: 2 ** 32 }, async (request, reply) => {
  const store = storeLine[request.params.format];
  let isHeader = request.params.format === "csv";
  let rest = "";
  let rows = 0;
  clearBulk.run();
  database.exec("BEGIN");
  try {
    request.body.setEncoding("utf8");
    for await (const piece of request.body) {
      const lines = (rest + piece).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        if (isHeader) {
          isHeader = false;
          continue;
        }
        store(line);
        rows++;
      }
    }
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    return reply.code(400).send({ error: { message: error.message } });
  }
  return reply.send(envelope(request, { rows }));
});

await app.listen({ host: "127.0.0.1", port: 0 });
console.log(JSON.stringify({ port: app.server.address().port, token }));
process.on("SIGTERM", () => process.exit(0));
