/** Rows of COPY's binary format as rows of its text format, which the import reads. */
import { sqlError } from "../../protocol/errors.js";
import { toText } from "../../values/text-format.js";
import type { SqlType } from "../../values/values.js";
import { fromBinary } from "./binary-values.js";

const SIGNATURE = Buffer.from("PGCOPY\n\xff\r\n\0", "latin1");
const HEAD_BYTES = SIGNATURE.length + 8;
/** Of one row. */
const ROW_BYTES_MAX = 64 * 1024 * 1024;

/** Of a piece of lines. */
const TEXT_CHARACTERS = 64 * 1024;

const wrong = (what: string): Error => sqlError("22P04", `invalid COPY binary data: ${what}`);

/** Throws 22P04, 22P03. */
export async function* binaryAsText(
  pieces: AsyncIterable<Uint8Array>,
  types: readonly SqlType[],
): AsyncIterable<Uint8Array> {
  let left: Buffer = Buffer.alloc(0);
  let hasHead = false;
  let hasEnded = false;
  for await (const piece of pieces) {
    if (hasEnded) continue;
    left = left.length === 0 ? Buffer.from(piece) : Buffer.concat([left, piece]);
    if (left.length > ROW_BYTES_MAX) throw wrong("a row is too long");
    let at = 0;
    if (!hasHead) {
      const end = headEnd(left);
      if (end === null) continue;
      at = end;
      hasHead = true;
    }
    let text = "";
    for (;;) {
      const row = rowAt(left, at, types);
      if (row === null) break;
      hasEnded = row.line === null;
      if (hasEnded) break;
      text += `${row.line}\n`;
      at = row.end;
      // The import gives way between pieces.
      if (text.length < TEXT_CHARACTERS) continue;
      yield Buffer.from(text);
      text = "";
    }
    left = left.subarray(at);
    if (text !== "") yield Buffer.from(text);
  }
  if (!hasEnded && left.length > 0) throw wrong("unexpected end of data");
}

/** Where rows begin; null: it has not arrived. */
function headEnd(bytes: Buffer): number | null {
  if (bytes.length < HEAD_BYTES) return null;
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw wrong("the signature is not recognized");
  const end = HEAD_BYTES + bytes.readInt32BE(SIGNATURE.length + 4);
  return bytes.length < end ? null : end;
}

/** The row as a line; `line` null: the end of all rows. Null: it has not arrived. */
function rowAt(bytes: Buffer, from: number, types: readonly SqlType[]): { line: string | null; end: number } | null {
  if (bytes.length < from + 2) return null;
  const count = bytes.readInt16BE(from);
  if (count === -1) return { line: null, end: from + 2 };
  if (count !== types.length) throw wrong(`row field count is ${count}, expected ${types.length}`);
  let at = from + 2;
  const fields: string[] = [];
  for (const type of types) {
    if (bytes.length < at + 4) return null;
    const length = bytes.readInt32BE(at);
    at += 4;
    if (length < 0) {
      fields.push("\\N");
      continue;
    }
    if (bytes.length < at + length) return null;
    fields.push(escaped(toText(type, fromBinary(type, bytes.subarray(at, at + length)))));
    at += length;
  }
  return { line: fields.join("\t"), end: at };
}

function escaped(text: string): string {
  if (!/[\\\n\r\t]/.test(text)) return text;
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");
}
