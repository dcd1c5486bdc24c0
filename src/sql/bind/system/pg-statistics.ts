/**
 * pg_stat_… and pg_statio_… of tables, indexes and sequences. Which there are, and the rows that the optimizer expects;
 * what nobody counts here is NULL. pg_stats has what ANALYZE found.
 */
import { oidOfId } from "../../../query/expr/types.js";
import { catalogIndex } from "./catalog-index.js";
import { systemShapes } from "./shapes.js";
import { liveRelation, type SystemRow, type SystemView } from "./system-view.js";

type Part = "all" | "user" | "sys";

function* systemTables(): Iterable<SystemRow> {
  for (const { schema, name, oid, kind } of systemShapes().values()) {
    if (kind === "r") yield { relid: oid, schemaname: schema, relname: name };
  }
}

function* userTables(view: SystemView): Iterable<SystemRow> {
  for (const table of view.catalog.tables()) {
    if (table.partitionKey !== undefined) continue;
    const names = { relid: oidOfId(table.id), schemaname: table.schema, relname: table.name };
    yield { ...names, n_live_tup: view.rowsOf(table), n_dead_tup: 0 };
  }
}

function* tablesOf(view: SystemView, part: Part): Iterable<SystemRow> {
  if (part !== "sys") yield* userTables(view);
  if (part !== "user") yield* systemTables();
}

function* indexesOf({ catalog }: SystemView, part: Part): Iterable<SystemRow> {
  if (part === "sys") return;
  for (const { oid, name, table } of catalogIndex(catalog).indexes.values()) {
    if (table.partitionKey !== undefined) continue;
    yield {
      relid: oidOfId(table.id),
      indexrelid: oid,
      schemaname: table.schema,
      relname: table.name,
      indexrelname: name,
    };
  }
}

function* sequencesOf({ catalog }: SystemView, part: Part): Iterable<SystemRow> {
  if (part === "sys") return;
  for (const { id, schema, name } of catalog.sequences()) {
    yield { relid: oidOfId(id), schemaname: schema, relname: name };
  }
}

const KINDS = { tables: tablesOf, indexes: indexesOf, sequences: sequencesOf } as const;
const PARTS: readonly Part[] = ["all", "user", "sys"];

const names = (Object.keys(KINDS) as (keyof typeof KINDS)[]).flatMap((kind) =>
  ["pg_stat", "pg_statio", "pg_stat_xact"].flatMap((prefix) =>
    PARTS.map((part) => ({ name: `${prefix}_${part}_${kind}`, kind, part })),
  ),
);

const perRelation = names
  .filter(({ name }) => systemShapes().has(`pg_catalog.${name}`))
  .map(({ name, kind, part }) => liveRelation("pg_catalog", name, (view) => KINDS[kind](view, part)));

export const PG_STATISTICS = [...perRelation];
