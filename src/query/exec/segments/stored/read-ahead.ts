/**
 * Has the disk read what a scan of a column file comes to next, while the scan computes: reads of pages are
 * synchronous, and hold the thread, also for others. It begins when pages of a column are read one after the other and
 * one takes so long that it was not in the system's page cache, so a file that is cached costs nothing. Owned by
 * column-file.ts.
 */

/** Segments whose pages are fetched before the scan comes to them: few, as commits wait for the same threads. */
const SEGMENTS = 2;
/** What a page takes that is in the page cache, at most: this, and a millisecond for so many bytes. */
const CACHED_MS = 0.1;
const CACHED_BYTES_PER_MS = 1024 * 1024;

interface Sequence {
  /** The segment that was read last, and the last one that is read or being fetched. */
  read: number;
  fetched: number;
  isOn: boolean;
}

export class ReadAhead {
  /** By column. */
  private readonly sequences = new Map<number, Sequence>();

  constructor(
    private readonly segments: number,
    /** Brings a page into the page cache. */
    private readonly fetch: (segment: number, columnId: number) => void,
  ) {}

  /** A page was read. */
  noteRead(segment: number, columnId: number, bytes: number, tookMs: number): void {
    const known = this.sequences.get(columnId);
    if (known === undefined || segment !== known.read + 1) {
      this.sequences.set(columnId, { read: segment, fetched: segment, isOn: false });
      return;
    }
    known.read = segment;
    known.fetched = Math.max(known.fetched, segment);
    if (tookMs > CACHED_MS + bytes / CACHED_BYTES_PER_MS) known.isOn = true;
    if (!known.isOn) return;
    const to = Math.min(segment + SEGMENTS, this.segments - 1);
    while (known.fetched < to) this.fetch(++known.fetched, columnId);
  }
}
