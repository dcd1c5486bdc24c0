/**
 * A vector index of a table without rows is made with the first rows, however they come: no search has to ask for it.
 */
import t from "tap";
import { TestServer } from "./server.js";

const COLLECTIONS = "/v1/vectors/collections";
const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());

const make = (name: string) => server.expect(201, "POST", COLLECTIONS, { name, dimensions: 3 });
const state = async (name: string): Promise<string> =>
  (await server.expect(200, "GET", `${COLLECTIONS}/${name}`)).body.data.index.state;
const isMade = ["building", "ready"];
const load = (name: string) =>
  server.rows(`INSERT INTO ${name} (id, vector, metadata)
    SELECT 'k' || i, ARRAY[i, 1, 2]::real[]::vector(3), '{}'::jsonb FROM generate_series(1, 5000) i`);

t.test("by one row, by a load, and after a restart", async (t) => {
  for (const name of ["one", "loaded", "later", "loaded_later"]) await make(name);
  t.equal(await state("one"), "absent");
  await server.expect(201, "POST", `${COLLECTIONS}/one/vectors`, { vectors: [{ id: "a", vector: [1, 2, 3] }] });
  t.ok(isMade.includes(await state("one")), "one row");
  await load("loaded");
  t.ok(isMade.includes(await state("loaded")), "a load");
  await server.kill();
  await server.boot();
  await server.expect(201, "POST", `${COLLECTIONS}/later/vectors`, { vectors: [{ id: "a", vector: [1, 2, 3] }] });
  t.ok(isMade.includes(await state("later")), "one row after a restart");
  await load("loaded_later");
  t.ok(isMade.includes(await state("loaded_later")), "a load after a restart");
});
