/**
 * Definitions that read a table while others write it: an index has all rows, and a constraint holds for all of them.
 */
import t, { type Test } from "tap";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import { Session } from "../../src/session/session.js";
import { plainRows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { Random } from "../query/random-plans.js";
import { applyBacklog } from "../storage/apply-backlog.js";
import { openShard } from "../storage/shards.js";

const ROWS = 3000;
const ISOLATIONS = ["read committed", "serializable"] as const;

type Run = (sql: string, onTurn?: () => Promise<void>) => Promise<readonly (readonly unknown[])[]>;

/** Sessions of one tenant with a table; `onTurn`: what others do whenever the statement gives way. */
async function opened(t: Test, isolation: (typeof ISOLATIONS)[number]) {
  await loadParser();
  const shard = await openShard(t);
  const tenant = new Partition(0, shard, loadConfig({ env: {} }), () => undefined).tenant(7);
  const client = (): Run => {
    const options = { isolation, readOnly: false, user: "u", tenantName: "t", control: "statements" } as const;
    const session = new Session(tenant, options);
    return async (sql, onTurn) => {
      const request = {
        checkpoint: () => undefined,
        shouldYield: () => onTurn !== undefined,
        yieldTurn: () => onTurn!(),
      };
      const statement = { sql, params: [], maxRows: 100_000, collector: plainRows, request };
      const outcome = await session.execute(statement, (tx) => tenant.commit(tx));
      shard.flush();
      await applyBacklog(shard);
      return outcome.rows.plain ?? [];
    };
  };
  const run = client();
  await run("create table t (id int primary key, k int, name text)");
  await run(`insert into t select i, i % 50, 'n' || i from generate_series(1, ${ROWS}) g(i)`);
  return { run, client };
}

/** Once, at the given turn. */
function atTurn(turn: number, work: () => Promise<unknown>): () => Promise<void> {
  let turns = 0;
  return async () => {
    if (++turns === turn) await work();
  };
}

async function sqlstateOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "none",
    (error) => error.details?.sqlstate ?? error.message,
  );
}

/** By the index and without it. */
async function sameByIndex(t: Test, run: Run): Promise<void> {
  const without = await run("select k + 0, count(*), sum(id) from t group by 1 order by 1");
  const values = without.map(([k]) => k);
  const by = [];
  for (const k of values) {
    const where = k === null ? "k is null" : `k = ${k}`;
    by.push((await run(`select max(k), count(*), sum(id) from t where ${where}`))[0]!);
  }
  t.same(by, without);
  t.same(await run("select count(*) from (select k from t order by k) s"), await run("select count(*) from t"));
}

for (const isolation of ISOLATIONS) {
  t.test(`an index is built while others write, ${isolation}`, async (t) => {
    const { run, client } = await opened(t, isolation);
    const other = client();
    const random = new Random(7);
    let writes = 0;
    const onTurn = async () => {
      if (writes >= 120) return;
      const id = random.below(ROWS) + 1;
      const k = random.below(60);
      const statements = [
        `insert into t values (${10_000 + writes}, ${k}, 'new')`,
        `update t set k = ${k} where id = ${id}`,
        `update t set k = null where id = ${id}`,
        `delete from t where id = ${id}`,
        `update t set name = 'other' where id = ${id}`,
      ];
      writes++;
      await other(statements[random.below(statements.length)]!);
    };
    await run("create index t_k on t (k)", onTurn);
    t.ok(writes > 20, `${writes} writes`);
    await sameByIndex(t, run);
  });

  t.test(`many rows are committed at once meanwhile, ${isolation}`, async (t) => {
    const { run, client } = await opened(t, isolation);
    const other = client();
    const load = () => other("insert into t select 20000 + i, i % 50, 'x' from generate_series(1, 5000) g(i)");
    await run("create index t_k on t (k, name)", atTurn(3, load));
    await sameByIndex(t, run);
  });

  t.test(`a unique index finds what was committed meanwhile, ${isolation}`, async (t) => {
    const { run, client } = await opened(t, isolation);
    const other = client();
    const insert = () => other("insert into t values (9001, 1, 'n17')");
    t.equal(await sqlstateOf(run("create unique index t_name on t (name)", atTurn(4, insert))), "23505");
    t.equal(await sqlstateOf(run("create unique index t_name on t (name)")), "23505");
    await run("delete from t where id = 9001");
    // Two rows change places, which is no duplicate.
    const swap = () =>
      other("update t set name = case id when 1 then 'n2' else 'n1' end where id in (1, 2)").then(() =>
        other("update t set name = 'was 3' where id = 3").then(() => other("insert into t values (9002, 1, 'n3')")),
      );
    await run("create unique index t_name on t (name)", atTurn(4, swap));
    t.same(await run("select id from t where name = 'n2'"), [[1]]);
    t.same(await run("select id from t where name = 'n3'"), [[9002]]);
    t.equal(await sqlstateOf(run("insert into t values (9003, 1, 'was 3')")), "23505");
  });

  t.test(`constraints hold for rows that come meanwhile, ${isolation}`, async (t) => {
    const { run, client } = await opened(t, isolation);
    const other = client();
    await run("create table parent (k int primary key)");
    await run("insert into parent select i from generate_series(0, 49) g(i)");
    const cases: [string, string, string][] = [
      ["alter table t alter column k set not null", "insert into t values (9001, null, 'x')", "23502"],
      ["alter table t add check (k < 1000)", "insert into t values (9001, 5000, 'x')", "23514"],
      ["alter table t add foreign key (k) references parent", "insert into t values (9001, 77, 'x')", "23503"],
      ["alter table t add unique (name)", "insert into t values (9001, 1, 'n5')", "23505"],
    ];
    for (const [definition, write, sqlstate] of cases) {
      t.equal(
        await sqlstateOf(
          run(
            definition,
            atTurn(2, () => other(write)),
          ),
        ),
        sqlstate,
        definition,
      );
      await run("delete from t where id = 9001");
    }
    // A rewrite has the row, too.
    const insert = () => other("insert into t values (9001, 4, 'x')");
    await run("alter table t alter column k type bigint", atTurn(2, insert));
    t.same(await run("select k, name from t where id = 9001"), [[4, "x"]]);
  });
}

t.test("others see how far it is", async (t) => {
  const { run, client } = await opened(t, "serializable");
  const other = client();
  const seen: (readonly unknown[])[] = [];
  const look = async () => {
    seen.push(
      ...(await other(
        "select relid::regclass, command, phase, tuples_total >= tuples_done from pg_stat_progress_create_index",
      )),
    );
  };
  await run("create index t_k on t (k)", look);
  t.same(seen[0], ["t", "CREATE INDEX", "building index: scanning table", true]);
  t.ok(seen.some(([, , phase]) => phase === "building index: sorting live tuples"));
  t.same(await other("select * from pg_stat_progress_create_index"), []);
});

t.test("a rollback to a savepoint takes back what was followed since, and it is followed again", async (t) => {
  const { run, client } = await opened(t, "read committed");
  const other = client();
  await run("begin");
  await run("create index t_k on t (k)");
  await run("savepoint s");
  await other("insert into t values (9001, 7, 'other')");
  t.same(await run("select count(*) from t where k = 7"), [[ROWS / 50 + 1]]);
  await run("rollback to s");
  await run("commit");
  await sameByIndex(t, run);
});

t.test("a duplicate that comes meanwhile is not forgotten, and the transaction can be ended", async (t) => {
  const { run, client } = await opened(t, "read committed");
  const other = client();
  for (const end of ["rollback to s", "select 1"]) {
    await run("begin");
    await run("create unique index t_name on t (name)");
    await run("savepoint s");
    await other("insert into t values (9001, 7, 'n5')");
    await run(end);
    t.equal(await sqlstateOf(run("commit")), "23505", end);
    await other("delete from t where id = 9001");
  }
  await run("begin");
  await run("create unique index t_name on t (name)");
  await other("insert into t values (9001, 7, 'n5')");
  await run("select 1");
  await run("rollback");
  // What is resolved in time is no duplicate.
  await other("delete from t where id = 9001");
  await run("begin");
  await run("create unique index t_name on t (name)");
  await other("insert into t values (9001, 7, 'n5')");
  await run("select 1");
  await other("update t set name = 'was n5' where id = 5");
  await run("commit");
  t.same(await run("select id from t where name = 'n5'"), [[9001]]);
  t.same(await run("select id from t where name = 'was n5'"), [[5]]);
});

t.test("an index that is dropped in its own transaction is not kept true", async (t) => {
  const { run, client } = await opened(t, "read committed");
  const other = client();
  await run("begin");
  await run("create unique index t_name on t (name)");
  await run("drop index t_name");
  await other("insert into t values (9001, 7, 'n5')");
  await run("commit");
  await run("create index t_name on t (name)");
  t.same(await run("select count(*) from t where name = 'n5'"), [[2]]);
});

t.test("entries that are written one by one", async (t) => {
  const { run, client } = await opened(t, "read committed");
  const other = client();
  const insert = (id: number) => () => other(`insert into t values (${id}, 7, 'n${id}')`);
  await run("alter table t add unique (id, name) deferrable initially deferred", atTurn(3, insert(9001)));
  t.equal(await sqlstateOf(run("insert into t values (9002, 7, 'n9001'), (9003, 7, 'n9001')")), "none");
  t.same(await run("select count(*) from t where id = 9001 and name = 'n9001'"), [[1]]);
  await run("begin");
  for (let i = 0; i < 1001; i++) await run(`insert into t values (${20_000 + i}, 7, 'own')`);
  const state = await sqlstateOf(run("create index t_k on t (k)", atTurn(3, insert(9010))).then(() => run("commit")));
  if (state === "none") await sameByIndex(t, run);
  else t.equal(state, "40001", "what was read has changed");
});

t.test("many changes between two statements of the transaction are followed in turns", async (t) => {
  const { run, client } = await opened(t, "read committed");
  const other = client();
  await run("begin");
  await run("create index t_k on t (k)");
  await other("insert into t select 20000 + i, i % 50, 'x' from generate_series(1, 5000) g(i)");
  await other("update t set k = k + 1 where id % 3 = 0");
  t.same(await run("select count(*) from t where k >= 0"), [[ROWS + 5000]]);
  await run("commit");
  await sameByIndex(t, run);
});

t.test("in a transaction: its own statements see what it sees, the commit has the rest", async (t) => {
  for (const isolation of ISOLATIONS) {
    const { run, client } = await opened(t, isolation);
    const other = client();
    await run("begin");
    await run("savepoint s");
    await run("create index dropped on t (name)");
    await run("rollback to savepoint s");
    await run("create index t_k on t (k)");
    await run("insert into t values (9001, 7, 'own')");
    await other("insert into t values (9002, 7, 'other')");
    await other("update t set k = 8 where id = 7");
    const seen = await run("select count(*) from t where k = 7");
    t.same(seen, [[ROWS / 50 + 1]], isolation);
    if (isolation === "read committed") {
      await run("commit");
      await sameByIndex(t, run);
    } else {
      // The count has read what others changed.
      t.equal(await sqlstateOf(run("commit")), "40001");
    }
  }
});
