/**
 * What jobs for threads are made of: segments whose rows the transaction sees as the files have them, and runs of them.
 * Used by thread-reads.ts.
 */
import type { ExecContext } from "../context.js";
import type { Segment } from "../segments/segment.js";
import type { SegmentScan } from "../segments/segment-scan.js";
import { CachedPages } from "../segments/stored/page-cache.js";
import type { TableSegments } from "../segments/table-segments.js";
import type { ReadAnswer, Reading } from "./read-threads.js";

/** Looks for rows that the transaction sees otherwise: beyond that it reads by itself. */
const LOOKS_MAX = 64;
/** Segments that are looked at in one step. */
const AT_ONCE = 256;

export interface Part {
  readonly segment: Segment;
  readonly pages: CachedPages;
  /** That reading it takes, about; 0 where no row passes. */
  nanos: number;
}

/** Neighbouring segments that one job reads. */
export class ThreadUnit {
  /** Undefined: not asked for yet. */
  reading: Reading | undefined;
  /** Null: its segments are to be read here. */
  answer: Promise<ReadAnswer | null> | undefined;
  /** Reserved for its result. */
  bytes = 0;

  constructor(
    /** The number of the first segment. */
    readonly first: number,
    readonly count: number,
    /** Those in which a row may pass. */
    readonly parts: readonly Part[],
  ) {}
}

/** Finds the parts of a scan that has not begun, some at a time. */
export class PartFinder {
  /** The number of the next segment. */
  at: number;
  /** That reading what was found takes, about. */
  nanos = 0;
  private readonly segments: readonly Segment[];
  /** Those with rows that the transaction sees otherwise. */
  private readonly corrected = new Set<Segment>();
  /** Before it, all others are as in the files. */
  private readonly known: string;

  constructor(
    context: ExecContext,
    table: TableSegments,
    private readonly scan: SegmentScan,
    private readonly source: readonly number[],
    private readonly nanosOf: (pages: CachedPages) => number,
  ) {
    this.segments = table.segments;
    this.at = scan.firstWhole;
    this.known = this.lookForCorrections(context, table);
  }

  /** All at once, as the scan does when it opens: later, the table may have other segments. */
  private lookForCorrections({ tx }: ExecContext, table: TableSegments): string {
    const { segments, corrected, source } = this;
    const lt = Buffer.from(table.end, "latin1");
    let from = segments[this.at]?.from ?? table.end;
    for (let looks = 0; looks < LOOKS_MAX && from < table.end; looks++) {
      const { text } = tx.correctionsUnread({ gte: Buffer.from(from, "latin1"), lt }, table.read(source));
      if (text === null) return table.end;
      const place = table.numberBefore(text);
      const segment = segments[place];
      const isInGap = segment === undefined || text >= segment.to;
      if (!isInGap) corrected.add(segment);
      from = isInGap ? (segments[place + 1]?.from ?? table.end) : segment.to;
    }
    return from;
  }

  get isDone(): boolean {
    return this.at >= this.segments.length;
  }

  /** That reading all takes, if the rest is as what was seen. */
  get nanosOfAll(): number {
    const { scan, segments, at } = this;
    return (this.nanos * (segments.length - scan.firstWhole)) / Math.max(1, at - scan.firstWhole);
  }

  /** Of the next segments; null where the transaction may see something else. */
  some(): (Part | null)[] {
    const { scan, segments } = this;
    const parts: (Part | null)[] = [];
    for (const to = Math.min(segments.length, this.at + AT_ONCE); this.at < to; this.at++) {
      const part = this.partOf(segments[this.at]!);
      if (part !== null && !scan.hasNoRow(part.segment)) part.nanos = this.nanosOf(part.pages);
      this.nanos += part?.nanos ?? 0;
      parts.push(part);
    }
    return parts;
  }

  private partOf(segment: Segment): Part | null {
    const pages = segment.stored;
    const isWhole = segment.to <= this.known && !this.corrected.has(segment) && pages instanceof CachedPages;
    return isWhole && this.source.every((id) => pages.has(id)) ? { segment, pages, nanos: 0 } : null;
  }
}

export function unitsOf(
  parts: readonly (Part | null)[],
  first: number,
  most: { readonly nanos: number; readonly rows: number },
): ThreadUnit[] {
  const units: ThreadUnit[] = [];
  for (let i = 0; i < parts.length; ) {
    const run: Part[] = [];
    const begin = i;
    for (let nanos = 0, rows = 0; i < parts.length && nanos < most.nanos; i++) {
      const part = parts[i]!;
      // Rows in a gap between two come between their rows.
      if (part === null || (run.length > 0 && run.at(-1)!.segment.to !== part.segment.from)) break;
      rows += part.nanos > 0 ? part.pages.rows : 0;
      if (run.length > 0 && rows > most.rows) break;
      run.push(part);
      nanos += part.nanos;
    }
    if (run.length === 0) i++;
    else
      units.push(
        new ThreadUnit(
          first + begin,
          run.length,
          run.filter(({ nanos }) => nanos > 0),
        ),
      );
  }
  return units;
}
