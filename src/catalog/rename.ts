/** ALTER … RENAME of tables, columns, constraints and indexes. Called by ddl.ts. */
import { sqlError } from "../protocol/errors.js";
import { type CatalogEditor, relationExists } from "./catalog-editor.js";
import type { RenameCommand } from "./ddl-command.js";
import { at, type DdlOutcome, existingColumn, existingTable, NOTHING } from "./ddl-outcome.js";
import { missingColumn } from "./did-you-mean.js";
import { descendantsOf, parentsAmong } from "./inheritance.js";
import type { TableDef } from "./table.js";
import { checkColumnName, constraintNames } from "./table-names.js";

export function rename(editor: CatalogEditor, command: RenameCommand): DdlOutcome {
  const tag = command.object === "index" ? "ALTER INDEX" : "ALTER TABLE";
  const { newName, part, relation } = command;
  if (command.object === "index") {
    editor.replaceTable(Object.freeze(renamedKey(editor, relation.schema, relation.name, newName)));
    return { ...NOTHING, tag };
  }
  const table = existingTable(editor, relation);
  if (command.object === "table") {
    if (editor.view.hasRelation(table.schema, newName)) throw relationExists(newName);
    editor.replaceTable(Object.freeze({ ...table, name: newName }));
  } else if (command.object === "column") {
    checkColumnName(newName);
    if (table.ofType !== undefined) throw sqlError("42809", "cannot rename column of typed table");
    for (const member of familyOf(editor, table, command)) {
      checkColumnParents(editor, member, table, part!);
      editor.replaceTable(Object.freeze(renamedColumn(member, part!, newName, command.renamed)));
    }
  } else renameConstraint(editor, table, command);
  return { ...NOTHING, tag };
}

/** The table and, unless the statement says ONLY, its descendants. Throws 42P16 where they would be left behind. */
function familyOf(editor: CatalogEditor, table: TableDef, { object, part, only }: RenameCommand): TableDef[] {
  const others = descendantsOf(table, editor.view);
  if (only && others.length > 0) {
    throw sqlError("42P16", `inherited ${object} "${part}" must be renamed in child tables too`);
  }
  return [table, ...others];
}

/** Throws 42P16 for what a parent outside of the family names. */
function checkParents(editor: CatalogEditor, member: TableDef, table: TableDef, inherited: number, what: string): void {
  const family = member.id === table.id ? [] : [table, ...descendantsOf(table, editor.view)];
  if (inherited > parentsAmong(member, family)) throw sqlError("42P16", `cannot rename inherited ${what}`);
}

function checkColumnParents(editor: CatalogEditor, member: TableDef, table: TableDef, name: string): void {
  const column = member.columns.find((other) => other.name === name);
  checkParents(editor, member, table, column?.inherited ?? 0, `column "${name}"`);
}

function renameConstraint(editor: CatalogEditor, table: TableDef, command: RenameCommand): void {
  const { newName, relation } = command;
  const part = command.part!;
  if (!constraintNames(table).includes(part)) {
    const message = `constraint "${part}" for table "${table.name}" does not exist`;
    throw sqlError("42704", message, at(relation.position));
  }
  const check = table.checks.find(({ name }) => name === part);
  const members = check !== undefined && !check.noInherit ? familyOf(editor, table, command) : [table];
  for (const member of members) {
    const inherited = member.checks.find(({ name }) => name === part)?.inherited ?? 0;
    checkParents(editor, member, table, inherited, `constraint "${part}"`);
    if (constraintNames(member).includes(newName)) {
      throw sqlError("42710", `constraint "${newName}" for relation "${member.name}" already exists`);
    }
    const isKey = part === member.primaryKeyName || member.indexes.some(({ name }) => name === part);
    editor.replaceTable(
      Object.freeze(isKey ? renamedKey(editor, member.schema, part, newName) : renamedInPlace(member, part, newName)),
    );
  }
}

/** A CHECK or a foreign key, which are in the table's own definition. */
function renamedInPlace(table: TableDef, name: string, newName: string): TableDef {
  const checks = table.checks.map((check) => (check.name === name ? { ...check, name: newName } : check));
  const foreignKeys = table.foreignKeys?.map((key) => (key.name === name ? { ...key, name: newName } : key));
  return { ...table, checks, ...(foreignKeys && { foreignKeys }) };
}

/** The table with an index or a primary key under another name. Throws 42P01, 42P07. */
function renamedKey(editor: CatalogEditor, schema: string, name: string, newName: string): TableDef {
  const owner =
    editor.view.index(schema, name)?.table ??
    editor.view.searchIndex(schema, name)?.table ??
    editor.view.tables().find((table) => table.schema === schema && table.primaryKeyName === name);
  if (owner === undefined) throw sqlError("42P01", `relation "${name}" does not exist`);
  if (editor.view.hasRelation(schema, newName)) throw relationExists(newName);
  const named = <I extends { readonly name: string }>(index: I): I =>
    index.name === name ? Object.freeze({ ...index, name: newName }) : index;
  const primaryKeyName = owner.primaryKeyName === name ? newName : owner.primaryKeyName;
  const searchIndexes = owner.searchIndexes?.map(named);
  return { ...owner, indexes: owner.indexes.map(named), ...(searchIndexes && { searchIndexes }), primaryKeyName };
}

function renamedColumn(table: TableDef, name: string, newName: string, renamed: (sql: string) => string): TableDef {
  const column = table.columns.find((other) => other.name === name);
  if (column === undefined) throw missingColumn(name, table, null, `column "${name}"`);
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
  const partitionKey = table.partitionKey && {
    ...table.partitionKey,
    keys: table.partitionKey.keys.map((key) =>
      key.expression ? { ...key, expression: { ...key.expression, sql: renamed(key.expression.sql) } } : key,
    ),
  };
  const searchIndexes = table.searchIndexes?.map((index) => {
    const { vector } = index;
    if (vector?.where !== undefined) {
      const where = { ...vector.where, sql: renamed(vector.where.sql) };
      return Object.freeze({ ...index, vector: { ...vector, where } });
    }
    if (index.declared === undefined) return index;
    const { keys, where } = index.declared;
    const declared = {
      keys: keys.map((key) => (key.sql === undefined ? key : { ...key, sql: renamed(key.sql) })),
      ...(where !== undefined && { where: renamed(where) }),
    };
    return Object.freeze({ ...index, declared });
  });
  const extendedStatistics = table.extendedStatistics?.map((statistics) => ({
    ...statistics,
    keys: statistics.keys.map((key) => (key.sql === undefined ? key : { sql: renamed(key.sql) })),
  }));
  const triggers = table.triggers?.map((trigger) =>
    trigger.when === undefined ? trigger : Object.freeze({ ...trigger, when: renamed(trigger.when) }),
  );
  const rules = table.rules?.map((rule) =>
    rule.when === undefined ? rule : Object.freeze({ ...rule, when: renamed(rule.when) }),
  );
  return {
    ...table,
    columns,
    indexes,
    checks,
    ...(rules && { rules }),
    ...(partitionKey && { partitionKey }),
    ...(searchIndexes && { searchIndexes }),
    ...(extendedStatistics && { extendedStatistics }),
    ...(triggers && { triggers }),
  };
}
