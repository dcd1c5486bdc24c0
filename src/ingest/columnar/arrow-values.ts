/** Columns of Arrow as SQL has them: the type, and JSON text of the values. Used by read-arrow.ts in task threads. */
import {
  type Data,
  type DataType,
  type Decimal,
  type Dictionary,
  type Duration,
  type Field,
  type FixedSizeBinary,
  type FixedSizeList,
  type Float,
  type Int,
  makeVector,
  Precision,
  type Time,
  type Timestamp,
  TimeUnit,
  Type,
} from "apache-arrow";
import { DbError } from "../../protocol/errors.js";
import { VECTOR_DIMENSIONS_MAX } from "../../protocol/limits.js";
import * as json from "./json-values.js";

export interface ArrowColumn {
  /** Of SQL. */
  readonly type: string;
  /** The writer of a batch's rows. */
  read(data: Data): (row: number) => string;
}

const EXTENSION = "ARROW:extension:name";

/** Throws `invalid_request` for types that have no counterpart. */
export function arrowColumn(field: Field): ArrowColumn {
  const { type: sql, valueOf: writerOf } = columnOf(field);
  return {
    type: sql,
    read(data) {
      const value = writerOf(data);
      return (row) => (data.getValid(row) ? value(row) : "null");
    },
  };
}

interface Column {
  readonly type: string;
  valueOf(data: Data): (row: number) => string;
}

const PER_SECOND: Readonly<Record<number, number>> = {
  [TimeUnit.SECOND]: 1,
  [TimeUnit.MILLISECOND]: 1e3,
  [TimeUnit.MICROSECOND]: 1e6,
  [TimeUnit.NANOSECOND]: 1e9,
};

function columnOf(field: Field): Column {
  const { type } = field;
  const numbers = (sql: string, write: (value: never) => string): Column => ({
    type: sql,
    valueOf:
      ({ values }) =>
      (row) =>
        write(values[row] as never),
  });
  switch (type.typeId) {
    case Type.Null:
      return { type: "text", valueOf: () => () => "null" };
    case Type.Bool:
      return {
        type: "boolean",
        valueOf:
          ({ values }) =>
          (row) =>
            String(((values[row >> 3] >> (row & 7)) & 1) === 1),
      };
    case Type.Int:
      return numbers(integerType(type as Int), json.jsonInteger);
    case Type.Float:
      return floatOf(type as Float);
    case Type.Decimal:
      return decimalOf(type as Decimal);
    case Type.Date:
      // In days or, as 64 bits, in milliseconds.
      return numbers("date", (value: number | bigint) =>
        json.jsonDate(typeof value === "bigint" ? Math.floor(Number(value) / 86_400_000) : value),
      );
    case Type.Time:
      return numbers("time", (value: number | bigint) => json.jsonTime(value, PER_SECOND[(type as Time).unit]!));
    case Type.Timestamp: {
      const { unit, timezone } = type as Timestamp;
      const isZoned = Boolean(timezone);
      return numbers(isZoned ? "timestamptz" : "timestamp", (value: bigint) =>
        json.jsonTimestamp(value, PER_SECOND[unit]!, isZoned),
      );
    }
    case Type.Duration:
      return numbers("interval", (value: bigint) => `"${Number(value) / PER_SECOND[(type as Duration).unit]!} secs"`);
    default:
      return otherOf(field);
  }
}

function integerType({ bitWidth, isSigned }: Int): string {
  const bits = isSigned ? bitWidth : bitWidth + 1;
  if (bits <= 16) return "smallint";
  if (bits <= 32) return "integer";
  return bits <= 64 ? "bigint" : "numeric(20,0)";
}

function floatOf({ precision }: Float): Column {
  const sql = precision === Precision.DOUBLE ? "double precision" : "real";
  if (precision !== Precision.HALF) {
    return {
      type: sql,
      valueOf:
        ({ values }) =>
        (row) =>
          json.jsonFloat(values[row]),
    };
  }
  return {
    type: sql,
    valueOf: (data) => {
      const vector = makeVector(data);
      return (row) => json.jsonFloat(vector.get(row));
    },
  };
}

function decimalOf({ precision, scale, bitWidth }: Decimal): Column {
  const words = bitWidth / 32;
  return {
    type: `numeric(${precision},${scale})`,
    valueOf:
      ({ values }) =>
      (row) => {
        let unscaled = 0n;
        for (let word = words - 1; word >= 0; word--) unscaled = (unscaled << 32n) | BigInt(values[row * words + word]);
        return json.jsonDecimal(BigInt.asIntN(bitWidth, unscaled), scale);
      },
  };
}

function otherOf(field: Field): Column {
  const { type, metadata } = field;
  const extension = metadata.get(EXTENSION);
  switch (type.typeId) {
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View: {
      const isJson = extension === "arrow.json";
      return values(isJson ? "jsonb" : "text", isJson ? json.jsonDocument : (text: string) => JSON.stringify(text));
    }
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
      return values("bytea", json.jsonBytes);
    case Type.FixedSizeBinary: {
      const isUuid = extension === "arrow.uuid" && (type as FixedSizeBinary).byteWidth === 16;
      return isUuid ? values("uuid", json.jsonUuid) : values("bytea", json.jsonBytes);
    }
    case Type.Dictionary:
      return dictionaryOf(field);
    case Type.List:
    case Type.LargeList:
    case Type.FixedSizeList:
      return listOf(type);
    case Type.Struct:
      return structOf(type);
    case Type.Map:
      return mapOf(type);
    default:
      throw new DbError("invalid_request", `The column "${field.name}" has Arrow's type ${type}, which is not read.`);
  }
}

function values(sql: string, write: (value: never) => string): Column {
  return {
    type: sql,
    valueOf: (data) => {
      const vector = makeVector(data);
      return (row) => write(vector.get(row) as never);
    },
  };
}

function dictionaryOf({ name, type, metadata }: Field): Column {
  const entries = columnOf({ name, type: (type as Dictionary).dictionary, metadata } as Field);
  return {
    type: entries.type,
    valueOf: (data) => {
      const { dictionary } = data;
      // A dictionary that grew from batch to batch has several parts.
      const parts = dictionary!.data.map((part) => ({ part, write: entries.valueOf(part) }));
      return (row) => {
        let at = Number(data.values[row]);
        for (const { part, write } of parts) {
          if (at < part.length) return part.getValid(at) ? write(at) : "null";
          at -= part.length;
        }
        return "null";
      };
    },
  };
}

function listOf(type: DataType): Column {
  const element = (type.children as Field[])[0]!;
  const inner = arrowColumn(element);
  const size = type.typeId === Type.FixedSizeList ? (type as FixedSizeList).listSize : null;
  const isVector = size !== null && inner.type === "real" && size <= VECTOR_DIMENSIONS_MAX;
  const isSimple = element.type.children === null || (element.type.children as unknown[]).length === 0;
  return {
    type: isVector ? `vector(${size})` : isSimple ? `${inner.type}[]` : "jsonb",
    valueOf: ({ valueOffsets: offsets, children }) => {
      const write = inner.read(children[0]!);
      return (row) => {
        const [from, to] =
          size === null ? [Number(offsets[row]), Number(offsets[row + 1])] : [row * size, (row + 1) * size];
        let text = "[";
        for (let i = from; i < to; i++) text += i === from ? write(i) : `,${write(i)}`;
        return `${text}]`;
      };
    },
  };
}

function structOf(type: DataType): Column {
  const fields = (type.children as Field[]).map((field) => ({
    name: JSON.stringify(field.name),
    column: arrowColumn(field),
  }));
  return {
    type: "jsonb",
    valueOf: ({ children }) => {
      const writers = fields.map(({ column }, i) => column.read(children[i]!));
      return (row) => `{${writers.map((write, i) => `${fields[i]!.name}:${write(row)}`).join()}}`;
    },
  };
}

function mapOf(type: DataType): Column {
  const [key, value] = ((type.children as Field[])[0]!.type.children as Field[]).map(arrowColumn);
  return {
    type: "jsonb",
    valueOf: ({ valueOffsets: offsets, children }) => {
      const [keyOf, writeOf] = [key!.read(children[0]!.children[0]!), value!.read(children[0]!.children[1]!)];
      const member = (i: number) => {
        const name = keyOf(i);
        return `${name.startsWith('"') ? name : JSON.stringify(name)}:${writeOf(i)}`;
      };
      return (row) => {
        const [from, to] = [Number(offsets[row]), Number(offsets[row + 1])];
        return `{${Array.from({ length: to - from }, (_, i) => member(from + i)).join()}}`;
      };
    },
  };
}
