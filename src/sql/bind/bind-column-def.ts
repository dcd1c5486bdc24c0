/** Columns of CREATE TABLE and ALTER TABLE ADD COLUMN: type, default, identity, generated. */
import type { NewColumn } from "../../catalog/new-column.js";
import { FOLLOWING_SEQUENCE, PLAIN_SEQUENCE, type SequenceOptions } from "../../catalog/sequence.js";
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { checkColumnName } from "../../catalog/table-names.js";
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import { dependsOnStyle, isReadBySettings } from "../../query/expr/style-dependence.js";
import { isVolatile, someExpr } from "../../query/expr/walk.js";
import { INT2, INT4, INT8, type SqlType } from "../../values/values.js";
import type { ColumnDefNode } from "../parse/ast-definitions.js";
import type { ExprNode } from "../parse/ast-query.js";
import { printExpr } from "../parse/print-expr.js";
import { contextOf } from "./bind-context.js";
import { givenCollation } from "./bind-details.js";
import { bindExpr } from "./bind-expr.js";
import { bindSequenceOptions } from "./bind-sequence.js";
import { bindStoredType, checkStorable } from "./bind-type.js";
import type { Binding } from "./binding.js";
import { coerceAssignment } from "./coerce.js";
import { Scope } from "./scope.js";
import { columnsRead, exactNode, refuseParameters, rowContext, storedSql } from "./stored-expression.js";

/** Names for an integer type with a sequence of its own. */
const SERIAL_TYPES: Readonly<Record<string, SqlType>> = {
  serial: INT4,
  serial4: INT4,
  bigserial: INT8,
  serial8: INT8,
  smallserial: INT2,
  serial2: INT2,
};

/** A column with its expressions still as trees: they are bound when the whole table is known. */
export interface ColumnDraft {
  readonly column: NewColumn;
  readonly defaultNode: ExprNode | null;
  readonly generatedNode: ExprNode | null;
  /** Absent: an UPDATE leaves the column alone. */
  readonly onUpdateNode?: ExprNode;
}

export function draftColumn(node: ColumnDefNode, binding: Binding): ColumnDraft {
  const serial = node.type.arrayDimensions === 0 ? SERIAL_TYPES[node.type.name] : undefined;
  const type = serial ?? bindStoredType(node.type, binding);
  checkStorable(type, node.name, node.position);
  const draft = draftOfType(node, type, serial !== undefined);
  const collation = givenCollation(node.collation, type, node.position);
  return collation === null ? draft : { ...draft, column: { ...draft.column, details: { collation } } };
}

/** A column whose type is known. `serial`: a sequence of its own numbers it. */
export function draftOfType(
  node: Pick<ColumnDefNode, "name" | "constraints" | "position">,
  type: SqlType,
  serial: boolean,
): ColumnDraft {
  const { name, position } = node;
  checkColumnName(name);
  let notNull = serial;
  let nullable = false;
  let identity: NewColumn["identity"] = null;
  let sequence: SequenceOptions | null = serial ? PLAIN_SEQUENCE : null;
  let defaultNode: ExprNode | null = null;
  let generatedNode: ExprNode | null = null;
  let onUpdateNode: ExprNode | null = null;
  for (const constraint of node.constraints) {
    const at = { position: constraint.position };
    switch (constraint.kind) {
      case "not null":
        notNull = true;
        break;
      case "null":
        nullable = true;
        break;
      case "default":
        if (identity !== null) throw both("default and identity", name, at);
        if (generatedNode !== null) throw both("default and generation expression", name, at);
        if (defaultNode !== null || sequence !== null) throw twice("default values", name, at);
        defaultNode = constraint.expr;
        break;
      case "identity":
        if (![INT2, INT4, INT8].includes(type)) {
          throw sqlError("22023", "identity column type must be smallint, integer, or bigint", { position });
        }
        if (identity !== null) throw twice("identity specifications", name, at);
        if (defaultNode !== null || sequence !== null) throw both("default and identity", name, at);
        if (generatedNode !== null) throw both("identity and generation expression", name, at);
        identity = constraint.always ? "always" : "by default";
        sequence = bindSequenceOptions(constraint.options);
        notNull = true;
        break;
      case "assigned":
        if (![INT2, INT4, INT8].includes(type)) {
          throw sqlError("22023", "a column whose values are assigned must be smallint, integer, or bigint", {
            position,
          });
        }
        if (identity !== null || sequence !== null) throw twice("identity specifications", name, at);
        if (defaultNode !== null) throw both("default and identity", name, at);
        if (generatedNode !== null) throw both("identity and generation expression", name, at);
        identity = "by default";
        sequence = FOLLOWING_SEQUENCE;
        notNull = true;
        break;
      case "on update":
        if (generatedNode !== null) throw both("generation expression and ON UPDATE", name, at);
        onUpdateNode = constraint.expr;
        break;
      case "generated":
        if (!constraint.stored) throw sqlError("0A000", "a virtual generated column is not supported yet", at);
        if (generatedNode !== null) throw twice("generation clauses", name, at);
        if (defaultNode !== null || sequence !== null) throw both("default and generation expression", name, at);
        if (identity !== null) throw both("identity and generation expression", name, at);
        generatedNode = constraint.expr;
        break;
    }
  }
  if (notNull && nullable) {
    throw sqlError("42601", `conflicting NULL/NOT NULL declarations for column "${name}"`, { position });
  }
  const column = { name, type, notNull, defaultSql: null, identity, sequence };
  return { column, defaultNode, generatedNode, ...(onUpdateNode !== null && { onUpdateNode }) };
}

function twice(what: string, name: string, at: { position: number }): Error {
  return sqlError("42601", `multiple ${what} specified for column "${name}"`, at);
}

function both(what: string, name: string, at: { position: number }): Error {
  return sqlError("42601", `both ${what} specified for column "${name}"`, at);
}

/** A definition to bind expressions and constraints over, before the table has one. */
export function draftTable(schema: string, name: string, drafts: readonly ColumnDraft[]): TableDef {
  return {
    id: 0,
    schema,
    name,
    columns: drafts.map(
      ({ column, generatedNode }, id): ColumnDef => ({
        ...column,
        id,
        missingSql: null,
        ...(generatedNode !== null && { generatedSql: printExpr(generatedNode) }),
      }),
    ),
    primaryKey: null,
    primaryKeyName: null,
    indexes: [],
    checks: [],
    nextColumnId: drafts.length,
    createdAt: 0,
  };
}

/** The column with its expressions as text, proven to bind. `table`: with all its columns. */
export function finishColumn(draft: ColumnDraft, table: TableDef, binding: Binding): NewColumn {
  const { defaultNode, generatedNode, onUpdateNode } = draft;
  const onUpdate = onUpdateNode && defaultSql(onUpdateNode, draft.column, binding);
  const column = onUpdate ? { ...draft.column, onUpdateSql: onUpdate } : draft.column;
  if (defaultNode !== null) return { ...column, defaultSql: defaultSql(defaultNode, column, binding) };
  if (generatedNode !== null) return { ...column, generatedSql: generatedSql(generatedNode, column, table, binding) };
  return column;
}

/** Null for NULL, which is what a column without a default gets. Throws 0A000, 42804. */
export function defaultSql(node: ExprNode, column: Pick<ColumnDef, "name" | "type">, binding: Binding): string | null {
  boundDefault(node, column, binding);
  // A NULL is what a column without a default gets, unless its domain has one.
  if (node.kind === "null" && column.type.user?.kind !== "domain") return null;
  return printExpr(exactNode(column.type.typeName === "regclass" ? asRelation(node) : node, binding));
}

/** A literal for a column of the type means a relation. */
function asRelation(node: ExprNode): ExprNode {
  if (node.kind !== "string") return node;
  const { position } = node;
  const name = { name: "regclass", schema: null, modifiers: [], arrayDimensions: 0, setOf: false };
  return { kind: "cast", input: node, type: { ...name, position }, position };
}

export function boundDefault(node: ExprNode, column: Pick<ColumnDef, "name" | "type">, binding: Binding): Expr {
  const { position } = node;
  if (node.kind === "column")
    throw sqlError("0A000", "cannot use column reference in DEFAULT expression", { position });
  const context = { ...contextOf(binding, new Scope(null), "DEFAULT expressions"), subqueries: false };
  refuseParameters(node, "DEFAULT expressions");
  return coerceAssignment(bindExpr(node, context), column, binding, position);
}

/** Throws 42P17 for what is not immutable or reads a generated column. */
function generatedSql(node: ExprNode, column: NewColumn, table: TableDef, binding: Binding): string {
  const { position } = node;
  refuseParameters(node, "column generation expressions");
  const isGenerated = (name: string) =>
    name === column.name || table.columns.some((other) => other.name === name && other.generatedSql);
  const other = columnsRead(node).find(isGenerated);
  if (other !== undefined) {
    throw sqlError("42P17", `cannot use generated column "${other}" in column generation expression`, {
      position,
      detail:
        other === column.name
          ? "This would cause the generated column to depend on its own value."
          : "A generated column cannot reference another generated column.",
    });
  }
  const context = rowContext(table, "column generation expressions", binding);
  const expr = coerceAssignment(bindExpr(node, context), column, binding, position);
  if (!isImmutable(expr)) throw sqlError("42P17", "generation expression is not immutable", { position });
  return storedSql(node, binding);
}

/** What depends on the session: its settings decide how a date is written. A constant is read once. */
function isStable(part: Expr): boolean {
  if (part.kind === "call") return part.fn.volatility !== "immutable";
  if (part.kind !== "cast" || part.input.kind === "const") return false;
  return dependsOnStyle(part.input.type, part.type) || isReadBySettings(part.input.type, part.type);
}

/** Whether the value depends on the columns alone. */
export function isImmutable(expr: Expr): boolean {
  return !isVolatile(expr) && !someExpr(expr, isStable);
}
