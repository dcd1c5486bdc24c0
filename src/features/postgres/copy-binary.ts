/** Rows of COPY's binary format as rows of its text format, which the import reads. */
import { sqlError } from "../../protocol/errors.js";
import { MessageFields } from "../../protocol/postgres/message-reader.js";
import { MessageWriter } from "../../protocol/postgres/message-writer.js";
import { toText } from "../../values/text-format.js";
import type { SqlType } from "../../values/values.js";
import { fromBinary, readNumeric } from "./binary-values.js";
import { copyEscapes } from "./copy-escapes.js";

const SIGNATURE = Buffer.from("PGCOPY\n\xff\r\n\0", "latin1");
const HEAD_BYTES = SIGNATURE.length + 8;
/** Of one row. */
const ROW_BYTES_MAX = 64 * 1024 * 1024;

/** Of a piece of lines. */
const PIECE_BYTES = 64 * 1024;

const [TAB, NEWLINE] = [0x09, 0x0a];
const ESCAPES = copyEscapes("\t");

const wrong = (what: string): Error => sqlError("22P04", `invalid COPY binary data: ${what}`);

/** Throws 22P04, 22P03. */
export async function* binaryAsText(
  pieces: AsyncIterable<Uint8Array>,
  types: readonly SqlType[],
): AsyncIterable<Uint8Array> {
  const rows = new BinaryRows(types.map(fieldOf));
  let left: Buffer = Buffer.alloc(0);
  let hasHead = false;
  for await (const piece of pieces) {
    if (rows.hasEnded) continue;
    left = left.length === 0 ? Buffer.from(piece) : Buffer.concat([left, piece]);
    if (left.length > ROW_BYTES_MAX) throw wrong("a row is too long");
    let at = 0;
    if (!hasHead) {
      const end = headEnd(left);
      if (end === null) continue;
      at = end;
      hasHead = true;
    }
    // The import gives way between pieces.
    for (let isWhole = false; !isWhole; ) {
      const from = at;
      at = rows.write(left, from, PIECE_BYTES);
      isWhole = at === from || rows.lines.length < PIECE_BYTES;
      if (rows.lines.length > 0) yield rows.lines.take();
    }
    left = left.subarray(at);
  }
  if (!rows.hasEnded && left.length > 0) throw wrong("unexpected end of data");
}

/** Where rows begin; null: it has not arrived. */
function headEnd(bytes: Buffer): number | null {
  if (bytes.length < HEAD_BYTES) return null;
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw wrong("the signature is not recognized");
  const end = HEAD_BYTES + bytes.readInt32BE(SIGNATURE.length + 4);
  return bytes.length < end ? null : end;
}

class BinaryRows {
  readonly lines = new MessageWriter();
  /** What comes after the last row was read. */
  hasEnded = false;

  constructor(private readonly fields: readonly Field[]) {}

  /** Writes lines until there are so many bytes of them, or no whole row is left. Answers where the next one begins. */
  write(bytes: Buffer, from: number, bytesMax: number): number {
    const { lines } = this;
    let at = from;
    while (!this.hasEnded && lines.length < bytesMax) {
      const before = lines.length;
      const end = this.row(bytes, at);
      if (end === null) {
        lines.cut(before);
        return at;
      }
      at = end;
    }
    return at;
  }

  /** Where the next row begins; null: it has not arrived, and a part of a line may have been written. */
  private row(bytes: Buffer, from: number): number | null {
    const { lines, fields } = this;
    if (bytes.length < from + 2) return null;
    const count = bytes.readInt16BE(from);
    if (count === -1) {
      this.hasEnded = true;
      return from + 2;
    }
    if (count !== fields.length) throw wrong(`row field count is ${count}, expected ${fields.length}`);
    let at = from + 2;
    for (let i = 0; i < count; i++) {
      if (i > 0) lines.byte(TAB);
      if (bytes.length < at + 4) return null;
      const length = bytes.readInt32BE(at);
      at += 4;
      if (length < 0) {
        lines.ascii("\\N");
        continue;
      }
      if (bytes.length < at + length) return null;
      fields[i]!(lines, bytes, at, at + length);
      at += length;
    }
    lines.byte(NEWLINE);
    return at;
  }
}

/** Writes a value, which is between these places, as it stands in a line. */
type Field = (lines: MessageWriter, bytes: Buffer, start: number, end: number) => void;

const TEXTS: ReadonlySet<string> = new Set(["text", "varchar", "bpchar", "name", "enum", "json"]);
const INTEGERS: Readonly<Record<string, number>> = { int2: 2, int4: 4, int8: 8 };

function int64At(bytes: Buffer, at: number): number | bigint {
  const number = bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
  return Number.isSafeInteger(number) ? number : bytes.readBigInt64BE(at);
}

function fieldOf(type: SqlType): Field {
  if (TEXTS.has(type.name)) return (lines, bytes, start, end) => lines.escapedUtf8(bytes, start, end, ESCAPES);
  const other: Field = (lines, bytes, start, end) =>
    lines.escapedText(toText(type, fromBinary(type, bytes.subarray(start, end))), ESCAPES);
  const size = INTEGERS[type.name];
  if (size === 8) {
    return (lines, bytes, start, end) => {
      if (end - start === size) lines.integer(int64At(bytes, start));
      else other(lines, bytes, start, end);
    };
  }
  if (size !== undefined) {
    return (lines, bytes, start, end) => {
      if (end - start === size) lines.integer(bytes.readIntBE(start, size));
      else other(lines, bytes, start, end);
    };
  }
  if (type.name !== "numeric") return other;
  return (lines, bytes, start, end) => {
    const fields = new MessageFields(bytes.subarray(start, end));
    lines.ascii(readNumeric(type, fields));
    if (fields.left > 0) other(lines, bytes, start, end);
  };
}
