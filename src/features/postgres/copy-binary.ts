/**
 * Reads rows of COPY's binary format from bytes as they arrive. Numbers and vectors are given as values, texts as the
 * bytes that came, and all other fields as texts, which are read as those of COPY's text format are. One per COPY.
 */
import { isUtf8 } from "node:buffer";
import { sqlError } from "../../protocol/errors.js";
import { MessageFields } from "../../protocol/postgres/message-reader.js";
import { FIELD_ESCAPED, FIELD_PLAIN, FIELD_QUOTED, FIELD_VALUE, type RecordReader } from "../../values/csv-reader.js";
import { PieceBuffer } from "../../values/piece-buffer.js";
import { toText } from "../../values/text-format.js";
import type { SqlType, Value } from "../../values/values.js";
import { fromBinary, readNumeric } from "./binary-values.js";

const SIGNATURE = Buffer.from("PGCOPY\n\xff\r\n\0", "latin1");
const HEAD_BYTES = SIGNATURE.length + 8;
/** Of one row. */
const ROW_BYTES_MAX = 64 * 1024 * 1024;

/** What NULL is in the reader's rows: a plain field without bytes. */
export const BINARY_NULL_TEXT = "";

const wrong = (what: string): Error => sqlError("22P04", `invalid COPY binary data: ${what}`);

export class CopyBinaryReader implements RecordReader {
  readonly pieces = new PieceBuffer();
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  readonly kinds: number[] = [];
  /** Rows are counted as lines of a file are. */
  line = 0;
  private hasHead = false;
  /** What comes after the last row was read. */
  private hasEnded = false;
  /** What is not null is of these. */
  private readonly kindsOf: readonly number[];

  constructor(private readonly types: readonly SqlType[]) {
    this.kindsOf = types.map(({ name }) =>
      TEXTS.has(name) ? FIELD_QUOTED : VALUES.has(name) ? FIELD_VALUE : FIELD_ESCAPED,
    );
  }

  get bytes(): Buffer {
    return this.pieces.bytes;
  }

  get count(): number {
    return this.types.length;
  }

  get unreadLine(): number {
    return this.line + 1;
  }

  push(piece: Uint8Array): void {
    const { pieces } = this;
    if (pieces.left > ROW_BYTES_MAX) throw wrong("a row is too long");
    pieces.push(piece);
    // They are no text as a whole.
    pieces.checked(pieces.fresh.bytes.length);
  }

  /** Finds the next row; false when it has not wholly arrived, or there is none. Throws 22P04, 22021. */
  next(isEnd: boolean): boolean {
    const { pieces } = this;
    if (!this.hasEnded && (this.hasHead || this.head()) && this.row(pieces.position)) return true;
    if (this.hasEnded) pieces.position = this.bytes.length;
    else if (isEnd && pieces.left > 0) throw wrong("unexpected end of data");
    return false;
  }

  /** False: it has not wholly arrived. */
  private head(): boolean {
    const { pieces, bytes } = this;
    if (bytes.length < HEAD_BYTES) return false;
    if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw wrong("the signature is not recognized");
    const end = HEAD_BYTES + bytes.readUInt32BE(SIGNATURE.length + 4);
    if (bytes.length < end) return false;
    pieces.position = end;
    this.hasHead = true;
    return true;
  }

  private row(from: number): boolean {
    const { bytes, count, starts, ends, kinds, kindsOf } = this;
    if (bytes.length < from + 2) return false;
    const found = bytes.readInt16BE(from);
    this.hasEnded = found === -1;
    if (this.hasEnded) return false;
    if (found !== count) throw wrong(`row field count is ${found}, expected ${count}`);
    let at = from + 2;
    for (let i = 0; i < count; i++) {
      if (bytes.length < at + 4) return false;
      const length = bytes.readInt32BE(at);
      at += 4;
      starts[i] = at;
      if (length > 0) at += length;
      if (bytes.length < at) return false;
      ends[i] = at;
      kinds[i] = length < 0 ? FIELD_PLAIN : kindsOf[i]!;
    }
    this.pieces.position = at;
    this.line++;
    for (let i = 0; i < count; i++) if (kinds[i] === FIELD_QUOTED) this.checkText(i);
    return true;
  }

  private checkText(index: number): void {
    const text = this.bytes.subarray(this.starts[index]!, this.ends[index]!);
    const hasZero = text.includes(0);
    if (!hasZero && isUtf8(text)) return;
    const what = `invalid byte sequence for encoding "UTF8"${hasZero ? ": 0x00" : ""} at line ${this.line}`;
    throw sqlError("22021", what, { line: this.line });
  }

  /** Throws 22P03. */
  value(index: number): Value {
    return fromBinary(this.types[index]!, this.bytes.subarray(this.starts[index]!, this.ends[index]!));
  }

  field(index: number): Uint8Array {
    return Buffer.from(this.text(index));
  }

  /** Throws 22P03. */
  text(index: number): string {
    const [start, end] = [this.starts[index]!, this.ends[index]!];
    if (this.kinds[index] === FIELD_QUOTED || this.kinds[index] === FIELD_PLAIN) {
      return this.bytes.toString("utf8", start, end);
    }
    const type = this.types[index]!;
    if (type.name !== "numeric") return toText(type, this.value(index));
    const fields = new MessageFields(this.bytes.subarray(start, end));
    const text = readNumeric(type, fields);
    return fields.left === 0 ? text : toText(type, this.value(index));
  }
}

const TEXTS: ReadonlySet<string> = new Set(["text", "varchar", "bpchar", "name", "enum", "json"]);
/** Types whose values in binary are those of a column, whatever its modifier, or are refused. */
const VALUES: ReadonlySet<string> = new Set([
  ...["int2", "int4", "int8", "float4", "float8", "bool", "uuid", "bytea", "vector", "halfvec"],
]);
