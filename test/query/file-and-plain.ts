/**
 * A table g with column files, and the same without any: statements must leave the same rows and entries in both. For
 * tests of statements that change rows from columns.
 */
import { inspect } from "node:util";
import type { Test } from "tap";
import { storageOf } from "../../src/catalog/table.js";
import { SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import { buildColumns } from "../../src/query/exec/segments/stored/build-columns.js";
import { layoutOf, rowOfRecord } from "../../src/query/exec/table-layout.js";
import type { LongTasks } from "../../src/session/long-tasks.js";
import { indexPrefix, prefixRange } from "../../src/storage/keys.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import { applyBacklog } from "../storage/apply-backlog.js";
import { directory } from "../storage/shards.js";
import { SIZES, Side } from "./segment-histories.js";

const TENANT = 7;
/** So few that the engine takes them in this thread. */
export const ROWS = 2200;

export async function open(t: Test, hasFiles: boolean): Promise<Side> {
  const path = directory(t);
  const shard = await openShardOnDisk(path, { onDurable: (sequence) => side.partition.onDisk(sequence) });
  const sizes = { ...SIZES, segmentRows: 600, changesMax: 10_000, storedRowsMin: 16, fileRowsMin: 16 };
  const tasks = { buildColumns } as unknown as LongTasks;
  const side = await Side.open(t, new SegmentCache(hasFiles ? 1e9 : 0, sizes), shard, { tasks });
  if (hasFiles) await side.partition.keepColumns(path);
  t.teardown(() => side.partition.close());
  return side;
}

export async function run(t: Test, side: Side, sql: string): Promise<void> {
  const answer = await side.run(0, sql, true);
  side.flush();
  // The engine has all of it before anybody goes on.
  await applyBacklog(side.partition.shard);
  t.notMatch(answer, /error/, `${sql}: ${answer}`);
}

export async function makeColumns({ partition }: Side): Promise<void> {
  for (let i = 0; i < 3; i++) {
    partition.sweep(Date.now(), new Set());
    await partition.columns!.idle();
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** The table's rows, as values, and entries, each with its key. One value may have several forms in records. */
export function contentOf({ partition }: Side): Record<string, string[]> {
  const tx = partition.shard.begin({ readOnly: true });
  const table = partition
    .tenant(TENANT)
    .catalog.view(tx)
    .tables()
    .find(({ name }) => name === "g")!;
  const layout = layoutOf(table);
  const of = (prefix: Uint8Array, text: (value: Uint8Array) => string): string[] => {
    const cursor = tx.scan(prefixRange(prefix));
    const { keys, values } = cursor.next(10 * ROWS);
    cursor.close();
    return keys.map((key, i) => `${hex(key)} ${text(values[i]!)}`);
  };
  const all: Record<string, string[]> = {
    rows: of(layout.rowPrefixOf(TENANT), (record) => inspect(rowOfRecord(layout, record), { depth: null })),
  };
  for (const { id, name } of table.indexes) all[name] = of(indexPrefix(TENANT, storageOf(table), id), hex);
  tx.rollback();
  return all;
}
