/** COMMIT and ROLLBACK in procedures and DO; what functions leave to check for the end of their transaction. */
import t, { type Test } from "tap";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import type { DbError } from "../../src/protocol/errors.js";
import { Session } from "../../src/session/session.js";
import { plainRows } from "../../src/session/sql-result.js";
import type { Client } from "../../src/session/statement-run.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";

type Run = (sql: string) => Promise<string>;

/** Sessions on one database. `run` gives rows as `1|a;2|b` and the notices after a slash, or SQLSTATE and message. */
async function sessions(t: Test) {
  await loadParser();
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  t.teardown(() => shard.close());
  const tenant = new Partition(0, shard, loadConfig({ env: {} }), () => undefined).tenant(1);
  const begin = (commitsParts = true): Run => {
    const isolation = "read committed" as const;
    const options = { isolation, readOnly: false, user: "u", tenantName: "t", control: "statements" } as const;
    const session = new Session(tenant, options);
    return async (sql) => {
      const request: Client = {
        checkpoint: () => undefined,
        shouldYield: () => false,
        yieldTurn: () => Promise.resolve(),
        ...(commitsParts && { commitPart: (tx) => tenant.commit(tx) }),
      };
      const run = { sql, params: [], maxRows: 100, collector: plainRows, request };
      try {
        const { rows, notices } = await session.execute(run, (tx) => tenant.commit(tx));
        const told = notices.map((notice) => (typeof notice === "string" ? notice : notice.message));
        const shown = (rows.plain ?? []).map((row) => row.join("|")).join(";");
        return told.length === 0 ? shown : `${shown} / ${told.join("; ")}`;
      } catch (error) {
        return `${(error as DbError).details?.sqlstate} ${(error as DbError).message}`;
      }
    };
  };
  return { begin, openTransactions: () => shard.metrics.openTransactions };
}

async function checked(t: Test, run: Run, steps: readonly (readonly [sql: string, answer: string])[]) {
  for (const [sql, answer] of steps) t.equal(await run(sql), answer, sql);
}

t.test("a procedure commits and rolls back what it has done so far", async (t) => {
  const { begin, openTransactions } = await sessions(t);
  const run = begin();
  const other = begin();
  await run("create table t (i int primary key)");
  await run(`create procedure evens(n int) language plpgsql as $$begin
    for i in 1..n loop insert into t values (i); if i % 2 = 0 then commit; else rollback; end if; end loop;
  end$$`);
  await checked(t, run, [
    ["call evens(7)", "CALL"],
    ["select i from t order by i", "2;4;6"],
    [
      "do $$ begin insert into t values (8); commit; insert into t values (9); perform 1 / 0; end $$",
      "22012 division by zero",
    ],
    ["select i from t order by i", "2;4;6;8"],
    [
      "create procedure outer_one(inout a int) language plpgsql as $$begin call evens(0); delete from t; commit; call evens(a); a := a * 2; end$$",
      "CREATE PROCEDURE",
    ],
    ["call outer_one(3)", "6"],
    ["select i from t", "2"],
    ["do $$ declare x int := 2; begin delete from t; call outer_one(x); raise notice 'x %', x; end $$", "DO / x 4"],
    [
      "do $$ begin create table made (i int); commit; drop table made; rollback; insert into made values (1); end $$",
      "DO",
    ],
    ["select count(*) from made", "1"],
  ]);
  t.equal(await other("select i from t"), "2", "others see what was committed");
  t.equal(openTransactions(), 0);
});

t.test("loops over rows go on after a COMMIT", async (t) => {
  const run = (await sessions(t)).begin();
  await run("create table t (i int primary key, w text)");
  await run("insert into t select generate_series(1, 3), ''");
  await checked(t, run, [
    [
      `do $$ declare r record; begin for r in select i from t order by i loop
         insert into t values (r.i + 10, ''); commit; delete from t where i = r.i; rollback;
       end loop; end $$`,
      "DO",
    ],
    ["select i from t order by i", "1;2;3;11;12;13"],
    [
      `do $$ declare c cursor for select i from t order by i; begin for r in c loop
         delete from t where i = r.i and i > 10; commit; raise notice '%', r.i;
       end loop; end $$`,
      "DO / 1; 2; 3; 11; 12; 13",
    ],
    [
      "do $$ declare c cursor for select i from t; x int; begin open c; commit; fetch c into x; end $$",
      '34000 cursor "c" does not exist',
    ],
    [
      "do $$ declare r record; begin for r in select i from t order by i loop execute 'update t set w = $1' using r.i; end loop; end $$",
      "DO",
    ],
    ["select i, w from t order by i", "1|3;2|3;3|3"],
  ]);
});

t.test("where a transaction cannot end", async (t) => {
  const { begin } = await sessions(t);
  const run = begin();
  await run("create table t (i int primary key)");
  await run("create procedure p() language plpgsql as $$begin insert into t values (1); commit; end$$");
  await run("create function f() returns int language plpgsql as $$begin call p(); return 1; end$$");
  await run("create procedure lent() language plpgsql security definer as $$begin commit; end$$");
  await run("create procedure settled() language plpgsql set work_mem = '1MB' as $$begin commit; end$$");
  const refused = "2D000 invalid transaction termination";
  await checked(t, run, [
    ["select f()", refused],
    ["do $$ begin perform f(); end $$", refused],
    ["call lent()", refused],
    ["call settled()", refused],
    [
      "do $$ begin begin commit; exception when others then raise notice '%', sqlerrm; end; end $$",
      "DO / cannot commit while a subtransaction is active",
    ],
    [
      "do $$ begin begin rollback; exception when others then raise notice '%', sqlerrm; end; end $$",
      "DO / cannot roll back while a subtransaction is active",
    ],
    ["do $$ begin execute 'commit'; end $$", "0A000 EXECUTE of transaction commands is not implemented"],
    ["do $$ begin savepoint s; end $$", "0A000 unsupported transaction command in PL/pgSQL"],
    ["do $$ begin commit and chain; rollback and no chain; end $$", "DO"],
    ["do $$ begin commit work; end $$", '42601 syntax error at or near "work"'],
    ["begin", "BEGIN"],
    ["call p()", refused],
    ["rollback", "ROLLBACK"],
    ["select count(*) from t", "0"],
    ["call p()", "CALL"],
  ]);
  await run("delete from t");
  t.equal(await begin(false)("call p()"), refused, "a client that cannot have several transactions");
});

t.test("settings, temporary tables and locks are of the transaction that ends", async (t) => {
  const run = (await sessions(t)).begin();
  await checked(t, run, [
    [
      `do $$ begin set local work_mem = '1MB'; commit; raise notice '%', current_setting('work_mem') = '1MB';
       set work_mem = '2MB'; rollback; raise notice '%', current_setting('work_mem') = '2MB';
       set work_mem = '3MB'; commit; end $$`,
      "DO / f; f",
    ],
    ["show work_mem", "3MB"],
    [
      "do $$ begin create temp table kept (i int) on commit delete rows; insert into kept values (1); commit; insert into kept values (2); end $$",
      "DO",
    ],
    ["select count(*) from kept", "0"],
    ["do $$ declare at timestamptz := now(); begin commit; raise notice '%', now() > at; end $$", "DO / t"],
    ["do $$ begin lock table kept; end $$", "DO"],
  ]);
});

t.test("SET TRANSACTION and AND CHAIN are about the next transaction of a body", async (t) => {
  const run = (await sessions(t)).begin();
  const shown = "raise notice '%', current_setting('transaction_isolation');";
  const late = "25001 SET TRANSACTION ISOLATION LEVEL must be called before any query";
  await run("create table t (i int)");
  await checked(t, run, [
    [
      `do $$ begin commit; set transaction isolation level serializable; ${shown} commit and chain; ${shown}
       rollback and chain; ${shown} commit; ${shown} end $$`,
      "DO / serializable; serializable; serializable; read committed",
    ],
    ["show transaction_isolation", "read committed"],
    [
      "do $$ begin commit; set transaction read only; insert into t values (1); end $$",
      "25006 cannot execute INSERT in a read-only transaction",
    ],
    ["do $$ begin commit; set transaction read only; commit; insert into t values (1); end $$", "DO"],
    ["insert into t values (2)", ""],
    ["do $$ begin set transaction isolation level serializable; end $$", late],
    ["do $$ begin commit; perform count(*) from t; set transaction isolation level serializable; end $$", late],
    ["begin", "BEGIN"],
    ["do $$ begin set transaction isolation level serializable; end $$", late],
    ["rollback", "ROLLBACK"],
    ["select count(*) from t", "2"],
  ]);
});

t.test("deferred constraints wait for the end of the transaction, not of a function's statement", async (t) => {
  const run = (await sessions(t)).begin();
  await run("create table parent (id int primary key)");
  await run("create table child (id int references parent deferrable initially deferred)");
  await run(`create function family(n int) returns int language plpgsql as $$begin
    insert into child values (n); insert into parent values (n); return n; end$$`);
  const violated = '23503 insert or update on table "child" violates foreign key constraint "child_id_fkey"';
  await checked(t, run, [
    ["do $$ begin insert into child values (1); insert into parent values (1); end $$", "DO"],
    ["select family(2)", "2"],
    ["do $$ begin insert into child values (3); end $$", violated],
    ["do $$ begin insert into child values (3); commit; insert into parent values (3); end $$", violated],
    ["do $$ begin insert into child values (3); rollback; insert into parent values (4); end $$", "DO"],
    ["select id from child order by id", "1;2"],
  ]);
});
