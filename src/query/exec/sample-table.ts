/**
 * A random sample of a table's rows, for ANALYZE: the values of columns as marks (catalog/statistics.ts). Where the
 * table has column segments, rows are drawn by their numbers. Of a long table this is done in two stages (Cochran,
 * Sampling Techniques, chapter 11): some segments are drawn, one of each group of neighbours, and then rows of these.
 * So the time does not grow with the table. Rows that are only in records are all read. Called by analyze-table.ts.
 *
 * Of many row numbers they are drawn until all are different; of fewer, by selection sampling (Knuth, The Art of
 * Computer Programming 2, §3.4.2, algorithm S). The sample of a stream is Vitter's algorithm R ("Random Sampling with a
 * Reservoir", TOMS 1985).
 */
import type { TableDef } from "../../catalog/table.js";
import { giveWay } from "../../protocol/turns.js";
import { prefixRange } from "../../storage/keys.js";
import type { RecordDecoder } from "../../storage/record-codec.js";
import { type Corrections, readSome } from "../../storage/store.js";
import type { Value } from "../../values/values.js";
import { inTurns } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { SampledColumn } from "./sampled-column.js";
import { settledSegments } from "./segments/await-segments.js";
import type { Segment } from "./segments/segment.js";
import type { SegmentCache } from "./segments/segment-cache.js";
import { DamagedColumns } from "./segments/stored/column-file.js";
import { gapsBetween, type KeyTextSpan, type TableSegments } from "./segments/table-segments.js";
import type { TableWork } from "./table-data.js";
import { decoderOf, joinKey, layoutOf, type TableLayout } from "./table-layout.js";

/** Where sampling may find column segments; null: nowhere. */
export type SampleWork = TableWork & { readonly segments: SegmentCache | null };

/** Groups of rows in a histogram. */
export const HISTOGRAM_GROUPS = 64;
/** 300 for each of these groups, as PostgreSQL has it (analyze.c, std_typanalyze). */
export const SAMPLE_ROWS = 300 * HISTOGRAM_GROUPS;
/** More segments than so many are not looked at: to draw a row costs the pages of its segment. */
const SEGMENTS_MAX = 64;
/** With more corrections in them than so many, fewer segments are looked at, but so many at least. */
const CORRECTIONS_MAX = SAMPLE_ROWS;
const SEGMENTS_MIN = 16;
/**
 * After so many of a segment, the rest of it is not looked at: they may be as many as its rows. What was added at the
 * end of the table is behind the last row of its last segment, so that one is looked at whole.
 */
const CORRECTIONS_EACH = CORRECTIONS_MAX / SEGMENTS_MIN;
/** In which order segments are taken, those between others later: the first of them, and the step to the next one. */
const PASSES = [
  [0, 4],
  [2, 4],
  [1, 2],
] as const;
/** Entries between two looks at the clock. */
const STEP_ENTRIES = 256;
/** Numbers drawn between two of them. */
const STEP_NUMBERS = 4096;
const WORD_BITS = 32;
/** Types whose values never have a mark. */
const UNMARKED = new Set(["vector", "halfvec", "sparsevec", "json", "jsonb", "jsonpath", "bytea", "array", "record"]);

/** Lehmer's generator (Park and Miller, CACM 1988) with a fixed seed: the same rows give the same statistics. */
function lehmer(): () => number {
  let state = 48_271;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Rows that no segment has: how many, and the values of a sample of them: vectors make records long. */
interface Added {
  count: number;
  readonly sample: (readonly Value[])[];
}

/** A segment that rows are drawn of, and what the transaction sees in its range otherwise. */
interface Drawn {
  readonly segment: Segment;
  readonly corrections: Corrections;
}

/** The first rows of a segment that take part. */
interface Part {
  readonly segment: Segment;
  readonly rows: number;
}

/** What the segments that were drawn do not say. */
interface Corrected {
  removed: number;
  readonly added: Added;
  readonly changed: Map<Segment, ChangedRows>;
}

/** Ascending row numbers of a segment, and the records that they have now; null: the row is gone. */
interface ChangedRows {
  readonly rows: number[];
  readonly records: (Uint8Array | null)[];
}

const NOTHING_CHANGED: ChangedRows = { rows: [], records: [] };

export class TableSample {
  /** Rows of the table. */
  rows = 0;
  /** Rows that were drawn. */
  length = 0;
  /** Part of the segments' rows that rows were drawn of; 1: all. */
  share = 1;
  /** Where rows of the next segment begin; those before the first are of none. */
  readonly starts: number[] = [];
  readonly columns: readonly SampledColumn[];
  readonly layout: TableLayout;
  private readonly random = lehmer();
  private readonly decode: RecordDecoder;
  private readonly decoded: Value[][];

  constructor(
    private readonly work: SampleWork,
    table: TableDef,
  ) {
    this.layout = layoutOf(table);
    this.columns = table.columns
      .filter(({ type }) => !UNMARKED.has(type.name))
      .map((column) => new SampledColumn(column));
    this.decode = decoderOf(
      this.layout,
      this.columns.map(({ column }) => column.id),
    );
    this.decoded = emptyColumns(this.columns.length);
  }

  /** Draws the rows, once. */
  async draw(): Promise<void> {
    const { work, layout } = this;
    const cache = work.segments;
    const table = cache === null ? null : await settledSegments(cache, work.tenantNumber, layout, work);
    if (table === null || table.segments.length === 0) return this.drawFromRecords();
    try {
      await this.drawFromSegments(table);
    } catch (error) {
      if (!(error instanceof DamagedColumns)) throw error;
      this.rows = 0;
      this.length = 0;
      this.share = 1;
      this.starts.length = 0;
      for (const column of this.columns) column.clear();
      await this.drawFromRecords();
    }
  }

  private put(place: number, record: Uint8Array): void {
    this.putRow(place, this.valuesOf(record));
  }

  private valuesOf(record: Uint8Array): readonly Value[] {
    this.decode(record, this.decoded, 0);
    return this.decoded.map(([value]) => value!);
  }

  private putRow(place: number, values: readonly Value[]): void {
    for (const [c, column] of this.columns.entries()) column.put(place, values[c]!);
    if (place >= this.length) this.length = place + 1;
  }

  private async drawFromRecords(): Promise<void> {
    const { work, random } = this;
    const range = prefixRange(this.layout.rowPrefixOf(work.tenantNumber));
    const cursor = work.tx.unread(() => work.tx.scan({ ...range, only: "values" }));
    try {
      for (;;) {
        work.checkpoint();
        const entries = readSome(cursor, STEP_ENTRIES);
        if (entries?.values.length === 0) break;
        const values = entries?.values ?? [];
        for (let i = 0; i < values.length; i++, this.rows++) {
          if (this.rows < SAMPLE_ROWS) this.put(this.rows, values[i]!);
          else {
            const place = Math.floor(random() * (this.rows + 1));
            if (place < SAMPLE_ROWS) this.put(place, values[i]!);
          }
        }
        if (work.shouldYield()) await work.yieldTurn();
      }
    } finally {
      cursor.close();
    }
  }

  private async drawFromSegments(table: TableSegments): Promise<void> {
    const { work, layout, columns } = this;
    const { segments } = table;
    const prefix = layout.rowPrefixOf(work.tenantNumber);
    // All at once, so that they fit the segments whatever the engine takes meanwhile.
    const all = oneOfEach(segments, SEGMENTS_MAX, this.random).map(
      (segment): Drawn => ({ segment, corrections: work.tx.correctionsUnread(rangeOf(segment), table) }),
    );
    const isHeld = columns.every(({ column }) => table.holds(layout, column.id) === "yes");
    const inGaps: Added = { count: 0, sample: [] };
    for (const gap of gapsBetween(segments, table.start, table.end)) await this.readGap(gap, inGaps);
    const corrected: Corrected = { removed: 0, added: { count: 0, sample: [] }, changed: new Map() };
    const drawn = await this.withCorrections(all, corrected);
    const { removed, added, changed } = corrected;
    const rowsOf = (all: readonly { readonly rows: number }[]) => all.reduce((sum, { rows }) => sum + rows, 0);
    const stored = rowsOf(drawn);
    this.share = stored / rowsOf(segments);
    this.rows = Math.max(0, Math.round((stored + added.count - removed) / this.share)) + inGaps.count;
    // Of the gaps' rows the same share takes part.
    const newer = added.count + Math.round(inGaps.count * this.share);
    const numbers = await this.rowNumbers(Math.min(SAMPLE_ROWS, stored + newer), stored + newer);
    const inSegments = numbers.subarray(0, placeOf(numbers, stored));
    const beyondAdded = placeOf(numbers, stored + added.count);
    await this.putSpread(added, beyondAdded - inSegments.length);
    await this.putSpread(inGaps, numbers.length - beyondAdded);
    for (const { segment, rows } of bySegment(drawn, inSegments)) {
      this.starts.push(this.length);
      if (isHeld) await this.putHeld(segment, rows, changed.get(segment) ?? NOTHING_CHANGED);
      else await this.putStored(segment, rows, prefix);
    }
  }

  /** `count` different numbers below `limit`, ascending. */
  private async rowNumbers(count: number, limit: number): Promise<Float64Array> {
    const { random } = this;
    await this.pause();
    const drawn = new Float64Array(count);
    if (2 * count > limit) {
      // Each number in turn, with the chance that as many are drawn as are wanted (Knuth's algorithm S).
      for (let number = 0, taken = 0; taken < count; number++) {
        if (random() * (limit - number) < count - taken) drawn[taken++] = number;
        if (number % STEP_NUMBERS === STEP_NUMBERS - 1) await this.pause();
      }
      return drawn;
    }
    const marks = new Uint32Array(Math.ceil(limit / WORD_BITS));
    for (let marked = 0, draws = 1; marked < count; draws++) {
      const number = Math.floor(random() * limit);
      const word = Math.floor(number / WORD_BITS);
      const bit = 1 << (number % WORD_BITS);
      // What was drawn twice is drawn again.
      if ((marks[word]! & bit) === 0) marked++;
      marks[word]! |= bit;
      if (draws % STEP_NUMBERS === 0) await this.pause();
    }
    let taken = 0;
    for (let word = 0; word < marks.length; word++) {
      for (let rest = marks[word]!; rest !== 0; rest &= rest - 1) {
        drawn[taken++] = WORD_BITS * word + (WORD_BITS - 1 - Math.clz32(rest & -rest));
      }
      if (word % STEP_NUMBERS === STEP_NUMBERS - 1) await this.pause();
    }
    return drawn;
  }

  /** So many of the records, from all over. */
  private async putSpread({ sample }: Added, wanted: number): Promise<void> {
    const count = Math.min(wanted, sample.length);
    const take = (i: number): void => this.putRow(this.length, sample[Math.floor((i * sample.length) / count)]!);
    await inTurns(this.work, count, take, () => undefined);
  }

  private async pause(): Promise<void> {
    this.work.checkpoint();
    await giveWay(this.work);
  }

  /**
   * Parts of all of them, or of every second or fourth one, so that what was changed does not count for more than the
   * sample.
   */
  private async withCorrections(all: readonly Drawn[], corrected: Corrected): Promise<readonly Part[]> {
    const parts = new Map<Drawn, Part>();
    const areFew = all.length <= SEGMENTS_MIN;
    let read = 0;
    for (const [first, step] of PASSES) {
      for (let i = first; i < all.length; i += step) {
        const isWhole = areFew || i === all.length - 1;
        const one = await this.readCorrections(
          all[i]!,
          corrected,
          isWhole ? Number.POSITIVE_INFINITY : CORRECTIONS_EACH,
        );
        read += one.read;
        parts.set(all[i]!, { segment: all[i]!.segment, rows: one.rows });
      }
      if (parts.size >= SEGMENTS_MIN && 2 * read > CORRECTIONS_MAX) break;
    }
    return all.flatMap((one) => parts.get(one) ?? []);
  }

  /** Answers how many there are before which row; of the whole segment if they are no more than `max`. */
  private async readCorrections({ segment, corrections }: Drawn, corrected: Corrected, max: number) {
    if (corrections.text === null) return { read: 0, rows: segment.rows };
    const { work } = this;
    const { keys } = segment;
    let place = 0;
    let read = 0;
    for (; corrections.text !== null; read++) {
      const { key, value } = corrections;
      const before = place;
      place = keys.nextBound(key, place);
      if (read >= max && place > before) return { read, rows: place };
      if (place < keys.length && keys.compare(place, key) === 0) noteChanged(segment, place, value, corrected);
      else if (value !== null) this.add(value, corrected.added);
      corrections.advance();
      if (read % STEP_ENTRIES !== STEP_ENTRIES - 1) continue;
      work.checkpoint();
      if (work.shouldYield()) await work.yieldTurn();
    }
    return { read, rows: segment.rows };
  }

  /** Rows that are only in records. */
  private async readGap({ from, to }: KeyTextSpan, added: Added): Promise<void> {
    const { work } = this;
    const cursor = work.tx.unread(() => work.tx.scan({ ...rangeOf({ from, to }), only: "values" }));
    try {
      for (;;) {
        work.checkpoint();
        const entries = readSome(cursor, STEP_ENTRIES);
        if (entries?.values.length === 0) return;
        for (const value of entries?.values ?? []) this.add(value, added);
        if (work.shouldYield()) await work.yieldTurn();
      }
    } finally {
      cursor.close();
    }
  }

  private add(record: Uint8Array, added: Added): void {
    const { count, sample } = added;
    const place = count < SAMPLE_ROWS ? count : Math.floor(this.random() * (count + 1));
    if (place < SAMPLE_ROWS) sample[place] = this.valuesOf(record);
    added.count++;
  }

  private async putHeld(segment: Segment, drawn: Int32Array, changed: ChangedRows): Promise<void> {
    const rows: number[] = [];
    let at = placeOf(changed.rows, drawn[0]!);
    for (const [i, row] of drawn.entries()) {
      if (i % STEP_ENTRIES === STEP_ENTRIES - 1) await this.pause();
      while (at < changed.rows.length && changed.rows[at]! < row) at++;
      if (changed.rows[at] !== row) rows.push(row);
      else if (changed.records[at] !== null) this.put(this.length, changed.records[at]!);
    }
    const from = this.length;
    this.length += rows.length;
    for (const sample of this.columns) {
      const { column, places } = segment.someRows(sample.column.id, rows);
      sample.putHeld(column, places, from);
      await this.pause();
    }
  }

  private async putStored(segment: Segment, drawn: Int32Array, prefix: Uint8Array): Promise<void> {
    const { tx } = this.work;
    for (let from = 0; from < drawn.length; from += STEP_ENTRIES) {
      const keys = Array.from(drawn.subarray(from, from + STEP_ENTRIES), (row) =>
        joinKey(prefix, segment.keys.at(row)),
      );
      for (const record of tx.unread(() => tx.getMany(keys))) if (record !== undefined) this.put(this.length, record);
      await this.pause();
    }
  }
}

/** Row numbers of the parts together, ascending, as those of their segments. */
function* bySegment(parts: readonly Part[], numbers: Float64Array) {
  let first = 0;
  let from = 0;
  for (const { segment, rows: count } of parts) {
    const to = placeOf(numbers, first + count);
    const rows = new Int32Array(to - from);
    for (let i = from; i < to; i++) rows[i - from] = numbers[i]! - first;
    if (to > from) yield { segment, rows };
    first += count;
    from = to;
  }
}

function noteChanged(segment: Segment, row: number, record: Uint8Array | null, corrected: Corrected): void {
  let rows = corrected.changed.get(segment);
  if (rows === undefined) {
    rows = { rows: [], records: [] };
    corrected.changed.set(segment, rows);
  }
  rows.rows.push(row);
  rows.records.push(record);
  if (record === null) corrected.removed++;
}

/** All of them; or so many, one at random of each of as many groups of neighbours. */
function oneOfEach(segments: readonly Segment[], groups: number, random: () => number): readonly Segment[] {
  const { length } = segments;
  if (length <= groups) return segments;
  return Array.from({ length: groups }, (_, i) => {
    const from = Math.floor((i * length) / groups);
    const to = Math.floor(((i + 1) * length) / groups);
    return segments[from + Math.floor(random() * (to - from))]!;
  });
}

const rangeOf = ({ from, to }: KeyTextSpan) => ({ gte: Buffer.from(from, "latin1"), lt: Buffer.from(to, "latin1") });

/** The place of the first of the ascending numbers that is not below `number`. */
function placeOf(numbers: ArrayLike<number>, number: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle]! < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
