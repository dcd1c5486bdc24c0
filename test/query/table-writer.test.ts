/** INSERT, UPDATE and DELETE: keys, index entries, constraints, ON CONFLICT, RETURNING; and CREATE INDEX over rows. */
import t from "tap";
import type { IndexDef, TableDef } from "../../src/catalog/table.js";
import { backfillIndex } from "../../src/query/exec/backfill-index.js";
import { dropTableData, retireIndexData } from "../../src/query/exec/table-data.js";
import type { Expr } from "../../src/query/expr/expr.js";
import type { OnConflict } from "../../src/query/plan/change-plans.js";
import type { OutputColumn, Plan } from "../../src/query/plan/plan.js";
import { BYTEA, INT4, TEXT, type Value } from "../../src/values/values.js";
import { col, filter, int, isNull, join, newColumn, op, project, scan, table, text } from "./plan-builder.js";
import { Database, insertFrom, insertPlan } from "./run-plans.js";

const T = table({
  id: 7,
  name: "t",
  columns: [
    ["id", INT4, "not null"],
    ["a", INT4],
    ["b", TEXT],
  ],
  primaryKey: ["id"],
  indexes: [
    { name: "t_a_key", columns: ["a"], unique: true },
    { name: "t_b_idx", columns: ["b"] },
  ],
});

const columnExpr = ({ id, type, name }: OutputColumn): Expr => ({ kind: "column", id, type, name });

/** UPDATE t SET … [FROM other] WHERE …; `set` gets the old row's columns by name. */
function update(
  def: TableDef,
  set: (old: (name: string) => Expr) => Readonly<Record<string, Expr>>,
  where: ((old: (name: string) => Expr) => Expr) | null = null,
  from: Plan | null = null,
): Extract<Plan, { kind: "update" }> {
  const rowKey = newColumn("key", BYTEA);
  const target = scan(def, def.name, rowKey);
  const old = (name: string) => col(target, name);
  let input: Plan = from === null ? target : join("inner", target, from, null);
  if (where !== null) input = filter(input, where(old));
  if (from !== null) {
    const columns = [...target.columns.slice(0, -1), ...from.columns, rowKey];
    input = { kind: "project", input, exprs: columns.map(columnExpr), columns };
  }
  const rowColumns = def.columns.map((column) => newColumn(column.name, column.type));
  return {
    kind: "update",
    table: def,
    input,
    oldColumns: target.columns.slice(0, -1),
    rowKey: rowKey.id,
    assignments: Object.entries(set(old)).map(([name, expr]) => ({
      columnId: def.columns.find((column) => column.name === name)!.id,
      expr,
    })),
    rowColumns,
    checks: [],
    returning: { rowColumns, exprs: rowColumns.map(columnExpr) },
    columns: rowColumns,
  };
}

function remove(def: TableDef, where: ((old: (name: string) => Expr) => Expr) | null = null): Plan {
  const rowKey = newColumn("key", BYTEA);
  const target = scan(def, def.name, rowKey);
  const oldColumns = target.columns.slice(0, -1);
  const input =
    where === null
      ? target
      : filter(
          target,
          where((name) => col(target, name)),
        );
  const returning = { rowColumns: oldColumns, exprs: oldColumns.slice(0, 1).map(columnExpr) };
  return {
    kind: "delete",
    table: def,
    input,
    rowKey: rowKey.id,
    oldColumns,
    returning,
    columns: oldColumns.slice(0, 1),
  };
}

function all(database: Database, def: TableDef) {
  return database.rows(scan(def));
}

/** Ids of the rows under an index's entries, in its order: shows stale and missing entries. */
function through(database: Database, def: TableDef, index: IndexDef): Value[] {
  const read = scan(def);
  const plan: Plan = {
    kind: "indexscan",
    table: def,
    alias: def.name,
    source: [0],
    columns: [read.columns[0]!],
    index,
    prefix: [],
    keySets: null,
    lower: null,
    upper: null,
    filter: null,
    reverse: false,
    rowKey: null,
  };
  return database.rows(plan).map((row) => row[0]!);
}

/** Entries that the index really has, counted in storage. */
function entries(database: Database, def: TableDef, index: IndexDef): number {
  const context = database.context();
  const savepoint = database.tx.savepoint();
  let deleted = 0;
  const counting = { ...context, tx: { scan: context.tx.scan.bind(context.tx), delete: () => void deleted++ } };
  retireIndexData(counting as never, def, index);
  database.tx.rollbackTo(savepoint);
  return deleted;
}

t.test("insert stores rows in the order of the key, and refuses what constraints forbid", async (t) => {
  const database = await Database.open(t);
  const result = database.result(
    insertPlan(T, [
      [2, 20, "x"],
      [1, 10, null],
    ]),
  );
  t.equal(result.rowsAffected, 2);
  t.strictSame(all(database, T), [
    [1, 10, null],
    [2, 20, "x"],
  ]);
  t.match(database.errorOf(insertPlan(T, [[2, 30, "y"]])), {
    code: "constraint_violation",
    message: 'duplicate key value violates unique constraint "t_pkey"',
    details: { sqlstate: "23505", detail: "Key (id)=(2) already exists.", constraint: "t_pkey" },
  });
  t.match(database.errorOf(insertPlan(T, [[3, 20, "y"]])), {
    message: 'duplicate key value violates unique constraint "t_a_key"',
    details: { detail: "Key (a)=(20) already exists." },
  });
  t.match(database.errorOf(insertPlan(T, [[null, 1, "y"]])), {
    message: 'null value in column "id" of relation "t" violates not-null constraint',
    details: { sqlstate: "23502", detail: "Failing row contains (null, 1, y).", column: "id" },
  });
});

t.test("NULLs are distinct in a unique index", async (t) => {
  const database = await Database.open(t);
  database.insert(T, [
    [1, null, "x"],
    [2, null, "x"],
  ]);
  t.strictSame(through(database, T, T.indexes[0]!), [1, 2]);
  t.strictSame(through(database, T, T.indexes[1]!), [1, 2]);
  database.result(remove(T, (old) => op(old("id"), "=", int(1))));
  t.strictSame(through(database, T, T.indexes[0]!), [2]);
});

t.test("a check fails on false, not on NULL", async (t) => {
  const database = await Database.open(t);
  const plan = insertPlan(T, [
    [1, null, "x"],
    [2, -1, "y"],
  ]);
  const a = columnExpr(plan.rowColumns[1]!);
  const error = database.errorOf({ ...plan, checks: [{ name: "t_a_check", predicate: op(a, ">", int(0)) }] });
  t.match(error, {
    message: 'new row for relation "t" violates check constraint "t_a_check"',
    details: { sqlstate: "23514", detail: "Failing row contains (2, -1, y)." },
  });
});

t.test("update changes rows, their keys and their index entries", async (t) => {
  const database = await Database.open(t);
  database.insert(T, [
    [1, 10, "x"],
    [2, 20, "y"],
    [3, 30, "z"],
  ]);
  const changed = database.result(
    update(
      T,
      () => ({ id: int(9), b: text("a") }),
      (old) => op(old("id"), "=", int(2)),
    ),
  );
  t.strictSame(changed.rows, [[9, 20, "a"]]);
  t.equal(changed.rowsAffected, 1);
  t.strictSame(all(database, T), [
    [1, 10, "x"],
    [3, 30, "z"],
    [9, 20, "a"],
  ]);
  t.strictSame(through(database, T, T.indexes[0]!), [1, 9, 3]);
  t.strictSame(through(database, T, T.indexes[1]!), [9, 1, 3]);
  t.equal(entries(database, T, T.indexes[0]!), 3);
  t.equal(entries(database, T, T.indexes[1]!), 3);
});

t.test("unique keys are checked against the statement's result", async (t) => {
  const database = await Database.open(t);
  database.insert(T, [
    [1, 1, "x"],
    [2, 2, "y"],
    [3, 3, "z"],
  ]);
  const shift = update(T, (old) => ({ id: op(old("id"), "+", int(1)), a: op(old("a"), "-", int(1)) }));
  t.equal(database.result(shift).rowsAffected, 3);
  t.strictSame(all(database, T), [
    [2, 0, "x"],
    [3, 1, "y"],
    [4, 2, "z"],
  ]);
  t.strictSame(through(database, T, T.indexes[0]!), [2, 3, 4]);
  const same = update(T, () => ({ id: int(5) }));
  t.equal(database.errorOf(same).details?.detail, "Key (id)=(5) already exists.");
  const taken = update(
    T,
    () => ({ a: int(0) }),
    (old) => op(old("id"), "=", int(3)),
  );
  t.equal(database.errorOf(taken).details?.detail, "Key (a)=(0) already exists.");
});

t.test("an update does not see its own rows, whatever the size of batches", async (t) => {
  const database = await Database.open(t);
  const rows = Array.from({ length: 3000 }, (_, i): [number, number, string] => [i, i, "r"]);
  database.insert(T, rows);
  const shift = update(T, (old) => ({ id: op(old("id"), "+", int(1)) }));
  const options = { batchRows: 7, shouldYield: () => true, yieldTurn: () => Promise.resolve() };
  t.equal((await database.start(shift, options)).rowsAffected, 3000);
  t.strictSame(
    all(database, T).map((row) => row[0]),
    rows.map(([id]) => id + 1),
  );
});

t.test("UPDATE … FROM changes a row once", async (t) => {
  const database = await Database.open(t);
  database.insert(T, [[1, 10, "x"]]);
  const others: Plan = {
    kind: "values",
    columns: [newColumn("v", INT4)],
    rows: [[int(5)], [int(6)]],
  };
  const plan = update(T, () => ({ a: col(others, "v") }), null, others);
  const result = database.result({
    ...plan,
    returning: { ...plan.returning!, exprs: [columnExpr(plan.rowColumns[1]!), col(others, "v")] },
    columns: [plan.rowColumns[1]!, newColumn("v", INT4)],
  });
  t.strictSame(result.rows, [[5, 5]]);
  t.equal(result.rowsAffected, 1);
});

t.test("delete removes rows and entries, and returns what was there", async (t) => {
  const database = await Database.open(t);
  database.insert(T, [
    [1, 10, "x"],
    [2, 20, null],
    [3, null, "z"],
  ]);
  const result = database.result(remove(T, (old) => isNull(old("b"))));
  t.strictSame(result.rows, [[2]]);
  t.equal(result.rowsAffected, 1);
  t.equal(database.result(remove(T)).rowsAffected, 2);
  t.strictSame(all(database, T), []);
  for (const index of T.indexes) t.equal(entries(database, T, index), 0);
});

t.test("INSERT … SELECT from the same table", async (t) => {
  const database = await Database.open(t);
  database.insert(T, [
    [1, 1, "x"],
    [2, 2, "x"],
  ]);
  const source = scan(T);
  const shifted = project(source, {
    id: op(col(source, "id"), "+", int(10)),
    a: op(col(source, "a"), "+", int(10)),
    b: col(source, "b"),
  });
  t.equal(database.result(insertFrom(T, shifted), { batchRows: 1 }).rowsAffected, 2);
  t.strictSame(
    all(database, T).map((row) => row[0]),
    [1, 2, 11, 12],
  );
});

t.test("ON CONFLICT", async (t) => {
  const database = await Database.open(t);
  database.insert(T, [
    [1, 10, "x"],
    [2, 20, "y"],
  ]);
  const existing = T.columns.map((column) => newColumn(column.name, column.type));
  const excluded = T.columns.map((column) => newColumn(column.name, column.type));
  const nothing: OnConflict = { index: null, action: "nothing", existing, excluded, assignments: [], where: null };
  const insert = (rows: Value[][], onConflict: OnConflict) => {
    const plan = insertPlan(T, rows);
    const returning = { rowColumns: plan.rowColumns, exprs: plan.rowColumns.map(columnExpr) };
    return { ...plan, onConflict, returning, columns: plan.rowColumns };
  };
  const ignored = database.result(
    insert(
      [
        [1, 11, "n"],
        [3, 20, "n"],
        [4, 40, "new"],
        [4, 41, "again"],
      ],
      nothing,
    ),
  );
  t.strictSame(ignored.rows, [[4, 40, "new"]]);
  t.equal(ignored.rowsAffected, 1);
  t.match(database.errorOf(insert([[9, 20, "n"]], { ...nothing, index: "primary key" })), {
    message: 'duplicate key value violates unique constraint "t_a_key"',
  });
  const upsert: OnConflict = {
    ...nothing,
    index: "primary key",
    action: "update",
    assignments: [
      { columnId: 1, expr: op(columnExpr(existing[1]!), "+", columnExpr(excluded[1]!)) },
      { columnId: 2, expr: columnExpr(excluded[2]!) },
    ],
    where: op(columnExpr(existing[0]!), "<", int(4)),
  };
  const merged = database.result(
    insert(
      [
        [1, 5, "m"],
        [4, 5, "m"],
        [5, 50, "m"],
      ],
      upsert,
    ),
  );
  t.strictSame(merged.rows, [
    [1, 15, "m"],
    [5, 50, "m"],
  ]);
  t.strictSame(all(database, T), [
    [1, 15, "m"],
    [2, 20, "y"],
    [4, 40, "new"],
    [5, 50, "m"],
  ]);
  t.strictSame(through(database, T, T.indexes[0]!), [1, 2, 4, 5]);
  t.equal(
    database.errorOf(
      insert(
        [
          [1, 1, "p"],
          [1, 2, "q"],
        ],
        upsert,
      ),
    ).details?.sqlstate,
    "21000",
  );
});

t.test("rows without a primary key", async (t) => {
  const database = await Database.open(t);
  const heap = table({ id: 9, name: "heap", columns: [["a", INT4]], indexes: [{ name: "heap_a", columns: ["a"] }] });
  database.insert(heap, [[1], [1], [2]]);
  database.commit();
  const savepoint = database.tx.savepoint();
  database.insert(heap, [[3]]);
  database.tx.rollbackTo(savepoint);
  database.insert(heap, [[4]]);
  t.strictSame(all(database, heap), [[1], [1], [2], [4]]);
  t.strictSame(through(database, heap, heap.indexes[0]!), [1, 1, 2, 4]);
  database.commit();
  const restarted = database.newRowNumbers();
  t.equal(restarted.next(1, heap.id), 6, "goes on after the highest row number in storage");
  t.equal(restarted.next(2, heap.id), 1, "another tenant's table");
  const other = database.shard.begin();
  database.insert(heap, [[5]]);
  database.result(insertPlan(heap, [[6]]), { tx: other });
  other.commit();
  database.commit();
  t.strictSame(all(database, heap), [[1], [1], [2], [4], [5], [6]], "the rows of both transactions");
});

t.test("the entries of a new index", async (t) => {
  const database = await Database.open(t);
  const bare = { ...T, indexes: [] };
  database.insert(bare, [
    [1, 5, "x"],
    [2, 5, "y"],
    [3, null, "z"],
  ]);
  const [unique, plain] = T.indexes;
  backfillIndex(database.context(), bare, plain!);
  t.strictSame(through(database, T, plain!), [1, 2, 3]);
  t.throws(() => void backfillIndex(database.context(), bare, unique!), {
    message: 'could not create unique index "t_a_key"',
  });
  const turns = { shouldYield: () => true, yieldTurn: () => Promise.resolve() };
  await dropTableData(database.context(turns), T);
  t.strictSame(all(database, T), []);
  t.equal(entries(database, T, plain!), 0);
});

t.test("a statement's rows of two batches with the same key", async (t) => {
  const database = await Database.open(t);
  const rows = Array.from({ length: 1500 }, (_, i): Value[] => [i === 1400 ? 3 : i, null, null]);
  t.equal(database.errorOf(insertPlan(T, rows)).details?.detail, "Key (id)=(3) already exists.");
});
