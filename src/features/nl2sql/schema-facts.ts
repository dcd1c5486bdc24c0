/** Describes the tenant's tables for questions in plain language (src/ai/nl2sql). Made per question. */
import { linksByName, type NamedTable } from "../../ai/nl2sql/name-links.js";
import type { ColumnFacts, ColumnKind, LinkFacts, SchemaFacts, TableFacts } from "../../ai/nl2sql/schema-facts.js";
import { identifier } from "../../ai/nl2sql/sql-names.js";
import { type CatalogView, DEFAULT_SCHEMA, isInternal } from "../../catalog/catalog-view.js";
import { isGraphSchema } from "../../catalog/graph.js";
import type { Rights } from "../../catalog/rights.js";
import { isTemporarySchema } from "../../catalog/schema.js";
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { displayName } from "../../query/expr/types.js";
import type { SqlType } from "../../values/values.js";

/**
 * Tables of the tenant's own that somebody may read, with the columns that are open to them; `only`: those of these
 * names, also internal ones.
 */
export function schemaFacts(catalog: CatalogView, rights: Rights, only: readonly string[] | null): SchemaFacts {
  const tables = catalog
    .tables()
    .filter((table) => isAskable(table) && (only === null ? !isInternal(table) : only.includes(table.name)))
    .flatMap((table) => (rights.mayName(table) ? readablePart(table, rights) : []));
  const named = new Map<NamedTable, TableDef>(tables.map((table) => [namedTable(table), table]));
  const byName = linksByName([...named.keys()]);
  const keysOf = (table: TableDef) =>
    byName.filter(({ from }) => named.get(from) === table).map(({ column }) => column);
  const factsOfTable = (table: TableDef): TableFacts => ({
    ...tableFacts(table, keysOf(table)),
    ...(rights.columns(table.id, "r") !== "all" && { isPart: true }),
  });
  const facts = new Map<number, TableFacts>(tables.map((table) => [table.id, factsOfTable(table)]));
  const links: LinkFacts[] = [];
  const selfLinks: LinkFacts[] = [];
  for (const table of tables) {
    const nameOf = columnNames(table);
    for (const { columns, tableId, references } of table.foreignKeys ?? []) {
      const to = facts.get(tableId);
      const target = tables.find(({ id }) => id === tableId);
      if (to === undefined || target === undefined) continue;
      if (references.some((id) => target.columns.every((column) => column.id !== id))) continue;
      const link = { from: facts.get(table.id)!, columns: columns.map(nameOf), to };
      const list = target === table ? selfLinks : links;
      list.push({ ...link, references: references.map(columnNames(target)) });
    }
  }
  for (const { from, column, to, references } of byName) {
    const factsOf = (table: NamedTable) => facts.get(named.get(table)!.id)!;
    links.push({ from: factsOf(from), columns: [column], to: factsOf(to), references: [references] });
  }
  return { tables: [...facts.values()], links, selfLinks };
}

/** Without the columns that somebody may not read, and the keys that they are part of. */
function readablePart(table: TableDef, rights: Rights): TableDef {
  const may = rights.columns(table.id, "r");
  if (may === "all") return table;
  const isOpen = (ids: readonly number[]) => ids.every((id) => may.has(id));
  const { primaryKey, foreignKeys = [] } = table;
  return {
    ...table,
    columns: table.columns.filter(({ id }) => may.has(id)),
    primaryKey: primaryKey !== null && isOpen(primaryKey) ? primaryKey : null,
    foreignKeys: foreignKeys.filter(({ columns }) => isOpen(columns)),
  };
}

function isAskable({ schema, parents, partitionBound }: TableDef): boolean {
  const isOurs = isGraphSchema(schema) || isTemporarySchema(schema);
  return !isOurs && (partitionBound === undefined || parents === undefined);
}

function namedTable(table: TableDef): NamedTable {
  const linked = new Set((table.foreignKeys ?? []).flatMap(({ columns }) => columns));
  const columns = table.columns.map(({ id, name, type }) => ({
    name,
    typeName: displayName(type),
    isLinked: linked.has(id),
  }));
  return { name: table.name, primaryKey: (table.primaryKey ?? []).map(columnNames(table)), columns };
}

/** `byName`: columns that refer to other tables by their names. */
function tableFacts(table: TableDef, byName: readonly string[]): TableFacts {
  const { schema, name } = table;
  const keys = new Set([...(table.primaryKey ?? []), ...(table.foreignKeys ?? []).flatMap(({ columns }) => columns)]);
  return {
    sqlName: schema === DEFAULT_SCHEMA ? identifier(name) : `${identifier(schema)}.${identifier(name)}`,
    name,
    columns: table.columns.map((column) => columnFacts(column, keys.has(column.id) || byName.includes(column.name))),
    primaryKey: (table.primaryKey ?? []).map(columnNames(table)),
  };
}

function columnFacts({ name, type, notNull }: ColumnDef, isKey: boolean): ColumnFacts {
  return { name, kind: kindOf(type), typeName: displayName(type), nullable: !notNull, isKey };
}

function columnNames({ columns }: TableDef): (id: number) => string {
  return (id) => columns.find((column) => column.id === id)!.name;
}

const KINDS: Readonly<Record<string, ColumnKind>> = {
  int2: "number",
  int4: "number",
  int8: "number",
  float4: "number",
  float8: "number",
  numeric: "number",
  text: "text",
  varchar: "text",
  bpchar: "text",
  enum: "text",
  bool: "boolean",
  date: "date",
  timestamp: "timestamp",
  timestamptz: "timestamp",
};

function kindOf({ name, element }: SqlType): ColumnKind {
  return element === null ? (KINDS[name] ?? "other") : "other";
}
