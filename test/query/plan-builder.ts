/** Plans by hand, for tests of operators and rules below the SQL binder. Column ids are counted up over one file. */
import type { IndexDef, TableDef } from "../../src/catalog/table.js";
import type { AggregateFunction, ColumnExpr, Expr, ScalarFunction, SubqueryExpr } from "../../src/query/expr/expr.js";
import { AGGREGATE_TABLE } from "../../src/query/expr/functions/aggregates.js";
import { ARITHMETIC } from "../../src/query/expr/functions/arithmetic.js";
import { COMPARISONS } from "../../src/query/expr/functions/comparison.js";
import type { AggregateCall, JoinType, OutputColumn, Plan, SortKey } from "../../src/query/plan/plan.js";
import { joinColumns, outerColumnsOf } from "../../src/query/plan/walk.js";
import { BOOL, INT4, INT8, type SqlType, TEXT, type Value } from "../../src/values/values.js";

let nextId = 1;

export const newColumn = (name: string, type: SqlType, nullable = true): OutputColumn => ({
  id: nextId++,
  name,
  type,
  nullable,
});

// ---- tables ----

interface TableSpec {
  readonly id: number;
  readonly name: string;
  /** Column ids are the positions. */
  readonly columns: readonly (readonly [name: string, type: SqlType, notNull?: "not null"])[];
  readonly primaryKey?: readonly string[];
  readonly indexes?: readonly {
    name: string;
    columns: readonly string[];
    include?: readonly string[];
    unique?: true;
    descending?: true;
  }[];
  readonly checks?: readonly string[];
}

export function table(spec: TableSpec): TableDef {
  const idOf = (name: string) => spec.columns.findIndex((column) => column[0] === name);
  return {
    id: spec.id,
    schema: "public",
    name: spec.name,
    columns: spec.columns.map(([name, type, notNull], id) => ({
      id,
      name,
      type,
      notNull: notNull !== undefined,
      defaultSql: null,
      missingSql: null,
      identity: null,
    })),
    primaryKey: spec.primaryKey?.map(idOf) ?? null,
    primaryKeyName: spec.primaryKey === undefined ? null : `${spec.name}_pkey`,
    indexes: (spec.indexes ?? []).map(
      (index, i): IndexDef => ({
        id: spec.id * 100 + i,
        name: index.name,
        kind: "btree",
        unique: index.unique === true,
        constraint: index.unique === true ? "unique" : null,
        columns: index.columns.map((name) => ({
          columnId: idOf(name),
          descending: index.descending === true,
          nullsFirst: index.descending === true,
        })),
        ...(index.include && { include: index.include.map(idOf), storesIncluded: true }),
      }),
    ),
    checks: [],
    nextColumnId: spec.columns.length,
    createdAt: 0,
  };
}

// ---- expressions ----

export const int = (value: number | null): Expr => ({ kind: "const", type: INT4, value });
export const big = (value: Value): Expr => ({ kind: "const", type: INT8, value });
export const text = (value: string | null): Expr => ({ kind: "const", type: TEXT, value });
export const bool = (value: boolean | null): Expr => ({ kind: "const", type: BOOL, value });
export const param = (index: number, type: SqlType): Expr => ({ kind: "param", index, type });
export const and = (...args: Expr[]): Expr => ({ kind: "and", type: BOOL, args });
export const or = (...args: Expr[]): Expr => ({ kind: "or", type: BOOL, args });
export const not = (input: Expr): Expr => ({ kind: "not", type: BOOL, input });
export const isNull = (input: Expr, negated = false): Expr => ({ kind: "isnull", type: BOOL, input, negated });

export function overload(symbol: string, ...types: SqlType[]): ScalarFunction {
  const found = [...COMPARISONS, ...ARITHMETIC].find(
    (fn) => fn.operator === symbol && fn.args.length === types.length && fn.args.every((arg, i) => arg === types[i]),
  );
  if (found === undefined) throw new Error(`no operator ${types.map((type) => type.name).join(` ${symbol} `)}`);
  return found;
}

export function op(a: Expr, symbol: string, b: Expr): Expr {
  const fn = overload(symbol, a.type, b.type);
  return { kind: "call", type: fn.returns, fn, args: [a, b] };
}

export function inList(input: Expr, items: readonly Expr[], negated = false): Expr {
  return { kind: "in", type: BOOL, input, items, equals: overload("=", input.type, items[0]!.type), negated };
}

export const RANDOM: Expr = {
  kind: "call",
  type: BOOL,
  fn: { name: "coin", args: [], returns: BOOL, volatility: "volatile", strict: true, apply: () => true },
  args: [],
};

export function subquery(
  form: SubqueryExpr["form"],
  plan: Plan,
  compare: { input: Expr; symbol: string } | null = null,
): SubqueryExpr {
  const { type } = plan.columns[0] ?? { type: BOOL };
  return {
    kind: "subquery",
    form,
    plan,
    type: form === "scalar" ? type : BOOL,
    outer: [...outerColumnsOf(plan)],
    input: compare?.input ?? null,
    compare: compare && overload(compare.symbol, compare.input.type, type),
  };
}

// ---- plans ----

/** The plan's column of that name; of the table alias, for `alias.name` over a join. */
export function col(plan: Plan, name: string): ColumnExpr {
  const column = plan.columns.find((candidate) => candidate.name === name);
  if (column === undefined) throw new Error(`no column ${name}`);
  return { kind: "column", id: column.id, type: column.type, name };
}

export function scan(def: TableDef, alias = def.name, rowKey: OutputColumn | null = null): Plan {
  const columns = def.columns.map((column) => newColumn(column.name, column.type, !column.notNull));
  return {
    kind: "scan",
    table: def,
    alias,
    source: def.columns.map((column) => column.id),
    filter: null,
    reverse: false,
    rowKey: rowKey?.id ?? null,
    columns: rowKey === null ? columns : [...columns, rowKey],
  };
}

export function values(columns: readonly (readonly [string, SqlType])[], rows: readonly (readonly Value[])[]): Plan {
  return {
    kind: "values",
    columns: columns.map(([name, type]) => newColumn(name, type)),
    rows: rows.map((row) => row.map((value, i): Expr => ({ kind: "const", type: columns[i]![1], value }))),
  };
}

export const filter = (input: Plan, predicate: Expr): Plan => ({
  kind: "filter",
  input,
  predicate,
  columns: input.columns,
});

export function project(input: Plan, exprs: Readonly<Record<string, Expr>>): Plan {
  const entries = Object.entries(exprs);
  return {
    kind: "project",
    input,
    exprs: entries.map(([, expr]) => expr),
    columns: entries.map(([name, expr]) => newColumn(name, expr.type)),
  };
}

export function join(type: JoinType, left: Plan, right: Plan, condition: Expr | null): Plan {
  const made = new Set(left.columns.map((column) => column.id));
  const lateral = [...outerColumnsOf(right)].some((id) => made.has(id));
  return { kind: "join", type, left, right, condition, lateral, columns: joinColumns(type, left, right) };
}

export function hashJoin(
  type: JoinType,
  left: Plan,
  right: Plan,
  on: readonly [Expr, Expr],
  residual: Expr | null,
): Plan {
  const columns = joinColumns(type, left, right);
  return { kind: "hashjoin", type, left, right, leftKeys: [on[0]], rightKeys: [on[1]], residual, columns };
}

export const asc = (expr: Expr, nullsFirst = false): SortKey => ({ expr, descending: false, nullsFirst });
export const desc = (expr: Expr, nullsFirst = true): SortKey => ({ expr, descending: true, nullsFirst });

export const sort = (input: Plan, ...keys: SortKey[]): Plan => ({ kind: "sort", input, keys, columns: input.columns });

export const limit = (input: Plan, rows: Expr | null, offset: Expr | null = null): Plan => ({
  kind: "limit",
  input,
  limit: rows,
  offset,
  columns: input.columns,
});

export const distinct = (input: Plan, on: readonly Expr[] | null = null): Plan => ({
  kind: "distinct",
  input,
  on,
  columns: input.columns,
});

export function setOp(op: "union" | "intersect" | "except", all: boolean, left: Plan, right: Plan): Plan {
  return { kind: "setop", op, all, left, right, columns: left.columns.map(({ name, type }) => newColumn(name, type)) };
}

type Call = Partial<AggregateCall> & { readonly fn: AggregateFunction };

export function aggregateFunction(name: string, ...types: SqlType[]): AggregateFunction {
  const found = AGGREGATE_TABLE.find(
    (fn) => fn.name === name && fn.args.length === types.length && fn.args.every((arg, i) => arg === types[i]),
  );
  if (found === undefined) throw new Error(`no aggregate ${name}`);
  return found;
}

export function aggregate(
  input: Plan,
  groups: Readonly<Record<string, Expr>>,
  calls: Readonly<Record<string, Call>>,
): Plan {
  const all = Object.values(calls).map(
    (call): AggregateCall => ({ args: [], distinct: false, filter: null, orderBy: [], ...call }),
  );
  return {
    kind: "aggregate",
    input,
    groups: Object.values(groups),
    calls: all,
    columns: [
      ...Object.entries(groups).map(([name, expr]) => newColumn(name, expr.type)),
      ...Object.keys(calls).map((name, i) => newColumn(name, all[i]!.fn.returns)),
    ],
  };
}
