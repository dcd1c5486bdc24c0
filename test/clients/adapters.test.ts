/** What the adapters of clients/adapters share, without the frameworks (make conformance-adapters has those). */
import t from "tap";
import { connect } from "../../clients/typescript/src/index.js";
import { TestServer } from "../e2e/server.js";

const { VectorTable, MessageTable } = await import(
  new URL("../../../clients/adapters/vector-table.js", import.meta.url).href
);
const { TesseraMemoryStore } = await import(new URL("../../../clients/adapters/mem0.js", import.meta.url).href);

const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());
const { raw_key: apiKey } = (await server.expect(201, "POST", "/v1/api-keys", { name: "adapters" })).body.data;
const client = connect({ url: server.url, apiKey });

t.test("rows with vectors: nothing before the first, nearest, filters, replacing, deleting", async (t) => {
  const table = new VectorTable(client, 'public.odd "name"');
  t.same(await table.nearest([1, 0], 3), []);
  t.same(await table.get(["a"]), []);
  const rows = [
    { id: "a", content: "A", metadata: { kind: "x" }, vector: [1, 0] },
    { id: "b", content: "B", vector: [0, 1] },
  ];
  t.same(await table.put(rows), ["a", "b"]);
  const [nearest, other] = await table.nearest([2, 0], 3);
  t.match(nearest, { id: "a", content: "A", metadata: { kind: "x" }, score: 1 });
  t.match(other, { id: "b", metadata: {}, score: 0 });
  t.same(
    (await table.nearest([0, 1], 3, { kind: "x" })).map(({ id }: { id: string }) => id),
    ["a"],
  );
  await table.put([{ ...rows[0], content: "A2" }]);
  t.match(await table.get(["a"]), [{ content: "A2" }]);
  const [made] = await table.put([{ content: "C", metadata: { n: 1 }, vector: Float32Array.of(0.5, 0.5) }]);
  t.match(made, /^[0-9a-f-]{36}$/);
  t.same((await table.list({}, 10)).length, 3);
  await table.deleteWhere({ n: 1 });
  await table.delete(["b"]);
  t.same(
    (await table.list({}, 10)).map(({ id }: { id: string }) => id),
    ["a"],
  );
  await t.rejects(table.put([{ content: "D", vector: [1, 2, 3] }]), /dimensions/);
});

t.test("250 rows go in several statements of one transaction", async (t) => {
  const table = new VectorTable(client, "many_rows");
  const rows = Array.from({ length: 250 }, (_, i) => ({ id: `${i}`, content: `${i}`, vector: [i, 1] }));
  await table.put(rows);
  t.equal((await table.list({}, 1000)).length, 250);
  const wrong = rows.map((row, i) => (i === 249 ? { ...row, content: null } : { ...row, content: "changed" }));
  await t.rejects(table.put(wrong), /null/);
  t.match(await table.get(["0"]), [{ content: "0" }]);
});

t.test("messages keep their order; sessions are apart", async (t) => {
  const table = new MessageTable(client, "chat_messages");
  for (const text of ["one", "two"]) await table.add("s", { text });
  await table.add("other", { text: "three" });
  t.same(await table.list("s"), [{ text: "one" }, { text: "two" }]);
  await table.clear("s");
  t.same(await table.list("s"), []);
  t.same(await table.list("other"), [{ text: "three" }]);
});

t.test("a filter that is not an equality is refused", async (t) => {
  const store = new TesseraMemoryStore({ client, table: "memories" });
  await t.rejects(store.search([1], 1, { n: { gt: 1 } }), /equality/);
  await t.rejects(store.list({ OR: "x" }), /equality/);
  t.same(await store.get("none"), null);
});
