/** What an operator relies on: readiness, the level of the log, slow statements, and no writes when there is no room. */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { TestServer } from "./server.js";

t.test("readiness: each partition's state", async (t) => {
  const server = await TestServer.start({ TESSERA_ACTORS: "2" });
  t.teardown(() => server.stop());
  const { body } = await server.expect(200, "GET", "/health/ready", undefined, { token: null });
  t.match(body, {
    ready: true,
    status: "ok",
    writes: "taken",
    partitions: [
      { partition: 0, status: "ready", ready: true },
      { partition: 1, status: "ready", ready: true },
    ],
  });
});

t.test("the log: its level at run time, and slow statements with their plans", async (t) => {
  const server = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_QUERY_SLOW_MS: "5" });
  t.teardown(() => server.stop());
  const logged = async (what: RegExp): Promise<string> => {
    for (;;) {
      const line = server.lines.find((one) => what.test(one));
      if (line !== undefined) return line;
      await sleep(20);
    }
  };
  await server.rows("CREATE TABLE person (id integer PRIMARY KEY, name text)");
  const slow = "SELECT count(*) FROM generate_series(1, $1) a, generate_series(1, 1000) b WHERE 'hush' || a <> $2";
  await server.rows(slow, [1000, "confidential"]);
  const line = JSON.parse(await logged(/generate_series.*slow statement/));
  t.match(line, { level: 40, tenant: "system", user: "admin", rows: 1, parameters: 2, error: null });
  t.ok(line.ms >= 5);
  t.ok(line.plan.length > 1, "with its plan");
  t.match(line.sql, /SELECT count\(\*\) FROM generate_series\(\?, \$1\)/);
  t.notMatch(JSON.stringify(line), /hush|confidential/, "without values");
  t.match(
    await (await fetch(`${server.url}/metrics`)).text(),
    /tessera_actor_slow_statements_total\{actor="0"\} [1-9]/,
  );

  await server.expect(200, "PUT", "/admin/log-level", { level: "silent" });
  server.lines.length = 0;
  await server.rows("SELECT count(*) FROM generate_series(1, 1000000) quiet");
  await server.expect(200, "PUT", "/admin/log-level", { level: "warn" });
  await server.rows("SELECT count(*) FROM generate_series(1, 1000000) loud");
  await logged(/loud/);
  t.notOk(server.lines.some((one) => one.includes("quiet")));
  t.equal((await server.call("PUT", "/admin/log-level", { level: "shout" })).status, 400);
});

t.test("no room on the disk: reads and deletions go on", async (t) => {
  const environment: Record<string, string> = { TESSERA_ACTORS: "1" };
  const server = await TestServer.start(environment);
  t.teardown(() => server.stop());
  await server.rows("CREATE TABLE item (id integer PRIMARY KEY, name text)");
  await server.rows("CREATE INDEX ON item (name)");
  await server.rows("INSERT INTO item SELECT i, 'name ' || i FROM generate_series(1, 100) i");
  await server.terminate();
  // More than the disk has.
  environment.TESSERA_STORAGE_FREE_BYTES_MIN = String(2 ** 39);
  await server.boot();
  while ((await server.call("GET", "/health/ready")).body.writes === "taken") await sleep(50);
  t.match((await server.call("GET", "/health/ready")).body, { ready: true, writes: "disk_full" });
  for (const [path, body] of [
    ["/v1/query/execute", { sql: "INSERT INTO item VALUES (1000, 'x')" }],
    ["/v1/query/execute", { sql: "INSERT INTO item SELECT i, 'x' FROM generate_series(1000, 60000) i" }],
    ["/v1/query/execute", { sql: "UPDATE item SET name = name || '!' WHERE id = 1" }],
    ["/v1/graph/nodes", { labels: ["A"] }],
  ] as const) {
    const reply = await server.call("POST", path, body);
    t.match(reply, { status: 507, body: { error: { code: "disk_full", message: /MiB/ } } }, JSON.stringify(body));
  }
  t.same(await server.rows("SELECT count(*) FROM item"), [[100]], "nothing of it was written");
  await server.rows("DELETE FROM item WHERE id > 50");
  t.same(await server.rows("SELECT count(*) FROM item WHERE name LIKE 'name%'"), [[50]]);
  await server.rows("DROP TABLE item");
  await server.expect(201, "POST", "/admin/tenants", { id: "more" });
  t.match(await (await fetch(`${server.url}/metrics`)).text(), /tessera_writes_refused 1/);
});
