/** COPY … FROM in binary: the rows, wherever the pieces that bring them are cut. */
import t from "tap";
import { scaledFrom, scaleFound, writeNumeric } from "../../../src/features/postgres/binary-numeric.js";
import { CopyBinaryReader } from "../../../src/features/postgres/copy-binary.js";
import { linesOf } from "../../../src/features/postgres/copy-out.js";
import { DbError } from "../../../src/protocol/errors.js";
import { messagesOf } from "../../../src/protocol/postgres/message-reader.js";
import { BACK } from "../../../src/protocol/postgres/message-types.js";
import { MessageWriter } from "../../../src/protocol/postgres/message-writer.js";
import { shapeOf } from "../../../src/session/sql-result.js";
import { type CopyStatement, parseCopy } from "../../../src/sql/parse/copy.js";
import { loadParser } from "../../../src/sql/parse/parse.js";
import { FIELD_ESCAPED, FIELD_PLAIN, FIELD_VALUE } from "../../../src/values/csv-reader.js";
import { Numeric } from "../../../src/values/numeric.js";
import { fromText, toText } from "../../../src/values/text-format.js";
import type { SqlType } from "../../../src/values/values.js";
import * as V from "../../../src/values/values.js";
import { Random } from "../../fuzz/random.js";
import { tries } from "../../lengths.js";

await loadParser();

const COLUMNS: readonly (readonly [SqlType, readonly (string | null)[]])[] = [
  [V.INT2, ["-32768", "1", null]],
  [V.INT8, ["9007199254740993", "-9007199254740991", "0"]],
  [V.TEXT, ["tab\tand\nline \\ größer", "", "\\."]],
  [V.NUMERIC, ["-12.50", "NaN", "100000"]],
  [V.BOOL, ["t", "f", null]],
  [V.DATE, ["2026-01-31", null, "1999-12-31"]],
  [V.NUMERIC, ["-123456789012345678901234567890.00012", "0.00001230", "-Infinity"]],
  [V.numericType(8, 3), ["-0.050", "12345.678", null]],
  [V.TIMESTAMPTZ, ["2026-01-31 10:11:12.5+00", "infinity", null]],
  [V.typeOf("timestamp", 0), ["1999-12-31 23:59:59", null, "0099-01-01 00:00:00"]],
  [V.UUID, ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", null, null]],
  [V.JSONB, ['{"a": [1, 2.50]}', "null", '"größer"']],
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
  return Buffer.concat(messagesOf(writer.take()).map(({ fields }) => fields.rest()));
}

function rowsOf(bytes: Buffer, pieceBytes: number): (string | null)[][] {
  const reader = new CopyBinaryReader(COLUMNS.map(([type], i) => ({ name: `c${i}`, type })));
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

t.test("data that is none", async (t) => {
  const bytes = file();
  t.throws(() => rowsOf(bytes.subarray(0, 60), 7), /unexpected end of data/);
  const other = Buffer.from(bytes);
  other[5] = 0x58;
  t.throws(() => rowsOf(other, 7), /the signature is not recognized/);
  const wrong = Buffer.from(bytes);
  wrong.writeInt16BE(5, 19);
  t.throws(() => rowsOf(wrong, 64), /row field count is 5, expected 13/);
  const text = Buffer.from(bytes);
  text[text.indexOf("größer") + 2] = 0xff;
  t.throws(() => rowsOf(text, 64), { message: /invalid byte sequence for encoding "UTF8" at line 1, column "c2"/ });
  text[text.indexOf("line")] = 0;
  t.throws(() => rowsOf(text, 64), {
    message: /invalid byte sequence for encoding "UTF8": 0x00 at line 1, column "c2"/,
  });
  const json = Buffer.from(bytes);
  json[json.indexOf('{"a":') - 1] = 2;
  t.throws(() => rowsOf(json, 64), { message: /incorrect binary data format for type jsonb at line 1, column "c11"/ });
  const short = Buffer.concat([bytes.subarray(0, 21), Buffer.of(0, 0, 0, 1, 7), bytes.subarray(27)]);
  t.throws(() => rowsOf(short, 64), /the message ends too early/);
});

t.test("ends, headers and lengths are PostgreSQL's", async (t) => {
  const bytes = file();
  const changed = (at: number, ...values: readonly number[]): Buffer => {
    const copy = Buffer.from(bytes);
    copy.set(values, at);
    return copy;
  };
  const refused: readonly (readonly [Buffer, RegExp])[] = [
    [Buffer.alloc(0), /the signature is not recognized/],
    [bytes.subarray(0, 10), /the signature is not recognized/],
    [bytes.subarray(0, 18), /the signature is not recognized/],
    [Buffer.concat([bytes, Buffer.of(7)]), /there is more after the end/],
    [Buffer.concat([bytes, bytes]), /there is more after the end/],
    [bytes.subarray(0, 20), /unexpected end of data/],
    [changed(11, 0, 1), /the header has unknown flags/],
    [changed(11, 0x80), /the header has unknown flags/],
    [changed(15, 0xff, 0xff, 0xff, 0xff), /the header has no length/],
    [changed(21, 0xff, 0xff, 0xff, 0xfe), /invalid field size/],
    [changed(21, 0x80, 0, 0, 0), /invalid field size/],
    [changed(21, 0x7f, 0xff, 0xff, 0xff), /unexpected end of data/],
    [changed(19, 0xff, 0xfe), /row field count is -2, expected 13/],
    [changed(19, 0, 8), /row field count is 8, expected 13/],
    [changed(19, 0, 0), /row field count is 0, expected 13/],
  ];
  for (const [wrong, message] of refused) {
    for (const length of [1, 64, 10_000]) t.throws(() => rowsOf(wrong, length), { message });
  }
  // Other flags mean nothing, the header's extension is passed over, and the end need not be marked.
  const extended = Buffer.concat([bytes.subarray(0, 18), Buffer.of(3, 1, 2, 3), bytes.subarray(19)]);
  for (const right of [changed(13, 0xff, 0xff), extended, bytes.subarray(0, -2)]) {
    for (const length of [1, 5, 10_000]) t.same(rowsOf(right, length), ROWS);
  }
});

t.test("a field's error says where it is", async (t) => {
  for (const [at, column] of [
    [23, "c0"],
    [29, "c1"],
  ] as const) {
    const bytes = file();
    // One byte shorter.
    bytes.writeInt32BE(bytes.readInt32BE(at - 2) - 1, at - 2);
    const cut = Buffer.concat([bytes.subarray(0, at + 2), bytes.subarray(at + 3)]);
    t.throws(() => rowsOf(cut, 64), { message: new RegExp(`at line 1, column "${column}"`) });
  }
});

/** SEED replays one run; TEST_LENGTH makes more of them (test/lengths.ts). */
t.test("damaged bytes give an error of the data, the same one wherever the pieces are cut", async (t) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  const random = new Random(seed);
  const outcomeOf = (bytes: Buffer, length: number): unknown => {
    try {
      return rowsOf(bytes, length);
    } catch (error) {
      if (!(error instanceof DbError) || !/^(?:22|08P01|54000)/.test(String(error.details?.sqlstate))) throw error;
      return error.message;
    }
  };
  const outcomes = new Set<string>();
  for (let i = 0; i < tries(400); i++) {
    const bytes = file();
    const from = random.chance(0.8) ? 19 : 0;
    for (let n = random.below(3); n >= 0; n--) {
      bytes[from + random.below(bytes.length - from)] = random.one([
        0,
        1,
        2,
        0x7f,
        0x80,
        0xfe,
        0xff,
        random.below(256),
      ]);
    }
    const data = random.chance(0.3) ? bytes.subarray(0, random.below(bytes.length + 1)) : bytes;
    const whole = outcomeOf(data, data.length + 1);
    for (const length of [1, 1 + random.below(40)]) {
      const pieces = outcomeOf(data, length);
      if (JSON.stringify(pieces) !== JSON.stringify(whole)) t.same(pieces, whole, `SEED=${seed}, round ${i}`);
    }
    outcomes.add(typeof whole === "string" ? whole.replace(/[-\d]+/g, "1") : "rows");
  }
  t.ok(outcomes.size >= 5, `outcomes: ${[...outcomes].join("; ")}`);
});

t.test("a numeric of few digits is read as an integer and a scale", async (t) => {
  const random = new Random(24);
  let read = 0;
  const check = (number: Numeric): void => {
    const writer = new MessageWriter();
    writer.begin(BACK.dataRow);
    writeNumeric(writer, number);
    writer.end();
    const [message] = messagesOf(writer.take());
    const bytes = Buffer.concat([Buffer.from("##"), message!.fields.rest(), Buffer.from("##")]);
    const scaled = scaledFrom(bytes, 2, bytes.length - 2);
    const isShort = number.special === null && number.scale <= 15 && Math.abs(Number(number.unscaled)) < 1e15;
    if (scaled === undefined) {
      if (isShort && number.unscaled.toString().length < 12) throw new Error(`${number} was not read`);
      return;
    }
    read++;
    if (BigInt(scaled) !== number.unscaled || scaleFound !== number.scale) throw new Error(`${number} as ${scaled}`);
  };
  for (let i = 0; i < tries(3000); i++) {
    const digits = random.below(18);
    const unscaled = BigInt(Math.floor(random.next() * 10 ** digits)) * (random.below(2) === 0 ? -1n : 1n);
    check(Numeric.of(unscaled * (random.below(4) === 0 ? 10n ** BigInt(random.below(6)) : 1n), random.below(20)));
  }
  for (const special of [Numeric.NAN, Numeric.INFINITY, Numeric.NEGATIVE_INFINITY, Numeric.ZERO]) check(special);
  t.ok(read > 100, `${read} were read`);
});
