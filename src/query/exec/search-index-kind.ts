/**
 * What an index for search is in memory, by its definition: of which rows, and what it takes of their records. For scans
 * that ask for one, and for those who have one made before anybody asks.
 */
import { type SearchIndexDef, storageOf, type TableDef } from "../../catalog/table.js";
import type { IndexPlace } from "../../derived/derived-index.js";
import type { IndexBody, IndexKind } from "../../derived/index-body.js";
import type { TextItem } from "../../text/document-terms.js";
import { textKind } from "../../text/text-kind.js";
import { vectorKind } from "../../vector/vector-kind.js";
import { decoderOf, layoutOf, type TableLayout } from "./table-layout.js";

export function searchIndexPlace(tenantNumber: number, table: TableDef, index: SearchIndexDef): IndexPlace {
  const rowPrefix = layoutOf(table).rowPrefixOf(tenantNumber);
  return { tenantNumber, storageId: storageOf(table), indexId: index.id, rowPrefix };
}

export function searchIndexKind(table: TableDef, index: SearchIndexDef): IndexKind<unknown, IndexBody<unknown>> {
  const layout = layoutOf(table);
  const { columnIds } = index;
  const kind =
    index.method === "hnsw"
      ? vectorKind(index, layout.types[columnIds[0]!]!.modifier!, vectorReader(layout, columnIds[0]!))
      : textKind(index, textReader(layout, columnIds));
  return kind as unknown as IndexKind<unknown, IndexBody<unknown>>;
}

/** Reads a column's vector out of a record. */
export function vectorReader(layout: TableLayout, columnId: number): (record: Uint8Array) => Float32Array | null {
  const decode = decoderOf(layout, [columnId]);
  const found: [(Float32Array | null)[]] = [[]];
  return (record) => {
    decode(record, found, 0);
    return found[0][0]!;
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
