import fc from "fast-check";
import t from "tap";
import { PartitionBounds } from "../../src/catalog/partition-bounds.js";
import { partitionHash } from "../../src/catalog/partition-hash.js";
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
} from "../../src/protocol/values.js";

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
