/** Row values: ROW(…), whole rows of relations, fields of composite values. Called by the binders of expressions. */
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import { displayName } from "../../query/expr/types.js";
import { type RecordField, recordName, recordOf, TEXT } from "../../values/values.js";
import type { ColumnNode, ExprNode, FieldNode, RowNode } from "../parse/ast-query.js";
import type { ExprContext } from "./bind-context.js";
import type { Binding } from "./binding.js";
import type { Bind } from "./call-arguments.js";
import { constant, isUnknown, suggestedType } from "./coerce.js";
import { fieldSelector, rowConstructor, rowType, wholeRow } from "./record-functions.js";
import type { ScopeItem } from "./scope.js";

/** `ROW(…)`: a record whose fields are f1, f2, … Literals are text until the row becomes a composite type. */
export function bindRow(node: RowNode, context: ExprContext, bind: Bind): Expr {
  const { binding } = context;
  const items = bindItems(node.items, context, bind);
  const args = items.map((item) => settled(item, binding));
  const fn = rowConstructor(rowType(args.map((arg) => arg.type)));
  const row: Expr = Object.freeze({ kind: "call", type: fn.returns, fn, args });
  binding.setRowItems(row, items);
  return binding.setPosition(row, node.position);
}

/** Text, or what a parameter's value suggests; which types the items get at last is open. */
function settled(item: Expr, binding: Binding): Expr {
  if (!isUnknown(item)) return item;
  if (item.kind === "const") return constant(TEXT, item.value);
  return Object.freeze({ ...item, type: suggestedType(item, binding) ?? TEXT });
}

/** Expressions with `t.*` and `(r).*` among them taken apart. */
export function bindItems(nodes: readonly ExprNode[], context: ExprContext, bind: Bind): Expr[] {
  return nodes.flatMap((node) => {
    if (node.kind === "column" && node.star && node.path.length > 0) {
      return context.scope.starItem(node.path, node.position).columns.map(({ expr }) => expr);
    }
    if (node.kind === "field" && node.name === "*") return fieldsOf(node, context, bind).map(({ expr }) => expr);
    return [bind(node, context)];
  });
}

/** The same for lists that are bound one by one: VALUES, and ROW(…) that is assigned. Nodes without a star stay. */
export function expandStars(nodes: readonly ExprNode[], context: ExprContext, bind: Bind): readonly ExprNode[] {
  const isStar = (node: ExprNode) =>
    (node.kind === "column" && node.star) || (node.kind === "field" && node.name === "*");
  if (!nodes.some(isStar)) return nodes;
  return nodes.flatMap((node): ExprNode[] => {
    if (node.kind === "column" && node.star && node.path.length > 0) {
      const { columns } = context.scope.starItem(node.path, node.position);
      return columns.map(({ name }) => ({ ...node, path: [...node.path, name], star: false }));
    }
    if (node.kind !== "field" || node.name !== "*") return [node];
    return fieldsOf(node, context, bind).map(({ name }) => ({ ...node, name }));
  });
}

/** The relation's row as one value; NULL where an outer join found none. */
export function rowOfRelation(item: ScopeItem, binding: Binding): Expr {
  if (item.scalar === true) return item.columns[0]!.expr;
  // A table's columns keep their names whatever the alias calls them.
  const fields = item.columns.map(
    ({ name, expr }, i): RecordField => ({ name: item.table?.columns[i]?.name ?? name, type: expr.type }),
  );
  const type = recordOf(fields, item.table?.name);
  const perhapsMissing = item.columns.every(({ expr }) => expr.kind === "column" && binding.isMissing(expr.id));
  const fn = perhapsMissing ? wholeRow(type) : rowConstructor(type);
  return Object.freeze({ kind: "call", type, fn, args: item.columns.map(({ expr }) => expr) });
}

/** `t` where a column is expected, or `t.*` as one value; null when no relation has the name. */
export function bindWholeRow(node: ColumnNode, context: ExprContext): Expr | null {
  const { scope, binding } = context;
  if (!node.star && node.path.length > 1) return null;
  if (!node.star && !scope.isRelation(node.path[0]!)) return null;
  const item = scope.starItem(node.path, node.position);
  binding.noted.printed?.rows.set(node, item);
  return binding.setPosition(rowOfRelation(item, binding), node.position);
}

/** `(input).name`. Throws 42703 for a field that is not there, 42809 for what has none. */
export function bindField(node: FieldNode, context: ExprContext, bind: Bind): Expr {
  const { position, name } = node;
  const { binding } = context;
  if (name === "*") throw sqlError("42601", 'row expansion via "*" is not supported here', { position });
  const own = relationOf(node.input, context)?.columns.find((column) => column.name === name);
  if (own?.expr.kind === "column") return binding.setPosition(Object.freeze({ ...own.expr }), position);
  const input = bind(node.input, context);
  const { fields } = compositeOf(input, node);
  const index = fields.findIndex((field) => field.name === name);
  if (index >= 0) return select(input, index);
  const typeName = recordName(input.type);
  const message =
    typeName === null
      ? `could not identify column "${name}" in record data type`
      : `column "${name}" not found in data type ${typeName}`;
  throw sqlError("42703", message, { position });
}

/** What the name of a relation means, whose columns may have other names here; null: it is no such name. */
function relationOf(node: ExprNode, { scope }: ExprContext): ScopeItem | null {
  if (node.kind !== "column" || node.star || node.path.length !== 1 || !scope.isRelation(node.path[0]!)) return null;
  try {
    scope.resolve(node);
    return null;
  } catch {
    return scope.starItem(node.path, node.position);
  }
}

/** `(input).*`, field by field. */
export function fieldsOf(
  node: FieldNode,
  context: ExprContext,
  bind: Bind,
): { readonly name: string; readonly expr: Expr }[] {
  const input = bind(node.input, context);
  const { fields } = compositeOf(input, node);
  return fields.map(({ name }, i) => ({ name, expr: select(input, i) }));
}

function compositeOf(input: Expr, { name, position }: FieldNode): { readonly fields: readonly RecordField[] } {
  const { type } = input;
  if (type.fields !== undefined) return { fields: type.fields };
  if (type.name === "record") {
    const message =
      name === "*" ? "record type has not been registered" : `could not identify column "${name}" in record data type`;
    throw sqlError(name === "*" ? "42809" : "42703", message, { position });
  }
  const what = name === "*" ? "column notation .*" : `column notation .${name}`;
  const message = `${what} applied to type ${displayName(type)}, which is not a composite type`;
  throw sqlError("42809", message, { position });
}

/** A field of a row that is written out is the item itself. */
function select(input: Expr, index: number): Expr {
  if (input.kind === "call" && input.fn === rowConstructor(input.type)) return input.args[index]!;
  const fn = fieldSelector(input.type, index);
  return Object.freeze({ kind: "call", type: fn.returns, fn, args: [input] });
}

/** `name(row)` is `(row).name`; null when the row has no such field. */
export function fieldCall(name: string, args: readonly Expr[]): Expr | null {
  const [input] = args;
  if (args.length !== 1 || input === undefined) return null;
  const index = input.type.fields?.findIndex((field) => field.name === name) ?? -1;
  return index < 0 ? null : select(input, index);
}
