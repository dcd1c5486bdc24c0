/**
 * Expressions that definitions keep as SQL text over one row: checks, generated columns, keys and predicates of
 * indexes. They name columns without the table, so that a table can be renamed without touching them.
 */
import { referenceTo } from "../../catalog/object-reference.js";
import { describeOperator } from "../../catalog/operator.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { CallNode, ExprNode, TypeNode } from "../parse/ast-query.js";
import { parseExpression } from "../parse/parse.js";
import { printExpr } from "../parse/print-expr.js";
import { contextOf, type ExprContext } from "./bind-context.js";
import type { Binding } from "./binding.js";
import { withRelationsById } from "./relation-literals.js";
import { itemOf } from "./row-item.js";
import { Scope } from "./scope.js";
import { withSequencesInFull } from "./sequence-functions.js";
import { rowColumnsOf } from "./stored-row.js";

type ColumnNode = Extract<ExprNode, { kind: "column" }>;

/** The text to keep of an expression that was bound by now. Throws 0A000 for one of which the meaning may change. */
export function storedSql(node: ExprNode, binding: Binding): string {
  const { madeCast } = binding;
  if (madeCast !== null) {
    throw sqlError("0A000", `a stored expression cannot use the ${describeOperator(madeCast)}, which may change`, {
      hint: "Call the cast's function, or cast to text and from there.",
    });
  }
  return writtenSql(exactNode(node, binding));
}

/** The same of one whose names stay as they are written. */
export function writtenSql(node: ExprNode): string {
  return printExpr(mapColumns(node, (column) => ({ ...column, path: column.path.slice(-1) })));
}

/** Names of the columns that the expression reads, in order of appearance. */
export function columnsRead(node: ExprNode): string[] {
  const names = new Set<string>();
  mapColumns(node, (column) => {
    names.add(column.path.at(-1) ?? "");
    return column;
  });
  return [...names];
}

/** The same of a stored expression. */
export function columnsReadBy(sql: string): string[] {
  return columnsRead(parseExpression(sql));
}

/** Whether a stored expression reads the column. */
export function readsColumn(name: string): (sql: string) => boolean {
  return (sql) => columnsReadBy(sql).includes(name);
}

/**
 * A stored expression with a column under another name; WHEN of triggers says whether it is the old row's or the new
 * one's.
 */
export function renamesColumn(from: string, to: string): (sql: string) => string {
  return (sql) =>
    printExpr(
      mapColumns(parseExpression(sql), (column) => {
        const { path } = column;
        const isMeant = path.at(-1) === from && (path.length === 1 || path[0] === "old" || path[0] === "new");
        return isMeant ? { ...column, path: [...path.slice(0, -1), to] } : column;
      }),
    );
}

/** The tree with its column references replaced; nodes of the syntax tree are plain objects and arrays. */
function mapColumns(node: ExprNode, change: (column: ColumnNode) => ColumnNode): ExprNode {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== "object" || value === null) return value;
    if ("kind" in value && value.kind === "column") return change(value as ColumnNode);
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, visit(child)]));
  };
  return visit(node) as ExprNode;
}

/** A place where an expression over one row of the table stands; `clause` names it in messages. */
export function rowContext(table: TableDef, clause: string, binding: Binding): ExprContext {
  let row = binding.storedRows.get(table);
  if (row === undefined) {
    row = itemOf(table, table.name, rowColumnsOf(table, binding));
    binding.storedRows.set(table, row);
  }
  const scope = new Scope(null);
  scope.items = [row];
  return { ...contextOf(binding, scope, clause), subqueries: false };
}

/** A stored expression has no statement whose parameters it could use. Throws 42P02. */
export function refuseParameters(node: unknown, where: string): void {
  if (typeof node !== "object" || node === null) return;
  if ("kind" in node && node.kind === "parameter") {
    const { index, position } = node as Extract<ExprNode, { kind: "parameter" }>;
    throw sqlError("42P02", `there is no parameter $${index + 1} in ${where}`, { position });
  }
  for (const child of Object.values(node)) refuseParameters(child, where);
}

/** An expression to be kept, which was bound by now: with ids for names, OIDs for relations, and sequences in full. */
export function exactNode(node: ExprNode, binding: Binding): ExprNode {
  return withRelationsById(withSequencesInFull(withReferences(node, binding) as ExprNode, binding.env), binding.env);
}

/** Nodes of the syntax tree are plain objects and arrays. */
function withReferences(value: unknown, binding: Binding): unknown {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, binding));
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withReferences(child, binding)]));
  const id = binding.noted.named.get(value);
  if (id === undefined) return copy;
  const schema = referenceTo(id);
  const { path } = value as Partial<CallNode>;
  return path === undefined
    ? ({ ...copy, schema } as TypeNode)
    : ({ ...copy, path: [schema, path.at(-1)!] } as unknown as CallNode);
}
