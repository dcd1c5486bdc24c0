/** Writes a Parquet file part by part: row groups, then the end, which lists them. Runs in task threads. */
import type { FileMetaData, RowGroup, SchemaElement } from "hyparquet";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { ColumnarData, ColumnarField, ColumnarType, ParquetJob, ParquetPart } from "./contract.js";
import { joinBatches } from "./join-batches.js";

/** Bytes at the beginning of a file that say what it is. */
const MAGIC_BYTES = 4;

export function parquetPart({ fields, offset, batches, groups }: ParquetJob): ParquetPart {
  const writer = new ByteWriter(64 * 1024);
  const schema: SchemaElement[] = [
    { name: "root", num_children: fields.length, repetition_type: "REQUIRED" },
    ...fields.flatMap(elementsOf),
  ];
  const file = new ParquetWriter({ writer, schema, createdBy: "tessera" });
  // It has written the file's beginning. What follows is placed behind what the file has already.
  writer.offset = Math.max(offset, MAGIC_BYTES);
  if (batches === null) {
    file.row_groups = groups as RowGroup[];
    file.num_rows = file.row_groups.reduce((sum, { num_rows }) => sum + num_rows, 0n);
    file.finish();
  } else {
    const { columns } = joinBatches(batches);
    const columnData = fields.map(({ name, type }, c) => ({
      name,
      data: valuesOf(type, columns[c]!),
      offsetIndex: false,
    }));
    void file.write({ columnData, rowGroupSize: Number.MAX_SAFE_INTEGER });
  }
  const bytes = writer.getBytes().slice(offset === 0 ? 0 : MAGIC_BYTES);
  return { bytes, group: batches === null ? null : (file.row_groups[0] as FileMetaData["row_groups"][number]) };
}

function elementsOf(field: ColumnarField): SchemaElement[] {
  const { name, type } = field;
  const repetition_type = "OPTIONAL" as const;
  switch (type.kind) {
    case "list":
    case "fixedList":
      return [
        { name, repetition_type, num_children: 1, converted_type: "LIST", logical_type: { type: "LIST" } },
        { name: "list", repetition_type: "REPEATED", num_children: 1 },
        ...elementsOf({ name: "element", type: type.children![0]!.type }),
      ];
    case "struct":
      return [{ name, repetition_type, num_children: type.children!.length }, ...type.children!.flatMap(elementsOf)];
    default:
      return [{ name, repetition_type, ...leafOf(type) }];
  }
}

function leafOf({ kind, precision, scale }: ColumnarType): Omit<SchemaElement, "name"> {
  switch (kind) {
    case "bool":
      return { type: "BOOLEAN" };
    case "int16":
      return {
        type: "INT32",
        converted_type: "INT_16",
        logical_type: { type: "INTEGER", bitWidth: 16, isSigned: true },
      };
    case "int32":
      return { type: "INT32" };
    case "uint32":
    case "int64":
      return { type: "INT64" };
    case "float32":
      return { type: "FLOAT" };
    case "float64":
      return { type: "DOUBLE" };
    case "decimal": {
      const decimal = { converted_type: "DECIMAL", precision: precision!, scale: scale! } as const;
      return { type: "FIXED_LEN_BYTE_ARRAY", type_length: 16, ...decimal };
    }
    case "date":
      return { type: "INT32", converted_type: "DATE" };
    case "time":
      return { type: "INT64", logical_type: { type: "TIME", isAdjustedToUTC: false, unit: "MICROS" } };
    case "timestamp":
    case "timestamptz": {
      const isAdjustedToUTC = kind === "timestamptz";
      return { type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC, unit: "MICROS" } };
    }
    case "json":
      return { type: "BYTE_ARRAY", logical_type: { type: "JSON" } };
    case "binary":
      return { type: "BYTE_ARRAY" };
    default:
      return { type: "BYTE_ARRAY", converted_type: "UTF8" };
  }
}

/** As the package takes them. */
function valuesOf(type: ColumnarType, column: ColumnarData): unknown[] {
  const read = readerOf(type, column);
  const { rows, nulls } = column;
  return Array.from({ length: rows }, (_, r) => (nulls !== null && nulls[r] === 1 ? null : read(r)));
}

type Reader = (row: number) => unknown;

function readerOf(type: ColumnarType, column: ColumnarData): Reader {
  const { data, offsets } = column;
  switch (type.kind) {
    case "bool":
      return (r) => data![r] === 1;
    case "uint32":
      return (r) => BigInt(data![r]!);
    case "int64":
    case "time":
    case "timestamp":
    case "timestamptz": {
      const view = viewOf(data!);
      return (r) => view.getBigInt64(8 * r, true);
    }
    case "decimal": {
      const view = viewOf(data!);
      return (r) => (view.getBigInt64(16 * r + 8, true) << 64n) | view.getBigUint64(16 * r, true);
    }
    case "text": {
      const bytes = Buffer.from(data!.buffer as ArrayBuffer, data!.byteOffset, data!.byteLength);
      return (r) => bytes.toString("utf8", offsets![r], offsets![r + 1]);
    }
    case "json":
    case "binary":
      return (r) => (data as Uint8Array).subarray(offsets![r], offsets![r + 1]);
    case "list":
    case "fixedList": {
      const elements = valuesOf(type.children![0]!.type, column.children![0]!);
      const size = type.size ?? 0;
      if (type.kind === "fixedList") return (r) => elements.slice(r * size, (r + 1) * size);
      return (r) => elements.slice(offsets![r], offsets![r + 1]);
    }
    case "struct": {
      const fields = type.children!.map(
        (field, i) => [field.name, valuesOf(field.type, column.children![i]!)] as const,
      );
      return (r) => Object.fromEntries(fields.map(([name, values]) => [name, values[r]]));
    }
    default:
      return (r) => data![r];
  }
}

function viewOf({ buffer, byteOffset, byteLength }: ArrayBufferView): DataView {
  return new DataView(buffer as ArrayBuffer, byteOffset, byteLength);
}
