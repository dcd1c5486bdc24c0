/**
 * Statements that never give way, under load of three other tenants on the same actor: each is stopped, the others'
 * requests wait and are served, and every row is there as often as its writer was told. FREEZES makes it longer (100).
 */
import t from "tap";
import { sized } from "../lengths.js";
import { type Reply, TestServer } from "./server.js";

const FREEZES = Number(process.env.FREEZES ?? 3);
const WRITERS = 3;
const READERS = 2;
/**
 * Between two requests of a client. Only the wait of those that meet a freeze matters, not how many there are between
 * two freezes.
 */
const PAUSE_MS = sized(50, 0);
const TENANTS = ["red", "green", "blue"];

/** What an INSERT came to, by the row's id: how often the row may be there. */
type Fates = Map<number, readonly number[]>;

const FREEZING: readonly ((round: number) => { readonly path: string; readonly body: object })[] = [
  (round) => ({ path: "/v1/query/execute", body: { sql: `SELECT loop_for(-1) AS round${round}` } }),
  (round) => ({
    path: "/v1/query/execute",
    body: { sql: `UPDATE own SET n = loop_for(-1) WHERE id = 1 AND n <> ${"n + ".repeat(round % 50)}1` },
  }),
  (round) => ({
    path: "/v1/query/execute/batch",
    body: {
      statements: [
        { sql: "INSERT INTO own VALUES (2, 2) ON CONFLICT DO NOTHING" },
        { sql: `SELECT loop_for(-1) AS batch${round}` },
      ],
    },
  }),
];

/** Time in which the thread waited for the machine does not count. */
const STOP_MS = sized(600, 1000);

function looping(environment: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  const program = [
    process.execPath,
    new URL("../../test-programs/looping-server.js", import.meta.url).pathname,
  ] as const;
  return TestServer.start(
    { TESSERA_ACTORS: "1", TESSERA_QUERY_STOP_MS: String(STOP_MS), ...environment },
    undefined,
    program,
  );
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const states = new Map<string, number>();
/** The others' requests: milliseconds, and how many freezes were there meanwhile. */
const waits: { readonly ms: number; readonly freezes: number }[] = [];
let freezes = 0;
let isFrozen = false;
/** Writes that are there for certain, and those that may be. */
const answersLost = { committed: 0, unknown: 0 };

async function timed(call: () => Promise<Reply>): Promise<Reply> {
  const startedMs = performance.now();
  const before = isFrozen ? freezes - 1 : freezes;
  const reply = await call();
  waits.push({ ms: performance.now() - startedMs, freezes: freezes - before });
  return reply;
}

/** The longest wait by the freezes that it saw, and the median of those that saw one or more. */
function waitsTold(): string {
  const longest = new Map<number, { count: number; ms: number }>();
  for (const { ms, freezes: seen } of waits) {
    const one = longest.get(seen) ?? { count: 0, ms: 0 };
    longest.set(seen, { count: one.count + 1, ms: Math.max(one.ms, ms) });
  }
  const held = waits.filter((wait) => wait.freezes > 0).sort((a, b) => a.ms - b.ms);
  const median = Math.round(held[held.length >> 1]?.ms ?? 0);
  const byFreezes = [...longest].sort(([a], [b]) => a - b);
  const told = byFreezes.map(([seen, { count, ms }]) => `${count} saw ${seen} freezes, at most ${Math.round(ms)} ms`);
  return `${told.join("; ")}; the median of the ${held.length} that saw one or more ${median} ms`;
}

t.setTimeout(200_000 + FREEZES * 20_000);

/** For all tests but the last; the one before it ends it. */
const server = await looping({
  TESSERA_SERVER_SHUTDOWN_TIMEOUT: "1",
  TESSERA_QUERY_STOPPED_REFUSED_SECONDS: "3600",
  TESSERA_AUTOML_RUNNING_PER_TENANT_MAX: "1",
});
t.teardown(() => server.stop());

t.test("freezes under load", async (t) => {
  t.setTimeout(60_000 + FREEZES * 20_000);
  const attacker = { token: await server.tenant("attacker") };
  await server.rows("CREATE TABLE own (id int PRIMARY KEY, n float8)", [], attacker);
  await server.rows("INSERT INTO own VALUES (1, 1)", [], attacker);
  const fates = new Map<string, Fates>();
  const strange: string[] = [];
  let reads = 0;
  let over = false;
  const callers: { readonly tenant: string; readonly token: string }[] = [];
  for (const tenant of TENANTS) callers.push({ tenant, token: await tenantWithTables(server, tenant) });
  const load = callers.flatMap(({ tenant, ...options }) => {
    const ofTenant: Fates = new Map();
    fates.set(tenant, ofTenant);
    let next = 0;
    const writer = async (): Promise<void> => {
      while (!over) {
        const id = next++;
        const headers: Record<string, string> = id % 3 === 0 ? { "idempotency-key": `${tenant}-${id}` } : {};
        const reply = await timed(() =>
          server.sql("INSERT INTO entry VALUES ($1, $2)", [id, `note ${id}`], { ...options, headers }),
        );
        ofTenant.set(id, fateOf(reply));
        if (reply.status !== 200 && reply.body.error.code !== "answer_lost") strange.push(JSON.stringify(reply.body));
        await pause(PAUSE_MS);
      }
    };
    const reader = async (): Promise<void> => {
      while (!over) {
        const id = 1 + (reads++ % 1000);
        const reply = await timed(() => server.sql("SELECT note FROM fixed WHERE id = $1", [id], options));
        if (reply.body.data?.rows?.[0]?.[0] !== `note ${id}`) strange.push(JSON.stringify(reply.body));
        await pause(PAUSE_MS);
      }
    };
    return [...Array.from({ length: WRITERS }, writer), ...Array.from({ length: READERS }, reader)];
  });
  const watching = watchReady(server, () => over);
  for (let round = 0; round < FREEZES; round++) {
    const { path, body } = FREEZING[round % FREEZING.length]!(round);
    freezes++;
    isFrozen = true;
    const reply = await server.call("POST", path, body, attacker);
    if (reply.status !== 503 || reply.body.error.code !== "statement_stopped") strange.push(JSON.stringify(reply.body));
    if ((round + 1) % 10 === 0) t.comment(`${round + 1} freezes; ${waitsTold()}`);
    await served(server);
    isFrozen = false;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  over = true;
  await Promise.all([...load, watching]);
  t.strictSame(strange, [], "every read was answered, and every write that was not had a reason");
  // The first statement of a batch may have been committed in the turn that froze: then it is gone, and was not
  // acknowledged.
  const [[left]] = (await server.rows("SELECT count(*) FROM own", [], attacker)) as [[number]];
  t.ok(left === 1 || (left === 2 && FREEZES > 2), "before it, a batch goes as far as it goes");
  let written = 0;
  for (const [tenant, ofTenant] of fates) {
    const token = await server.login(`${tenant}-user`, `password of ${tenant}`);
    const problems = await check(server, token, ofTenant);
    t.strictSame(problems, [], `${tenant}: none lost, none twice`);
    written += ofTenant.size;
  }
  const metrics = String((await server.call("GET", "/metrics")).body);
  t.match(metrics, new RegExp(`^tessera_actors_stopped_total ${FREEZES}$`, "m"));
  t.ok(states.has("503 late") && states.has("503 restarting"), "readiness was told");
  const answers = [...states].map(([state, count]) => `${count} ${state}`).join(", ");
  t.comment(
    `${FREEZES} freezes: ${written} rows written and ${reads} read by ${TENANTS.length} tenants; none lost, none twice`,
  );
  t.comment(`answers lost: ${answersLost.committed} of rows that are there, ${answersLost.unknown} of rows to look up`);
  t.comment(`the others' requests: ${waitsTold()}; ready: ${answers}`);
});

async function tenantWithTables(server: TestServer, tenant: string): Promise<string> {
  const token = await server.tenant(tenant);
  // No primary key: a row that was written twice would show.
  await server.rows("CREATE TABLE entry (id int, note text)", [], { token });
  await server.rows("CREATE TABLE fixed (id int PRIMARY KEY, note text)", [], { token });
  await server.rows("INSERT INTO fixed SELECT i, 'note ' || i FROM generate_series(1, 1000) AS i", [], { token });
  return token;
}

/** How often a row may be there. */
function fateOf({ status, body }: Reply): readonly number[] {
  if (status === 200) return [1];
  if (body.error.code !== "answer_lost") return [0];
  const isCommitted = body.error.details.committed === true;
  answersLost[isCommitted ? "committed" : "unknown"]++;
  return isCommitted ? [1] : [0, 1];
}

async function check(server: TestServer, token: string, fates: Fates): Promise<string[]> {
  const { body } = await server.expect(
    200,
    "POST",
    "/v1/query/execute",
    { sql: "SELECT id, count(*) FROM entry GROUP BY id", max_rows: 10_000_000 },
    { token },
  );
  const counts = new Map<number, number>(body.data.rows as [number, number][]);
  const problems: string[] = [];
  for (const [id, may] of fates) {
    const count = counts.get(id) ?? 0;
    if (!may.includes(count)) problems.push(`row ${id} is there ${count} times, not ${may.join(" or ")}`);
    counts.delete(id);
  }
  for (const id of counts.keys()) problems.push(`nobody wrote row ${id}`);
  return problems;
}

async function served(server: TestServer): Promise<void> {
  while ((await server.call("GET", "/health/ready", undefined, { token: null })).status !== 200) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function watchReady(server: TestServer, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const { status, body } = await server.call("GET", "/health/ready", undefined, { token: null });
    const state = `${status} ${body.data.partitions.find((one: { ready: boolean }) => !one.ready)?.status ?? "ready"}`;
    states.set(state, (states.get(state) ?? 0) + 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

t.test("large requests wait, too", async (t) => {
  const other = { token: await server.tenant("other") };
  await server.rows("CREATE TABLE entry (id int, note text)", [], other);
  const note = "n".repeat(3_000_000);
  const insert = (id: number): Promise<Reply> => server.sql("INSERT INTO entry VALUES ($1, $2)", [id, note], other);
  // By another name than that of other tests: what was stopped is refused for a while.
  const frozen = server.sql("SELECT loop_for(-1) AS beside_large");
  await new Promise((resolve) => setTimeout(resolve, 100));
  const replies = await Promise.all([insert(1), insert(2), insert(3)]);
  t.strictSame(
    replies.map(({ status }) => status),
    [200, 200, 200],
  );
  t.equal((await frozen).body.error.code, "statement_stopped");
  t.strictSame(await server.rows("SELECT id, length(note) FROM entry ORDER BY id", [], other), [
    [1, note.length],
    [2, note.length],
    [3, note.length],
  ]);
});

t.test("what looks like it is refused, and nothing else", async (t) => {
  const other = { token: await server.tenant("beside") };
  await server.rows("CREATE TABLE one (id int PRIMARY KEY)");
  const stopped = await server.sql("SELECT loop_for(-1), 'a'");
  t.match([stopped.status, stopped.body.error.code], [503, "statement_stopped"]);
  t.equal(stopped.headers.get("retry-after"), "3600");
  const again = await server.sql("SELECT loop_for(-77), 'b'");
  t.match([again.status, again.body.error.code], [503, "statement_stopped"]);
  t.ok(Number(again.headers.get("retry-after")) > 3000);
  t.equal((await server.sql("SELECT loop_for(1)")).status, 200, "another shape");
  t.equal((await server.sql("SELECT loop_for(1), 'a'", [], other)).status, 200, "another tenant");
  const batch = await server.call("POST", "/v1/query/execute/batch", {
    statements: [{ sql: "SELECT  loop_for(0), 'c'" }],
  });
  t.match(JSON.stringify(batch.body), /statement_stopped/, "wherever it comes from");
  t.match(
    server.lines.join("\n"),
    /"statement":"SELECT loop_for\(-\?\), \?","operator":"project"/,
    "the log says what it was",
  );
});

async function actorsStopped(): Promise<number> {
  const metrics = String((await server.call("GET", "/metrics")).body);
  return Number(/^tessera_actors_stopped_total (\d+)$/m.exec(metrics)![1]);
}

t.test("a job that does not give way fails", async (t) => {
  const stoppedBefore = await actorsStopped();
  await server.rows("CREATE TABLE few (id int PRIMARY KEY, good text)");
  await server.rows(
    "INSERT INTO few SELECT i, CASE WHEN i % 2 = 0 THEN 'y' ELSE 'n' END FROM generate_series(1, 200) AS i",
  );
  await server.rows("CREATE VIEW slow AS SELECT id, good, loop_for(0) AS n FROM few");
  const train = async (body: object): Promise<string> =>
    (await server.expect(202, "POST", "/v1/automl/train", { target: "good", ...body })).body.data.job_id;
  const long = { algorithms: ["neural_network"], max_trials: 200, time_budget_secs: 900 };
  const before = await train({ table: "few", features: ["id"], ...long });
  // It waits for the one before it, and does not give way when its turn comes.
  const id = await train({ table: "slow", features: ["id", "n"], max_trials: 1 });
  await server.rows("CREATE OR REPLACE VIEW slow AS SELECT id, good, loop_for(-1) AS n FROM few");
  await server.call("POST", `/v1/automl/jobs/${before}/stop`);
  let job = { status: "pending" };
  while (job.status === "pending" || job.status === "running") {
    job = (await server.expect(200, "GET", `/v1/automl/jobs/${id}`)).body.data;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  t.match(job, { status: "failed", error: { code: "statement_stopped" } });
  t.equal(await actorsStopped(), stoppedBefore + 1, "and was tried once");
});

t.test("an end in time, whatever runs", async (t) => {
  await server.rows("CREATE TABLE kept (id int PRIMARY KEY)");
  await server.rows("INSERT INTO kept VALUES (1)");
  const frozen = server.sql("SELECT loop_for(-1) AS at_the_end").catch(() => null);
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.equal(await server.terminate(), 0);
  await frozen;
  await server.boot();
  t.strictSame(await server.rows("SELECT id FROM kept"), [[1]]);
  const endless = server.sql("SELECT count(*) FROM generate_series(1, 4000000000) AS i WHERE i % 7 = 8");
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.equal(await server.terminate(), 0);
  const { status, body } = await endless;
  t.match([status, body.error.code], [503, "shutting_down"], "whoever still waits then is answered");
});

t.test("what fills the thread's memory is stopped, too", async (t) => {
  const server = await looping({ LOOPING_HEAP_MIB: String(sized(128, 256)), TESSERA_QUERY_STOP_MS: "0" });
  t.teardown(() => server.stop());
  const other = { token: await server.tenant("other") };
  await server.rows("CREATE TABLE entry (id int)", [], other);
  const filling = server.sql("SELECT fill_memory(1)");
  const others = Array.from({ length: 20 }, (_, id) => server.sql("INSERT INTO entry VALUES ($1)", [id], other));
  const { status, body } = await filling;
  t.match([status, body.error.code], [503, "statement_stopped"]);
  for (const reply of await Promise.all(others)) t.equal(reply.status, 200, JSON.stringify(reply.body));
  t.strictSame(await server.rows("SELECT count(*) FROM entry", [], other), [[20]]);
  t.equal((await server.sql("SELECT fill_memory(2)")).body.error.code, "statement_stopped", "and is not run again");
  t.match(String((await server.call("GET", "/metrics")).body), /^tessera_actors_stopped_total 1$/m);
});
