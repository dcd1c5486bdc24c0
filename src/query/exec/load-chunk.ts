/**
 * Adds rows of a chunk to a load: their records go from the chunk's columns into the load's memory without anything in
 * between. Called by bulk-writer.ts. `records` has measured so many rows.
 */
import type { Load } from "../../storage/load.js";
import type { LoadRun } from "../../storage/load-run.js";
import type { ChunkRecords } from "./chunk-records.js";
import type { Chunk } from "./segments/chunk.js";

/** `beginKey` begins the key of a row of the group in the key writer. */
export function loadKeyed(
  load: Load,
  rows: LoadRun,
  chunk: Chunk,
  records: ChunkRecords,
  count: number,
  beginKey: (number: number) => void,
): void {
  const { sizes, places } = records;
  let begun = 0;
  for (let i = 0; i < count; i++) {
    beginKey(i);
    const size = sizes[i]!;
    if (!load.addBuiltRoom(rows, size)) {
      if (i > begun) records.write(chunk, begun, i, rows.slab!);
      begun = i;
      rows.nextSlab(size);
      load.addBuiltRoom(rows, size);
    }
    places[i] = rows.valueStart(rows.size - 1);
  }
  records.write(chunk, begun, count, rows.slab!);
}

/** Of a table without a primary key: the rows have these numbers. */
export function loadNumbered(
  load: Load,
  rows: LoadRun,
  chunk: Chunk,
  records: ChunkRecords,
  count: number,
  firstNumber: number,
): void {
  for (let begun = 0; begun < count; ) {
    const end = load.addNumbered(rows, firstNumber + begun, records, begun, count);
    records.write(chunk, begun, end, rows.slab!);
    begun = end;
  }
}
