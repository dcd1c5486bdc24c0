/**
 * Rows that are sent as they come, in a form that has them by columns: a stream of Arrow's IPC format, or a Parquet
 * file. The actor collects columns; task threads encode them. Back-pressure, errors and statements that change data are
 * as in row-stream.ts. One per streamed answer.
 */
import type { ReplySink } from "../../actor/reply-sink.js";
import type { Request } from "../../actor/request.js";
import type {
  ColumnarBatch,
  ColumnarData,
  ColumnarField,
  ColumnarTasks,
  ParquetGroup,
} from "../../ingest/columnar/contract.js";
import { DbError } from "../../protocol/errors.js";
import { RESULT_BYTES_MAX } from "../../protocol/limits.js";
import { resultTooLarge } from "../../protocol/size-errors.js";
import type { Batch } from "../../query/expr/expr.js";
import type { ResultShape, RowCollector, Rows } from "../../session/sql-result.js";
import { columnarWriter } from "./columnar-values.js";

export const ARROW_STREAM = "application/vnd.apache.arrow.stream";
export const PARQUET_FILE = "application/vnd.apache.parquet";

/** Turns batches of rows into bytes of the file. */
interface ColumnFormat {
  readonly contentType: string;
  /** Bytes of columns that go to a task thread together. */
  readonly bytesAtOnce: number;
  head(fields: readonly ColumnarField[]): Promise<Uint8Array> | null;
  batches(batches: readonly ColumnarBatch[]): Promise<Uint8Array>;
  tail(): Promise<Uint8Array>;
}

/** Ends a stream of Arrow's IPC format. */
const ARROW_END = Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0);

class ArrowFormat implements ColumnFormat {
  readonly contentType = ARROW_STREAM;
  readonly bytesAtOnce = 256 * 1024;
  private fields: readonly ColumnarField[] = [];

  constructor(private readonly tasks: ColumnarTasks) {}

  head(fields: readonly ColumnarField[]): Promise<Uint8Array> {
    this.fields = fields;
    return this.tasks.arrow({ fields, batches: null });
  }

  batches(batches: readonly ColumnarBatch[]): Promise<Uint8Array> {
    return this.tasks.arrow({ fields: this.fields, batches });
  }

  async tail(): Promise<Uint8Array> {
    return ARROW_END;
  }
}

/** Bytes of columns that make a row group. */
const ROW_GROUP_BYTES = 8 * 1024 * 1024;

class ParquetFormat implements ColumnFormat {
  readonly contentType = PARQUET_FILE;
  readonly bytesAtOnce = ROW_GROUP_BYTES;
  private fields: readonly ColumnarField[] = [];
  private offset = 0;
  private readonly groups: ParquetGroup[] = [];

  constructor(private readonly tasks: ColumnarTasks) {}

  head(fields: readonly ColumnarField[]): null {
    this.fields = fields;
    return null;
  }

  async batches(batches: readonly ColumnarBatch[]): Promise<Uint8Array> {
    const { fields, offset } = this;
    const { bytes, group } = await this.tasks.parquet({ fields, offset, batches, groups: [] });
    this.groups.push(group!);
    this.offset += bytes.length;
    return bytes;
  }

  async tail(): Promise<Uint8Array> {
    const { fields, offset, groups } = this;
    return (await this.tasks.parquet({ fields, offset, batches: null, groups })).bytes;
  }
}

/** Rows written between two looks at the size. */
const ROWS_AT_ONCE = 512;
const PIECE_BYTES = 64 * 1024;

export class ColumnStream {
  private readonly format: ColumnFormat;
  private sink: ReplySink | null = null;
  private fields: readonly ColumnarField[] | null = null;
  private batches: ColumnarBatch[] = [];
  private bytes = 0;
  private streamable = false;
  rowCount = 0;

  /** Throws not_supported where there are no task threads. */
  constructor(
    private readonly request: Request,
    format: "arrow" | "parquet",
    private readonly headers: readonly string[] = [],
  ) {
    const tasks = request.partition.tasks?.columnar;
    if (tasks === undefined) throw new DbError("not_supported", `This process has no threads for ${format}.`);
    this.format = format === "arrow" ? new ArrowFormat(tasks) : new ParquetFormat(tasks);
  }

  readonly collector: RowCollector = (shape, streamable = false): Rows => {
    this.streamable = streamable;
    this.batches = [];
    this.bytes = 0;
    this.rowCount = 0;
    const writers = shape.outputs.map(({ name, type }) => columnarWriter(type, name));
    this.fields = shape.outputs.map(({ name }, c) => ({ name, type: writers[c]!.type }));
    return {
      weight: { outputs: shape.outputs, heavy: shape.heavy, writesJson: false },
      append: (batch, count) => this.append(shape, writers, batch, count),
      room: () => (this.streamable && this.bytes >= this.format.bytesAtOnce ? this.flush() : undefined),
    };
  };

  /** Sends what is left and ends the reply. */
  async finish(_summary: object): Promise<void> {
    if (this.fields!.length === 0) {
      throw new DbError("invalid_request", "The statement has no rows to send in this format.", {
        hint: "Send it with Accept: application/json.",
      });
    }
    await this.flush();
    (await this.opened()).end(await this.format.tail());
  }

  close(): void {}

  private append(
    { outputs }: ResultShape,
    writers: readonly ReturnType<typeof columnarWriter>[],
    batch: Batch,
    count: number,
  ): number {
    for (let from = 0; from < count; from += ROWS_AT_ONCE) {
      const to = Math.min(count, from + ROWS_AT_ONCE);
      const columns = outputs.map((_output, c) => writers[c]!.write(batch.columns[c]!, from, to));
      this.batches.push({ rows: to - from, columns });
      this.bytes += columns.reduce((sum, column) => sum + sizeOf(column), 0);
    }
    this.rowCount += count;
    if (this.bytes > RESULT_BYTES_MAX) throw resultTooLarge();
    return 0;
  }

  private async opened(): Promise<ReplySink> {
    if (this.sink !== null) return this.sink;
    const head = this.format.head(this.fields!);
    const bytes = head === null ? null : await head;
    this.sink = await this.request.openReply(this.format.contentType, this.headers);
    if (bytes !== null) await this.sink.write(bytes);
    return this.sink;
  }

  private async flush(): Promise<void> {
    const { batches, request } = this;
    this.batches = [];
    this.bytes = 0;
    const sink = await this.opened();
    if (batches.length > 0) {
      for (const bytes of pieces(await this.format.batches(batches))) {
        request.checkpoint();
        await sink.write(bytes);
      }
    }
    // Threads and the client were waited for; the work goes on in a turn of the tenant's.
    await request.yieldTurn();
  }
}

function* pieces(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

function sizeOf({ nulls, data, offsets, children = [] }: ColumnarData): number {
  const own = (nulls?.length ?? 0) + (data?.byteLength ?? 0) + (offsets?.byteLength ?? 0);
  return children.reduce((sum, child) => sum + sizeOf(child), own);
}
