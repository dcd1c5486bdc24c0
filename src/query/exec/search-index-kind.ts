/**
 * The index in memory for a search index's definition: which rows it covers, and what it takes from their records. For
 * scans that ask for one, and for those who build one before anybody asks.
 */
import { type SearchIndexDef, storageOf, type TableDef } from "../../catalog/table.js";
import type { DerivedIndex, IndexPlace } from "../../derived/derived-index.js";
import type { IndexBody, IndexKind } from "../../derived/index-body.js";
import type { TextItem } from "../../text/document-terms.js";
import type { TextBody } from "../../text/text-body.js";
import { textKind } from "../../text/text-kind.js";
import { formed } from "../../values/vector-form.js";
import type { VectorBody } from "../../vector/vector-body.js";
import { vectorKind } from "../../vector/vector-kind.js";
import type { ExecContext } from "./context.js";
import { decoderOf, layoutOf, type TableLayout } from "./table-layout.js";

export function searchIndexPlace(tenantNumber: number, table: TableDef, index: SearchIndexDef): IndexPlace {
  const rowPrefix = layoutOf(table).rowPrefixOf(tenantNumber);
  return { tenantNumber, storageId: storageOf(table), indexId: index.id, rowPrefix };
}

export function searchIndexKind(table: TableDef, index: SearchIndexDef): IndexKind<unknown, IndexBody<unknown>> {
  return index.method === "hnsw" ? vectorIndexKind(table, index) : textIndexKind(table, index);
}

export function vectorIndexKind(table: TableDef, index: SearchIndexDef): IndexKind<Float32Array, VectorBody> {
  const layout = layoutOf(table);
  return vectorKind(index, vectorDimensions(layout, index), vectorReader(layout, index));
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
