/** PRIMARY KEY, UNIQUE, CHECK and FOREIGN KEY, of CREATE TABLE and ALTER TABLE, over the table as it will be. */
import type { NewCheck, NewForeignKey, NewKey } from "../../catalog/ddl-command.js";
import { missingColumn } from "../../catalog/did-you-mean.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { canCoerce } from "../../query/expr/coercion.js";
import { displayName } from "../../query/expr/types.js";
import type { SqlType, TypeName } from "../../values/values.js";
import type { ConstraintNode } from "../parse/ast-definitions.js";
import { bindBoolean } from "./bind-expr.js";
import { lookUpTable } from "./bind-from.js";
import type { Binding } from "./binding.js";
import { typeName } from "./coerce.js";
import { relationOf } from "./scope.js";
import { columnsRead, refuseParameters, rowContext, storedSql } from "./stored-expression.js";

export type ConstraintOf<K extends ConstraintNode["kind"]> = Extract<ConstraintNode, { kind: K }>;

/** `own`: the column whose constraint it is; null: the table's. Throws 42703, 42701. */
export function bindKey(node: ConstraintOf<"primary key" | "unique">, own: string | null, table: TableDef): NewKey {
  const { position } = node;
  const names = own === null ? node.columns : [own];
  const columnOf = (name: string) => {
    const column = table.columns.find((other) => other.name === name);
    if (column === undefined) throw missingColumn(name, table, position, `column "${name}" named in key`);
    return column;
  };
  names.forEach((name, i) => {
    const { type } = columnOf(name);
    if (names.indexOf(name) < i) {
      const what = node.kind === "primary key" ? "primary key" : "unique";
      throw sqlError("42701", `column "${name}" appears twice in ${what} constraint`, { position });
    }
    checkIndexable(type, position);
  });
  const include = node.including.map((name) => columnOf(name).name);
  return {
    name: node.name,
    columns: names,
    ...(include.length > 0 && { include }),
    ...(node.nullsNotDistinct && { nullsNotDistinct: true }),
    ...((node.deferrable || node.initiallyDeferred) && {
      deferrable: { initiallyDeferred: node.initiallyDeferred, primary: node.kind === "primary key" },
    }),
  };
}

/** Types that keys cannot hold in order. */
const WITHOUT_CLASS: ReadonlySet<TypeName> = new Set([
  "json",
  "sparsevec",
  "point",
  "line",
  "lseg",
  "box",
  "path",
  "polygon",
  "circle",
]);

/** Throws 42704. */
export function checkIndexable(type: SqlType, position: number): void {
  if (type.element !== null) checkIndexable(type.element, position);
  else if (WITHOUT_CLASS.has(type.name)) {
    const message = `data type ${displayName(type)} has no default operator class for access method "btree"`;
    throw sqlError("42704", message, {
      position,
      hint: "You must specify an operator class for the index or define a default operator class for the data type.",
    });
  }
}

/** Named after the column whose check it is, or after the only one that it reads. */
export function bindCheck(
  node: ConstraintOf<"check">,
  own: string | null,
  table: TableDef,
  binding: Binding,
): NewCheck {
  const context = rowContext(table, "check constraints", binding);
  refuseParameters(node.expr, "check constraints");
  bindBoolean(node.expr, "CHECK", context);
  const read = columnsRead(node.expr);
  return {
    name: node.name,
    sql: storedSql(node.expr, binding),
    column: own ?? (read.length === 1 ? read[0]! : null),
    ...(node.notValid && { notValid: true }),
    ...(node.noInherit && { noInherit: true }),
  };
}

/** Types whose values one index orders together, as PostgreSQL's operator families have them. */
const FAMILIES = [
  ["int2", "int4", "int8"],
  ["float4", "float8"],
  ["date", "timestamp", "timestamptz"],
  ["text", "varchar", "name"],
];

function comparable(own: SqlType, other: SqlType): boolean {
  const sameFamily = FAMILIES.some((family) => family.includes(own.name) && family.includes(other.name));
  return canCoerce(own, other, "implicit") || (sameFamily && own.element === null && other.element === null);
}

const columnNamed = (table: TableDef, id: number) => table.columns.find((column) => column.id === id)?.name ?? "";

/** Throws 42P01, 42703, 42830 (no key there, or another number of columns), 42804 (types do not fit). */
export function bindForeignKey(
  node: ConstraintOf<"foreign key">,
  own: string | null,
  table: TableDef,
  binding: Binding,
): NewForeignKey {
  const { position } = node;
  if (node.match === "partial") throw sqlError("0A000", "MATCH PARTIAL not yet implemented", { position });
  const relation = relationOf(node.table);
  const isSelf = relation.name === table.name && (relation.schema === null || relation.schema === table.schema);
  const target = isSelf ? table : lookUpTable(node.table, binding);
  const columns = own === null ? node.columns : [own];
  const deferrable = target.indexes.find(
    (index) =>
      index.deferrable &&
      (node.references.length === 0
        ? index.deferrable.primary
        : index.columns.length === node.references.length &&
          index.columns.every(({ columnId }) => node.references.includes(columnNamed(target, columnId)))),
  );
  if (deferrable !== undefined) {
    const what = deferrable.deferrable!.primary ? "primary key" : "unique constraint";
    throw sqlError("55000", `cannot use a deferrable ${what} for referenced table "${target.name}"`, { position });
  }
  if (node.references.length === 0 && target.primaryKey === null) {
    throw sqlError("42704", `there is no primary key for referenced table "${target.name}"`, { position });
  }
  const nameOf = (id: number) => target.columns.find((column) => column.id === id)!.name;
  const references = node.references.length > 0 ? node.references : target.primaryKey!.map(nameOf);
  if (columns.length !== references.length) {
    throw sqlError("42830", "number of referencing and referenced columns for foreign key disagree", { position });
  }
  const types = (owner: TableDef, names: readonly string[], what: string) =>
    names.map((name) => {
      const column = owner.columns.find((other) => other.name === name);
      if (column !== undefined) return column.type;
      throw missingColumn(name, owner, position, `column "${name}" ${what}`);
    });
  const ownTypes = types(table, columns, "referenced in foreign key constraint");
  const otherTypes = types(target, references, "referenced in foreign key constraint");
  const onDeleteColumns = [...new Set(node.onDeleteColumns)];
  types(table, onDeleteColumns, "referenced in ON DELETE SET action");
  const outside = onDeleteColumns.find((name) => !columns.includes(name));
  if (outside !== undefined) {
    const message = `column "${outside}" referenced in ON DELETE SET action must be part of foreign key`;
    throw sqlError("42P10", message, { position });
  }
  const wrong = columns.findIndex((_, i) => !comparable(ownTypes[i]!, otherTypes[i]!));
  if (wrong >= 0) {
    const name = node.name ?? `${table.name}_${columns.join("_")}_fkey`;
    const pair = `"${columns[wrong]}" and "${references[wrong]}"`;
    const what = `${typeName(ownTypes[wrong]!)} and ${typeName(otherTypes[wrong]!)}`;
    throw sqlError("42804", `foreign key constraint "${name}" cannot be implemented`, {
      position,
      detail: `Key columns ${pair} are of incompatible types: ${what}.`,
    });
  }
  const generated = columns.find((name) => table.columns.find((other) => other.name === name)!.generatedSql);
  const sets = (action: string) => action === "set null" || action === "set default";
  if (generated !== undefined && (sets(node.onUpdate) || node.onUpdate === "cascade" || sets(node.onDelete))) {
    const clause = sets(node.onUpdate) || node.onUpdate === "cascade" ? "UPDATE" : "DELETE";
    const message = `invalid ON ${clause} action for foreign key constraint containing generated column`;
    throw sqlError("42601", message, { position });
  }
  return {
    name: node.name,
    columns,
    table: isSelf ? null : { schema: target.schema, name: target.name, position },
    references,
    match: node.match,
    onUpdate: node.onUpdate,
    onDelete: node.onDelete,
    onDeleteColumns,
    deferrable: node.deferrable || node.initiallyDeferred,
    initiallyDeferred: node.initiallyDeferred,
    notValid: node.notValid,
  };
}
