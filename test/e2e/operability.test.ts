/**
 * What an operator relies on: readiness, the level of the log, slow statements, and no writes when there is no room.
 */
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

const server = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_QUERY_SLOW_MS: "5" });
t.teardown(() => server.stop());

t.test("metrics of threads, caches, commits and the storage engine", async (t) => {
  await server.rows("CREATE TABLE person (id integer PRIMARY KEY, name text)");
  for (let id = 1; id <= 5; id++) await server.rows("INSERT INTO person VALUES ($1, 'x')", [id]);
  for (let i = 0; i < 5; i++) await server.rows("SELECT name FROM person WHERE id = $1", [1]);
  const user = { username: "later", password: "ein längeres Wort", roles: ["user"] };
  await server.expect(201, "POST", "/admin/tenants/system/users", user);
  let page = "";
  // V8 tells of a collection some time after it.
  while (!/^tessera_actor_gc_total\{actor="0",kind="minor"\} [1-9]/m.test(page)) {
    await server.rows("SELECT count(*) FROM generate_series(1, 300000) n GROUP BY n % 7");
    page = await (await fetch(`${server.url}/metrics`)).text();
  }
  const value = (name: string): number => {
    const line = page.split("\n").find((one) => one.startsWith(`${name} `) || one.startsWith(`${name}{`));
    if (line === undefined) throw new Error(`no ${name}`);
    return Number(line.slice(line.lastIndexOf(" ") + 1));
  };
  for (const name of [
    'tessera_token_cache_lookups_total{result="hit"}',
    'tessera_token_cache_lookups_total{result="miss"}',
    "tessera_token_cache_entries",
    'tessera_record_cache_lookups_total{partition="0",result="hit"}',
    "tessera_record_cache_entries",
    "tessera_partition_plan_cache_entries",
    "tessera_partition_commit_groups_total",
    "tessera_partition_commit_group_max",
    "tessera_partition_sync_seconds_max",
    "tessera_rocksdb_block_cache_bytes",
    "tessera_rocksdb_memtable_bytes",
    'tessera_actor_gc_total{actor="0",kind="minor"}',
    'tessera_actor_gc_seconds_total{actor="0",kind="minor"}',
    "tessera_actor_heap_limit_bytes",
    // What SCRAM keeps of the user's password was computed there.
    'tessera_task_pool_tasks_total{actor="0",pool="tasks"}',
    "tessera_connections",
  ]) {
    t.ok(value(name) > 0, `${name} is ${value(name)}`);
  }
  t.match(page, /tessera_rocksdb_files\{partition="0",level="6"\} \d/);
  t.match(page, /tessera_jobs\{partition="0",kind="[a-z_.-]+",state="waiting"\} 0/);
  t.match(page, /tessera_actor_event_loop_lag_seconds\{actor="0",quantile="0.99"\} [0-9.e-]+/);
});

t.test("the log: its level at run time, and slow statements with their plans", async (t) => {
  const logged = async (what: RegExp): Promise<string> => {
    for (;;) {
      const line = server.lines.find((one) => what.test(one));
      if (line !== undefined) return line;
      await sleep(20);
    }
  };
  const slow = "SELECT count(*) FROM generate_series(1, $1) a, generate_series(1, 200) b WHERE 'hush' || a <> $2";
  await server.rows(slow, [1000, "confidential"]);
  const line = JSON.parse(await logged(/generate_series\(\?, \$1\).*slow statement/));
  t.match(line, { level: 40, tenant: "system", user: "admin", rows: 1, language: "sql", parameters: 2, error: null });
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
  await server.rows("SELECT count(*) FROM generate_series(1, 3000000) quiet");
  await server.expect(200, "PUT", "/admin/log-level", { level: "warn" });
  await server.rows("SELECT count(*) FROM generate_series(1, 3000000) loud");
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
