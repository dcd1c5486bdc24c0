/** Document collections over HTTP, as a client uses them, and the same rows from SQL. */
import t from "tap";
import { type Reply, TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const BOOKS = {
  name: "books",
  schema: {
    fields: [
      { name: "title", type: "string", required: true },
      { name: "price", type: "number" },
      { name: "isbn", type: "string", unique: true },
      { name: "inPrint", type: "boolean" },
      { name: "published", type: "date" },
      { name: "publisher", type: "object", fields: [{ name: "zip", type: "string" }] },
      { name: "tags", type: "array", items: "string" },
      { name: "embedding", type: "vector", dimensions: 3 },
    ],
    indexes: [
      { name: "by_price", fields: ["price"], type: "btree" },
      { name: "by_vector", fields: ["embedding"], type: "vector", metric: "l2", m: 8 },
      { name: "by_words", fields: ["title"], type: "text" },
    ],
  },
};

t.test("a collection is made, listed, read and dropped", async (t) => {
  const made = await server.expect(201, "POST", "/v1/collections", BOOKS);
  t.match(made.body.data, {
    name: "books",
    collection: { name: "books" },
    schema: {
      fields: [
        { name: "title", type: "string", required: true },
        { name: "price", type: "number", required: false },
        { name: "isbn", type: "string", unique: true },
      ],
      indexes: [
        { name: "by_price", type: "btree", fields: ["price"] },
        { name: "by_vector", type: "vector", metric: "l2", m: 8 },
        { name: "by_words", type: "text", language: "english" },
        { name: "isbn", type: "btree", unique: true },
      ],
    },
  });
  const again = await server.call("POST", "/v1/collections", BOOKS);
  t.equal(again.status, 409);
  t.match(again.body.error, { code: "conflict", message: /already exists/ });
  await server.rows("CREATE TABLE plain (id integer)");
  t.equal((await server.call("POST", "/v1/collections", { name: "plain" })).status, 409, "a table has the name");
  t.equal((await server.call("GET", "/v1/collections/plain")).status, 404, "a table is no collection");

  await server.expect(201, "POST", "/v1/collections", { name: "flat", schema: { title: "string", n: "number" } });
  await server.expect(201, "POST", "/v1/collections", { name: "free" });
  const listed = await server.expect(200, "GET", "/v1/collections?page=1&pageSize=2");
  t.match(listed.body.data, { items: [{ name: "books" }, { name: "flat" }], total: 3, page: 1, page_size: 2 });
  const second = await server.expect(200, "GET", "/v1/collections?limit=2&offset=2");
  t.match(second.body.data, { items: [{ name: "free" }], total: 3, page: 2, page_size: 2 });
  t.match((await server.expect(200, "GET", "/v1/collections/flat")).body.data, { name: "flat", document_count: 0 });

  await server.expect(204, "DELETE", "/v1/collections/flat");
  t.equal((await server.call("GET", "/v1/collections/flat")).status, 404);
  t.equal((await server.call("DELETE", "/v1/collections/flat")).status, 404);
});

t.test("schemas that cannot be are refused with their place", async (t) => {
  const refused = async (schema: unknown, message: RegExp) => {
    const reply = await server.call("POST", "/v1/collections", { name: "refused", schema });
    t.equal(reply.status, 400);
    t.match(reply.body.error.message, message);
  };
  await refused({ fields: [{ name: "a", type: "strung" }] }, /schema\.fields\[0\]\.type: unknown type "strung"/);
  await refused({ a: "strung" }, /schema\.a\.type: unknown type/);
  await refused({ fields: [{ name: "doc", type: "string" }] }, /reserved/);
  await refused({ fields: [{ name: "a", type: "string", colour: 1 }] }, /schema\.fields\[0\]\.colour: unknown field/);
  await refused({ fields: [], indexes: [{ fields: ["a"], type: "vector" }] }, /"a" is neither a field of type vector/);
  await refused({ fields: [], indexes: [{ fields: ["a"], type: "rtree" }] }, /unknown type of index/);
  t.equal((await server.call("POST", "/v1/collections", { name: 'no"name' })).status, 400);
  t.equal((await server.call("GET", "/v1/collections/refused")).status, 404);
});

t.test("documents are written, read, changed and deleted", async (t) => {
  const emma = {
    title: "Emma",
    price: 7.5,
    inPrint: true,
    published: "1815-12-23",
    publisher: { zip: "W1", name: "Murray" },
    tags: ["novel", "english"],
    embedding: [1, 0, 0.5],
    shelf: { room: 3, place: [1, 2, { x: null }] },
    note: null,
  };
  const { id } = (await server.expect(201, "POST", "/v1/collections/books/documents", emma)).body.data;
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/, "a UUID of version 7");
  const path = `/v1/collections/books/documents/${id}`;
  t.same((await server.expect(200, "GET", path)).body.data, { id, ...emma }, "as it was sent");
  t.same(await server.rows("SELECT title, price, \"inPrint\", doc->'shelf'->>'room' FROM books WHERE id = $1", [id]), [
    ["Emma", 7.5, true, "3"],
  ]);

  const patched = await server.expect(200, "PATCH", path, { price: 8, shelf: { room: null, row: "b" }, note: null });
  const { note: _, ...rest } = emma;
  const expected = { ...rest, id, price: 8, shelf: { place: [1, 2, { x: null }], row: "b" } };
  t.same(patched.body.data, expected);
  t.same((await server.expect(200, "GET", path)).body.data, expected);
  const merged = await server.expect(200, "PUT", path, { data: { price: null }, merge: true });
  t.notOk("price" in merged.body.data);
  const replaced = await server.expect(200, "PUT", path, { data: { title: "Persuasion" } });
  t.same(replaced.body.data, { id, title: "Persuasion" });
  t.same((await server.expect(200, "PUT", path, { title: "Emma", id })).body.data, { id, title: "Emma" });
  t.equal((await server.call("PUT", path, { title: "Emma", id: "other" })).status, 400, "the id stays");

  await server.expect(204, "DELETE", path);
  for (const method of ["GET", "DELETE"]) t.equal((await server.call(method, path)).status, 404);
  t.equal((await server.call("PATCH", path, { title: "x" })).status, 404);
  t.equal((await server.call("POST", "/v1/collections/nowhere/documents", {})).status, 404);
});

t.test("documents that do not fit are refused with the path", async (t) => {
  const refused = async (document: unknown, message: RegExp) => {
    const reply = await server.call("POST", "/v1/collections/books/documents", document);
    t.equal(reply.status, 400);
    t.match(reply.body.error.message, message);
    t.ok(reply.body.error.details.field);
  };
  await refused({}, /^title: is required$/);
  await refused({ title: 5 }, /^title: must be a string, not a number$/);
  await refused({ title: null }, /^title: must be a string, not null$/);
  await refused({ title: "x", publisher: { zip: 5 } }, /^publisher\.zip: must be a string, not a number$/);
  await refused({ title: "x", publisher: [] }, /^publisher: must be an object, not an array$/);
  await refused({ title: "x", tags: ["a", 1] }, /^tags\[1\]: must be a string, not a number$/);
  await refused({ title: "x", published: "2024-02-31" }, /^published: must be a date/);
  await refused({ title: "x", embedding: [1, 2] }, /^embedding: must have 3 dimensions, not 2$/);
  await refused({ title: "x", embedding: [1, 2, 1e39] }, /^embedding: must hold numbers only/);
  await refused({ title: 1, price: "x" }, /^title: must be a string, not a number \(and 1 more\)$/);
  await refused({ title: "x", a: "\u0000" }, /^a: holds a character/);
  await refused({ title: "x", id: "" }, /^id: must be/);
  let deep: unknown = 1;
  for (let i = 0; i < 200; i++) deep = { d: deep };
  await refused({ title: "x", deep }, /nested deeper/);
});

t.test("ids and unique fields are unique", async (t) => {
  const path = "/v1/collections/books/documents";
  t.equal((await server.expect(201, "POST", path, { id: "one", title: "1", isbn: "i1" })).body.data.id, "one");
  t.equal((await server.expect(201, "POST", path, { _id: 2, title: "2" })).body.data.id, "2");
  for (const document of [
    { id: "one", title: "again" },
    { title: "3", isbn: "i1" },
  ]) {
    const reply = await server.call("POST", path, document);
    t.equal(reply.status, 409);
    t.match(reply.body.error.message, /duplicate/);
  }
  await server.rows("DELETE FROM books");
});

t.test("bulks are all or nothing, or answer per document", async (t) => {
  const path = "/v1/collections/books/documents/bulk";
  const good = await server.expect(201, "POST", path, { documents: [{ title: "a" }, { id: "b", title: "b" }] });
  t.equal(good.body.data.inserted, 2);
  t.equal(good.body.data.ids[1], "b");
  const documents = [{ title: "c" }, { title: 4 }, { id: "b", title: "again" }, { id: "d", title: "d" }];
  const bad = await server.call("POST", path, { documents });
  t.equal(bad.status, 400);
  t.match(bad.body.error.message, /^documents\[1\]\.title: must be a string/);
  const twice = await server.call("POST", path, { documents: [{ title: "c" }, { id: "b", title: "b" }] });
  t.equal(twice.status, 409);
  t.match(twice.body.error, { message: /^documents\[1\]: duplicate key/, details: { document: 1 } });
  t.same(await server.rows("SELECT count(*) FROM books"), [[2]], "nothing of it is there");
  const each = await server.expect(201, "POST", path, { documents, ordered: false });
  t.match(each.body.data, {
    inserted: 2,
    failed: 2,
    ids: [String, null, null, "d"],
    results: [
      { index: 0, type: "success" },
      { index: 1, type: "error", error: { code: "invalid_request" } },
      { index: 2, type: "error", error: { message: /duplicate/ } },
      { index: 3, type: "success", id: "d" },
    ],
  });
  t.same(await server.rows("SELECT count(*) FROM books"), [[4]]);
  t.same((await server.expect(201, "POST", path, { documents: [] })).body.data, { ids: [], inserted: 0 });
});

t.test("a bulk of thousands of documents is stored, or tells which of them is not", async (t) => {
  const fields = [
    { name: "title", type: "string" },
    { name: "tags", type: "array" },
  ];
  await server.expect(201, "POST", "/v1/collections", { name: "leaves", schema: { fields } });
  const path = "/v1/collections/leaves/documents/bulk";
  // Some are long, so that statements end at their characters, too.
  const documents = Array.from({ length: 5000 }, (_, i) => {
    return { id: `l${i}`, title: `leaf ${i}`, tags: ["[", i], more: i < 300 ? "x".repeat(5000) : { i } };
  });
  const last = { ...documents[4321]!, title: "again" };
  const twice = await server.call("POST", path, { documents: [...documents, last] });
  t.equal(twice.status, 409);
  t.match(twice.body.error, { message: /^documents\[5000\]: duplicate key/, details: { document: 5000 } });
  t.same(await server.rows("SELECT count(*) FROM leaves"), [[0]], "nothing of it is there");
  const { ids, inserted } = (await server.expect(201, "POST", path, { documents })).body.data;
  t.equal(inserted, 5000);
  t.same(
    ids,
    documents.map(({ id }) => id),
  );
  for (const i of [0, 299, 300, 4999]) {
    t.same((await server.expect(200, "GET", `/v1/collections/leaves/documents/l${i}`)).body.data, documents[i]);
  }
  t.same(await server.rows("SELECT count(*) FROM leaves WHERE doc->'more'->>'i' = substr(id, 2)"), [[4700]]);
});

t.test("a collection tells how far its indexes for search are", async (t) => {
  const { indexes } = (await server.expect(200, "GET", "/v1/collections/books")).body.data;
  t.same(
    indexes.map(({ name, type }: { name: string; type: string }) => [name, type]),
    [
      ["by_vector", "vector"],
      ["by_words", "text"],
    ],
  );
  t.ok(indexes.every((index: object) => /absent|opening|linking|ready/.test((index as { state: string }).state)));
  for (const query of ["x", undefined]) {
    const vector = query === undefined ? [1, 2, 3] : undefined;
    await server.expect(200, "POST", "/v1/collections/books/search", { query, vector });
  }
  const isReady = async () => {
    const { body } = await server.expect(200, "GET", "/v1/collections/books");
    return body.data.indexes.every(({ state, progress }: { state: string; progress: number }) => {
      return state === "ready" && progress === 1;
    });
  };
  // A search has them made.
  while (!(await isReady())) await new Promise((resolve) => setTimeout(resolve, 20));
  const view =
    "SELECT indexname, method, state, progress FROM tessera_search_indexes WHERE tablename = 'books' ORDER BY 2";
  t.match(await server.rows(view), [
    [String, "hnsw", "ready", 1],
    [String, "text", "ready", 1],
  ]);
  t.same(await server.rows("SELECT relid FROM pg_stat_progress_create_index"), [], "none is being made");
});

t.test("a bulk stores what single documents store", async (t) => {
  const documents = [
    {
      title: 'every type, "quoted" {and} \\ slashed, ü',
      price: -1.5e-7,
      inPrint: false,
      published: "2020-02-29",
      publisher: { zip: "1", deep: [[1], { a: null }] },
      tags: ["a,b", '"', "{}"],
      embedding: [0.1, -2, 3e-8],
      more: [[1, 2], [], "null"],
      none: null,
    },
    { title: "few" },
    { title: "nulls", price: null, tags: null, embedding: null, publisher: null },
    { title: "empty", tags: [], publisher: {}, more: "null" },
  ];
  const path = "/v1/collections/books/documents";
  const { ids } = (await server.expect(201, "POST", `${path}/bulk`, { documents })).body.data;
  for (const [i, document] of documents.entries()) {
    const { id, ...inBulk } = (await server.expect(200, "GET", `${path}/${ids[i]}`)).body.data;
    const alone = (await server.expect(201, "POST", path, document)).body.data.id;
    const { id: _, ...single } = (await server.expect(200, "GET", `${path}/${alone}`)).body.data;
    t.equal(id, ids[i]);
    t.same(inBulk, single, document.title);
    t.match(inBulk, { title: document.title });
  }
  await server.rows("DELETE FROM books");
});

t.test("lists are in the order of creation, by page and by cursor", async (t) => {
  await server.expect(201, "POST", "/v1/collections/free/documents/bulk", {
    documents: Array.from({ length: 25 }, (_, n) => ({ n })),
  });
  const path = "/v1/collections/free/documents";
  const numbers = (reply: { body: { data: { items: { n: number }[] } } }) => reply.body.data.items.map(({ n }) => n);
  const first = await server.expect(200, "GET", `${path}?page=2&pageSize=10`);
  t.same(numbers(first), [10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  t.match(first.body.data, { total: 25, page: 2, page_size: 10 });
  const seen: number[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const reply: Reply = await server.expect(200, "GET", `${path}?limit=7${cursor === "" ? "" : `&cursor=${cursor}`}`);
    seen.push(...numbers(reply));
    cursor = reply.body.data.next_cursor;
  }
  t.same(
    seen,
    Array.from({ length: 25 }, (_, n) => n),
  );
  t.equal((await server.call("GET", `${path}?cursor=nonsense`)).status, 400);
  t.equal((await server.call("GET", `${path}?limit=0`)).status, 400);
});

t.test("SQL and transactions reach documents, and keep them valid", async (t) => {
  await server.rows("INSERT INTO books (id, title, price, doc) VALUES ('s', 'By SQL', 3, '{\"k\": [1]}')");
  const document = (await server.expect(200, "GET", "/v1/collections/books/documents/s")).body.data;
  t.same(document, { id: "s", title: "By SQL", price: 3, k: [1] });
  for (const sql of [
    "INSERT INTO books (id) VALUES ('t')",
    "UPDATE books SET tags = '5' WHERE id = 's'",
    "UPDATE books SET publisher = '{\"zip\": 5}' WHERE id = 's'",
    "UPDATE books SET doc = '[]' WHERE id = 's'",
    "UPDATE books SET price = 'much' WHERE id = 's'",
  ]) {
    const { status } = await server.sql(sql);
    t.ok(status === 409 || status === 400, sql);
  }
  const { id } = (await server.expect(201, "POST", "/v1/transactions", {})).body.data;
  const sql = "UPDATE books SET price = 4 WHERE id = 's'";
  await server.expect(200, "POST", `/v1/transactions/${id}/execute`, { sql });
  t.equal((await server.expect(200, "GET", "/v1/collections/books/documents/s")).body.data.price, 3);
  await server.expect(200, "POST", `/v1/transactions/${id}/commit`, {});
  t.equal((await server.expect(200, "GET", "/v1/collections/books/documents/s")).body.data.price, 4);
});

t.test("an Idempotency-Key makes retries safe", async (t) => {
  const send = () =>
    server.call("POST", "/v1/collections/free/documents", { once: 1 }, { headers: { "idempotency-key": "k1" } });
  const [one, two] = [await send(), await send()];
  t.equal(one.status, 201);
  t.same(two.body.data, one.body.data);
});

t.test("tenants do not see each other's collections; a ReadOnly key writes nothing", async (t) => {
  const token = await server.tenant("other");
  t.equal((await server.call("GET", "/v1/collections/books", undefined, { token })).status, 404);
  t.same((await server.expect(200, "GET", "/v1/collections", undefined, { token })).body.data.items, []);
  await server.expect(201, "POST", "/v1/collections", { name: "books" }, { token });
  t.same(
    (await server.expect(200, "GET", "/v1/collections/books/documents", undefined, { token })).body.data.items,
    [],
  );
  const key = await server.expect(201, "POST", "/v1/api-keys", { name: "r", permission: "ReadOnly" });
  const readOnly = { token: key.body.raw_key };
  t.equal((await server.call("GET", "/v1/collections/books/documents", undefined, readOnly)).status, 200);
  t.equal((await server.call("POST", "/v1/collections/books/documents", { title: "x" }, readOnly)).status, 403);
});

t.test("DROP TABLE drops the collection", async (t) => {
  await server.rows("DROP TABLE free");
  t.equal((await server.call("GET", "/v1/collections/free")).status, 404);
});
