/** Ranges and multiranges in PostgreSQL's binary format (range_send, multirange_send of PostgreSQL 15). */
import { sqlError } from "../../protocol/errors.js";
import { MessageFields } from "../../protocol/postgres/message-reader.js";
import type { MessageWriter } from "../../protocol/postgres/message-writer.js";
import {
  type Bound,
  EMPTY,
  makeRange,
  mergedRanges,
  multirangeKeyOf,
  multirangeText,
  type Range,
  type RangeKey,
  rangeKeyOf,
  rangeOf,
  rangeOfMultirange,
  rangesOf,
  rangeText,
  subtypeOf,
} from "../../values/range.js";
import { type SqlType, typeOf, type Value } from "../../values/values.js";
import type { ValueWriter } from "./text-values.js";

/** Bits of the byte before a range's bounds. */
const FLAG = { empty: 1, lowerInc: 2, upperInc: 4, lowerInfinite: 8, upperInfinite: 16 } as const;

/** `bound`: writes a value of a type with its length before it. */
export function rangeWriter(type: SqlType, bound: (type: SqlType) => ValueWriter): ValueWriter {
  const range = rangeKeyOf(type);
  if (range !== null) {
    const write = bound(typeOf(subtypeOf(range)));
    return (writer, value) => writeRange(writer, rangeOf(range, value as string), write);
  }
  const name = multirangeKeyOf(type)!;
  const write = bound(typeOf(subtypeOf(rangeOfMultirange(name))));
  return (writer, value) => {
    const ranges = rangesOf(name, value as string);
    writer.int32(ranges.length);
    for (const range of ranges) {
      const from = writer.beginSized();
      writeRange(writer, range, write);
      writer.endSized(from);
    }
  };
}

function writeRange(writer: MessageWriter, range: Range, write: ValueWriter): void {
  if (range.isEmpty) {
    writer.byte(FLAG.empty);
    return;
  }
  const { lower, upper, lowerInc, upperInc } = range;
  writer.byte(
    (lowerInc ? FLAG.lowerInc : 0) |
      (upperInc ? FLAG.upperInc : 0) |
      (lower === null ? FLAG.lowerInfinite : 0) |
      (upper === null ? FLAG.upperInfinite : 0),
  );
  if (lower !== null) write(writer, lower);
  if (upper !== null) write(writer, upper);
}

/** `read`: reads a value of a type from its bytes. */
type ReadValue = (type: SqlType, bytes: Buffer) => Value;

export function readRangeValue(type: SqlType, fields: MessageFields, read: ReadValue): string {
  const range = rangeKeyOf(type);
  if (range !== null) return rangeText(range, readRange(range, fields, read));
  const name = multirangeKeyOf(type)!;
  const ranges: Range[] = [];
  const each = rangeOfMultirange(name);
  const count = fields.int32();
  if (count < 0) throw sqlError("22P03", `incorrect binary data format for type ${type.name}`);
  for (let left = count; left > 0; left--) {
    const own = new MessageFields(fields.view(fields.int32()));
    ranges.push(readRange(each, own, read));
    own.end();
  }
  return multirangeText(name, mergedRanges(ranges));
}

function readRange(name: RangeKey, fields: MessageFields, read: ReadValue): Range {
  const flags = fields.byte();
  if ((flags & FLAG.empty) !== 0) return EMPTY;
  const type = typeOf(subtypeOf(name));
  const bound = (infinite: number): Bound | null =>
    (flags & infinite) !== 0 ? null : (read(type, fields.view(fields.int32())) as Bound);
  const lower = bound(FLAG.lowerInfinite);
  const upper = bound(FLAG.upperInfinite);
  return makeRange(name, lower, upper, (flags & FLAG.lowerInc) !== 0, (flags & FLAG.upperInc) !== 0);
}
