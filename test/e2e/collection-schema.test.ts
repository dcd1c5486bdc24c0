/** Changes of a collection's schema: stored documents are checked, moved between columns and `doc`, and stay whole. */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const PATH = "/v1/collections/pets";
const DOCUMENTS = [
  { id: "1", name: "Rex", age: 3, owner: { name: "Ann", city: "Rome" }, born: "2020-05-06", note: "A brown dog" },
  { id: "2", name: "Tom", age: 5, owner: { name: "Bob" }, note: "A black cat" },
  { id: "3", name: "Kit", age: null },
];

const stored = async () => (await server.expect(200, "GET", `${PATH}/documents`)).body.data.items;
const change = (body: object) => server.expect(200, "PATCH", PATH, body);
const find = async (body: object): Promise<string> =>
  (await server.expect(200, "POST", `${PATH}/search`, body)).body.data.documents
    .map(({ id }: { id: string }) => id)
    .sort()
    .join("");

await server.expect(201, "POST", "/v1/collections", {
  name: "pets",
  schema: {
    fields: [{ name: "name", type: "string", required: true }],
    indexes: [{ name: "city", fields: ["owner.city"] }],
  },
});
await server.expect(201, "POST", `${PATH}/documents/bulk`, { documents: DOCUMENTS });

t.test("fields that are added take their values out of the documents", async (t) => {
  const fields = [
    { name: "age", type: "number" },
    { name: "born", type: "date" },
    { name: "owner", type: "object", fields: [{ name: "name", type: "string", required: true }] },
  ];
  const { data } = (await change({ schema: { fields, indexes: [{ name: "age", fields: ["age"] }] } })).body;
  t.same(
    data.schema.fields.map(({ name }: { name: string }) => name),
    ["name", "age", "born", "owner", "owner.name"],
  );
  t.same(await stored(), DOCUMENTS);
  t.same(await server.rows("SELECT age, owner->>'city', doc FROM pets WHERE id = '1'"), [
    [3, "Rome", { born: "2020-05-06", note: "A brown dog" }],
  ]);
  t.equal(await find({ filters: { "owner.city": "Rome" } }), "1");
  t.equal(await find({ filters: { age: { $gt: 2 } } }), "12");
  const bad = await server.call("POST", `${PATH}/documents`, { name: "x", owner: {} });
  t.match(bad.body.error.message, /owner\.name: is required/);
  t.equal((await server.sql("UPDATE pets SET owner = '{}' WHERE id = '1'")).status, 409, "and SQL keeps to it");
});

t.test("what does not fit stored documents is refused, and nothing changes", async (t) => {
  const refused = async (body: object, message: RegExp, status = 409) => {
    const reply = await server.call("PATCH", PATH, body);
    t.equal(reply.status, status);
    t.match(reply.body.error.message, message);
  };
  await refused(
    { schema: { fields: [{ name: "note", type: "number" }] } },
    /document "1" does not match the schema: note: must be/,
  );
  await refused({ schema: { fields: [{ name: "note", type: "string", required: true }] } }, /"3".*note: is required/);
  await refused({ schema: { fields: [{ name: "age", type: "string" }] } }, /type of a field does not change/, 400);
  await refused({ drop_fields: ["nothing"] }, /there is no field/, 400);
  await refused({ drop_indexes: ["nothing"] }, /there is no index/, 400);
  t.same(await stored(), DOCUMENTS);
});

t.test("fields are made required, unique, free again", async (t) => {
  await change({ schema: { fields: [{ name: "name", type: "string", unique: true }] } });
  t.equal((await server.call("POST", `${PATH}/documents`, { name: "Rex" })).status, 409);
  await change({ schema: { fields: [{ name: "name", type: "string" }] } });
  await server.expect(201, "POST", `${PATH}/documents`, { id: "4", name: "Rex" });
  await server.expect(201, "POST", `${PATH}/documents`, { id: "5" });
  t.equal(
    (await server.call("PATCH", PATH, { schema: { fields: [{ name: "name", type: "string", required: true }] } }))
      .status,
    409,
  );
  await server.rows("DELETE FROM pets WHERE id > '3'");
  await change({ schema: { fields: [{ name: "name", type: "string", required: true }] } });
  t.equal((await server.call("POST", `${PATH}/documents`, {})).status, 400);
});

t.test("a text gets vectors, a collection words of all texts", async (t) => {
  await change({ schema: { fields: [{ name: "note", type: "string", embed: true }] } });
  t.equal(await find({ query: "a kitten", mode: "vector", limit: 1 }), "2");
  await change({ schema: { indexes: [{ name: "all", fields: ["*"], type: "text" }] }, drop_indexes: ["name"] });
  t.equal(await find({ query: "rome", mode: "text" }), "1");
  await change({ schema: { fields: [{ name: "note", type: "string" }] } });
  t.equal((await server.call("POST", `${PATH}/search`, { query: "x", mode: "vector" })).status, 400);
  t.equal(await find({ query: "brown", mode: "text" }), "1");
});

t.test("fields that are dropped stay in the documents", async (t) => {
  const { data } = (await change({ drop_fields: ["owner", "born"], drop_indexes: ["age"] })).body;
  t.same(
    data.schema.fields.map(({ name }: { name: string }) => name),
    ["name", "age", "note"],
  );
  t.same(await stored(), DOCUMENTS);
  t.equal(await find({ filters: { "owner.city": "Rome" } }), "1");
  t.equal(await find({ query: "rome", mode: "text" }), "1");
  await server.expect(201, "POST", `${PATH}/documents`, { id: "4", name: "Bo", owner: 5 });
  await server.expect(204, "DELETE", `${PATH}/documents/4`);
});

t.test("PUT drops what it does not name", async (t) => {
  const { data } = (await server.expect(200, "PUT", PATH, { schema: { age: "number" } })).body;
  t.same(data.schema.fields, [{ name: "age", type: "number", required: false }]);
  t.same(
    (await stored()).map(({ name }: { name: string }) => name),
    ["Rex", "Tom", "Kit"],
  );
});

t.test("a declared field is written to its column, by SQL, too", async (t) => {
  const fields = [
    { name: "title", type: "string" },
    { name: "born", type: "date" },
    { name: "address", type: "object" },
  ];
  await server.expect(201, "POST", "/v1/collections", { name: "placed", schema: { fields } });
  const insert = (columns: string, values: string) => server.sql(`INSERT INTO placed (${columns}) VALUES (${values})`);
  for (const doc of ['{"title":"lost"}', '{"born":"2024-01-02"}', '{"address":{"city":"Faro"}}']) {
    const { status, body } = await insert("id, doc", `'x', '${doc}'`);
    t.match([status, body.error?.details?.sqlstate], [409, "23514"], doc);
  }
  t.equal((await insert("id, title, doc", `'a', 'found', '{"more":1}'`)).status, 200);
  t.equal((await insert("id, born, doc", `'b', '2024-01-02', '{"born":"2 January 2024","title":null}'`)).status, 200);
  t.equal((await server.sql(`UPDATE placed SET doc = '{"title":"lost"}' WHERE id = 'a'`)).status, 409);
  const read = (await server.expect(200, "GET", "/v1/collections/placed/documents/a")).body.data;
  t.match(read.document ?? read, { title: "found", more: 1 });
  // A field that is declared later takes its values along.
  const schema = { fields: [...fields, { name: "more", type: "integer" }] };
  await server.expect(200, "PUT", "/v1/collections/placed", { schema });
  t.equal((await insert("id, doc", `'c', '{"more":2}'`)).body.error?.details?.sqlstate, "23514");
  t.same(await server.rows("SELECT more FROM placed WHERE id = 'a'"), [[1]]);
});

t.test("types as clients spell them: vector[3], and an id that is an integer", async (t) => {
  const { data } = (
    await server.expect(201, "POST", "/v1/collections", {
      name: "spelt",
      schema: { id: "integer", embedding: "vector[3]", other: { type: "VECTOR(2)" }, n: "integer" },
    })
  ).body;
  t.same(
    data.schema.fields.map(({ name, type, dimensions }: Record<string, unknown>) => [name, type, dimensions]),
    [
      ["embedding", "vector", 3],
      ["other", "vector", 2],
      ["n", "integer", undefined],
    ],
  );
  const made = await server.expect(201, "POST", "/v1/collections/spelt/documents", { id: 7, embedding: [1, 2, 3] });
  t.equal(made.body.data.id, "7");
  t.equal((await server.expect(200, "GET", "/v1/collections/spelt/documents/7")).body.data.id, "7");
  for (const type of ["vector[0]", "vector[x]", "vector[]", "integer[3]"]) {
    const refused = await server.call("POST", "/v1/collections", { name: "wrong", schema: { v: type } });
    t.equal(refused.status, 400, type);
  }
});
