/**
 * Columns of values that no array holds: JSON and lists. They stay as records have them (storage/record-writer.ts), end
 * to end, each decoded when somebody asks for it, or once for each entry of a dictionary. Made by
 * stored/column-sinks.ts and stored/column-page.ts.
 */
import { payloadOf } from "../../../storage/record-codec.js";
import { type PayloadReader, payloadReader } from "../../../storage/record-reader.js";
import type { SqlType, Value } from "../../../values/values.js";
import { GrowingTexts, type TextColumn, textColumn } from "./text-column.js";

/** A dictionary with more bytes would take too long to decode at once. */
export const ENCODED_DICTIONARY_BYTES = 128 * 1024;
/** A decoded entry, roughly: so many times as many bytes, and an object. */
const DECODED_FACTOR = 4;
const DECODED_BYTES = 64;

/** What a list of has no form that stays the same: labels and fields change. */
const UNSTABLE: ReadonlySet<string> = new Set(["record", "variant", "enum", "void", "unknown", "array"]);

/** Whether a column of the type is held as encoded values. */
export function holdsEncoded({ name, element, user }: SqlType): boolean {
  if (user !== undefined) return false;
  if (name === "jsonb" || name === "json") return true;
  return name === "array" && element !== null && element.user === undefined && !UNSTABLE.has(element.name);
}

export class EncodedColumn {
  readonly kind = "encoded";
  readonly bytes: number;
  private readonly read: PayloadReader;

  constructor(
    readonly type: SqlType,
    /** The values' bytes, which are no texts unless the type is one of JSON. */
    readonly payloads: TextColumn,
  ) {
    this.bytes = payloads.bytes;
    this.read = payloadReader(type);
  }

  at(row: number): Value {
    const { data, offsets, nulls } = this.payloads;
    if (nulls !== null && nulls[row] === 1) return null;
    return this.read(data, offsets[row]!, offsets[row + 1]!);
  }
}

/** A DictionaryColumn (column.ts) of such values, which are decoded when somebody reads the first. */
export class EncodedDictionary {
  readonly kind = "dictionary";
  readonly bytes: number;
  private made: readonly Value[] | null = null;

  constructor(
    readonly codes: Uint8Array | Uint16Array,
    readonly encoded: EncodedColumn,
    /** Has decoded the values, or will. */
    private readonly origin: EncodedDictionary | null = null,
    /** Columns that have these entries, and share their memory. */
    private readonly users = 1,
  ) {
    const decoded = DECODED_FACTOR * encoded.payloads.data.length + DECODED_BYTES * this.count;
    this.bytes = codes.byteLength + Math.ceil((encoded.bytes + decoded) / users);
  }

  /** Other rows of the same entries, of which none is decoded twice. */
  withCodes(codes: Uint8Array | Uint16Array): EncodedDictionary {
    return new EncodedDictionary(codes, this.encoded, this.origin ?? this, this.users);
  }

  get count(): number {
    return this.encoded.payloads.offsets.length - 1;
  }

  get values(): readonly Value[] {
    if (this.origin !== null) return this.origin.values;
    this.made ??= Array.from({ length: this.count }, (_, code) => this.encoded.at(code));
    return this.made;
  }

  /** Each row's value by itself. */
  rows(): EncodedColumn {
    const texts = new GrowingTexts();
    texts.append(this.encoded.payloads, Int32Array.from(this.codes), 0, this.codes.length);
    return new EncodedColumn(this.encoded.type, texts.column());
  }
}

/** The bytes of the first `length` values. */
export function payloadsOf(type: SqlType, values: ArrayLike<Value>, length: number): TextColumn {
  const parts: Uint8Array[] = [];
  const offsets = new Uint32Array(length + 1);
  let nulls: Uint8Array | null = null;
  for (let i = 0; i < length; i++) {
    const value = values[i]!;
    offsets[i + 1] = offsets[i]!;
    if (value === null) {
      nulls ??= new Uint8Array(length);
      nulls[i] = 1;
      continue;
    }
    const payload = payloadOf(type, value);
    parts.push(payload);
    offsets[i + 1]! += payload.length;
  }
  const all = Buffer.concat(parts);
  return textColumn(new Uint8Array(all.buffer, all.byteOffset, all.length), offsets, false, nulls);
}
