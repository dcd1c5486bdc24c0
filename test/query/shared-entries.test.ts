/** Segments of one file share the dictionaries of their text columns, and have the values that they were made of. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import {
  columnOf,
  isShared,
  receivedColumn,
  sentColumn,
  TextDictionary,
  valueAt,
} from "../../src/query/exec/segments/column.js";
import { KeyCollector } from "../../src/query/exec/segments/segment.js";
import { ColumnFile, ColumnFileWriter, type StoredSegment } from "../../src/query/exec/segments/stored/column-file.js";
import { SharedEntries } from "../../src/query/exec/segments/stored/shared-entries.js";
import { type TextColumn, textsOf } from "../../src/query/exec/segments/text-column.js";
import { BOOL, TEXT, type Value } from "../../src/values/values.js";

const folder = mkdtempSync(join(tmpdir(), "tessera-test-"));
t.teardown(() => rmSync(folder, { recursive: true }));
let files = 0;

const [TEXTS, TRUTHS] = [1, 2];

const truthsOf = (values: readonly Value[]) => values.map((_, row) => (row % 3 === 0 ? null : row % 2 === 0));

/** One segment for each list of texts, with a column of truth values beside them. */
function fileOf(segments: readonly (readonly Value[])[]): ColumnFile {
  const path = join(folder, `${files++}.columns`);
  const writer = new ColumnFileWriter(path);
  const keys = new KeyCollector(0);
  segments.forEach((values, number) => {
    for (const row of values.keys()) keys.add(Buffer.from(`${number}/${row}`));
    const truths = truthsOf(values);
    const columns = new Map([
      [TEXTS, { type: TEXT, column: columnOf(TEXT, values, values.length) }],
      [TRUTHS, { type: BOOL, column: columnOf(BOOL, truths, values.length) }],
    ]);
    writer.add({ from: `${number}`, to: `${number + 1}` }, keys.take(), columns);
  });
  writer.finish();
  return new ColumnFile(path, 0);
}

const textsIn = (segment: StoredSegment, inSharedMemory = false) => segment.readColumn(TEXTS, TEXT, inSharedMemory);

function valuesIn(segment: StoredSegment, inSharedMemory: boolean): Value[] {
  const column = textsIn(segment, inSharedMemory);
  return Array.from({ length: segment.rows }, (_, row) => valueAt(column, row));
}

/** `of` different texts from `first` on, again and again, some of them NULL. */
const some = (rows: number, of: number, first = 0, name = "text"): Value[] =>
  Array.from({ length: rows }, (_, i) => (i % 13 === 4 ? null : `${name} ${first + ((i * 7919) % of)}`));

t.test("what was written is read, in any order, in either memory", async (t) => {
  const segments = [
    some(900, 200),
    some(900, 210, 20),
    some(500, 3),
    some(900, 400, 5000),
    some(900, 300, 5000, "übergröße"),
    some(700, 700),
    some(900, 100, 5000, "übergröße"),
    Array.from({ length: 50 }, () => null),
    ["", null, "", "", null],
    some(5000, 2400, 0, "x".repeat(600)),
    some(5000, 2400, 0, "x".repeat(600)),
    some(900, 200),
  ];
  for (const inSharedMemory of [false, true]) {
    const file = fileOf(segments);
    for (const number of [11, 3, 0, 1, 2, 10, 4, 9, 5, 6, 7, 8]) {
      t.same(valuesIn(file.segments[number]!, inSharedMemory), segments[number], `segment ${number}`);
      const truths = file.segments[number]!.readColumn(TRUTHS, BOOL);
      t.same(
        segments[number]!.map((_, row) => valueAt(truths, row)),
        truthsOf(segments[number]!),
      );
    }
    for (const number of segments.keys()) t.same(valuesIn(file.segments[number]!, !inSharedMemory), segments[number]);
  }
});

t.test("neighbours with much in common have the same entries, others their own", async (t) => {
  const file = fileOf([some(900, 200), some(900, 220, 10), some(900, 90), some(900, 200, 1000), some(900, 300, 1050)]);
  const entries = file.segments.map((segment) => {
    const column = textsIn(segment);
    if (!(column instanceof TextDictionary)) throw new Error(`a column of kind ${column.kind}`);
    return column.entries;
  });
  t.equal(entries[1], entries[0]);
  t.equal(entries[2], entries[0]);
  t.not(entries[3], entries[0]);
  t.equal(entries[4], entries[3]);
  t.ok(file.segments.every((segment) => segment.headOf(TEXTS).kind === "codes"));
});

t.test("their memory is counted once for all", async (t) => {
  const segments = Array.from({ length: 8 }, () => some(900, 200, 0, "a text of some length"));
  const bytes = fileOf(segments).segments.map((segment) => textsIn(segment).bytes);
  const [alone] = fileOf(segments.slice(0, 1)).segments.map((segment) => textsIn(segment).bytes);
  t.ok(
    bytes.every((some) => some < alone! / 2),
    `${bytes} beside ${alone}`,
  );
});

t.test("a column that a thread has read gets the entries of the file", async (t) => {
  const segments = [some(900, 200), some(900, 200)];
  const file = fileOf(segments);
  const read = (segment: StoredSegment) => {
    const column = textsIn(segment, true);
    t.ok(isShared(column));
    return segment.adopted(TEXTS, receivedColumn(structuredClone(sentColumn(column)))) as TextDictionary;
  };
  const [first, second] = file.segments.map(read);
  t.equal(first!.entries, second!.entries);
  t.same(
    segments[1]!.map((_, row) => valueAt(second!, row)),
    segments[1],
  );
  const other = fileOf(segments);
  const plain = textsIn(other.segments[0]!) as TextDictionary;
  t.notOk(isShared(plain), "one that was read for this thread alone is not sent");
  const adopted = other.segments[1]!.adopted(TEXTS, structuredClonedOf(file.segments[1]!)) as TextDictionary;
  t.ok(isShared(adopted));
  t.equal((textsIn(other.segments[0]!, true) as TextDictionary).entries, adopted.entries);
});

const structuredClonedOf = (segment: StoredSegment) =>
  receivedColumn(structuredClone(sentColumn(textsIn(segment, true))));

t.test("entries are taken in as long as there is room, and most of them are known", async (t) => {
  const entriesOf = (values: readonly Value[]) => textsOf(values, values.length)!;
  const each = ({ offsets }: TextColumn) => Uint16Array.from({ length: offsets.length - 1 }, (_, code) => code);
  const taken = (shared: SharedEntries, values: readonly Value[]) => {
    const entries = entriesOf(values);
    return shared.take(each(entries), entries);
  };
  const shared = new SharedEntries(0);
  t.same(taken(shared, ["a", null, "b"]), Uint8Array.of(0, 1, 2));
  t.same(taken(shared, ["b", "c", "a", null]), Uint8Array.of(2, 3, 0, 1));
  t.equal(taken(shared, ["a", "x", "y"]), null, "two of three are new");
  t.equal(shared.count, 4);
  t.equal(shared.segments, 2);
  const large = new SharedEntries(0);
  const numbers = (length: number, first: number) => Array.from({ length }, (_, i) => `${first + i}`);
  taken(large, numbers(8000, 0));
  t.equal(taken(large, numbers(500, 7800)), null, "8,300 in all");
  t.same(
    taken(large, numbers(300, 7850)),
    Uint16Array.from({ length: 300 }, (_, i) => 7850 + i),
  );
  const few = entriesOf(numbers(300, 0));
  t.same(large.take(Uint16Array.of(7, 255, 7), few), Uint8Array.of(7, 255, 7), "a byte is enough");
  t.same(large.take(Uint16Array.of(7, 256), few), Uint16Array.of(7, 256));
});

t.test("entries that no row has are not taken in, until a row of another segment has them", async (t) => {
  const entries = textsOf(["a", "b", null, "c", "d"], 5)!;
  const shared = new SharedEntries(0);
  t.same(shared.take(Uint8Array.of(3, 1, 3), entries), Uint8Array.of(1, 0, 1));
  t.equal(shared.count, 2);
  t.equal(shared.take(Uint8Array.of(0, 2, 1), entries), null, "two of three are new");
  t.equal(shared.count, 2, "and were not taken in");
  t.same(shared.take(Uint8Array.of(3, 2, 1, 1), entries), Uint8Array.of(1, 2, 0, 0));
  t.same(shared.take(Uint8Array.of(2, 4, 1), entries), Uint8Array.of(2, 3, 0));
  const texts = shared.column();
  t.same(
    Array.from({ length: shared.count }, (_, row) => valueAt(texts, row)),
    ["b", "c", null, "d"],
  );
});
