/**
 * The peers: fastify in front of one store (`node server.mjs sqlite DIRECTORY`), tuned, with a cached JWT check and
 * compiled schemas, doing the workloads' work for authenticated callers. Started by bench/servers.ts. Prints one line
 * of JSON when it listens: {port, token, versions, durability}.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { createSigner, createVerifier } from "fast-jwt";
import fastify from "fastify";
import { WebSocketServer } from "ws";

const [, , storeName, directory] = process.argv;
const { open } = await import(`./stores/${storeName}.mjs`);
/** See stores/sqlite.mjs: each function may answer a value or a promise. */
const store = await open(directory);

const key = randomBytes(32);
const verify = createVerifier({ key, algorithms: ["HS256"], cache: 1000 });
const sign = createSigner({ key, expiresIn: "6h" });
const tokenOf = (tenant) => sign({ sub: "1", tenant_id: tenant });

const app = fastify({ logger: false, forceCloseConnections: true });
app.decorateRequest("claims", null);
app.addHook("onRequest", (request, reply, done) => {
  if (request.routeOptions.config.isPublic) return done();
  try {
    request.claims = verify((request.headers.authorization ?? "").slice(7));
    done();
  } catch {
    reply.code(401).send({ error: { code: "unauthorized" } });
  }
});

const envelope = (request, data) => ({ data, meta: { request_id: request.id, timestamp: new Date().toISOString() } });

/** Sends what a store answered, without a promise where it gave none. */
function answer(request, reply, result) {
  if (typeof result?.then !== "function") return reply.send(envelope(request, result));
  return result.then((data) => envelope(request, data));
}

const integer = { type: "integer" };
const columns = { id: integer, name: { type: "string" }, balance: integer };
const meta = { type: "object", properties: { request_id: { type: "string" }, timestamp: { type: "string" } } };
const enveloped = (data) => ({ 200: { type: "object", properties: { data, meta } } });
const row = enveloped({ type: "object", nullable: true, properties: columns });
const count = enveloped({ type: "object", properties: { rows_affected: integer } });
const object = (properties) => ({
  type: "object",
  required: Object.keys(properties),
  properties,
  additionalProperties: false,
});

app.get("/health", { config: { isPublic: true } }, (_request, reply) => reply.send({ status: "ok" }));
app.post("/read", { schema: { body: object({ id: integer }), response: row } }, (request, reply) =>
  answer(request, reply, store.read(request.body.id)),
);
app.post("/insert", { schema: { body: object(columns), response: count } }, (request, reply) => {
  const { id, name, balance } = request.body;
  return answer(request, reply, store.insert(id, name, balance));
});
app.post(
  "/batch",
  { schema: { body: object({ rows: { type: "array", items: object(columns) } }), response: count } },
  (request, reply) => answer(request, reply, store.insertAll(request.body.rows)),
);
app.post("/tenant/read", { schema: { body: object({ id: integer }), response: row } }, (request, reply) =>
  answer(request, reply, store.readOf(Number(request.claims.tenant_id), request.body.id)),
);
app.post("/tenant/add", { schema: { body: object({ id: integer }), response: count } }, (request, reply) =>
  answer(request, reply, store.addOf(Number(request.claims.tenant_id), request.body.id)),
);

const ROWS_PER_PIECE = 100;

/** Rows as lines of JSON, a piece of text for every hundred. */
function* lines(rows) {
  let text = "";
  let inPiece = 0;
  for (const cells of rows) {
    text += `${JSON.stringify(cells)}\n`;
    if (++inPiece < ROWS_PER_PIECE) continue;
    yield text;
    text = "";
    inPiece = 0;
  }
  if (text !== "") yield text;
}

app.post("/range", { schema: { body: object({ from: integer, to: integer }) } }, async (request, reply) => {
  const rows = await store.range(request.body.from, request.body.to);
  reply.header("content-type", "application/x-ndjson");
  return reply.send(Readable.from(lines(rows)));
});

// Before the measurements: loads the data and signs a token per tenant.
app.post("/prepare", async (request) => {
  await store.prepare(request.body);
  return { tokens: Array.from({ length: request.body.tenants }, (_, tenant) => tokenOf(String(tenant))) };
});

store.addRoutes?.(app, envelope);
await app.listen({ host: "127.0.0.1", port: 0 });

const sockets = new WebSocketServer({ noServer: true });
app.server.on("upgrade", (request, socket, head) => {
  try {
    verify((request.headers.authorization ?? "").slice(7));
  } catch {
    socket.end("HTTP/1.1 401 Unauthorized\r\n\r\n");
    return;
  }
  sockets.handleUpgrade(request, socket, head, () => {});
});

const versionOf = (name) =>
  JSON.parse(readFileSync(new URL(`./node_modules/${name}/package.json`, import.meta.url), "utf8")).version;
const versions = { fastify: versionOf("fastify"), ...(await store.versions(versionOf)) };
console.log(
  JSON.stringify({ port: app.server.address().port, token: tokenOf("0"), versions, durability: store.durability }),
);
process.on("SIGTERM", () => process.exit(0));
