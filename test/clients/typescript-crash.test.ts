/**
 * The client for TypeScript while its server is killed and started again: nothing is lost, nothing happens twice,
 * nothing hangs.
 */
import t from "tap";
import { WebSocket } from "ws";
import { type Client, ConnectionError, connect, type SocketClass } from "../../clients/typescript/src/index.js";
import { TestServer } from "../e2e/server.js";
import { sized, tries } from "../lengths.js";
import { CuttingProxy } from "./cutting-proxy.js";

const KILLS = tries(2);
/** Rows of a stream that is read until it ends or breaks. */
const LONG = sized(100_000, 300_000);
/** After every 1,000 rows. */
const PAUSE_MS = sized(6, 2);

const server = await TestServer.start({ TESSERA_ACTORS: "1" });
const proxy = await CuttingProxy.start(server.url);
t.teardown(async () => {
  await proxy.stop();
  await server.stop();
});
t.setTimeout(KILLS * 30_000 + 60_000);

t.test("statements, transactions and a subscription go on after each kill", async (t) => {
  const { raw_key: apiKey } = (await server.expect(201, "POST", "/v1/api-keys", { name: "client" })).body.data;
  const db = connect({ url: proxy.url, apiKey, attempts: 100, WebSocket: WebSocket as unknown as SocketClass });
  await db.sql`CREATE TABLE long (n integer PRIMARY KEY)`;
  await db.sql`INSERT INTO long SELECT n FROM generate_series(0, ${LONG - 1}) n`;
  await db.sql`CREATE TABLE tick (n integer PRIMARY KEY)`;
  await db.sql`CREATE TABLE counter (n integer)`;
  await db.sql`INSERT INTO counter VALUES (0)`;
  const stop = new AbortController();
  const seen: number[] = [];
  let subscribed = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    subscribed = resolve;
  });
  const reading = (async () => {
    const followed = { table: "tick", signal: stop.signal, subscribed };
    for await (const { document } of db.subscribe<{ n: number }>(followed)) seen.push(document.n);
  })().catch((error: unknown) => {
    if (error !== stop.signal.reason) throw error;
  });
  await begun;
  let isOver = false;
  let [ticks, counted] = [0, 0];
  const writing = (async () => {
    for (; !isOver; ticks++) await db.sql`INSERT INTO tick VALUES (${ticks})`;
  })();
  const counting = (async () => {
    for (; !isOver; counted++) await db.tx((tx) => tx.sql`UPDATE counter SET n = n + 1`, { attempts: 100 });
  })();
  const streams = { whole: 0, broken: 0, refused: 0, begun: 0 };
  const reader = async (over: "http" | "websocket") => {
    while (!isOver) streams[await readAll(db, over, () => streams.begun++)] += 1;
    t.equal(await readAll(db, over), "whole", `a stream over ${over} after the last kill`);
  };
  const streaming = [reader("http"), reader("websocket")];
  for (let kill = 0; kill < KILLS; kill++) {
    const before = ticks;
    const begun = streams.begun;
    // In the midst of streams, too.
    while (streams.begun === begun || ticks < before + 5 + ((kill * 7) % 11))
      await new Promise((resolve) => setTimeout(resolve, 5));
    await server.kill();
    proxy.cut();
    await server.boot();
    proxy.retarget(server.url);
  }
  isOver = true;
  await Promise.all([writing, counting, ...streaming]);
  t.same((await db.sql`SELECT count(*)::int AS all, max(n) AS last FROM tick`)[0], { all: ticks, last: ticks - 1 });
  t.same((await db.sql`SELECT n FROM counter`)[0], { n: counted });
  while (seen.length < ticks) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort(new Error("seen all"));
  await reading;
  t.same(
    seen,
    Array.from({ length: ticks }, (_, n) => n),
  );
  t.ok(ticks > KILLS * 5, `${ticks} ticks, ${counted} transactions, ${KILLS} kills`);
  t.ok(
    streams.broken >= KILLS / 2,
    `${streams.broken} streams that a kill ended between rows, ${streams.whole} whole ones`,
  );
});

/**
 * Reads at some leisure, so that a kill meets it. A stream has all rows in their order, or ends with an error: never
 * with fewer rows.
 */
async function readAll(
  db: Client,
  over: "http" | "websocket",
  begun = () => 0,
): Promise<"whole" | "broken" | "refused"> {
  let next = 0;
  try {
    for await (const { n } of db.stream<{ n: number }>("SELECT n FROM long ORDER BY n", [], { over })) {
      if (n !== next) throw new Error(`row ${n} where ${next} comes, over ${over}`);
      if (next++ === 0) begun();
      if (next % 1000 === 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    if (next > 0) return "broken";
    await new Promise((resolve) => setTimeout(resolve, 50));
    return "refused";
  }
  if (next !== LONG) throw new Error(`the stream over ${over} ended after ${next} rows`);
  return "whole";
}
