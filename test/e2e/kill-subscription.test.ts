/**
 * The server is killed with SIGKILL while clients write and another one follows: whoever comes back with the last
 * sequence it saw gets every acknowledged change exactly once, in order, over the WebSocket and as events. KILL_ROUNDS
 * makes it longer.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

const ROUNDS = Number(process.env.KILL_ROUNDS ?? sized(1, 3));
const WRITERS = 8;

interface Change {
  readonly operation: string;
  readonly document: { readonly id: number; readonly version: number };
  readonly sequence: number;
}

/** Acknowledged between two kills, at least. */
const ROUND_ROWS = 25;

t.setTimeout(300_000);

t.test("a follower that comes back after SIGKILL misses nothing and sees nothing twice", async (t) => {
  const server = await TestServer.start({ TESSERA_ACTORS: "1" });
  t.teardown(() => server.stop());
  await server.rows("CREATE TABLE entry (id integer PRIMARY KEY, version integer NOT NULL)");
  await server.rows("INSERT INTO entry VALUES (-1, 0), (-2, 0)");

  const seen: Change[] = [];
  let sequence: number | undefined;
  let client: SocketClient | null = null;
  let isRunning = true;
  let subscribed = (): void => undefined;
  const follow = async (): Promise<void> => {
    const headers = { authorization: `Bearer ${server.token}` };
    client = await SocketClient.open(server.url, "/v1/ws", headers);
    client.send({ type: "subscribe", id: 1, table: "entry", ...(sequence !== undefined && { sequence }) });
    for (;;) {
      const message = await client.next();
      if (message.type === "error") throw new Error(JSON.stringify(message));
      sequence = message.sequence;
      if (message.type === "change") seen.push(message);
      else subscribed();
    }
  };

  const acknowledged = new Set<number>();
  const deleted = new Set<number>();
  let next = 1;
  const writer = async (): Promise<void> => {
    while (isRunning) {
      const id = next++;
      try {
        // Two changes in one commit, then one that takes the first away again.
        const insert = await server.sql(
          "WITH bumped AS (UPDATE entry SET version = $1 WHERE id = $2) INSERT INTO entry VALUES ($1, 0)",
          [id, (id % 2) - 2],
        );
        if (insert.status !== 200) continue;
        acknowledged.add(id);
        if (id % 3 === 0 && (await server.sql("DELETE FROM entry WHERE id = $1", [id])).status === 200) deleted.add(id);
      } catch {
        await sleep(20);
      }
    }
  };

  for (let round = 0; round < ROUNDS; round++) {
    isRunning = true;
    const ready = new Promise<void>((resolve) => {
      subscribed = resolve;
    });
    const following = follow().catch((error: Error) => {
      if (!/closed with/.test(error.message)) throw error;
    });
    // What comes before the first subscription is not told.
    if (round === 0) await ready;
    const writers = Array.from({ length: WRITERS }, writer);
    const enough = acknowledged.size + ROUND_ROWS;
    while (acknowledged.size < enough) await sleep(5);
    await sleep(Math.random() * 400);
    // The client stops reading for a moment: commits it has not heard of are on disk when the kill comes.
    client!.pause();
    await sleep(Math.random() * 100);
    await server.kill();
    client!.destroy();
    isRunning = false;
    await following;
    await Promise.all(writers);
    await server.boot();
  }
  // Changes that nobody follows, right after the start.
  await server.rows("INSERT INTO entry VALUES (1000000, 0)");
  acknowledged.add(1_000_000);
  const following = follow().catch(() => undefined);
  await server.rows("INSERT INTO entry VALUES (1000001, 0)");
  acknowledged.add(1_000_001);
  while (!seen.some(({ document }) => document.id === 1_000_001)) await sleep(10);
  client!.destroy();
  await following;

  const stored = await server.call("POST", "/v1/query/execute", {
    sql: "SELECT id, version FROM entry",
    max_rows: 1e6,
  });
  const state = new Map<number, number>([
    [-1, 0],
    [-2, 0],
  ]);
  for (const { operation, document } of seen) {
    if (operation === "insert") t.notOk(state.has(document.id), "inserted once", { diagnostic: false });
    else t.ok(state.has(document.id), "there before", { diagnostic: false });
    if (operation === "delete") state.delete(document.id);
    else state.set(document.id, document.version);
  }
  t.same(new Map([...state].sort()), new Map((stored.body.data.rows as [number, number][]).sort()));
  for (let i = 1; i < seen.length; i++) {
    if (seen[i]!.sequence <= seen[i - 1]!.sequence) t.fail(`sequence ${seen[i]!.sequence} is not greater`);
  }
  const inserted = new Set(seen.flatMap(({ operation, document }) => (operation === "insert" ? document.id : [])));
  const gone = new Set(seen.flatMap(({ operation, document }) => (operation === "delete" ? document.id : [])));
  t.ok(acknowledged.size >= ROUNDS * ROUND_ROWS, `${acknowledged.size} acknowledged`);
  t.same(
    [...acknowledged].filter((id) => !inserted.has(id)),
    [],
    "nothing acknowledged is missing",
  );
  t.same(
    [...deleted].filter((id) => !gone.has(id)),
    [],
    "no acknowledged deletion is missing",
  );
  t.comment(`${seen.length} changes, ${acknowledged.size} acknowledged inserts, ${ROUNDS} kills`);
});
