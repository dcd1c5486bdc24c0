/**
 * An UPDATE of a whole table commits in parts, in the log and in the engine, while others read; the server is killed
 * with SIGKILL somewhere in it. Whoever reads, then or after the restart, sees all of it or nothing.
 */
import t from "tap";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";

const ROWS = 20_000;
const KILLS = Number(process.env.KILL_ROUNDS ?? sized(1, 4));
const UPDATES_MAX = 20;

t.test("a large commit is there as a whole or not at all", async (t) => {
  const server = await TestServer.start();
  t.teardown(() => server.stop());
  await server.rows("CREATE TABLE wide (id integer PRIMARY KEY, v integer NOT NULL, note text NOT NULL)");
  await server.rows("CREATE TABLE beside (id integer PRIMARY KEY)");
  await server.rows(`INSERT INTO wide SELECT g, 0, 'note of ' || g FROM generate_series(1, ${ROWS}) g`);
  await server.rows("CREATE INDEX wide_v ON wide (v)");
  const seen = async (): Promise<[number, number]> => {
    const [row] = await server.rows("SELECT min(v), max(v), count(*), count(DISTINCT v) FROM wide");
    const [low, high, count, different] = row as [number, number, number, number];
    if (low !== high || count !== ROWS || different !== 1) t.fail(`${count} rows from ${low} to ${high}`);
    return [low, high];
  };
  let acknowledged = 0;
  let beside = 0;
  let readings = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    let alive = true;
    const others = async (work: () => Promise<void>): Promise<void> => {
      try {
        while (alive) await work();
      } catch (error) {
        if (alive) throw error;
      }
    };
    const busy = [
      others(async () => {
        await seen();
        readings++;
      }),
      others(async () => {
        const { status } = await server.sql("INSERT INTO beside VALUES ($1)", [beside]);
        if (status === 200) beside++;
      }),
    ];
    let killed: Promise<void> | null = null;
    // The first kill comes after an UPDATE beside which a reading came to its end.
    const updatesBefore = kill === 0 ? 1 : Math.floor(Math.random() * 2);
    for (let update = 0; update < UPDATES_MAX && killed === null; update++) {
      while (update > 0 && readings === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      const running = server.sql("UPDATE wide SET v = v + 1").then(
        ({ status }) => status,
        () => 0,
      );
      if (update >= updatesBefore) {
        await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 500));
        alive = false;
        killed = server.kill();
      }
      if ((await running) === 200) acknowledged++;
    }
    await Promise.allSettled(busy);
    await killed;
    await server.boot();
    const [value] = await seen();
    t.ok(value === acknowledged || value === acknowledged + 1, `after the kill it is ${value} of ${acknowledged}`);
    acknowledged = value;
    const [row] = await server.rows("SELECT count(*), max(id) FROM beside");
    const stored = (row as [number, number])[0];
    t.ok(stored === beside || stored === beside + 1, `${stored} of ${beside} rows beside`);
    beside = stored;
    t.same(await server.rows("SELECT count(*) FROM wide WHERE v = $1", [value]), [[ROWS]], "the index agrees");
  }
  t.ok(readings > 0, `${readings} readings in between`);
});
