/** The client for TypeScript while its server is killed and started again: nothing is lost, nothing happens twice, nothing hangs. */
import t from "tap";
import { connect } from "../../clients/typescript/src/index.js";
import { TestServer } from "../e2e/server.js";
import { tries } from "../lengths.js";
import { CuttingProxy } from "./cutting-proxy.js";

const KILLS = tries(2);

const server = await TestServer.start({ TESSERA_ACTORS: "1" });
const proxy = await CuttingProxy.start(server.url);
t.teardown(async () => {
  await proxy.stop();
  await server.stop();
});
t.setTimeout(KILLS * 30_000 + 60_000);

t.test("statements, transactions and a subscription go on after each kill", async (t) => {
  const { raw_key: apiKey } = (await server.expect(201, "POST", "/v1/api-keys", { name: "client" })).body.data;
  const db = connect({ url: proxy.url, apiKey, attempts: 100 });
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
  for (let kill = 0; kill < KILLS; kill++) {
    const before = ticks;
    while (ticks < before + 5 + ((kill * 7) % 11)) await new Promise((resolve) => setTimeout(resolve, 5));
    await server.kill();
    proxy.cut();
    await server.boot();
    proxy.retarget(server.url);
  }
  isOver = true;
  await Promise.all([writing, counting]);
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
});
