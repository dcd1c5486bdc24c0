/**
 * Has segments of a table made by a thread, and puts them in their place: of gaps and changed ranges, from the engine;
 * of rows that a load has just brought, from the commit log. One at a time. Owned by column-store.ts.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { giveWay, type Turns } from "../../../../protocol/turns.js";
import { holdParts } from "../../../../storage/commit-parts.js";
import { boundOf } from "../../../../storage/cursor-bound.js";
import type { Engine } from "../../../../storage/engine.js";
import { keyAfter, prefixRange, SPACE } from "../../../../storage/keys.js";
import type { LargeCommitMade } from "../../../../storage/large-commits.js";
import { Load } from "../../../../storage/load.js";
import type { NewerWrites } from "../../../../storage/newer-writes.js";
import { keyText } from "../../../../storage/ordered-map.js";
import type { ReplayedLoad } from "../../../../storage/replayed-loads.js";
import type { SortedRun } from "../../../../storage/sorted-run.js";
import type { TableLayout } from "../../table-layout.js";
import type { SegmentCache } from "../segment-cache.js";
import {
  type AwaitedSegments,
  gapsBetween,
  type KeyTextSpan,
  type MakingSpan,
  type TableSegments,
} from "../table-segments.js";
import type { BuildAnswer, BuildJob, StoredColumn } from "./build-columns.js";
import { ColumnFile } from "./column-file.js";
import type { Ending } from "./ending.js";
import type { OpenedStore } from "./open-stored.js";
import { patchedSpans } from "./pack-patches.js";
import { type LoadedRows, nameOf, type StoredTable } from "./stored-table.js";
import { primaryKeyOf, spansToMake, storedColumns } from "./what-to-build.js";

/** Segments of one file, at most, but for the last one of a build. */
const SEGMENTS_PER_FILE = 64;
/** Entries forgotten between two turns. */
const FORGET_STEP = 1024;
/** Changes of a segment that are counted after it was made; it may have more. */
const COUNTED_MAX = 4096;
/** Single writes beside a load that are looked through. */
const WRITES_MAX = 1024;

export type BuildColumns = (job: BuildJob) => Promise<BuildAnswer | null>;

interface ColumnStoreShard extends OpenedStore {
  /** Loads that the engine did not have when it was opened. */
  readonly replayed: readonly ReplayedLoad[];
  readonly hasBacklog: boolean;
  largeCommitDone(): Promise<void>;
}

export interface BuildOptions {
  /** Of the files. */
  readonly directory: string;
  /** Of the engine: its files are copied for a build. */
  readonly engineDirectory: string;
  readonly store: ColumnStoreShard;
  readonly cache: SegmentCache;
  readonly build: BuildColumns;
  readonly turnsOf: (tenantNumber: number) => Turns;
}

export interface TableBuildsHost {
  readonly options: BuildOptions;
  /** For builds from the engine, and for those of loads. */
  readonly ends: { readonly builds: Ending; readonly loads: Ending };
  /** The table has its first segments. */
  adopt(stored: StoredTable): void;
  save(stored: StoredTable): Promise<void>;
}

/** Long runs of rows that nothing else in the commit touches, and that only add. */
export function* runsOf({ sources }: LargeCommitMade, rowsMin: number): Generator<SortedRun> {
  const runs: SortedRun[] = [];
  const keys: Uint8Array[] = [];
  for (const { writes } of sources) {
    if (writes instanceof Load) runs.push(...writes.runs);
    else if (writes.size > WRITES_MAX) return;
    else for (const { key } of writes.values()) keys.push(key);
  }
  for (const run of runs) {
    const { prefix } = run;
    if (prefix[4] !== SPACE.rows || run.size < rowsMin || run.deletions > 0) continue;
    const isSame = (key: Uint8Array) => Buffer.compare(key.subarray(0, prefix.length), prefix) === 0;
    if (runs.some((other) => other !== run && isSame(other.prefix)) || keys.some(isSame)) continue;
    yield run;
  }
}

/** Null: the rows come among others, or where something else is being made. */
export function loadedRows(
  { store, directory }: Pick<BuildOptions, "store" | "directory">,
  stored: StoredTable,
  run: SortedRun,
  { sequence, parts }: LargeCommitMade,
): LoadedRows | null {
  const { table } = stored;
  const { engine, log } = store;
  if (!table.isReady || table.dropped || performance.now() < stored.notBeforeMs) return null;
  const first = run.keyOf(run.numberAt(0));
  const end = keyAfter(run.keyOf(run.numberAt(run.size - 1)));
  const [firstText, to] = [keyText(first), keyText(end)];
  // Another load may have left a hole for this one.
  if (table.isMakingIn(firstText, to) || [...table.making].some((span) => span.run === undefined)) return null;
  const before = table.segments[table.numberBefore(to)];
  if (before !== undefined && before.to > firstText) return null;
  // Only what is new is noted while the segments are made.
  if (table.entries.hasIn(firstText, to)) return null;
  if (hasRows(engine, first, end)) return null;
  const gap = before?.to ?? table.start;
  const files = log.filesOf(parts);
  if (files === null) return null;
  // The rest of the gap is covered, too, where it is empty.
  const isFree = ![...table.making].some(({ to: made }) => made > gap && made <= firstText);
  const from = isFree && !hasRows(engine, Buffer.from(gap, "latin1"), first) ? gap : firstText;
  const { awaited, resolve } = awaitedRows(run.size);
  const held = heldFolder(directory, table, sequence);
  const span = { from, to, run: run.id, awaited, loaded: loadedBy(store, sequence, run.size) };
  return { stored, span, resolve, rows: run.size, sequence, parts: holdParts(files, held), held };
}

/** Where the log's files of a load are held. */
export function heldFolder(directory: string, { tenantNumber, storageId }: TableSegments, sequence: number): string {
  return join(directory, `load-${sequence}-${tenantNumber}-${storageId}`);
}

/** As `MakingSpan.loaded`. */
export function loadedBy(store: Pick<OpenedStore, "appliedSequence">, sequence: number, rows: number) {
  return (): number | null => (store.appliedSequence >= sequence ? rows : null);
}

/** `resolve`: to be called in the end. */
export function awaitedRows(rows: number): { readonly awaited: AwaitedSegments; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const done = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  return { awaited: { rows, done }, resolve };
}

function hasRows(engine: Engine, gte: Uint8Array, lt: Uint8Array): boolean {
  if (Buffer.compare(gte, lt) >= 0) return false;
  const cursor = engine.cursor({ gte, lt, only: "keys" });
  const { keys } = cursor.next(1);
  cursor.close();
  return keys.length > 0;
}

export class TableBuilds {
  constructor(private readonly host: TableBuildsHost) {}

  /** The rows are in segments, or counted as rows in a gap. `layout` null: the table is no more. */
  async takeLoaded(loaded: LoadedRows, layout: TableLayout | null): Promise<void> {
    const { stored, resolve, held } = loaded;
    const { table } = stored;
    let isTaken = false;
    try {
      // From here on a start finds it.
      if (layout !== null && !table.dropped) await this.host.save(stored);
      isTaken = layout !== null && (await this.buildLoaded(loaded, layout));
    } finally {
      resolve();
      // Else it is built after the next start.
      if (isTaken || !this.host.ends.loads.isGiven) {
        this.forget(loaded, isTaken);
        if (isTaken) await this.saveSoon(stored);
        await rm(held, { recursive: true, force: true });
      }
    }
  }

  private forget(loaded: LoadedRows, isTaken: boolean): void {
    const { stored, span, rows } = loaded;
    const { table } = stored;
    stored.loads.delete(loaded);
    table.making.delete(span);
    if (isTaken) return;
    table.writesInGaps += rows;
    if (!table.isStored && !table.dropped)
      this.host.options.cache.wanted.set(nameOf(table.tenantNumber, table.storageId), table);
  }

  /** Resolves when the engine has all of the load, or will not have it. */
  private async engineTakes({ stored, sequence }: LoadedRows): Promise<void> {
    const { store } = this.host.options;
    if (store.appliedSequence >= sequence) return;
    while (store.appliedSequence < sequence) {
      await this.largeCommitDone();
      if (this.host.ends.loads.isGiven || !store.hasBacklog) return;
    }
    // A start need not look for changes in the log before it, which may be gone then.
    if (!stored.table.dropped) await this.host.save(stored);
  }

  private async buildLoaded(loaded: LoadedRows, layout: TableLayout): Promise<boolean> {
    const { stored, span, rows, sequence, parts } = loaded;
    const { store, cache } = this.host.options;
    const { table } = stored;
    const columns = stored.columns.length === 0 ? storedColumns(layout) : stored.columns;
    const source = { kind: "load", parts } as const;
    const segmentsMax = Number.POSITIVE_INFINITY;
    const spans = [{ from: partOf(table, span.from), to: partOf(table, span.to) }];
    const building = this.build(stored, layout, columns, { source, spans, segmentsMax });
    const [answer] = await Promise.all([building, this.engineTakes(loaded)]);
    if (answer === null || this.host.ends.loads.isGiven) return false;
    if (answer.rows !== rows || store.appliedSequence < sequence) {
      for (const path of answer.paths) await rm(path, { force: true });
      throw new Error(`the log has ${answer.rows} of ${rows} rows of a load`);
    }
    // Rows that were there before have no segments yet.
    const hasOthers = !table.isStored && this.hasRowsOutside(table, span);
    if (!(await this.take(stored, columns, [span], [span], answer, false))) return true;
    if (hasOthers) {
      table.writesInGaps = Math.max(table.writesInGaps, cache.sizes.storedRowsMin);
      table.hasRest = true;
    }
    return true;
  }

  private hasRowsOutside({ start, end }: TableSegments, { from, to }: KeyTextSpan): boolean {
    const { engine } = this.host.options.store;
    const key = (text: string) => Buffer.from(text, "latin1");
    return hasRows(engine, key(start), key(from)) || hasRows(engine, key(to), key(end));
  }

  /** Not in the middle of a large commit: then later, because other builds would wait. */
  private async saveSoon(stored: StoredTable): Promise<void> {
    stored.isUnsaved = true;
    if (!this.host.options.store.hasBacklog && !stored.table.dropped) await this.host.save(stored);
  }

  private async largeCommitDone(): Promise<void> {
    await Promise.race([this.host.options.store.largeCommitDone(), this.host.ends.loads.given]);
  }

  private async build(
    stored: StoredTable,
    layout: TableLayout,
    columns: readonly StoredColumn[],
    { source, spans, segmentsMax }: Pick<BuildJob, "source" | "spans" | "segmentsMax">,
  ): Promise<BuildAnswer | null> {
    const { cache, build, directory } = this.host.options;
    const { table, folder, nextFile } = stored;
    const ending = source.kind === "load" ? this.host.ends.loads : this.host.ends.builds;
    const answer = await build({
      ...{ source, columns, segmentsMax, folder, spans, stop: ending.flag },
      scratch: join(directory, "copy"),
      rowPrefix: table.rowPrefix,
      primaryKey: primaryKeyOf(layout, columns),
      segmentRows: cache.sizes.segmentRows,
      segmentsPerFile: SEGMENTS_PER_FILE,
      firstFile: nextFile,
    });
    if (answer === null || ending.isGiven) return null;
    stored.nextFile += answer.paths.length;
    return answer;
  }

  /**
   * Makes what is missing; `all`: also where there are segments, with the columns that the table has now. `rows`: that
   * have no segments yet, about.
   */
  async renew(stored: StoredTable, layout: TableLayout, all: boolean, rows: number): Promise<void> {
    const { cache, engineDirectory, turnsOf } = this.host.options;
    const { table } = stored;
    const columns = all || stored.columns.length === 0 ? storedColumns(layout) : stored.columns;
    const writes = table.writesInGaps;
    const greatest = await this.greatestKey(table);
    if (this.host.ends.builds.isGiven) return;
    if (table.dropped || table.making.size > 0) {
      // Gone meanwhile, or a load has begun to fill it.
      if (all) cache.wanted.set(nameOf(table.tenantNumber, table.storageId), table);
      return;
    }
    const { awaited, resolve } = awaitedRows(rows);
    const spans = greatest === null ? [] : spansToMake(table, greatest, cache, all);
    if (spans.length === 0) {
      table.writesInGaps -= writes;
      return;
    }
    // From here on the newer entries of these ranges are noted; those until now are in the copy that is read.
    if (!this.isCached(table)) cache.adopt(table);
    const making: readonly MakingSpan[] = spans.map(({ from, to }) => ({ from, to, awaited }));
    for (const span of making) table.making.add(span);
    const noted = table.entries.clone();
    try {
      const source = { kind: "engine", directory: engineDirectory } as const;
      // Segments with other columns cannot stand beside new ones.
      const segmentsMax = all && table.isStored ? Number.POSITIVE_INFINITY : cache.sizes.buildSegments;
      const parts = await patchedSpans(table, spans, segmentsMax, noted, turnsOf(table.tenantNumber));
      const answer = await this.build(stored, layout, columns, { source, spans: parts, segmentsMax });
      if (answer === null) return;
      const made = answer.covered.map(({ from, to }) => ({ from: table.start + from, to: table.start + to }));
      const isPart =
        answer.covered.length < spans.length || answer.covered.at(-1)!.to !== partOf(table, spans.at(-1)!.to);
      if (await this.take(stored, columns, made, making, answer, all)) {
        table.writesInGaps = Math.max(isPart ? cache.sizes.storedRowsMin : 0, table.writesInGaps - writes);
        if (isPart) stored.seenWrites = table.writesInGaps;
        table.noteBuild(isPart);
        resolve();
        await this.forgetNoted(table, made, noted);
        await this.countChanges(table, made);
        await this.forgetUnheld(table, [...made, ...spans.filter(({ changed }) => changed === undefined)]);
        await this.saveSoon(stored);
      }
    } finally {
      for (const span of making) table.making.delete(span);
      resolve();
    }
  }

  isCached(table: TableSegments): boolean {
    return this.host.options.cache.tableOf(table.tenantNumber, table.storageId) === table;
  }

  /** New segments take the place of what was in these ranges. False: the table is no more. */
  private async take(
    stored: StoredTable,
    columns: readonly StoredColumn[],
    made: readonly KeyTextSpan[],
    making: readonly MakingSpan[],
    { paths }: BuildAnswer,
    all: boolean,
  ): Promise<boolean> {
    const { table } = stored;
    const { cache, turnsOf } = this.host.options;
    const files: ColumnFile[] = [];
    for (const path of paths) {
      files.push(new ColumnFile(path, table.prefixLength));
      await giveWay(turnsOf(table.tenantNumber));
    }
    while (table.busy && !table.dropped) await turnsOf(table.tenantNumber).yieldTurn();
    if (table.dropped) {
      // For want of memory, or with the table; that will be seen the next time.
      cache.wanted.set(nameOf(table.tenantNumber, table.storageId), table);
      for (const path of paths) await rm(path, { force: true });
      return false;
    }
    if (all) stored.columns = columns;
    if (stored.columns.length === 0) stored.columns = columns;
    const isInside = (from: string) => made.some((span) => from >= span.from && from < span.to);
    const kept = table.segments.filter(({ stored: pages, from }) => !all && pages !== null && !isInside(from));
    table.hold(new Map(stored.columns.map(({ id, type, missing }) => [id, { type, missing }])));
    const segments = [...kept, ...stored.segmentsOf(files, cache.pages)];
    const before = table.bytes;
    table.segments = segments.sort((a, b) => (a.from < b.from ? -1 : 1));
    table.releaseMade();
    cache.shrunk(before - table.bytes);
    for (const span of making) table.making.delete(span);
    if (!table.isStored) this.host.adopt(stored);
    cache.built++;
    return true;
  }

  /** Entries that are in the new segments: they say the same, so it may take its time. */
  private async forgetNoted(table: TableSegments, made: readonly KeyTextSpan[], noted: NewerWrites): Promise<void> {
    const { cache, turnsOf } = this.host.options;
    const turns = turnsOf(table.tenantNumber);
    for (const { from, to } of made) {
      if (table.dropped) return;
      cache.shrunk(table.forgetLoads(noted, { from, to }));
      await giveWay(turns);
      let count = 0;
      for (const [text, operation] of noted.singlesFrom(from)) {
        if (text >= to || table.dropped) break;
        cache.shrunk(table.forget(text, operation));
        if (++count % FORGET_STEP === 0) await giveWay(turns);
      }
    }
  }

  /** What was changed in new segments while they were made. */
  private async countChanges(table: TableSegments, made: readonly KeyTextSpan[]): Promise<void> {
    const turns = this.host.options.turnsOf(table.tenantNumber);
    for (const segment of table.segments) {
      if (!made.some(({ from, to }) => segment.from >= from && segment.from < to)) continue;
      segment.changes = table.entries.countIn(segment.from, segment.to, COUNTED_MAX);
      await giveWay(turns);
    }
  }

  /** Entries of keys that no segment has: they were only noted for the case that one would. */
  private async forgetUnheld(table: TableSegments, spans: readonly KeyTextSpan[]): Promise<void> {
    const { cache, turnsOf } = this.host.options;
    const turns = turnsOf(table.tenantNumber);
    const entries = table.entries.clone();
    const isUnheld = (text: string) => table.segmentOf(text) === null && table.makingAt(text) === null;
    for (const { from, to } of spans) {
      // Then its memory does not count any more.
      if (table.dropped) return;
      const inside = table.segments.filter((segment) => segment.from < to && segment.to > from);
      for (const gap of gapsBetween(inside, from, to)) cache.shrunk(table.forgetLoads(entries, gap));
      await giveWay(turns);
      let count = 0;
      for (const [text, operation] of entries.singlesFrom(from)) {
        if (text >= to || table.dropped) break;
        if (isUnheld(text)) cache.shrunk(table.forget(text, operation));
        if (++count % FORGET_STEP === 0) await giveWay(turns);
      }
    }
  }

  /** As text; null: the table has no rows. What is written meanwhile may be above it. */
  private async greatestKey({ rowPrefix }: TableSegments): Promise<string | null> {
    const { engine } = this.host.options.store;
    const range = prefixRange(rowPrefix, true);
    const found = engine.greatestElsewhere?.(range) ?? boundOf(engine.cursor({ ...range, only: "keys" }));
    const key = await found;
    return key === null ? null : keyText(key);
  }
}

function partOf(table: TableSegments, text: string): string {
  return text.slice(table.prefixLength);
}
