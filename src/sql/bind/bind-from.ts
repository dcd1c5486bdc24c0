/** FROM: tables, derived tables, WITH tables and joins, as a plan and as the items that names refer to. */
import { permissionDenied } from "../../catalog/rights.js";
import { mayUseSequence } from "../../catalog/sequence-rights.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { JOINS_MAX } from "../../protocol/limits.js";
import { tooManyJoins } from "../../protocol/size-errors.js";
import type { Expr } from "../../query/expr/expr.js";
import { resolveFunction } from "../../query/expr/resolve.js";
import { recordRows, shapeColumns, type TableFunction } from "../../query/expr/table-function.js";
import type { JoinPlan, Plan } from "../../query/plan/plan.js";
import { joinColumns, outerColumnsOf } from "../../query/plan/walk.js";
import { OID, recordOf, type SqlType, typeOf } from "../../values/values.js";
import type {
  AliasNode,
  FromFunction,
  FromJoin,
  FromNode,
  FromSubquery,
  FromTable,
  NameNode,
  SelectBody,
} from "../parse/ast-query.js";
import { applyOperator } from "./bind-comparison.js";
import { contextOf } from "./bind-context.js";
import { bindCypherFunction, cypherCallOf } from "./bind-cypher-function.js";
import { bindBoolean, bindExpr } from "./bind-expr.js";
import { bindFunctions } from "./bind-from-function.js";
import { sampleOf, samplesByKey } from "./bind-sample.js";
import { type FromSource, renamed } from "./bind-scan.js";
import { bindSearch, searchCallOf } from "./bind-search-function.js";
import { bindView, findView } from "./bind-view.js";
import { bindCommonTable } from "./bind-with.js";
import { type Binding, PLAIN_QUERY, type Source } from "./binding.js";
import { coerceCommon, commonTypeOf, constant } from "./coerce.js";
import { graphTableQuery } from "./graph-table-query.js";
import { logic } from "./logic.js";
import { firstFound, missingRelation } from "./names.js";
import { noteCursorTable } from "./note-cursor-table.js";
import { readableRows } from "./readable-rows.js";
import { checkedRights } from "./relation-rights.js";
import { checkAliases, relationOf, Scope, type ScopeColumn, type ScopeItem } from "./scope.js";
import { findOwnRelation } from "./system/own-relations.js";
import { findSystemRelation, sequenceRows, systemRelationIdentity } from "./system/system-relations.js";

/** The items of a FROM list, cross-joined, or null for an empty list; `scope.items` is filled in. */
export function bindFrom(nodes: readonly FromNode[], scope: Scope, binding: Binding): Plan | null {
  if (nodes.length > JOINS_MAX) throw tooManyJoins();
  let result: FromSource | null = null;
  for (const node of nodes) {
    const lateral = new Scope(scope);
    lateral.items = result?.items ?? [];
    const next = bindItem(node, scope, lateral, binding);
    result = result === null ? next : joined("inner", result, next, null, binding);
    checkAliases(result.items);
  }
  scope.items = result?.items ?? [];
  return result?.plan ?? null;
}

/** `lateral`: the scope in which a LATERAL item sees what stands left of it. */
function bindItem(node: FromNode, scope: Scope, lateral: Scope, binding: Binding): FromSource {
  const source = bindItemAlone(node, scope, lateral, binding);
  binding.noted.printed?.items.set(node, source.items);
  return source;
}

function bindItemAlone(node: FromNode, scope: Scope, lateral: Scope, binding: Binding): FromSource {
  switch (node.kind) {
    case "table":
      return bindTable(node, scope, binding);
    case "from subquery":
      return bindDerived(node, node.lateral ? lateral : scope, binding);
    case "join":
      return bindJoin(node, scope, lateral, binding);
    case "from function":
      return bindFunction(node, lateral, binding);
    case "graph table":
      return named(binding.query(graphTableQuery(node, binding.env), lateral, PLAIN_QUERY), node.alias, node.position);
  }
}

/** Throws 42P01. */
export function lookUpTable(name: NameNode, binding: Binding, scope: Scope | null = null): TableDef {
  const { env } = binding;
  if (name.tableId !== undefined) return env.catalog.tableById(name.tableId)!;
  const relation = relationOf(name);
  const table = firstFound(relation, env, (schema, tableName) => env.catalog.table(schema, tableName));
  if (table !== null) return table;
  const spelled = name.path.join(".");
  if (firstFound(relation, env, (schema, graph) => env.catalog.propertyGraph(schema, graph)) !== null) {
    const hint = "GRAPH_TABLE (… MATCH …) reads a property graph.";
    throw sqlError("42809", `"${spelled}" is a property graph`, { hint, position: name.position });
  }
  throw missingRelation(name, env, scope?.commonTableNames());
}

function bindTable(node: FromTable, scope: Scope, binding: Binding): FromSource {
  const { name, position, sample } = node;
  const common = name.path.length === 1 ? scope.commonTable(name.path[0]!) : null;
  if (common !== null) {
    if (sample !== null) throw notSampled(position);
    const source = bindCommonTable(common, node.alias?.name ?? name.path[0]!, position, binding);
    return named(source, node.alias ?? { name: name.path[0]!, columns: [] }, position);
  }
  const transition = name.path.length === 1 ? transitionRows(name.path[0]!, binding) : null;
  if (transition !== null) return systemSource(transition, node, binding);
  const view = findView(name, binding);
  const system = view === null ? findSystemRows(name, binding) : null;
  if (sample !== null && (view !== null || system !== null)) throw notSampled(position);
  if (view !== null) {
    const alias = node.alias ?? { name: view.name, columns: [] };
    return named(bindView(view, binding), alias, position, node.alias === null ? view.schema : null);
  }
  if (system !== null) return systemSource(system, node, binding);
  const table = lookUpTable(name, binding, scope);
  if (table.materialized?.populated === false) {
    throw sqlError("55000", `materialized view "${table.name}" has not been populated`, {
      position,
      hint: "Use the REFRESH MATERIALIZED VIEW command.",
    });
  }
  const clause = scope.locks?.clauseFor(node) ?? null;
  const isOfCursor = binding.cursorTables !== null && scope.isOutermost && (clause !== null || scope.isOfOneItem);
  const isAsked =
    binding.env.keyedTables?.has(table.id) === true ||
    (isOfCursor && (table.primaryKey === null || isInherited(table, name)));
  const rowKey = clause !== null || samplesByKey(sample) || isAsked;
  const rows = readableRows(table, { ...node, rowKey, ...(clause === null && { locks: false as const }) }, binding);
  if (clause !== null) scope.locks!.add(clause, rows.rowKey!, table.name);
  if (isOfCursor && sample === null) noteCursorTable(table, rows, binding);
  return sample === null ? rows : sampleOf(rows, sample, scope, binding);
}

/** Its rows have several tables, each with a primary key of its own. */
const isInherited = ({ children, partitionKey }: TableDef, { only }: NameNode): boolean =>
  children !== undefined && children.length > 0 && partitionKey === undefined && !only;

const notSampled = (position: number) =>
  sqlError("0A000", "TABLESAMPLE clause can only be applied to tables and materialized views", { position });

/** Rows that a statement changed, in the function of its trigger; null: the name means something else. */
function transitionRows(name: string, { env }: Binding): TableFunction | null {
  const table = env.transitions?.get(name);
  if (table === undefined) return null;
  return {
    name,
    args: [],
    returns: recordOf(table.columns),
    strict: false,
    open: ({ transitions }) => recordRows(transitions!.get(name)!.rows),
  };
}

/** A relation of the system's, or a sequence; null when the name means a table, or nothing. */
export function findSystemRows(name: NameNode, binding: Binding): TableFunction | null {
  const { env } = binding;
  const { catalog } = env;
  const found = firstFound(relationOf(name), env, (schema, relation) => {
    if (catalog.table(schema, relation) !== null) return "table";
    const sequence = catalog.sequence(schema, relation);
    if (sequence === null) return findSystemRelation(schema, relation) ?? findOwnRelation(schema, relation, binding);
    const rights = checkedRights(env);
    if (rights !== null && !mayUseSequence(sequence, ["r"], rights)) throw permissionDenied("sequence", sequence.name);
    return sequenceRows(sequence);
  });
  return found === "table" ? null : found;
}

/** A row of the system's was always there, and is stored nowhere. */
const HIDDEN: ReadonlyMap<string, Expr> = new Map(
  [
    ["ctid", typeOf("tid"), "(0,1)"],
    ["xmin", typeOf("xid"), "1"],
    ["xmax", typeOf("xid"), "0"],
    ["cmin", typeOf("xid"), "0"],
    ["cmax", typeOf("xid"), "0"],
  ].map(([name, type, value]) => [name as string, constant(type as SqlType, value as string)]),
);

function systemSource(rows: TableFunction, node: FromTable, binding: Binding): FromSource {
  const alias = node.alias ?? { name: rows.name, columns: [] };
  const columns = shapeColumns(rows.returns, rows.name).map(({ name, type }) => binding.newColumn(name, type, true));
  const calls = [{ fn: rows, args: [], shape: rows.returns }];
  const plan: Plan = Object.freeze({ kind: "tablefunction", alias: alias.name, calls, ordinality: false, columns });
  const identity = systemRelationIdentity(rows);
  const schema = node.alias === null ? (identity?.schema ?? null) : null;
  const source = named({ plan, columns }, alias, node.position, schema);
  if (identity === null) return source;
  const { oid } = identity;
  for (const [i, { id }] of columns.entries()) binding.setOrigin(id, { table: oid, column: i + 1 });
  return { plan, items: source.items.map((item) => ({ ...item, tableOid: constant(OID, oid), hidden: HIDDEN })) };
}

/** The schema is of a relation without an alias, for `schema.relation.column`. */
function named(source: Source, alias: AliasNode | null, position: number, schema: string | null = null): FromSource {
  const item: ScopeItem = {
    name: alias?.name ?? null,
    schema,
    columns: renamed(source.columns, alias, position),
    table: null,
    unqualified: true,
    qualifiable: true,
  };
  return { plan: source.plan, items: [item] };
}

function bindDerived(node: FromSubquery, parent: Scope, binding: Binding): FromSource {
  if (node.element) return bindElement(node, parent, binding);
  return named(binding.query(node.query, parent, PLAIN_QUERY), node.alias, node.position);
}

/** The table's rows; the select list gives names and expressions of its columns. */
function bindElement({ query, alias }: FromSubquery, parent: Scope, binding: Binding): FromSource {
  const { targets, from } = query.body as SelectBody;
  const { plan, items } = bindTable(from[0] as FromTable, parent, binding);
  const scope = new Scope(null);
  scope.items = items;
  const context = contextOf(binding, scope, "GRAPH_TABLE");
  const columns = targets.map(({ expr, name }): ScopeColumn => ({ name: name!, expr: bindExpr(expr, context) }));
  const item = { name: alias!.name, schema: null, columns, table: null, unqualified: false, qualifiable: true };
  return { plan, items: [item] };
}

/** A function sees what stands left of it, with LATERAL or without. */
function bindFunction(node: FromFunction, lateral: Scope, binding: Binding): FromSource {
  const search = searchCallOf(node, binding);
  if (search !== null) {
    const alias = node.alias ?? { name: "search", columns: [] };
    return named(bindSearch(search, lateral, binding, lookUpTable), alias, node.position);
  }
  const cypher = cypherCallOf(node, binding);
  if (cypher !== null) {
    const alias = node.alias ?? { name: "cypher", columns: [] };
    return named(bindCypherFunction(cypher, node, lateral, binding), alias, node.position);
  }
  const { plan, columns, name, scalar } = bindFunctions(node, lateral, binding);
  const alias = node.alias ?? { name, columns: [] };
  const { items } = named({ plan, columns }, alias, node.position);
  return { plan, items: scalar ? items.map((item) => ({ ...item, scalar })) : items };
}

function bindJoin(node: FromJoin, scope: Scope, lateral: Scope, binding: Binding): FromSource {
  const left = bindItem(node.left, scope, lateral, binding);
  const inner = new Scope(scope);
  inner.items = [...lateral.items, ...left.items];
  const right = bindItem(node.right, scope, inner, binding);
  checkAliases([...left.items, ...right.items]);
  const type = node.type === "cross" ? "inner" : node.type;
  const using = node.natural ? commonNames(left.items, right.items) : node.using;
  const source = using === null ? joinOn(node, type, left, right, scope, binding) : null;
  const result = source ?? joinUsing(using!, type, node, left, right, binding);
  return node.alias === null ? result : aliased(result, node.alias, node.position);
}

function joinOn(
  node: FromJoin,
  type: JoinPlan["type"],
  left: FromSource,
  right: FromSource,
  scope: Scope,
  binding: Binding,
): FromSource {
  if (node.condition === null) return joined(type, left, right, null, binding);
  // ON sees the two sides, and what the whole query may see from outside.
  const inside = new Scope(scope);
  inside.items = [...left.items, ...right.items];
  const condition = bindBoolean(node.condition, "JOIN/ON", contextOf(binding, inside, "JOIN conditions"));
  return joined(type, left, right, condition, binding);
}

function joined(
  type: JoinPlan["type"],
  left: FromSource,
  right: FromSource,
  condition: Expr | null,
  binding: Binding,
): FromSource {
  const columns = joinColumns(type, left.plan, right.plan);
  for (const column of columns) if (column.nullable) binding.markNullable(column.id);
  if (type === "left" || type === "full") for (const { id } of right.plan.columns) binding.markMissing(id);
  if (type === "right" || type === "full") for (const { id } of left.plan.columns) binding.markMissing(id);
  const made = new Set(left.plan.columns.map((column) => column.id));
  const lateral = [...outerColumnsOf(right.plan)].some((id) => made.has(id));
  if (lateral && (type === "right" || type === "full")) {
    throw sqlError("42P10", "invalid reference to FROM-clause entry: a LATERAL item cannot stand in this kind of join");
  }
  const plan: JoinPlan = Object.freeze({
    kind: "join",
    type,
    left: left.plan,
    right: right.plan,
    condition,
    lateral,
    columns,
  });
  return { plan, items: [...left.items, ...right.items] };
}

/** Names of columns that both sides have, in the left side's order. */
function commonNames(left: readonly ScopeItem[], right: readonly ScopeItem[]): string[] {
  const names = new Set(visible(right).map((column) => column.name));
  return [...new Set(visible(left).map((column) => column.name))].filter((name) => names.has(name));
}

function visible(items: readonly ScopeItem[]): ScopeColumn[] {
  return items.flatMap((item) => (item.unqualified ? item.columns : []));
}

/** The merged columns come first and alone; each side stays reachable by its qualifier. */
function joinUsing(
  names: readonly string[],
  type: JoinPlan["type"],
  node: FromJoin,
  left: FromSource,
  right: FromSource,
  binding: Binding,
): FromSource {
  const { position } = node;
  const pairs = names.map((name) => ({
    name,
    left: usingColumn(name, left.items, "left", position),
    right: usingColumn(name, right.items, "right", position),
  }));
  const tests = pairs.map((pair) => applyOperator("=", pair.left.expr, pair.right.expr, binding, position));
  const { plan } = joined(type, left, right, tests.length === 0 ? null : logic("and", tests), binding);
  const merged = pairs.map((pair) => ({
    name: pair.name,
    expr: mergedColumn(pair.left.expr, pair.right.expr, type, binding),
  }));
  const rest = (items: readonly ScopeItem[]) => visible(items).filter((column) => !names.includes(column.name));
  const item: ScopeItem = {
    name: null,
    schema: null,
    columns: [...merged, ...rest(left.items), ...rest(right.items)],
    table: null,
    unqualified: true,
    qualifiable: false,
  };
  const hidden = [...left.items, ...right.items].map((other) => ({ ...other, unqualified: false }));
  const usingAlias: ScopeItem[] =
    node.usingAlias === null
      ? []
      : [{ ...item, name: node.usingAlias.name, columns: merged, unqualified: false, qualifiable: true }];
  return { plan, items: [...hidden, ...usingAlias, item] };
}

function usingColumn(name: string, items: readonly ScopeItem[], side: string, position: number): ScopeColumn {
  const found = visible(items).filter((column) => column.name === name);
  if (found.length > 1) {
    throw sqlError("42702", `common column name "${name}" appears more than once in ${side} table`, { position });
  }
  if (found[0] === undefined) {
    throw sqlError("42703", `column "${name}" specified in USING clause does not exist in ${side} table`, { position });
  }
  return found[0];
}

/** The side that no row lacks; for a full join, whichever is there. */
function mergedColumn(left: Expr, right: Expr, type: JoinPlan["type"], binding: Binding): Expr {
  const common = commonTypeOf([left, right], "JOIN/USING", binding, []);
  const as = (expr: Expr) => coerceCommon(expr, common, "JOIN/USING", binding, 0);
  // Of an inner join it is the one that has the type.
  const isRight = type === "right" || (type === "inner" && left.type !== common && right.type === common);
  if (type !== "full") return as(isRight ? right : left);
  const { fn } = resolveFunction("coalesce", [common, common]);
  return Object.freeze({ kind: "call", type: fn.returns, fn, args: [as(left), as(right)] });
}

/** `(a JOIN b …) AS j`: only j is visible. */
function aliased(source: FromSource, alias: AliasNode, position: number): FromSource {
  const columns = visible(source.items);
  if (alias.columns.length > columns.length) {
    const message = `join expression "${alias.name}" has ${columns.length} columns available but ${alias.columns.length} columns specified`;
    throw sqlError("42P10", message, { position });
  }
  const item: ScopeItem = {
    name: alias.name,
    schema: null,
    columns: columns.map((column, i) => ({ ...column, name: alias.columns[i] ?? column.name })),
    table: null,
    unqualified: true,
    qualifiable: true,
  };
  const hidden = source.items.map((other) => ({ ...other, unqualified: false, qualifiable: false }));
  return { plan: source.plan, items: [...hidden, item] };
}
