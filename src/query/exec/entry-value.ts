/**
 * The value of an index entry: the suffix of its row's key and, for an index that stores them, the values of its
 * INCLUDE columns. Readers and writers of entries go through these functions.
 *
 *   suffix                                                an index without INCLUDE, or from before they were stored
 *   u32 LE length of the suffix · suffix · record         the record's columns are those of `included`, in this order
 */

import { encodeRecord, type RecordDecoder, recordDecoder } from "../../storage/record-codec.js";
import type { Value } from "../../values/values.js";
import type { EntryLayout, KeyLayout } from "./table-layout.js";

const LENGTH_BYTES = 4;

/** The value of the row's entry; the row is an array by column id. Throws 54000 for more than a record holds. */
export function entryValue(index: EntryLayout, row: readonly Value[], suffix: Uint8Array): Uint8Array {
  const { included } = index;
  if (included === null) return suffix;
  const record = encodeRecord(
    included.types,
    included.ids.map((id) => row[id] ?? null),
  );
  const value = Buffer.allocUnsafe(LENGTH_BYTES + suffix.length + record.length);
  value.writeUInt32LE(suffix.length);
  value.set(suffix, LENGTH_BYTES);
  value.set(record, LENGTH_BYTES + suffix.length);
  return value;
}

/** The suffix of the row's key. */
export function suffixOf(index: KeyLayout, value: Uint8Array): Uint8Array {
  return index.included === null ? value : value.subarray(LENGTH_BYTES, recordStart(value));
}

/** Reads INCLUDE columns, by their places among them, from entries' values. */
export function includedDecoder({ included }: KeyLayout, places: readonly number[]): RecordDecoder {
  const decode = recordDecoder(
    included!.types,
    places,
    places.map(() => null),
  );
  return (value, out, row) => decode(value.subarray(recordStart(value)), out, row);
}

function recordStart(value: Uint8Array): number {
  const length = value[0]! | (value[1]! << 8) | (value[2]! << 16) | (value[3]! << 24);
  return LENGTH_BYTES + length;
}
