/** A filesystem collection is changed while its files are being read: nobody loses against the reading. */
import t from "tap";
import { ROUTE, ready, TestFolder, untilEqual } from "./filesystem-folder.js";
import { TestServer } from "./server.js";

const FILES = 250;
const TIMES = 8;

t.test("while files are being read", async (t) => {
  const folder = new TestFolder();
  const other = new TestFolder();
  const server = await TestServer.start({ TESSERA_FILES_ROOTS: `${folder.root},${other.root}` });
  t.teardown(async () => {
    await server.stop();
    folder.end();
    other.end();
  });
  for (let i = 0; i < FILES; i++) {
    folder.put(`letters/${i}.txt`, `Letter ${i} is about the harbour and ${i % 7} ships.`);
    other.put(`${i}.txt`, `Bill ${i}: ${i % 11} barrels of herring.`);
  }
  const make = async (name: string, path: string): Promise<string> =>
    (await server.expect(201, "POST", ROUTE, { name, path })).body.data.id;
  const id = await make("letters", folder.root);
  const bills = await make("bills", other.root);

  await t.test("all can be marked to be read again, as often as a client asks", async (t) => {
    for (let i = 0; i < TIMES; i++) {
      await server.expect(202, "POST", `${ROUTE}/${id}/reprocess`, {});
      const { files } = (await server.expect(200, "GET", `${ROUTE}/${id}`)).body.data;
      t.ok(files.pending > 0, "they are being read");
    }
    const answers = await Promise.all(
      Array.from({ length: TIMES }, () => server.call("POST", `${ROUTE}/${id}/reprocess`)),
    );
    t.same(
      answers.map(({ status }) => status),
      answers.map(() => 202),
      "also at once",
    );
  });

  await t.test("options can be changed, and the collection be paused", async (t) => {
    for (let i = 0; i < TIMES; i++) {
      const change = i % 2 === 0 ? { chunk_size: 400 + i, paused: true } : { chunk_size: 600 + i, paused: false };
      const { data } = (await server.expect(200, "PATCH", `${ROUTE}/${id}`, change)).body;
      t.match(data, change);
    }
  });

  await t.test("it can be deleted; what is read of another collection is whole", async () => {
    await server.expect(202, "POST", `${ROUTE}/${bills}/reprocess`);
    await server.expect(204, "DELETE", `${ROUTE}/${bills}`);
    await untilEqual(server, id, "letters", folder, 120_000);
    await ready(server, id);
  });
});
