/**
 * Takes out what nobody reads: left joins that add nothing (useless-join.ts), columns of scans (which then are not
 * decoded), expressions of projections, aggregate calls, projections that only hand on. Runs top-down with the set of
 * columns that the parent reads. Where columns are taken by position (the result, INSERT, set operations) a projection
 * restores exactly those.
 */

import { recordOf } from "../../values/values.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import { columnsOf, isVolatile } from "../expr/walk.js";
import type { Returning } from "../plan/change-plans.js";
import { columnExpr } from "../plan/column-expr.js";
import type { EdgeColumns, ExpandPathPlan, ExpandPlan, GraphWritePlan } from "../plan/graph-plans.js";
import type {
  AppendPlan,
  CommonTable,
  DeferredPlan,
  OutputColumn,
  Plan,
  PointGetPlan,
  ProjectPlan,
  ScanPlan,
  SetOpPlan,
  TableFunctionPlan,
  WindowPlan,
  WithPlan,
} from "../plan/plan.js";
import { childrenOf, exprsOfPlan, outerColumnsOf, withChildren } from "../plan/walk.js";
import { type Rule, withColumns } from "./rule.js";
import { walkStatement } from "./share-subplans.js";
import { isUselessJoin } from "./useless-join.js";

export const pruneColumns: Rule = {
  name: "prune-columns",
  places: [370, 600],
  apply: (plan) => withColumns(prune(plan, idsOf(plan.columns)), plan.columns),
};

type Ids = ReadonlySet<ColumnId>;

/** The plan without columns that are not in `needed`, as far as it can leave them out. */
function prune(plan: Plan, needed: Ids): Plan {
  switch (plan.kind) {
    case "scan":
    case "pointget":
    case "indexscan":
      return pruneTable(plan, needed);
    case "textsearch": {
      if (plan.rowKey !== null) return plan;
      const conditions = [plan.filter, plan.visible ?? null].filter((expr) => expr !== null);
      const read = new Set([...needed, ...conditions.flatMap((expr) => [...columnsOf(expr)])]);
      const kept = indexesOf(plan.columns.slice(0, -1), read);
      if (kept.length === plan.source.length) return plan;
      const columns = [...pick(plan.columns, kept), plan.columns.at(-1)!];
      return Object.freeze({ ...plan, columns, source: pick(plan.source, kept) });
    }
    case "values": {
      const kept = indexesOf(plan.columns, needed);
      if (kept.length === plan.columns.length) return plan;
      return Object.freeze({
        ...plan,
        columns: pick(plan.columns, kept),
        rows: plan.rows.map((row) => pick(row, kept)),
      });
    }
    case "tablefunction":
      return pruneFunction(plan, needed);
    case "projectset": {
      // Every call stays: together they decide how many rows there are.
      const own = new Set(plan.columns.slice(-plan.calls.length).map(({ id }) => id));
      const read = withExprs(plan, new Set([...needed].filter((id) => !own.has(id))));
      return withChildren(plan, [prune(plan.input, read)]);
    }
    case "deferred":
      return pruneDeferred(plan, needed);
    case "project":
      return pruneProject(plan, needed);
    case "expand":
    case "expandpath":
      return pruneExpand(plan, needed);
    case "aggregate":
      return pruneAggregate(plan, needed);
    case "window":
      return pruneWindow(plan, needed);
    case "join":
    case "hashjoin":
    case "mergejoin": {
      if (plan.kind === "join" && isUselessJoin(plan, needed)) return prune(plan.left, needed);
      const read = withExprs(plan, needed);
      const lateral = plan.kind === "join" && plan.lateral;
      const left = lateral ? new Set([...read, ...outerColumnsOf(plan.right)]) : read;
      return withChildren(plan, [prune(plan.left, left), prune(plan.right, read)]);
    }
    case "distinct":
      // DISTINCT compares whole rows: all columns are needed, and no other may join them.
      if (plan.on === null) return withChildren(plan, [positional(plan.input)]);
      return withChildren(plan, [prune(plan.input, withExprs(plan, needed))]);
    case "setop":
      return pruneSetOp(plan, needed);
    case "append":
      return pruneAppend(plan, needed);
    case "commonscan": {
      const kept = indexesOf(plan.columns, needed);
      if (plan.table.working || kept.length === plan.columns.length) return plan;
      return Object.freeze({
        ...plan,
        columns: pick(plan.columns, kept),
        source: plan.source ? pick(plan.source, kept) : kept,
      });
    }
    case "recursive":
      return withChildren(plan, [positional(plan.left), positional(plan.right)]);
    case "with": {
      if (plan.sequential) return pruneClauses(plan, needed);
      const tables = plan.tables.map((definition) => positional(definition.plan));
      return withChildren(plan, [...tables, prune(plan.input, needed)]);
    }
    case "insert":
      return withChildren(plan, [positional(plan.input)]);
    case "update": {
      // Rows of several tables are read again as their own table has them.
      const read = withExprs(plan, plan.heirs === undefined ? idsOf(plan.oldColumns) : new Set());
      return withChildren(plan, [prune(plan.input, read.add(plan.rowKey))]);
    }
    case "merge": {
      const read = new Set([...withExprs(plan, idsOf(plan.oldColumns)), plan.rowKey, plan.inSource]);
      return withChildren(plan, [prune(plan.input, read)]);
    }
    case "delete":
      return withChildren(plan, [prune(plan.input, readByDelete(plan))]);
    case "graphwrite":
      return pruneGraphWrite(plan, needed);
    default:
      return withChildren(plan, [prune(childrenOf(plan)[0]!, withExprs(plan, needed))]);
  }
}

function idsOf(columns: readonly OutputColumn[]): Set<ColumnId> {
  return new Set(columns.map((column) => column.id));
}

function withExprs(plan: Plan, needed: Ids): Set<ColumnId> {
  const ids = new Set(needed);
  for (const expr of exprsOfPlan(plan)) for (const id of columnsOf(expr)) ids.add(id);
  return ids;
}

function indexesOf(columns: readonly OutputColumn[], needed: Ids): number[] {
  return columns.flatMap((column, i) => (needed.has(column.id) ? [i] : []));
}

function pick<T>(items: readonly T[], indexes: readonly number[]): T[] {
  return indexes.map((i) => items[i]!);
}

/** An input whose columns are taken by position: all of them, in order. */
function positional(plan: Plan): Plan {
  return withColumns(prune(plan, idsOf(plan.columns)), plan.columns);
}

/** What MERGE finds is taken by position. An entity is shown as it has become by its id. */
function pruneGraphWrite(plan: GraphWritePlan, needed: Ids): Plan {
  const [input, ...matches] = childrenOf(plan) as [Plan, ...Plan[]];
  const read = withExprs(plan, needed);
  for (const match of matches) for (const id of outerColumnsOf(match)) read.add(id);
  for (const entity of [...plan.nodes, ...plan.edges]) {
    if (Object.values(entity).some(({ id }: OutputColumn) => read.has(id))) read.add(entity.id.id);
  }
  const kept = input.columns.filter(({ id }) => read.has(id));
  const pruned = withChildren(plan, [withColumns(prune(input, idsOf(kept)), kept), ...matches.map(positional)]);
  // What it makes and nobody reads need not be kept row by row.
  return needed.size > 0 || pruned.columns.length === 0 ? pruned : Object.freeze({ ...pruned, columns: [] });
}

/** Of a statement in Cypher that writes: each clause hands on what those after it read. */
function pruneClauses(plan: WithPlan, needed: Ids): Plan {
  const read = new Map<CommonTable, Set<number>>();
  const noteReads = (part: Plan): void =>
    walkStatement(part, (node) => {
      if (node.kind !== "commonscan") return;
      const places = read.get(node.table) ?? new Set();
      read.set(node.table, places);
      for (let i = 0; i < node.columns.length; i++) places.add(node.source?.[i] ?? i);
    });
  const input = prune(plan.input, needed);
  noteReads(input);
  const clauses: Plan[] = [];
  for (const { table, plan: clause } of plan.tables.toReversed()) {
    const pruned = pruneClause(clause, read.get(table) ?? null);
    noteReads(pruned);
    clauses.unshift(pruned);
  }
  return withChildren(plan, [...clauses, input]);
}

/** Columns that nobody reads are NULL, so that the others keep their places. `places`: null: nobody reads any. */
function pruneClause(plan: Plan, places: ReadonlySet<number> | null): Plan {
  if (places === null) return prune(plan, new Set());
  const { columns } = plan;
  if (places.size === columns.length) return positional(plan);
  const read = columns.filter((_, i) => places.has(i));
  const exprs = columns.map((column, i): Expr => {
    return places.has(i) ? columnExpr(column) : { kind: "const", type: column.type, value: null };
  });
  return Object.freeze({ kind: "project", input: prune(plan, idsOf(read)), exprs, columns });
}

/** Of a function that finds its columns by their names. */
function pruneFunction(plan: TableFunctionPlan, needed: Ids): Plan {
  const [call] = plan.calls;
  if (plan.calls.length > 1 || plan.ordinality || call?.fn.readsColumns !== true) return plan;
  const kept = indexesOf(plan.columns, needed);
  if (kept.length === plan.columns.length) return plan;
  const shape = recordOf(pick(call.shape.fields!, kept));
  return Object.freeze({ ...plan, columns: pick(plan.columns, kept), calls: [{ ...call, shape }] });
}

function pruneTable(plan: Extract<Plan, { kind: "scan" | "pointget" | "indexscan" }>, needed: Ids): Plan {
  const read = plan.filter === null ? needed : new Set([...needed, ...columnsOf(plan.filter)]);
  if (plan.kind === "scan" && plan.nearest?.distance !== undefined) return pruneMeasured(plan, read);
  const kept = indexesOf(plan.columns, read);
  if (kept.length === plan.columns.length && plan.kind !== "pointget") return plan;
  const hasRowKey = plan.rowKey !== null && read.has(plan.rowKey);
  const columns = pick(plan.columns, kept);
  const source = pick(plan.source, hasRowKey ? kept.slice(0, -1) : kept);
  const pruned = { ...plan, columns, source, rowKey: hasRowKey ? plan.rowKey : null };
  if (plan.kind !== "pointget") return Object.freeze(pruned);
  return Object.freeze({ ...pruned, filterOnly: new Set([...read].filter((id) => !needed.has(id))) } as PointGetPlan);
}

/** The distance behind the table's columns stays. */
function pruneMeasured(plan: ScanPlan, read: Ids): Plan {
  const kept = indexesOf(plan.columns.slice(0, -1), read);
  if (kept.length === plan.source.length) return plan;
  const columns = [...pick(plan.columns, kept), plan.columns.at(-1)!];
  return Object.freeze({ ...plan, columns, source: pick(plan.source, kept) });
}

/** Volatile calls are made even if nobody reads their results. */
function pruneDeferred(plan: DeferredPlan, needed: Ids): Plan {
  const made = plan.columns.slice(-plan.calls.length);
  const kept = plan.calls.flatMap(({ expr }, i) =>
    needed.has(made[i]!.id) || plan.keeps || isVolatile(expr) ? [i] : [],
  );
  if (kept.length === 0) return prune(plan.input, needed);
  const own = new Set(made.map(({ id }) => id));
  const columns = [...plan.input.columns, ...pick(made, kept)];
  const trimmed =
    kept.length === made.length ? plan : Object.freeze({ ...plan, calls: pick(plan.calls, kept), columns });
  const read = withExprs(trimmed, new Set([...needed].filter((id) => !own.has(id))));
  return withChildren(trimmed, [prune(plan.input, read)]);
}

function pruneProject(plan: ProjectPlan, needed: Ids): Plan {
  const kept = plan.columns.flatMap((column, i) => (needed.has(column.id) || isVolatile(plan.exprs[i]!) ? [i] : []));
  const whole = kept.length === plan.columns.length;
  const trimmed = whole
    ? plan
    : Object.freeze({ ...plan, columns: pick(plan.columns, kept), exprs: pick(plan.exprs, kept) });
  const input = prune(plan.input, withExprs(trimmed, new Set()));
  return passesOn(trimmed, input) ? input : withChildren(trimmed, [input]);
}

/** True when the projection hands on just what it gets. */
function passesOn(plan: ProjectPlan, input: Plan): boolean {
  if (plan.exprs.length !== input.columns.length) return false;
  return plan.exprs.every((expr, i) => {
    const { id } = input.columns[i]!;
    return expr.kind === "column" && expr.id === id && plan.columns[i]!.id === id;
  });
}

/** An expand that nobody reads anything of still gives its rows. */
function pruneExpand(plan: ExpandPlan | ExpandPathPlan, needed: Ids): Plan {
  const own = plan.columns.slice(plan.input.columns.length);
  const kept = own.filter(({ id }) => needed.has(id));
  const other = plan.other !== null && needed.has(plan.other.id) ? plan.other : null;
  const trimmed: ExpandPlan | ExpandPathPlan =
    kept.length === own.length
      ? plan
      : Object.freeze({
          ...plan,
          ...(plan.kind === "expand" && { edge: pickEdge(plan.edge, needed) }),
          other,
          columns: [...plan.input.columns, ...kept],
        });
  return withChildren(trimmed, [prune(plan.input, withExprs(trimmed, needed))]);
}

function pickEdge(edge: Partial<EdgeColumns>, needed: Ids): Partial<EdgeColumns> {
  return Object.fromEntries(Object.entries(edge).filter(([, column]) => needed.has(column.id)));
}

function pruneAggregate(plan: Extract<Plan, { kind: "aggregate" }>, needed: Ids): Plan {
  const groups = plan.groups.length;
  const kept = plan.calls.flatMap((_, i) => (needed.has(plan.columns[groups + i]!.id) ? [i] : []));
  const trimmed =
    kept.length === plan.calls.length
      ? plan
      : Object.freeze({
          ...plan,
          calls: pick(plan.calls, kept),
          columns: [
            ...plan.columns.slice(0, groups),
            ...pick(plan.columns.slice(groups), kept),
            ...plan.columns.slice(groups + plan.calls.length),
          ],
        });
  return withChildren(trimmed, [prune(plan.input, withExprs(trimmed, new Set()))]);
}

function pruneWindow(plan: WindowPlan, needed: Ids): Plan {
  const made = plan.columns.slice(plan.columns.length - plan.calls.length);
  const kept = indexesOf(made, needed);
  if (kept.length === 0) return prune(plan.input, needed);
  const trimmed = Object.freeze({
    ...plan,
    calls: pick(plan.calls, kept),
    columns: [...plan.input.columns, ...pick(made, kept)],
  });
  return withChildren(trimmed, [prune(plan.input, withExprs(trimmed, needed))]);
}

/** UNION ALL may leave columns out on both sides; the others compare whole rows. */
function pruneSetOp(plan: SetOpPlan, needed: Ids): Plan {
  if (plan.op !== "union" || !plan.all) return withChildren(plan, [positional(plan.left), positional(plan.right)]);
  const kept = indexesOf(plan.columns, needed);
  const side = (input: Plan) => {
    const columns = pick(input.columns, kept);
    return withColumns(prune(input, idsOf(columns)), columns);
  };
  const trimmed =
    kept.length === plan.columns.length ? plan : Object.freeze({ ...plan, columns: pick(plan.columns, kept) });
  return withChildren(trimmed, [side(plan.left), side(plan.right)]);
}

function pruneAppend(plan: AppendPlan, needed: Ids): Plan {
  const own = plan.tableOid === null ? plan.columns : plan.columns.slice(0, -1);
  const kept = indexesOf(own, plan.mergeKeys === undefined ? needed : withExprs(plan, needed));
  const hasOid = plan.tableOid !== null && needed.has(plan.tableOid);
  const columns = [...pick(own, kept), ...(hasOid ? plan.columns.slice(-1) : [])];
  const trimmed =
    columns.length === plan.columns.length
      ? plan
      : Object.freeze({ ...plan, columns, tableOid: hasOid ? plan.tableOid : null });
  const inputs = plan.inputs.map((input) => {
    const wanted = pick(input.columns, kept);
    return withColumns(prune(input, idsOf(wanted)), wanted);
  });
  return withChildren(trimmed, inputs);
}

/** The row's key, what finds its index entries, and what RETURNING shows. */
function readByDelete(plan: Extract<Plan, { kind: "delete" }>): Set<ColumnId> {
  const { table, oldColumns, returning, heirs } = plan;
  const read = withExprs(plan, new Set([plan.rowKey]));
  const indexed = new Set([
    ...table.indexes.flatMap((index) => index.columns.map((column) => column.columnId)),
    ...(table.referencedBy ?? []).flatMap((reference) => reference.columns),
  ]);
  // What an expression of an index reads is not known here.
  const all =
    plan.instead || table.indexes.some((index) => index.where || index.columns.some((column) => column.expression));
  table.columns.forEach((column, i) => {
    const shown = returning !== null && readsRowColumn(returning, i, read);
    if ((heirs === undefined && (all || indexed.has(column.id))) || shown) read.add(oldColumns[i]!.id);
  });
  return read;
}

function readsRowColumn(returning: Returning, i: number, read: Ids): boolean {
  const column = returning.rowColumns[i];
  return column !== undefined && read.has(column.id);
}
