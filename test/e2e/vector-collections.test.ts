/** Vector collections over HTTP: their life, their vectors, search, what is refused, other tenants, transactions. */
import t from "tap";
import { TestServer } from "./server.js";

const COLLECTIONS = "/v1/vectors/collections";
const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());

const post = (path: string, body: unknown, token?: string) =>
  server.call("POST", `${COLLECTIONS}${path}`, body, token === undefined ? {} : { token });
const get = async (path: string) => (await server.expect(200, "GET", `${COLLECTIONS}${path}`)).body.data;

const make = (name: string, options: object = {}) =>
  server.expect(201, "POST", COLLECTIONS, { name, dimensions: 3, ...options });

const found = async (name: string, body: object): Promise<unknown[]> => {
  const { data } = (await server.expect(200, "POST", `${COLLECTIONS}/${name}/search`, body)).body;
  return data.map(({ id }: { id: string }) => id);
};

t.test("a collection's life", async (t) => {
  t.match((await make("item", { metric: "cosine", m: 8, ef_construction: 40, quantization: "int8" })).body.data, {
    name: "item",
    dimensions: 3,
    vector_count: 0,
    metric: "cosine",
    distance_metric: "cosine",
    index_type: "hnsw",
    m: 8,
    ef_construction: 40,
    quantization: "int8",
  });
  const again = await post("", { name: "item", dimensions: 3 });
  t.equal(again.status, 409);
  t.match(again.body.error.message, /already exists/);
  await make("far", { distance_metric: "euclidean" });
  t.match(await get(""), [{ name: "far", metric: "l2", m: 16 }, { name: "item" }]);
  await server.rows("CREATE TABLE plain (id text PRIMARY KEY, vector vector(3) NOT NULL, metadata jsonb)");
  t.equal((await get("")).length, 2, "a table is no collection");
  t.equal((await post("", { name: "plain", dimensions: 3 })).status, 409, "but has the name");
  t.equal((await post("/plain/search", { vector: [1, 2, 3] })).status, 404);
  t.same(await server.rows("SELECT indexname FROM pg_indexes WHERE tablename = 'far' AND indexname LIKE '%vector%'"), [
    ["far_vector_idx"],
  ]);
  t.equal((await server.call("DELETE", `${COLLECTIONS}/far`)).status, 204);
  const gone = await server.call("GET", `${COLLECTIONS}/far`);
  t.equal(gone.status, 404);
  t.match(gone.body.error.message, /does not exist/);
  t.equal((await server.call("DELETE", `${COLLECTIONS}/far`)).status, 404);
});

t.test("vectors are stored, replaced, read and removed", async (t) => {
  const one = await post("/item/vectors", { id: "a", vector: [1, 0, 0], metadata: { colour: "red", size: 1 } });
  t.match([one.status, one.body.data], [201, { id: "a", ids: ["a"], inserted: 1 }]);
  const many = await post("/item/vectors", {
    vectors: [
      { id: "b", values: [0, 1, 0], metadata: { colour: "blue" } },
      { id: "c", vector: [9, 9, 9] },
      { id: "c", vector: [0.5, 0.5, 0] },
    ],
    on_conflict: "replace",
  });
  t.match([many.status, many.body.data], [201, { ids: ["b", "c"], inserted: 2 }]);
  t.same(await get("/item/vectors/c"), { id: "c", vector: [0.5, 0.5, 0], metadata: null });
  t.same(await get("/item/count"), { count: 3 });
  const batch = await post("/item/vectors/batch", {
    vectors: [
      { id: "a", vector: [1, 0.1, 0], metadata: { colour: "red" } },
      { id: "a b/ü", vector: [0, 0, 1] },
    ],
    on_conflict: "replace",
  });
  t.equal(batch.status, 201);
  t.same(await get("/item/vectors/a"), { id: "a", vector: [1, 0.1, 0], metadata: { colour: "red" } });
  t.match(await get(`/item/vectors/${encodeURIComponent("a b/ü")}`), { id: "a b/ü" });
  t.match(await get("/item"), { vector_count: 4, index: { state: /opening|ready/ } });
  t.equal((await server.call("DELETE", `${COLLECTIONS}/item/vectors/a`)).status, 204);
  t.equal((await server.call("DELETE", `${COLLECTIONS}/item/vectors/a`)).status, 404);
  t.equal((await server.call("GET", `${COLLECTIONS}/item/vectors/a`)).status, 404);
  const removed = await server.call("DELETE", `${COLLECTIONS}/item/vectors`, { ids: ["b", "nobody", "a b/ü"] });
  t.match([removed.status, removed.body.data], [200, { deleted: 2 }]);
  t.same(await server.rows("SELECT id FROM item"), [["c"]]);
});

t.test("a vector whose id is there already", async (t) => {
  await make("twice", {});
  const first = { id: "a", vector: [1, 0, 0], metadata: { n: 1 } };
  const other = { id: "a", vector: [0, 1, 0], metadata: { n: 2 } };
  t.match(await post("/twice/vectors", [first]), { status: 201, body: { data: { ids: ["a"], inserted: 1 } } });
  const vector = async () => (await get("/twice/vectors/a")).metadata.n;
  for (const body of [other, [other], { vectors: [{ id: "b", vector: [1, 1, 1] }, other] }]) {
    const refused = await post("/twice/vectors", body);
    t.match(refused, { status: 409, body: { error: { code: "conflict", message: /"a" already exists/ } } });
    t.match(refused.body.error.details, { field: "id", id: "a", hint: /on_conflict/ });
  }
  t.match(
    await post("/twice/vectors/batch", {
      vectors: [
        { ...first, id: "b" },
        { ...other, id: "b" },
      ],
    }),
    {
      status: 409,
      body: { error: { message: /appears twice/, details: { field: "vectors[1].id" } } },
    },
  );
  t.same(await get("/twice/count"), { count: 1 }, "all or none");
  const ignored = await post("/twice/vectors/batch", {
    vectors: [other, { ...other, id: "b" }],
    on_conflict: "ignore",
  });
  t.match(ignored, { status: 201, body: { data: { ids: ["a", "b"], inserted: 1 } } });
  t.equal(await vector(), 1);
  t.match(await post("/twice/vectors", { ...other, on_conflict: "ignore" }), {
    status: 201,
    body: { data: { inserted: 0 } },
  });
  t.match(await post("/twice/vectors", { ...other, on_conflict: "replace" }), {
    status: 201,
    body: { data: { inserted: 1 } },
  });
  t.equal(await vector(), 2);
  for (const path of ["/twice/vectors", "/twice/vectors/batch"]) {
    t.match(await post(`${path}?on_conflict=ignore`, [other]), { status: 201, body: { data: { inserted: 0 } } });
    t.match(await post(`${path}?on_conflict=replace`, [first]), { status: 201, body: { data: { inserted: 1 } } });
    t.equal(await vector(), 1, "a list has no place for it, so the address says it");
    t.match(await post(`${path}?on_conflict=replace`, { vectors: [other], on_conflict: "replace" }), { status: 201 });
    t.match(await post(`${path}?on_conflict=replace`, { vectors: [other], on_conflict: "ignore" }), {
      status: 400,
      body: { error: { details: { field: "on_conflict" } } },
    });
    t.match(await post(`${path}?on_conflict=update`, [other]), {
      status: 400,
      body: { error: { message: /"on_conflict" must be .*replace/, details: { field: "on_conflict" } } },
    });
    t.match(await post(`${path}?onconflict=replace`, [other]), {
      status: 400,
      body: { error: { message: /Unknown query parameter "onconflict"\. Known: on_conflict/ } },
    });
    t.match((await post(path, [other])).body.error.details.hint, /"on_conflict": "replace".*\?on_conflict=replace/);
  }
  const many = Array.from({ length: 2500 }, (_, i) => ({ id: `n${i}`, vector: [1, i, 0] }));
  t.match(await post("/twice/vectors/batch", many), { status: 201, body: { data: { inserted: 2500 } } });
  const again = await post("/twice/vectors/batch", {
    vectors: [...many.slice(1000), { id: "new", vector: [1, 1, 1] }, ...many.slice(0, 1000)],
  });
  t.match(again, { status: 409, body: { error: { message: /"n1000" already exists/ } } });
  t.same(await get("/twice/count"), { count: 2502 }, "none of them");
});

t.test("names that other clients use for a search", async (t) => {
  await make("names", {});
  await post("/names/vectors", [
    { id: "x", vector: [1, 0, 0] },
    { id: "y", vector: [0, 1, 0] },
  ]);
  t.same(await found("names", { vector: [1, 0, 0], threshold: 0.5, mode: "vector" }), ["x"]);
  const hybrid = await post("/names/search", { vector: [1, 0, 0], text_query: "red", mode: "hybrid", k: 1 });
  t.match(hybrid.body, { data: [{ id: "x" }], meta: { warnings: [/mode "hybrid" is not used/] } });
  for (const body of [
    { vector: [1, 0, 0], threshold: 0.5, min_score: 0.4 },
    { vector: [1, 0, 0], mode: "fuzzy" },
    { query: "a", text_query: "b" },
  ]) {
    t.equal((await post("/names/search", body)).status, 400, JSON.stringify(body));
  }
});

t.test("search", async (t) => {
  await post("/item/vectors", {
    vectors: [
      { id: "x", vector: [1, 0, 0], metadata: { n: 1 } },
      { id: "xy", vector: [1, 1, 0], metadata: { n: 2 } },
      { id: "y", vector: [0, 2, 0], metadata: { n: 3 } },
      { id: "-x", vector: [-1, 0, 0] },
    ],
  });
  await server.call("DELETE", `${COLLECTIONS}/item/vectors/c`);
  const reply = await post("/item/search", { vector: [1, 0, 0], limit: 2 });
  t.match(reply.body.data, [
    { id: "x", score: 1, distance: 0, metadata: { n: 1 } },
    { id: "xy", metadata: { n: 2 } },
  ]);
  const [, { score, distance }] = reply.body.data;
  t.ok(Math.abs(score - Math.SQRT1_2) < 1e-6);
  t.ok(Math.abs(score - (1 - distance)) < 1e-7);
  t.same(await found("item", { vector: [1, 0, 0] }), ["x", "xy", "y", "-x"]);
  t.same(await found("item", { vector: [1, 0, 0], k: 1 }), ["x"]);
  t.same(await found("item", { vector: [1, 0, 0], top_k: 2, offset: 1, ef: 10 }), ["xy", "y"]);
  t.same(await found("item", { vector: [1, 0, 0], min_score: 0.5 }), ["x", "xy"]);
  t.same(await found("item", { vector: [1, 0, 0], max_distance: 1 }), ["x", "xy", "y"]);
  const bare = await post("/item/search", { vector: [0, 1, 0], k: 1, include_metadata: false, include_vectors: true });
  t.same(bare.body.data, [{ id: "y", score: 1, distance: 0, vector: [0, 2, 0] }]);

  await make("metres", { metric: "l2" });
  await make("dots", { metric: "dot_product" });
  for (const name of ["metres", "dots"]) {
    await post(`/${name}/vectors`, {
      vectors: [
        { id: "a", vector: [3, 4, 0] },
        { id: "b", vector: [1, 0, 0] },
      ],
    });
  }
  t.match((await post("/metres/search", { vector: [0, 0, 0] })).body.data, [
    { id: "b", distance: 1, score: 0.5 },
    { id: "a", distance: 5, score: 0.16666667 },
  ]);
  t.same(await found("metres", { vector: [0, 0, 0], min_score: 0.4 }), ["b"]);
  t.match((await post("/dots/search", { vector: [1, 1, 0] })).body.data, [
    { id: "a", distance: -7, score: 7 },
    { id: "b", distance: -1, score: 1 },
  ]);
  t.same(await found("dots", { vector: [1, 1, 0], min_score: 2 }), ["a"]);
});

t.test("search with a filter on the metadata", async (t) => {
  await make("shop", { metric: "l2" });
  const vectors = Array.from({ length: 60 }, (_, i) => ({
    id: `p${String(i).padStart(2, "0")}`,
    vector: [i, 0, 0],
    metadata: { price: i, tags: i % 2 === 0 ? ["even"] : ["odd"], maker: { name: i < 30 ? "Ann" : "Bob" } },
  }));
  await server.expect(201, "POST", `${COLLECTIONS}/shop/vectors/batch`, { vectors });
  await server.expect(201, "POST", `${COLLECTIONS}/shop/vectors`, { id: "bare", vector: [0.4, 0, 0] });
  const cases: [filter: object, near: number, ids: string[]][] = [
    [{}, 0, ["p00", "bare", "p01"]],
    [{ price: 7 }, 0, ["p07"]],
    [{ price: { $gte: 40, $lt: 42 } }, 0, ["p40", "p41"]],
    [{ "maker.name": "Bob" }, 0, ["p30", "p31", "p32"]],
    [{ tags: "odd" }, 10, ["p09", "p11", "p07"]],
    [{ price: { $in: [3, 50, 90] } }, 0, ["p03", "p50"]],
    [{ $or: [{ price: 59 }, { $and: [{ tags: "even" }, { price: { $lte: 2 } }] }] }, 0, ["p00", "p02", "p59"]],
    [{ price: { $exists: false } }, 0, ["bare"]],
    [{ $not: { price: { $gt: 0 } } }, 0, ["p00", "bare"]],
    [{ id: { $in: ["p01", "p02"] } }, 0, ["p01", "p02"]],
    [{ price: 1000 }, 0, []],
  ];
  for (const filter_mode of ["auto", "pre", "post"]) {
    for (const [filter, near, ids] of cases) {
      const got = await found("shop", { vector: [near, 0, 0], k: 3, filter, filter_mode });
      t.same(got.sort(), [...ids].sort(), `${filter_mode} ${JSON.stringify(filter)}`);
    }
  }
  for (const filter of [{ price: { $about: 3 } }, { $or: 1 }, { "a..b": 1 }, { price: { $in: 3 } }]) {
    const reply = await post("/shop/search", { vector: [0, 0, 0], filter });
    t.equal(reply.status, 400, JSON.stringify(filter));
    t.match(reply.body.error.details.field, /^filter/);
  }
});

t.test("search by a text", async (t) => {
  await server.expect(201, "POST", COLLECTIONS, { name: "texts", dimensions: 384 });
  await server.rows(`INSERT INTO texts (id, vector) SELECT s, EMBED(s) FROM unnest($1::text[]) AS s`, [
    ["a cat sleeps on the sofa", "stock markets fell sharply", "the recipe needs flour and butter"],
  ]);
  t.same(await found("texts", { query: "bake with flour", k: 1 }), ["the recipe needs flour and butter"]);
  const short = await post("/item/search", { query: "flour" });
  t.match([short.status, short.body.error?.details?.field], [400, "query"]);
});

t.test("searches keep as many candidates as the collection says", async (t) => {
  t.match((await make("wide", { ef: 200 })).body.data, { ef: 200 });
  t.match((await make("usual", {})).body.data, { ef: 64 });
  const [[sql]] = (await server.rows("SELECT indexdef FROM pg_indexes WHERE indexname = 'wide_vector_idx'")) as [
    [string],
  ];
  t.match(sql, /ef_search='200'/);
  await server.rows(`DROP INDEX wide_vector_idx`);
  await server.rows(sql);
  t.match((await server.expect(200, "GET", "/v1/vectors/collections/wide")).body.data, { ef: 200 });
  await server.expect(201, "POST", "/v1/collections", {
    name: "kept",
    schema: {
      fields: [{ name: "v", type: "vector", dimensions: 2 }],
      indexes: [{ name: "near", fields: ["v"], type: "vector", ef: 99 }],
    },
  });
  const { schema } = (await server.expect(200, "GET", "/v1/collections/kept")).body.data;
  t.match(schema.indexes, [{ name: "near", ef: 99 }]);
});

t.test("names that are words of SQL", async (t) => {
  for (const name of ["binary", "left", "time", "Values", "select"]) {
    await make(name, {});
    await post(`/${name}/vectors`, { id: "a", vector: [1, 2, 3] });
    t.same(await found(name, { vector: [1, 2, 3] }), ["a"], name);
    await server.expect(204, "DELETE", `/v1/vectors/collections/${name}`);
  }
});

t.test("what is refused names its field", async (t) => {
  const cases: [path: string, body: unknown, field: string, message: RegExp][] = [
    ["", { name: "n", dimensions: 0 }, "dimensions", /dimensions/],
    ["", { name: "n", dimensions: 3, metric: "chebyshev" }, "metric", /"chebyshev" is not known/],
    ["", { name: "n", dimensions: 3, metric: "l2", distance_metric: "dot" }, "distance_metric", /different/],
    ["", { name: "n", dimensions: 3, quantization: "int4" }, "quantization", /int4/],
    ["", { name: "n", dimensions: 3, ef: 0 }, "ef", /must be from 1 to 1000, not 0/],
    ["", { name: "n", dimensions: 3, ef: 9, ef_search: 8 }, "ef_search", /one of/],
    ["", { name: "n", dimensions: 3, m: 16, ef_construction: 20 }, "ef_construction", /32/],
    ["", { name: "n", dimensions: 3, index_type: "ivf" }, "index_type", /ivf/],
    ["", { name: "n", dimensions: 3, colour: 1 }, "colour", /Unknown field/],
    ["", { name: 'a"b', dimensions: 3 }, "name", /name/],
    ["/item/vectors", { vector: [1, 2, 3] }, "id", /Missing field "id"/],
    ["/item/vectors", { id: "a" }, "vector", /Missing field "vector"/],
    ["/item/vectors", { id: "a", vector: [1, 2] }, "vector", /has 2 numbers/],
    ["/item/vectors", { id: "a", vector: [1, 2, null] }, "vector[2]", /must be a number/],
    ["/item/vectors", { id: "a", vector: [1, 2, 1e300] }, "vector[2]", /finite/],
    ["/item/vectors", { id: "a", vector: [0, 0, 0] }, "vector", /zeros/],
    ["/item/vectors", { id: "a", vector: [1, 2, 3], values: [1, 2, 3] }, "values", /not both/],
    ["/item/vectors", { id: "a", vector: [1, 2, 3], metadata: [] }, "metadata", /object/],
    ["/item/vectors", { id: "a", vectors: [{ id: "b", vector: [1, 2, 3] }] }, "id", /not both/],
    ["/item/vectors", { vectors: [] }, "vectors", /vectors/],
    [
      "/item/vectors",
      {
        vectors: [
          { id: "b", vector: [1, 2, 3] },
          { id: 7, vector: [1, 2, 3] },
        ],
      },
      "vectors[1].id",
      /text/,
    ],
    ["/item/vectors", { vectors: [{ id: "b", vector: [1, 2, 3], extra: 1 }] }, "vectors[0].extra", /Unknown field/],
    ["/item/vectors/batch", { vectors: [7] }, "vectors[0]", /object/],
    ["/item/search", {}, "vector", /Missing/],
    ["/item/search", { vector: "x" }, "vector", /array/],
    ["/item/search", { vector: [1, 2, 3, 4] }, "vector", /has 4 numbers/],
    ["/item/search", { vector: [1, 2, 3], limit: 1, k: 2 }, "limit", /one of/],
    ["/item/search", { vector: [1, 2, 3], limit: 0 }, "limit", /limit/],
    ["/item/search", { vector: [1, 2, 3], limit: 10000, offset: 1 }, "offset", /10000/],
    ["/item/search", { vector: [1, 2, 3], filter_mode: "both" }, "filter_mode", /both/],
    ["/item/search", { vector: [1, 2, 3], filters: {} }, "filters", /Unknown field/],
  ];
  for (const [path, body, field, message] of cases) {
    const reply = await post(path, body);
    const name = `${path} ${JSON.stringify(body)}`;
    t.equal(reply.status, 400, name);
    t.match(reply.body.error, { message, details: { field } }, name);
  }
  t.same(await found("item", { vector: [1, 0, 0] }), ["x", "xy", "y", "-x"], "nothing was stored");
});

t.test("a transaction's vectors come and go with it", async (t) => {
  const begin = async () => (await server.expect(201, "POST", "/v1/transactions")).body.data.id;
  const search = { vector: [0, 0, 1], limit: 1 };
  const write = async (id: string) => {
    await server.expect(200, "POST", `/v1/transactions/${id}/execute`, {
      sql: "INSERT INTO item (id, vector, metadata) VALUES ('z', '[0,0,1]', '{}'), ('zz', '[0,0,2]', NULL)",
    });
    const inside = await server.expect(200, "POST", `/v1/transactions/${id}/execute`, {
      sql: "SELECT id FROM item ORDER BY vector <=> $1 LIMIT 2",
      parameters: [[0, 0, 1]],
    });
    t.same(inside.body.data.rows.flat().sort(), ["z", "zz"], "the transaction finds what it wrote");
    t.notMatch(await found("item", search), ["z"], "nobody else does");
  };
  const first = await begin();
  await write(first);
  await server.expect(200, "POST", `/v1/transactions/${first}/rollback`);
  t.notMatch(await found("item", { ...search, limit: 10 }), ["z"], "not after a rollback either");
  t.equal((await get("/item/count")).count, 4);
  const second = await begin();
  await write(second);
  await server.expect(200, "POST", `/v1/transactions/${second}/commit`);
  t.equal((await get("/item/count")).count, 6);
  t.same((await found("item", { ...search, limit: 2 })).sort(), ["z", "zz"]);
  await server.rows("DELETE FROM item WHERE id LIKE 'z%'");
  t.notMatch(await found("item", search), [/z/]);
});

t.test("tenants do not see each other's vectors", async (t) => {
  const other = await server.tenant("other");
  t.equal((await post("/item/search", { vector: [1, 0, 0] }, other)).status, 404);
  t.equal((await post("", { name: "item", dimensions: 2 }, other)).status, 201, "names are each tenant's own");
  await post("/item/vectors", { id: "theirs", vector: [1, 0] }, other);
  t.same((await post("/item/search", { vector: [1, 0] }, other)).body.data.length, 1);
  t.notMatch(await found("item", { vector: [1, 0, 0] }), ["theirs"]);
  const lists = await server.call("GET", COLLECTIONS, undefined, { token: other });
  t.match(lists.body.data, [{ name: "item", dimensions: 2, vector_count: 1 }]);
});

t.test("a key that may only read", async (t) => {
  const made = await server.expect(201, "POST", "/v1/api-keys", { name: "reader", permission: "ReadOnly" });
  const token = made.body.data.raw_key;
  t.equal((await post("/item/search", { vector: [1, 0, 0] }, token)).status, 200);
  t.equal((await post("/item/vectors", { id: "a", vector: [1, 0, 0] }, token)).status, 403);
  t.equal((await post("", { name: "new", dimensions: 3 }, token)).status, 403);
});

t.test("after a restart", async (t) => {
  await server.kill();
  await server.boot();
  t.match(await get(""), [{ name: "dots" }, { name: "item", vector_count: 4 }, { name: "metres" }, {}, {}]);
  t.same(await found("item", { vector: [1, 0, 0] }), ["x", "xy", "y", "-x"]);
});
