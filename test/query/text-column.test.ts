/** Columns of texts, and the buffer of rows that takes them: the same values come out as were put in. */
import t from "tap";
import { Chunk } from "../../src/query/exec/segments/chunk.js";
import { type Column, columnOf, valueAt, valuesOf } from "../../src/query/exec/segments/column.js";
import { ColumnBuffer } from "../../src/query/exec/segments/column-buffer.js";
import { textsOf as columnOfTexts, GrowingTexts } from "../../src/query/exec/segments/text-column.js";
import { BOOL, BPCHAR, NAME, TEXT, UUID, VARCHAR, type Value } from "../../src/values/values.js";
import { Random } from "./random-plans.js";
import { Database } from "./run-plans.js";

const PARTS = [
  "",
  "a",
  "Straße",
  "%",
  "_",
  "\\",
  " ",
  "\0",
  "ﬀ",
  "\u{1F600}",
  "\uFEFF",
  "漢字",
  "a long part of plain letters",
];

function textOf(random: Random, isAscii: boolean): string {
  let text = "";
  for (let i = random.below(5); i > 0; i--) {
    const part = PARTS[random.below(PARTS.length)]!;
    if (!isAscii || Buffer.byteLength(part) === part.length) text += part;
  }
  return `${text}${random.below(1e6)}`;
}

function textsOf(random: Random, count: number, isAscii: boolean, withNulls: boolean): Value[] {
  return Array.from({ length: count }, () => (withNulls && random.below(6) === 0 ? null : textOf(random, isAscii)));
}

function numbersBelow(random: Random, count: number, limit: number): Int32Array {
  return Int32Array.from({ length: count }, () => random.below(limit));
}

t.test("texts that do not repeat are held as bytes, and come back", async (t) => {
  const random = new Random(11);
  for (let round = 0; round < 40; round++) {
    const [isAscii, withNulls] = [random.below(2) === 0, random.below(2) === 0];
    const count = 40 + random.below(100);
    const values = textsOf(random, count + 3, isAscii, withNulls);
    const column = columnOf([TEXT, VARCHAR, BPCHAR, NAME, UUID][random.below(5)]!, values, count);
    if (column.kind !== "text") {
      t.fail(`it is held as ${column.kind}`);
      continue;
    }
    const isPlain = values.slice(0, count).every((value) => value === null || /^\p{ASCII}*$/u.test(value as string));
    t.equal(column.isAscii, isPlain);
    t.equal(column.nulls !== null, values.slice(0, count).includes(null));
    const size = column.data.byteLength + column.offsets.byteLength + (column.nulls?.byteLength ?? 0);
    t.equal(column.bytes, size);
    t.strictSame(
      Array.from({ length: count }, (_, row) => valueAt(column, row)),
      values.slice(0, count),
    );
    t.strictSame(valuesOf(column, null, 5, 20, []), values.slice(5, 25));
    const rows = numbersBelow(random, 30, count);
    const picked = Array.from(rows, (row) => values[row]!);
    t.strictSame(valuesOf(column, rows, 0, 30, []), picked);
  }
});

t.test("what UTF-8 has no form for stays as it is", async (t) => {
  const others = Array.from({ length: 20 }, (_, i) => `other ${i}`);
  for (const values of [
    ["\uD83D", "\uDE00"],
    ["a\uDE00b", "c"],
    ["\uDE00", "c"],
    ["c", "\uD83D"],
  ]) {
    const all = [...values, ...others];
    const column = columnOf(TEXT, all, all.length);
    t.equal(column.kind, "plain");
    t.strictSame(
      all.map((_, row) => valueAt(column, row)),
      all,
    );
  }
  t.equal(columnOf(BOOL, [true, false, null], 3).kind, "plain", "so do truth values, few as they are");
});

t.test("long texts that come piece by piece are put together in steps", async (t) => {
  const random = new Random(29);
  const texts = new GrowingTexts();
  for (let life = 0; life < 3; life++) {
    const expected: Value[] = [];
    for (let piece = 0; piece < 40; piece++) {
      const count = 1 + random.below(60);
      const values: Value[] = Array.from({ length: count }, (_, i) => {
        if (piece > 4 && random.below(9) === 0) return null;
        return (life + piece + i).toString(36).repeat(random.below(1000)) + textOf(random, life !== 1);
      });
      const column = columnOfTexts(values, count)!;
      const rows = random.below(2) === 0 ? null : numbersBelow(random, count, count);
      texts.append(column, rows, 0, count);
      expected.push(...(rows === null ? values : Array.from(rows, (row) => values[row]!)));
      if (piece !== 20) continue;
      while (!texts.settle());
      t.strictSame(valuesOf(texts.column(), null, 0, expected.length, []), expected, "in between");
    }
    if (life === 0) t.notOk(texts.settle(), "no step copies all");
    t.strictSame(valuesOf(texts.column(), null, 0, expected.length, []), expected, `life ${life}`);
    t.ok(texts.settle());
    texts.restart();
    t.strictSame([texts.length, [...texts.column().offsets], texts.column().data.length], [0, [0], 0]);
  }
});

t.test("a buffer of rows gives back what came, of whatever kind it is held as", async (t) => {
  const database = await Database.open(t);
  const random = new Random(13);
  const kinds = new Set<Column["kind"]>();
  for (let round = 0; round < 60; round++) {
    const context = database.context();
    const buffer = new ColumnBuffer([{ id: 1, name: "t", type: TEXT, nullable: true }], context);
    const expected: Value[] = [];
    const isAscii = random.below(2) === 0;
    for (let piece = 1 + random.below(6); piece > 0; piece--) {
      const count = 20 + random.below(60);
      const few = textsOf(random, 3, isAscii, true);
      const oddly = random.below(40) === 0 ? ["\uD83D"] : [];
      const values: Value[] =
        random.below(3) === 0
          ? Array.from({ length: count }, () => few[random.below(3)]!)
          : [...textsOf(random, count - oddly.length, isAscii, random.below(2) === 0), ...oddly];
      const column = columnOf(TEXT, values, count);
      const rows = random.below(2) === 0 ? null : numbersBelow(random, 30, count);
      buffer.append(new Chunk([column], [{ rows, from: 4 }], rows === null ? 10 : 30, [[]]));
      expected.push(...(rows === null ? values.slice(4, 14) : Array.from(rows, (row) => values[row]!)));
    }
    const [vector] = buffer.vectors() as [Column];
    kinds.add(vector.kind);
    t.strictSame(valuesOf(vector, null, 0, expected.length, []), expected, `round ${round}`);
    t.equal(context.statement.memoryBytes, buffer.bytes);
    t.ok(buffer.bytes >= 4 * expected.length || vector.kind === "dictionary", `${buffer.bytes} bytes`);
    buffer.appendNulls();
    t.equal(valueAt(buffer.vectors()[0]!, expected.length), null);
    buffer.clear();
    t.equal(context.statement.memoryBytes, 0);
  }
  t.strictSame([...kinds].sort(), ["dictionary", "plain", "text"]);
});
