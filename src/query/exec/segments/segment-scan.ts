/**
 * A scan of a table's segments in key order, with the corrections of its transaction merged in. Rows are filtered by
 * kernels and handed out as chunks. Where there are many corrections, columns are made of corrected and other rows
 * together (corrected-piece.ts); few are decoded and handed out by themselves. Used by scan.ts, one per run.
 */

import { prefixEnd } from "../../../storage/keys.js";
import { keyText } from "../../../storage/ordered-map.js";
import type { Corrections } from "../../../storage/store.js";
import type { Value } from "../../../values/values.js";
import type { Batch } from "../../expr/expr.js";
import type { ExecContext } from "../context.js";
import type { SegmentBound } from "../operator.js";
import { emptyColumns } from "../row-buffer.js";
import { RowDecoder } from "../row-decoder.js";
import { ALL_ROWS, Chunk, type Selection } from "./chunk.js";
import { type Column, valuesOf } from "./column.js";
import { NULLS } from "./column-buffer.js";
import { CorrectedPiece, type PieceProgram } from "./corrected-piece.js";
import type { WantedKeys } from "./key-set.js";
import { rowsDecodable } from "./rows-decodable.js";
import type { Segment, SegmentKeys } from "./segment.js";
import { SEGMENT_SIZES, type SegmentSizes } from "./segment-cache.js";
import { type SegmentFilter, segmentFilterOf } from "./segment-filter.js";
import {
  type Conjunct,
  isCountOnly,
  pieceProgramOf,
  type SegmentScanProgram,
  segmentExtremes,
} from "./segment-scan-program.js";
import { DamagedColumns } from "./stored/column-file.js";
import { segmentsUpTo, TableSegments } from "./table-segments.js";
import { numberKernel } from "./vector-filter.js";

/** Corrections in one step. */
const PASSED_AT_ONCE = 1024;

/** A part of the table that no segment has: its rows are to be read from records. */
export class Gap {
  constructor(
    readonly gte: Uint8Array,
    readonly lt: Uint8Array,
  ) {}
}

/** Segments that another thread may read: the caller says whether they are still to be read here. */
export class Handed {
  constructor(
    /** The number of the first segment. */
    readonly from: number,
    readonly count: number,
  ) {}
}

/** Who has other threads read segments for a scan (threads/thread-reads.ts). */
export interface Handing {
  /** How many segments from this one on another thread reads; 0: it is to be read here. */
  handedAt(number: number): number;
}

/** Where segments come from. */
export type SegmentList = Pick<TableSegments, "segments" | "numberBefore" | "end" | "entries">;

export class SegmentScan {
  /** What other threads read; null: nothing. */
  threads: Handing | null = null;
  /** Of segments whose least and greatest values are known, only those come. */
  givesExtremes = false;
  private readonly segments: readonly Segment[];
  /** All keys are below it. */
  private readonly end: string;
  private readonly sizes: SegmentSizes;
  private readonly corrections: Corrections;
  private readonly decoder: RowDecoder | null;
  private readonly scratch: Value[][];
  private readonly passed: Int32Array;
  private number = 0;
  /** All rows below this key were handed out, as were those of the current segment before `row`. */
  private at: string;
  /** Null between two segments. */
  private segment: Segment | null = null;
  /** Of the current segment; null: nobody asks for them. */
  private keys: SegmentKeys | null = null;
  private row = 0;
  /** Columns of the next segment whose pages were read. */
  private ahead = 0;
  /** The consumer is to be shown a column of all segments first; the next of them. */
  foresees: boolean;
  private foreseen: number;
  /** Rows of `vectors` before this one are handed out next. */
  private clearTo = 0;
  /** Rows of the current segment with corrections; null: none are at hand. */
  private piece: CorrectedPiece | null = null;
  private pieces: PieceProgram | null = null;
  /** `vectors` and `row` are of the piece. */
  private isMerged = false;
  /** Rows that are only counted and come next. */
  private counted = 0;
  /** The current segment's columns. */
  private base: readonly Column[] = [];
  private vectors: readonly Column[] = [];
  /** No row of the segment has passed yet, and only columns that are tested were read. */
  private isPartlyRead = false;
  /** Other rows may be left out. */
  private wanted: readonly WantedKeys[] = [];
  /** Slots that conditions or wanted keys read. */
  private tested: ReadonlySet<number>;
  /** Null: no row of the segment passes. Undefined: not worked out yet. */
  private filter: SegmentFilter | null | undefined = undefined;

  constructor(
    private readonly program: SegmentScanProgram,
    private readonly table: SegmentList,
    private readonly context: ExecContext,
    /** Rows of one step at most. */
    rowsMax: number,
    /** Null: from the first row, to the last one. Rows of a segment that reaches beyond the range are a gap. */
    range: { readonly gte: Uint8Array | null; readonly lt: Uint8Array | null },
    private readonly bound: SegmentBound | null,
  ) {
    const prefix = program.layout.rowPrefixOf(context.tenantNumber);
    const gte = range.gte ?? prefix;
    const lt = range.lt ?? prefixEnd(prefix);
    this.tested = program.tested;
    this.end = range.lt === null ? table.end : keyText(range.lt);
    this.segments = range.lt === null ? table.segments : segmentsUpTo(table.segments, this.end);
    this.sizes = context.segments?.sizes ?? SEGMENT_SIZES;
    this.corrections = context.tx.corrections({ gte, lt }, { entries: table.entries, columns: program.source });
    this.decoder = program.records === null ? null : new RowDecoder(program.records.rows, context);
    this.scratch = emptyColumns(program.source.length);
    this.passed = new Int32Array(rowsMax);
    this.at = keyText(gte);
    this.number = Math.max(0, table.numberBefore(this.at));
    while (this.number < this.segments.length && this.segments[this.number]!.to <= this.at) this.number++;
    const first = this.segments[this.number];
    // Begun in the middle of a segment, its rows do not all come. Of segments in memory, nothing has to be read.
    this.foreseen = this.number + (first !== undefined && first.from < this.at ? 1 : 0);
    this.foresees = bound !== null && program.conjuncts.length === 0 && first?.stored != null;
  }

  /** Called before the first step. No row is left out on which a condition may fail. */
  acceptKeys(wanted: readonly WantedKeys[]): void {
    if (this.program.mayFail) return;
    this.wanted = wanted;
    this.tested = new Set([...this.program.tested, ...wanted.map(({ slot }) => slot)]);
  }

  /**
   * The next rows: a chunk of at most `rowsMax` (no more than the constructor was told) or, for corrected rows, a
   * batch; or a gap, whose rows the caller reads before the next step. Undefined: none of some rows passed. Null: the
   * end.
   */
  step(rowsMax: number): Chunk | Batch | Gap | Handed | null | undefined {
    const { segment, piece } = this;
    if (this.counted > 0) return this.takeCounted(rowsMax);
    if (segment === null && this.givesExtremes && this.at === this.segments[this.number]?.from) {
      const extremes = this.extremes(this.segments[this.number]!);
      if (extremes !== null) return extremes;
    }
    if (segment === null) return this.foresees ? this.foresee() : this.enterNext();
    if (piece !== null) return this.stepPiece(segment, piece, rowsMax);
    if (this.isCorrected) return this.beginPiece(segment);
    if (this.row === segment.rows) return this.leaveSegment(segment);
    this.clearTo = segment.rows;
    return this.uncorrected(segment, rowsMax);
  }

  private beginPiece(segment: Segment): undefined {
    const { corrections, keys, row, sizes } = this;
    this.pieces ??= pieceProgramOf(this.program, this.tested);
    this.piece = new CorrectedPiece(corrections, segment.to, keys!, row, this.pieces, sizes);
  }

  private stepPiece(segment: Segment, piece: CorrectedPiece, rowsMax: number): Chunk | Batch | Gap | undefined {
    if (!piece.gather()) return undefined;
    if (piece.isSmall) return this.stepFew(segment, piece, rowsMax);
    if (!this.isMerged) return this.merge(piece);
    if (this.row < this.clearTo) return this.uncorrected(segment, rowsMax);
    this.isMerged = false;
    this.vectors = this.base;
    this.filter = undefined;
    this.row = piece.to;
    this.piece = null;
    return undefined;
  }

  private merge(piece: CorrectedPiece): undefined {
    const merged = piece.merge(this.base);
    if (merged === null) return;
    this.isMerged = true;
    this.vectors = merged;
    this.filter = undefined;
    this.row = 0;
    this.clearTo = piece.rows;
  }

  /** The rows between the corrections, and between them those that are corrected. */
  private stepFew(segment: Segment, piece: CorrectedPiece, rowsMax: number): Chunk | Batch | Gap | undefined {
    const decoder = this.decoder!;
    this.clearTo = piece.places[piece.next] ?? piece.to;
    if (this.row < this.clearTo) return this.uncorrected(segment, rowsMax);
    for (; piece.next < piece.count && piece.places[piece.next] === this.row; piece.next++) {
      const record = piece.records[piece.next]!;
      if (record !== null) decoder.add(piece.keys[piece.next]!, record);
      if (piece.replaces[piece.next]!) this.row++;
    }
    if (piece.next === piece.count && this.row === piece.to) this.piece = null;
    return decoder.length > 0 ? decoder.take() : undefined;
  }

  /** The next correction lies in the current segment's range. */
  private get isCorrected(): boolean {
    const { text } = this.corrections;
    return text !== null && text < this.segment!.to;
  }

  private leaveSegment(segment: Segment): undefined {
    this.at = segment.to;
    this.segment = null;
    this.number++;
  }

  private enterNext(): Gap | Handed | null | undefined {
    if (!this.passCorrections()) return undefined;
    const segment = this.segments[this.number];
    const from = segment === undefined ? this.end : segment.from;
    if (this.at < from) return this.enterGap(from);
    if (segment === undefined) return null;
    const isWhole = this.ahead === 0 && this.at === segment.from;
    const count = isWhole && this.threads !== null ? this.threads.handedAt(this.number) : 0;
    if (count > 0) return new Handed(this.number, count);
    try {
      if (this.ahead === 0 && (this.isRuledOut(segment) || this.isOutOfBound(segment))) {
        this.at = segment.to;
        this.number++;
      } else if (!this.readAhead(segment)) this.enterSegment(segment);
    } catch (error) {
      if (!(error instanceof DamagedColumns)) throw error;
      this.ahead = 0;
      this.number++;
      this.damaged(segment, error);
      return this.gapTo(segment.to);
    }
    return undefined;
  }

  private damaged(segment: Segment, error: DamagedColumns): void {
    // In another thread, which only has a list: the scan that asked it finds the damage, too.
    if (this.table instanceof TableSegments) this.context.segments?.damaged(this.table, segment, error);
  }

  /** The number of the first segment all of whose rows come. */
  get firstWhole(): number {
    const segment = this.segments[this.number];
    return this.number + (segment !== undefined && segment.from < this.at ? 1 : 0);
  }

  /**
   * Another thread has read these. Corrections there have come since the scan opened, when there were none: of commits
   * that it does not see, which say what the file says.
   */
  skip({ from, count }: Handed): void {
    this.number = from + count;
    this.at = this.segments[this.number - 1]!.to;
  }

  /** Passes over corrections of what somebody else has read. False: there may be more. */
  private passCorrections(): boolean {
    const { corrections } = this;
    for (let i = 0; i < PASSED_AT_ONCE; i++) {
      if (corrections.text === null || corrections.text >= this.at) return true;
      corrections.advance();
    }
    return false;
  }

  /** No row passes, by what is known without reading pages: the least and greatest values (a zone map). */
  private isRuledOut(segment: Segment): boolean {
    const { text } = this.corrections;
    return segment.stored !== null && (text === null || text >= segment.to) && this.hasNoRow(segment);
  }

  /** By its least and greatest values, whatever corrections say. */
  hasNoRow(segment: Segment): boolean {
    for (const { test, slot } of this.program.conjuncts) {
      const bounds = test?.bounds ?? null;
      const known = bounds === null ? null : segment.known(this.program.source[slot]!);
      if (known === null) continue;
      const number = bounds!(known, this.context);
      if (number !== null && numberKernel(known, number) === "none") return true;
    }
    return this.wanted.some(({ slot, keys }) => {
      const known = segment.known(this.program.source[slot]!);
      return known !== null && keys.excludes(known);
    });
  }

  /** Shows the consumer one segment's column, if all of its rows will come; no more when one cannot be shown. */
  private foresee(): undefined {
    const { bound, segments, corrections } = this;
    const segment = segments[this.foreseen++];
    this.foresees = false;
    if (segment === undefined || bound === null || this.threads !== null) return;
    if (corrections.text !== null && corrections.text < segment.to) return;
    try {
      this.foresees = bound.foresee(segment.column(this.program.source[bound.slot]!), segment.rows);
    } catch (error) {
      // The scan finds the damage when it comes there.
      if (!(error instanceof DamagedColumns)) throw error;
    }
  }

  /** Whether files have the least and greatest values of all columns, if the other segments are like the next one. */
  get knowsExtremes(): boolean {
    const segment = this.segments[this.firstWhole];
    if (segment === undefined || this.program.conjuncts.length > 0) return false;
    return segmentExtremes(segment, this.program) !== null;
  }

  /** Null: they are not known, or the transaction sees other rows. */
  private extremes(segment: Segment): Chunk | null {
    const { text } = this.corrections;
    if (this.ahead > 0 || (text !== null && text < segment.to)) return null;
    const columns = segmentExtremes(segment, this.program);
    if (columns === null) return null;
    this.at = segment.to;
    this.number++;
    return new Chunk(columns, new Array<Selection>(columns.length).fill(ALL_ROWS), 2, this.scratch);
  }

  /** The consumer has no use for any row. Only where no test of the others can end the statement. */
  private isOutOfBound(segment: Segment): boolean {
    const { bound } = this;
    const { text } = this.corrections;
    if (bound === null || this.program.mayFail || (text !== null && text < segment.to)) return false;
    const id = this.program.source[bound.slot]!;
    const known = segment.stored === null ? null : segment.known(id);
    return (known !== null && bound.excludes(known, 0)) || bound.excludes(segment.column(id), segment.rows);
  }

  /** Undefined: its next rows need not be read, because only their number is asked for, and it is known. */
  private enterGap(to: string): Gap | undefined {
    const { table, corrections } = this;
    const known = isCountOnly(this.program) && table instanceof TableSegments ? table.countedFrom(this.at) : null;
    if (known === null || known.to > to || (corrections.text !== null && corrections.text < known.to))
      return this.gapTo(to);
    if (this.at < known.from) return this.gapTo(known.from);
    this.counted = known.rows;
    this.at = known.to;
    return undefined;
  }

  private takeCounted(rowsMax: number): Chunk {
    const rows = Math.min(this.counted, rowsMax);
    this.counted -= rows;
    return new Chunk([], [], rows, this.scratch);
  }

  /** Who reads the records sees what corrections would say. */
  private gapTo(to: string): Gap {
    const gap = new Gap(Buffer.from(this.at, "latin1"), Buffer.from(to, "latin1"));
    this.at = to;
    return gap;
  }

  /** Reads a page that will be needed, so that one step reads no more than one. False: there are no more. */
  private readAhead(segment: Segment): boolean {
    const { tested } = this;
    const { source } = this.program;
    const { text } = this.corrections;
    const isWhole = tested.size === 0 || (text !== null && text < segment.to);
    while (segment.stored !== null && this.ahead < source.length) {
      const slot = this.ahead++;
      if ((!isWhole && !tested.has(slot)) || segment.stored.isRead(source[slot]!)) continue;
      segment.column(source[slot]!);
      return true;
    }
    return false;
  }

  /** All pages that will be needed are read before any row is handed out: here, or when the first row has passed. */
  private enterSegment(segment: Segment): void {
    const { tested } = this;
    const { source } = this.program;
    const { text } = this.corrections;
    const isWhole = this.at === segment.from && (text === null || text >= segment.to);
    this.isPartlyRead = isWhole && segment.stored !== null && tested.size > 0;
    this.vectors = source.map((id, slot) => (!this.isPartlyRead || tested.has(slot) ? segment.column(id) : NULLS));
    this.keys = isWhole ? null : segment.keys;
    this.row = this.keys === null ? 0 : this.keys.lowerBound(Buffer.from(this.at, "latin1"), 0);
    this.segment = segment;
    this.ahead = 0;
    this.base = this.vectors;
    this.filter = undefined;
  }

  /**
   * Reads the columns that no test wants. A gap: a page is damaged, and the segment's rows are to be read from records.
   */
  private readRest(segment: Segment): Gap | null {
    this.isPartlyRead = false;
    try {
      this.vectors = this.program.source.map((id) => segment.column(id));
      return null;
    } catch (error) {
      if (!(error instanceof DamagedColumns)) throw error;
      this.damaged(segment, error);
      this.segment = null;
      this.number++;
      return this.gapTo(segment.to);
    }
  }

  private uncorrected(segment: Segment, rowsMax: number): Chunk | Gap | undefined {
    if (this.filter === undefined) {
      const { program, wanted, vectors, context } = this;
      this.filter = segmentFilterOf(program.conjuncts, wanted, vectors, context);
    }
    if (this.filter === null) {
      this.row = this.clearTo;
      return undefined;
    }
    const from = this.row;
    const count = rowsDecodable(this.vectors, from, Math.min(rowsMax, this.clearTo - from));
    this.row += count;
    const { kernels, rest } = this.filter;
    let rows: Int32Array | null = null;
    let length = count;
    for (const kernel of kernels) {
      // A kernel never writes ahead of where it reads, so it may filter in place.
      length = kernel(rows, from, length, this.passed);
      rows = this.passed;
      if (length === 0) return undefined;
    }
    if (rest.length > 0) {
      length = this.testRest(rest, rows, from, length);
      rows = this.passed;
      if (length === 0) return undefined;
    }
    if (this.isPartlyRead) {
      const gap = this.readRest(segment);
      if (gap !== null) return gap;
      if (rowsDecodable(this.vectors, from, count) < count) {
        // With what has just been read, these are too many rows.
        this.row = from;
        return undefined;
      }
    }
    if (this.isMerged && this.piece!.hasRest) {
      const { vectors, selections } = this.piece!.rest(this.base, rows, from, length);
      return new Chunk(vectors, selections, length, this.scratch);
    }
    const selections = new Array<Selection>(this.vectors.length).fill({ rows, from });
    return new Chunk(this.vectors, selections, length, this.scratch);
  }

  private testRest(rest: readonly Conjunct[], rows: Int32Array | null, from: number, count: number): number {
    const { context, passed } = this;
    let found = count;
    let current = rows;
    for (const { predicate, slots } of rest) {
      const columns: ArrayLike<Value>[] = [];
      for (const slot of slots) {
        columns[slot] = valuesOf(this.vectors[slot]!, current, from, found, this.scratch[slot]!);
      }
      const batch = { columns, length: found };
      let kept = 0;
      for (let i = 0; i < found; i++) {
        if (predicate(batch, i, context)) passed[kept++] = current === null ? from + i : current[i]!;
      }
      found = kept;
      current = passed;
      if (found === 0) break;
    }
    return found;
  }
}
