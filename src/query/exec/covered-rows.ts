/** Rows of an index-only scan, decoded from the index's entries. Compiled and called by index-scan.ts. */
import type { Value } from "../../protocol/values.js";
import { decodeKey } from "../../storage/key-codec.js";
import type { Entries } from "../../storage/store.js";
import { placesInEntry } from "../plan/covering.js";
import type { IndexScanPlan } from "../plan/plan.js";
import type { RowDecoder } from "./row-decoder.js";
import { keyLayoutOf, layoutOf } from "./table-layout.js";

export interface CoveredRows {
  add(entries: Entries, tenantNumber: number, rows: RowDecoder): void;
}

/** Null when the rows must be fetched. */
export function compileCoveredRows(plan: IndexScanPlan): CoveredRows | null {
  const places = placesInEntry(plan);
  if (places === null) return null;
  const layout = keyLayoutOf(plan.table, plan.index);
  const readsSuffix = places.some(({ part }) => part === "suffix");
  const suffixColumns = layoutOf(plan.table).primaryKey?.columns ?? [];
  return {
    add(entries, tenantNumber, rows) {
      const values = new Array<Value>(places.length).fill(null);
      const offset = layout.prefixOf(tenantNumber).length;
      for (let i = 0; i < entries.keys.length; i++) {
        const key = decodeKey(entries.keys[i]!, offset, layout.columns);
        const suffix = readsSuffix ? decodeKey(entries.values[i]!, 0, suffixColumns) : NOTHING;
        for (let slot = 0; slot < places.length; slot++) {
          const { part, at } = places[slot]!;
          values[slot] = (part === "key" ? key : suffix)[at]!;
        }
        rows.addValues(values);
      }
    },
  };
}

const NOTHING: readonly Value[] = [];
