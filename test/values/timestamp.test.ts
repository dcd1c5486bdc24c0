/** Timestamps are exact to the microsecond over PostgreSQL's whole range, with one form each, as texts and bytes. */
import fc from "fast-check";
import t from "tap";
import { binaryWriter, fromBinary } from "../../src/features/postgres/binary-values.js";
import { columnarWriter } from "../../src/features/statements/columnar-values.js";
import { jsonTimestamp } from "../../src/ingest/columnar/json-values.js";
import { MessageWriter } from "../../src/protocol/postgres/message-writer.js";
import { sqlForm, toVariant } from "../../src/query/expr/variant-cast.js";
import { DAY_MICROS } from "../../src/values/datetime.js";
import { fromParameter, jsonWriter, plainWriter } from "../../src/values/json-format.js";
import { fromText, toText } from "../../src/values/text-format.js";
import {
  addMicros,
  binStart,
  checkedTimestamp,
  floorTimestamp,
  isFiniteTimestamp,
  microsBetween,
  roundTimestamp,
  splitTimestamp,
  type Timestamp,
  timestampAt,
  timestampOf,
  wholeUnits,
} from "../../src/values/timestamp.js";
import { type SqlType, TIMESTAMP, TIMESTAMPTZ } from "../../src/values/values.js";
import type { Variant } from "../../src/values/variant.js";
import { timestamps } from "../storage/values.js";

const finite = timestamps.filter(isFiniteTimestamp).map(BigInt);
const counts = fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n });
const TYPES: readonly SqlType[] = [TIMESTAMP, TIMESTAMPTZ];

/** `===` and not only equal: there is one form. */
function same(got: Timestamp, micros: bigint): boolean {
  return got === timestampOf(micros) && BigInt(got) === micros;
}

const floored = (x: bigint, unit: bigint): bigint => x - (((x % unit) + unit) % unit);

t.test("the arithmetic is that of integers", async (t) => {
  const units = fc.constantFrom(1, 1000, 1_000_000, 60_000_000, 3_600_000_000, DAY_MICROS);
  const property = fc.property(finite, finite, counts, units, (a, b, count, unit) => {
    const [x, y] = [timestampOf(a), timestampOf(b)];
    const between = a - b;
    const small = Number(between);
    const { days, micros } = splitTimestamp(x);
    return (
      same(addMicros(x, count), a + count) &&
      same(addMicros(x, Number(count % 2n ** 53n)), a + (count % 2n ** 53n)) &&
      microsBetween(x, y) === (Number.isSafeInteger(small) ? small : between) &&
      same(floorTimestamp(x, unit), floored(a, BigInt(unit))) &&
      BigInt(wholeUnits(x, 10_000 * unit)) === floored(a, 10_000n * BigInt(unit)) / (10_000n * BigInt(unit)) &&
      same(binStart(x, unit, y), b + floored(a - b, BigInt(unit))) &&
      BigInt(days) * BigInt(DAY_MICROS) + BigInt(micros) === a &&
      micros >= 0 &&
      micros < DAY_MICROS &&
      timestampAt(days, micros) === x &&
      x < y === a < b &&
      (x === y) === (a === b)
    );
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 2000 }));
});

t.test("infinite ones stay, and the ends of the range are where PostgreSQL has them", async (t) => {
  for (const infinite of [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    t.equal(addMicros(infinite, 1), infinite);
    t.equal(addMicros(infinite, -(2n ** 60n)), infinite);
    t.equal(timestampAt(infinite), infinite);
    t.equal(roundTimestamp(infinite, 0), infinite);
    t.equal(checkedTimestamp(infinite), infinite);
  }
  const [first, last] = [-210_866_803_200_000_000n, 9_224_318_015_999_999_999n];
  for (const [micros, isHeld] of [
    [first, true],
    [first - 1n, false],
    [last, true],
    [last + 1n, false],
  ] as const) {
    const check = () => checkedTimestamp(timestampOf(micros));
    if (isHeld) t.equal(BigInt(check()), micros);
    else t.throws(check, { message: "timestamp out of range" });
  }
});

t.test("digits are rounded half away from the year 2000", async (t) => {
  const from = 946_684_800_000_000n;
  const property = fc.property(finite, fc.nat(6), (micros, digits) => {
    const unit = 10n ** BigInt(6 - digits);
    const size = micros < from ? from - micros : micros - from;
    const rounded = ((size + unit / 2n) / unit) * unit;
    return same(roundTimestamp(timestampOf(micros), digits), micros < from ? from - rounded : from + rounded);
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 1000 }));
});

t.test("text, JSON, MessagePack and PostgreSQL's binary form give the same value back", async (t) => {
  const zones = fc.constantFrom("UTC", "America/New_York", "Asia/Kolkata", "+07");
  const property = fc.property(timestamps, zones, fc.constantFrom(...TYPES), (value, timeZone, type) => {
    const clock = { timeZone, nowMicros: 0 };
    const writer = new MessageWriter();
    binaryWriter(type)(writer, value);
    const json = JSON.parse(jsonWriter(type)(value)) as string;
    return (
      fromText(type, toText(type, value, timeZone), clock) === value &&
      fromParameter(type, json) === value &&
      plainWriter(type)(value) === json &&
      fromBinary(type, writer.take().subarray(4)) === value
    );
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 2000 }));
});

t.test("Arrow and Parquet give the same value back, or say that they have no such time", async (t) => {
  const property = fc.property(timestamps, fc.constantFrom(...TYPES), (value, type) => {
    const isLate = isFiniteTimestamp(value) && value >= 2n ** 63n - 1n;
    const write = () => columnarWriter(type, "at").write([value, null], 0, 2).data!;
    if (isLate) {
      t.throws(write, { code: "not_supported", details: { column: "at" } });
      return true;
    }
    const { buffer, byteOffset } = write();
    const micros = new DataView(buffer, byteOffset).getBigInt64(0, true);
    const json = jsonTimestamp(micros, 1e6, type === TIMESTAMPTZ);
    return fromParameter(type, JSON.parse(json)) === value;
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 500 }));
});

t.test("Cypher's values of timestamps give the same value back", async (t) => {
  const property = fc.property(finite, fc.constantFrom(...TYPES), (micros, type) => {
    const { type: back, value } = sqlForm(toVariant(type)!(timestampOf(micros)) as Variant);
    return back === type && value === timestampOf(micros);
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 500 }));
});
