/**
 * Applies bound definition statements within a transaction. Only definitions change here: rows and index entries that
 * must follow are listed in the outcome, and the session has the executor do that work in the same transaction.
 */
import { sqlError } from "../protocol/errors.js";
import type { Transaction } from "../storage/store.js";
import type { Catalog } from "./catalog.js";
import { type CatalogEditor, relationExists } from "./catalog-editor.js";
import type {
  CreateIndexCommand,
  CreateTableCommand,
  DdlCommand,
  DropIndexCommand,
  DropTableCommand,
  RelationName,
} from "./ddl-command.js";
import { madeUpName, quotedIdentifier } from "./relation-names.js";
import { type SequenceDef, sequenceShape } from "./sequence.js";
import type { CheckDef, ColumnDef, IndexDef, TableDef } from "./table.js";

/** What a definition statement did, and the work on data that it leaves. */
export interface DdlOutcome {
  /** As PostgreSQL's command tag: "CREATE TABLE". */
  readonly tag: string;
  /** `relation "t" already exists, skipping` and the like. */
  readonly notices: readonly string[];
  /** An index whose entries must be made for the rows that are there. */
  readonly backfill: { readonly table: TableDef; readonly index: IndexDef } | null;
  /** Tables whose rows and index entries must go: dropped ones and truncated ones. */
  readonly cleared: readonly TableDef[];
  /** Indexes whose entries must go. */
  readonly clearedIndexes: readonly { readonly table: TableDef; readonly index: IndexDef }[];
}

const NOTHING = { notices: [], backfill: null, cleared: [], clearedIndexes: [] } as const;

/** @param nowMicros the transaction's start, microseconds since the epoch. */
export function applyDdl(catalog: Catalog, tx: Transaction, command: DdlCommand, nowMicros: number): DdlOutcome {
  return catalog.change(tx, (editor) => {
    switch (command.kind) {
      case "create table":
        return createTable(editor, command, nowMicros);
      case "drop table":
        return dropTables(editor, command);
      case "create index":
        return createIndex(editor, command);
      case "drop index":
        return dropIndexes(editor, command);
      case "truncate": {
        const cleared = command.tables.map((table) => existingTable(editor, table));
        return { ...NOTHING, tag: "TRUNCATE TABLE", cleared };
      }
    }
  });
}

function at(position: number): { position: number } | undefined {
  return position > 0 ? { position } : undefined;
}

function existingTable(editor: CatalogEditor, { schema, name, position }: RelationName): TableDef {
  const table = editor.view.table(schema, name);
  if (table === null) throw sqlError("42P01", `relation "${name}" does not exist`, at(position));
  return table;
}

function createTable(editor: CatalogEditor, command: CreateTableCommand, nowMicros: number): DdlOutcome {
  const { schema, name } = command;
  const tag = "CREATE TABLE";
  if (editor.view.hasRelation(schema, name)) {
    if (!command.ifNotExists) throw relationExists(name);
    return { ...NOTHING, tag, notices: [`relation "${name}" already exists, skipping`] };
  }
  const id = editor.nextId();
  const names = new Set([name]);
  // A name that the statement gives must be free; one that is made up avoids those that are not.
  const chosen = (given: string | null, parts: readonly string[], suffix: string) => {
    const taken = (candidate: string) => names.has(candidate) || editor.view.hasRelation(schema, candidate);
    if (given !== null && taken(given)) throw relationExists(given);
    const result = given ?? madeUpName(name, parts, suffix, taken);
    names.add(result);
    return result;
  };
  const { primaryKey } = command;
  const primaryKeyName = primaryKey === null ? null : chosen(primaryKey.name, [], "pkey");
  const sequences: SequenceDef[] = [];
  const columns = command.columns.map((column, columnId): ColumnDef => {
    let { defaultSql } = column;
    if (column.sequence !== null) {
      const sequenceName = chosen(null, [column.name], "seq");
      const owner = { tableId: id, columnId };
      sequences.push(
        Object.freeze({
          id: editor.nextId(),
          schema,
          name: sequenceName,
          ...sequenceShape(column.sequence, null, column.type),
          ownedBy: owner,
          from: null,
          createdAt: nowMicros,
        }),
      );
      const quoted = `${quotedIdentifier(schema)}.${quotedIdentifier(sequenceName)}`;
      defaultSql = `nextval('${quoted.replaceAll("'", "''")}')`;
    }
    const { name: columnName, type, identity } = column;
    const notNull = column.notNull || (primaryKey?.columns.includes(columnName) ?? false);
    return Object.freeze({ id: columnId, name: columnName, type, notNull, defaultSql, missingSql: null, identity });
  });
  const idOf = (columnName: string) => columns.find((column) => column.name === columnName)!.id;
  const indexes = command.uniques.map(
    (unique): IndexDef => ({
      id: editor.nextId(),
      name: chosen(unique.name, unique.columns, "key"),
      kind: "btree",
      columns: unique.columns.map((column) => ({ columnId: idOf(column), descending: false, nullsFirst: false })),
      unique: true,
      constraint: "unique",
    }),
  );
  const table: TableDef = Object.freeze({
    id,
    schema,
    name,
    columns,
    primaryKey: primaryKey?.columns.map(idOf) ?? null,
    primaryKeyName,
    indexes,
    checks: checkDefs(command),
    nextColumnId: columns.length,
    createdAt: nowMicros,
  });
  editor.createTable(table);
  for (const sequence of sequences) editor.createSequence(sequence);
  return { ...NOTHING, tag };
}

/** Names of checks need only differ within their table. */
function checkDefs(command: CreateTableCommand): CheckDef[] {
  const given = new Set<string>();
  for (const { name } of command.checks) {
    if (name === null) continue;
    if (given.has(name)) throw sqlError("42710", `check constraint "${name}" already exists`);
    given.add(name);
  }
  return command.checks.map((check) => {
    const parts = check.column === null ? [] : [check.column];
    const name = check.name ?? madeUpName(command.name, parts, "check", (candidate) => given.has(candidate));
    given.add(name);
    return { name, sql: check.sql };
  });
}

function dropTables(editor: CatalogEditor, command: DropTableCommand): DdlOutcome {
  const notices: string[] = [];
  const cleared: TableDef[] = [];
  for (const { schema, name, position } of command.tables) {
    const table = editor.view.table(schema, name);
    if (table !== null) {
      editor.dropTable(table);
      cleared.push(table);
    } else if (editor.view.hasRelation(schema, name)) {
      throw sqlError("42809", `"${name}" is not a table`, at(position));
    } else if (command.ifExists) {
      notices.push(`table "${name}" does not exist, skipping`);
    } else {
      throw sqlError("42P01", `table "${name}" does not exist`, at(position));
    }
  }
  return { ...NOTHING, tag: "DROP TABLE", notices, cleared };
}

function createIndex(editor: CatalogEditor, command: CreateIndexCommand): DdlOutcome {
  const table = existingTable(editor, command.table);
  const { schema } = table;
  const tag = "CREATE INDEX";
  const taken = (name: string) => editor.view.hasRelation(schema, name);
  if (command.name !== null && taken(command.name)) {
    if (!command.ifNotExists) throw relationExists(command.name);
    return { ...NOTHING, tag, notices: [`relation "${command.name}" already exists, skipping`] };
  }
  const names = command.columns.map((column) => column.name);
  const index: IndexDef = Object.freeze({
    id: editor.nextId(),
    name: command.name ?? madeUpName(table.name, names, "idx", taken),
    kind: "btree",
    columns: command.columns.map(({ name, descending, nullsFirst }) => ({
      columnId: table.columns.find((column) => column.name === name)!.id,
      descending,
      nullsFirst,
    })),
    unique: command.unique,
    constraint: null,
  });
  return { ...NOTHING, tag, backfill: { table: editor.createIndex(table, index), index } };
}

function dropIndexes(editor: CatalogEditor, command: DropIndexCommand): DdlOutcome {
  const notices: string[] = [];
  const clearedIndexes: { table: TableDef; index: IndexDef }[] = [];
  for (const { schema, name, position } of command.indexes) {
    const found = editor.view.index(schema, name);
    const behind = editor.view.tables().find((table) => table.schema === schema && table.primaryKeyName === name);
    if (behind !== undefined || (found !== null && found.index.constraint !== null)) {
      const table = behind ?? found!.table;
      const message = `cannot drop index ${name} because constraint ${name} on table ${table.name} requires it`;
      const hint = `You can drop constraint ${name} on table ${table.name} instead.`;
      throw sqlError("2BP01", message, { ...at(position), hint });
    }
    if (found !== null) {
      editor.dropIndex(found.table, found.index);
      clearedIndexes.push(found);
    } else if (editor.view.hasRelation(schema, name)) {
      throw sqlError("42809", `"${name}" is not an index`, at(position));
    } else if (command.ifExists) {
      notices.push(`index "${name}" does not exist, skipping`);
    } else {
      throw sqlError("42704", `index "${name}" does not exist`, at(position));
    }
  }
  return { ...NOTHING, tag: "DROP INDEX", notices, clearedIndexes };
}
