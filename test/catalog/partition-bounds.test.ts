import fc from "fast-check";
import t from "tap";
import { PartitionBounds } from "../../src/catalog/partition-bounds.js";
import { partitionHash } from "../../src/catalog/partition-hash.js";
import { mayHold, type PartitionCondition } from "../../src/catalog/partition-pruning.js";
import type { PartitionRangeDatum } from "../../src/catalog/table.js";
import {
  BOOL,
  DATE,
  INT2,
  INT4,
  INT8,
  type SqlType,
  TEXT,
  TIMESTAMP,
  UUID,
  type Value,
} from "../../src/values/values.js";

t.test("rows hash to the partitions where PostgreSQL 15 has them", async (t) => {
  const known: readonly (readonly [SqlType, Value, number])[] = [
    [INT2, 3, 156],
    [INT4, 1, 6],
    [INT4, -5, 86],
    [INT8, 123456789012, 899],
    [INT8, -7, 287],
    [TEXT, "", 597],
    [TEXT, "abc", 725],
    [TEXT, "abcdefghijkl", 233],
    [TEXT, "hello world, twelve+", 142],
    [DATE, 18262, 686],
    [TIMESTAMP, 1e15, 482],
    [BOOL, true, 6],
    [UUID, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", 420],
  ];
  for (const [type, value, remainder] of known) t.equal(partitionHash([type], [value], 997), remainder, type.name);
  t.equal(partitionHash([INT4, TEXT], [5, "xyz"], 997), 81);
  t.equal(partitionHash([INT4, TEXT], [null, "xyz"], 997), 674);
});

t.test("hash partitions of different moduli share the rows", async (t) => {
  const hash = (id: number, modulus: number, remainder: number) =>
    ({ id, bound: { kind: "hash", modulus, remainder } }) as const;
  const bounds = new PartitionBounds("hash", [INT4], [hash(1, 2, 0), hash(2, 4, 1), hash(3, 8, 3)]);
  for (let key = 0; key < 200; key++) {
    const rest = partitionHash([INT4], [key], 8);
    t.equal(bounds.find([key]), rest % 2 === 0 ? 1 : rest % 4 === 1 ? 2 : rest === 3 ? 3 : null);
  }
});

t.test("a list has its values, NULL where it is listed, and the rest in the default", async (t) => {
  const list = (id: number, values: readonly (string | null)[]) => ({ id, bound: { kind: "list", values } }) as const;
  const bounds = new PartitionBounds("list", [TEXT], [list(1, ["a", "b"]), list(2, [null, "c"])]);
  t.same(
    ["a", "b", "c", "d", null].map((value) => bounds.find([value])),
    [1, 1, 2, null, 2],
  );
  const rest = new PartitionBounds("list", [TEXT], [list(1, ["a"]), { id: 9, bound: { kind: "default" } }]);
  t.same(
    ["a", "b", null].map((value) => rest.find([value])),
    [1, 9, 9],
  );
});

/** Row and bound compared part by part, as the manual says it. */
function isBelow(row: readonly number[], bound: readonly PartitionRangeDatum[]): boolean {
  for (let i = 0; i < row.length; i++) {
    const datum = bound[i]!;
    if (datum === "minvalue") return false;
    if (datum === "maxvalue") return true;
    if (row[i]! !== Number(datum.value)) return row[i]! < Number(datum.value);
  }
  return false;
}

t.test("a range holds rows from its lower bound up to its upper one, which it excludes", async (t) => {
  const number = fc.integer({ min: -3, max: 3 });
  const value = number.map((n): PartitionRangeDatum => ({ value: String(n) }));
  const bound = fc.oneof(
    fc.tuple(value, value),
    fc.tuple(value, fc.constantFrom<PartitionRangeDatum>("minvalue", "maxvalue")),
    fc.constantFrom<PartitionRangeDatum[]>(["minvalue", "minvalue"], ["maxvalue", "maxvalue"]),
  );
  fc.assert(
    fc.property(bound, bound, fc.tuple(number, number), (from, to, row) => {
      const bounds = new PartitionBounds("range", [INT4, INT8], [{ id: 1, bound: { kind: "range", from, to } }]);
      t.equal(bounds.find(row), !isBelow(row, from) && isBelow(row, to) ? 1 : null);
      t.equal(bounds.find([row[0], null]), null);
    }),
    { numRuns: 500 },
  );
});

const OPERATORS = {
  "=": (a: number, b: number) => a === b,
  "<": (a: number, b: number) => a < b,
  "<=": (a: number, b: number) => a <= b,
  ">": (a: number, b: number) => a > b,
  ">=": (a: number, b: number) => a >= b,
} as const;

function satisfies(row: readonly (number | null)[], { place, op, values }: PartitionCondition): boolean {
  const value = row[place]!;
  if (op === "null") return value === null;
  if (value === null) return false;
  if (op === "in") return values.includes(value);
  return OPERATORS[op](value, values[0] as number);
}

t.test("a partition that conditions rule out holds no row that satisfies them", async (t) => {
  const number = fc.integer({ min: 0, max: 6 });
  const place = fc.integer({ min: 0, max: 1 });
  const comparison = fc.record({
    place,
    op: fc.constantFrom<PartitionCondition["op"]>("=", "<", "<=", ">", ">="),
    values: fc.tuple(number),
  });
  const list = fc.record({
    place,
    op: fc.constant<"in">("in"),
    values: fc.array(number, { minLength: 1, maxLength: 3 }),
  });
  const isNull = fc.record({ place, op: fc.constant<"null">("null"), values: fc.constant([]) });
  const conditions = fc.array(fc.oneof({ weight: 4, arbitrary: comparison }, list, isNull), {
    minLength: 1,
    maxLength: 3,
  });
  const value = (n: number) => ({ value: String(n) });
  const range = (id: number, from: PartitionRangeDatum[], to: PartitionRangeDatum[]) =>
    ({ id, bound: { kind: "range", from, to } }) as const;
  const hash = (id: number, remainder: number) => ({ id, bound: { kind: "hash", modulus: 3, remainder } }) as const;
  const families = [
    new PartitionBounds(
      "range",
      [INT4, INT4],
      [
        range(1, ["minvalue", "minvalue"], [value(2), value(3)]),
        range(2, [value(2), value(3)], [value(4), "minvalue"]),
        range(3, [value(4), value(2)], [value(5), "maxvalue"]),
        { id: 4, bound: { kind: "default" } },
      ],
    ),
    new PartitionBounds("hash", [INT4, INT4], [hash(1, 0), hash(2, 1), hash(3, 2)]),
    new PartitionBounds(
      "list",
      [INT4],
      [
        { id: 1, bound: { kind: "list", values: ["1", "2"] } },
        { id: 2, bound: { kind: "list", values: ["3", null] } },
        { id: 3, bound: { kind: "default" } },
      ],
    ),
  ];
  const cell = fc.oneof({ weight: 6, arbitrary: number }, fc.constant(null));
  fc.assert(
    fc.property(fc.constantFrom(...families), conditions, fc.tuple(cell, cell), (bounds, given, row) => {
      const known = given.filter((condition) => condition.place < bounds.types.length);
      const key = row.slice(0, bounds.types.length);
      const home = bounds.find(key);
      if (home === null || !known.every((condition) => satisfies(key, condition))) return;
      t.ok(mayHold(bounds, home, known), JSON.stringify({ key, known, home }));
    }),
    { numRuns: 3000 },
  );
  const [ranges] = families;
  const left = (conditions: readonly PartitionCondition[]) =>
    [1, 2, 3, 4].filter((id) => mayHold(ranges!, id, conditions));
  const two: PartitionCondition = { place: 0, op: "=", values: [2] };
  t.same(left([two]), [1, 2, 4], "DEFAULT has (2, NULL)");
  t.same(left([two, { place: 1, op: ">=", values: [3] }]), [2]);
  t.same(left([{ place: 0, op: ">", values: [5] }]), [4]);
});
