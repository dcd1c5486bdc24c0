/** COPY … FROM in binary: the rows as lines of text, wherever the pieces that bring them are cut. */
import t from "tap";
import { binaryAsText } from "../../../src/features/postgres/copy-binary.js";
import { linesOf } from "../../../src/features/postgres/copy-out.js";
import { messagesOf } from "../../../src/protocol/postgres/message-reader.js";
import { MessageWriter } from "../../../src/protocol/postgres/message-writer.js";
import { shapeOf } from "../../../src/session/sql-result.js";
import { type CopyStatement, parseCopy } from "../../../src/sql/parse/copy.js";
import { loadParser } from "../../../src/sql/parse/parse.js";
import { fromText } from "../../../src/values/text-format.js";
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
];
const LINES = [
  "-32768\t9007199254740993\ttab\\tand\\nline \\\\ größer\t-0012.50\tt\t2026-01-31\n",
  "1\t-9007199254740991\t\tNaN\tf\t\\N\n",
  "\\N\t0\t\\\\.\t00100000\t\\N\t1999-12-31\n",
];
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

async function textOf(bytes: Buffer, pieceBytes: number): Promise<string> {
  async function* pieces(): AsyncIterable<Uint8Array> {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  let text = "";
  const types = COLUMNS.map(([type]) => type);
  for await (const piece of binaryAsText(pieces(), types)) text += Buffer.from(piece).toString("latin1");
  return Buffer.from(text, "latin1").toString("utf8");
}

t.test("pieces of any length", async (t) => {
  const bytes = file();
  for (const length of [1, 2, 3, 7, 19, 20, 64, bytes.length]) t.equal(await textOf(bytes, length), LINES.join(""));
});

t.test("more rows than a piece of text holds", async (t) => {
  const bytes = file();
  const [head, rows] = [bytes.subarray(0, 19), bytes.subarray(19, -2)];
  const many = Buffer.concat([head, ...new Array<Buffer>(2000).fill(rows), bytes.subarray(-2)]);
  t.equal(await textOf(many, 100_000), LINES.join("").repeat(2000));
});

t.test("data that is none", async (t) => {
  const bytes = file();
  await t.rejects(textOf(bytes.subarray(0, 60), 7), /unexpected end of data/);
  const other = Buffer.from(bytes);
  other[5] = 0x58;
  await t.rejects(textOf(other, 7), /the signature is not recognized/);
  const wrong = Buffer.from(bytes);
  wrong.writeInt16BE(5, 19);
  await t.rejects(textOf(wrong, 64), /row field count is 5, expected 6/);
  const short = Buffer.from(bytes);
  short.writeInt32BE(1, 21);
  await t.rejects(textOf(short, 64), /the message ends too early/);
});
