/** The tenant's tables as questions in plain language are answered from (src/ai/nl2sql). Made per question. */
import type { ColumnFacts, ColumnKind, LinkFacts, SchemaFacts, TableFacts } from "../../ai/nl2sql/schema-facts.js";
import { identifier } from "../../ai/nl2sql/sql-names.js";
import { type CatalogView, DEFAULT_SCHEMA, isInternal } from "../../catalog/catalog-view.js";
import { isGraphSchema } from "../../catalog/graph.js";
import { isTemporarySchema } from "../../catalog/schema.js";
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { displayName } from "../../query/expr/types.js";
import type { SqlType } from "../../values/values.js";

/** Tables of the tenant's own; `only`: those of these names, also internal ones. */
export function schemaFacts(catalog: CatalogView, only: readonly string[] | null): SchemaFacts {
  const tables = catalog
    .tables()
    .filter((table) => isAskable(table) && (only === null ? !isInternal(table) : only.includes(table.name)));
  const facts = new Map<number, TableFacts>(tables.map((table) => [table.id, tableFacts(table)]));
  const links: LinkFacts[] = [];
  for (const table of tables) {
    const nameOf = columnNames(table);
    for (const { columns, tableId, references } of table.foreignKeys ?? []) {
      const to = facts.get(tableId);
      const target = tables.find(({ id }) => id === tableId);
      if (to === undefined || target === undefined || target === table) continue;
      const link = { from: facts.get(table.id)!, columns: columns.map(nameOf), to };
      links.push({ ...link, references: references.map(columnNames(target)) });
    }
  }
  return { tables: [...facts.values()], links };
}

function isAskable({ schema, parents, partitionBound }: TableDef): boolean {
  const isOurs = isGraphSchema(schema) || isTemporarySchema(schema);
  return !isOurs && (partitionBound === undefined || parents === undefined);
}

function tableFacts(table: TableDef): TableFacts {
  const { schema, name } = table;
  const keys = new Set([...(table.primaryKey ?? []), ...(table.foreignKeys ?? []).flatMap(({ columns }) => columns)]);
  return {
    sqlName: schema === DEFAULT_SCHEMA ? identifier(name) : `${identifier(schema)}.${identifier(name)}`,
    name,
    columns: table.columns.map((column) => columnFacts(column, keys.has(column.id))),
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
