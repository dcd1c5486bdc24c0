/**
 * Indexes that are being built: those of statements, and search indexes, which live in memory and are built in the
 * background. pg_stat_progress_create_index lists both, as PostgreSQL shows it; tessera_search_indexes lists all search
 * indexes.
 */
import type { SearchIndexDef, TableDef } from "../../../catalog/table.js";
import { oidOfId } from "../../../query/expr/types.js";
import { FLOAT8, INT4, INT8, NAME, OID, TEXT } from "../../../values/values.js";
import { hashedOid } from "./relation-facts.js";
import { type SystemRelation, type SystemView, systemRelation } from "./system-view.js";

function* searchIndexes({ catalog }: SystemView): Generator<{ table: TableDef; index: SearchIndexDef }> {
  for (const table of catalog.tables()) {
    for (const index of table.searchIndexes ?? []) if (index.declared === undefined) yield { table, index };
  }
}

function ofIndex({ database }: SystemView, table: TableDef, index: { readonly id: number }) {
  return {
    pid: 0,
    datid: hashedOid("database", database),
    datname: database,
    relid: oidOfId(table.id),
    index_relid: oidOfId(index.id),
    command: "CREATE INDEX",
    lockers_total: 0,
    lockers_done: 0,
    current_locker_pid: 0,
    blocks_total: 0,
    blocks_done: 0,
    partitions_total: 0,
    partitions_done: 0,
  };
}

/** Who may not see all rows is not told how many there are. */
const countsRows = ({ rights }: SystemView, { id }: TableDef): boolean => rights.mayAll(id, ["r"]);

const progress = systemRelation(
  "pg_catalog",
  "pg_stat_progress_create_index",
  {
    pid: INT4,
    datid: OID,
    datname: NAME,
    relid: OID,
    index_relid: OID,
    command: TEXT,
    phase: TEXT,
    lockers_total: INT8,
    lockers_done: INT8,
    current_locker_pid: INT8,
    blocks_total: INT8,
    blocks_done: INT8,
    tuples_total: INT8,
    tuples_done: INT8,
    partitions_total: INT8,
    partitions_done: INT8,
  },
  function* (view) {
    for (const { table, index, phase, rows, rowsExpected } of view.indexBuilds) {
      yield {
        ...ofIndex(view, table, index),
        phase: `building index: ${phase}`,
        ...(countsRows(view, table) && { tuples_total: Math.max(rowsExpected, rows), tuples_done: rows }),
      };
    }
    for (const { table, index } of searchIndexes(view)) {
      const life = view.indexLifeOf(index);
      if (life === null || life.state === "absent" || life.state === "ready") continue;
      const isLinking = life.state === "linking";
      yield {
        ...ofIndex(view, table, index),
        phase: isLinking ? "building index: loading tuples in graph" : "building index: scanning table",
        ...(countsRows(view, table) && {
          tuples_total: isLinking ? life.items : null,
          tuples_done: isLinking ? life.items - life.waiting : life.rowsRead,
        }),
      };
    }
  },
);

const all = systemRelation(
  "pg_catalog",
  "tessera_search_indexes",
  {
    schemaname: NAME,
    tablename: NAME,
    indexname: NAME,
    method: TEXT,
    state: TEXT,
    progress: FLOAT8,
    rows_read: INT8,
    items: INT8,
    items_waiting: INT8,
    size_bytes: INT8,
    candidates: INT8,
  },
  function* (view) {
    for (const { table, index } of searchIndexes(view)) {
      const life = view.indexLifeOf(index);
      if (life === null) continue;
      const { state, rowsRead, items, waiting, bytes, candidates } = life;
      yield {
        schemaname: table.schema,
        tablename: table.name,
        indexname: index.name,
        method: index.method,
        state,
        progress: state === "ready" ? 1 : state === "linking" ? (items - waiting) / Math.max(1, items) : 0,
        ...(countsRows(view, table) && {
          rows_read: rowsRead,
          items,
          items_waiting: waiting,
          size_bytes: bytes,
          candidates,
        }),
      };
    }
  },
);

export const SEARCH_INDEX_RELATIONS: readonly SystemRelation[] = [progress, all];
