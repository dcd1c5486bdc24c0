/**
 * One table whose segments are in files: its folder, and what stands in it. Made and owned by column-store.ts, one for
 * a folder.
 */
import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Turns } from "../../../../protocol/turns.js";
import type { PartsFiles } from "../../../../storage/commit-log.js";
import type { PackedKeys } from "../../../../storage/packed-keys.js";
import { Segment } from "../segment.js";
import type { MakingSpan, TableSegments } from "../table-segments.js";
import type { StoredColumn } from "./build-columns.js";
import type { ColumnFile, StoredSegment } from "./column-file.js";
import { CachedPages, type PageCache } from "./page-cache.js";
import { type PendingLoad, type TableManifest, writeManifest } from "./table-manifest.js";

const FILE = /^(\d+)\.columns$/;

/** Rows that a load brings into a gap, where there are no others. */
export interface LoadedRows {
  readonly stored: StoredTable;
  readonly span: MakingSpan;
  /** Tells who waits for the span. */
  readonly resolve: () => void;
  readonly rows: number;
  /** Of the load's commit. */
  readonly sequence: number;
  readonly parts: PartsFiles;
  /** The folder that has them. */
  readonly held: string;
}

export class StoredTable {
  /** Loads whose rows are to become columns: the manifest names them, so that this goes on after a start. */
  readonly loads = new Set<LoadedRows>();
  /** What the files have; empty: there are none yet. */
  columns: readonly StoredColumn[] = [];
  /** The commit that the manifest on disk stands at; −1: there is none. */
  savedSequence = -1;
  /** Writes in gaps when it was last looked at, to see whether they go on. */
  seenWrites = 0;
  /** Since when a build is due (performance.now); null: none is. */
  dueSinceMs: number | null = null;
  /** Not before this time (performance.now) anything is made: the last try failed. */
  notBeforeMs = 0;
  failures = 0;
  /** Segments were replaced since the manifest was written. */
  isUnsaved = false;
  /** Files with this number and greater ones are being made, or are not there. */
  nextFile = 1;

  constructor(
    readonly table: TableSegments,
    readonly folder: string,
  ) {
    for (const name of namesIn(folder)) this.nextFile = Math.max(this.nextFile, 1 + Number(FILE.exec(name)?.[1] ?? 0));
  }

  /** The load that has brought the rows there. */
  loadAt(text: string): LoadedRows | null {
    for (const loaded of this.loads) if (text >= loaded.span.from && text < loaded.span.to) return loaded;
    return null;
  }

  get manifestPath(): string {
    return join(this.folder, "manifest");
  }

  segmentsOf(files: readonly ColumnFile[], cache: PageCache): Segment[] {
    return files.flatMap((file) => file.segments.map((segment) => this.segmentOf(segment, cache)));
  }

  segmentOf(segment: StoredSegment, cache: PageCache): Segment {
    const { table, columns } = this;
    // As in the file: a branch reads these segments after the table itself has lost a column.
    const typeOf = (id: number) => columns.find((column) => column.id === id)?.type ?? table.typeOf(id);
    const pages = new CachedPages(segment, cache, typeOf);
    return new Segment(table.start + segment.from, table.start + segment.to, null, pages);
  }

  /** Of all files that are in use. */
  get bytes(): number {
    let bytes = 0;
    for (const file of this.liveFiles().keys()) bytes += file.bytes;
    return bytes;
  }

  /** Writes down what the segments and newer entries are now; not in the middle of a large commit. */
  async save(sequence: number, turns: Turns, durable: () => Promise<void>): Promise<void> {
    const { table } = this;
    this.isUnsaved = false;
    const entries = table.entries.clone();
    const live = this.liveFiles();
    const manifest: TableManifest = {
      sequence,
      columns: this.columns,
      writesInGaps: table.writesInGaps,
      files: [...live].map(([file, numbers]) => ({ name: basename(file.path), live: numbers })),
      ...(this.loads.size > 0 && { loads: Array.from(this.loads, (loaded) => pendingOf(loaded, table.start.length)) }),
    };
    const changed = (keys: PackedKeys) => entries.packKeys(table.prefixLength, keys);
    await writeManifest(this.manifestPath, manifest, changed, turns, durable);
    this.savedSequence = sequence;
    const kept = new Set([...live.keys(), ...this.liveFiles().keys()].map(({ path }) => basename(path)));
    await this.removeOthers(kept);
  }

  /** Files that no manifest will name, but not those that are being made. */
  private async removeOthers(kept: ReadonlySet<string>): Promise<void> {
    for (const name of namesIn(this.folder)) {
      const number = Number(FILE.exec(name)?.[1] ?? this.nextFile);
      if (number < this.nextFile && !kept.has(name)) await rm(join(this.folder, name), { force: true });
    }
  }

  private liveFiles(): Map<ColumnFile, number[]> {
    const files = new Map<ColumnFile, number[]>();
    for (const { stored } of this.table.segments) {
      if (!(stored instanceof CachedPages)) continue;
      const { file, number } = stored.segment;
      const numbers = files.get(file);
      if (numbers === undefined) files.set(file, [number]);
      else numbers.push(number);
    }
    return files;
  }

  async removeFolder(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

function pendingOf({ span, rows, sequence, held, parts }: LoadedRows, prefixLength: number): PendingLoad {
  const { id, operations, files } = parts;
  return {
    ...{ from: span.from.slice(prefixLength), to: span.to.slice(prefixLength), rows, sequence },
    ...{ held: basename(held), parts: { id, operations, lengths: files.map(({ length }) => length) } },
  };
}

/** Of a table, where it is a key of maps. */
export function nameOf(tenantNumber: number, storageId: number): string {
  return `${tenantNumber}/${storageId}`;
}

export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Of all of a tenant's tables. */
export async function removeFolders(directory: string, tenantNumber: number): Promise<void> {
  for (const name of namesIn(directory)) {
    if (name.startsWith(`${tenantNumber}-`)) await rm(join(directory, name), { recursive: true, force: true });
  }
}
