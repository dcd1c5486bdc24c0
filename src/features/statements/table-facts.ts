/** What the tenant's tables look like. */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Request } from "../../actor/request.js";
import type { CatalogView } from "../../catalog/catalog-view.js";
import { meant } from "../../catalog/did-you-mean.js";
import { foreignKeyText } from "../../catalog/foreign-key-text.js";
import { isListed } from "../../catalog/graph.js";
import { withoutReferences } from "../../catalog/object-reference.js";
import { parseRelationName } from "../../catalog/relation-names.js";
import { permissionDenied, type Rights } from "../../catalog/rights.js";
import type { IndexDef, TableDef } from "../../catalog/table.js";
import type { ViewDef } from "../../catalog/view.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { measureTable } from "../../query/exec/measure-table.js";
import { displayName } from "../../query/expr/types.js";
import { type IndexLife, indexLife } from "../../session/search-index-care.js";
import { listsColumn, listsRelation } from "../../sql/bind/system/visible-rows.js";

const TABLES_PER_PAGE = 1000;

/** Columns, indexes and constraints of one table, by "name" or "schema.name". Throws not_found. */
type ColumnInfo = ResponseOf<"schema.columns">[number];
type IndexInfo = ResponseOf<"schema.indexes">[number];
type TableInfo = ResponseOf<"schema.tables">[number];
type Constraint = ResponseOf<"schema.table">["constraints"][number];

export function tableFacts(request: Request, name: string): ResponseOf<"schema.table"> {
  const facts = found(request, name);
  return {
    name: facts.table.name,
    columns: columnsOf(facts),
    indexes: indexesOf(facts, request),
    constraints: constraintsOf(facts),
  };
}

export function tableColumns(request: Request, name: string): ColumnInfo[] {
  return columnsOf(found(request, name));
}

export function tableIndexes(request: Request, name: string): IndexInfo[] {
  return indexesOf(found(request, name), request);
}

/** Which tables are wanted. */
export interface TablesPage {
  readonly limit?: number;
  readonly offset?: number;
  /** Internal tables and those of graphs, too. */
  readonly includesSystem?: boolean;
}

/**
 * What information_schema.tables would list, without others' memories. Row counts are exact: each listed table's keys
 * are counted, in turns. Whoever may not read all of a table is told no size.
 */
export async function listTables(
  request: Request,
  { limit = TABLES_PER_PAGE, offset = 0, includesSystem = false }: TablesPage = {},
): Promise<TableInfo[]> {
  const { tenant } = request;
  const tx = tenant.partition.shard.begin({ readOnly: true });
  try {
    const catalog = tenant.catalog.view(tx);
    const rights = rightsOfCaller(request.head)(catalog);
    const all = [...catalog.tables(), ...catalog.views()].filter(
      ({ id }) => !rights.isClosed(id) && !rights.hidesMemories(id) && listsRelation(rights, id),
    );
    const shown = includesSystem ? all : all.filter(isListed);
    const relations = shown.slice(offset, offset + limit);
    const rows: TableInfo[] = [];
    for (const table of relations) {
      if ("query" in table) {
        rows.push(describeView(table));
        continue;
      }
      const size = rights.mayAll(table.id, ["r"]) ? await measureTable(tx, tenant.number, table, request) : null;
      rows.push({
        name: table.name,
        schema: table.schema,
        type: table.materialized ? "materialized view" : "table",
        column_count: table.columns.filter((column) => listsColumn(rights, table.id, column.id)).length,
        ...(size !== null && { row_count: size.rows, size_bytes: size.bytes }),
        created_at: new Date(table.createdAt / 1000).toISOString(),
      });
    }
    return rows;
  } finally {
    tx.rollback();
  }
}

function describeView({ name, schema, columns, createdAt }: ViewDef): TableInfo {
  return {
    name,
    schema,
    type: "view",
    column_count: columns.length,
    row_count: 0,
    size_bytes: 0,
    created_at: new Date(createdAt / 1000).toISOString(),
  };
}

function noTable(name: string, catalog: CatalogView, rights: Rights): DbError {
  const names = catalog
    .tables()
    .flatMap((each) => (isListed(each) && listsRelation(rights, each.id) ? [each.name] : []));
  const hint = meant(name, names).hint ?? "GET /v1/schema/tables lists the tables.";
  return new DbError("not_found", `The table "${name}" does not exist.`, { sqlstate: "42P01", hint });
}

/** A table as somebody sees it. */
interface Found {
  readonly table: TableDef;
  readonly catalog: CatalogView;
  readonly rights: Rights;
}

/** Throws not_found, and 42501 where information_schema has nothing of the table. */
function found(request: Request, named: string): Found {
  const { tenant } = request;
  const tx = tenant.partition.shard.begin({ readOnly: true });
  try {
    const catalog = tenant.catalog.view(tx);
    const rights = rightsOfCaller(request.head)(catalog);
    const table = catalog.table(null, named) ?? qualifiedTable(catalog, named);
    if (table === null) throw noTable(named, catalog, rights);
    if (rights.hidesMemories(table.id) || !listsRelation(rights, table.id)) {
      throw permissionDenied("table", table.name);
    }
    return { table, catalog, rights };
  } finally {
    tx.rollback();
  }
}

/** Whether somebody sees all the columns that something of the table is about. */
function seesColumns({ table, rights }: Found, ids: readonly number[]): boolean {
  return ids.every((id) => listsColumn(rights, table.id, id));
}

/** Whether somebody sees all columns: what is written in SQL may name any of them. */
function seesAllColumns(facts: Found): boolean {
  return seesColumns(
    facts,
    facts.table.columns.map(({ id }) => id),
  );
}

/** A schema and a name, as they are or in quotes; a dot in quotes belongs to a name. */
function qualifiedTable(catalog: CatalogView, named: string): TableDef | null {
  if (named.startsWith('"')) {
    const { schema, name } = parseRelationName(named);
    return catalog.table(schema, name);
  }
  const dot = named.indexOf(".");
  return dot < 0 ? null : catalog.table(named.slice(0, dot), named.slice(dot + 1));
}

function columnsOf({ table, rights }: Found): ColumnInfo[] {
  const all = table.columns.map((column, index) => ({
    name: column.name,
    data_type: displayName(column.type),
    nullable: !column.notNull,
    default_value: column.defaultSql && withoutReferences(column.defaultSql),
    is_primary_key: table.primaryKey?.includes(column.id) ?? false,
    is_unique: isUnique(table, column.id),
    ordinal_position: index + 1,
  }));
  return all.filter(({ ordinal_position: place }) => listsColumn(rights, table.id, table.columns[place - 1]!.id));
}

/** By itself, not only together with other columns. */
function isUnique(table: TableDef, columnId: number): boolean {
  const alone = (ids: readonly number[]): boolean => ids.length === 1 && ids[0] === columnId;
  return (
    (table.primaryKey !== null && alone(table.primaryKey)) ||
    table.indexes.some((index) => index.unique && alone(index.columns.map((column) => column.columnId)))
  );
}

/** Only those whose columns are all seen. What a search index holds is told to who may read all rows. */
function indexesOf(facts: Found, { tenant }: Request): IndexInfo[] {
  const { table, rights } = facts;
  const primary =
    table.primaryKey === null || !seesColumns(facts, table.primaryKey)
      ? []
      : [describeIndex(table, table.primaryKeyName!, table.primaryKey, true, true)];
  const readsAll = rights.mayAll(table.id, ["r"]);
  const seesText = seesAllColumns(facts);
  return [
    ...primary,
    ...table.indexes
      .filter((index) => (isOfColumns(index) ? seesColumns(facts, idsOf(index)) : seesText))
      .map((index) => ({
        ...describeIndex(table, index.name, [], index.unique, false),
        columns: index.columns.map(
          ({ columnId, expression }) =>
            (expression && withoutReferences(expression.sql)) ?? namesOf(table, [columnId])[0]!,
        ),
      })),
    ...(table.searchIndexes ?? [])
      .filter(({ columnIds }) => seesColumns(facts, columnIds))
      .map((index) => ({
        ...describeIndex(table, index.name, index.columnIds, false, false),
        type: index.method,
        ...(readsAll &&
          index.declared === undefined && {
            progress: describeLife(indexLife(tenant.partition.derived, tenant.number, index)),
          }),
      })),
  ];
}

function isOfColumns({ columns }: IndexDef): boolean {
  return columns.every(({ expression }) => expression === undefined);
}

function describeLife({ state, rowsRead, items, waiting, bytes }: IndexLife): NonNullable<IndexInfo["progress"]> {
  return { state, rows_read: rowsRead, items, items_waiting: waiting, size_bytes: bytes };
}

function describeIndex(
  table: TableDef,
  name: string,
  ids: readonly number[],
  unique: boolean,
  primary: boolean,
): IndexInfo {
  return { name, type: "btree", columns: namesOf(table, ids), is_unique: unique, is_primary: primary };
}

function idsOf(index: IndexDef): number[] {
  return index.columns.map((column) => column.columnId);
}

function namesOf(table: TableDef, ids: readonly number[]): string[] {
  return ids.map((id) => table.columns.find((column) => column.id === id)!.name);
}

/** Only those whose columns are all seen. */
function constraintsOf(facts: Found): Constraint[] {
  const { table, catalog } = facts;
  const keys: Constraint[] = [];
  if (table.primaryKey !== null && seesColumns(facts, table.primaryKey)) {
    keys.push({
      name: table.primaryKeyName!,
      type: "PRIMARY KEY",
      definition: `PRIMARY KEY (${namesOf(table, table.primaryKey).join(", ")})`,
    });
  }
  for (const index of table.indexes) {
    if (index.constraint === "unique" && seesColumns(facts, idsOf(index))) {
      keys.push({
        name: index.name,
        type: "UNIQUE",
        definition: `UNIQUE (${namesOf(table, idsOf(index)).join(", ")})`,
      });
    }
  }
  const checks = seesAllColumns(facts)
    ? table.checks.map(({ name, sql }) => ({ name, type: "CHECK", definition: `CHECK (${sql})` }))
    : [];
  const foreignKeys = (table.foreignKeys ?? [])
    .filter(({ columns }) => seesColumns(facts, columns))
    .map((key) => ({
      name: key.name,
      type: "FOREIGN KEY",
      definition: foreignKeyText(key, table, catalog.tableById(key.tableId)!),
    }));
  return [...keys, ...checks, ...foreignKeys];
}
