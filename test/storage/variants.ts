/** Arbitrary variants, for the tests of codecs, of order and of Cypher's operators. */
import fc from "fast-check";
import { type CoordinateType, vectorOfNumbers } from "../../src/values/cypher-vector.js";
import { CypherPoint } from "../../src/values/point.js";
import { CypherDate, Duration, LocalDateTime, LocalTime, ZonedDateTime, ZonedTime } from "../../src/values/temporal.js";
import { Float, floatValue, GraphNode, GraphPath, GraphRelationship, type Variant } from "../../src/values/variant.js";
import { integerValue } from "../../src/values/variant-format.js";

const small = fc.integer({ min: -300, max: 300 });
const large = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(integerValue);
/** Neighbours of 2^53 and above, where doubles leave integers out. */
const around = fc
  .tuple(
    fc.constantFrom(2n ** 53n, -(2n ** 53n), 2n ** 62n, -(2n ** 62n), 2n ** 60n + 512n),
    fc.integer({ min: -700, max: 700 }),
  )
  .map(([base, offset]) => integerValue(base + BigInt(offset)));
const float = fc.oneof(
  small.map((x) => new Float(x)),
  fc.double().map(floatValue),
  fc.constantFrom(2 ** 53, 2 ** 60, -(2 ** 62), 2 ** 63, 2 ** 70, -0).map(floatValue),
);
export const numbers: fc.Arbitrary<Variant> = fc.oneof(small, large, around, float);
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "b", "\0", "é", "\u0100", "\uffff", "😀"), maxLength: 6 }),
  fc.string({ unit: "grapheme", maxLength: 100 }),
);
const nanos = fc.oneof(
  fc.nat(86_399).map((s) => s * 1e9),
  fc.nat({ max: 86_400_000_000_000 - 1 }),
);
const offset = fc.constantFrom(0, 3600, -7200, 19_800);
const days = fc.oneof(small, fc.integer({ min: -365_000_000, max: 365_000_000 }));
const temporal: fc.Arbitrary<Variant> = fc.oneof(
  days.map((day) => new CypherDate(day)),
  nanos.map((time) => new LocalTime(time)),
  fc.tuple(nanos, offset).map(([time, east]) => new ZonedTime(time, east)),
  fc.tuple(days, nanos).map(([day, time]) => new LocalDateTime(day, time)),
  fc
    .tuple(days, nanos, offset, fc.constantFrom(null, "Europe/Stockholm", "Asia/Kolkata"))
    .map(([day, time, east, zone]) => new ZonedDateTime(day, time, east, zone)),
  fc
    .tuple(small, small, fc.oneof(small, large, fc.constant(-(2n ** 63n))), fc.nat(999_999_999))
    .map(([months, day, seconds, nano]) => new Duration(months, day, seconds, nano)),
);
const part = fc.double({ noNaN: true, noDefaultInfinity: true });
const point: fc.Arbitrary<Variant> = fc.oneof(
  fc.tuple(fc.constantFrom(4326, 7203), part, part).map(([srid, x, y]) => new CypherPoint(srid, x, y, null)),
  fc.tuple(fc.constantFrom(4979, 9157), part, part, part).map(([srid, x, y, z]) => new CypherPoint(srid, x, y, z)),
);
const vector: fc.Arbitrary<Variant> = fc.oneof(
  fc
    .tuple(fc.constantFrom("INTEGER8", "INTEGER16"), fc.array(fc.integer({ min: -128, max: 127 }), { minLength: 1 }))
    .map(([type, items]) => vectorOfNumbers(type as CoordinateType, items)),
  fc
    .array(fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }), { minLength: 1, maxLength: 8 })
    .map((items) => vectorOfNumbers("INTEGER", items)),
  fc
    .tuple(
      fc.constantFrom("INTEGER32", "FLOAT32", "FLOAT"),
      fc.array(fc.double({ min: -1e9, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 8 }),
    )
    .map(([type, items]) => vectorOfNumbers(type as CoordinateType, items)),
);

const bytes: fc.Arbitrary<Variant> = fc.oneof(
  fc.uint8Array({ maxLength: 4, max: 2 }),
  fc.uint8Array({ maxLength: 300 }),
);
export const scalars: fc.Arbitrary<Variant> = fc.oneof(fc.boolean(), numbers, text, temporal, point, bytes, vector);

/** What a property may be, and maps and nulls inside of lists. */
export const values: fc.Arbitrary<Variant> = fc.letrec<{ value: Variant }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constant(null),
    scalars,
    fc.array(tie("value"), { maxLength: 4 }),
    maps(tie("value")),
  ),
})).value;

function maps(members: fc.Arbitrary<Variant>): fc.Arbitrary<Variant> {
  const key = fc.oneof(fc.constantFrom("a", "b", "name", "é", "名前"), fc.string({ maxLength: 4 }));
  return fc.array(fc.tuple(key, members), { maxLength: 4 }).map((entries) => new Map(entries));
}

const properties = maps(scalars) as fc.Arbitrary<ReadonlyMap<string, Variant>>;
const labels = fc.uniqueArray(fc.constantFrom("A", "Person", "Ort", "人"), { maxLength: 3 }).map((list) => list.sort());
const node = fc.tuple(fc.nat(5), labels, properties).map(([id, names, map]) => new GraphNode(id, names, map));
const relationship = fc
  .tuple(fc.nat(5), fc.constantFrom("KNOWS", "ÜBER"), fc.nat(5), fc.nat(5), properties)
  .map(([id, type, src, dst, map]) => new GraphRelationship(id, type, src, dst, map));
const path = fc
  .nat(3)
  .chain((length) =>
    fc.tuple(
      fc.array(node, { minLength: length + 1, maxLength: length + 1 }),
      fc.array(relationship, { minLength: length, maxLength: length }),
    ),
  )
  .map(([nodes, between]) => new GraphPath(nodes, between));

export const variants: fc.Arbitrary<Variant> = fc.oneof(
  { weight: 4, arbitrary: values },
  { weight: 1, arbitrary: fc.oneof(node, relationship, path, fc.array(fc.oneof(node, values), { maxLength: 3 })) },
);

/** The same with maps that are Maps. */
export function plainVariant(value: Variant): Variant {
  if (Array.isArray(value)) return value.map(plainVariant);
  if (value instanceof Map) return plainMap(value);
  if (value instanceof GraphNode) return new GraphNode(value.id, value.labels, plainMap(value.properties));
  if (value instanceof GraphRelationship) {
    const { id, type, src, dst } = value;
    return new GraphRelationship(id, type, src, dst, plainMap(value.properties));
  }
  if (value instanceof GraphPath) {
    return new GraphPath(
      value.nodes.map(plainVariant) as GraphNode[],
      value.relationships.map(plainVariant) as GraphRelationship[],
    );
  }
  return value;
}

function plainMap(map: ReadonlyMap<string, Variant>): ReadonlyMap<string, Variant> {
  return new Map(Array.from(map, ([key, member]) => [key, plainVariant(member)]));
}
