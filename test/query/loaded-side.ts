/** A table g over a shard on disk, and the columns that are made of its rows, for tests of loads. */
import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { storageOf } from "../../src/catalog/table.js";
import { SegmentCache, type SegmentSizes } from "../../src/query/exec/segments/segment-cache.js";
import { type BuildJob, buildColumns } from "../../src/query/exec/segments/stored/build-columns.js";
import type { LongTasks } from "../../src/session/long-tasks.js";
import type { Shard } from "../../src/storage/shard.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import { applyBacklog } from "../storage/apply-backlog.js";
import { directory } from "../storage/shards.js";
import { SIZES, Side } from "./segment-histories.js";

export const STORED = { ...SIZES, segmentRows: 1000, storedRowsMin: 1000, fileRowsMin: 1000 };
export const SUMS = "SELECT count(*), sum(a), sum(b), count(c), min(c), max(c) FROM g";

export class Loaded {
  side!: Side;
  shard!: Shard;
  /** What was built from what. */
  readonly sources: BuildJob["source"]["kind"][] = [];
  /** Keys and records that cursors of the engine have read. */
  read = 0;
  /** Called before a build. */
  onBuild: () => void | Promise<void> = () => undefined;

  private constructor(
    private readonly t: Test,
    readonly path: string,
    private readonly sizes: SegmentSizes,
    private readonly memory = 1e9,
  ) {}

  static async open(t: Test, sizes: SegmentSizes = STORED, memory?: number): Promise<Loaded> {
    const loaded = new Loaded(t, directory(t), sizes, memory);
    await loaded.open();
    await loaded.side.run(0, "CREATE TABLE g (a int PRIMARY KEY, b int, c text)");
    return loaded;
  }

  async open(): Promise<void> {
    const build = async (job: BuildJob) => {
      this.sources.push(job.source.kind);
      await this.onBuild();
      return buildColumns(job);
    };
    this.shard = await openShardOnDisk(this.path, { onDurable: (sequence) => this.side.partition.onDisk(sequence) });
    const { engine } = this.shard;
    const open = engine.cursor.bind(engine);
    engine.cursor = (range) => {
      const cursor = open(range);
      const next = cursor.next.bind(cursor);
      cursor.next = (max) => {
        const entries = next(max);
        this.read += entries.keys.length;
        return entries;
      };
      return cursor;
    };
    const tasks = { buildColumns: build } as unknown as LongTasks;
    this.side = await Side.open(this.t, new SegmentCache(this.memory, this.sizes), this.shard, { tasks });
    await this.side.partition.keepColumns(this.path);
  }

  /** Not open yet: over what is on disk now. */
  crashed(): Loaded {
    const path = directory(this.t);
    cpSync(this.path, path, { recursive: true });
    return new Loaded(this.t, path, this.sizes);
  }

  insert(from: number, to: number, b = 1): Promise<string> {
    return this.side.run(
      0,
      `INSERT INTO g SELECT i, ${b}, CASE WHEN i % 5 > 0 THEN 'text ' || i END FROM generate_series(${from}, ${to}) i`,
    );
  }

  /** The engine takes all of a large commit; `between`: after each step. */
  async apply(between: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const { shard } = this;
    this.side.flush();
    await applyBacklog(shard, between);
  }

  /** Folders of the log's files for builds. */
  held(): readonly string[] {
    return readdirSync(join(this.path, "columns")).filter((name) => name.startsWith("load-"));
  }

  /** All that was begun until now is done. */
  async built(): Promise<void> {
    await this.side.partition.columns!.idle();
  }

  get storageId(): number {
    const { partition } = this.side;
    return partition.definitions(7, (catalog) => storageOf(catalog.tables().find(({ name }) => name === "g")!));
  }

  get table() {
    return this.side.segments.tablesOf(7).findLast(({ segments }) => segments.length > 0) ?? null;
  }

  async close(loadsUntil = 0): Promise<void> {
    this.side.flush();
    await this.side.partition.close(loadsUntil);
  }
}

/** What SUMS must answer for rows of which `c` is `text i` unless i is a multiple of five. */
export function sums(rows: readonly (readonly [a: number, b: number])[]): string {
  const texts = rows.filter(([a]) => a % 5 > 0).map(([a]) => `text ${a}`);
  texts.sort();
  const sum = (place: 0 | 1) => rows.reduce((total, row) => total + row[place], 0);
  return JSON.stringify([rows.length, sum(0), sum(1), texts.length, texts[0], texts.at(-1)]);
}

export const range = (from: number, to: number, b = 1) =>
  Array.from({ length: to - from + 1 }, (_, i) => [from + i, b] as const);

/** Statements that change rows of a load whose columns are not made yet, and the rows that are there afterwards. */
export const CHANGES: readonly (readonly [sql: string, rows: number])[] = [
  ["UPDATE g SET b = 5 WHERE a = 7", 3000],
  ["DELETE FROM g WHERE a BETWEEN 20 AND 29", 2990],
  ["INSERT INTO g VALUES (25, 1, 'back'), (4000, 1, 'new'), (-3, 1, 'before')", 2993],
];
