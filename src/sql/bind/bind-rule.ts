/**
 * CREATE RULE, as a trigger that runs statements: DO INSTEAD replaces what a statement would do with each row, DO ALSO
 * follows it. The statements see the row in NEW and OLD; those that name neither run once per statement.
 */
import type { RelationName, RuleCommand } from "../../catalog/ddl-command.js";
import type { TableDef } from "../../catalog/table.js";
import type { NewTrigger } from "../../catalog/trigger.js";
import type { ViewDef } from "../../catalog/view.js";
import { sqlError } from "../../protocol/errors.js";
import { displayName } from "../../query/expr/types.js";
import { BOOL, recordOf } from "../../values/values.js";
import type { CreateRuleStatement, RuleStatement } from "../parse/ast.js";
import type { ColumnNode, ExprNode, NameNode } from "../parse/ast-query.js";
import { printExpr } from "../parse/print-expr.js";
import { bindBoolean } from "./bind-expr.js";
import { lookUpTable } from "./bind-from.js";
import { whenContext } from "./bind-trigger.js";
import { findView } from "./bind-view.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment, BoundStatement, Noted } from "./bound-statement.js";
import { tableOfView } from "./instead-of.js";
import { RelationRecorder } from "./relation-recorder.js";
import { rowVariables } from "./row-variables.js";
import { conditionQuery, hasSubquery } from "./rule-condition.js";
import { isOfRow, namesRow } from "./rule-rows.js";
import { exactNode } from "./stored-expression.js";
import { rowColumnsOf } from "./stored-row.js";
import { exactText } from "./stored-text.js";

/** Binds one of a rule's statements. */
export type BindAction = (action: CreateRuleStatement["actions"][number], env: BindEnvironment) => BoundStatement;

export function bindRule(node: RuleStatement, binding: Binding, bindAction: BindAction): RuleCommand {
  switch (node.kind) {
    case "create rule":
      return createRule(node, binding, bindAction);
    case "drop rule": {
      const { name, ifExists } = node;
      return { kind: "drop rule", relation: nameOf(node.relation, ifExists, binding), name, ifExists };
    }
    case "rename rule": {
      const { name, newName } = node;
      return { kind: "rename rule", relation: nameOf(node.relation, false, binding), name, newName };
    }
  }
}

function nameOf(node: NameNode, mayBeMissing: boolean, binding: Binding): RelationName {
  const { position } = node;
  try {
    const { schema, name } = findView(node, binding) ?? lookUpTable(node, binding);
    return { schema, name, position };
  } catch (error) {
    if (!mayBeMissing) throw error;
    return { schema: node.path.length > 1 ? node.path[0]! : "public", name: node.path.at(-1)!, position };
  }
}

function createRule(node: CreateRuleStatement, binding: Binding, bindAction: BindAction): RuleCommand {
  const { position, event, instead, actions } = node;
  const refuse = (what: string) => sqlError("0A000", `${what} is not supported yet`, { position });
  if (event === "select") throw refuse("a rule ON SELECT");
  const view = findView(node.relation, binding);
  const relation: TableDef | ViewDef = view ?? lookUpTable(node.relation, binding);
  const table = view === null ? (relation as TableDef) : tableOfView(view);
  if (table.materialized) throw sqlError("42809", `relation "${table.name}" cannot have rules`);
  if ((table.children ?? table.parents) !== undefined) throw refuse("a rule on a table with partitions or heirs");
  checkRows(node);
  const asks = hasSubquery(node.where);
  // A subquery's own columns may have the same names, so there each says of which row it is.
  const where = asks ? node.where : conditionOf(node, table);
  if (where !== null && !asks) {
    const rows = [rowColumnsOf(table, binding), rowColumnsOf(table, binding)] as const;
    bindBoolean(where, "WHERE", whenContext(table, ...rows, binding, "rule WHERE conditions"));
  }
  const variables = rowVariables(recordOf(table.columns, table.name));
  const relations = new RelationRecorder(binding.env.catalog);
  // Its own is one of those that it names.
  relations.catalog[view === null ? "table" : "view"](relation.schema, relation.name);
  const { noted } = binding;
  const env: BindEnvironment = { ...binding.env, catalog: relations.catalog, noted, variables };
  const bound = actions.map((action) => bindAction(action, env));
  const asked = asks ? [bindCondition(where!, env, bindAction)] : [];
  const returns = checkReturning(node, bound, table);
  const isOfRows = namesRow(where) || namesRow(actions);
  // Of a table a condition decides which rows the statement leaves out; to a view nothing happens by itself.
  const timing = !instead ? "after" : node.where === null || view !== null ? "instead of" : "before";
  const rule: NewTrigger = {
    name: node.name,
    timing,
    // A condition decides row by row.
    level: isOfRows || asks || (instead && node.where !== null) ? "row" : "statement",
    events: [event],
    ...(where !== null && !asks && { when: printExpr(exactNode(where, binding)) }),
    calls: {
      ...exactRule({ ...node, where }, relation, noted),
      searchPath: binding.env.searchPath,
      relations: relations.list(
        [...asked, ...bound].flatMap((each) => (each.kind === "query" ? [each.plan] : [])),
        noted.changed,
      ),
      ...(returns && { returns: true as const }),
      ...(asks && { asks: true as const }),
      ...(actions.length === 0 && { nothing: true as const }),
    },
    args: [],
  };
  const { schema, name } = relation;
  return {
    kind: "create rule",
    relation: { schema, name, position: node.relation.position },
    replace: node.replace,
    rule,
  };
}

/** Throws 42804 for a condition that is no truth value. */
function bindCondition(where: ExprNode, env: BindEnvironment, bindAction: BindAction): BoundStatement {
  const bound = bindAction(conditionQuery(where), env);
  const type = bound.kind === "query" ? bound.columns[0]!.type : BOOL;
  if (type.name === "bool") return bound;
  throw sqlError("42804", `argument of WHERE must be type boolean, not type ${displayName(type)}`, {
    position: where.position,
  });
}

/** Of INSERT and DELETE there is one row, so names of its columns need not say of which. */
function conditionOf({ where, event }: CreateRuleStatement, { columns }: Pick<TableDef, "columns">): ExprNode | null {
  const row = event === "insert" ? "new" : event === "delete" ? "old" : null;
  if (where === null || row === null) return where;
  return ofRow(where, row, new Set(columns.map(({ name }) => name))) as ExprNode;
}

/** The tree with the row's name before those of its columns. */
function ofRow(node: unknown, row: "new" | "old", columns: ReadonlySet<string>): unknown {
  if (typeof node !== "object" || node === null) return node;
  if (Array.isArray(node)) return node.map((child) => ofRow(child, row, columns));
  const { kind, path } = node as Partial<ColumnNode>;
  if (kind === "column" && path?.length === 1 && columns.has(path[0]!)) return { ...node, path: [row, path[0]!] };
  return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, ofRow(child, row, columns)]));
}

/** The text to keep: NEW and OLD name columns of the rule's relation. */
function exactRule(
  { text, where, actions, position }: CreateRuleStatement,
  { id }: { readonly id: number },
  noted: Noted,
) {
  const note = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    if (isOfRow(node) && node.path.length === 2) noted.own.set(node, id);
    for (const child of Object.values(node)) note(child);
  };
  note([where, actions]);
  const { sql, places } = exactText(text, { tree: [where, actions], origin: position }, noted);
  return { sql, ...(places && { places }) };
}

/** Throws 42P17 for a row that the rule's event does not have. */
function checkRows({ event, where, actions, position }: CreateRuleStatement): void {
  if (event === "insert" && namesRow([where, ...actions], "old")) {
    throw sqlError("42P17", "ON INSERT rule cannot use OLD", { position });
  }
  if (event === "delete" && namesRow([where, ...actions], "new")) {
    throw sqlError("42P17", "ON DELETE rule cannot use NEW", { position });
  }
}

/** Whether the rule answers with rows. Throws 0A000, 42P17 where it may not, or with other columns. */
function checkReturning(
  { instead, where }: CreateRuleStatement,
  bound: readonly BoundStatement[],
  table: TableDef,
): boolean {
  const returning = bound.flatMap((each) =>
    each.kind === "query" && each.command !== "select" && each.returnsRows ? [each] : [],
  );
  const [only, ...others] = returning;
  if (only === undefined) return false;
  if (others.length > 0) throw sqlError("0A000", "cannot have multiple RETURNING lists in a rule");
  if (where !== null) throw sqlError("0A000", "RETURNING lists are not supported in conditional rules");
  if (!instead) throw sqlError("0A000", "RETURNING lists are not supported in non-INSTEAD rules");
  table.columns.forEach(({ name, type }, i) => {
    const given = only.columns[i];
    if (given === undefined) throw sqlError("42P17", "RETURNING list has too few entries");
    if (given.type.name === type.name) return;
    const detail = `RETURNING list entry has type ${displayName(given.type)}, but column has type ${displayName(type)}.`;
    const message = `RETURNING list's entry ${i + 1} has different type from column "${name}"`;
    throw sqlError("42P17", message, { detail });
  });
  if (only.columns.length > table.columns.length) throw sqlError("42P17", "RETURNING list has too many entries");
  return true;
}
