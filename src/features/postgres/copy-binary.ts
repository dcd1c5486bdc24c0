/**
 * Reads rows of COPY's binary format from bytes as they arrive. Numbers and vectors are given as values, texts as the
 * bytes that came, and all other fields as texts, which are read as those of COPY's text format are. One per COPY.
 */
import type { ColumnDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { checkTextBetween, MessageFields } from "../../protocol/postgres/message-reader.js";
import { atField } from "../../query/exec/bulk-insert.js";
import { FIELD_ESCAPED, FIELD_PLAIN, FIELD_QUOTED, FIELD_VALUE, type RecordReader } from "../../values/csv-reader.js";
import { PieceBuffer } from "../../values/piece-buffer.js";
import { toText } from "../../values/text-format.js";
import { NUMERIC, type SqlType, type Value } from "../../values/values.js";
import { scaledFrom, scaleFound } from "./binary-numeric.js";
import { fromFields, wrongBytes } from "./binary-values.js";

const SIGNATURE = Buffer.from("PGCOPY\n\xff\r\n\0", "latin1");
const HEAD_BYTES = SIGNATURE.length + 8;
/** Of one row. */
const ROW_BYTES_MAX = 64 * 1024 * 1024;

/** What NULL is in the reader's rows: a plain field without bytes. */
export const BINARY_NULL_TEXT = "";

/** Of the header: bits that a reader must know are from here on. One said that rows had OIDs. */
const CRITICAL_FLAGS = 0xffff0000;

const wrong = (what: string, details = {}): Error => sqlError("22P04", `invalid COPY binary data: ${what}`, details);

/** What a reader must know of a column. */
export type BinaryColumn = Pick<ColumnDef, "name" | "type">;

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

  constructor(private readonly columns: readonly BinaryColumn[]) {
    this.kindsOf = columns.map(({ type: { name, modifier } }) => {
      if (TEXTS.has(name)) return FIELD_QUOTED;
      return VALUES.has(name) || (modifier === null && UNROUNDED.has(name)) ? FIELD_VALUE : FIELD_ESCAPED;
    });
  }

  get bytes(): Buffer {
    return this.pieces.bytes;
  }

  get count(): number {
    return this.columns.length;
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
    if (this.hasEnded && pieces.left > 0) throw wrong("there is more after the end", { line: this.unreadLine });
    if (isEnd && !this.hasHead) throw wrong("the signature is not recognized");
    if (isEnd && pieces.left > 0) throw wrong("unexpected end of data", { line: this.unreadLine });
    return false;
  }

  /** False: it has not wholly arrived. */
  private head(): boolean {
    const { pieces, bytes } = this;
    if (bytes.length < HEAD_BYTES) return false;
    if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw wrong("the signature is not recognized");
    if ((bytes.readInt32BE(SIGNATURE.length) & CRITICAL_FLAGS) !== 0) throw wrong("the header has unknown flags");
    const extension = bytes.readInt32BE(SIGNATURE.length + 4);
    if (extension < 0) throw wrong("the header has no length");
    const end = HEAD_BYTES + extension;
    if (bytes.length < end) return false;
    pieces.position = end;
    this.hasHead = true;
    return true;
  }

  private row(from: number): boolean {
    const { bytes, count, starts, ends, kinds, kindsOf } = this;
    if (bytes.length < from + 2) return false;
    const found = bytes.readInt16BE(from);
    if (found === -1) {
      this.hasEnded = true;
      this.pieces.position = from + 2;
      return false;
    }
    const line = this.unreadLine;
    if (found !== count) throw wrong(`row field count is ${found}, expected ${count}`, { line });
    let at = from + 2;
    for (let i = 0; i < count; i++) {
      if (bytes.length < at + 4) return false;
      const length = bytes.readInt32BE(at);
      if (length < -1) throw wrong("invalid field size", { line, column: this.columns[i]!.name });
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

  /** Also passes over what says that a jsonb is a text. */
  private checkText(index: number): void {
    const { bytes, starts, ends } = this;
    const { name, type } = this.columns[index]!;
    try {
      if (type.name === "jsonb" && (starts[index] === ends[index] || bytes[starts[index]!++] !== JSONB_VERSION)) {
        throw wrongBytes(type);
      }
      checkTextBetween(bytes, starts[index]!, ends[index]!);
    } catch (error) {
      throw atField(error, this.line, name, null);
    }
  }

  /** Throws 22P03 and others. */
  value(index: number): Value {
    return this.read(index, fromFields);
  }

  scaled(index: number): number | undefined {
    return scaledFrom(this.bytes, this.starts[index]!, this.ends[index]!);
  }

  /** Of what `scaled` has answered. */
  get scale(): number {
    return scaleFound;
  }

  field(index: number): Uint8Array {
    return Buffer.from(this.text(index));
  }

  /** Throws 22P03 and others. */
  text(index: number): string {
    const isText = this.kinds[index] === FIELD_QUOTED || this.kinds[index] === FIELD_PLAIN;
    const { bytes, starts, ends } = this;
    return isText ? bytes.toString("utf8", starts[index]!, ends[index]!) : this.read(index, textOf);
  }

  private read<T>(index: number, reading: (type: SqlType, fields: MessageFields) => T): T {
    const { name, type } = this.columns[index]!;
    try {
      return reading(type, new MessageFields(this.bytes, this.starts[index]!, this.ends[index]!));
    } catch (error) {
      throw atField(error, this.line, name, null);
    }
  }
}

/** A numeric is not rounded yet. */
function textOf(type: SqlType, fields: MessageFields): string {
  return toText(type, fromFields(type.name === "numeric" ? NUMERIC : type, fields));
}

const JSONB_VERSION = 1;
const TEXTS: ReadonlySet<string> = new Set(["text", "varchar", "bpchar", "enum", "json", "jsonb"]);
/** Types whose values in binary are those of a column, or are refused. */
const VALUES: ReadonlySet<string> = new Set([
  ...["int2", "int4", "int8", "float4", "float8", "numeric", "bool", "date", "uuid", "bytea", "vector", "halfvec"],
]);
/** They are only without a modifier, which says to how many digits they are rounded. */
const UNROUNDED: ReadonlySet<string> = new Set(["timestamp", "timestamptz"]);
