/** INSERT, with ON CONFLICT and RETURNING. */
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { ColumnId, Expr } from "../../query/expr/expr.js";
import { resolveFunction } from "../../query/expr/resolve.js";
import type { InsertPlan, OnConflict } from "../../query/plan/change-plans.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";
import { BOOL, BYTEA, OID, type SqlType } from "../../values/values.js";
import type { ConflictTarget, InsertStatement, ListedNode, OnConflictNode } from "../parse/ast.js";
import type { ColumnNode, ExprNode, QueryNode } from "../parse/ast-query.js";
import { startOf, startOfColumn } from "../parse/expr-start.js";
import { bindAssignments, withOnUpdate } from "./bind-assignments.js";
import { contextOf, type ExprContext } from "./bind-context.js";
import { bindBoolean, bindExpr } from "./bind-expr.js";
import { bindListed, type ListedSource } from "./bind-listed.js";
import { partsOf, partType, withPart } from "./bind-part-assignment.js";
import { partitioningOf } from "./bind-partition-tree.js";
import { expandStars } from "./bind-row.js";
import { bindWith } from "./bind-with.js";
import { type Binding, mayBeNull } from "./binding.js";
import { type ChangedRelation, changedRelation, notUpdatable } from "./changed-relation.js";
import {
  conflictPolicies,
  namesColumns,
  requireChanges,
  requireReads,
  requireViewed,
  withPolicies,
} from "./changed-rights.js";
import { coerceAssignment, constant } from "./coerce.js";
import { arbiterNow, noArbiter } from "./conflict-arbiter.js";
import { checkReturned, refuseRules } from "./instead-of.js";
import { Scope } from "./scope.js";
import { SetCollector } from "./set-collector.js";
import { ONE_ROW, project } from "./source.js";
import {
  addVersions,
  bindChecks,
  bindReturning,
  defaultOf,
  inOrder,
  noRow,
  rowColumnsOf,
  waitingGenerated,
} from "./stored-row.js";
import { storedColumns } from "./system-columns.js";

export function bindInsert(node: InsertStatement, binding: Binding, parent: Scope | null = null): InsertPlan {
  const scope = new Scope(parent);
  bindWith(node.with, scope, binding);
  const named = changedRelation(node.table.name, "insert", binding);
  if (node.onConflict !== null) refuseRules(named.views[0]?.view ?? named.table, "on conflict");
  // A conflict's target reads rows that are there, so the new row must be one that may be read, as in PostgreSQL.
  const reads = namesColumns(node.returning) || (node.onConflict !== null && readsKey(node.onConflict));
  const relation = withPolicies(named, "insert", reads, binding);
  const { table, face } = relation;
  if (relation.instead !== undefined) checkReturned(table, "insert", node.returning);
  const targets = targetColumns(node, relation);
  const input = bindRows(node, relation.filled, targets, scope, binding);
  requireChanges(relation, "insert", givenColumns(node, targets), binding);
  const rowColumns = rowColumnsOf(table, binding);
  const name = node.table.alias?.name ?? face.name;
  const isBranch = table.partitionKey !== undefined;
  const oid = isBranch ? binding.newColumn("tableoid", OID, false) : null;
  const onConflict =
    node.onConflict === null ? null : bindOnConflict(node.onConflict, relation, name, rowColumns, scope, binding);
  const stored = new Scope(scope);
  // What the executor gives besides, if RETURNING asks for it.
  const besides: { rowKey?: ColumnId; wasThere?: ColumnId } = {};
  const rowKey = () => (besides.rowKey ??= binding.newColumn("row key", BYTEA, false).id);
  const wasThere = (): Expr => {
    besides.wasThere ??= binding.newColumn("was there", BOOL, false).id;
    return { kind: "column", id: besides.wasThere, type: BOOL, name: "xmax" };
  };
  const updates = onConflict?.action === "update" ? wasThere : undefined;
  const row = relation.over(name, rowColumns, rowKey);
  const hidden = storedColumns(relation, name, rowColumns, rowKey, binding, updates);
  stored.items = [{ ...row.item, ...hidden, ...(oid !== null && { tableOid: columnExpr(oid) }) }];
  addVersions(stored, node.returningNames, noRow({ ...row.item, ...hidden }), { ...row.item, ...hidden });
  // Which row was there is not kept where ON CONFLICT updates it.
  if (onConflict?.action === "update") refuseOld(node, onConflict, stored);
  const { returning, columns } = bindReturning(node.returning, rowColumns, stored, binding);
  requireReads(relation, rowColumns, returning?.exprs ?? [], binding);
  if (namesColumns(node.returning)) requireViewed(named, rowColumns, binding);
  const checks = inOrder(row.checks, bindChecks(table, rowColumns, binding));
  const partitioning = {
    ...partitioningOf(table, rowColumns, binding),
    ...waitingGenerated(table, rowColumns, binding),
    ...(oid !== null && returning !== null && { tableOid: oid.id }),
    ...besides,
  };
  const plan = { kind: "insert", table, input, rowColumns, checks, returning, onConflict, columns } as const;
  return Object.freeze({ ...plan, ...partitioning, ...(relation.instead !== undefined && { instead: true as const }) });
}

/** Ids of the columns that the statement gives values; the first ones, where it lists none. */
function givenColumns({ columns, source }: InsertStatement, targets: readonly ColumnDef[]): number[] {
  if (columns !== null || source === null) return columns === null ? [] : targets.map(({ id }) => id);
  const { body } = source;
  const isListed = body.kind === "select" && body.targets.every(({ expr }) => expr.kind !== "column" || !expr.star);
  const width = body.kind === "values" ? body.rows[0]!.length : isListed ? body.targets.length : targets.length;
  return targets.slice(0, width).map(({ id }) => id);
}

/** OLD in RETURNING. Throws 0A000. */
function refuseOld(node: InsertStatement, { existing }: OnConflict, stored: Scope): void {
  const name = node.returningNames?.old ?? "old";
  if (existing.length === 0 || stored.items[0]!.name === name) return;
  const reads = (part: unknown): ColumnNode | null => {
    if (typeof part !== "object" || part === null) return null;
    const { kind, path } = part as Partial<ColumnNode>;
    if (kind === "column" && path!.length <= 2 && path![0] === name) return part as ColumnNode;
    for (const inner of Object.values(part)) {
      const found = reads(inner);
      if (found !== null) return found;
    }
    return null;
  };
  const found = reads(node.returning);
  if (found === null) return;
  throw sqlError("0A000", "OLD in RETURNING of INSERT … ON CONFLICT DO UPDATE is not supported", {
    position: found.position,
  });
}

/** Columns of the table; for a view also columns that are not the table's (id below 0) and must not get a value. */
function targetColumns(
  node: InsertStatement,
  { filled: table, face, changedColumn }: ChangedRelation,
): readonly ColumnDef[] {
  if (node.columns === null) {
    if (face === table) return table.columns;
    return face.columns.map((column) => table.columns.find(({ id }) => id === column.id) ?? column);
  }
  const columns = node.columns.map((target) => changedColumn(target, "insert"));
  columns.forEach((column, i) => {
    const first = columns.indexOf(column);
    const { position, indirection } = node.columns![i]!;
    // Parts of one column may be given one after the other.
    if (first < i && (indirection.length === 0 || node.columns![first]!.indirection.length === 0)) {
      throw sqlError("42701", `column "${column.name}" specified more than once`, { position });
    }
  });
  return columns;
}

/** A plan with one column per table column, in the table's order. */
function bindRows(
  node: InsertStatement,
  table: TableDef,
  targets: readonly ColumnDef[],
  scope: Scope,
  binding: Binding,
): Plan {
  const { source, listed } = node;
  if (listed !== undefined) return listedPlan(table, listed, targets, node, scope, binding);
  if (source === null) return valuesPlan(table, [[]], [], node, scope, binding);
  const isPlainValues =
    source.body.kind === "values" &&
    source.with === null &&
    source.orderBy.length === 0 &&
    source.limit === null &&
    source.offset === null;
  if (source.body.kind === "values" && isPlainValues) {
    return valuesPlan(table, source.body.rows, targets, node, scope, binding);
  }
  return queryPlan(table, source, targets, node, scope, binding);
}

/** Without a column list, values for the first columns are enough. */
function checkWidth(width: number, targets: readonly ColumnDef[], node: InsertStatement, position: number): void {
  if (width > targets.length) {
    throw sqlError("42601", "INSERT has more expressions than target columns", { position });
  }
  if (node.columns !== null && width < targets.length) {
    const at = node.columns[width]!.position;
    throw sqlError("42601", "INSERT has more target columns than expressions", { position: at });
  }
  const computed = targets.slice(0, width).find(({ id }) => id < 0);
  if (computed !== undefined) throw notUpdatable(node.table.name.path.at(-1)!, computed.name, "insert", position);
}

function valuesPlan(
  table: TableDef,
  lists: readonly (readonly ExprNode[])[],
  targets: readonly ColumnDef[],
  node: InsertStatement,
  scope: Scope,
  binding: Binding,
): Plan {
  // One row is a SELECT list in all but name: set-returning functions make several of it.
  const sets = lists.length === 1 ? new SetCollector() : null;
  const context = { ...contextOf(binding, scope, "VALUES"), ...(sets !== null && { sets }) };
  const nodes = lists.map((list) => expandStars(list, context, bindExpr));
  const slots = table.columns.map((column) => targets.indexOf(column));
  const width = nodes[0]!.length;
  const rows = nodes.map((row) => {
    if (row.length !== width) {
      throw sqlError("42601", "VALUES lists must all be the same length", { position: row[0]?.position ?? 0 });
    }
    if (node.source !== null) checkWidth(width, targets, node, row[targets.length]?.position ?? node.position);
    return table.columns.map((column, i) => {
      const value = row[slots[i]!];
      if (inParts(column, targets, node)) {
        return fromParts(column, targets, node, context, (t) => {
          return { value: bindExpr(row[t]!, context), position: row[t]!.position };
        });
      }
      if (value === undefined || value.kind === "default") return defaultOf(column, table, binding);
      const { position } = value;
      if (!takesValue(column, node, position)) return defaultOf(column, table, binding);
      const given = coerceAssignment(bindExpr(value, context), column, binding, startOf(value));
      return isAssigned(column, table, binding) ? orAssigned(given, column, table, binding) : given;
    });
  });
  const columns = table.columns.map((column, i) =>
    binding.newColumn(
      column.name,
      column.type,
      rows.some((row) => mayBeNull(row[i]!, binding)),
    ),
  );
  if (sets !== null && !sets.isEmpty) {
    return Object.freeze({ kind: "project", input: sets.plan(ONE_ROW), exprs: rows[0]!, columns });
  }
  return Object.freeze({ kind: "values", rows, columns });
}

/** Whether the column is of the kind to which clients give NULL for a value that they do not choose. */
function isAssigned({ id, identity }: ColumnDef, table: TableDef, { env }: Binding): boolean {
  if (identity !== "by default") return false;
  return env.catalog.sequencesOf(table).some(({ ownedBy, follows }) => ownedBy!.columnId === id && follows === true);
}

function orAssigned(given: Expr, column: ColumnDef, table: TableDef, binding: Binding): Expr {
  if (!mayBeNull(given, binding)) return given;
  if (given.kind === "const") return defaultOf(column, table, binding);
  const { fn } = resolveFunction("coalesce", [column.type, column.type]);
  return Object.freeze({ kind: "call", type: column.type, fn, args: [given, defaultOf(column, table, binding)] });
}

/** Whether a given value is stored, or passed over by OVERRIDING USER VALUE. Throws 428C9. */
export function takesValue(column: ColumnDef, node: Pick<InsertStatement, "overriding">, position: number): boolean {
  if (column.generatedSql) {
    throw sqlError("428C9", `cannot insert a non-DEFAULT value into column "${column.name}"`, {
      position,
      detail: `Column "${column.name}" is a generated column.`,
    });
  }
  if (column.identity === null) return true;
  if (node.overriding === "user") return false;
  if (column.identity === "always" && node.overriding !== "system") {
    throw sqlError("428C9", `cannot insert a non-DEFAULT value into column "${column.name}"`, {
      position,
      detail: `Column "${column.name}" is an identity column defined as GENERATED ALWAYS.`,
      hint: "Use OVERRIDING SYSTEM VALUE to override.",
    });
  }
  return true;
}

/** Whether the column list names parts of the column: `(a[1], a[2])`. */
function inParts(column: ColumnDef, targets: readonly ColumnDef[], node: InsertStatement): boolean {
  const first = node.columns?.[targets.indexOf(column)];
  return first !== undefined && first.indirection.length > 0;
}

/** A column that is put together of its parts, beginning with NULL. */
function fromParts(
  column: ColumnDef,
  targets: readonly ColumnDef[],
  node: InsertStatement,
  context: ExprContext,
  given: (target: number) => { readonly value: Expr; readonly position: number },
): Expr {
  let current: Expr = constant(column.type, null);
  targets.forEach((other, t) => {
    if (other !== column) return;
    const target = node.columns![t]!;
    current = withPart(current, { target, parts: partsOf(target), ...given(t) }, context, bindExpr);
  });
  return current;
}

function queryPlan(
  table: TableDef,
  query: QueryNode,
  targets: readonly ColumnDef[],
  node: InsertStatement,
  scope: Scope,
  binding: Binding,
): Plan {
  const expected = targets.map((column, i) => {
    const target = node.columns?.[i];
    return target === undefined ? column.type : partType(column.type, partsOf(target), target);
  });
  const source = binding.query(withBooleans(query, expected), scope, { unknowns: "text", expected });
  checkWidth(source.columns.length, targets, node, query.position);
  const given = source.columns.map((column) => columnExpr(column));
  return rowsOf({ plan: source.plan, exprs: given }, table, targets, node, scope, binding);
}

function listedPlan(
  table: TableDef,
  listed: ListedNode,
  targets: readonly ColumnDef[],
  node: InsertStatement,
  scope: Scope,
  binding: Binding,
): Plan {
  checkWidth(listed.columns.length, targets, node, node.position);
  const source = bindListed(listed, targets, binding, node.position);
  return rowsOf(source, table, targets, node, scope, binding);
}

/** The rows of a source as the table stores them; null among its expressions: the column's default. */
function rowsOf(
  { plan, exprs: given }: ListedSource,
  table: TableDef,
  targets: readonly ColumnDef[],
  node: InsertStatement,
  scope: Scope,
  binding: Binding,
): Plan {
  const source = node.source!;
  const { position } = source;
  const exprs = table.columns.map((column): Expr => {
    if (inParts(column, targets, node)) {
      const context = contextOf(binding, scope, "INSERT");
      return fromParts(column, targets, node, context, (t) => {
        return { value: given[t] ?? defaultOf(targets[t]!, table, binding), position };
      });
    }
    const expr = given[targets.indexOf(column)] ?? null;
    if (expr === null || !takesValue(column, node, position)) return defaultOf(column, table, binding);
    const start = source.kind === "query" ? startOfColumn(source, targets.indexOf(column)) : position;
    const value = coerceAssignment(expr, column, binding, start);
    return isAssigned(column, table, binding) ? orAssigned(value, column, table, binding) : value;
  });
  const names = table.columns.map((column) => column.name);
  return project(plan, exprs, names, binding).plan;
}

/** `SELECT 'a', 1` for a boolean column: the constants 0 and 1 of the list as VALUES have them. */
function withBooleans(query: QueryNode, expected: readonly SqlType[]): QueryNode {
  const { body } = query;
  if (body.kind !== "select" || !expected.includes(BOOL)) return query;
  const targets = body.targets.map((target, i) => {
    const { expr } = target;
    if (expected[i] !== BOOL || expr.kind !== "integer" || expr.value < 0 || expr.value > 1) return target;
    return { ...target, expr: { kind: "boolean", value: expr.value === 1, position: expr.position } as const };
  });
  return { ...query, body: { ...body, targets } };
}

// ---- ON CONFLICT ----

/** What a conflict tells of rows that are there. */
function arbiterColumns(index: OnConflict["index"], table: TableDef, row: OnConflict["existing"]): Expr[] {
  const ids = index === "primary key" ? table.primaryKey : index?.columns.map(({ columnId }) => columnId);
  return (ids ?? []).flatMap((id) => {
    const place = table.columns.findIndex((column) => column.id === id);
    return place < 0 ? [] : [columnExpr(row[place]!)];
  });
}

function bindOnConflict(
  node: OnConflictNode,
  relation: ChangedRelation,
  name: string,
  rowColumns: readonly OutputColumn[],
  scope: Scope,
  binding: Binding,
): OnConflict {
  const { table, face } = relation;
  const { position } = node;
  const target = node.target === null ? null : ofTable(node.target, relation);
  if (target === null && table.indexes.some(({ deferrable }) => deferrable)) throw noArbiter(position);
  const index = target === null ? null : arbiterNow(target, table, node.action === "update", binding);
  if (node.action === "update" && target === null && !node.anyKey) {
    throw sqlError("42601", "ON CONFLICT DO UPDATE requires inference specification or constraint name", {
      position,
      hint: "For example, ON CONFLICT (column_name).",
    });
  }
  const existing = rowColumnsOf(table, binding);
  const excluded = rowColumnsOf(table, binding);
  // The key's columns are looked at.
  const key = arbiterColumns(index, table, existing);
  requireReads(relation, existing, key, binding);
  if (node.action === "nothing") return { index, action: "nothing", existing, excluded, assignments: [], where: null };
  const inside = new Scope(scope);
  const proposed = relation.over("excluded", excluded).item;
  inside.items = [relation.over(name, existing).item, { ...proposed, unqualified: false }];
  for (const { targets } of node.assignments) for (const each of targets) relation.changedColumn(each, "update");
  const context = contextOf(binding, inside, "ON CONFLICT DO UPDATE");
  const assignments =
    node.action === "replace"
      ? table.columns.map((column, i) => ({ columnId: column.id, expr: columnExpr(excluded[i]!) }))
      : withOnUpdate(bindAssignments(node.assignments, face, context), table, binding);
  const where = node.where === null ? null : bindBoolean(node.where, "WHERE", context);
  const assigned = assignments.map(({ columnId }) => columnId);
  requireChanges(relation, "update", assigned, binding);
  const read = [where, ...assignments.map(({ expr }) => expr), ...key];
  for (const row of [existing, excluded]) requireReads(relation, row, read, binding);
  const policies = conflictPolicies(relation, existing, rowColumns, binding);
  return { index, action: "update", existing, excluded, assignments, where, ...(policies && { policies }) };
}

function readsKey({ action, target }: OnConflictNode): boolean {
  return action !== "nothing" || target !== null;
}

/** The target with the table's names for columns, where the statement names a view. */
function ofTable(target: ConflictTarget, { table, face }: ChangedRelation): ConflictTarget {
  if (face === table) return target;
  const elements = target.elements.map((element): ExprNode => {
    if (element.kind !== "column") return element;
    const id = face.columns.find(({ name }) => name === element.path.at(-1))?.id;
    const column = table.columns.find((other) => other.id === id);
    return column === undefined ? element : { ...element, path: [column.name] };
  });
  return { ...target, elements };
}
