/** `{data, merge}` as bodies of changes to a document, and documents whose fields have these names. */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

async function made(
  collection: { readonly name: string; readonly schema?: object },
  document: object,
): Promise<string> {
  await server.expect(201, "POST", "/v1/collections", collection);
  const path = `/v1/collections/${collection.name}/documents`;
  const { id } = (await server.expect(201, "POST", path, document)).body.data;
  return `${path}/${id}`;
}

t.test("PATCH takes {data, merge} for what it is", async (t) => {
  const path = await made({ name: "free" }, { a: 1, b: { c: 2, d: 3 } });
  const id = path.split("/").at(-1);
  const merged = await server.expect(200, "PATCH", path, { data: { b: { c: null }, e: 4 }, merge: true });
  t.same(merged.body.data, { id, a: 1, b: { d: 3 }, e: 4 });
  const replaced = await server.expect(200, "PATCH", path, { data: { f: 5 }, merge: false });
  t.same(replaced.body.data, { id, f: 5 });
  const field = await server.expect(200, "PATCH", path, { data: { g: 6 } });
  t.same(field.body.data, { id, f: 5, data: { g: 6 } }, "data alone is a field");
  const fields = await server.expect(200, "PATCH", path, { data: { g: 7 }, merge: "yes" });
  t.same(fields.body.data, { id, f: 5, data: { g: 7 }, merge: "yes" }, "merge that is no boolean is a field");
});

t.test("a collection that has a field of such a name keeps it", async (t) => {
  for (const [name, type, value] of [
    ["data", "object", { x: 1 }],
    ["merge", "boolean", true],
  ] as const) {
    const path = await made({ name: `with_${name}`, schema: { fields: [{ name, type }] } }, { [name]: value });
    const id = path.split("/").at(-1);
    for (const method of ["PATCH", "PUT"]) {
      const reply = await server.expect(200, method, path, { data: { y: 2 }, merge: true });
      const data = method === "PATCH" && name === "data" ? { x: 1, y: 2 } : { y: 2 };
      t.same(reply.body.data, { id, data, merge: true }, `${method}, ${name}`);
    }
  }
});
