/**
 * MERGE: the target joined with the source as its clauses need it, and for each kind of match the actions in their
 * order. A row takes the first action of its kind whose condition holds.
 */
import type { ColumnDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import type { MergeAction, MergePlan } from "../../query/plan/change-plans.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { JoinType, OutputColumn, Plan } from "../../query/plan/plan.js";
import { joinColumns } from "../../query/plan/walk.js";
import { BOOL, TEXT } from "../../values/values.js";
import type { MergeClause, MergeStatement } from "../parse/ast.js";
import { bindAssignments, withOnUpdate } from "./bind-assignments.js";
import { applyOperator } from "./bind-comparison.js";
import { contextOf, type ExprContext } from "./bind-context.js";
import { bindBoolean, bindExpr } from "./bind-expr.js";
import { bindFrom } from "./bind-from.js";
import { heirsOf } from "./bind-heirs.js";
import { takesValue } from "./bind-insert.js";
import { partitioningOf } from "./bind-partition-tree.js";
import { rowsOf } from "./bind-scan.js";
import { bindWith } from "./bind-with.js";
import type { Binding, Source } from "./binding.js";
import { type ChangedRelation, changedRelation, notUpdatable, ownItems, shownRows } from "./changed-relation.js";
import { actionPolicies, matchedRows, requireChanges, requireReads } from "./changed-rights.js";
import { coerceAssignment, constant } from "./coerce.js";
import { refuseDeniedIn } from "./relation-rights.js";
import { checkAliases, Scope, type ScopeColumn, type ScopeItem } from "./scope.js";
import { project } from "./source.js";
import { addVersions, bindChecks, bindReturning, defaultOf, rowColumnsOf } from "./stored-row.js";
import { noPlace, storedColumns } from "./system-columns.js";

export function bindMerge(node: MergeStatement, binding: Binding, parent: Scope | null): MergePlan {
  const scope = new Scope(parent);
  bindWith(node.with, scope, binding);
  const relation = changedRelation(node.table.name, "merge", binding);
  const { table, face, reference } = relation;
  checkReachable(node);
  const rows = rowsOf(table, { name: reference, alias: node.table.alias, rowKey: true }, binding);
  const name = node.table.alias?.name ?? face.name;
  const before = relation.over(name, rows.columns, () => rows.rowKey!);
  const target = {
    ...rows,
    plan: shownRows(before, matchedRows(relation, rows, binding)),
    items: ownItems(relation, face === table ? rows.items : [before.item]),
  };
  const outside = new Scope(scope);
  const sourceRows = bindFrom([node.source], outside, binding)!;
  const sourceItems = outside.items;
  checkAliases([...target.items, ...sourceItems]);
  const marked = withMark(sourceRows, binding);
  const inSource = marked.columns.at(-1)!;
  const scopeOf = (items: readonly ScopeItem[]): Scope => {
    const inner = new Scope(scope);
    inner.items = items;
    return inner;
  };
  const whole = scopeOf([...target.items, ...sourceItems]);
  const condition = bindBoolean(node.condition, "MERGE/ON", contextOf(binding, whole, "JOIN conditions"));
  requireReads(relation, rows.columns, [condition], binding);
  const input = joined(joinTypeOf(node), target.plan, marked.plan, condition, binding);
  const scopes = {
    matched: whole,
    "not matched by target": scopeOf(sourceItems),
    "not matched by source": scopeOf(target.items),
  };
  const bound = node.clauses.map((clause) => bindClause(clause, relation, node, scopes[clause.match], binding));
  for (const action of bound) requireAction(action, relation, rows.columns, binding);
  const rowColumns = rowColumnsOf(table, binding);
  const policies = actionPolicies(relation, target.columns, rowColumns, node.returning !== null, binding);
  refuseHidden(policies, binding);
  const actions = bound.map(({ bound: action }) => withPolicies(action, policies));
  const after = relation.over(name, rowColumns);
  const hidden = storedColumns(relation, name, rowColumns, () => noPlace("the target in MERGE"), binding);
  const shown = scopeOf([...sourceItems, { ...after.item, ...hidden }]);
  const action = binding.newColumn("merge_action", TEXT, false);
  shown.mergeAction = columnExpr(action);
  const kept = unlessDeleted(after.item.columns, action, binding);
  addVersions(shown, node.returningNames, { columns: target.items[0]!.columns }, { columns: kept });
  const { returning, columns } = bindReturning(node.returning, rowColumns, shown, binding);
  for (const each of [rowColumns, rows.columns]) requireReads(relation, each, returning?.exprs ?? [], binding);
  const heirs = heirsOf(relation, target, binding);
  const partitioning = partitioningOf(table, rowColumns, binding);
  return Object.freeze({
    kind: "merge",
    table,
    ...(heirs !== undefined && { heirs }),
    input,
    oldColumns: target.columns,
    rowKey: target.rowKey!,
    inSource: inSource.id,
    actions,
    rowColumns,
    checks: [...bindChecks(table, rowColumns, binding), ...after.checks],
    ...partitioning,
    returning: returning && { ...returning, action },
    columns,
  });
}

/** NEW: no row for one that was deleted. */
function unlessDeleted(columns: readonly ScopeColumn[], action: OutputColumn, binding: Binding): ScopeColumn[] {
  const deleted = applyOperator("=", columnExpr(action), constant(TEXT, "DELETE"), binding, 0);
  return columns.map(({ name, expr }) => {
    // biome-ignore lint/suspicious/noThenProperty: the bound node names its parts as SQL does
    const branches = [{ when: deleted, then: constant(expr.type, null) }];
    return { name, expr: Object.freeze({ kind: "case", type: expr.type, branches, otherwise: expr }) };
  });
}

function checkReachable({ clauses, position }: MergeStatement): void {
  const closed = new Set<MergeClause["match"]>();
  for (const { match, condition } of clauses) {
    if (closed.has(match)) {
      throw sqlError("42601", "unreachable WHEN clause specified after unconditional WHEN clause", { position });
    }
    if (condition === null) closed.add(match);
  }
}

/** Rows without a counterpart are only of interest where a clause is about them. */
function joinTypeOf({ clauses }: MergeStatement): JoinType {
  const target = clauses.some((clause) => clause.match === "not matched by target");
  const source = clauses.some((clause) => clause.match === "not matched by source");
  if (target) return source ? "full" : "right";
  return source ? "left" : "inner";
}

function joined(type: JoinType, left: Plan, right: Plan, condition: Expr, binding: Binding): Plan {
  const columns: readonly OutputColumn[] = joinColumns(type, left, right);
  for (const column of columns) if (column.nullable) binding.markNullable(column.id);
  return Object.freeze({ kind: "join", type, left, right, condition, lateral: false, columns });
}

/** The source's rows with a column that is TRUE. What may not be read goes no further, so naming it is what refuses. */
function withMark(source: Plan, binding: Binding): Source {
  const columns = source.columns.filter(({ id }) => !binding.denied.has(id));
  const names = [...columns.map(({ name }) => name), "in source"];
  return project(source, [...columns.map(columnExpr), constant(BOOL, true)], names, binding);
}

/** What the role may not read is refused whichever action there is. */
function refuseHidden(policies: ReturnType<typeof actionPolicies>, binding: Binding): void {
  for (const { using, checks } of Object.values(policies ?? {})) {
    refuseDeniedIn(
      [...using, ...checks].map(({ predicate }) => predicate),
      binding,
    );
  }
}

function withPolicies(action: MergeAction, policies: ReturnType<typeof actionPolicies>): MergeAction {
  return policies === null || action.action === "nothing" ? action : { ...action, policies: policies[action.action] };
}

interface BoundClause {
  readonly bound: MergeAction;
  /** The columns that it names, which need the privilege. */
  readonly given: readonly number[];
}

/** Throws 42501 unless the role may do that with those columns, and read what it is computed from. */
function requireAction(
  { bound, given }: BoundClause,
  relation: ChangedRelation,
  row: readonly OutputColumn[],
  binding: Binding,
): void {
  const { action, condition, assignments } = bound;
  if (action !== "nothing") requireChanges(relation, action, action === "delete" ? null : given, binding);
  const computed = assignments.filter(({ columnId }) => given.includes(columnId));
  requireReads(relation, row, [condition, ...computed.map(({ expr }) => expr)], binding);
}

function bindClause(
  clause: MergeClause,
  relation: ChangedRelation,
  node: MergeStatement,
  scope: Scope,
  binding: Binding,
): BoundClause {
  const { match, action } = clause;
  for (const { targets } of clause.assignments) for (const each of targets) relation.changedColumn(each, "merge");
  const context = contextOf(binding, scope, "MERGE WHEN conditions");
  const condition = clause.condition === null ? null : bindBoolean(clause.condition, "WHEN", context);
  const bound = { match, condition, action } as const;
  if (action === "update") {
    const set = bindAssignments(clause.assignments, relation.face, contextOf(binding, scope, "UPDATE"));
    const given = set.map(({ columnId }) => columnId);
    return { bound: { ...bound, assignments: withOnUpdate(set, relation.table, binding) }, given };
  }
  if (action !== "insert") return { bound: { ...bound, assignments: [] }, given: [] };
  const { assignments, given } = bindInserted(clause, relation, node, contextOf(binding, scope, "VALUES"));
  return { bound: { ...bound, assignments }, given };
}

/** A value for every column. */
function bindInserted(clause: MergeClause, relation: ChangedRelation, node: MergeStatement, context: ExprContext) {
  const { binding } = context;
  const { filled: table, face } = relation;
  const all = face.columns.map((column) => table.columns.find(({ id }) => id === column.id) ?? column);
  const targets = clause.columns?.map((target) => relation.changedColumn(target, "merge")) ?? all;
  const values = clause.values ?? [];
  targets.forEach((column, i) => {
    if (targets.indexOf(column) === i) return;
    const { position } = clause.columns![i]!;
    throw sqlError("42701", `column "${column.name}" specified more than once`, { position });
  });
  if (values.length > targets.length) {
    const { position } = values[targets.length]!;
    throw sqlError("42601", "INSERT has more expressions than target columns", { position });
  }
  if (clause.values !== null && clause.columns !== null && values.length < targets.length) {
    const { position } = clause.columns[values.length]!;
    throw sqlError("42601", "INSERT has more target columns than expressions", { position });
  }
  const computed = targets.slice(0, values.length).find(({ id }) => id < 0);
  if (computed !== undefined) throw notUpdatable(face.name, computed.name, "merge", node.position);
  const assignments = table.columns.map((column: ColumnDef) => {
    const value = values[targets.indexOf(column)];
    const given = value !== undefined && value.kind !== "default";
    const { overriding } = clause;
    const expr =
      given && takesValue(column, { overriding }, value.position)
        ? coerceAssignment(bindExpr(value, context), column, binding, value.position || node.position)
        : defaultOf(column, table, binding);
    return { columnId: column.id, expr };
  });
  // All that are listed, and without a list those that have a value.
  const named = clause.columns === null ? targets.slice(0, values.length) : targets;
  return { assignments, given: named.map(({ id }) => id) };
}
