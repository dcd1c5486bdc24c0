/** The quota of a branch, over HTTP. */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { branchCalls } from "./branch-calls.js";
import { TestServer } from "./server.js";

const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());

const { as, fork, rows } = branchCalls(server);

t.test("a branch with a quota refuses what would be too much of its own", async (t) => {
  const token = await server.tenant("bounded", ["super_admin"]);
  await rows(token, "CREATE TABLE item (id int PRIMARY KEY, v text)");
  await rows(token, "INSERT INTO item SELECT i, repeat('x', 100) FROM generate_series(1, 1000) i");
  const made = await fork(token, { name: "small", quota_bytes: 20_000 });
  t.match(made, { held_bytes: 0, quota_bytes: 20_000 });
  const insert = (from: number, count: number) =>
    server.sql(
      "INSERT INTO item SELECT i, repeat('y', 100) FROM generate_series($1::int, $2::int) i",
      [from, from + count - 1],
      as(token, "small"),
    );
  const held = async () => {
    const { data } = (await server.call("GET", "/v1/branches/small", undefined, { token })).body;
    t.equal(data.quota_bytes === null || data.held_bytes <= data.quota_bytes, true, `${data.held_bytes}`);
    return data.held_bytes;
  };
  t.equal((await insert(2001, 100)).status, 200);
  const first = await held();
  t.ok(first > 10_000 && first < 20_000, `${first}`);
  const refused = await insert(3001, 100);
  t.match(refused, {
    status: 507,
    body: { error: { code: "quota_exceeded", details: { held_bytes: first, quota_bytes: 20_000 } } },
  });
  t.equal(await held(), first, "nothing was written");
  // More rows than a transaction has in memory at once, and several at a time.
  t.equal((await insert(3001, 200_000)).status, 507);
  const several = await Promise.all(Array.from({ length: 10 }, (_, i) => insert(4000 + 100 * i, 20)));
  t.ok(several.some(({ status }) => status === 507) && several.every(({ status }) => [200, 507].includes(status)));
  await held();
  t.same(
    await rows(token, "DELETE FROM item WHERE id > 2000 RETURNING 1", "small").then((all) => all.length > 0),
    true,
  );
  t.ok((await held()) < first / 2, "rows of its own give their room back, but for what says that they are gone");
  t.equal((await insert(2001, 100)).status, 200);
  await rows(token, "UPDATE item SET v = 'z' WHERE id = 1");
  t.same(await rows(token, "SELECT count(*) FROM item"), [[1000]], "the origin has no quota");
  const change = (body: object) => server.call("PATCH", "/v1/branches/small", body, { token });
  t.match(await change({ quota_bytes: 10 }), { status: 200, body: { data: { quota_bytes: 10 } } });
  t.equal((await insert(3001, 1)).status, 507);
  t.equal((await rows(token, "DELETE FROM item WHERE id < 3 RETURNING 1", "small")).length, 2, "what adds no rows");
  t.match(await change({ quota_bytes: null, ttl_seconds: 3600 }), {
    status: 200,
    body: { data: { quota_bytes: null } },
  });
  t.equal((await insert(3001, 300)).status, 200);
  const before = await held();
  await server.kill();
  await server.boot();
  t.ok((await held()) >= before, "after a kill it is not below what there is");
  while ((await held()) > before) await sleep(100);
  t.equal(await held(), before, "and it is counted again when somebody asks");
  t.match(await change({ quota_bytes: -1 }), { status: 400, body: { error: { details: { field: "quota_bytes" } } } });
  t.equal((await server.call("PATCH", "/v1/branches/none", {}, { token })).status, 404);
  await rows(token, "TRUNCATE item", "small");
  // What TRUNCATE has removed is not held for long.
  while ((await held()) >= before / 10) await sleep(100);
});
