/** Writes parts of a stream of Arrow's IPC format. Runs in task threads: the package takes a while to load. */
import {
  Binary,
  Bool,
  type Data,
  type DataType,
  DateDay,
  Decimal,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  List,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimeMicrosecond,
  TimestampMicrosecond,
  Uint32,
  Utf8,
} from "apache-arrow";
import type { ArrowJob, ColumnarData, ColumnarField, ColumnarType } from "./contract.js";
import { joinBatches } from "./join-batches.js";

/** The canonical name of a column of JSON text. */
const JSON_EXTENSION = new Map([["ARROW:extension:name", "arrow.json"]]);

/** A part: the head with the schema, or a record batch. */
export function arrowPart({ fields, batches }: ArrowJob): Uint8Array {
  const schema = new Schema(fields.map(fieldOf));
  const writer = new RecordBatchStreamWriter();
  writer.reset(undefined, schema);
  const head = writer.toUint8Array(true);
  if (batches === null) return head.slice();
  const batch = joinBatches(batches);
  const children = schema.fields.map((field, c) => dataOf(field.type, fields[c]!.type, batch.columns[c]!));
  const data = makeData({ type: new Struct(schema.fields), length: batch.rows, nullCount: 0, children });
  writer.write(new RecordBatch(schema, data));
  return writer.toUint8Array(true).slice(head.length);
}

function fieldOf({ name, type }: ColumnarField): Field {
  return new Field(name, arrowType(type), true, type.kind === "json" ? JSON_EXTENSION : undefined);
}

function arrowType({ kind, precision, scale, size, children }: ColumnarType): DataType {
  switch (kind) {
    case "bool":
      return new Bool();
    case "int16":
      return new Int16();
    case "int32":
      return new Int32();
    case "uint32":
      return new Uint32();
    case "int64":
      return new Int64();
    case "float32":
      return new Float32();
    case "float64":
      return new Float64();
    case "decimal":
      return new Decimal(scale!, precision!, 128);
    case "date":
      return new DateDay();
    case "time":
      return new TimeMicrosecond();
    case "timestamp":
      return new TimestampMicrosecond();
    case "timestamptz":
      return new TimestampMicrosecond("UTC");
    case "text":
    case "json":
      return new Utf8();
    case "binary":
      return new Binary();
    case "list":
      return new List(fieldOf(children![0]!));
    case "fixedList":
      return new FixedSizeList(size!, fieldOf(children![0]!));
    case "struct":
      return new Struct(children!.map(fieldOf));
  }
}

function dataOf(type: DataType, { kind, children: fields }: ColumnarType, column: ColumnarData): Data {
  const { rows, nulls, offsets } = column;
  const children = column.children?.map((child, i) =>
    dataOf((type.children as Field[])[i]!.type, fields![i]!.type, child),
  );
  const parts = {
    type,
    length: rows,
    nullCount: nulls === null ? 0 : nulls.reduce((sum, isNull) => sum + isNull, 0),
    ...(nulls !== null && { nullBitmap: bitmap(nulls, 0) }),
    ...(offsets !== undefined && { valueOffsets: offsets }),
    ...(column.data !== undefined && { data: valuesOf(kind, column.data) }),
    ...(children !== undefined && (kind === "struct" ? { children } : { child: children[0] })),
  };
  // biome-ignore lint/suspicious/noExplicitAny: the package has a type of these parts for each type of data
  return makeData(parts as any);
}

function valuesOf(kind: ColumnarType["kind"], data: NonNullable<ColumnarData["data"]>): ArrayBufferView {
  switch (kind) {
    case "bool":
      return bitmap(data as Uint8Array, 1);
    case "int64":
    case "time":
    case "timestamp":
    case "timestamptz":
      return new BigInt64Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength / 8);
    case "decimal":
      return new Uint32Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength / 4);
    default:
      return data;
  }
}

/** A bit for each byte, 1 where it has the value. */
function bitmap(bytes: Uint8Array, value: number): Uint8Array {
  const bits = new Uint8Array(((bytes.length + 63) >> 6) << 3);
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === value) bits[i >> 3]! |= 1 << (i & 7);
  return bits;
}
