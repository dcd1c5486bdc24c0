/** Embeddings as clients get them: over HTTP and in SQL. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { editManifest, rootWith } from "../ai/bundle-copies.js";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";

/** The same model again, by another name and without the table that actors run: it needs an inference thread. */
const modelRoot = rootWith((bundle) =>
  editManifest(bundle, ({ static: _, alias: __, ...manifest }) => ({ ...manifest, id: "by-onnx" })),
);
const home = mkdtempSync(join(tmpdir(), "tessera-home-"));
const server = await TestServer.start({
  ...{ TESSERA_AI_MODEL_ROOT: modelRoot, TESSERA_AI_WAITING_TEXTS_MAX: "64" },
  ...{ HOME: home, XDG_CACHE_HOME: home, TMPDIR: home, CI: "" },
});
t.teardown(async () => {
  await server.stop();
  rmSync(home, { recursive: true });
});

const embed = (body: object) => server.call("POST", "/v1/ai/embeddings", body);
const length = (vector: readonly number[]) => Math.hypot(...vector);

t.test("a text's vector", async (t) => {
  const { status, body } = await embed({ text: "A dog runs in the park." });
  t.equal(status, 200);
  const { embedding, embeddings, model, dimensions } = body.data;
  t.equal(embedding.length, 384);
  t.same(embeddings, embedding);
  t.equal(model, "tessera-embed-384");
  t.equal(dimensions, 384);
  t.ok(Math.abs(length(embedding) - 1) < 1e-5);
  t.same((await embed({ text: "A dog runs in the park.", model: "default" })).body.data.embedding, embedding);
});

t.test("several texts' vectors, in their order", async (t) => {
  const texts = Array.from({ length: 300 }, (_, i) => `text number ${i}`);
  const { status, body } = await server.call("POST", "/v1/ai/embeddings/batch", { texts });
  t.equal(status, 200);
  t.equal(body.data.embeddings.length, 300);
  t.equal(body.data.dimensions, 384);
  const bare = await server.call("POST", "/v1/ai/embeddings/batch", texts.slice(0, 2));
  t.same(bare.body.data.embeddings, body.data.embeddings.slice(0, 2), "a bare list of texts");
  t.same(body.data.embeddings[17], (await embed({ text: texts[17]! })).body.data.embedding);
});

t.test("what is wrong with a request", async (t) => {
  for (const body of [{}, { text: 1 }, { text: "" }, { text: "a", texts: [] }, { text: "a", model: "" }]) {
    const reply = await embed(body);
    t.equal(reply.status, 400, JSON.stringify(body));
    t.equal(reply.body.error.code, "invalid_request");
  }
  const batch = (texts: unknown) => server.call("POST", "/v1/ai/embeddings/batch", { texts });
  for (const texts of [[], ["a", ""], ["a", null], "a", Array(2049).fill("a")])
    t.equal((await batch(texts)).status, 400);
  t.equal((await server.call("POST", "/v1/ai/embeddings/batch", ["a", 1])).status, 400);
  const unknown = await embed({ text: "a", model: "no-such-model" });
  t.equal(unknown.status, 404);
  t.match(unknown.body.error, {
    code: "model_not_found",
    message: /"no-such-model"; installed: by-onnx, .*tessera-embed-384/,
    details: { hint: /PULL_MODEL/ },
  });
});

t.test("EMBED in SQL", async (t) => {
  const rows = await server.rows("SELECT embed('A dog runs in the park.')");
  t.same(rows[0]![0], (await embed({ text: "A dog runs in the park." })).body.data.embedding);
  t.same(await server.rows("SELECT embed(NULL) IS NULL, vector_dims(EMBED('a', 'default'))"), [[true, 384]]);
  const near = "SELECT cosine_similarity(embed($1), embed($2))";
  const likeness = async (other: string) => Number((await server.rows(near, ["a puppy is running", other]))[0]![0]);
  t.ok((await likeness("a dog runs")) > (await likeness("stock prices fell")) + 0.3);
  const reply = await server.sql("SELECT embed('a', 'no-such-model')");
  t.equal(reply.status, 404);
  t.match(reply.body.error, { code: "model_not_found", details: { sqlstate: "42704" } });
});

t.test("EMBED over many rows, stored, searched and in generated columns", async (t) => {
  await server.rows(
    "CREATE TABLE note (id integer PRIMARY KEY, body text, v vector(384) GENERATED ALWAYS AS (embed(body)) STORED)",
  );
  await server.rows("INSERT INTO note SELECT i, 'note number ' || i FROM generate_series(1, 3000) i");
  await server.rows("INSERT INTO note VALUES (5000, 'how to bake bread'), (5001, NULL)");
  t.same(await server.rows("SELECT count(*), count(v) FROM note"), [[3002, 3001]]);
  t.same(await server.rows("SELECT count(*) FROM note WHERE v IS DISTINCT FROM embed(body)"), [[0]]);
  const nearest = "SELECT id FROM note ORDER BY v <=> embed($1) LIMIT 1";
  t.same(await server.rows(nearest, ["a recipe for baking a loaf"]), [[5000]]);
  await server.rows("UPDATE note SET body = 'the capital of France' WHERE id = 7");
  t.same(await server.rows(nearest, ["Paris is a capital city"]), [[7]]);
  await server.rows("CREATE INDEX ON note USING hnsw (v vector_cosine_ops)");
  t.same(await server.rows(nearest, ["a recipe for baking a loaf"]), [[5000]]);
});

t.test("a model in an inference thread", async (t) => {
  const model = "by-onnx";
  const texts = Array.from({ length: 200 }, (_, i) => `text number ${i}`);
  const own = (await server.call("POST", "/v1/ai/embeddings/batch", { texts })).body.data.embeddings;
  const batch = await server.call("POST", "/v1/ai/embeddings/batch", { texts, model });
  t.match(batch.body.data, { model, dimensions: 384 });
  const singles = await Promise.all(texts.slice(0, 50).map((text) => embed({ text, model })));
  for (const [i, { body }] of singles.entries()) {
    t.same(body.data.embedding, batch.body.data.embeddings[i]);
    t.ok(Math.hypot(...own[i].map((x: number, k: number) => x - body.data.embedding[k])) < 1e-5);
  }
  t.same(await server.rows("SELECT vector_dims(embed('a', 'by-onnx'))"), [[384]]);
});

t.test("the runtime keeps nothing of its own and reports to nobody", async (t) => {
  t.same(readdirSync(home), []);
});

t.test("such a model in generated columns and for fields of documents", async (t) => {
  await server.rows(
    "CREATE TABLE far (id integer PRIMARY KEY, body text, v vector(384) GENERATED ALWAYS AS (embed(body, 'by-onnx')) STORED)",
  );
  await server.rows("INSERT INTO far SELECT i, 'note number ' || i FROM generate_series(1, 100) i");
  await server.rows("INSERT INTO far VALUES (1, 'a') ON CONFLICT (id) DO UPDATE SET body = excluded.body");
  await server.rows("UPDATE far SET body = NULLIF(body || '!', 'note number 2!') WHERE id <= 3");
  t.same(await server.rows("SELECT count(*), count(v) FROM far"), [[100, 99]]);
  t.same(await server.rows("SELECT count(*) FROM far WHERE v <=> embed(body) > 1e-5"), [[0]]);
  const fields = [{ name: "title", type: "string", embed: "by-onnx" }];
  const made = await server.expect(201, "POST", "/v1/collections", { name: "memo", schema: { fields } });
  t.match(made.body.data.schema.fields, [{ name: "title", embed: "by-onnx" }]);
  for (const title of ["bread", "a dog in the park"]) {
    await server.expect(201, "POST", "/v1/collections/memo/documents", { title });
  }
  const search = { query: "puppies play outside", mode: "vector", limit: 1 };
  const found = await server.expect(200, "POST", "/v1/collections/memo/search", search);
  t.match(found.body.data.documents, [{ title: "a dog in the park" }]);
  const other = { schema: { fields: [{ ...fields[0], embed: true }] } };
  const refused = await server.call("PATCH", "/v1/collections/memo", other);
  t.match([refused.status, refused.body.error.message], [400, /embed: the model cannot be changed/]);
});

t.test("more texts than may wait for an inference thread", async (t) => {
  const texts = Array.from({ length: 64 }, (_, i) => `${i} many words `.repeat(300));
  const ask = () => server.call("POST", "/v1/ai/embeddings/batch", { texts, model: "by-onnx" });
  const replies = await Promise.all(Array.from({ length: 10 }, ask));
  const refused = replies.filter(({ status }) => status === 503);
  t.ok(refused.length > 0 && refused.length < 10, `${refused.length} of 10 refused`);
  t.equal(replies.filter(({ status }) => status === 200).length, 10 - refused.length);
  for (const { headers, body } of refused) {
    t.equal(body.error.code, "overloaded");
    t.equal(headers.get("retry-after"), "1");
  }
});

t.test("many tenants embed at once, in a bounded amount of memory", async (t) => {
  const tenants = Array.from({ length: sized(12, 40) }, (_, i) => ({
    name: `t${i}`,
    text: `tenant ${i} writes of its own`,
  }));
  const residentMiB = async () => {
    const [, bytes] = /^process_resident_memory_bytes (\S+)$/m.exec(
      await (await fetch(`${server.url}/metrics`)).text(),
    )!;
    return Number(bytes) / 2 ** 20;
  };
  const tokens = await Promise.all(tenants.map(({ name }) => server.tenant(name)));
  const expected = await server.call("POST", "/v1/ai/embeddings/batch", { texts: tenants.map(({ text }) => text) });
  const before = await residentMiB();
  const work = async (tenant: number) => {
    const { text } = tenants[tenant]!;
    const token = tokens[tenant]!;
    const vectorsOf = async (texts: string[], model: string) => {
      const reply = await server.call("POST", "/v1/ai/embeddings/batch", { texts, model }, { token });
      return reply.status === 200 ? (reply.body.data.embeddings as number[][]) : reply.status;
    };
    await server.rows("CREATE TABLE own (id integer PRIMARY KEY, body text)", [], { token });
    await server.rows("INSERT INTO own SELECT i, $1 || i FROM generate_series(1, 500) i", [text], { token });
    const [many, one, counted] = await Promise.all([
      vectorsOf(new Array(100).fill(text), "tessera-embed-384"),
      vectorsOf([text], "by-onnx"),
      server.rows("SELECT count(embed(body)) FROM own", [], { token }),
    ]);
    return { many, one, counted };
  };
  const results = await Promise.all(tenants.map((_, tenant) => work(tenant)));
  for (const [tenant, { many, one, counted }] of results.entries()) {
    const own = expected.body.data.embeddings[tenant] as number[];
    t.ok(Array.isArray(many) && many.every((vector) => vector.every((x, k) => x === own[k])), `tenant ${tenant}`);
    t.ok(Array.isArray(one) && Math.hypot(...one[0]!.map((x, k) => x - own[k]!)) < 1e-5, `tenant ${tenant} by ONNX`);
    t.equal(counted[0]![0], 500);
  }
  const grown = (await residentMiB()) - before;
  t.ok(grown < 256, `the server grew by ${grown.toFixed(0)} MiB`);
});

t.test("LIST_MODELS and the metrics", async (t) => {
  const list =
    "SELECT name, architecture, size_bytes, digest, state, problem FROM LIST_MODELS() WHERE kind = 'embedding' ORDER BY name";
  t.match(await server.rows(list), [
    ["by-onnx", "onnx", Number, /^[0-9a-f]{64}$/, "ready", null],
    ["tessera-embed-384", "static", Number, /^[0-9a-f]{64}$/, "ready", null],
  ]);
  t.same(
    await server.rows("SHOW MODELS LIKE 'tessera%'"),
    await server.rows("SELECT * FROM LIST_MODELS() WHERE name LIKE 'tessera%'"),
  );
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  const texts = /tessera_embedding_texts_total\{actor="0",tenant="[^"]+"\} (\d+)/.exec(metrics);
  t.ok(Number(texts?.[1]) > 3000, "texts are counted by tenant");
});
