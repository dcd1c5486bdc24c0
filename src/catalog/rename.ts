/** ALTER … RENAME of tables, columns, constraints and indexes. Called by ddl.ts. */
import { sqlError } from "../protocol/errors.js";
import { type CatalogEditor, relationExists } from "./catalog-editor.js";
import type { RenameCommand } from "./ddl-command.js";
import { at, type DdlOutcome, existingColumn, existingTable, NOTHING } from "./ddl-outcome.js";
import type { TableDef } from "./table.js";
import { constraintNames } from "./table-names.js";

export function rename(editor: CatalogEditor, command: RenameCommand): DdlOutcome {
  const tag = command.object === "index" ? "ALTER INDEX" : "ALTER TABLE";
  const done = (table: TableDef): DdlOutcome => {
    editor.replaceTable(Object.freeze(table));
    return { ...NOTHING, tag };
  };
  const { newName, part, relation } = command;
  if (command.object === "index") return done(renamedKey(editor, relation.schema, relation.name, newName));
  const table = existingTable(editor, relation);
  if (command.object === "column") return done(renamedColumn(table, part!, newName, command.renamed));
  if (command.object === "table") {
    if (editor.view.hasRelation(table.schema, newName)) throw relationExists(newName);
    return done({ ...table, name: newName });
  }
  const names = constraintNames(table);
  if (!names.includes(part!)) {
    const message = `constraint "${part}" for table "${table.name}" does not exist`;
    throw sqlError("42704", message, at(relation.position));
  }
  if (names.includes(newName)) {
    throw sqlError("42710", `constraint "${newName}" for relation "${table.name}" already exists`);
  }
  const isKey = part === table.primaryKeyName || table.indexes.some(({ name }) => name === part);
  if (isKey) return done(renamedKey(editor, table.schema, part!, newName));
  const checks = table.checks.map((check) => (check.name === part ? { ...check, name: newName } : check));
  const foreignKeys = table.foreignKeys?.map((key) => (key.name === part ? { ...key, name: newName } : key));
  return done({ ...table, checks, ...(foreignKeys && { foreignKeys }) });
}

/** The table with an index or a primary key under another name. Throws 42P01, 42P07. */
function renamedKey(editor: CatalogEditor, schema: string, name: string, newName: string): TableDef {
  const owner =
    editor.view.index(schema, name)?.table ??
    editor.view.tables().find((table) => table.schema === schema && table.primaryKeyName === name);
  if (owner === undefined) throw sqlError("42P01", `relation "${name}" does not exist`);
  if (editor.view.hasRelation(schema, newName)) throw relationExists(newName);
  const indexes = owner.indexes.map((index) =>
    index.name === name ? Object.freeze({ ...index, name: newName }) : index,
  );
  const primaryKeyName = owner.primaryKeyName === name ? newName : owner.primaryKeyName;
  return { ...owner, indexes, primaryKeyName };
}

function renamedColumn(table: TableDef, name: string, newName: string, renamed: (sql: string) => string): TableDef {
  const column = table.columns.find((other) => other.name === name);
  if (column === undefined) throw sqlError("42703", `column "${name}" does not exist`);
  if (table.columns.some((other) => other.name === newName)) {
    throw sqlError("42701", `column "${newName}" of relation "${table.name}" already exists`);
  }
  const columns = table.columns.map((other) => {
    const { generatedSql } = other;
    if (other.id === existingColumn(table, name).id) return Object.freeze({ ...other, name: newName });
    return generatedSql ? Object.freeze({ ...other, generatedSql: renamed(generatedSql) }) : other;
  });
  const indexes = table.indexes.map((index) => {
    const keys = index.columns.map((key) =>
      key.expression ? { ...key, expression: { ...key.expression, sql: renamed(key.expression.sql) } } : key,
    );
    return Object.freeze({ ...index, columns: keys, ...(index.where && { where: renamed(index.where) }) });
  });
  const checks = table.checks.map((check) => ({ ...check, sql: renamed(check.sql) }));
  return { ...table, columns, indexes, checks };
}
