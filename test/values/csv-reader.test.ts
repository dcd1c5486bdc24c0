/** Reading CSV: the records do not depend on where the bytes were cut, and broken quotes are told with their line. */
import fc from "fast-check";
import t from "tap";
import { csvFieldWriter } from "../../src/values/csv-format.js";
import { CsvReader, FIELD_PLAIN } from "../../src/values/csv-reader.js";

interface Record {
  readonly line: number;
  readonly fields: (string | null)[];
}

function read(pieces: readonly Uint8Array[], delimiter = ",", quote = '"', escapedBy = quote): Record[] {
  const reader = new CsvReader(delimiter, quote, 1000, escapedBy);
  const records: Record[] = [];
  const take = (isEnd: boolean): void => {
    while (reader.next(isEnd)) {
      const fields = Array.from({ length: reader.count }, (_, i) => {
        const text = reader.text(i);
        return text === "" && reader.kinds[i] === FIELD_PLAIN ? null : text;
      });
      records.push({ line: reader.line, fields });
    }
  };
  for (const piece of pieces) {
    reader.push(piece);
    take(false);
  }
  take(true);
  return records;
}

const whole = (text: string): Record[] => read([Buffer.from(text)]);

const refused = (details: object): Error => ({ details }) as unknown as Error;

t.test("fields, quotes, line ends", async (t) => {
  t.strictSame(whole('a,b\r\n1,"x, ""y"""\n,""\n"l1\nl2",3'), [
    { line: 1, fields: ["a", "b"] },
    { line: 2, fields: ["1", 'x, "y"'] },
    { line: 3, fields: [null, ""] },
    { line: 4, fields: ["l1\nl2", "3"] },
  ]);
  t.strictSame(whole("a,\n"), [{ line: 1, fields: ["a", null] }]);
  t.strictSame(whole("a,"), [{ line: 1, fields: ["a", null] }]);
  t.strictSame(whole(""), []);
  t.strictSame(read([Buffer.from("'a;b';c")], ";", "'"), [{ line: 1, fields: ["a;b", "c"] }]);
});

t.test("quotes that do not fit", async (t) => {
  t.throws(() => whole('a\n"b'), refused({ sqlstate: "22P04", line: 2 }));
  t.throws(() => whole('"a"b,c\n'), refused({ sqlstate: "22P04", line: 1 }));
  t.throws(() => read([Buffer.from(`"${"x".repeat(1100)}`), Buffer.from("y")]), refused({ sqlstate: "54000" }));
});

t.test("what was written is read, however it is cut", async () => {
  const text = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r", "ö", ""), maxLength: 6 });
  const rows = fc.array(fc.array(fc.option(text), { minLength: 2, maxLength: 3 }), { maxLength: 6 });
  const style = { delimiter: ",", quote: '"', nullText: "", header: false };
  fc.assert(
    fc.property(rows, fc.array(fc.nat(60), { maxLength: 5 }), (records, cuts) => {
      const field = csvFieldWriter(style);
      const bytes = Buffer.from(records.map((fields) => `${fields.map(field).join(",")}\n`).join(""));
      const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
      const pieces = places.slice(1).map((place, i) => bytes.subarray(places[i], place));
      return JSON.stringify(read(pieces).map(({ fields }) => fields)) === JSON.stringify(records);
    }),
  );
});

t.test("an escape character of its own, wherever the bytes are cut", async (t) => {
  const text = 'a,"x \\" y","\\\\","\\n","\\"\n"\\\\\\"",\\,"",b\\\n';
  const expected = [
    ["a", 'x " y', "\\", "\\n", null],
    ['\\"', "\\", "", "b\\"],
  ];
  const bytes = Buffer.from(text.replace(',"\\"\n', ",\n"));
  for (let cut = 0; cut <= bytes.length; cut++) {
    const found = read([bytes.subarray(0, cut), bytes.subarray(cut)], ",", '"', "\\");
    t.same(
      found.map(({ fields }) => fields),
      expected,
      `cut at ${cut}`,
    );
  }
  t.throws(() => read([Buffer.from('"a\\')], ",", '"', "\\"), refused({ sqlstate: "22P04", line: 1 }));
  t.throws(() => read([Buffer.from('"a\\"')], ",", '"', "\\"), refused({ sqlstate: "22P04", line: 1 }));
  const style = { delimiter: ",", quote: '"', escape: "\\", nullText: "", header: false };
  const field = csvFieldWriter(style);
  t.same(['a"b', "\\", "\\,", null, ""].map(field), ['"a\\"b"', "\\", '"\\\\,"', "", '""']);
  const row = Buffer.from(`${['\\"', 'x\\y"z,', "\\"].map(field).join(",")}\n`);
  t.same(read([row], ",", '"', "\\")[0]!.fields, ['\\"', 'x\\y"z,', "\\"]);
});

t.test("each byte of a long record is looked at once", async (t) => {
  const piece = 1024;
  const pieces = 512;
  const read = (makePiece: (i: number) => Buffer): number => {
    const reader = new CsvReader(",", '"', 1024 * 1024);
    let moved = 0;
    for (let i = 0; i < pieces; i++) {
      const before = reader.pieces.bytes.buffer;
      const { left } = reader.pieces;
      reader.push(makePiece(i));
      if (left > 0 && reader.pieces.bytes.buffer !== before) moved += left;
      reader.next(false);
      reader.pieces.checked(reader.pieces.fresh.bytes.length);
      t.equal(reader.pieces.fresh.bytes.length, 0);
    }
    t.equal(reader.next(true), true);
    t.equal(reader.text(reader.count - 1).length > 0, true);
    return moved;
  };
  // A buffer that doubles copies what it has less than twice in all.
  t.ok(read(() => Buffer.alloc(piece, "x")) < 2 * piece * pieces);
  t.ok(
    read((i) => Buffer.from(`${i === 0 ? '"' : ""}${"y".repeat(piece - 1)}${i === pieces - 1 ? '"' : "\n"}`)) <
      2 * piece * pieces,
  );
});

t.test("a record of endless fields is refused", async (t) => {
  t.throws(() => whole(`a\n${",".repeat(5000)}`), refused({ sqlstate: "22P04", line: 2 }));
});
