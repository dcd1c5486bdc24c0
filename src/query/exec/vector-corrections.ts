/**
 * The differences between what a transaction sees and a vector index. For scans that search by one (nearest-scan.ts,
 * within-scan.ts).
 */
import type { DerivedIndex } from "../../derived/derived-index.js";
import { prefixEnd } from "../../storage/keys.js";
import type { VectorBody } from "../../vector/vector-body.js";
import type { ExecContext } from "./context.js";
import type { FoundRows } from "./nearest-rows.js";
import type { TableLayout } from "./table-layout.js";

export type VectorIndex = DerivedIndex<Float32Array, VectorBody>;

/** With more corrections than this, the records are read. */
const CORRECTIONS_MAX = 5000;

/** Of newer entries, so many may be left for a search, which compares them one by one. */
const ENTRIES_LEFT_MAX = 2000;

/**
 * Has the body of an index hold what its engine had when a search began. What is written meanwhile the search does not
 * see, or it is among its corrections: so a search beside a load waits for no more than was there before it.
 */
export class FoldedForSearch {
  private until: number;

  constructor(private readonly index: Pick<VectorIndex, "entries" | "fold" | "foldedThen">) {
    this.until = index.foldedThen;
  }

  /** True when it is so; false when `isOver` says to stop before. */
  goOn(isOver: () => boolean): boolean {
    const { index } = this;
    while (index.fold(isOver, this.until)) {
      if (index.entries.size <= ENTRIES_LEFT_MAX) return true;
      this.until = index.foldedThen;
      if (isOver()) break;
    }
    return false;
  }
}

export interface VectorCorrections {
  /** Rows as the transaction has them. */
  readonly corrected: FoundRows["corrected"];
  /** Of these and of rows that are gone: their keys, and the slots that no longer count. */
  readonly keys: ReadonlySet<string>;
  readonly slots: ReadonlySet<number>;
}

/** Null: too many. */
export function vectorCorrections(
  index: VectorIndex,
  layout: TableLayout,
  { tx, tenantNumber }: ExecContext,
): VectorCorrections | null {
  const gte = layout.rowPrefixOf(tenantNumber);
  const found = tx.corrections({ gte, lt: prefixEnd(gte) }, index);
  const corrected: FoundRows["corrected"][number][] = [];
  const keys = new Set<string>();
  const slots = new Set<number>();
  for (; found.text !== null; found.advance()) {
    const { key, value } = found;
    if (keys.size === CORRECTIONS_MAX) return null;
    keys.add(found.text);
    const slot = index.slotOf(key);
    if (slot !== undefined) slots.add(slot);
    if (value !== null) corrected.push({ key, record: value });
  }
  return { corrected, keys, slots };
}
