/**
 * The peers of bench/vector: fastify in front of one vector store (`node server.mjs usearch DIRECTORY`), with a cached
 * JWT check and compiled schemas. Started by bench/vector/contenders.ts. Prints one line of JSON when it listens:
 * {port, token, versions}. A store is {versions, load(vectors), build(), setEf(ef), search(vector, k) → [{id,
 * distance}]}; all but `versions` may answer promises. Ids are the numbers of the vectors in the order in which they
 * were loaded.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSigner, createVerifier } from "fast-jwt";
import fastify from "fastify";

const [, , storeName, directory] = process.argv;
const { open } = await import(`./stores/${storeName}.mjs`);
const settings = { dimensions: 384, metric: "cosine", m: 16, efConstruction: 100 };
const store = await open(directory, settings);

const key = randomBytes(32);
const verify = createVerifier({ key, algorithms: ["HS256"], cache: 1000 });
const token = createSigner({ key, expiresIn: "6h" })({ sub: "1", tenant_id: "0" });

const app = fastify({ logger: false, forceCloseConnections: true, bodyLimit: 64 * 1024 * 1024 });
app.addHook("onRequest", (request, reply, done) => {
  try {
    verify((request.headers.authorization ?? "").slice(7));
    done();
  } catch {
    reply.code(401).send({ error: { code: "unauthorized" } });
  }
});

const vector = { type: "array", items: { type: "number" } };
const integer = { type: "integer" };
const found = {
  type: "array",
  items: { type: "object", properties: { id: { type: "string" }, distance: { type: "number" } } },
};
const object = (properties) => ({ type: "object", required: Object.keys(properties), properties });

app.post("/load", { schema: { body: object({ vectors: { type: "array", items: vector } }) } }, async (request) => {
  await store.load(request.body.vectors);
  return {};
});
app.post("/build", async () => {
  await store.build();
  return {};
});
app.post("/ef", { schema: { body: object({ ef: integer }) } }, async (request) => {
  await store.setEf(request.body.ef);
  return {};
});
app.post(
  "/search",
  {
    schema: {
      body: object({ vector, k: integer }),
      response: { 200: { type: "object", properties: { data: found } } },
    },
  },
  async (request) => ({ data: await store.search(request.body.vector, request.body.k) }),
);

await app.listen({ host: "127.0.0.1", port: 0 });
const versionOf = (name) =>
  JSON.parse(readFileSync(new URL(`./node_modules/${name}/package.json`, import.meta.url), "utf8")).version;
const versions = { fastify: versionOf("fastify"), ...store.versions(versionOf) };
console.log(JSON.stringify({ port: app.server.address().port, token, versions }));
process.on("SIGTERM", () => process.exit(0));
