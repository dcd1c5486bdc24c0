/** The filter of a scan as a search index asks it: of a row in one of its slots, and remembered by slot. */
import type { DerivedIndex } from "../../derived/derived-index.js";
import type { IndexBody } from "../../derived/index-body.js";
import type { SlotMarks } from "../../derived/slot-marks.js";
import { columnsOf } from "../expr/walk.js";
import type { ExecContext } from "./context.js";
import { type FilterName, filterNameOf } from "./filter-name.js";
import { compileRowDecoder, RowDecoder, type RowDecoderProgram, type TableOutput } from "./row-decoder.js";

/** Rows between two looks at the clock. */
const STEP_ROWS = 64;
const NO_KEY = new Uint8Array(0);

export interface SlotFilterProgram {
  readonly rows: RowDecoderProgram;
  readonly name: FilterName | null;
}

/** Reads of a row no more than the filter does. Null: all rows pass. */
export function compileSlotFilter(plan: TableOutput): SlotFilterProgram | null {
  const { filter, table } = plan;
  if (filter === null) return null;
  const read = columnsOf(filter);
  const places = plan.source.map((_, i) => i).filter((i) => read.has(plan.columns[i]!.id));
  const columns = places.map((i) => plan.columns[i]!);
  const source = places.map((i) => plan.source[i]!);
  return {
    rows: compileRowDecoder({ table, columns, source, filter, rowKey: null }),
    name: filterNameOf(plan, filter),
  };
}

type SearchIndex<Item, Body extends IndexBody<Item>> = DerivedIndex<Item, Body>;

/** Of one run over one index. */
export class SlotFilter<Item, Body extends IndexBody<Item>> {
  private readonly rows: RowDecoder;
  private searched: SearchIndex<Item, Body> | null = null;
  private own: SlotMarks | null = null;

  constructor(
    private readonly program: SlotFilterProgram,
    private readonly context: ExecContext,
  ) {
    this.rows = new RowDecoder(program.rows, context);
  }

  passes(record: Uint8Array): boolean {
    this.rows.add(NO_KEY, record);
    return this.rows.take().length > 0;
  }

  marks(index: SearchIndex<Item, Body>): SlotMarks {
    if (this.searched !== index) this.close();
    this.searched = index;
    this.own ??= index.marks.of(this.program.name?.of(this.context) ?? null);
    return this.own;
  }

  ask(index: SearchIndex<Item, Body>, marks: SlotMarks, slot: number): void {
    // A row that is gone, or another one, is among the newer entries: put in, they have the slot's mark forgotten.
    const record = index.recordOf(slot);
    marks.note(slot, record !== undefined && this.passes(record));
  }

  /** Asks of every row; false when a turn ended before. */
  askAll(index: SearchIndex<Item, Body>): boolean {
    const marks = this.marks(index);
    if (marks.knownCount >= index.count) return true;
    for (let asked = 0; marks.knownFrom < index.slotCount; marks.knownFrom++) {
      const slot = marks.knownFrom;
      if (marks.isKnown(slot) || !index.isUsed(slot)) continue;
      this.ask(index, marks, slot);
      if (++asked % STEP_ROWS === 0 && this.context.shouldYield()) return false;
    }
    return true;
  }

  close(): void {
    if (this.own !== null) this.searched?.marks.release(this.own);
    this.own = null;
  }
}
