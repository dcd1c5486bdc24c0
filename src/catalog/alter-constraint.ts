/** Actions of ALTER TABLE on constraints. Called by alter-table.ts. */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { AlterAction, NewKey } from "./ddl-command.js";
import {
  type ActionOutcome,
  columnName,
  combined,
  existingColumn,
  satisfies,
  selectRows,
  withoutPrimaryKey,
} from "./ddl-outcome.js";
import { addForeignKey, dropForeignKey, dropReferences } from "./foreign-key-ddl.js";
import { verification } from "./foreign-key-verification.js";
import { dropIndexParts, dropPrimaryKeyParts } from "./partition-indexes.js";
import { checkUniqueIndex, checkUniqueKey } from "./partition-keys.js";
import { EXPRESSION_COLUMN, type IndexDef, type TableDef } from "./table.js";
import { checkDef, constraintName, constraintNames, TableNames } from "./table-names.js";

type Action<K extends AlterAction["kind"]> = Extract<AlterAction, { kind: K }>;
type ConstraintAction = Action<
  | "add key"
  | "add key using index"
  | "add check"
  | "add foreign key"
  | "drop constraint"
  | "validate constraint"
  | "alter constraint"
>;

export function alterConstraint(editor: CatalogEditor, table: TableDef, action: ConstraintAction): ActionOutcome {
  switch (action.kind) {
    case "add key":
      return action.primary ? addPrimaryKey(editor, table, action.key) : addUnique(editor, table, action.key);
    case "add key using index":
      return addKeyUsingIndex(editor, table, action);
    case "add check": {
      constraintName(table, action.check.name, [], "check");
      const check = checkDef(action.check, table.checks, [], table.name);
      const after: TableDef = Object.freeze({ ...table, checks: [...table.checks, check] });
      editor.replaceTable(after);
      return { verify: check.notValid ? [] : [satisfies(after, check)] };
    }
    case "add foreign key": {
      const added = addForeignKey(editor, table, action.foreignKey);
      return { verify: action.foreignKey.notValid ? [] : [added.verification] };
    }
    case "drop constraint":
      return dropConstraint(editor, table, action);
    case "validate constraint":
      return validate(editor, table, action.name);
    case "alter constraint": {
      const key = table.foreignKeys?.find(({ name }) => name === action.name);
      if (key === undefined) {
        if (!constraintNames(table).includes(action.name)) throw noConstraint(table, action.name);
        const message = `constraint "${action.name}" of relation "${table.name}" is not a foreign key constraint`;
        throw sqlError("42809", message);
      }
      const { deferrable, initiallyDeferred } = action;
      const foreignKeys = table.foreignKeys!.map((other) =>
        other === key ? { ...key, deferrable, initiallyDeferred } : other,
      );
      editor.replaceTable(Object.freeze({ ...table, foreignKeys }));
      return {};
    }
  }
}

function noConstraint(table: TableDef, name: string): Error {
  return sqlError("42704", `constraint "${name}" of relation "${table.name}" does not exist`);
}

/** Rows are keyed by the primary key, so all of them are rewritten. */
function withPrimaryKey(editor: CatalogEditor, table: TableDef, before: TableDef, key: NewKey, name: string) {
  const ids = key.columns.map((column) => existingColumn(table, column).id);
  checkUniqueKey(table, ids, "PRIMARY KEY");
  const include = (key.include ?? []).map((column) => existingColumn(table, column).id);
  const after: TableDef = Object.freeze({
    ...table,
    columns: table.columns.map((column) =>
      ids.includes(column.id) ? Object.freeze({ ...column, notNull: true }) : column,
    ),
    primaryKey: ids,
    primaryKeyName: name,
    ...(include.length > 0 && { primaryKeyInclude: include }),
  });
  editor.replaceTable(after);
  return { rewrites: [{ before, after, select: selectRows(after) }] };
}

function addPrimaryKey(editor: CatalogEditor, table: TableDef, key: NewKey): ActionOutcome {
  if (table.primaryKey !== null || table.indexes.some((index) => index.deferrable?.primary)) {
    throw sqlError("42P16", `multiple primary keys for table "${table.name}" are not allowed`);
  }
  if (key.deferrable !== undefined) {
    const ids = key.columns.map((column) => existingColumn(table, column).id);
    const columns = table.columns.map((column) =>
      ids.includes(column.id) ? Object.freeze({ ...column, notNull: true }) : column,
    );
    const strict: TableDef = Object.freeze({ ...table, columns });
    editor.replaceTable(strict);
    return {
      ...addUnique(editor, strict, key),
      rewrites: [{ before: table, after: strict, select: selectRows(strict) }],
    };
  }
  const name = new TableNames(editor, table.schema, table.name).relation(key.name, [], "pkey");
  return withPrimaryKey(editor, table, table, key, name);
}

/** Throws 42710 for the name of another constraint of the table that is no index. */
function checkKeyName(table: TableDef, name: string | null): void {
  const others = [...table.checks, ...(table.foreignKeys ?? [])];
  if (name === null || !others.some((other) => other.name === name)) return;
  throw sqlError("42710", `constraint "${name}" for relation "${table.name}" already exists`);
}

function addUnique(editor: CatalogEditor, table: TableDef, key: NewKey): ActionOutcome {
  checkKeyName(table, key.name);
  const columns = key.columns.map((column) => existingColumn(table, column).id);
  const { include = [], nullsNotDistinct = false, deferrable } = key;
  const names = new TableNames(editor, table.schema, table.name);
  const index: IndexDef = Object.freeze({
    id: editor.nextId(),
    name: deferrable?.primary
      ? names.relation(key.name, [], "pkey")
      : names.relation(key.name, [...key.columns, ...include], "key"),
    kind: "btree",
    columns: columns.map((columnId) => ({ columnId, descending: false, nullsFirst: false })),
    unique: deferrable === undefined,
    constraint: "unique",
    ...(deferrable !== undefined && { deferrable }),
    ...(include.length > 0 && {
      include: include.map((column) => existingColumn(table, column).id),
      storesIncluded: true,
    }),
    ...(nullsNotDistinct && { nullsNotDistinct }),
  });
  checkUniqueIndex(table, index);
  return { backfills: [{ table: editor.createIndex(table, index), index }] };
}

function addKeyUsingIndex(
  editor: CatalogEditor,
  table: TableDef,
  action: Action<"add key using index">,
): ActionOutcome {
  const index = table.indexes.find((other) => other.name === action.index);
  if (index === undefined) throw sqlError("42704", `index "${action.index}" does not exist`);
  if (index.constraint !== null) {
    throw sqlError("55000", `index "${index.name}" is already associated with a constraint`);
  }
  const wrong = !index.unique
    ? "is not a unique index"
    : index.where
      ? "is a partial index"
      : index.columns.some(({ columnId }) => columnId === EXPRESSION_COLUMN)
        ? "contains expressions"
        : null;
  if (wrong !== null) {
    throw sqlError("42809", `index "${index.name}" ${wrong}`, {
      detail: "Cannot create a primary key or unique constraint using such an index.",
    });
  }
  const name = action.name ?? index.name;
  const notices =
    name === index.name
      ? []
      : [`ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index "${index.name}" to "${name}"`];
  const rest = table.indexes.filter((other) => other !== index);
  if (action.primary) {
    if (table.primaryKey !== null) {
      throw sqlError("42P16", `multiple primary keys for table "${table.name}" are not allowed`);
    }
    const columns = index.columns.map(({ columnId }) => columnName(table, columnId));
    const include = (index.include ?? []).map((columnId) => columnName(table, columnId));
    const done = withPrimaryKey(editor, { ...table, indexes: rest }, table, { name, columns, include }, name);
    return { ...done, notices };
  }
  const constrained: IndexDef = Object.freeze({ ...index, name, constraint: "unique" });
  editor.replaceTable(Object.freeze({ ...table, indexes: [...rest, constrained] }));
  return { notices };
}

function dropConstraint(editor: CatalogEditor, table: TableDef, action: Action<"drop constraint">): ActionOutcome {
  const { name, cascade } = action;
  const what = `constraint ${name} on table ${table.name}`;
  const references = (indexId: number | null) =>
    (table.referencedBy ?? []).filter((reference) => reference.indexId === indexId);
  const isPart =
    (name === table.primaryKeyName && table.primaryKeyInherited) ||
    table.indexes.some((index) => index.name === name && index.parentId !== undefined) ||
    table.foreignKeys?.some((key) => key.name === name && key.parentId !== undefined);
  if (isPart) throw sqlError("42P16", `cannot drop inherited constraint "${name}" of relation "${table.name}"`);
  if (name === table.primaryKeyName) {
    const parts = dropPrimaryKeyParts(editor, table);
    const notices = dropReferences(editor, what, table, references(null), cascade);
    const now = editor.view.tableById(table.id)!;
    const after = withoutPrimaryKey(now);
    editor.replaceTable(after);
    return combined([parts, { notices, rewrites: [{ before: table, after, select: selectRows(after) }] }]);
  }
  const index = table.indexes.find((other) => other.constraint !== null && other.name === name);
  if (index !== undefined) {
    const notices = dropReferences(editor, what, table, references(index.id), cascade);
    const parts = dropIndexParts(editor, table, index);
    editor.dropIndex(editor.view.tableById(table.id)!, index);
    return combined([parts, { notices, clearedIndexes: [{ table, index }] }]);
  }
  const key = table.foreignKeys?.find((other) => other.name === name);
  if (key !== undefined) {
    dropForeignKey(editor, table, key);
    return {};
  }
  const checks = table.checks.filter((check) => check.name !== name);
  if (checks.length === table.checks.length) {
    if (!action.ifExists) throw noConstraint(table, name);
    return { notices: [`constraint "${name}" of relation "${table.name}" does not exist, skipping`] };
  }
  editor.replaceTable(Object.freeze({ ...table, checks }));
  return {};
}

function validate(editor: CatalogEditor, table: TableDef, name: string): ActionOutcome {
  const check = table.checks.find((other) => other.name === name);
  if (check !== undefined) {
    if (!check.notValid) return {};
    const checks = table.checks.map((other) => (other === check ? { ...check, notValid: false } : other));
    editor.replaceTable(Object.freeze({ ...table, checks }));
    return { verify: [satisfies(table, check)] };
  }
  const key = table.foreignKeys?.find((other) => other.name === name);
  if (key === undefined) {
    if (!constraintNames(table).includes(name)) throw noConstraint(table, name);
    const message = `constraint "${name}" of relation "${table.name}" is not a foreign key or check constraint`;
    throw sqlError("42809", message);
  }
  if (!key.notValid) return {};
  const foreignKeys = table.foreignKeys!.map((other) => (other === key ? { ...key, notValid: false } : other));
  editor.replaceTable(Object.freeze({ ...table, foreignKeys }));
  const now = editor.view.tableById(table.id)!;
  return { verify: [verification(now, editor.view.tableById(key.tableId)!, key)] };
}
