/**
 * INHERIT and NO INHERIT: an existing table becomes, or ceases to be, a child of another. Attaching and detaching a
 * partition is the same. After MergeAttributesIntoExisting, MergeConstraintsIntoExisting and RemoveInheritance of
 * PostgreSQL (src/backend/commands/tablecmds.c). Called by alter-family.ts.
 */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import { addChild, descendantsOf, sameType, withoutParent, withParent } from "./inheritance.js";
import { isTemporarySchema } from "./schema.js";
import type { CheckDef, ColumnDef, TableDef } from "./table.js";

/** ALTER TABLE child INHERIT parent. Throws 42809, 42P07 and what `linkChild` throws. */
export function inherit(editor: CatalogEditor, child: TableDef, parent: TableDef): void {
  const refuse = (message: string) => sqlError("42809", message);
  if (child.partitionBound !== undefined) throw refuse("cannot change inheritance of a partition");
  if (child.partitionKey !== undefined) throw refuse("cannot change inheritance of partitioned table");
  if (isTemporarySchema(parent.schema) && !isTemporarySchema(child.schema)) {
    throw refuse(`cannot inherit from temporary relation "${parent.name}"`);
  }
  if (parent.partitionKey !== undefined) throw refuse(`cannot inherit from partitioned table "${parent.name}"`);
  if (parent.partitionBound !== undefined) throw refuse("cannot inherit from a partition");
  linkChild(editor, child, parent);
}

/**
 * The child has all that the parent would have given it. Throws 42P07 for a link that is there or would close a circle,
 * 42804 where the child lacks something or has it otherwise, 42P17 for constraints that cannot be merged.
 */
export function linkChild(editor: CatalogEditor, child: TableDef, parent: TableDef): TableDef {
  if (child.parents?.includes(parent.id)) {
    throw sqlError("42P07", `relation "${parent.name}" would be inherited from more than once`);
  }
  if (child.id === parent.id || descendantsOf(child, editor.view).some(({ id }) => id === parent.id)) {
    throw sqlError("42P07", "circular inheritance not allowed", {
      detail: `"${parent.name}" is already a child of "${child.name}".`,
    });
  }
  const merged = new Map<string, ColumnDef>();
  for (const above of parent.columns) {
    const column = child.columns.find(({ name }) => name === above.name);
    if (column === undefined) throw sqlError("42804", `child table is missing column "${above.name}"`);
    merged.set(above.name, mergedColumn(column, above, child, parent));
  }
  const columns = child.columns.map((column) => merged.get(column.name) ?? column);
  const inherited = parent.checks.filter(({ noInherit }) => !noInherit);
  const checks = child.checks.map((check) => {
    const above = inherited.find(({ name }) => name === check.name);
    return above === undefined ? check : mergedCheck(check, above, child);
  });
  const absent = inherited.find(({ name }) => !checks.some((check) => check.name === name));
  if (absent !== undefined) throw sqlError("42804", `child table is missing constraint "${absent.name}"`);
  const linked = Object.freeze({ ...child, columns, checks, parents: [...(child.parents ?? []), parent.id] });
  editor.replaceTable(linked);
  addChild(editor, parent.id, child.id);
  return editor.view.tableById(child.id)!;
}

function mergedColumn(column: ColumnDef, above: ColumnDef, child: TableDef, parent: TableDef): ColumnDef {
  const { name } = column;
  if (!sameType(column.type, above.type)) {
    throw sqlError("42804", `child table "${child.name}" has different type for column "${name}"`);
  }
  const notNull = (of: ColumnDef, table: TableDef) => of.notNull || (table.primaryKey?.includes(of.id) ?? false);
  if (notNull(above, parent) && !notNull(column, child)) {
    throw sqlError("42804", `column "${name}" in child table must be marked NOT NULL`);
  }
  if (above.generatedSql && !column.generatedSql) {
    throw sqlError("42804", `column "${name}" in child table must be a generated column`);
  }
  if (above.generatedSql && above.generatedSql !== column.generatedSql) {
    throw sqlError("42804", `column "${name}" in child table has a conflicting generation expression`);
  }
  return withParent(column);
}

function mergedCheck(check: CheckDef, above: CheckDef, child: TableDef): CheckDef {
  const { name } = check;
  if (check.sql !== above.sql) {
    throw sqlError("42804", `child table "${child.name}" has different definition for check constraint "${name}"`);
  }
  const conflict = check.noInherit ? "non-inherited" : check.notValid ? "NOT VALID" : null;
  if (conflict !== null) {
    const message = `constraint "${name}" conflicts with ${conflict} constraint on child table "${child.name}"`;
    throw sqlError("42P17", message);
  }
  return withParent(check);
}

/** ALTER TABLE child NO INHERIT parent. Throws 42809, 42P01. */
export function noInherit(editor: CatalogEditor, child: TableDef, parent: TableDef): void {
  if (child.partitionBound !== undefined) throw sqlError("42809", "cannot change inheritance of a partition");
  unlinkChild(editor, child, parent);
}

/** What the child had only from this parent becomes its own. Throws 42P01. */
export function unlinkChild(editor: CatalogEditor, child: TableDef, parent: TableDef): TableDef {
  if (!child.parents?.includes(parent.id)) {
    throw sqlError("42P01", `relation "${parent.name}" is not a parent of relation "${child.name}"`);
  }
  const columns = child.columns.map((column) =>
    column.inherited && parent.columns.some(({ name }) => name === column.name) ? withoutParent(column) : column,
  );
  const checks = child.checks.map((check) =>
    check.inherited && parent.checks.some(({ name, noInherit: own }) => name === check.name && !own)
      ? withoutParent(check)
      : check,
  );
  const parents = child.parents.filter((id) => id !== parent.id);
  const unlinked = Object.freeze({ ...child, columns, checks, parents });
  editor.replaceTable(unlinked);
  const now = editor.view.tableById(parent.id)!;
  editor.replaceTable(Object.freeze({ ...now, children: (now.children ?? []).filter((id) => id !== child.id) }));
  return unlinked;
}
