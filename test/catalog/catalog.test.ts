import t from "tap";
import { Catalog } from "../../src/catalog/catalog.js";
import { applyDdl } from "../../src/catalog/ddl.js";
import { DbError } from "../../src/protocol/errors.js";
import { bindStatement } from "../../src/sql/bind/bind-statement.js";
import { loadParser, parseSql } from "../../src/sql/parse/parse.js";
import { rowPrefix } from "../../src/storage/keys.js";
import type { Shard } from "../../src/storage/shard.js";
import type { Transaction } from "../../src/storage/store.js";
import { define, SCHEMA } from "../sql/tables.js";
import { openShard } from "../storage/shards.js";

await loadParser();

/** Runs and commits definition statements as a session does. */
function commitDdl(shard: Shard, catalog: Catalog, sql: string): void {
  const tx = shard.begin();
  try {
    define(catalog, tx, sql);
    catalog.settle(tx, tx.commit());
  } catch (error) {
    tx.rollback();
    catalog.settle(tx, null);
    throw error;
  }
}

const tableNames = (catalog: Catalog, tx: Transaction) =>
  catalog
    .view(tx)
    .tables()
    .map((table) => table.name);

function stateOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof DbError) return `${error.details?.sqlstate ?? error.code}: ${error.message}`;
    throw error;
  }
  return "no error";
}

t.test("definitions are found again, by a new catalog too", async (t) => {
  const shard = await openShard(t);
  commitDdl(shard, new Catalog(1), SCHEMA);
  const catalog = new Catalog(1);
  const tx = shard.begin({ readOnly: true });
  const view = catalog.view(tx);
  t.same(tableNames(catalog, tx), ["Mixed Case", "ids", "notes", "orders", "pairs", "users"]);
  const orders = view.table(null, "orders")!;
  t.equal(orders.primaryKeyName, "orders_pkey");
  t.same(orders.primaryKey, [0]);
  t.same(
    orders.checks.map((check) => [check.name, check.sql]),
    [["orders_total_check", "(total >= 0)"]],
  );
  t.equal(orders.columns[0]!.defaultSql, "nextval('public.orders_id_seq')");
  t.equal(view.sequence("public", "orders_id_seq")!.ownedBy!.tableId, orders.id);
  t.equal(view.index(null, "orders_user")!.table, orders);
  t.same(
    orders.indexes.map((index) => [index.name, index.columns.map((column) => [column.columnId, column.descending])]),
    [
      [
        "orders_user",
        [
          [1, false],
          [3, true],
        ],
      ],
    ],
  );
  t.same(
    view.table("public", "pairs")!.indexes.map((index) => [index.name, index.unique, index.constraint]),
    [["pairs_c_b_key", true, "unique"]],
  );
  t.equal(view.table(null, "USERS"), null);
  t.equal(view.table("other", "users"), null);
  const ids = view.tables().flatMap((table) => [table.id, ...table.indexes.map((index) => index.id)]);
  t.equal(new Set(ids).size, ids.length, "ids are unique in the tenant");
  // Types are the interned ones, so that they can be compared by ===.
  t.equal(orders.columns[1]!.type, view.table(null, "users")!.columns[0]!.type);
  tx.rollback();
});

t.test("tenants see only their own definitions", async (t) => {
  const shard = await openShard(t);
  const [one, two] = [new Catalog(1), new Catalog(2)];
  commitDdl(shard, one, "create table t (a int)");
  commitDdl(shard, two, "create table t (b text); create table u (c int)");
  const tx = shard.begin({ readOnly: true });
  t.same(tableNames(one, tx), ["t"]);
  t.same(tableNames(two, tx), ["t", "u"]);
  t.equal(one.view(tx).table(null, "t")!.columns[0]!.name, "a");
  tx.rollback();
});

t.test("a transaction sees its own definitions, others only after its commit", async (t) => {
  const shard = await openShard(t);
  const catalog = new Catalog(1);
  commitDdl(shard, catalog, "create table t (a int)");
  const before = shard.begin({ readOnly: true });
  const writer = shard.begin();
  const version = catalog.view(before).version;
  define(catalog, writer, "create table u (a int); drop table t");
  t.same(tableNames(catalog, writer), ["u"]);
  t.type(catalog.view(writer).version, "string", "plans bound now must not be shared");
  t.equal(catalog.newestVersion(), null, "nor may a cached plan be used unseen");
  t.same(tableNames(catalog, before), ["t"]);
  t.equal(catalog.view(before).version, version);
  catalog.settle(writer, writer.commit());
  const after = shard.begin({ readOnly: true });
  t.same(tableNames(catalog, after), ["u"]);
  t.not(catalog.view(after).version, version);
  t.type(catalog.view(after).version, "number");
  t.equal(catalog.newestVersion(), catalog.view(after).version);
  t.same(tableNames(catalog, before), ["t"], "an older snapshot keeps its definitions");
  t.equal(catalog.view(before).version, version);
  for (const tx of [before, after]) tx.rollback();
});

t.test("what is rolled back was never there", async (t) => {
  const shard = await openShard(t);
  const catalog = new Catalog(1);
  commitDdl(shard, catalog, "create table t (a int)");
  const tx = shard.begin();
  const version = catalog.view(tx).version;
  const savepoint = tx.savepoint();
  define(catalog, tx, "create table u (a int)");
  t.same(tableNames(catalog, tx), ["t", "u"]);
  tx.rollbackTo(savepoint);
  t.same(tableNames(catalog, tx), ["t"]);
  t.equal(catalog.view(tx).version, version);
  define(catalog, tx, "create table v (a int)");
  const second = tx.savepoint();
  define(catalog, tx, "create table w (a int)");
  const withW = catalog.view(tx).version;
  tx.rollbackTo(second);
  t.same(tableNames(catalog, tx), ["t", "v"], "back to an earlier state of the same transaction");
  define(catalog, tx, "create table x (a int)");
  t.same(tableNames(catalog, tx), ["t", "v", "x"]);
  t.not(catalog.view(tx).version, withW, "other definitions, other version");
  tx.rollback();
  catalog.settle(tx, null);
  const after = shard.begin({ readOnly: true });
  t.same(tableNames(catalog, after), ["t"]);
  t.equal(catalog.view(after).version, version);
  after.rollback();
});

t.test("concurrent changes of definitions fail one of the two", async (t) => {
  const shard = await openShard(t);
  const catalog = new Catalog(1);
  commitDdl(shard, catalog, "create table t (a int)");
  const writer = shard.begin();
  const ddl = shard.begin();
  const { id } = catalog.view(writer).table(null, "t")!;
  writer.put(rowPrefix(1, id), Buffer.from("a row of t"));
  define(catalog, ddl, "drop table t");
  catalog.settle(ddl, ddl.commit());
  t.throws(() => writer.commit(), { code: "serialization_failure" }, "rows are not written into a dropped table");
  catalog.settle(writer, null);

  const [first, second] = [shard.begin(), shard.begin()];
  define(catalog, first, "create table x (a int)");
  define(catalog, second, "create table y (a int)");
  catalog.settle(first, first.commit());
  t.throws(() => second.commit(), { code: "serialization_failure" });
  catalog.settle(second, null);
  const tx = shard.begin({ readOnly: true });
  t.same(tableNames(catalog, tx), ["x"]);
  tx.rollback();
});

t.test("views stay right when the end of a transaction is not reported", async (t) => {
  const shard = await openShard(t);
  const catalog = new Catalog(1);
  commitDdl(shard, catalog, "create table t (a int)");
  const ddl = shard.begin();
  define(catalog, ddl, "create table u (a int)");
  ddl.commit();
  const after = shard.begin({ readOnly: true });
  t.same(tableNames(catalog, after), ["t", "u"]);
  after.rollback();
});

t.test("definitions that did not change stay the same objects", async (t) => {
  const shard = await openShard(t);
  const catalog = new Catalog(1);
  commitDdl(shard, catalog, "create table t (a int); create table u (a int)");
  const one = shard.begin({ readOnly: true });
  const table = catalog.view(one).table(null, "t");
  t.equal(catalog.view(one), catalog.view(one));
  one.rollback();
  commitDdl(shard, catalog, "create index on u (a)");
  const two = shard.begin({ readOnly: true });
  t.equal(catalog.view(two).table(null, "t"), table);
  two.rollback();
});

t.test("outcomes say what is left to do with the data", async (t) => {
  const shard = await openShard(t);
  const catalog = new Catalog(1);
  const tx = shard.begin();
  const run = (sql: string) => {
    const bound = bindStatement(parseSql(sql)[0]!, {
      catalog: catalog.view(tx),
      parameterTypes: [],
      searchPath: ["public"],
    });
    if (bound.kind !== "ddl") throw new Error("not a definition");
    return applyDdl(catalog, tx, bound.command, 5);
  };
  t.match(run("create table t (id serial primary key, a int unique)"), {
    tag: "CREATE TABLE",
    notices: [],
    backfills: [],
  });
  const version = catalog.view(tx).version;
  t.match(run("create table if not exists t (a int)"), { notices: ['relation "t" already exists, skipping'] });
  t.equal(catalog.view(tx).version, version, "nothing was changed");
  const index = run("create index on t (a)");
  t.match(index.backfills[0], { table: { name: "t" }, index: { name: "t_a_idx", unique: false } });
  t.equal(run("create unique index on t (a)").backfills[0]!.index.name, "t_a_idx1");
  t.match(run("drop index t_a_idx").clearedIndexes, [{ table: { name: "t" }, index: { name: "t_a_idx" } }]);
  t.match(run("truncate t").cleared, [{ name: "t" }]);
  t.match(run("drop table if exists t, nosuch"), {
    tag: "DROP TABLE",
    notices: ['table "nosuch" does not exist, skipping'],
    cleared: [{ name: "t" }],
  });
  t.equal(catalog.view(tx).sequence(null, "t_id_seq"), null, "a table's own sequence goes with it");
  t.match(run("drop index if exists nosuch"), { notices: ['index "nosuch" does not exist, skipping'] });
  tx.rollback();
});

t.test("refusals", async (t) => {
  const shard = await openShard(t);
  const catalog = new Catalog(1);
  commitDdl(shard, catalog, SCHEMA);
  const cases: [sql: string, error: string][] = [
    ["create table users (a int)", '42P07: relation "users" already exists'],
    ["create table users_pkey (a int)", '42P07: relation "users_pkey" already exists'],
    ["create table orders_id_seq (a int)", '42P07: relation "orders_id_seq" already exists'],
    ["create index orders_user on users (age)", '42P07: relation "orders_user" already exists'],
    ["create table t (a int, constraint users_pkey primary key (a))", '42P07: relation "users_pkey" already exists'],
    [
      "create table t (a int constraint c check (a > 0) constraint c check (a < 5))",
      '42710: check constraint "c" already exists',
    ],
    ["drop table nosuch", '42P01: table "nosuch" does not exist'],
    ["drop table orders_user", '42809: "orders_user" is not a table'],
    ["drop index nosuch", '42704: index "nosuch" does not exist'],
    ["drop index users", '42809: "users" is not an index'],
    [
      "drop index users_pkey",
      "2BP01: cannot drop index users_pkey because constraint users_pkey on table users requires it",
    ],
    [
      "drop index pairs_c_b_key",
      "2BP01: cannot drop index pairs_c_b_key because constraint pairs_c_b_key on table pairs requires it",
    ],
    ["create table t (id int generated always as identity (increment 0))", "22023: INCREMENT must not be zero"],
    [
      "create table t (id smallint generated always as identity (start 40000))",
      "22023: START value (40000) cannot be greater than MAXVALUE (32767)",
    ],
    [
      `create table t (${Array.from({ length: 1601 }, (_, i) => `c${i} int`).join(", ")})`,
      "54011: tables can have at most 1600 columns",
    ],
    // Nothing is looked at per column before they are counted.
    [
      `create table t (${Array.from({ length: 9000 }, () => "c nowhere").join(", ")})`,
      "54011: tables can have at most 1600 columns",
    ],
    [
      `create type t as (${Array.from({ length: 1601 }, (_, i) => `c${i} int`).join(", ")})`,
      "54011: tables can have at most 1600 columns",
    ],
  ];
  for (const [sql, error] of cases)
    t.equal(
      stateOf(() => commitDdl(shard, catalog, sql)),
      error,
      sql.slice(0, 60),
    );
  const tx = shard.begin({ readOnly: true });
  t.equal(tableNames(catalog, tx).length, 6, "a refused statement leaves nothing behind");
  tx.rollback();
});

t.test("made-up names are free and fit", async (t) => {
  const shard = await openShard(t);
  const catalog = new Catalog(1);
  const long = "ü".repeat(31);
  commitDdl(
    shard,
    catalog,
    `create table t_a_key (x int); create table t (a int unique, b int check (b > 0) check (b < 9));
     create table "${long}" ("${long}" int unique)`,
  );
  const tx = shard.begin({ readOnly: true });
  const view = catalog.view(tx);
  t.equal(view.table(null, "t")!.indexes[0]!.name, "t_a_key1");
  t.same(
    view.table(null, "t")!.checks.map((check) => check.name),
    ["t_b_check", "t_b_check1"],
  );
  const name = view.table(null, long)!.indexes[0]!.name;
  t.ok(Buffer.byteLength(name) <= 63 && name.endsWith("_key"), name);
  tx.rollback();
});
