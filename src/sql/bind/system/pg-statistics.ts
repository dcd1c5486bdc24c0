/**
 * pg_stat_… and pg_statio_… of tables, indexes and sequences. Which there are, and the rows that the optimizer expects;
 * what nobody counts here is NULL. pg_stats has what ANALYZE found.
 */
import type { ColumnStatistics, Mark } from "../../../catalog/statistics.js";
import type { ColumnDef, TableDef } from "../../../catalog/table.js";
import { oidOfId } from "../../../query/expr/types.js";
import { toText } from "../../../values/text-format.js";
import { sqlArray } from "../../../values/text-format-array.js";
import type { SqlArray, SqlType } from "../../../values/values.js";
import { catalogIndex } from "./catalog-index.js";
import { widthOf } from "./server-functions.js";
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
    const names = { relid: oidOfId(table.id), schemaname: table.schema, relname: table.name };
    const analyzed = view.statisticsOf(table);
    yield {
      ...names,
      n_live_tup: table.partitionKey === undefined ? view.rowsOf(table) : 0,
      n_dead_tup: 0,
      last_analyze: analyzed?.statementMicros ?? null,
      last_autoanalyze: analyzed?.serverMicros ?? null,
    };
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

/** PostgreSQL's way to say that there are more different values the more rows there are. */
const GROWING_FRACTION = 0.1;

/** Only of tables of which the asker may read every row: the values are rows'. */
const pgStats = liveRelation("pg_catalog", "pg_stats", function* (view) {
  for (const table of view.catalog.tables()) {
    const statistics = view.statisticsOf(table);
    if (statistics === null) continue;
    for (const column of table.columns) {
      const found = statistics.columns[column.id];
      if (found !== undefined) yield statsRow(table, column, found, statistics.rows);
    }
  }
});

function statsRow(table: TableDef, { name, type }: ColumnDef, found: ColumnStatistics, rows: number): SystemRow {
  const { distinct, nullFraction, common, histogram } = found;
  return {
    schemaname: table.schema,
    tablename: table.name,
    attname: name,
    inherited: false,
    null_frac: nullFraction,
    avg_width: widthOf(type),
    n_distinct: distinct > rows * GROWING_FRACTION ? -distinct / rows : distinct,
    most_common_vals:
      common.length === 0
        ? null
        : marked(
            type,
            common.map(({ value }) => value),
          ),
    most_common_freqs: common.length === 0 ? null : sqlArray(common.map(({ fraction }) => fraction)),
    histogram_bounds: histogram.length === 0 ? null : marked(type, histogram),
  };
}

/** Marks as texts of the column's type. */
function marked(type: SqlType, marks: readonly Mark[]): SqlArray {
  return sqlArray(
    marks.map((mark) => {
      if (typeof mark === "string" || type.name === "numeric") return String(mark);
      return toText(type, type.name === "bool" ? mark === 1 : mark);
    }),
  );
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

export const PG_STATISTICS = [...perRelation, pgStats];
