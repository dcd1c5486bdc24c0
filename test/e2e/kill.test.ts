/**
 * Durability over HTTP: rows are written in single-row requests while the server is killed with SIGKILL at random
 * moments and started again. Every acknowledged row must be there, none twice. KILL_ROWS and KILL_ROUNDS make it
 * larger (the full test: 20,000 rows, ten kills).
 */
import t from "tap";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";

const ROWS = Number(process.env.KILL_ROWS ?? sized(800, 3000));
const KILLS = Number(process.env.KILL_ROUNDS ?? sized(1, 3));
const CONCURRENCY = 32;

t.test("acknowledged rows survive SIGKILL", async (t) => {
  const server = await TestServer.start();
  t.teardown(() => server.stop());
  // No primary key: a row that was written twice would show.
  await server.rows("CREATE TABLE entry (id integer NOT NULL, note text)");
  await server.rows("CREATE UNIQUE INDEX entry_note ON entry (note)");

  const acknowledged = new Set<number>();
  const unknown = new Set<number>();
  let next = 0;
  let restarting: Promise<void> | null = null;
  const killAt = Array.from({ length: KILLS }, (_, i) =>
    Math.floor(((i + 0.25 + Math.random() / 2) * ROWS) / KILLS),
  ).sort((a, b) => a - b);

  const restart = async (): Promise<void> => {
    await server.kill();
    await server.boot();
    restarting = null;
  };
  const writer = async (): Promise<void> => {
    while (next < ROWS) {
      if (restarting !== null) {
        await restarting;
        continue;
      }
      const id = next++;
      if (id >= (killAt[0] ?? Number.POSITIVE_INFINITY)) {
        killAt.shift();
        // The kill falls among the requests that are in flight now.
        restarting = restart();
      }
      try {
        const reply = await server.sql("INSERT INTO entry VALUES ($1, $2)", [id, `note ${id}`]);
        if (reply.status === 200) acknowledged.add(id);
        else unknown.add(id);
      } catch {
        unknown.add(id);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, writer));
  if (restarting !== null) await restarting;

  const stored = (
    await server.call("POST", "/v1/query/execute", { sql: "SELECT id, note FROM entry", max_rows: ROWS * 2 })
  ).body.data.rows as [number, string][];
  const counts = new Map<number, number>();
  for (const [id, note] of stored) {
    counts.set(id, (counts.get(id) ?? 0) + 1);
    if (note !== `note ${id}`) t.fail(`row ${id} holds "${note}"`);
  }
  t.same(
    [...acknowledged].filter((id) => !counts.has(id)),
    [],
    "no acknowledged row is missing",
  );
  t.same(
    [...counts].filter(([, count]) => count > 1),
    [],
    "no row is there twice",
  );
  t.same(
    [...counts.keys()].filter((id) => !acknowledged.has(id) && !unknown.has(id)),
    [],
    "no row appeared from nowhere",
  );
  t.equal(acknowledged.size + unknown.size, ROWS);
  t.ok(acknowledged.size > ROWS / 2, `${acknowledged.size} of ${ROWS} rows were acknowledged`);
  const byIndex = await server.rows("SELECT count(*) FROM entry WHERE note = $1", [`note ${[...acknowledged][0]}`]);
  t.same(byIndex, [[1]], "the index agrees");
  t.comment(
    `${ROWS} rows, ${KILLS} kills: ${acknowledged.size} acknowledged, ${unknown.size} unknown, ${stored.length} stored`,
  );
});
