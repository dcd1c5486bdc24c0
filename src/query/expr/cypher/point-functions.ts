/** Points of Cypher: `point({…})`, distances and boxes (Neo4j's manual, "Spatial functions"). */
import { cypherError } from "../../../values/cypher-error.js";
import {
  CypherPoint,
  REFERENCE_SYSTEMS,
  type ReferenceSystem,
  systemOf,
  wrappedLongitude,
} from "../../../values/point.js";
import { BOOL } from "../../../values/values.js";
import { floatValue, type Variant, type VariantMap } from "../../../values/variant.js";
import type { ScalarFunction } from "../expr.js";
import { numberOf } from "../variant-order.js";
import { isNumber } from "./arithmetic.js";
import { cypherFn, described, wrongArgument } from "./define.js";

/** The Earth's radius in metres, as Neo4j's distances take it. */
export const EARTH_RADIUS = 6_378_140;

function refused(what: string): never {
  throw cypherError("ArgumentError", "InvalidArgumentValue", what);
}

/** Undefined: the map has none of these keys; null: one is null. */
function coordinate(map: VariantMap, ...keys: readonly string[]): number | null | undefined {
  const key = keys.find((name) => map.has(name));
  if (key === undefined) return undefined;
  const value = map.get(key)!;
  if (value === null) return null;
  if (!isNumber(value)) throw wrongArgument("point()", `a number as ${key}`, value);
  const number = Number(numberOf(value));
  return Number.isFinite(number) ? number : refused(`point() takes finite coordinates, and ${key} is ${number}`);
}

/** The system that the map names, or the one that its coordinates mean. */
function systemIn(map: VariantMap, isGeographic: boolean, dimensions: 2 | 3): ReferenceSystem {
  const [crs, srid] = [map.get("crs") ?? null, map.get("srid") ?? null];
  if (crs === null && srid === null) {
    return REFERENCE_SYSTEMS.find((each) => each.isGeographic === isGeographic && each.dimensions === dimensions)!;
  }
  const named = REFERENCE_SYSTEMS.find(({ name, srid: number }) =>
    crs !== null ? typeof crs === "string" && name === crs.toLowerCase() : isNumber(srid) && number === Number(srid),
  );
  const known = REFERENCE_SYSTEMS.map(({ name, srid: number }) => `${name} (${number})`).join(", ");
  if (named === undefined) refused(`point() knows the reference systems ${known}`);
  if (named.dimensions !== dimensions) refused(`a point of ${named.name} has ${named.dimensions} coordinates`);
  if (isGeographic && !named.isGeographic) refused(`a point of ${named.name} has x and y, not longitude and latitude`);
  return named;
}

export function pointOfMap(map: Variant): CypherPoint | null {
  if (!(map instanceof Map)) throw wrongArgument("point()", "a map", map);
  const isGeographic = map.has("longitude") || map.has("latitude");
  const x = isGeographic ? coordinate(map, "longitude") : coordinate(map, "x");
  const y = isGeographic ? coordinate(map, "latitude") : coordinate(map, "y");
  const z = coordinate(map, "z", "height");
  if (x === null || y === null || z === null) return null;
  if (x === undefined || y === undefined) refused("point() takes x and y, or longitude and latitude");
  const system = systemIn(map, isGeographic, z === undefined ? 2 : 3);
  if (system.isGeographic && Math.abs(y) > 90) refused(`a latitude is from -90 to 90, not ${y}`);
  const east = system.isGeographic ? wrappedLongitude(x) : x;
  return new CypherPoint(system.srid, east, y, z ?? null);
}

export function pointArgument(name: string, value: Variant): CypherPoint {
  if (value instanceof CypherPoint) return value;
  throw wrongArgument(`${name}()`, "points", value);
}

/** Metres on a sphere, or in a plane as the coordinates count; null between systems. */
function distance(first: Variant, second: Variant): Variant {
  // Whatever is no point has no distance, as in Neo4j.
  if (!(first instanceof CypherPoint) || !(second instanceof CypherPoint) || first.srid !== second.srid) return null;
  const [a, b] = [first, second];
  const rise = (a.z ?? 0) - (b.z ?? 0);
  if (!systemOf(a).isGeographic) return floatValue(Math.hypot(a.x - b.x, a.y - b.y, rise));
  const ground = arc(a, b) * (EARTH_RADIUS + ((a.z ?? 0) + (b.z ?? 0)) / 2);
  return floatValue(a.z === null ? ground : Math.hypot(ground, rise));
}

/** The angle between two places, by the haversine formula. */
function arc(a: CypherPoint, b: CypherPoint): number {
  const radians = Math.PI / 180;
  const north = Math.sin(((a.y - b.y) * radians) / 2) ** 2;
  const east = Math.sin(((a.x - b.x) * radians) / 2) ** 2;
  const chord = north + Math.cos(a.y * radians) * Math.cos(b.y * radians) * east;
  return 2 * Math.asin(Math.min(1, Math.sqrt(chord)));
}

/** Corners included; a geographic box whose west is east of its east crosses the date line. */
function withinBox(value: Variant, lower: Variant, upper: Variant): boolean | null {
  if (!(value instanceof CypherPoint)) return null;
  const [low, high] = [pointArgument("point.withinBBox", lower), pointArgument("point.withinBBox", upper)];
  if (low.srid !== value.srid || high.srid !== value.srid) return null;
  const crosses = systemOf(value).isGeographic && low.x > high.x;
  const inWidth = crosses ? value.x >= low.x || value.x <= high.x : value.x >= low.x && value.x <= high.x;
  const inHeight = value.y >= low.y && value.y <= high.y;
  return inWidth && inHeight && (value.z === null || (value.z >= low.z! && value.z <= high.z!));
}

/** `p.x`, `p.longitude`, `p.crs` and their like. Throws for a name that points of the system do not have. */
export function pointComponent(value: CypherPoint, name: string): Variant {
  const { isGeographic, name: crs } = systemOf(value);
  switch (name) {
    case "x":
      return floatValue(value.x);
    case "y":
      return floatValue(value.y);
    case "z":
      return value.z === null ? null : floatValue(value.z);
    case "crs":
      return crs;
    case "srid":
      return value.srid;
    case "longitude":
      return isGeographic ? floatValue(value.x) : null;
    case "latitude":
      return isGeographic ? floatValue(value.y) : null;
    case "height":
      return isGeographic && value.z !== null ? floatValue(value.z) : null;
    default:
      return refused(`${described(value)} has no ${name}: it has x, y, z, longitude, latitude, height, crs and srid`);
  }
}

export const POINT_FUNCTIONS: readonly ScalarFunction[] = [
  cypherFn("point", 1, pointOfMap),
  cypherFn("point.distance", 2, distance),
  cypherFn("point.withinBBox", 3, withinBox, { returns: BOOL }),
];
