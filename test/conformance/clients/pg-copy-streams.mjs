/** pg-copy-streams: COPY as streams of Node.js. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from, to } from "pg-copy-streams";
import { equal, fails, step } from "./steps.mjs";

const client = new pg.Client();
await client.connect();
const collect = async (s) => {
  const parts = [];
  for await (const c of s) parts.push(c);
  return Buffer.concat(parts).toString();
};
await step("COPY in and out in text, csv, binary", async () => {
  await client.query("CREATE TABLE c (a int PRIMARY KEY, b text, d numeric)");
  const lines = Array.from({ length: 20000 }, (_, i) => `${i}\tname ${i}\t${i}.5\n`);
  const s = client.query(from("COPY c FROM STDIN"));
  await pipeline(Readable.from(lines), s);
  equal(s.rowCount, 20000);
  const o = client.query(to("COPY c TO STDOUT"));
  equal((await collect(o)) === lines.join(""), true);
  equal(o.rowCount, 20000);
  equal(
    await collect(
      client.query(to("COPY (SELECT a, b FROM c WHERE a < 2 ORDER BY a) TO STDOUT WITH (FORMAT csv, HEADER)")),
    ),
    "a,b\n0,name 0\n1,name 1\n",
  );
  const bin = [];
  for await (const c of client.query(to("COPY c TO STDOUT (FORMAT binary)"))) bin.push(c);
  await client.query("CREATE TABLE c2 (LIKE c)");
  const s2 = client.query(from("COPY c2 FROM STDIN (FORMAT binary)"));
  await pipeline(Readable.from(bin), s2);
  equal(s2.rowCount, 20000);
});
await step("an error in the middle; the connection goes on", async () => {
  const e = await pipeline(
    Readable.from(["1000000\tx\t1\n", "zz\tx\t1\n"]),
    client.query(from("COPY c FROM STDIN")),
  ).catch((e) => e);
  equal([e.code, e.where], ["22P02", 'COPY c, line 2, column a: "zz"']);
  equal((await client.query("SELECT count(*)::int n FROM c")).rows[0].n, 20000);
  await fails(pipeline(Readable.from(["1\tx\t1\n"]), client.query(from("COPY c FROM STDIN"))), "23505");
});
await step("the source fails: the client says CopyFail", async () => {
  const src = new Readable({
    read() {
      this.push("2000000\tx\t1\n");
      this.destroy(new Error("broken"));
    },
  });
  const e = await pipeline(src, client.query(from("COPY c FROM STDIN"))).catch((e) => e);
  equal(e.message, "broken");
  equal((await client.query("SELECT count(*)::int n FROM c")).rows[0].n, 20000);
});
await step("out ended early", async () => {
  const c2 = new pg.Client();
  await c2.connect();
  const o = c2.query(to("COPY c TO STDOUT"));
  for await (const _ of o) break;
  await c2.end().catch(() => {});
});
await step("two COPY after another in a transaction", async () => {
  await client.query("BEGIN");
  await pipeline(Readable.from(["3000000\tx\t1\n"]), client.query(from("COPY c FROM STDIN")));
  await pipeline(Readable.from(["3000001\tx\t1\n"]), client.query(from("COPY c FROM STDIN")));
  await client.query("ROLLBACK");
  equal((await client.query("SELECT count(*)::int n FROM c")).rows[0].n, 20000);
});
await client.end();
