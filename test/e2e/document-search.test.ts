/** Search in document collections over HTTP: filters, words, vectors, both; paging; nothing of it ends in 5xx. */
import t from "tap";
import { type Reply, TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const DOCUMENTS = [
  { id: "a", title: "A river in the morning", price: 5, born: "2020-01-01", tags: ["blue", "green"], v: [1, 0], n: 1 },
  { id: "b", title: "Running rivers", price: 10, born: "2021-01-01", tags: ["red"], v: [0.9, 0.1], n: "1" },
  { id: "c", title: "A stone house", price: 15, tags: [], v: [0, 1], address: { city: "Rome", zip: "1" }, n: null },
  {
    id: "d",
    title: "Stones by the river",
    price: null,
    address: { city: "Oslo" },
    items: [{ sku: "x", q: 2 }, { sku: "y" }],
  },
  { id: "e", title: "Night", price: 20, v: [-1, 0], items: [{ sku: "x", q: 5 }], n: 2.5, address: { city: ["Rome"] } },
];

await server.expect(201, "POST", "/v1/collections", {
  name: "notes",
  schema: {
    fields: [
      { name: "title", type: "string" },
      { name: "price", type: "number" },
      { name: "born", type: "date" },
      { name: "tags", type: "array" },
      { name: "v", type: "vector", dimensions: 2 },
    ],
    indexes: [
      { name: "price", fields: ["price"] },
      { name: "v", fields: ["v"], type: "vector" },
    ],
  },
});
await server.expect(201, "POST", "/v1/collections/notes/documents/bulk", { documents: DOCUMENTS });

const search = (body: object) => server.call("POST", "/v1/collections/notes/search", body);
const ids = async (filters: object): Promise<string> => {
  const reply = await search({ filters });
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body.error));
  return reply.body.data.documents.map(({ id }: { id: string }) => id).join("");
};

t.test("filters find what they say", async (t) => {
  const cases: [object, string][] = [
    [{}, "abcde"],
    [{ id: "b" }, "b"],
    [{ price: 10 }, "b"],
    [{ price: { $gt: 5, $lte: 15 } }, "bc"],
    [{ price: { $in: [5, 20, 99] } }, "ae"],
    [{ price: { $in: [5, null] } }, "ad"],
    [{ price: { $nin: [5, 10] } }, "cde"],
    [{ price: { $ne: 5 } }, "bcde"],
    [{ price: null }, "d"],
    [{ price: { $exists: true } }, "abce"],
    [{ price: { $not: { $gt: 5 } } }, "ad"],
    [{ born: { $gte: "2020-06-01" } }, "b"],
    [{ born: "2020-01-01T01:00:00+01:00" }, "a"],
    [{ title: { $regex: "^a", $options: "i" } }, "ac"],
    [{ title: { $like: "%river%" } }, "abd"],
    [{ title: { $contains: "river" } }, "abd"],
    [{ tags: "red" }, "b"],
    [{ tags: ["blue", "green"] }, "a"],
    [{ tags: { $all: ["green", "blue"] } }, "a"],
    [{ tags: { $contains: "green" } }, "a"],
    [{ tags: { $size: 0 } }, "c"],
    [{ tags: { $size: 2 } }, "a"],
    [{ tags: { $regex: "^bl" } }, "a"],
    [{ "tags.0": "blue" }, "a"],
    [{ n: 1 }, "a"],
    [{ n: "1" }, "b"],
    [{ n: { $gt: 0 } }, "ae"],
    [{ n: { $gt: "0" } }, "b"],
    [{ n: { $in: [1, "1"] } }, "ab"],
    [{ n: null }, "cd"],
    [{ n: { $exists: true } }, "abe"],
    [{ "address.city": "Rome" }, "ce"],
    [{ address: { city: "Rome", zip: "1" } }, "c"],
    [{ "address.zip": { $exists: true } }, "c"],
    [{ "items.sku": "y" }, "d"],
    [{ "items.q": { $gte: 3 } }, "e"],
    [{ items: { $elemMatch: { sku: "x", q: { $lt: 3 } } } }, "d"],
    [{ tags: { $elemMatch: { $like: "gr%" } } }, "a"],
    [{ items: { $contains: { sku: "y" } } }, "d"],
    [{ $or: [{ price: 5 }, { "address.city": "Oslo" }] }, "ad"],
    [{ $and: [{ price: { $gt: 5 } }, { price: { $lt: 20 } }] }, "bc"],
    [{ $nor: [{ price: 5 }, { price: 10 }] }, "cde"],
    [{ $not: { price: 5 } }, "bcde"],
    [{ v: { $exists: false } }, "d"],
    [{ "quote\"'\\": 1 }, ""],
    [{ "__proto__.x": 1 }, ""],
  ];
  for (const [filter, expected] of cases) t.equal(await ids(filter), expected, JSON.stringify(filter));
  const both = await search({ query: { price: { $lt: 16 } }, filters: { tags: [] }, filter: { n: null } });
  t.same(
    both.body.data.documents.map(({ id }: { id: string }) => id),
    ["c"],
  );
});

t.test("filters that cannot be are refused with their place", async (t) => {
  const refused = async (filters: unknown, message: RegExp) => {
    const reply = await search({ filters });
    t.equal(reply.status, 400);
    t.match(reply.body.error.message, message);
  };
  await refused({ price: { $near: 1 } }, /^filters\.price\.\$near: unknown operator\. Known: \$eq/);
  await refused({ $xor: [] }, /^filters\.\$xor: unknown operator/);
  await refused({ price: "5" }, /^filters\.price: must be a number, not a string/);
  await refused({ $or: [{ price: { $in: [1, "2"] } }] }, /^filters\.\$or\[0\]\.price\.\$in\[1\]: must be a number/);
  await refused({ v: [1, 0] }, /vector/);
  await refused({ title: { $regex: "(" } }, /regular expression/);
  await refused({ tags: { $size: -1 } }, /whole number/);
  let deep: object = { a: 1 };
  for (let i = 0; i < 30; i++) deep = { $not: deep };
  await refused(deep, /deeper than/);
  await refused({ $or: Array.from({ length: 600 }, () => ({ a: 1 })) }, /at most 500/);
});

t.test("among nearly equal texts the one with every word comes first", async (t) => {
  const schema = {
    fields: [
      { name: "text", type: "string" },
      { name: "v", type: "vector", dimensions: 2 },
    ],
    indexes: [{ name: "v", fields: ["v"], type: "vector" }],
  };
  await server.expect(201, "POST", "/v1/collections", { name: "deeds", schema });
  const documents = Array.from({ length: 90 }, (_, i) => ({
    id: `d${String(i).padStart(2, "0")}`,
    text: `The ferryman counted lanterns at dawn in harbour${i}`,
    // The first are the nearest.
    v: [1, i / 100],
  }));
  await server.expect(201, "POST", "/v1/collections/deeds/documents/bulk", { documents });
  const found = async (query: string) =>
    (await server.expect(200, "POST", "/v1/collections/deeds/search", { query, vector: [1, 0], limit: 3 })).body.data;
  const meant = await found("ferryman counted lanterns at dawn in harbour50");
  t.match(meant, { mode: "hybrid", documents: [{ id: "d50" }, { id: "d00" }] }, "the next are the nearest");
  t.ok(meant.documents[0].score < 1, "not the first of every ranking");
  t.equal((await found("harbour50 nonesuch")).documents[0].id, "d50", "with a word that none has, those with some");
  t.equal((await found("ferryman")).documents[0].id, "d00", "one word tells no more than it did");
});

t.test("words, vectors, both", async (t) => {
  const words = (await search({ query: "river", mode: "text" })).body.data;
  t.equal(words.mode, "text");
  t.equal(words.total, 3);
  t.same(words.documents.map(({ id }: { id: string }) => id).sort(), ["a", "b", "d"]);
  t.ok(words.documents.every(({ score }: { score: number }) => score > 0));
  t.match(words.documents.find(({ id }: { id: string }) => id === "b").highlights, {
    title: ["Running <em>rivers</em>"],
  });
  const filtered = (await search({ query: "river", mode: "text", filters: { price: { $gt: 5 } } })).body.data;
  t.same(
    filtered.documents.map(({ id }: { id: string }) => id),
    ["b"],
  );
  const near = (await search({ vector: [1, 0], limit: 3 })).body.data;
  t.match(near, { mode: "vector", documents: [{ id: "a", score: 1 }, { id: "b" }, { id: "c", score: 0 }] });
  const good = (await search({ vector: [1, 0], min_score: 0.5 })).body.data;
  t.equal(good.documents.length, 2);
  const hybrid = (await search({ query: "stone", vector: [1, 0], filters: { price: { $exists: true } } })).body.data;
  t.equal(hybrid.mode, "hybrid");
  t.same(hybrid.documents.map(({ id }: { id: string }) => id).sort(), ["a", "b", "c", "e"]);
  t.equal(hybrid.documents[0].id, "c", "found by words and by vector");
  const only = (await search({ query: "river", mode: "text", fields: ["title"], highlight: false })).body.data;
  t.same(Object.keys(only.documents[0]).sort(), ["id", "score", "title"]);
  t.equal((await search({ vector: [1, 0, 0] })).status, 400);
  const guess = await search({ query: "x", mode: "guess" });
  t.equal(guess.status, 400);
  t.match(guess.body.error.message, /must be one of text, vector, hybrid/);
});

t.test("a collection without a schema is searched by all its texts", async (t) => {
  await server.expect(201, "POST", "/v1/collections", { name: "loose" });
  const path = "/v1/collections/loose";
  await server.expect(201, "POST", `${path}/documents`, { id: "1", a: { b: ["the quick fox"] }, c: 5 });
  await server.expect(201, "POST", `${path}/documents`, { id: "2", a: "slow" });
  const found = (await server.expect(200, "POST", `${path}/search`, { query: "foxes" })).body.data;
  t.match(found.documents, [{ id: "1", highlights: { "a.b[0]": ["the quick <em>fox</em>"] } }]);
  t.equal(found.total, 1);
  t.same((await server.expect(200, "GET", `${path}/documents/1`)).body.data, {
    id: "1",
    a: { b: ["the quick fox"] },
    c: 5,
  });
});

t.test("texts that are embedded are found by meaning", async (t) => {
  const schema = { fields: [{ name: "text", type: "string", embed: true }] };
  await server.expect(201, "POST", "/v1/collections", { name: "said", schema });
  const path = "/v1/collections/said";
  const documents = [
    { id: "cat", text: "A kitten sleeps on the sofa." },
    { id: "bank", text: "The central bank raised interest rates." },
    { id: "none", other: 1 },
  ];
  await server.expect(201, "POST", `${path}/documents/bulk`, { documents });
  const near = async (query: string) =>
    (await server.expect(200, "POST", `${path}/search`, { query, mode: "vector", limit: 1 })).body.data.documents[0].id;
  t.equal(await near("a cat lying on a couch"), "cat");
  t.equal(await near("monetary policy and money"), "bank");
  await server.expect(200, "PATCH", `${path}/documents/cat`, { text: "Inflation and money." });
  await server.expect(204, "DELETE", `${path}/documents/bank`);
  t.equal(await near("monetary policy and money"), "cat");
  const hybrid = (await server.expect(200, "POST", `${path}/search`, { query: "money" })).body.data;
  t.equal(hybrid.mode, "hybrid");
  t.same(
    hybrid.documents.map(({ id }: { id: string }) => id),
    ["cat"],
    "a document without the text is not found",
  );
});

t.test("what is far the best by its words comes before what is a little good by both", async (t) => {
  const schema = { text: { type: "string", embed: true } };
  await server.expect(201, "POST", "/v1/collections", { name: "papers", schema });
  const documents = [
    { id: "invoice", text: "Invoice AB12 was paid by bank transfer" },
    { id: "other", text: "The cat of the neighbours" },
    ...Array.from({ length: 80 }, (_, i) => ({ id: `s${i}`, text: `A small kitten sleeps on a sofa ${i}` })),
  ];
  await server.expect(201, "POST", "/v1/collections/papers/documents/bulk", { documents });
  const search = async (body: object) =>
    (await server.expect(200, "POST", "/v1/collections/papers/search", body)).body.data.documents;
  const found = await search({ query: "small kitten sleeps AB12", limit: 100 });
  t.equal(found[0].id, "invoice", "the one with the rare word");
  t.ok(found[0].score <= 1 && found.at(-1).score >= 0, "scores are from 0 to 1");
  const unknown = await search({ query: "qwertz", limit: 100 });
  const nearest = await search({ query: "qwertz", limit: 100, mode: "vector" });
  t.same(
    unknown.map(({ id }: { id: string }) => id),
    nearest.map(({ id }: { id: string }) => id),
    "without any word the likeness alone decides, to the last place",
  );
  const pages: string[] = [];
  for (let offset = 0; offset < 82; offset += 20) {
    const page = await search({ query: "small kitten sleeps AB12", limit: 20, offset });
    pages.push(...page.map(({ id }: { id: string }) => id));
  }
  t.same(
    pages,
    found.map(({ id }: { id: string }) => id),
    "pages fit together",
  );
  const rows = await server.rows("SELECT id FROM search('papers', 'small kitten sleeps AB12', 3)");
  t.equal(rows[0]![0], "invoice", "in SQL too");
});

t.test("pages of listings and of rankings", async (t) => {
  await server.expect(201, "POST", "/v1/collections", { name: "many", schema: { text: "string", n: "number" } });
  const documents = Array.from({ length: 60 }, (_, n) => ({ n, text: `word ${"filler ".repeat(n % 7)}${n}` }));
  await server.expect(201, "POST", "/v1/collections/many/documents/bulk", { documents });
  for (const body of [{ filters: { n: { $gte: 10 } } }, { query: "word", filters: { n: { $gte: 10 } } }]) {
    const seen: number[] = [];
    let cursor: string | null = null;
    do {
      const page: object = { ...body, limit: 8, ...(cursor !== null && { cursor }) };
      const reply: Reply = await server.expect(200, "POST", "/v1/collections/many/search", page);
      const { data } = reply.body;
      t.equal(data.total, 50);
      seen.push(...data.documents.map(({ n }: { n: number }) => n));
      cursor = data.next_cursor;
    } while (cursor !== null);
    t.equal(new Set(seen).size, 50, "each once");
    t.equal(seen.length, 50);
  }
  const page = await server.expect(200, "POST", "/v1/collections/many/search", { limit: 10, offset: 50 });
  t.match(page.body.data, { total: 60, next_offset: null, next_cursor: null });
});

t.test("statements keep the vectors of texts", async (t) => {
  await server.rows("INSERT INTO said (id, text) VALUES ('sql', 'A parrot and a canary in a cage')");
  const near = async (query: string) =>
    (await server.expect(200, "POST", "/v1/collections/said/search", { query, mode: "vector", limit: 1 })).body.data
      .documents[0].id;
  t.equal(await near("birds that are kept as pets"), "sql");
  await server.rows("UPDATE said SET text = 'The price of oil' WHERE id = 'sql'");
  t.equal(await near("cost of petroleum"), "sql");
});

t.test("words that are demanded or unwanted hold for what is near, too", async (t) => {
  const schema = {
    fields: [{ name: "text", type: "string", embed: true }],
    indexes: [{ fields: ["*"], type: "text" }],
  };
  await server.expect(201, "POST", "/v1/collections", { name: "orchard", schema });
  const documents = [
    { id: "apples", text: "Apples are red fruit that grow on trees" },
    { id: "pears", text: "Pears are green and sweet" },
    { id: "prune", text: "How to prune fruit trees in winter" },
  ];
  await server.expect(201, "POST", "/v1/collections/orchard/documents/bulk", { documents });
  const found = async (body: object) =>
    (await server.expect(200, "POST", "/v1/collections/orchard/search", body)).body.data.documents.map(
      ({ id }: { id: string }) => id,
    );
  t.same(await found({ query: "+fruit -apples" }), ["prune"]);
  t.same(await found({ query: '"fruit trees"', mode: "hybrid" }), ["prune"]);
  t.same(await found({ query: "fruit NOT winter" }), ["apples"]);
  t.equal((await found({ query: "fruit apples" })).length, 3, "without such words all are ranked");
  t.equal((await found({ query: "-apples" })).length, 3, "only what is unwanted asks for nothing");
});
