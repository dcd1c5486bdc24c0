/**
 * The rows that UPDATE and DELETE read. They are kept until there are enough for a load to pay off; from then on each
 * batch goes into the load as it comes. Nobody sees a load before it is attached at the end. Owned by one run of the
 * statement.
 */
import type { Batch } from "../expr/expr.js";
import { BULK_ROWS } from "./bulk-writer.js";
import { after } from "./operator.js";
import type { RowBuffer } from "./row-buffer.js";

export class RowsForLoad {
  /** Rows that went into the load; null: the rows are kept until all have come. */
  loaded: number | null = null;

  constructor(
    private readonly kept: RowBuffer,
    private mayLoad: boolean,
    /** Opens the load. False: the table takes none now. */
    private readonly begin: () => boolean,
    private readonly load: (batch: Batch) => void | Promise<void>,
  ) {}

  take(batch: Batch): void | Promise<void> {
    const { kept } = this;
    if (this.loaded !== null) return this.load(batch);
    kept.append(batch);
    if (!this.mayLoad || kept.length < BULK_ROWS) return;
    this.mayLoad = this.begin();
    if (!this.mayLoad) return;
    this.loaded = 0;
    return after(this.load(kept), () => kept.clear());
  }

  /** The batch's rows have gone into the load. Their numbers are not needed any more. */
  count(numbers: number[]): void {
    this.countRows(numbers.length);
    numbers.length = 0;
  }

  countRows(rows: number): void {
    this.loaded! += rows;
  }
}
