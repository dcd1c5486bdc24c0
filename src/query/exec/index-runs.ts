/**
 * The entries of a new index, made in task threads from the column files (index-run.ts). The transaction's own view is
 * merged over that as in a scan: rows that it sees differently are left out there and made here, as are rows in gaps.
 * Used by backfill-index.ts, once per build; the actor only waits in turns.
 */
import { DbError } from "../../protocol/errors.js";
import { prefixRange } from "../../storage/keys.js";
import { Load } from "../../storage/load.js";
import type { LoadRun } from "../../storage/load-run.js";
import type { PackedRun } from "../../storage/packed-run.js";
import { type Corrections, NO_ENTRIES, readSome, type Transaction } from "../../storage/store.js";
import type { ExecContext } from "./context.js";
import type { IndexRunAnswer, IndexRunJob, IndexRunSegment, IndexThreads } from "./index-threads.js";
import { entryBytesMin } from "./load-entry.js";
import type { Segment } from "./segments/segment.js";
import { CachedPages } from "./segments/stored/page-cache.js";
import { gapsBetween, segmentIn, type TableSegments } from "./segments/table-segments.js";
import type { EntryLayout, KeyLayout, TableLayout } from "./table-layout.js";

/** Rows between two looks at the clock. */
const STEP_ROWS = 256;
/** How often the statement looks whether it is to end while it waits. */
const LOOK_MS = 20;
/** Of the rows in segments; where the transaction sees more of them otherwise, a scan takes no longer. */
const CORRECTED_SHARE_MAX = 0.25;
/** Their keys are sent to the threads in one turn. */
const CORRECTED_MAX = 10_000;

interface HeldSegment {
  readonly segment: Segment;
  readonly pages: CachedPages;
  readonly without: Uint8Array[];
}

/** Takes the entry of a row into a load. */
export type AddRecord = (load: Load, run: LoadRun, key: Uint8Array, record: Uint8Array) => void;

export class IndexRuns {
  private readonly own: Load;
  private readonly ownEntries: LoadRun;
  private readonly stop = new Int32Array(new SharedArrayBuffer(4));
  private readonly counted = new Int32Array(new SharedArrayBuffer(4));

  private constructor(
    private readonly context: ExecContext,
    private readonly tx: Transaction,
    private readonly layout: TableLayout,
    private readonly key: KeyLayout,
    private readonly ids: readonly number[],
    private readonly table: TableSegments,
    private readonly held: readonly HeldSegment[],
    private readonly threads: IndexThreads,
    /** Takes the entries. */
    private readonly load: Load,
    private readonly addRecord: AddRecord,
  ) {
    this.own = new Load(0, load.bytesMax - load.bytes);
    this.ownEntries = this.own.run(key.prefixOf(context.tenantNumber));
  }

  /**
   * Null: there are no threads for it, or too few of the rows are in files.
   * @param tx what the index is made of.
   * @param ids of the columns that entries are made of.
   */
  static of(
    context: ExecContext,
    tx: Transaction,
    layout: TableLayout,
    key: KeyLayout,
    ids: readonly number[],
    load: Load,
    addRecord: AddRecord,
  ): IndexRuns | null {
    const { segments: cache, services, tenantNumber } = context;
    const threads = services.indexThreads ?? null;
    if (cache === null || threads === null || key.computed) return null;
    const table = cache.find(tenantNumber, layout, ids);
    if (table === null || !ids.every((id) => table.holds(layout, id) === "yes")) return null;
    const held: HeldSegment[] = [];
    for (const segment of table.segments) {
      const pages = segment.stored;
      if (!(pages instanceof CachedPages) || !ids.every((id) => pages.has(id))) return null;
      held.push({ segment, pages, without: [] });
    }
    if (table.rows < cache.sizes.threadRowsMin) return null;
    return new IndexRuns(context, tx, layout, key, ids, table, held, threads, load, addRecord);
  }

  /** Rows that have been read. */
  get rows(): number {
    return Atomics.load(this.counted, 0) + this.ownEntries.size;
  }

  /**
   * Fills `entries`, sorted. False: it cannot be done so, and nothing was added. Throws what a scan would have thrown.
   */
  async fill(entries: LoadRun, showRows: () => void): Promise<boolean> {
    const { context, table, layout } = this;
    const range = prefixRange(layout.rowPrefixOf(context.tenantNumber));
    const gaps = gapsBetween(
      this.held.map(({ segment }) => segment),
      table.start,
      table.end,
    );
    if (!(await this.readCorrections(this.tx.corrections(range, table.read(this.ids))))) return false;
    this.requireRoom();
    try {
      const made = this.jobs().map((job) => this.threads.make(job));
      // Of several that fail, one is told.
      const all = Promise.all(made);
      all.catch(() => undefined);
      for (const { from, to } of gaps) await this.readGap(from, to);
      const answers = await this.wait(all, showRows);
      return answers !== null && (await this.take(entries, answers, showRows));
    } finally {
      Atomics.store(this.stop, 0, 1);
    }
  }

  /** For all threads together. */
  private requireRoom(): void {
    const { key, held, own, load, context } = this;
    const prefix = key.prefixOf(context.tenantNumber);
    let bytes = own.bytes;
    for (const { pages, without } of held) bytes += entryBytesMin(key, prefix, pages.segment, without);
    load.requireRoom(bytes);
  }

  /** Null: there is no room for it in the threads. The statement may be cancelled meanwhile. */
  private async wait<T>(work: Promise<T>, showRows: () => void): Promise<T | null> {
    const { context } = this;
    let outcome: { readonly value: T } | { readonly error: unknown } | null = null;
    const noted = work.then(
      (value) => {
        outcome = { value };
      },
      (error: unknown) => {
        outcome = { error };
      },
    );
    const ended = (): typeof outcome => outcome;
    while (ended() === null) {
      await Promise.race([noted, new Promise((resolve) => setTimeout(resolve, LOOK_MS))]);
      showRows();
      context.checkpoint();
    }
    await context.yieldTurn();
    const done = ended()!;
    if ("value" in done) return done.value;
    if (done.error instanceof DbError && done.error.code === "overloaded") return null;
    throw done.error;
  }

  private async take(entries: LoadRun, answers: readonly IndexRunAnswer[], showRows: () => void): Promise<boolean> {
    const { own, ownEntries, load } = this;
    const failed = answers.find(({ error }) => error !== null)?.error;
    if (failed) throw new DbError(failed.code, failed.message, failed.details);
    const parts: PackedRun[] = [];
    for (const { run } of answers) {
      if (run === null) return false;
      parts.push(run);
    }
    const bytes = answers.reduce((sum, answer) => sum + answer.bytes, own.bytes);
    load.requireRoom(bytes);
    for (const _ of own.sort()) await this.pause();
    if (ownEntries.size > 0) parts.push(ownEntries.pack());
    if (!this.key.unique) {
      this.takeEach(entries, parts, bytes);
      return true;
    }
    const merged = await this.wait(this.threads.merge({ prefix: entries.prefix, parts, stop: this.stop }), showRows);
    if (merged === null) return false;
    load.takeOver(entries, merged, bytes);
    return true;
  }

  /** Keys that end with that of the row are not there twice, so that nobody has to see them in order. */
  private takeEach(entries: LoadRun, parts: readonly PackedRun[], bytes: number): void {
    const { load } = this;
    const [first, ...others] = parts.filter(({ size }) => size > 0);
    if (first === undefined) return;
    load.takeOver(entries, first, bytes);
    for (const part of others) load.takeOver(load.run(entries.prefix), part, 0);
  }

  private async pause(): Promise<void> {
    const { context } = this;
    context.checkpoint();
    if (context.shouldYield()) await context.yieldTurn();
  }

  /** False: there are too many. */
  private async readCorrections(corrections: Corrections): Promise<boolean> {
    const { held, own, ownEntries, table } = this;
    const segments = held.map(({ segment }) => segment);
    const bySegment = new Map(held.map((one) => [one.segment, one]));
    const countMax = Math.min(CORRECTED_MAX, table.rows * CORRECTED_SHARE_MAX);
    let segment: Segment | null = null;
    for (let count = 0; corrections.text !== null; count++) {
      const { text, key, value } = corrections;
      if (segment === null || text >= segment.to) segment = segmentIn(segments, text);
      // Rows in gaps are read from records, which say the same.
      if (segment !== null) {
        if (count > countMax) return false;
        // A copy: to send a view is to send all that is behind it.
        bySegment.get(segment)!.without.push(Uint8Array.from(key));
        if (value !== null) this.addRecord(own, ownEntries, key, value);
      }
      corrections.advance();
      if (count % STEP_ROWS === STEP_ROWS - 1) await this.pause();
    }
    return true;
  }

  private async readGap(from: string, to: string): Promise<void> {
    const { own, ownEntries } = this;
    const cursor = this.tx.scan({ gte: Buffer.from(from, "latin1"), lt: Buffer.from(to, "latin1") });
    try {
      for (;;) {
        const entries = readSome(cursor, STEP_ROWS);
        if (entries?.keys.length === 0) return;
        const { keys, values } = entries ?? NO_ENTRIES;
        for (let i = 0; i < keys.length; i++) this.addRecord(own, ownEntries, keys[i]!, values[i]!);
        await this.pause();
      }
    } finally {
      cursor.close();
    }
  }

  /** Neighbouring segments for each thread, about the same number of rows. */
  private jobs(): IndexRunJob[] {
    const { context, layout, key, ids, table, held, threads, load } = this;
    const { threadRowsMin } = context.segments!.sizes;
    const { prefixOf: _, ...index }: KeyLayout = key;
    const count = Math.max(1, Math.min(threads.count, Math.floor(table.rows / (threadRowsMin / 2))));
    const share = held.reduce((sum, { pages }) => sum + pages.rows, 0) / count;
    const lists: IndexRunSegment[][] = Array.from({ length: count }, () => []);
    let rows = 0;
    for (const { pages, without } of held) {
      const { file, number } = pages.segment;
      lists[Math.min(count - 1, Math.floor(rows / share))]!.push({ path: file.path, number, without });
      rows += pages.rows;
    }
    return lists
      .filter(({ length }) => length > 0)
      .map((segments) => ({
        segments,
        prefixLength: layout.rowPrefixOf(context.tenantNumber).length,
        columns: ids.map((id) => ({ id, type: layout.types[id]! })),
        index: index satisfies EntryLayout,
        prefix: new Uint8Array(key.prefixOf(context.tenantNumber)),
        bytesMax: load.bytesMax - load.bytes,
        stop: this.stop,
        rows: this.counted,
      }));
  }
}
