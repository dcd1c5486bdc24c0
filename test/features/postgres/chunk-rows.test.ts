/** Rows that come as columns of segments are written as the same rows are that come as values. */
import t from "tap";
import { linesOf } from "../../../src/features/postgres/copy-out.js";
import { valueWriters, writeRows } from "../../../src/features/postgres/row-output.js";
import { MessageWriter } from "../../../src/protocol/postgres/message-writer.js";
import { Chunk, valuesOfBatch } from "../../../src/query/exec/segments/chunk.js";
import { columnOf } from "../../../src/query/exec/segments/column.js";
import type { Batch } from "../../../src/query/expr/expr.js";
import { shapeOf } from "../../../src/session/sql-result.js";
import { type CopyStatement, parseCopy } from "../../../src/sql/parse/copy.js";
import { loadParser } from "../../../src/sql/parse/parse.js";
import { fromText } from "../../../src/values/text-format.js";
import type { SqlType, Value } from "../../../src/values/values.js";
import * as V from "../../../src/values/values.js";

await loadParser();

const ROWS = 40;
const TOKYO = { timeZone: "Asia/Tokyo", style: undefined };
const TEXTS = ["", "plain", "tab\tand\nline", "back\\slash", "\\.", "\\N", "a,b", 'q"q', "größer 日本", "x".repeat(90)];

/** By column: its type, and its value in a row as text; null: NULL. */
const COLUMNS: readonly (readonly [SqlType, (row: number) => string | null])[] = [
  [V.INT4, (row) => String(row * 7919 - 5)],
  [V.INT8, (row) => (row % 5 === 0 ? null : String(row * 123_456_789_012))],
  [V.INT8, (row) => `${row}99999999999999999`],
  [V.NUMERIC, (row) => (row % 7 === 0 ? null : `${row}.50`)],
  [V.NUMERIC, (row) => `${row % 2 === 0 ? "-" : ""}${row * 4099}.${String(row * 77).padStart(9, "0")}123`],
  [V.NUMERIC, (row) => `${row - 20}.00000000000005`],
  [V.NUMERIC, (row) => String(row * 100_000_000_000)],
  [V.TEXT, (row) => `no special character ${row}`],
  [V.FLOAT8, (row) => (row % 3 === 0 ? "NaN" : String(row / 8))],
  [V.DATE, (row) => `2026-01-${10 + (row % 20)}`],
  [V.TIMESTAMPTZ, (row) => `2026-01-${10 + (row % 20)} 12:00:00+00`],
  [V.BOOL, (row) => (row % 2 === 0 ? "t" : "f")],
  [V.TEXT, (row) => (row % 4 === 0 ? null : `${TEXTS[row % TEXTS.length]!}${row >= TEXTS.length ? row : ""}`)],
  [V.TEXT, (row) => TEXTS[row % TEXTS.length]!],
  [V.VARCHAR, (row) => (row % 2 === 0 ? "ein Wort" : null)],
  [V.UUID, (row) => `0123abcd-0000-4000-8000-0000000000${10 + row}`],
];

const shape = shapeOf(COLUMNS.map(([type], c) => ({ id: c, name: `c${c}`, type, nullable: true })));
const vectors = COLUMNS.map(([type, textOf]) => {
  const values = Array.from({ length: ROWS }, (_, row): Value => {
    const text = textOf(row);
    return text === null ? null : fromText(type, text);
  });
  return columnOf(type, values, ROWS);
});

/** All columns with these rows; null: the 20 after the third. */
function chunkOf(rows: Int32Array | null): Chunk {
  const selection = { rows, from: rows === null ? 3 : 0 };
  return new Chunk(
    vectors,
    vectors.map(() => selection),
    20,
    vectors.map(() => []),
  );
}

function bytesOf(write: (writer: MessageWriter, batch: Batch) => void, batch: Batch): string {
  const writer = new MessageWriter();
  write(writer, batch);
  return writer.take().toString("latin1");
}

const COPIES = [
  "COPY t TO STDOUT",
  "COPY t TO STDOUT (DELIMITER '-', HEADER)",
  "COPY t TO STDOUT (FORMAT csv, HEADER)",
  "COPY t TO STDOUT (FORMAT csv, FORCE_QUOTE (c0, c8), DELIMITER ';')",
  "COPY t TO STDOUT (FORMAT csv, NULL '2', QUOTE '3')",
  "COPY t TO STDOUT (FORMAT binary)",
].map((sql) => parseCopy(sql) as CopyStatement);

t.test("a chunk is written as its values are", async (t) => {
  t.strictSame(
    [...new Set(vectors.map(({ kind }) => kind))].sort(),
    ["dictionary", "number", "plain", "text"],
    "columns of each kind",
  );
  for (const rows of [null, Int32Array.from({ length: 20 }, (_, i) => (i * 17) % ROWS)]) {
    for (const copy of COPIES) {
      const write = (writer: MessageWriter, batch: Batch) => linesOf(writer, copy, shape, TOKYO).write(batch, 20);
      t.equal(bytesOf(write, chunkOf(rows)), bytesOf(write, valuesOfBatch(chunkOf(rows))), JSON.stringify(copy));
    }
    for (const formats of [[0], [1]]) {
      const writers = valueWriters(shape, formats, TOKYO);
      const write = (writer: MessageWriter, batch: Batch) => writeRows(writer, writers, batch, 20);
      t.equal(bytesOf(write, chunkOf(rows)), bytesOf(write, valuesOfBatch(chunkOf(rows))), `format ${formats[0]}`);
    }
  }
});

t.test("COPY's text and CSV are PostgreSQL's", async (t) => {
  const batch: Batch = {
    columns: [
      ["a\tb", "\\.", null, "", 'q"'],
      [1, -2, null, 40, 5],
    ],
    length: 5,
  };
  const two = shapeOf([
    { id: 0, name: "s", type: V.TEXT, nullable: true },
    { id: 1, name: "a,b", type: V.INT4, nullable: true },
  ]);
  const linesIn = (sql: string): readonly string[] => {
    const writer = new MessageWriter();
    linesOf(writer, parseCopy(sql)!, two, TOKYO).write(batch, 5);
    const bytes = writer.take();
    const lines: string[] = [];
    for (let at = 0; at < bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
      lines.push(bytes.toString("utf8", at + 5, at + 1 + bytes.readInt32BE(at + 1)));
    }
    return lines;
  };
  t.strictSame(linesIn("COPY t TO STDOUT"), ["a\\tb\t1\n", "\\\\.\t-2\n", "\\N\t\\N\n", "\t40\n", 'q"\t5\n']);
  t.strictSame(linesIn("COPY t TO STDOUT (DELIMITER '-')"), [
    "a\\tb-1\n",
    "\\\\.-\\-2\n",
    "\\N-\\N\n",
    "-40\n",
    'q"-5\n',
  ]);
  t.strictSame(linesIn("COPY t TO STDOUT (FORMAT csv, HEADER, FORCE_QUOTE *)"), [
    's,"a,b"\n',
    '"a\tb","1"\n',
    '"\\.","-2"\n',
    ",\n",
    '"","40"\n',
    '"q""","5"\n',
  ]);
});

t.test("a delimiter of the text format is none of what may follow a backslash", async (t) => {
  for (const delimiter of ["a", "1", ".", "\\"]) {
    t.throws(() => parseCopy(`COPY t TO STDOUT (DELIMITER '${delimiter}')`), {
      message: `COPY delimiter cannot be "${delimiter}"`,
    });
  }
  t.equal(parseCopy("COPY t TO STDOUT (FORMAT csv, DELIMITER 'a')")!.delimiter, "a");
});
