/**
 * Makes the indexes in memory follow their definitions. An index on a table with rows is built when it is created, one
 * on an empty table with the first row; a dropped one goes with its file, and saved ones come back to memory after a
 * start. Called by the partition and, for progress, by whatever shows it.
 */
import { type CatalogView, DEFAULT_SCHEMA } from "../catalog/catalog-view.js";
import type { TextShape } from "../catalog/ranked-search.js";
import { type SearchIndexDef, storageOf, type TableDef } from "../catalog/table.js";
import type { DerivedIndexes } from "../derived/derived-indexes.js";
import { adjacencyKindOf, adjacencyPlace } from "../query/exec/adjacency-index.js";
import { searchIndexKind, searchIndexPlace, textIndexKind } from "../query/exec/search-index-kind.js";
import type { BoundTable } from "../query/plan/bound-table.js";
import { bindTable } from "../sql/bind/bind-table.js";
import { prefixRange, rowPrefix } from "../storage/keys.js";
import { readSome, type Transaction } from "../storage/store.js";
import { textShapeOf } from "../text/text-shape.js";
import type { Tenant } from "./tenant.js";

/** Saved indexes that are looked at after a start. */
const SAVED_MAX = 256;

/** How far an index is. */
export interface IndexLife {
  /**
   * absent: not in memory, a search has it made. opening: its file or the table's rows are read. linking: it is used,
   * and vectors wait to be linked into its graph, which are compared one by one. Searches find the same in all states.
   */
  readonly state: "absent" | "opening" | "linking" | "ready";
  readonly rowsRead: number;
  readonly items: number;
  readonly waiting: number;
  readonly bytes: number;
  /** How many vectors a search for ten keeps on its way if it is not told; null: the index does not choose that. */
  readonly candidates: number | null;
}

const ABSENT: IndexLife = { state: "absent", rowsRead: 0, items: 0, waiting: 0, bytes: 0, candidates: null };

export function indexLife(derived: DerivedIndexes, tenantNumber: number, index: SearchIndexDef): IndexLife {
  const progress = derived.progress(tenantNumber, index.id);
  if (progress === null) return ABSENT;
  const { state, hasWork, rowsRead, count, waiting, bytes, candidates } = progress;
  return {
    state: state === "ready" && hasWork ? "linking" : state,
    rowsRead,
    items: count,
    waiting,
    bytes,
    candidates,
  };
}

/** What a text index tells of a query; null: it is not ready, or empty. Asking begins to make it. */
export function textShape(
  { partition, number }: Tenant,
  table: TableDef,
  index: SearchIndexDef,
  query: string,
): TextShape | null {
  const found = partition.derived.find(searchIndexPlace(number, table, index), textIndexKind(table, index));
  return found && textShapeOf(found.body, query);
}

/** A commit changed definitions. */
export function followDefinitions(tenant: Tenant): void {
  const { partition, number } = tenant;
  const tx = partition.shard.begin({ readOnly: true });
  try {
    const indexes = memoryIndexesOf(tenant.catalog.view(tx));
    if (indexes.length === 0 && tenant.hasSearchIndexes === false) return;
    tenant.hasSearchIndexes = indexes.length > 0;
    const storageIds = new Map(indexes.map(({ table, id }) => [id, storageOf(table)]));
    partition.derived.keepOnly(number, storageIds);
    for (const table of new Set(indexes.map(({ table }) => table))) {
      const make = () => makeOf(table, indexes, partition.derived, number);
      if (hasRows(tx, number, table)) make();
      else partition.derived.expect(number, storageOf(table), make);
    }
  } finally {
    tx.rollback();
  }
}

/**
 * A tenant was loaded: indexes of its tables without rows are made with the first. Others are when a search asks for
 * them.
 */
export function expectIndexes({ partition, number, catalog }: Tenant): void {
  const { derived } = partition;
  const tx = partition.shard.begin({ readOnly: true });
  try {
    const indexes = memoryIndexesOf(catalog.view(tx));
    for (const table of new Set(indexes.map(({ table }) => table))) {
      if (hasRows(tx, number, table)) continue;
      derived.expect(number, storageOf(table), () => makeOf(table, indexes, derived, number));
    }
  } finally {
    tx.rollback();
  }
}

function makeOf(table: TableDef, indexes: readonly MemoryIndex[], derived: DerivedIndexes, tenantNumber: number): void {
  for (const index of indexes) if (index.table === table) index.make(derived, tenantNumber);
}

/**
 * Has the indexes that were saved made again, one by one, as long as half of the memory is free; removes files of those
 * that are no more. `tenantOf` answers null for a tenant that is not, or not certainly, here.
 */
export async function openSaved(derived: DerivedIndexes, tenantOf: (number: number) => Tenant | null): Promise<void> {
  const saved = await derived.saved();
  for (const place of saved.slice(0, SAVED_MAX)) {
    if (!derived.hasRoom) return;
    const tenant = tenantOf(place.tenantNumber);
    if (tenant === null) continue;
    const tx = tenant.partition.shard.begin({ readOnly: true });
    const all = memoryIndexesOf(tenant.catalog.view(tx));
    tx.rollback();
    const found = all.find(({ id }) => id === place.indexId);
    if (found === undefined) await derived.dropIndex(place.tenantNumber, place.indexId);
    else {
      found.make(derived, tenant.number);
      await derived.settled(place);
    }
  }
}

interface MemoryIndex {
  readonly table: TableDef;
  readonly id: number;
  make(derived: DerivedIndexes, tenantNumber: number): void;
}

/** Indexes for search, and the adjacencies of graphs. */
function memoryIndexesOf(catalog: CatalogView): MemoryIndex[] {
  return catalog.tables().flatMap((table): MemoryIndex[] => {
    if (table.collection?.kind === "graph" && table.collection.of === "edges") {
      const make = (derived: DerivedIndexes, tenantNumber: number) =>
        void derived.find(adjacencyPlace(tenantNumber, table), adjacencyKindOf(table));
      return [{ table, id: table.id, make }];
    }
    const kept = (table.searchIndexes ?? []).filter(({ declared }) => declared === undefined);
    const bind = (bound: TableDef) => bindTable(bound, catalog, [DEFAULT_SCHEMA]);
    return kept.map((index) => ({
      table,
      id: index.id,
      make: (derived, tenantNumber) => {
        const kind = kindOf(table, index, bind);
        if (kind !== null) void derived.find(searchIndexPlace(tenantNumber, table, index), kind);
      },
    }));
  });
}

/** Null: the condition of a partial index cannot be bound here. A search makes the index, or fails as it should. */
function kindOf(table: TableDef, index: SearchIndexDef, bind: (table: TableDef) => BoundTable) {
  try {
    return searchIndexKind(table, index, bind);
  } catch {
    return null;
  }
}

function hasRows(tx: Transaction, tenantNumber: number, table: TableDef): boolean {
  const cursor = tx.scan({ ...prefixRange(rowPrefix(tenantNumber, storageOf(table))), only: "keys" });
  const found = readSome(cursor, 1);
  cursor.close();
  return found === null || found.keys.length > 0;
}
