/**
 * Finds the table that INSERT, UPDATE, DELETE and MERGE change: the named one, or through views the one table that
 * they select from. PostgreSQL's rule decides which views can be changed (src/backend/rewrite/rewriteHandler.c,
 * view_query_is_auto_updatable).
 *
 *   INSERT INTO v …      v: SELECT a AS x, b + 1 AS y FROM u WHERE c      u: SELECT … FROM t WHERE d
 *
 * The row of v is computed from a row of t: x and y are expressions over t's columns, c and d conditions. The same is
 * done with the old row, with the row that will be stored (for RETURNING and WITH CHECK OPTION), and in ON CONFLICT.
 */

import type { Rights } from "../../catalog/rights.js";
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import type { ViewDef } from "../../catalog/view.js";
import { sqlError } from "../../protocol/errors.js";
import type { ColumnId, Expr } from "../../query/expr/expr.js";
import { oidOfId } from "../../query/expr/types.js";
import type { BoundCheck } from "../../query/plan/change-plans.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";
import { walkPlan } from "../../query/plan/walk.js";
import { OID } from "../../values/values.js";
import type { AssignmentTarget } from "../parse/ast.js";
import type { FromTable, NameNode, QueryNode, SelectBody } from "../parse/ast-query.js";
import { contextOf } from "./bind-context.js";
import { bindBoolean } from "./bind-expr.js";
import { lookUpTable } from "./bind-from.js";
import { bindTargets } from "./bind-select.js";
import { bindViewQuery, findView, isBarrier, parsedQuery, queryRights, viewEnvironment } from "./bind-view.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";
import { constant, resolveUnknown } from "./coerce.js";
import { hasInsteadOf, keptByRules, RULE_REASONS, refuseRules, tableOfView } from "./instead-of.js";
import { checkedRights } from "./relation-rights.js";
import { itemOf } from "./row-item.js";
import { Scope, type ScopeColumn, type ScopeItem } from "./scope.js";
import { barrier, filtered } from "./source.js";
import { checkChangeable, targetColumn } from "./stored-row.js";
import { systemColumns } from "./system-columns.js";

export type ChangeCommand = "insert" | "update" | "delete" | "merge";

export interface ViewCondition {
  readonly predicate: Expr | null;
  /** What is asked above sees only rows for which it holds. */
  readonly barrier: boolean;
}

/** The relation's row over a row of the table. */
export interface ChangedRow {
  readonly item: ScopeItem;
  /** Of the views, the lowest first: what a row of the table must satisfy to be a row of the relation. */
  readonly conditions: readonly ViewCondition[];
  /** WITH CHECK OPTION. */
  readonly checks: readonly BoundCheck[];
}

export interface ChangedView {
  readonly view: ViewDef;
  /** Who asks for it. */
  readonly env: BindEnvironment;
  /** Per column of the view the id of the table's; null: it is computed. */
  bases(): readonly (number | null)[];
}

export interface ChangedRelation {
  /** Whose rows change. */
  readonly table: TableDef;
  /** The relation under its own names; ids of columns are those of `table`, below 0 for what is no column of it. */
  readonly face: TableDef;
  /** The table with the defaults that the views give its columns. */
  readonly filled: TableDef;
  /** Triggers or rules do the work, of a view or of the table itself; of a view `table` is what they see of it. */
  readonly instead?: ViewDef | "rules";
  /** Who changes the table: the statement, or the owner of the view that names it. */
  readonly rights: Rights | null;
  /** Views from the named one down. */
  readonly views: readonly ChangedView[];
  /** Names the table for rowsOf. */
  readonly reference: NameNode;
  /**
   * `columns`: parallel to the table's. `rowKey`: of the row, for a view that shows ctid; absent: 0A000 for such a
   * view.
   */
  over(name: string, columns: readonly OutputColumn[], rowKey?: () => ColumnId): ChangedRow;
  /** The table's column behind one that the statement gives a value. Throws 42703, 0A000. */
  changedColumn(target: AssignmentTarget, command: ChangeCommand): ColumnDef;
}

/** Throws 42P01, and 55000 for a view that rows cannot be changed through. */
export function changedRelation(name: NameNode, command: ChangeCommand, binding: Binding): ChangedRelation {
  if (name.path.length === 1 && binding.env.transitions?.has(name.path[0]!)) {
    throw sqlError("0A000", `relation "${name.path[0]}" cannot be the target of a modifying statement`);
  }
  const view = findView(name, binding);
  if (view !== null && command === "merge") refuseRules(view, "merge");
  if (view !== null && hasInsteadOf(view, command)) return insteadOf(view, name, binding.env);
  if (view !== null) return throughView(view, command, binding);
  const face = lookUpTable(name, binding);
  const table = checkChangeable(binding.catalog.tableById(face.id)!);
  if (command === "merge") refuseRules(table, "merge");
  const ofTable = {
    table,
    filled: table,
    reference: name,
    rights: checkedRights(binding.env),
    views: [],
    ...(hasInsteadOf(table, command) && { instead: "rules" as const }),
  };
  return { ...ofTable, ...(face === table ? ownFace(table) : olderFace(table, face)) };
}

type Face = Pick<ChangedRelation, "face" | "over" | "changedColumn">;

function ownFace(table: TableDef): Face {
  return {
    face: table,
    over: (called, columns) => ({ item: ownItem(table, called, columns), conditions: [], checks: [] }),
    changedColumn: (target) => targetColumn(table, target),
  };
}

const ownItem = (table: TableDef, called: string, columns: readonly OutputColumn[]): ScopeItem => ({
  ...itemOf(table, called, columns),
  own: table.id,
});

/** What a statement that changes rows reads of them. */
export function ownItems({ views, table }: ChangedRelation, items: readonly ScopeItem[]): readonly ScopeItem[] {
  const own = views[0]?.view.id ?? table.id;
  return items.map((item) => ({ ...item, own }));
}

/** In a text that is kept: the table with the columns that it had then, under the names of then. */
function olderFace(table: TableDef, { name, columns: then }: TableDef): Face {
  const places = then.map(({ id }) => table.columns.findIndex((column) => column.id === id));
  const columns = places.map((place, i) => ({ ...table.columns[place]!, name: then[i]!.name }));
  const face = { ...table, name, columns };
  return {
    face,
    over: (called, now) => {
      const named = places.map((place, i) => ({ ...now[place]!, name: then[i]!.name }));
      return { item: ownItem(face, called, named), conditions: [], checks: [] };
    },
    changedColumn: (target) => table.columns[places[columns.indexOf(targetColumn(face, target))]!]!,
  };
}

function insteadOf(view: ViewDef, reference: NameNode, env: BindEnvironment): ChangedRelation {
  const table = tableOfView(view);
  return {
    table,
    face: table,
    filled: table,
    instead: view,
    reference,
    rights: null,
    views: [asTable(view, env)],
    over: (called, columns) => ({ item: ownItem(table, called, columns), conditions: [], checks: [] }),
    changedColumn: (target) => targetColumn(table, target),
  };
}

/** One view: its query, in the scope of its own names. */
interface Level {
  readonly view: ViewDef;
  readonly body: SelectBody;
  readonly from: FromTable;
  readonly env: BindEnvironment;
  /** The view below, or the table under the names that the query has for it. */
  readonly below: Level | TableDef;
  /** `below` is what triggers of this view, which do the work, see of it. */
  readonly instead: ViewDef | null;
}

function throughView(view: ViewDef, command: ChangeCommand, binding: Binding): ChangedRelation {
  const top = levelOf(view, binding, (refused, why) => refuse(refused, why, command), command);
  const bottom = bottomOf(top);
  const { instead } = bottom;
  const named = bottom.below as TableDef;
  const table = instead === null ? checkChangeable(binding.env.catalog.tableById(named.id)!) : named;
  const over = (name: string, columns: readonly OutputColumn[], rowKey = noKey): ChangedRow => {
    const byId = new Map(table.columns.map(({ id }, i) => [id, columnExpr(columns[i]!)]));
    const row = rowOver(top, { exprOf: (id) => byId.get(id)!, rowKey }, false, binding);
    const item = itemNamed(name, name === view.name ? view.schema : null, row.columns, face);
    return { ...row, item: { ...item, own: view.id } };
  };
  const defaults = new Map<number, string>();
  const ids = baseColumns(top, table, defaults, binding);
  const filled = { ...table, columns: table.columns.map((column) => withDefault(column, defaults.get(column.id))) };
  const bases = ids.map((id) => filled.columns.find((column) => column.id === id) ?? null);
  if (command !== "delete" && bases.every((base) => base === null)) {
    refuse(view, "Views that have no updatable columns", command);
  }
  const face = faceOf(view, table, bases);
  return {
    table,
    face,
    filled,
    ...(instead !== null && { instead }),
    reference: bottom.from.name,
    rights: instead === null ? checkedRights(bottom.env) : null,
    views: viewsOf(top, table, binding.env, binding),
    over,
    changedColumn: (target, changing) => {
      const base = bases[face.columns.indexOf(targetColumn(face, target))];
      if (base) return base;
      throw notUpdatable(view.name, target.name, changing, target.position);
    },
  };
}

/** Each view, asked for by the statement or by the owner of the one above. */
function viewsOf(level: Level, table: TableDef, env: BindEnvironment, binding: Binding): readonly ChangedView[] {
  const { view, env: own, below, instead } = level;
  const bases = () => baseColumns(level, table, new Map(), binding);
  const lowest = instead === null ? [] : [asTable(instead, own)];
  return [{ view, env, bases }, ...("view" in below ? viewsOf(below, table, own, binding) : lowest)];
}

/** A view whose triggers do the work: ids of its columns are their places. */
function asTable(view: ViewDef, env: BindEnvironment): ChangedView {
  return { view, env, bases: () => view.columns.map((_, place) => place) };
}

/** Of a view's column that is no column of the table. */
export function notUpdatable(view: string, column: string, command: ChangeCommand, position: number): Error {
  const verb = command === "insert" ? "insert into" : command === "merge" ? "merge into" : "update";
  return sqlError("0A000", `cannot ${verb} column "${column}" of view "${view}"`, {
    ...(position > 0 && { position }),
    detail: "View columns that are not columns of their base relation are not updatable.",
  });
}

function withDefault(column: ColumnDef, defaultSql: string | undefined): ColumnDef {
  return defaultSql === undefined || column.generatedSql ? column : { ...column, defaultSql };
}

/**
 * Per column of the view the id of the table's; null: it is computed. Collects the defaults of this view and those
 * below.
 */
function baseColumns(
  level: Level,
  table: TableDef,
  defaults: Map<number, string>,
  binding: Binding,
): readonly (number | null)[] {
  if ("view" in level.below) baseColumns(level.below, table, defaults, binding);
  const columns = table.columns.map(({ name, type }) => binding.newColumn(name, type, true));
  const exprOf = (id: number) => columnExpr(columns[table.columns.findIndex((column) => column.id === id)]!);
  const ids = rowOver(level, { exprOf, rowKey: () => ANY_COLUMN }, false, binding).columns.map(({ expr }) => {
    const i = expr.kind === "column" ? columns.findIndex(({ id }) => id === expr.id) : -1;
    return table.columns[i]?.id ?? null;
  });
  level.view.columns.forEach(({ defaultSql }, i) => {
    const id = ids[i] ?? null;
    if (defaultSql !== undefined && id !== null) defaults.set(id, defaultSql);
  });
  return ids;
}

/** The rows of the table that are rows of the relation. */
export function shownRows({ conditions }: ChangedRow, rows: Plan): Plan {
  return conditions.reduce((plan, { predicate, barrier: closed }) => {
    const shown = filtered(plan, predicate);
    return closed ? barrier(shown) : shown;
  }, rows);
}

/** Whether each column of the view can be assigned; null: rows cannot be changed through the view. */
export function updatableColumns(view: ViewDef, binding: Binding): readonly boolean[] | null {
  let level: Level;
  try {
    level = levelOf(view, binding, () => {
      throw NOT_UPDATABLE;
    });
  } catch (error) {
    if (error === NOT_UPDATABLE) return null;
    throw error;
  }
  const table = bottomOf(level).below as TableDef;
  if (table.materialized) return null;
  return baseColumns(level, table, new Map(), binding).map((id) => id !== null);
}

const NOT_UPDATABLE = new Error("not updatable");

/** The view's query as one that selects from a single relation; `refused` throws with the reason why it is not. */
function levelOf(
  view: ViewDef,
  binding: Binding,
  refused: (view: ViewDef, why: string) => never,
  command: ChangeCommand = "merge",
): Level {
  const query = parsedQuery(view.query);
  const why = notSimple(query) ?? keptByRules(view, command);
  const { body } = query;
  if (why !== null || body.kind !== "select") return refused(view, why ?? NO_SINGLE_RELATION);
  const [from] = body.from;
  const env = viewEnvironment(view.query, queryRights(view, view.query, binding.env));
  let instead: ViewDef | null = null;
  const below = binding.within(env, () => {
    if (body.from.length !== 1 || from!.kind !== "table") return null;
    const inner = findView(from.name, binding);
    if (inner === null) return findTable(from.name, binding);
    if (!hasInsteadOf(inner, command)) return levelOf(inner, binding, refused, command);
    instead = inner;
    return tableOfView(inner);
  });
  // What the view is made of is looked at, not its rows.
  const { rights: _, ...unasked } = binding.env;
  const computing = computes(binding.within(unasked, () => bindViewQuery(view, view.query, binding)).plan);
  if (computing !== null || below === null) return refused(view, computing ?? NO_SINGLE_RELATION);
  return { view, body, from: from as FromTable, env, below, instead };
}

const NO_SINGLE_RELATION = "Views that do not select from a single table or view";

/** Null: a relation of the system's. */
function findTable(name: NameNode, binding: Binding): TableDef | null {
  try {
    return lookUpTable(name, binding);
  } catch {
    return null;
  }
}

function notSimple({ body, with: tables, limit, offset }: QueryNode): string | null {
  if (body.kind === "set operation") return "Views containing UNION, INTERSECT, or EXCEPT";
  if (body.kind === "select") {
    if (body.distinct !== "all") return "Views containing DISTINCT";
    if (body.groupBy.length > 0) return "Views containing GROUP BY";
    if (body.having !== null) return "Views containing HAVING";
    const [from] = body.from;
    if (from?.kind === "table" && from.sample) return "Views containing TABLESAMPLE";
  }
  if (tables !== null) return "Views containing WITH";
  return limit !== null || offset !== null ? "Views containing LIMIT or OFFSET" : null;
}

function computes(plan: Plan): string | null {
  let why: string | null = null;
  walkPlan(plan, ({ kind }) => {
    if (kind === "aggregate") why = "Views that return aggregate functions";
    if (kind === "window") why ??= "Views that return window functions";
    if (kind === "projectset") why ??= "Views that return set-returning functions";
  });
  return why;
}

function bottomOf(level: Level): Level {
  return "view" in level.below ? bottomOf(level.below) : level;
}

/** A row of the table. */
interface TableRow {
  readonly exprOf: (columnId: number) => Expr;
  readonly rowKey: () => ColumnId;
}

/** Of expressions that are looked at, and never computed. */
export const ANY_COLUMN: ColumnId = 0;

const noKey = (): ColumnId => {
  throw sqlError("0A000", "ctid of a view is not supported in this statement", {
    hint: "Use UPDATE or DELETE, or the view's table.",
  });
};

interface LevelRow extends Omit<ChangedRow, "item"> {
  readonly columns: readonly ScopeColumn[];
}

/**
 * The level's row over a row of the table. `isChecked`: a view above checks new rows against this one's condition too.
 * Conditions of inner views are checked first.
 */
function rowOver(level: Level, row: TableRow, isChecked: boolean, binding: Binding): LevelRow {
  const { view, body, from, below } = level;
  const cascades = isChecked || view.checkOption === "cascaded";
  const inner: LevelRow =
    "view" in below
      ? rowOver(below, row, cascades, binding)
      : { columns: below.columns.map(({ id, name }) => ({ name, expr: row.exprOf(id) })), conditions: [], checks: [] };
  return binding.within(level.env, () => {
    const names = from.alias?.columns ?? [];
    const columns = inner.columns.map((column, i) => ({ ...column, name: names[i] ?? column.name }));
    const own = "view" in below ? below.view : below;
    const scope = new Scope(null);
    const called = from.alias?.name ?? own.name;
    const item = itemNamed(called, from.alias ? null : own.schema, columns, null);
    const exprs = inner.columns.map(({ expr }) => expr);
    const facts = { name: called, columns: exprs, env: binding.env, rowKey: row.rowKey };
    const system = !("view" in below) && {
      hidden: systemColumns({ table: below, ...facts }),
      // A row of what others inherit from is stored anywhere.
      ...(!below.children?.length && { tableOid: constant(OID, oidOfId(below.id)) }),
    };
    scope.items = [{ ...item, ...system }];
    const targets = bindTargets(body.targets, contextOf(binding, scope, "SELECT"));
    const condition = body.where === null ? null : bindBoolean(body.where, "WHERE", contextOf(binding, scope, "WHERE"));
    const checks =
      condition !== null && (isChecked || view.checkOption !== null)
        ? [...inner.checks, { name: view.name, predicate: condition, view: true } as const]
        : inner.checks;
    return {
      columns: view.columns.map(({ name }, i) => ({ name, expr: resolveUnknown(targets[i]!.expr, binding) })),
      conditions: [...inner.conditions, { predicate: condition, barrier: isBarrier(view) }],
      checks,
    };
  });
}

function itemNamed(
  name: string,
  schema: string | null,
  columns: readonly ScopeColumn[],
  table: TableDef | null,
): ScopeItem {
  return { name, schema, columns, table, unqualified: true, qualifiable: true };
}

function faceOf(view: ViewDef, table: TableDef, bases: readonly (ColumnDef | null)[]): TableDef {
  const columns = view.columns.map(({ name, type }, i): ColumnDef => {
    const base = bases[i] ?? null;
    if (base !== null) return { ...base, name };
    return { id: -1 - i, name, type, notNull: false, defaultSql: null, missingSql: null, identity: null };
  });
  return { ...table, schema: view.schema, name: view.name, columns, primaryKey: null, indexes: [], checks: [] };
}

const HINTS = {
  insert: ["insert into", "inserting into", "INSERT"],
  update: ["update", "updating", "UPDATE"],
  delete: ["delete from", "deleting from", "DELETE"],
  merge: ["merge into", "merging into", "MERGE"],
} as const;

function refuse(view: ViewDef, why: string, command: ChangeCommand): never {
  const [verb, doing, event] = HINTS[command];
  const remedy = RULE_REASONS.includes(why) ? `an unconditional ON ${event} DO INSTEAD rule` : "a simpler query";
  throw sqlError("55000", `cannot ${verb} view "${view.name}"`, {
    detail: `${why} are not automatically updatable.`,
    hint: `To enable ${doing} the view, provide an INSTEAD OF ${event} trigger or ${remedy}.`,
  });
}
