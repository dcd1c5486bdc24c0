/**
 * Turns a parsed statement into what the session runs. The life of a statement: parse (sql/parse) → bind (here) →
 * optimize (query/optimize) → execute (query/exec). Binding resolves names against the catalog, chooses overloads,
 * types parameters and builds the logical plan; it reads no data.
 */
import type { DdlCommand } from "../../catalog/ddl-command.js";
import { permissionDenied } from "../../catalog/rights.js";
import type { TableDef } from "../../catalog/table.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { canCoerce, withMadeCasts } from "../../query/expr/coercion.js";
import type { Expr, ScalarFunction } from "../../query/expr/expr.js";
import { someExpr } from "../../query/expr/walk.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";
import { exprsOfPlan, modifiesData, subqueriesOf, walkPlan } from "../../query/plan/walk.js";
import { TEXT } from "../../values/values.js";
import type {
  ExplainStatement,
  SetStatement,
  Statement,
  StatementNode,
  VerifyKey,
  VerifyStatement,
} from "../parse/ast.js";
import type { DeclareCursorStatement } from "../parse/ast-cursor.js";
import type { DropStatement, RenameStatement } from "../parse/ast-definitions.js";
import { parseSql } from "../parse/parse.js";
import { bindAccess } from "./bind-access.js";
import { bindAlterTable, bindRename } from "./bind-alter-table.js";
import { bindAnalyze } from "./bind-analyze.js";
import { bindComment } from "./bind-comment.js";
import { createSchema } from "./bind-create-schema.js";
import { bindCreateTableAs, bindCreateTableAsExecute, bindRefresh } from "./bind-create-table-as.js";
import { bindCreateView, bindDropViews } from "./bind-create-view.js";
import { bindData } from "./bind-data.js";
import { bindCreateIndex, bindCreateTable, bindDrop, bindTruncate } from "./bind-ddl.js";
import { bindCreateExtension, bindDropExtension } from "./bind-extension.js";
import { lookUpTable } from "./bind-from.js";
import { bindFunctionStatement, isFunctionStatement } from "./bind-function-statement.js";
import { bindList } from "./bind-list.js";
import { bindLock } from "./bind-lock.js";
import {
  bindAlterSequence,
  bindCreateSequence,
  bindDropNamespace,
  bindRenameNamespace,
  bindSetSchema,
} from "./bind-namespace.js";
import { bindOperatorStatement, isOperatorStatement } from "./bind-operator.js";
import { bindCreatePropertyGraph, bindDropPropertyGraph } from "./bind-property-graph.js";
import { bindQuery } from "./bind-query.js";
import { bindReindex } from "./bind-reindex.js";
import { bindRule } from "./bind-rule.js";
import { bindSetConstraints } from "./bind-set-constraints.js";
import { bindStatistics } from "./bind-statistics.js";
import { bindTrigger } from "./bind-trigger.js";
import { bindType } from "./bind-type.js";
import {
  bindAlterComposite,
  bindAlterDomain,
  bindAlterEnum,
  bindCreateDomain,
  bindCreateType,
  bindRenameAttribute,
} from "./bind-type-definition.js";
import { viewEnvironment } from "./bind-view.js";
import { Binding, PLAIN_QUERY, type QueryOptions, type Source } from "./binding.js";
import type { BindEnvironment, BoundQuery, BoundStatement } from "./bound-statement.js";
import { coerceAssignment, coerceExplicit, isUnknown } from "./coerce.js";
import { CursorTables } from "./cursor-tables.js";
import { checkedRights, refuseDenied } from "./relation-rights.js";
import { callsRoutines } from "./routine-function.js";
import { Scope } from "./scope.js";
import { writesData } from "./sequence-functions.js";
import { settleParameters } from "./settle-parameters.js";
import { printCondition } from "./shown/shown-condition.js";
import { printExpression } from "./shown/shown-expression.js";
import { printQuery } from "./shown/shown-query.js";
import { castColumns, project } from "./source.js";
import { holdsNames, withName } from "./system/define-function.js";
import { registerConditionPrinter, registerExpressionPrinter, registerQueryPrinter } from "./system/query-printing.js";
import { RowKeyNeeded } from "./system-columns.js";

registerQueryPrinter(printQuery);
registerExpressionPrinter(printExpression);
registerConditionPrinter(printCondition);

const DATABASE_VERBS = { create: "CREATE", alter: "ALTER", rename: "ALTER", drop: "DROP" } as const;

/**
 * Throws SQL errors as PostgreSQL has them (42P01, 42703, 42804, 42883, …) with the position of the offending token,
 * 0A000 for what is not supported yet, 54001 for a statement that nests too deeply or is too large.
 */
export function bindStatement(statement: Pick<Statement, "node">, env: BindEnvironment): BoundStatement {
  try {
    return withMadeCasts(env.catalog.madeCasts, () => bindNode(statement.node, env));
  } catch (error) {
    if (error instanceof RangeError) throw sqlError("54001", "statement too complex");
    throw withoutZeroPosition(error);
  }
}

/** Nodes whose place the grammar does not tell have position 0, which is none. */
function withoutZeroPosition(error: unknown): unknown {
  if (!(error instanceof DbError) || error.details?.position !== 0) return error;
  const { position: _, ...details } = error.details;
  return new DbError(error.code, error.message, details);
}

function bindNode(node: StatementNode, env: BindEnvironment): BoundStatement {
  try {
    return bindOnce(node, env);
  } catch (error) {
    if (!(error instanceof RowKeyNeeded) || env.keyedTables?.has(error.tableId)) throw error;
    return bindNode(node, { ...env, keyedTables: new Set([...(env.keyedTables ?? []), error.tableId]) });
  }
}

function bindOnce(node: StatementNode, env: BindEnvironment): BoundStatement {
  const binding = new Binding(env, bindQuery, bindData);
  const { kept } = env;
  const bound =
    kept === undefined
      ? bindWith(node, binding)
      : binding.within(viewEnvironment(kept, env), () => bindWith(node, binding));
  const [table] = binding.deniedSettled ? [] : binding.denied.values();
  if (table !== undefined) throw permissionDenied("table", table);
  return bound;
}

function bindWith(node: StatementNode, binding: Binding): BoundStatement {
  const { env } = binding;
  if (isFunctionStatement(node)) return bindFunctionStatement(node, binding, bindStatement);
  switch (node.kind) {
    case "explain":
      return bindExplain(node, env);
    case "transaction": {
      const { action, savepoint, chain, isolation, readOnly, deferrable } = node;
      const { isStart } = node;
      const options = { isolation, readOnly, deferrable };
      return { kind: "transaction", action, ...(isStart && { isStart }), savepoint, chain, options };
    }
    case "set":
      return bindSet(node);
    case "show":
      return node.name === "all" ? bindPlanned(allSettings(), binding) : { kind: "show", name: node.name };
    case "create table":
      return { kind: "ddl", command: bindCreateTable(node, binding) };
    case "create index":
      return { kind: "ddl", command: bindCreateIndex(node, binding), ...aloneIf(node, "CREATE INDEX CONCURRENTLY") };
    case "create extension":
      return { kind: "ddl", command: bindCreateExtension(node, env) };
    case "create table as":
      return bindCreateTableAs(node, binding);
    case "create table as execute":
      return bindCreateTableAsExecute(node);
    case "refresh":
      return bindRefresh(node, binding);
    case "create view":
      return bindCreateView(node, binding);
    case "create property graph":
      return { kind: "ddl", command: bindCreatePropertyGraph(node, binding) };
    case "drop property graph":
      return { kind: "ddl", command: bindDropPropertyGraph(node, binding) };
    case "drop":
      return bindDropped(node, binding);
    case "alter table":
      return bindAlterTable(node, binding, (newer) => new Binding(newer, bindQuery, bindData));
    case "rename":
      return bindRenamed(node, binding);
    case "verify":
      return bindVerify(node, binding);
    case "set constraints":
      return bindSetConstraints(node, binding);
    case "comment":
      return bindComment(node, binding);
    case "truncate":
      return { kind: "ddl", command: bindTruncate(node, binding) };
    case "create trigger":
    case "drop trigger":
    case "rename trigger":
    case "comment on trigger":
      return { kind: "ddl", command: bindTrigger(node, binding) };
    case "create rule":
    case "drop rule":
    case "rename rule":
      return { kind: "ddl", command: bindRule(node, binding, bindNode) };
    case "create statistics":
    case "drop statistics":
    case "alter statistics":
      return bindStatistics(node, binding);
    case "analyze":
    case "vacuum":
    case "cluster":
    case "checkpoint":
      return bindAnalyze(node, binding);
    default:
      return bindAccess(node, binding) ?? bindNamespace(node, binding) ?? bindPlanned(node, binding);
  }
}

const aloneIf = ({ concurrently }: { readonly concurrently?: true }, name: string) =>
  concurrently ? { alone: name } : {};

function bindDropped(node: DropStatement, binding: Binding): BoundStatement {
  if (node.object === "absent") return dropAbsent(node);
  if (node.object === "view" || node.object === "materialized view") {
    return { kind: "ddl", command: bindDropViews(node, binding) };
  }
  return {
    kind: "ddl",
    command: bindDropNamespace(node, binding.env) ?? bindDrop(node, binding),
    ...aloneIf(node, "DROP INDEX CONCURRENTLY"),
  };
}

/** Objects that cannot be created here do not exist. */
function dropAbsent(node: DropStatement): BoundStatement {
  const { what, names, ifExists, position } = node;
  if (what === "extension") return { kind: "ddl", command: bindDropExtension(node) };
  const name = names[0]?.path.join(".") ?? "";
  const message = `${what} ${/^(?:function|procedure|routine|aggregate)$/.test(what) ? `${name}()` : `"${name}"`} does not exist`;
  const tag = `DROP ${what.toUpperCase()}`;
  if (ifExists) return { kind: "ddl steps", tag, steps: [], notices: [`${message}, skipping`] };
  throw sqlError(/^(?:function|procedure|routine|aggregate|operator)$/.test(what) ? "42883" : "42704", message, {
    ...(position > 0 && { position }),
  });
}

/** SHOW ALL. */
function allSettings(): StatementNode {
  return parseSql(
    "SELECT name, setting, short_desc AS description FROM pg_catalog.pg_settings ORDER BY lower(name)",
  )[0]!.node;
}

/** Statements about schemas, sequences, types, indexes and the session; null: another one. */
function bindNamespace(node: StatementNode, binding: Binding): BoundStatement | null {
  const { env } = binding;
  const ddl = (command: DdlCommand | null, tag: string): BoundStatement =>
    command === null ? nothingToDo(tag) : { kind: "ddl", command };
  switch (node.kind) {
    case "create schema":
      return createSchema(node, binding.env, bindNode);
    case "reindex":
      return bindReindex(node, binding);
    case "create sequence":
      return ddl(bindCreateSequence(node, env), "CREATE SEQUENCE");
    case "alter sequence":
      return ddl(bindAlterSequence(node, env), "ALTER SEQUENCE");
    case "create type":
      return ddl(bindCreateType(node, binding), "CREATE TYPE");
    case "alter enum":
      return ddl(bindAlterEnum(node, binding), "ALTER TYPE");
    case "alter composite":
      return ddl(bindAlterComposite(node, binding), "ALTER TYPE");
    case "create domain":
      return ddl(bindCreateDomain(node, binding), "CREATE DOMAIN");
    case "alter domain":
      return ddl(bindAlterDomain(node, binding), "ALTER DOMAIN");
    case "set schema":
      return ddl(bindSetSchema(node, env), "ALTER TABLE");
    case "prepare": {
      const types = node.types.map((type) => bindType(type, binding));
      return { kind: "prepare", name: node.name, types, node: node.statement };
    }
    case "execute":
      return { kind: "execute", name: node.name, args: node.args };
    case "declare cursor":
      return bindDeclare(node, binding);
    case "fetch": {
      const { name, isMove, direction, count } = node;
      return { kind: "fetch", name, isMove, direction, count };
    }
    case "close cursor":
      return { kind: "close cursor", name: node.name };
    case "deallocate":
      return { kind: "deallocate", name: node.name };
    case "discard":
      return { kind: "discard", what: node.what };
    case "database":
      return { kind: "database", tag: `${DATABASE_VERBS[node.action]} DATABASE`, action: node };
    case "lock":
      return bindLock(node, binding);
    default:
      return isOperatorStatement(node) ? bindOperatorStatement(node, binding) : null;
  }
}

function nothingToDo(tag: string): BoundStatement {
  return { kind: "ddl steps", tag, steps: [], notices: [] };
}

function bindRenamed(node: RenameStatement, binding: Binding): BoundStatement {
  if (node.object === "attribute") return { kind: "ddl", command: bindRenameAttribute(node, binding) };
  const command = bindRenameNamespace(node, binding.env);
  return command === null ? bindRename(node, binding) : { kind: "ddl", command };
}

/** Statements that become a plan. */
function bindPlanned(node: StatementNode, binding: Binding): BoundQuery {
  switch (node.kind) {
    case "select":
      return finish(
        "select",
        namesShown(binding.query(node.query, outside(binding), optionsOf(binding)), binding),
        binding,
      );
    case "list":
      return finish("select", bindList(node, binding), binding);
    case "insert":
    case "update":
    case "delete":
    case "merge":
      return finish(node.kind, sourceOf(bindData(node, outside(binding), binding)), binding);
    default:
      throw sqlError("0A000", `${node.kind.toUpperCase()} is not supported yet`, { position: node.position });
  }
}

/** What a client gets of regclass and the like is the object's name. */
function namesShown(source: Source, binding: Binding): Source {
  if (!source.columns.some(({ type }) => holdsNames(type)) || binding.env.variables !== undefined) return source;
  const exprs = source.columns.map((column): Expr => {
    const expr = columnExpr(column);
    return holdsNames(column.type) ? withName(expr) : expr;
  });
  return project(
    source.plan,
    exprs,
    source.columns.map(({ name }) => name),
    binding,
  );
}

/** Around a statement inside a function: its variables. */
function outside({ env }: Binding): Scope | null {
  return env.variables === undefined ? null : new Scope(null, env.variables);
}

function optionsOf({ env }: Binding): QueryOptions {
  return env.expected === undefined ? PLAIN_QUERY : { ...PLAIN_QUERY, expected: env.expected.types };
}

function sourceOf(plan: Plan): Source {
  return { plan, columns: plan.columns };
}

function finish(command: BoundQuery["command"], given: Source, binding: Binding): BoundQuery {
  const source = asExpected(given, binding);
  const parameterTypes = binding.parameterTypes();
  const placed = binding.commonTables.place(source.plan);
  const plan = named(settleParameters(placed, parameterTypes), source.columns);
  refuseDenied(plan, binding);
  return {
    kind: "query",
    command,
    plan,
    columns: command === "select" ? withOrigins(ownColumns(plan, binding), binding) : plan.columns,
    ...(binding.cursorTables?.isGiven && { cursorTables: binding.cursorTables.tables }),
    parameterTypes,
    openParameters: [...binding.open],
    readOnly: !modifiesData(plan) && calledWriter(plan) === null && !callsRoutines(plan),
    callsRoutines: !modifiesData(plan) && calledWriter(plan) === null && callsRoutines(plan),
    returnsRows: command === "select" || plan.columns.length > 0,
    ...(binding.locksRows && { locksRows: true as const }),
  };
}

/** Without what tells a cursor's rows. */
function ownColumns({ columns }: Plan, { cursorTables }: Binding): Plan["columns"] {
  return cursorTables?.isGiven ? columns.slice(0, columns.length - cursorTables.exprs.length) : columns;
}

function withOrigins(columns: Plan["columns"], { origins }: Binding): Plan["columns"] {
  if (origins?.length !== columns.length || origins.every((origin) => origin === null)) return columns;
  return columns.map((column, i) => {
    const origin = origins[i];
    return origin == null ? column : { ...column, origin };
  });
}

/** The plan's columns under the names of the result; WITH and column aliases rename without a node of their own. */
function named(plan: Plan, columns: readonly OutputColumn[]): Plan {
  const same = columns.every((column, i) => column.name === plan.columns[i]!.name);
  if (same && columns.length === plan.columns.length) return plan;
  return Object.freeze({ ...plan, columns });
}

/** The first function that changes data of those that the plan calls; null: it calls none. */
export function calledWriter(plan: Plan): ScalarFunction | null {
  let writer: ScalarFunction | null = null;
  const isWriter = (part: Expr): boolean => {
    if (part.kind !== "call" || !writesData(part.fn)) return false;
    writer = part.fn;
    return true;
  };
  walkPlan(plan, (node) => {
    if (writer !== null || exprsOfPlan(node).some((expr) => someExpr(expr, isWriter))) return;
    for (const subquery of subqueriesOf(node)) writer ??= calledWriter(subquery.plan);
  });
  return writer;
}

/** The rows in the form that the surrounding function needs. */
function asExpected(source: Source, binding: Binding): Source {
  const { expected } = binding.env;
  if (expected === undefined) return source;
  expected.check(source.columns);
  if (source.columns.length !== expected.types.length) return source;
  return castColumns(source, expected.types, binding, (expr, type, i) => {
    if (expected.throughText && !isUnknown(expr) && !canCoerce(expr.type, type, "assignment")) {
      return coerceExplicit(coerceExplicit(expr, TEXT, binding, 0), type, binding, 0);
    }
    return coerceAssignment(expr, { name: source.columns[i]!.name, type }, binding, 0);
  });
}

function bindExplain(node: ExplainStatement, env: BindEnvironment): BoundStatement {
  const { analyze, verbose, format } = node;
  const costs = !node.options.some(({ name, value }) => name === "costs" && /^(?:false|off|0)$/i.test(String(value)));
  const shown = { analyze, verbose, costs, format };
  if (node.statement.kind === "execute") {
    const { name, args } = node.statement;
    return { kind: "explain execute", execute: { kind: "execute", name, args }, ...shown };
  }
  const statement = bindPlanned(node.statement, new Binding(env, bindQuery, bindData));
  return { kind: "explain", statement, ...shown };
}

function bindDeclare(node: DeclareCursorStatement, binding: Binding): BoundStatement {
  const { name, binary, scroll, hold, query, position } = node;
  if (query.body.kind === "select") binding.cursorTables = new CursorTables();
  const statement = bindPlanned({ kind: "select", query, position }, binding);
  if (modifiesData(statement.plan)) {
    throw sqlError("0A000", "DECLARE CURSOR must not contain data-modifying statements in WITH", { position });
  }
  return { kind: "declare cursor", name, binary, scroll, hold, statement };
}

/** Throws 42809 for a table without a primary key, 42601 unless each of its columns has one value. */
function recordKey(table: TableDef, given: readonly VerifyKey[], position: number): (string | number)[] {
  if (table.primaryKey === null) {
    throw sqlError("42809", `table "${table.name}" has no primary key, by which a record could be named`, { position });
  }
  const columns = table.primaryKey.map((id) => table.columns.find((column) => column.id === id)!.name);
  const values = columns.map((name, i) =>
    given[i]?.column == null ? given[i] : given.find((one) => one.column === name),
  );
  const isWhole = given.length === columns.length && values.every((value) => value !== undefined);
  if (isWhole) return values.map((value) => value!.value);
  throw sqlError("42601", `a record of "${table.name}" is named by its primary key: ${columns.join(", ")}`, {
    position,
  });
}

/** Throws 42809 for a table that is not immutable. */
function bindVerify(node: VerifyStatement, binding: Binding): BoundStatement {
  const table = lookUpTable(node.table, binding);
  if (checkedRights(binding.env)?.mayAll(table.id, ["r"]) === false) throw permissionDenied("table", table.name);
  if (table.immutable) {
    return { kind: "verify", table, ...(node.key !== undefined && { key: recordKey(table, node.key, node.position) }) };
  }
  throw sqlError("42809", `table "${table.name}" is not immutable`, { position: node.position });
}

function bindSet(node: SetStatement): BoundStatement {
  const { transaction, name, values, local, resets } = node;
  if (transaction === null) return { kind: "set", name, values, local, ...(resets && { resets }) };
  if (node.name === "session characteristics") return { kind: "set defaults", options: transaction };
  return { kind: "transaction", action: "set", savepoint: null, chain: false, options: transaction };
}
