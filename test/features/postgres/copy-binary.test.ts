/** COPY … FROM in binary: the rows, wherever the pieces that bring them are cut. */
import t from "tap";
import { CopyBinaryReader } from "../../../src/features/postgres/copy-binary.js";
import { linesOf } from "../../../src/features/postgres/copy-out.js";
import { messagesOf } from "../../../src/protocol/postgres/message-reader.js";
import { MessageWriter } from "../../../src/protocol/postgres/message-writer.js";
import { shapeOf } from "../../../src/session/sql-result.js";
import { type CopyStatement, parseCopy } from "../../../src/sql/parse/copy.js";
import { loadParser } from "../../../src/sql/parse/parse.js";
import { FIELD_ESCAPED, FIELD_PLAIN, FIELD_VALUE } from "../../../src/values/csv-reader.js";
import { fromText, toText } from "../../../src/values/text-format.js";
import type { SqlType } from "../../../src/values/values.js";
import * as V from "../../../src/values/values.js";

await loadParser();

const COLUMNS: readonly (readonly [SqlType, readonly (string | null)[]])[] = [
  [V.INT2, ["-32768", "1", null]],
  [V.INT8, ["9007199254740993", "-9007199254740991", "0"]],
  [V.TEXT, ["tab\tand\nline \\ größer", "", "\\."]],
  [V.NUMERIC, ["-12.50", "NaN", "100000"]],
  [V.BOOL, ["t", "f", null]],
  [V.DATE, ["2026-01-31", null, "1999-12-31"]],
  [V.typeOf("vector", 3), ["[1,-2.5,0.1]", null, "[0,0,3]"]],
];
const ROWS = Array.from({ length: 3 }, (_, r) => COLUMNS.map(([, texts]) => texts[r]));
const SETTINGS = { timeZone: "UTC", style: undefined };

function file(): Buffer {
  const shape = shapeOf(COLUMNS.map(([type], c) => ({ id: c, name: `c${c}`, type, nullable: true })));
  const columns = COLUMNS.map(([type, texts]) => texts.map((text) => (text === null ? null : fromText(type, text))));
  const writer = new MessageWriter();
  const copy = parseCopy("COPY x TO STDOUT (FORMAT binary)") as CopyStatement;
  const lines = linesOf(writer, copy, shape, SETTINGS);
  lines.write({ columns, length: 3 }, 3);
  lines.end();
  return Buffer.concat(messagesOf(writer.take()).map(({ body }) => body));
}

function rowsOf(bytes: Buffer, pieceBytes: number): (string | null)[][] {
  const reader = new CopyBinaryReader(COLUMNS.map(([type]) => type));
  const rows: (string | null)[][] = [];
  const read = (isEnd: boolean): void => {
    while (reader.next(isEnd)) {
      const texts = COLUMNS.map(([type], i) => {
        if (reader.kinds[i] === FIELD_VALUE) return toText(type, reader.value(i));
        if (reader.kinds[i] === FIELD_ESCAPED) return toText(type, fromText(type, reader.text(i)));
        return reader.kinds[i] === FIELD_PLAIN ? null : reader.text(i);
      });
      rows.push(texts);
      if (reader.line !== rows.length) throw new Error(`row ${rows.length} is on line ${reader.line}`);
    }
  };
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    reader.push(bytes.subarray(at, at + pieceBytes));
    read(false);
  }
  read(true);
  return rows;
}

t.test("pieces of any length", async (t) => {
  const bytes = file();
  for (const length of [1, 2, 3, 7, 19, 20, 64, bytes.length]) t.same(rowsOf(bytes, length), ROWS);
});

t.test("many rows in a piece", async (t) => {
  const bytes = file();
  const [head, rows] = [bytes.subarray(0, 19), bytes.subarray(19, -2)];
  const many = Buffer.concat([head, ...new Array<Buffer>(200).fill(rows), bytes.subarray(-2)]);
  t.same(rowsOf(many, 10_000), new Array(200).fill(ROWS).flat());
});

t.test("what follows the end is not read", async (t) => {
  for (const length of [3, 64, 10_000]) t.same(rowsOf(Buffer.concat([file(), Buffer.alloc(100, 7)]), length), ROWS);
});

t.test("data that is none", async (t) => {
  const bytes = file();
  t.throws(() => rowsOf(bytes.subarray(0, 60), 7), /unexpected end of data/);
  const other = Buffer.from(bytes);
  other[5] = 0x58;
  t.throws(() => rowsOf(other, 7), /the signature is not recognized/);
  const wrong = Buffer.from(bytes);
  wrong.writeInt16BE(5, 19);
  t.throws(() => rowsOf(wrong, 64), /row field count is 5, expected 7/);
  const text = Buffer.from(bytes);
  text[text.indexOf("größer") + 2] = 0xff;
  t.throws(() => rowsOf(text, 64), { message: /invalid byte sequence for encoding "UTF8" at line 1/ });
  text[text.indexOf("line")] = 0;
  t.throws(() => rowsOf(text, 64), { message: /invalid byte sequence for encoding "UTF8": 0x00 at line 1/ });
  const short = Buffer.concat([bytes.subarray(0, 21), Buffer.of(0, 0, 0, 1, 7), bytes.subarray(27)]);
  t.throws(() => rowsOf(short, 64), /the message ends too early/);
});
