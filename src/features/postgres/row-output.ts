/**
 * Rows as DataRow messages, written where the session writes all its messages. Rows of a query leave when there are
 * many; all others stay until the statement has ended. One per statement.
 */
import { RESULT_BYTES_MAX } from "../../protocol/limits.js";
import { BACK } from "../../protocol/postgres/message-types.js";
import type { MessageWriter } from "../../protocol/postgres/message-writer.js";
import { resultTooLarge } from "../../protocol/size-errors.js";
import { Chunk } from "../../query/exec/segments/chunk.js";
import type { Batch } from "../../query/expr/expr.js";
import { pgOidOf } from "../../query/expr/types.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import { requireSame } from "../../session/same-columns.js";
import type { ResultShape, RowCollector, Rows } from "../../session/sql-result.js";
import { typmodOf } from "../../sql/bind/system/relation-facts.js";
import type { SqlType } from "../../values/values.js";
import { binaryWriter } from "./binary-values.js";
import { type FieldWriter, fieldsOf, sizedField, type WriteField } from "./column-fields.js";
import { type TextSettings, textWriter } from "./text-values.js";

/** From so many bytes on rows leave. */
const PIECE_BYTES = 64 * 1024;

/** 0: text, 1: binary. None: all text; one: for all columns; else one for each. */
export type Formats = readonly number[];

export function formatOf(formats: Formats, column: number): number {
  return formats.length === 0 ? 0 : formats.length === 1 ? formats[0]! : (formats[column] ?? 0);
}

export interface RowOutputOptions {
  readonly writer: MessageWriter;
  readonly formats: Formats;
  readonly settings: TextSettings;
  /** The client has not been told the columns. */
  readonly describes: boolean;
  /** The columns that it was told of, when the statement was prepared; null: none. */
  readonly told: ResultShape | null;
  /** Sends what was written. */
  flush(): Promise<void>;
}

export class RowOutput {
  rows = 0;
  /** Where the statement's messages begin. */
  private readonly start: number;
  private hasSent = false;

  constructor(private readonly options: RowOutputOptions) {
    this.start = options.writer.position;
  }

  readonly collector: RowCollector = (shape, streamable = false): Rows => {
    const { writer, formats, settings, describes, told } = this.options;
    if (told !== null && told !== shape) requireSame(told.outputs, shape.outputs);
    if (!this.hasSent) writer.cut(this.start);
    this.rows = 0;
    if (describes) writeRowDescription(writer, shape.outputs, formats);
    const writers = valueWriters(shape, formats, settings);
    const { outputs, heavy } = shape;
    return {
      takesChunks: true,
      weight: { outputs, heavy, writesJson: false },
      append: (batch, count) => {
        writeRows(writer, writers, batch, count);
        this.rows += count;
        if (writer.length > RESULT_BYTES_MAX) throw resultTooLarge();
        return 0;
      },
      room: () => (streamable && writer.length >= PIECE_BYTES ? this.send() : undefined),
    };
  };

  /** The statement has no rows: what was written for it is the text of a command, or a count. */
  discard(): void {
    this.options.writer.cut(this.start);
  }

  private async send(): Promise<void> {
    this.hasSent = true;
    await this.options.flush();
  }
}

export function valueWriters(
  { outputs }: ResultShape,
  formats: Formats,
  settings: TextSettings,
): readonly FieldWriter[] {
  return outputs.map(({ type }, c) => {
    const isBinary = formatOf(formats, c) === 1;
    const value = isBinary ? binaryWriter(type) : textWriter(type, settings);
    return sizedField(type, value, isBinary);
  });
}

export function writeRows(writer: MessageWriter, writers: readonly FieldWriter[], batch: Batch, count: number): void {
  if (batch instanceof Chunk) writeChunk(writer, fieldsOf(batch, writers, writer), count);
  else writeBatch(writer, writers, batch, count);
}

function writeChunk(writer: MessageWriter, fields: readonly WriteField[], count: number): void {
  const { length } = fields;
  for (let r = 0; r < count; r++) {
    writer.begin(BACK.dataRow);
    writer.int16(length);
    for (let c = 0; c < length; c++) if (!fields[c]!(r)) writer.int32(-1);
    writer.end();
  }
}

/** Most batches are a row or two: nothing is prepared for them. */
function writeBatch(writer: MessageWriter, writers: readonly FieldWriter[], { columns }: Batch, count: number): void {
  const { length } = writers;
  for (let r = 0; r < count; r++) {
    writer.begin(BACK.dataRow);
    writer.int16(length);
    for (let c = 0; c < length; c++) {
      const value = columns[c]![r]!;
      if (value === null) writer.int32(-1);
      else writers[c]!.value(writer, value);
    }
    writer.end();
  }
}

export function writeRowDescription(writer: MessageWriter, outputs: readonly OutputColumn[], formats: Formats): void {
  writer.begin(BACK.rowDescription);
  writer.int16(outputs.length);
  for (const [c, { name, type, origin }] of outputs.entries()) {
    const sent = sentType(type);
    writer.cstring(name);
    writer.uint32(origin?.table ?? 0);
    writer.int16(origin?.column ?? 0);
    writer.uint32(pgOidOf(sent));
    writer.int16(storedSize(sent));
    writer.int32(typmodOf(sent));
    writer.int16(formatOf(formats, c));
  }
  writer.end();
}

/** Of a domain the type below it. */
function sentType(type: SqlType): SqlType {
  return type.user?.base == null ? type : sentType(type.user.base);
}

const SIZES: Partial<Record<SqlType["name"], number>> = {
  bool: 1,
  int2: 2,
  int4: 4,
  int8: 8,
  oid: 4,
  float4: 4,
  float8: 8,
  date: 4,
  time: 8,
  timetz: 12,
  timestamp: 8,
  timestamptz: 8,
  interval: 16,
  uuid: 16,
  name: 64,
  char: 1,
  enum: 4,
  macaddr: 6,
  macaddr8: 8,
  xid8: 8,
  pg_lsn: 8,
  point: 16,
  lseg: 32,
  box: 32,
  line: 24,
  circle: 24,
  void: 4,
};

/** pg_type.typlen: -1 where it varies, -2 for a text that ends in a zero byte. */
function storedSize({ name }: SqlType): number {
  return name === "unknown" ? -2 : (SIZES[name] ?? -1);
}
