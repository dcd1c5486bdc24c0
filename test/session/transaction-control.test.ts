/** BEGIN, COMMIT, SET TRANSACTION and savepoints as statements: PostgreSQL's rules of what may come when. */
import t, { type Test } from "tap";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import { Session } from "../../src/session/session.js";
import { plainRows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";
import { checkStatements } from "../sql/run-sql.js";

const CLIENT = { checkpoint: () => undefined, shouldYield: () => false, yieldTurn: () => Promise.resolve() };

/** Sessions on one database; `run` gives the first column's first value and the notices. */
async function sessions(t: Test) {
  await loadParser();
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  t.teardown(() => shard.close());
  const tenant = new Partition(0, shard, loadConfig({ env: {} }), () => undefined).tenant(1);
  return () => {
    const options = { isolation: null, readOnly: false, user: "u", tenantName: "t", control: "statements" } as const;
    const session = new Session(tenant, options);
    return async (sql: string) => {
      const run = { sql, params: [], maxRows: 100, collector: plainRows, request: CLIENT };
      const { rows, notices } = await session.execute(run, (tx) => tenant.commit(tx));
      return { first: rows.plain?.[0]?.[0], notices };
    };
  };
}

const warning = (message: string, sqlstate: string) => [{ message, level: "WARNING", sqlstate }];

t.test("control in the wrong place is a warning", async (t) => {
  const run = (await sessions(t))();
  t.same(await run("commit"), { first: "COMMIT", notices: warning("there is no transaction in progress", "25P01") });
  t.same(await run("rollback"), {
    first: "ROLLBACK",
    notices: warning("there is no transaction in progress", "25P01"),
  });
  t.same(
    (await run("set transaction read only")).notices,
    warning("SET TRANSACTION can only be used in transaction blocks", "25P01"),
  );
  await run("create table t (x int)");
  await run("begin");
  await run("insert into t values (1)");
  t.same(await run("begin"), {
    first: "BEGIN",
    notices: warning("there is already a transaction in progress", "25001"),
  });
  await run("commit");
  t.same((await run("select count(*) from t")).first, 1);
});

t.test("COMMIT of a failed transaction rolls back and says so", async (t) => {
  const run = (await sessions(t))();
  await run("create table t (x int)");
  await run("begin");
  await run("insert into t values (1)");
  await t.rejects(run("select missing"));
  const { first, notices } = await run("commit");
  t.equal(first, "ROLLBACK");
  t.match(notices[0], /had failed \(column "missing" does not exist\)/);
  t.same((await run("select count(*) from t")).first, 0);
});

t.test("SET TRANSACTION before the first query begins the transaction anew", async (t) => {
  const session = await sessions(t);
  const [one, two] = [session(), session()];
  await one("create table t (x int primary key); ".trim());
  await one("begin");
  t.equal((await one("show transaction_isolation")).first, "serializable");
  await one("set transaction isolation level read committed");
  await one("select * from t");
  await two("insert into t values (1)");
  t.equal((await one("select count(*) from t")).first, 1, "read committed sees what was committed meanwhile");
  await one("commit");
  await one("begin read only");
  await one("set transaction read write");
  await one("insert into t values (2)");
  await one("commit");
  t.equal((await one("select count(*) from t")).first, 2);
});

t.test("what the modes allow", (t) =>
  checkStatements(t, [
    ["create table t (x int)"],
    ["create temp table own (x int)"],
    ["create sequence s"],
    ["begin isolation level repeatable read, read only, deferrable"],
    ["show transaction_isolation", ["repeatable read"]],
    ["show transaction_read_only", ["on"]],
    ["show transaction_deferrable", ["on"]],
    ["insert into own values (1)"],
    ["savepoint a"],
    ["insert into t values (1)", "25006 cannot execute INSERT in a read-only transaction"],
    ["rollback to a"],
    ["with w as (delete from t returning x) select * from w", "25006 cannot execute DELETE in a read-only transaction"],
    ["rollback to a"],
    ["select nextval('s')", "25006 cannot execute nextval() in a read-only transaction"],
    ["rollback to a"],
    ["set transaction read write", "25001 cannot set transaction read-write mode inside a read-only transaction"],
    ["rollback"],
    ["show transaction_read_only", ["off"]],
    ["begin"],
    ["select 1"],
    [
      "set transaction isolation level repeatable read",
      "25001 SET TRANSACTION ISOLATION LEVEL must be called before any query",
    ],
    ["select 1", "25P02 current transaction is aborted, commands ignored until end of transaction block"],
    ["select * from missing", "25P02 current transaction is aborted, commands ignored until end of transaction block"],
    ["rollback"],
    ["begin"],
    ["savepoint a"],
    ["set transaction read only"],
    ["release a"],
    ["show transaction_read_only", ["off"]],
    ["insert into t values (1)"],
    ["commit"],
    ["set session characteristics as transaction read only"],
    ["insert into t values (2)", "25006 cannot execute INSERT in a read-only transaction"],
    ["start transaction read write"],
    ["insert into t values (2)"],
    ["commit"],
    ["set default_transaction_read_only = off"],
    ["select count(*) from t", ["2"]],
    [
      "set default_transaction_isolation = 'often'",
      '22023 invalid value for parameter "default_transaction_isolation": "often"',
    ],
  ]),
);

t.test("AND CHAIN keeps the modes; savepoints take settings back", (t) =>
  checkStatements(t, [
    ["create table t (x int)"],
    ["commit and chain", "25P01 COMMIT AND CHAIN can only be used in transaction blocks"],
    ["begin isolation level repeatable read"],
    ["insert into t values (1)"],
    ["commit and chain"],
    ["show transaction_isolation", ["repeatable read"]],
    ["insert into t values ('x')", '22P02 invalid input syntax for type integer: "x"'],
    ["commit and chain"],
    ["insert into t values (2)"],
    ["rollback and chain"],
    ["insert into t values (3)"],
    ["commit"],
    ["select * from t order by x", ["1", "3"]],
    ["savepoint a", "25P01 SAVEPOINT can only be used in transaction blocks"],
    ["release a", "25P01 RELEASE SAVEPOINT can only be used in transaction blocks"],
    ["rollback to a", "25P01 ROLLBACK TO SAVEPOINT can only be used in transaction blocks"],
    ["begin"],
    ["set search_path = x"],
    ["savepoint a"],
    ["set search_path = y"],
    ["rollback to a"],
    ["show search_path", ["x"]],
    ["prepare transaction 'p'", "55000 prepared transactions are disabled"],
    ["show search_path", ["public"]],
    ["prepare transaction 'p'"],
    ["commit prepared 'p'", '42704 prepared transaction with identifier "p" does not exist'],
    ["begin"],
    ["rollback prepared 'p'", "25001 ROLLBACK PREPARED cannot run inside a transaction block"],
    ["rollback"],
  ]),
);

t.test("FOR UPDATE is refused for rows of an outer join that may be lacking", (t) => {
  const refused = (clause: string) => `0A000 ${clause} cannot be applied to the nullable side of an outer join`;
  return checkStatements(t, [
    ["create table a (id int primary key); create table b (id int primary key, a int)"],
    ["insert into a values (1), (2); insert into b values (10, 1)"],
    ["select a.id, b.id from a left join b on a.id = b.a for update", refused("FOR UPDATE")],
    ["select a.id from b right join a on a.id = b.a for key share of b", refused("FOR KEY SHARE")],
    ["select a.id from a full join b on a.id = b.a for share of a", refused("FOR SHARE")],
    [
      "select c.id from a c left join (a left join b on a.id = b.a) on c.id = a.id order by 1 limit 1 for no key update of b",
      refused("FOR NO KEY UPDATE"),
    ],
    ["select a.id from a left join b on a.id = b.a order by 1 for update of a", ["1", "2"]],
    ["select a.id, b.id from a left join b on a.id = b.a where b.id > 0 for update", ["1|10"]],
    ["select a.id, b.id from a join b on a.id = b.a for update", ["1|10"]],
    ["select id from a where exists (select 1 from b where b.a = a.id for update)", ["1"]],
  ]);
});

for (const isolation of ["repeatable read", "serializable"]) {
  t.test(`at ${isolation}, the first query takes the snapshot`, async (t) => {
    const session = await sessions(t);
    const [run, other] = [session(), session()];
    await run("create table t (x int)");
    await run(`begin isolation level ${isolation}`);
    await other("insert into t values (1)");
    await run("show transaction_isolation");
    await run("savepoint s");
    await other("insert into t values (2)");
    t.same((await run("select count(*) from t")).first, 2);
    await other("insert into t values (3)");
    t.same((await run("select count(*) from t")).first, 2);
    await run("commit");
    await run("begin");
    await run(`set transaction isolation level ${isolation}`);
    await other("insert into t values (4)");
    await run("insert into t values (5)");
    await other("insert into t values (6)");
    t.same((await run("select count(*) from t")).first, 5);
    await run("rollback");
  });
}

for (const isolation of ["read committed", "repeatable read"]) {
  t.test(`at ${isolation}, a row that was locked must not change where nobody waits`, async (t) => {
    const session = await sessions(t);
    const [run, other] = [session(), session()];
    await run("create table t (id int primary key, x int)");
    await run("insert into t values (1, 1), (2, 2)");
    for (const [change, fails] of [
      ["update t set x = x + 1 where id = 1", true],
      ["update t set x = x + 1 where id = 2", false],
    ] as const) {
      await run(`begin isolation level ${isolation}`);
      await run("select * from t where id = 1 for update");
      await other(change);
      await run("insert into t values ((select max(id) + 1 from t), 0)");
      const failure = await run("commit").then(
        () => null,
        (error) => error.details.sqlstate,
      );
      t.equal(failure, fails ? "40001" : null, change);
    }
  });
}
