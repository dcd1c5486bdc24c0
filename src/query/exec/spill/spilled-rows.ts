/**
 * Rows in a spill file, in the format of stored records, each after its length. A writer appends rows of some columns
 * to one run (a part of the file); a reader gives the rows of a run back as batches, in order. Used by sort, hash join,
 * aggregation and shared rows when their memory ends.
 */

import { encodeRecord, type RecordDecoder, recordDecoder } from "../../../storage/record-codec.js";
import type { SqlType, Value } from "../../../values/values.js";
import type { Batch } from "../../expr/expr.js";
import type { ExecContext, StatementState } from "../context.js";
import type { Operator, Pulled } from "../operator.js";
import { emptyColumns } from "../row-buffer.js";
import type { SpillFile } from "./spill-area.js";

/** Bytes of a writer's buffer, and of a reader's: what one run costs while it is open. */
export const RUN_BUFFER_BYTES = 8 * 1024;

/** Types that a stored record cannot hold, so that rows with them stay in memory. */
const UNSTORABLE = new Set(["record", "void"]);

export function canSpill(types: readonly SqlType[]): boolean {
  return types.every((type) => !UNSTORABLE.has((type.element ?? type).name));
}

/** A part of a file with rows of these types. */
export interface Run {
  readonly file: SpillFile;
  readonly types: readonly SqlType[];
  readonly start: number;
  readonly end: number;
  readonly rows: number;
}

export class RunWriter {
  rows = 0;
  private readonly buffer = Buffer.allocUnsafe(RUN_BUFFER_BYTES);
  private used = 0;
  private readonly start: number;
  private readonly values: Value[];

  /** Runs of one file are written one after the other. The buffer is counted until `finish`. */
  constructor(
    private readonly file: SpillFile,
    private readonly types: readonly SqlType[],
    private readonly statement: StatementState,
  ) {
    this.start = file.length;
    this.values = new Array<Value>(types.length);
    statement.reserve(RUN_BUFFER_BYTES);
  }

  add(columns: readonly ArrayLike<Value>[], row: number): void {
    const { values, types } = this;
    for (let c = 0; c < values.length; c++) values[c] = columns[c]![row]!;
    const record = encodeRecord(types, values);
    if (this.used + 4 + record.length > RUN_BUFFER_BYTES) this.flush();
    if (4 + record.length > RUN_BUFFER_BYTES) {
      const length = Buffer.allocUnsafe(4);
      length.writeUInt32LE(record.length);
      this.file.write(length);
      this.file.write(record);
    } else {
      this.buffer.writeUInt32LE(record.length, this.used);
      this.buffer.set(record, this.used + 4);
      this.used += 4 + record.length;
    }
    this.rows++;
  }

  finish(): Run {
    this.flush();
    this.statement.release(RUN_BUFFER_BYTES);
    return { file: this.file, types: this.types, start: this.start, end: this.file.length, rows: this.rows };
  }

  private flush(): void {
    if (this.used > 0) this.file.write(this.buffer.subarray(0, this.used));
    this.used = 0;
  }
}

/** Reads a run row by row into `columns`. The buffer is counted until `close`. */
export class RunReader {
  private readonly decode: RecordDecoder;
  private buffer = Buffer.allocUnsafe(RUN_BUFFER_BYTES);
  private filled = 0;
  private used = 0;
  private position: number;
  private left: number;
  private isOpen = true;

  constructor(
    private readonly run: Run,
    private readonly statement: StatementState,
  ) {
    const ids = run.types.map((_, id) => id);
    this.decode = recordDecoder(
      run.types,
      ids,
      ids.map(() => null),
    );
    this.position = run.start;
    this.left = run.rows;
    statement.reserve(RUN_BUFFER_BYTES);
  }

  /** Puts the next row into `out[…][row]`; false at the end. */
  next(out: readonly Value[][], row: number): boolean {
    if (this.left === 0) return false;
    this.left--;
    this.need(4);
    const length = this.buffer.readUInt32LE(this.used);
    this.used += 4;
    this.need(length);
    this.decode(this.buffer.subarray(this.used, this.used + length), out, row);
    this.used += length;
    return true;
  }

  /** Passes over rows without decoding them; there must be so many. */
  skip(rows: number): void {
    for (let row = 0; row < rows; row++) {
      this.need(4);
      const length = this.buffer.readUInt32LE(this.used);
      this.used += 4;
      this.need(length);
      this.used += length;
    }
    this.left -= rows;
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.statement.release(RUN_BUFFER_BYTES);
  }

  /** Has so many bytes in the buffer after `used`. */
  private need(bytes: number): void {
    if (this.filled - this.used >= bytes) return;
    this.buffer.copyWithin(0, this.used, this.filled);
    this.filled -= this.used;
    this.used = 0;
    if (bytes > this.buffer.length) {
      const grown = Buffer.allocUnsafe(bytes);
      grown.set(this.buffer.subarray(0, this.filled));
      this.buffer = grown;
    }
    const wanted = Math.min(this.buffer.length - this.filled, this.run.end - this.position);
    const read = this.run.file.read(this.buffer.subarray(this.filled, this.filled + wanted), this.position);
    this.position += read;
    this.filled += read;
  }
}

/** The rows of a run, as an operator. */
export class RunScan implements Operator {
  private readonly reader: RunReader;
  private readonly columns: Value[][];

  constructor(
    run: Run,
    private readonly context: ExecContext,
  ) {
    this.reader = new RunReader(run, context.statement);
    this.columns = emptyColumns(run.types.length);
  }

  next(): Pulled {
    const { context } = this;
    if (context.shouldYield()) return context.yieldTurn().then(() => this.read());
    return this.read();
  }

  private read(): Batch | null {
    this.context.checkpoint();
    let length = 0;
    while (length < this.context.batchRows && this.reader.next(this.columns, length)) length++;
    return length === 0 ? null : { columns: this.columns, length };
  }

  close(): void {
    this.reader.close();
  }
}
