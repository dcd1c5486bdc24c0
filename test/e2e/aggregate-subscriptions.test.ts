/** Subscriptions to aggregates over one table: after each change the answer that a client keeps is the query's. */
import t from "tap";
import { Random } from "../fuzz/random.js";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

const server = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_CHANGES_QUERY_ROWS_MAX: "50" });
t.teardown(() => server.stop());

/** What one subscriber knows. */
class Kept {
  readonly rows: string[] = [];
  mode = "";
  /** Messages with changes. */
  count = 0;
  failed: unknown = null;
  private wake = () => {};

  private constructor(readonly sql: string) {}

  static async open(sql: string, parameters: readonly unknown[] = []): Promise<Kept> {
    const client = await SocketClient.open(server.url, "/v1/ws", { authorization: `Bearer ${server.token}` });
    t.teardown(() => client.destroy());
    const kept = new Kept(sql);
    client.send({ type: "subscribe", id: 1, sql, parameters });
    kept.mode = (await client.next()).mode;
    for (;;) {
      const { rows, done } = await client.next();
      kept.rows.push(...rows.map((row: unknown) => JSON.stringify(row)));
      if (done) break;
    }
    // It ends with the test's connection.
    kept.follow(client).catch((error) => {
      kept.failed ??= error;
    });
    return kept;
  }

  private async follow(client: SocketClient): Promise<void> {
    for (;;) {
      const { added, removed, changed } = await client.next();
      this.count++;
      const gone = [...removed, ...changed.map(({ old }: { old: unknown }) => old)];
      for (const row of gone) {
        const at = this.rows.indexOf(JSON.stringify(row));
        if (at === -1) throw new Error(`${JSON.stringify(row)} was not in the answer`);
        this.rows.splice(at, 1);
      }
      const come = [...added, ...changed.map(({ new: now }: { new: unknown }) => now)];
      this.rows.push(...come.map((row) => JSON.stringify(row)));
      this.wake();
    }
  }

  /** Resolves when the answer is this; what it is when nothing has come for half a minute otherwise. */
  async becomes(rows: readonly unknown[]): Promise<string | null> {
    const expected = rows
      .map((row) => JSON.stringify(row))
      .sort()
      .join("\n");
    let quiet = 0;
    for (;;) {
      if (this.failed !== null) throw this.failed;
      const now = [...this.rows].sort().join("\n");
      if (now === expected) return null;
      if (quiet++ > 300) return `${this.sql}\nexpected\n${expected}\nkept\n${now}`;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        setTimeout(resolve, 100);
      });
    }
  }
}

const CHANGES = sized(40, 90);

const INCREMENTAL = [
  "SELECT count(*), count(amount), sum(amount), avg(amount) FROM pool WHERE kind <> 3",
  "SELECT kind, count(*), sum(amount), avg(amount) AS mean FROM pool GROUP BY kind",
  "SELECT 'k' || label, sum(large), avg(large), count(label) + 1 FROM pool WHERE amount > 20 GROUP BY label",
  "SELECT kind % 2 AS odd, label, sum(price), avg(price), count(price) FROM pool GROUP BY 1, 2",
  "SELECT sum(span), avg(span), min(amount), max(amount) FROM pool WHERE label IS NOT NULL",
  "SELECT kind, min(price), max(price), max(label), min(score), variance(amount) FROM pool WHERE amount > 5 GROUP BY kind",
  "SELECT sum(amount + coalesce(kind, 0)) FROM (SELECT * FROM pool WHERE kind < 4) p WHERE id > 3",
  "SELECT kind FROM pool GROUP BY kind",
];
const RERUN = [
  "SELECT kind, sum(score) FROM pool GROUP BY kind",
  "SELECT kind, count(*) FROM pool GROUP BY kind HAVING count(*) > 1",
  "SELECT count(DISTINCT kind) FROM pool",
  "SELECT count(*) FILTER (WHERE kind = 1) FROM pool",
  "SELECT kind, count(*) FROM pool GROUP BY kind ORDER BY 2 DESC, 1 LIMIT 2",
  "SELECT price, count(*) FROM pool GROUP BY price",
  "SELECT kind, count(*) FROM pool GROUP BY ROLLUP (kind)",
  "SELECT count(*) FROM pool WHERE made < now()",
];

/** Whole numbers below n, from a seed. */
function generator(seed: number): (n: number) => number {
  const random = new Random(seed);
  return (n) => random.below(n);
}

t.test("random changes", async (t) => {
  await server.sql(`CREATE TABLE pool (id integer PRIMARY KEY, kind integer, label text, amount integer, large bigint,
    price numeric, score float8, span interval, made timestamptz DEFAULT now())`);
  const kept = await Promise.all([...INCREMENTAL, ...RERUN].map((sql) => Kept.open(sql)));
  for (const [i, { mode, sql }] of kept.entries()) {
    t.equal(mode, i < INCREMENTAL.length ? "incremental" : "rerun", sql);
  }
  const seed = Number(process.env.SEED ?? Date.now() % 100_000);
  t.comment(`SEED=${seed}`);
  const random = generator(seed);
  const one = (values: readonly string[]) => values[random(values.length)]!;
  const values = () =>
    [
      one(["NULL", "0", "1", "2", "3", "4"]),
      one(["NULL", "'a'", "'b'", "''"]),
      one(["NULL", "-7", String(random(40)), String(random(40))]),
      one(["NULL", "9223372036854775807", "-9223372036854775808", "9007199254740993", "5"]),
      one(["NULL", "1", "1.0", "1.00", "2.125", "-0.1", "'NaN'", "99999999999999999999.5"]),
      one(["NULL", "0.1", "-2.5", "1e300"]),
      one(["NULL", "'1 day'", "'2 months -3 hours'", "'0.5 seconds'"]),
    ].join(", ");
  const columns = "id, kind, label, amount, large, price, score, span";
  const set = "(kind, label, amount, large, price, score, span)";
  const write = () => {
    const id = random(16);
    const range = `id BETWEEN ${id} AND ${id + random(5)}`;
    return one([
      `INSERT INTO pool (${columns}) VALUES (${id}, ${values()}) ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, amount = excluded.amount, price = excluded.price`,
      `INSERT INTO pool (${columns}) SELECT i, ${values()} FROM generate_series(${id}, ${id + 4}) i ON CONFLICT DO NOTHING`,
      `UPDATE pool SET kind = (kind + 1) % 5 WHERE ${range}`,
      `UPDATE pool SET ${set} = (${values()}) WHERE ${range}`,
      `UPDATE pool SET amount = amount + ${random(30) - 15}, label = 'c' WHERE ${range}`,
      `DELETE FROM pool WHERE ${range}`,
    ]);
  };
  const change = async (statements: readonly string[]): Promise<void> => {
    await server.expect(200, "POST", "/v1/query/execute/batch", { statements });
    for (const each of kept) {
      const wrong = await each.becomes(await server.rows(each.sql));
      if (wrong !== null) throw new Error(`after ${statements.join("; ")}\n${wrong}`);
    }
  };
  for (let i = 0; i < CHANGES; i++) {
    const statements =
      i % 5 === 4 ? ["BEGIN", write(), write(), write(), one(["COMMIT", "COMMIT", "ROLLBACK"])] : [write()];
    if (i % 23 === 22) statements[0] = one(["TRUNCATE pool", "DELETE FROM pool"]);
    await change(statements);
  }
  // What was random may have left the answer of one as it was.
  await change(["DELETE FROM pool"]);
  const full = (id: number, kind: number) => `(${id}, ${kind}, 'a', 30, 5, 2.125, 0.1, '1 day')`;
  await change([`INSERT INTO pool (${columns}) VALUES ${full(200, 1)}, ${full(201, 1)}, ${full(202, 2)}`]);
  t.ok(
    kept.every(({ count }) => count > 0),
    "each of them changed",
  );
});

t.test("what there is of no rows, and one message per commit", async (t) => {
  await server.sql("CREATE TABLE shelf (id integer PRIMARY KEY, room text, amount integer)");
  const total = await Kept.open("SELECT count(*), sum(amount), max(amount) FROM shelf WHERE amount > $1", [0]);
  const rooms = await Kept.open("SELECT room, sum(amount) FROM shelf GROUP BY room");
  t.same(total.rows, ["[0,null,null]"]);
  t.same(rooms.rows, []);
  await server.sql("INSERT INTO shelf VALUES (1, 'a', 1), (2, 'b', 2), (3, NULL, 4), (4, NULL, NULL)");
  t.equal(await total.becomes([[3, 7, 4]]), null);
  t.equal(
    await rooms.becomes([
      ["a", 1],
      ["b", 2],
      [null, 4],
    ]),
    null,
  );
  // Nothing is different in the first; a group is renamed in the other.
  await server.sql("UPDATE shelf SET room = 'c' WHERE room = 'b'");
  await server.sql("UPDATE shelf SET amount = 1 WHERE id = 1");
  t.equal(
    await rooms.becomes([
      ["a", 1],
      ["c", 2],
      [null, 4],
    ]),
    null,
  );
  await server.sql("DELETE FROM shelf WHERE id <> 4");
  t.equal(await total.becomes([[0, null, null]]), null);
  t.equal(await rooms.becomes([[null, null]]), null);
  t.same([total.count, rooms.count], [2, 3]);
});

t.test("too many groups", async (t) => {
  await server.sql("CREATE TABLE wide (id integer PRIMARY KEY)");
  await server.sql("INSERT INTO wide SELECT generate_series(1, 60)");
  const client = await SocketClient.open(server.url, "/v1/ws", { authorization: `Bearer ${server.token}` });
  t.teardown(() => client.destroy());
  client.send({ type: "subscribe", id: 1, sql: "SELECT id, count(*) FROM wide GROUP BY id" });
  t.match(await client.next(), { type: "error", id: 1, details: { sqlstate: "54000" } });
  client.send({ type: "subscribe", id: 2, sql: "SELECT id % 50, count(*) FROM wide GROUP BY 1" });
  t.match(await client.next(), { type: "subscribed", id: 2, mode: "incremental" });
  t.match(await client.next(), { type: "result", id: 2, done: true });
  await server.sql("INSERT INTO wide VALUES (-1)");
  t.match(await client.next(), { type: "error", id: 2, details: { sqlstate: "54000" } });
});
