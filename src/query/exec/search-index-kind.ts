/**
 * The index in memory for a search index's definition: which rows it covers, and what it takes from their records. For
 * scans that ask for one, and for those who build one before anybody asks.
 */
import { type SearchIndexDef, storageOf, type TableDef } from "../../catalog/table.js";
import type { DerivedIndex, IndexPlace } from "../../derived/derived-index.js";
import type { IndexBody, IndexKind } from "../../derived/index-body.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import type { TextItem } from "../../text/document-terms.js";
import type { TextBody } from "../../text/text-body.js";
import { textKind } from "../../text/text-kind.js";
import type { Value } from "../../values/values.js";
import { formed } from "../../values/vector-form.js";
import type { VectorBody } from "../../vector/vector-body.js";
import { vectorKind } from "../../vector/vector-kind.js";
import { compileExpr } from "../expr/compile.js";
import { NEUTRAL_CONTEXT } from "../expr/fold.js";
import type { BoundTable } from "../plan/bound-table.js";
import type { ExecContext } from "./context.js";
import { decoderOf, layoutOf, type TableLayout } from "./table-layout.js";

export function searchIndexPlace(tenantNumber: number, table: TableDef, index: SearchIndexDef): IndexPlace {
  const rowPrefix = layoutOf(table).rowPrefixOf(tenantNumber);
  return { tenantNumber, storageId: storageOf(table), indexId: index.id, rowPrefix };
}

/** Binds the expressions of the table's definition. */
type BindRows = (table: TableDef) => BoundTable;

export function searchIndexKind(
  table: TableDef,
  index: SearchIndexDef,
  bind: BindRows,
): IndexKind<unknown, IndexBody<unknown>> {
  return index.method === "hnsw" ? vectorIndexKind(table, index, bind) : textIndexKind(table, index);
}

export function vectorIndexKind(
  table: TableDef,
  index: SearchIndexDef,
  bind: BindRows,
): IndexKind<Float32Array, VectorBody> {
  const layout = layoutOf(table);
  const read = vectorReader(layout, index);
  const has = index.vector!.where === undefined ? null : conditionReader(layout, index, bind(table));
  const vectorOf = has === null ? read : (record: Uint8Array) => (has(record) ? read(record) : null);
  const isOfBits = (index.vector!.form?.type ?? layout.types[index.columnIds[0]!]!.name) === "bit";
  return vectorKind(index, { dimensions: vectorDimensions(layout, index), isOfBits }, vectorOf);
}

/** Of an index that has all rows; null: of a partial one, which a statement has to bind. */
export function plainKindOf(table: TableDef, index: SearchIndexDef): IndexKind<Float32Array, VectorBody> | null {
  if (index.vector!.where !== undefined) return null;
  return vectorIndexKind(table, index, () => {
    throw new Error("an index of all rows has nothing to bind");
  });
}

/** The same for a scan, whose statement knows how to bind. */
export function vectorKindFor(
  { bindTable, tx }: ExecContext,
  table: TableDef,
  index: SearchIndexDef,
): IndexKind<Float32Array, VectorBody> {
  return vectorIndexKind(table, index, (given) => {
    if (bindTable === null) throw sqlError("0A000", `expressions of table "${table.name}" cannot be computed here`);
    return bindTable(given, tx);
  });
}

/**
 * Whether a partial index has the record's row. A row whose condition ends in an error is not in it: no query that may
 * use the index can want that row.
 */
function conditionReader(layout: TableLayout, { id, vector }: SearchIndexDef, bound: BoundTable) {
  const { columnIds } = vector!.where!;
  const predicate = bound.indexes.get(id)!.predicate!;
  const places = new Map(bound.columns.map((column, i) => [column.id, columnIds.indexOf(layout.table.columns[i]!.id)]));
  const evaluate = compileExpr(predicate, (column) => places.get(column) ?? -1);
  const decode = decoderOf(layout, columnIds);
  const columns: Value[][] = columnIds.map(() => []);
  return (record: Uint8Array): boolean => {
    decode(record, columns, 0);
    try {
      return evaluate({ columns, length: 1 }, 0, NEUTRAL_CONTEXT) === true;
    } catch (error) {
      if (error instanceof DbError) return false;
      throw error;
    }
  };
}

export function textIndexKind(table: TableDef, index: SearchIndexDef): IndexKind<TextItem, TextBody> {
  return textKind(index, textReader(layoutOf(table), index.columnIds));
}

/** The index of that kind for a scan; null while it is not ready. Asking begins to make it. */
export function findSearchIndex<Item, Body extends IndexBody<Item>>(
  { derived, tenantNumber }: ExecContext,
  table: TableDef,
  index: SearchIndexDef,
  kind: IndexKind<Item, Body>,
): DerivedIndex<Item, Body> | null {
  return derived === null ? null : derived.find(searchIndexPlace(tenantNumber, table, index), kind);
}

/**
 * Resolves when the index is ready or turns out not to fit: to read all rows takes as long. Null: it is not being made.
 */
export function whileOpening(context: ExecContext, index: SearchIndexDef): Promise<void> | null {
  const { derived, tenantNumber } = context;
  const opening = derived?.opening({ tenantNumber, indexId: index.id }) ?? null;
  return opening && unlessCancelled(opening, context.signal());
}

/**
 * A search's wait for the engine to take a large commit, whose rows the index has not yet: to read all of the table
 * instead takes longer. It waits once: a transaction sees one such commit at most.
 */
export class LargeCommitWait {
  private isOver = false;

  constructor(private readonly context: ExecContext) {}

  /** What `search` gives afterwards; null: there is nothing to wait for. */
  before<T>(search: () => T, index: Pick<DerivedIndex, "whileTaken">): Promise<Awaited<T>> | null {
    const taken = this.isOver ? null : index.whileTaken();
    if (taken === null) return null;
    this.isOver = true;
    return unlessCancelled(taken, this.context.signal()).then(search) as Promise<Awaited<T>>;
  }
}

async function unlessCancelled(opening: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let cancel = (): void => undefined;
  const cancelled = new Promise<never>((_, reject) => {
    cancel = () => reject(signal.reason);
  });
  signal.addEventListener("abort", cancel);
  try {
    await Promise.race([opening, cancelled]);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

export function vectorDimensions({ types }: TableLayout, { columnIds, vector }: SearchIndexDef): number {
  return vector!.form?.dimensions ?? types[columnIds[0]!]!.modifier!;
}

/** Reads the vector that the index is on out of a record. */
function vectorReader(layout: TableLayout, index: SearchIndexDef): (record: Uint8Array) => Float32Array | null {
  const { form } = index.vector!;
  const decode = decoderOf(layout, [index.columnIds[0]!]);
  const found: [(Float32Array | string | null)[]] = [[]];
  return (record) => {
    decode(record, found, 0);
    return formed(form, found[0][0]!);
  };
}

/** Reads columns of text out of a record. */
export function textReader(layout: TableLayout, columnIds: readonly number[]): (record: Uint8Array) => TextItem {
  const decode = decoderOf(layout, columnIds);
  const texts: (string | null)[][] = columnIds.map(() => []);
  return (record) => {
    decode(record, texts, 0);
    return texts.map(([text]) => text!);
  };
}
