/**
 * Applies bound definition statements within a transaction. It changes definitions only. Rows and index entries that
 * must follow are listed in the outcome; the session has the executor do that work in the same transaction.
 */
import { sqlError } from "../protocol/errors.js";
import type { Transaction } from "../storage/store.js";
import { applyAccessCommand } from "./access-ddl.js";
import { alterTable } from "./alter-family.js";
import { alterView } from "./alter-view.js";
import type { Author } from "./author.js";
import type { Catalog } from "./catalog.js";
import { type CatalogEditor, relationExists } from "./catalog-editor.js";
import { commentOn } from "./comment.js";
import type {
  CreateIndexCommand,
  CreateTableCommand,
  DdlCommand,
  DropIndexCommand,
  NewIndexColumn,
  RefreshCommand,
  TruncateCommand,
} from "./ddl-command.js";
import { applyNamespaceCommand, type PositionOf } from "./ddl-namespace.js";
import { at, combined, type DdlOutcome, existingTable, NOTHING } from "./ddl-outcome.js";
import { type ColumnsIn, dropCondemned } from "./drop-condemned.js";
import { dropsOfOthers } from "./drop-rights.js";
import { dropTables } from "./drop-tables.js";
import { applyStatisticsCommand } from "./extended-statistics.js";
import { addForeignKey, dropReferences } from "./foreign-key-ddl.js";
import { applyFunctionCommand } from "./function-ddl.js";
import { applyGraphCommand, refuseGraphTables } from "./graph-ddl.js";
import { addChild, descendantsOf } from "./inheritance.js";
import { rareParts } from "./new-column.js";
import { checkPartition, joinPartition } from "./partition-ddl.js";
import { dropIndexParts, spreadIndex } from "./partition-indexes.js";
import { checkKeysOfPartitioned, checkUniqueIndex } from "./partition-keys.js";
import { createPropertyGraph, dropPropertyGraphs } from "./property-graph-ddl.js";
import { reindex } from "./reindex.js";
import { madeUpName } from "./relation-names.js";
import { rename } from "./rename.js";
import { permissionDenied } from "./rights.js";
import { applyRuleCommand } from "./rule-ddl.js";
import { createSearchIndex, searchIndexDef, withoutSearchIndex } from "./search-index-ddl.js";
import type { SequenceDef } from "./sequence.js";
import { ownedSequence, restarted, sequenceDef } from "./sequence-ddl.js";
import { type CheckDef, type ColumnDef, EXPRESSION_COLUMN, type IndexDef, type TableDef } from "./table.js";
import { checkDef, TableNames } from "./table-names.js";
import { applyTriggerCommand } from "./trigger-ddl.js";
import { createView, dropViews } from "./view-ddl.js";

/** No sequence has a position of its own where there is no allocator. */
const FROM_THE_START: PositionOf = ({ from, start }) => from ?? { last: start, called: false };

/**
 * @param nowMicros the statement's start, microseconds since the epoch.
 * @param positionOf where sequences stand, for ALTER SEQUENCE.
 * @param author who changes definitions; null: the engine itself.
 * @param columnsIn for columns that go with something.
 */
export function applyDdl(
  catalog: Catalog,
  tx: Transaction,
  command: DdlCommand,
  nowMicros: number,
  positionOf: PositionOf = FROM_THE_START,
  author: Author | null = null,
  columnsIn: ColumnsIn = unread,
): DdlOutcome {
  return catalog.change(
    tx,
    (editor) => {
      const work = (): DdlOutcome => {
        const outcome = applied(editor, command, nowMicros, positionOf);
        if (editor.condemned.length === 0) return outcome;
        return { ...outcome, ...combined([outcome, dropCondemned(editor, columnsIn, nowMicros)]) };
      };
      return dropsOfOthers(author, command, editor.view) ? editor.byEngine(work) : work();
    },
    author,
  );
}

const unread: ColumnsIn = () => {
  throw new Error("nothing here reads expressions, which dropping a column needs");
};

function applied(editor: CatalogEditor, command: DdlCommand, nowMicros: number, positionOf: PositionOf): DdlOutcome {
  refuseGraphTables(editor, command);
  switch (command.kind) {
    case "create table":
      return createTable(editor, command, nowMicros);
    case "drop table":
      return dropTables(editor, command);
    case "create index":
      return createIndex(editor, command);
    case "create search index":
      return createSearchIndex(editor, command);
    case "drop index":
      return dropIndexes(editor, command);
    case "reindex":
      return reindex(editor, command);
    case "truncate":
      return truncate(editor, command, nowMicros);
    case "alter table":
      return alterTable(editor, command, nowMicros);
    case "rename":
      return rename(editor, command);
    case "comment":
      return commentOn(editor, command);
    case "refresh":
      return refresh(editor, command);
    case "alter view":
      alterView(editor, command);
      return { ...NOTHING, tag: "ALTER VIEW" };
    case "create trigger":
    case "drop trigger":
    case "rename trigger":
    case "comment on trigger":
      return applyTriggerCommand(editor, command);
    case "create rule":
    case "drop rule":
    case "rename rule":
      return applyRuleCommand(editor, command);
    case "create statistics":
    case "drop statistics":
    case "alter statistics":
      return applyStatisticsCommand(editor, command);
    case "create view":
      return { ...NOTHING, ...createView(editor, command, nowMicros) };
    case "create function":
    case "drop functions":
    case "alter function":
      return applyFunctionCommand(editor, command, nowMicros);
    case "create graph":
    case "drop graph":
    case "create graph lookup":
    case "create graph index":
    case "create graph constraint":
    case "drop graph index":
      return applyGraphCommand(editor, command, nowMicros);
    case "create property graph":
      return { ...NOTHING, ...createPropertyGraph(editor, command, nowMicros) };
    case "drop property graphs":
      return { ...NOTHING, ...dropPropertyGraphs(editor, command) };
    case "access":
      return applyAccessCommand(editor, command, nowMicros);
    case "drop views":
      return { ...NOTHING, ...dropViews(editor, command) };
    default:
      return applyNamespaceCommand(editor, command, nowMicros, positionOf);
  }
}

function createTable(editor: CatalogEditor, command: CreateTableCommand, nowMicros: number): DdlOutcome {
  const { schema, name } = command;
  const tag = command.materialized ? "CREATE MATERIALIZED VIEW" : command.filled ? "CREATE TABLE AS" : "CREATE TABLE";
  if (editor.view.hasRelation(schema, name)) {
    if (!command.ifNotExists) throw relationExists(name);
    return { ...NOTHING, tag, notices: [`relation "${name}" already exists, skipping`] };
  }
  if (command.partition !== undefined) checkPartition(editor, name, command.partition);
  const id = editor.nextId();
  const names = new TableNames(editor, schema, name);
  // The rows of a table lie by its primary key, so one that may be violated for a while cannot be it.
  const primaryKey = command.primaryKey?.deferrable ? null : command.primaryKey;
  const uniques = command.primaryKey?.deferrable ? [command.primaryKey, ...command.uniques] : command.uniques;
  const primaryKeyName = primaryKey === null ? null : names.relation(primaryKey.name, [], "pkey");
  const sequences: SequenceDef[] = [];
  const columns = command.columns.map((column, columnId): ColumnDef => {
    let { defaultSql } = column;
    if (column.sequence !== null) {
      const owner = { tableId: id, columnId };
      const sequenceName = names.relation(null, [column.name], "seq");
      const sequence = sequenceDef(
        editor.nextId(),
        schema,
        sequenceName,
        column.type,
        column.sequence,
        owner,
        nowMicros,
      );
      sequences.push(sequence);
      defaultSql = ownedSequence(sequence);
    }
    const { name: columnName, type, identity } = column;
    const notNull = column.notNull || (command.primaryKey?.columns.includes(columnName) ?? false);
    const plain = { id: columnId, name: columnName, type, notNull, defaultSql, missingSql: null, identity };
    return Object.freeze({ ...plain, ...rareParts(column) });
  });
  const idOf = (columnName: string) => columns.find((column) => column.name === columnName)!.id;
  const indexes = uniques.map(
    (unique): IndexDef => ({
      id: editor.nextId(),
      name: unique.deferrable?.primary
        ? names.relation(unique.name, [], "pkey")
        : names.relation(unique.name, [...unique.columns, ...(unique.include ?? [])], "key"),
      kind: "btree",
      columns: unique.columns.map((column) => ({ columnId: idOf(column), descending: false, nullsFirst: false })),
      unique: unique.deferrable === undefined,
      constraint: "unique",
      ...(unique.deferrable !== undefined && { deferrable: unique.deferrable }),
      ...indexOptions(unique, idOf),
    }),
  );
  for (const index of command.indexes) {
    const indexName = names.relation(
      index.name,
      index.columns.map((column) => column.name),
      index.exclusion === undefined ? "idx" : "excl",
    );
    indexes.push(indexDef(editor.nextId(), indexName, index, idOf));
  }
  const searchIndexes = (command.searchIndexes ?? []).map((index) =>
    searchIndexDef(editor.nextId(), names.relation(index.name ?? null, index.columns, "idx"), index, idOf),
  );
  const checks: CheckDef[] = [];
  for (const check of command.checks) checks.push(checkDef(check, checks, command.checks, name));
  const comments = command.columns.flatMap(({ comment }, i) => (comment ? [[`column ${i}`, comment]] : []));
  const table: TableDef = Object.freeze({
    id,
    schema,
    name,
    columns,
    primaryKey: primaryKey?.columns.map(idOf) ?? null,
    primaryKeyName,
    ...(primaryKey?.include && { primaryKeyInclude: primaryKey.include.map(idOf) }),
    indexes,
    ...(searchIndexes.length > 0 && { searchIndexes }),
    checks,
    ...(command.parents !== undefined && { parents: command.parents }),
    ...(command.ofType !== undefined && { ofType: command.ofType }),
    ...(command.partitionKey !== undefined && { partitionKey: command.partitionKey }),
    ...(command.partition !== undefined && { partitionBound: command.partition.bound }),
    ...(command.storage !== undefined && { storage: command.storage }),
    ...(command.unlogged && { unlogged: true as const }),
    ...(command.immutable && { immutable: true }),
    ...(command.materialized && { materialized: command.materialized }),
    ...(comments.length > 0 && { comments: Object.fromEntries(comments) }),
    nextColumnId: columns.length,
    ...(command.onCommit !== undefined && { onCommit: command.onCommit }),
    createdAt: nowMicros,
  });
  checkKeysOfPartitioned(table);
  editor.createTable(table);
  for (const { kinds, keys, columns: read } of command.statistics ?? []) {
    const own = keys.map(({ column, sql }) => (column === undefined ? { sql: sql! } : { columnId: idOf(column) }));
    const named = { schema, name: null, table: { schema, name, position: 0 }, ifNotExists: false };
    const kept = { kinds, keys: own, columnIds: read.map(idOf) };
    applyStatisticsCommand(editor, { kind: "create statistics", ...named, ...kept });
  }
  for (const parent of command.parents ?? []) addChild(editor, parent, id);
  editor.createSequences(sequences);
  for (const foreignKey of command.foreignKeys) addForeignKey(editor, editor.view.tableById(id)!, foreignKey);
  const { notices = [] } = command;
  if (command.partition !== undefined) {
    return { ...NOTHING, ...joinPartition(editor, id, command.partition, true), tag, notices, made: table };
  }
  return {
    ...NOTHING,
    tag,
    notices,
    made: table,
    rewrites: command.filled ? [{ before: table, after: table, select: null }] : [],
  };
}

function refresh(editor: CatalogEditor, { table, populated }: RefreshCommand): DdlOutcome {
  const before = existingTable(editor, table);
  const { query } = before.materialized!;
  const after: TableDef = Object.freeze({ ...before, materialized: { query, populated } });
  editor.replaceTable(after);
  return { ...NOTHING, tag: "REFRESH MATERIALIZED VIEW", rewrites: [{ before, after, select: null }] };
}

/** The optional parts of an index definition, only those that are there. */
function indexOptions(
  from: {
    readonly include?: readonly string[];
    readonly nullsNotDistinct?: boolean;
    readonly where?: string | null;
  },
  idOf: (column: string) => number,
): Pick<IndexDef, "include" | "storesIncluded" | "nullsNotDistinct" | "where"> {
  const { include = [], nullsNotDistinct = false, where = null } = from;
  return {
    ...(include.length > 0 && { include: include.map(idOf), storesIncluded: true }),
    ...(nullsNotDistinct && { nullsNotDistinct }),
    ...(where !== null && { where }),
  };
}

function indexDef(
  id: number,
  name: string,
  command: Omit<CreateIndexCommand, "kind" | "table" | "ifNotExists">,
  idOf: (column: string) => number,
): IndexDef {
  const key = ({ name, ...rest }: NewIndexColumn) => ({
    columnId: rest.expression === undefined ? idOf(name) : EXPRESSION_COLUMN,
    ...rest,
  });
  return Object.freeze({
    id,
    name,
    kind: "btree",
    columns: command.columns.map(key),
    unique: command.unique,
    constraint: command.exclusion === undefined ? null : "unique",
    ...(command.exclusion !== undefined && { exclusion: true as const }),
    ...(command.exclusion?.operators && { operators: command.exclusion.operators }),
    ...(command.exclusion?.deferrable && { deferrable: command.exclusion.deferrable }),
    ...indexOptions(command, idOf),
    ...(command.hash && { hash: true as const }),
    ...(command.storage && { storage: command.storage }),
  });
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
  const names = [...command.columns.map((column) => column.name), ...command.include];
  const idOf = (name: string) => table.columns.find((column) => column.name === name)!.id;
  const name = command.name ?? madeUpName(table.name, names, command.exclusion === undefined ? "idx" : "excl", taken);
  const index = indexDef(editor.nextId(), name, command, idOf);
  const { notices, only = false } = command;
  checkUniqueIndex(table, index);
  const isBranch = table.partitionKey !== undefined && (table.children ?? []).length > 0;
  const made = isBranch && only ? Object.freeze({ ...index, invalid: true }) : index;
  const after = editor.createIndex(table, made);
  const parts = only ? {} : spreadIndex(editor, after, made);
  return { ...NOTHING, ...parts, tag, notices, backfills: [{ table: after, index: made }, ...(parts.backfills ?? [])] };
}

function dropIndexes(editor: CatalogEditor, command: DropIndexCommand): DdlOutcome {
  const notices: string[] = [];
  const clearedIndexes: { table: TableDef; index: IndexDef }[] = [];
  for (const { schema, name, position } of command.indexes) {
    const search = editor.view.searchIndex(schema, name);
    if (search !== null) {
      editor.replaceTable(withoutSearchIndex(search.table, search.index));
      continue;
    }
    const found = editor.view.index(schema, name);
    const behind = editor.view.tables().find((table) => table.schema === schema && table.primaryKeyName === name);
    if (behind !== undefined || (found !== null && found.index.constraint !== null)) {
      const table = behind ?? found!.table;
      const message = `cannot drop index ${name} because constraint ${name} on table ${table.name} requires it`;
      const hint = `You can drop constraint ${name} on table ${table.name} instead.`;
      throw sqlError("2BP01", message, { ...at(position), hint });
    }
    if (found?.index.parentId !== undefined) throw partOfIndex(editor, found);
    if (found !== null) {
      clearedIndexes.push(...(dropIndexParts(editor, found.table, found.index).clearedIndexes ?? []));
      const others = (found.table.referencedBy ?? []).filter((reference) => reference.indexId === found.index.id);
      notices.push(...dropReferences(editor, `index ${name}`, found.table, others, command.cascade));
      editor.dropIndex(editor.view.tableById(found.table.id)!, found.index);
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

/** A part of a partitioned table's index goes with it alone. */
function partOfIndex(editor: CatalogEditor, part: { readonly table: TableDef; readonly index: IndexDef }): Error {
  const parent = editor.view.tableById(part.table.parents![0]!)!;
  const whole = parent.indexes.find(({ id }) => id === part.index.parentId)!.name;
  return sqlError("2BP01", `cannot drop index ${part.index.name} because index ${whole} requires it`, {
    hint: `You can drop index ${whole} instead.`,
  });
}

function truncate(editor: CatalogEditor, command: TruncateCommand, nowMicros: number): DdlOutcome {
  const tables = new Map<number, TableDef>();
  const pending = command.tables.map((table) => existingTable(editor, table));
  // As in PostgreSQL, who may empty a table may empty what inherits from it.
  const named = new Set(pending.filter((_, i) => command.tables[i]!.isPart !== true));
  const parts = new Set(pending.filter((table) => !named.has(table)));
  const notices: string[] = [];
  for (let table = pending.pop(); table !== undefined; table = pending.pop()) {
    if (tables.has(table.id)) continue;
    if (!parts.has(table) && editor.author?.rights.may(table.id, "D") === false)
      throw permissionDenied("table", table.name);
    if (table.immutable) throw sqlError("42809", `cannot truncate immutable table "${table.name}"`);
    tables.set(table.id, table);
    if (!command.cascade) continue;
    for (const { tableId } of table.referencedBy ?? []) {
      const other = editor.view.tableById(tableId)!;
      if (tables.has(tableId) || pending.includes(other)) continue;
      notices.push(`truncate cascades to table "${other.name}"`);
      pending.push(other, ...descendantsOf(other, editor.view));
    }
  }
  for (const table of tables.values()) {
    const reference = (table.referencedBy ?? []).find(({ tableId }) => !tables.has(tableId));
    if (reference !== undefined) {
      const other = editor.view.tableById(reference.tableId)!.name;
      throw sqlError("0A000", "cannot truncate a table referenced in a foreign key constraint", {
        detail: `Table "${other}" references "${table.name}".`,
        hint: `Truncate table "${other}" at the same time, or use TRUNCATE ... CASCADE.`,
      });
    }
    if (!command.restartIdentity) continue;
    for (const sequence of editor.view.sequencesOf(table)) editor.replaceSequence(restarted(sequence, nowMicros));
  }
  return { ...NOTHING, tag: "TRUNCATE TABLE", notices, cleared: [...tables.values()] };
}
