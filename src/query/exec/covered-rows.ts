/** Rows of an index-only scan, decoded from the index's entries. Compiled and called by index-scan.ts. */

import { decodeKey } from "../../storage/key-codec.js";
import type { Entries, KeyRange } from "../../storage/store.js";
import type { Value } from "../../values/values.js";
import { placesInEntry } from "../plan/covering.js";
import type { IndexScanPlan } from "../plan/plan.js";
import { includedDecoder, suffixOf } from "./entry-value.js";
import { emptyColumns } from "./row-buffer.js";
import type { RowDecoder } from "./row-decoder.js";
import { keyLayoutOf, layoutOf } from "./table-layout.js";

export interface CoveredRows {
  /** The half of the entries that it looks at; absent: both. */
  readonly only: KeyRange["only"];
  add(entries: Entries, tenantNumber: number, rows: RowDecoder): void;
}

/** Null when the rows must be fetched. */
export function compileCoveredRows(plan: IndexScanPlan): CoveredRows | null {
  const places = placesInEntry(plan);
  if (places === null) return null;
  const layout = keyLayoutOf(plan.table, plan.index);
  const reads = (wanted: string) => places.some(({ part }) => part === wanted);
  const [readsKey, readsSuffix] = [reads("key"), reads("suffix")];
  const suffixColumns = layoutOf(plan.table).primaryKey?.columns ?? [];
  const includedSlots = places.flatMap(({ part }, slot) => (part === "included" ? [slot] : []));
  const decodeIncluded =
    includedSlots.length === 0
      ? null
      : includedDecoder(
          layout,
          includedSlots.map((slot) => places[slot]!.at),
        );
  const readsValue = readsSuffix || includedSlots.length > 0;
  return {
    only: readsKey ? (readsValue ? undefined : "keys") : "values",
    add(entries, tenantNumber, rows) {
      const values = new Array<Value>(places.length).fill(null);
      const included = emptyColumns(includedSlots.length);
      const offset = layout.prefixOf(tenantNumber).length;
      for (let i = 0; i < entries.keys.length; i++) {
        const entry = entries.values[i]!;
        const key = readsKey ? decodeKey(entries.keys[i]!, offset, layout.columns) : NOTHING;
        const suffix = readsSuffix ? decodeKey(suffixOf(layout, entry), 0, suffixColumns) : NOTHING;
        for (let slot = 0; slot < places.length; slot++) {
          const { part, at } = places[slot]!;
          if (part !== "included") values[slot] = (part === "key" ? key : suffix)[at]!;
        }
        decodeIncluded?.(entry, included, 0);
        for (let c = 0; c < includedSlots.length; c++) values[includedSlots[c]!] = included[c]![0]!;
        rows.addValues(values);
      }
    },
  };
}

const NOTHING: readonly Value[] = [];
