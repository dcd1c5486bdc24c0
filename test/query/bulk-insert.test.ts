/** The short ways of a bulk load give what the long ways give: field readers and fromText, slab and record codec. */
import fc from "fast-check";
import t from "tap";
import {
  readBool,
  readDate,
  readDecimal,
  readInteger,
  readScaled,
  readTimestamp,
  readUuid,
  scaledTo,
  scaleRead,
} from "../../src/query/exec/field-readers.js";
import { encodeRecord } from "../../src/storage/record-codec.js";
import { RecordSlab } from "../../src/storage/record-slab.js";
import { fromText } from "../../src/values/text-format.js";
import {
  BOOL,
  DATE,
  FLOAT8,
  INT8,
  JSONB,
  NUMERIC,
  numericType,
  TEXT,
  TIMESTAMP,
  TIMESTAMPTZ,
  UUID,
  type Value,
} from "../../src/values/values.js";

const bytesOf = (text: string): Buffer => Buffer.from(`  ${text},,`);
type Reader = (bytes: Uint8Array, start: number, end: number) => Value | undefined;

const utc = { timeZone: "UTC", nowMicros: 0 };
const forms: readonly (readonly [string, Reader, (text: string) => Value])[] = [
  ["integers", readInteger, (text) => fromText(INT8, text)],
  ["doubles", readDecimal, (text) => fromText(FLOAT8, text)],
  ["booleans", readBool, (text) => fromText(BOOL, text)],
  ["dates", readDate, (text) => fromText(DATE, text)],
  ["timestamps", (bytes, start, end) => readTimestamp(bytes, start, end, false), (text) => fromText(TIMESTAMP, text)],
  [
    "timestamps with time zone",
    (bytes, start, end) => readTimestamp(bytes, start, end, true),
    (text) => fromText(TIMESTAMPTZ, text, utc),
  ],
];

const pad = (n: number, digits = 2): string => String(n).padStart(digits, "0");
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."0123456789-+.eE :TZtrufalsonyx"), maxLength: 12 }),
  fc.integer().map(String),
  fc.double({ noNaN: true }).map(String),
  fc.tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.nat(9)).map(([n, k]) => (n / 10 ** k).toFixed(k)),
  fc
    .tuple(fc.integer({ min: 1, max: 9999 }), fc.nat(13), fc.nat(32), fc.nat(24), fc.nat(60), fc.nat(999_999))
    .chain(([year, month, day, hour, minute, micros]) => {
      const date = `${pad(year, 4)}-${pad(month)}-${pad(day)}`;
      const time = `${pad(hour)}:${pad(minute)}:${pad(minute)}`;
      return fc.constantFrom(
        date,
        `${date} ${time}`,
        `${date}T${time}.${micros}`,
        `${date}T${time}.${pad(micros, 6)}Z`,
        `${date} ${time}+00`,
        `${date} ${time}.${micros}-${pad(hour)}`,
        `${date} ${time}+${pad(hour)}:${pad(minute)}`,
        `${date} ${time}+${pad(hour)}:${pad(minute)}:30`,
      );
    }),
);

for (const [name, read, parse] of forms) {
  t.test(name, async () => {
    fc.assert(
      fc.property(text, (sample) => {
        const bytes = bytesOf(sample);
        const value = read(bytes, 2, bytes.length - 2);
        return value === undefined || Object.is(value, parse(sample));
      }),
      { numRuns: 2000 },
    );
  });
}

for (const modifier of [null, { precision: 5, scale: 2 }, { precision: 2, scale: 4 }, { precision: 18, scale: 4 }]) {
  t.test(`numbers with ${JSON.stringify(modifier)}`, async () => {
    const type = modifier === null ? NUMERIC : numericType(modifier.precision, modifier.scale);
    const numbers = fc
      .tuple(
        fc.oneof(fc.integer({ min: -99, max: 99 }), fc.integer({ min: -1e6, max: 1e6 })),
        fc.nat(7),
        fc.constantFrom("", "0", "00005", "."),
      )
      .map(([n, k, more]) => (n / 10 ** k).toFixed(k) + more);
    let read = 0;
    fc.assert(
      fc.property(fc.oneof(text, numbers), (sample) => {
        const bytes = bytesOf(sample);
        let unscaled = readScaled(bytes, 2, bytes.length - 2);
        if (unscaled !== undefined && modifier !== null) unscaled = scaledTo(modifier, unscaled, scaleRead);
        if (unscaled === undefined) return true;
        read++;
        const value = fromText(type, sample);
        const slab = new RecordSlab();
        slab.begin(1);
        slab.scaled(unscaled, modifier?.scale ?? scaleRead);
        return Buffer.from(slab.finish()).equals(encodeRecord([type], [value]));
      }),
      { numRuns: 3000 },
    );
    // Of few digits, one in eight or so.
    t.ok(read > 100, `${read} were read`);
  });
}

t.test("UUIDs", async () => {
  const into = new Uint8Array(16);
  const read = (sample: string): boolean => readUuid(bytesOf(sample), 2, 2 + sample.length, into);
  fc.assert(
    fc.property(fc.uuid(), fc.boolean(), (uuid, isUpper) => {
      const isRead = read(isUpper ? uuid.toUpperCase() : uuid);
      const frame = Buffer.from(encodeRecord([UUID], [uuid]).subarray(-16));
      return isRead && frame.equals(into) && frame.toString("hex") === uuid.replaceAll("-", "");
    }),
  );
  for (const wrong of [
    "a0eebc999c0b4ef8bb6d6bb9bd380a11",
    "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1g",
    "",
    "-".repeat(36),
  ]) {
    t.notOk(read(wrong), wrong);
  }
});

t.test("a slab's records are the codec's", async () => {
  const slab = new RecordSlab();
  const types = [INT8, FLOAT8, BOOL, TEXT, TIMESTAMP, null, NUMERIC, JSONB];
  const json = fromText(JSONB, '{"a": [1, 2]}');
  const number = fc.oneof(
    fc.integer(),
    fc.maxSafeInteger(),
    fc.constantFrom(0, -1, 127, 128, -128, -129, 2 ** 23, 2 ** 31),
  );
  const row = fc.tuple(
    fc.option(number),
    fc.double(),
    fc.boolean(),
    fc.string({ maxLength: 70_000 }),
    fc.option(number),
  );
  fc.assert(
    fc.property(row, ([a, b, c, d, e]) => {
      slab.begin(types.length);
      if (a === null) slab.null(0);
      else slab.integer(a);
      slab.float8(b);
      slab.bool(c);
      const bytes = Buffer.from(`<${d}>`);
      slab.text(bytes, 1, bytes.length - 1);
      if (e === null) slab.null(4);
      else slab.integer(e);
      slab.null(5);
      slab.value(NUMERIC, fromText(NUMERIC, "12.50"));
      slab.value(JSONB, json);
      return Buffer.from(slab.finish()).equals(
        encodeRecord(types, [a, b, c, d, e, null, fromText(NUMERIC, "12.50"), json]),
      );
    }),
  );
});
