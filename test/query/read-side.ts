/** A partition whose columns are in files of few rows each, and threads that read them, for tests. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import { buildColumns } from "../../src/query/exec/segments/stored/build-columns.js";
import type { ReadThreads } from "../../src/query/exec/threads/read-threads.js";
import type { LongTasks } from "../../src/session/long-tasks.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import { directory } from "../storage/shards.js";
import { SIZES, Side } from "./segment-histories.js";
import { ThreadsHere } from "./threads-here.js";

export class Read {
  side!: Side;
  isOn = true;
  /** Instead of `threads`. */
  others: ReadThreads | null = null;
  threads: ThreadsHere;

  private constructor(
    readonly path: string,
    count: number,
  ) {
    this.threads = new ThreadsHere(count);
  }

  static async open(t: Test, count = 2, unitNanos = 500): Promise<Read> {
    const read = new Read(directory(t), count);
    const shard = await openShardOnDisk(read.path, { onDurable: (sequence) => read.side.partition.onDisk(sequence) });
    const tasks = {
      buildColumns,
      get readThreads() {
        return read.isOn ? (read.others ?? read.threads) : undefined;
      },
    } as unknown as LongTasks;
    const sizes = { ...SIZES, storedRowsMin: 16, fileRowsMin: 16, segmentRows: 16, unitNanos };
    read.side = await Side.open(t, new SegmentCache(1e9, sizes), shard, { tasks });
    await read.side.partition.keepColumns(read.path);
    t.teardown(() => read.side.partition.close());
    return read;
  }

  async run(sql: string, yields = false, params: readonly unknown[] = []): Promise<string> {
    const answer = await this.side.run(0, sql, yields, params);
    this.side.flush();
    return answer;
  }

  async alone(sql: string, params: readonly unknown[] = []): Promise<string> {
    this.isOn = false;
    try {
      return await this.run(sql, false, params);
    } finally {
      this.isOn = true;
    }
  }

  async makeColumns(): Promise<void> {
    this.side.flush();
    for (let i = 0; i < 3; i++) {
      this.side.partition.sweep(Date.now(), new Set());
      await this.side.partition.columns!.idle();
    }
  }

  files(): string[] {
    const columns = join(this.path, "columns");
    if (!existsSync(columns)) return [];
    return readdirSync(columns, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".columns"))
      .map((name) => join(columns, name));
  }
}
