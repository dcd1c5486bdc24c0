/**
 * Distributes rows of chunks over partitions, as partitions.ts does row by row: each partition's rows are collected in
 * columns, which go to disk in the form that column files have (segments/stored/column-page.ts) and come back as
 * chunks. Used by aggregation.
 */
import type { OutputColumn } from "../../plan/plan.js";
import type { ExecContext } from "../context.js";
import type { Operator, Pulled } from "../operator.js";
import { type Chunk, chunkOfColumns } from "../segments/chunk.js";
import { ColumnBuffer } from "../segments/column-buffer.js";
import { decodeColumn, encodeColumn, isStorable, type PageHead } from "../segments/stored/column-page.js";
import { PARTITIONS } from "./partitions.js";
import type { SpillArea, SpillFile } from "./spill-area.js";

/** Whether rows of these columns can be put on disk so. */
export function canSpillChunks(columns: readonly OutputColumn[]): boolean {
  return columns.every(({ type }) => isStorable(type));
}

/** Rows that were put on disk together. */
interface StoredChunk {
  readonly position: number;
  readonly rows: number;
  readonly columns: readonly { readonly head: PageHead; readonly length: number }[];
}

/**
 * Bytes that a partition collects, at least and at most: all partitions together a sixteenth of the statement's memory.
 */
const COLLECTED_MIN = 2 * 1024;
const COLLECTED_MAX = 64 * 1024;
const COLLECTED_SHARE = 1 / 16;
/** Of a stored chunk's entry, by column. */
const HEAD_BYTES = 160;

export class ChunkPartitions {
  private readonly file: SpillFile;
  private readonly collected: readonly ColumnBuffer[];
  private readonly stored: StoredChunk[][] = [];
  private readonly collectedMax: number;
  /** Rows that are being distributed: their partitions, their places by partition, and where each of those begins. */
  private partitions = new Uint8Array(0);
  private sorted = new Int32Array(0);
  private readonly starts = new Int32Array(PARTITIONS + 1);
  private headBytes = 0;

  constructor(
    area: SpillArea,
    private readonly columns: readonly OutputColumn[],
    private readonly context: ExecContext,
  ) {
    this.file = area.open(context.statement);
    const share = (context.statement.memoryBytesMax * COLLECTED_SHARE) / PARTITIONS;
    this.collectedMax = Math.min(COLLECTED_MAX, Math.max(COLLECTED_MIN, share));
    this.collected = Array.from({ length: PARTITIONS }, () => new ColumnBuffer(columns, context));
    for (let i = 0; i < PARTITIONS; i++) this.stored.push([]);
  }

  /** Takes the chunk's rows at these places. */
  add(chunk: Chunk, places: Int32Array, count: number, partitionOf: (place: number) => number): void {
    const { starts } = this;
    if (this.partitions.length < count) {
      this.partitions = new Uint8Array(count);
      this.sorted = new Int32Array(count);
    }
    const { partitions, sorted } = this;
    starts.fill(0);
    for (let i = 0; i < count; i++) {
      partitions[i] = partitionOf(places[i]!);
      starts[partitions[i]! + 1]!++;
    }
    for (let partition = 0; partition < PARTITIONS; partition++) starts[partition + 1]! += starts[partition]!;
    for (let i = 0; i < count; i++) sorted[starts[partitions[i]!]!++] = places[i]!;
    // Each start is the end of its partition now.
    for (let partition = 0, from = 0; partition < PARTITIONS; partition++) {
      const to = starts[partition]!;
      if (to > from) this.append(partition, chunk.pick(sorted.subarray(from, to), to - from));
      from = to;
    }
  }

  private append(partition: number, rows: Chunk): void {
    const buffer = this.collected[partition]!;
    buffer.append(rows);
    if (buffer.bytes >= this.collectedMax) this.store(partition);
  }

  /** The rows by partition, which are read once. Those of empty partitions are left out. */
  finish(): readonly ((context: ExecContext) => Operator)[] {
    for (let partition = 0; partition < PARTITIONS; partition++) this.store(partition);
    const { file, columns } = this;
    return this.stored
      .filter((chunks) => chunks.length > 0)
      .map((chunks) => (context) => new StoredChunkScan(file, columns, chunks, context));
  }

  close(): void {
    for (const buffer of this.collected) buffer.clear();
    this.context.statement.release(this.headBytes);
    this.headBytes = 0;
    this.file.close();
  }

  private store(partition: number): void {
    const buffer = this.collected[partition]!;
    const rows = buffer.length;
    if (rows === 0) return;
    const position = this.file.length;
    const columns = buffer.vectors().map((vector, slot) => {
      const { head, body } = encodeColumn(this.columns[slot]!.type, vector, rows);
      this.file.write(body);
      return { head, length: body.length };
    });
    buffer.restart();
    this.stored[partition]!.push({ position, rows, columns });
    this.headBytes += HEAD_BYTES * columns.length;
    this.context.statement.reserve(HEAD_BYTES * columns.length);
  }
}

class StoredChunkScan implements Operator {
  private position = 0;

  constructor(
    private readonly file: SpillFile,
    private readonly columns: readonly OutputColumn[],
    private readonly chunks: readonly StoredChunk[],
    private readonly context: ExecContext,
  ) {}

  /** It hands out nothing else, so it is only put below operators that take chunks. */
  acceptChunks(): void {}

  next(): Pulled {
    const { context } = this;
    if (context.shouldYield()) return context.yieldTurn().then(() => this.read());
    return this.read();
  }

  private read(): Chunk | null {
    this.context.checkpoint();
    const stored = this.chunks[this.position++];
    if (stored === undefined) return null;
    const bytes = new Uint8Array(stored.columns.reduce((sum, { length }) => sum + length, 0));
    for (let read = 0; read < bytes.length; ) {
      const more = this.file.read(bytes.subarray(read), stored.position + read);
      if (more === 0) throw new Error("a temporary file ends before its rows do");
      read += more;
    }
    let at = 0;
    const vectors = stored.columns.map(({ head, length }, slot) => {
      const body = bytes.subarray(at, at + length);
      at += length;
      return decodeColumn(this.columns[slot]!.type, head, body, stored.rows);
    });
    return chunkOfColumns(vectors, stored.rows);
  }

  close(): void {}
}
