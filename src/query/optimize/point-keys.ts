/**
 * Ranges of keys for conditions on points: `point.distance(p, centre) < r` and `point.withinBBox(p, low, high)`. Keys
 * of points are ordered by their system and then by x, so a range is a band of x; the condition is tested on its rows.
 */
import { CypherPoint, systemOf } from "../../values/point.js";
import { VARIANT } from "../../values/values.js";
import { doubleOf, type Variant } from "../../values/variant.js";
import { EARTH_RADIUS, pointArgument } from "../expr/cypher/point-functions.js";
import type { Expr, ScalarFunction } from "../expr/expr.js";

type Bound = (band: Band) => CypherPoint;

/** All points of a system from one x to another. */
interface Band {
  readonly of: CypherPoint;
  readonly from: number;
  readonly to: number;
}

const FIRST: Bound = ({ of, from }) => corner(of, from, Number.NEGATIVE_INFINITY);
const LAST: Bound = ({ of, to }) => corner(of, to, Number.POSITIVE_INFINITY);

function corner({ srid, z }: CypherPoint, x: number, rest: number): CypherPoint {
  return new CypherPoint(srid, x, rest, z === null ? null : rest);
}

const everywhere = (of: CypherPoint): Band => ({ of, from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY });

/** What sums of rounded numbers may differ by. */
const ROUNDING = 1e-9;

/** Null: nothing is so near. */
function nearTo(centre: Variant, radius: Variant): Band | null {
  const metres = doubleOf(radius);
  if (!(centre instanceof CypherPoint) || !(metres >= 0)) return null;
  const reach = systemOf(centre).isGeographic ? degreesWithin(centre, metres) : metres;
  const slack = (Math.abs(centre.x) + reach) * ROUNDING;
  const [from, to] = [centre.x - reach - slack, centre.x + reach + slack];
  const isWhole = systemOf(centre).isGeographic && !(from >= -180 && to <= 180);
  return isWhole || Number.isNaN(from + to) ? everywhere(centre) : { of: centre, from, to };
}

/** Degrees of longitude within which all places lie; NaN: they may be anywhere. */
function degreesWithin({ y, z }: CypherPoint, metres: number): number {
  // The distance is measured half way between the two heights, which are not further apart than it.
  const angle = metres / (EARTH_RADIUS + (z === null ? 0 : z - metres / 2));
  const latitude = (Math.abs(y) * Math.PI) / 180;
  if (!(angle >= 0) || latitude + angle >= Math.PI / 2) return Number.NaN;
  return (Math.asin(Math.sin(angle) / Math.cos(latitude)) * 180) / Math.PI;
}

/** Null: no point is in the box. */
function inBox(lower: Variant, upper: Variant): Band | null {
  const [low, high] = [pointArgument("point.withinBBox", lower), pointArgument("point.withinBBox", upper)];
  if (low.srid !== high.srid) return null;
  if (systemOf(low).isGeographic && low.x > high.x) return everywhere(low);
  return { of: low, from: low.x, to: high.x };
}

function keyFunction(name: string, band: (a: Variant, b: Variant) => Band | null, bound: Bound): ScalarFunction {
  const apply = (a: Variant, b: Variant) => {
    const found = band(a, b);
    return found === null ? null : bound(found);
  };
  return Object.freeze({
    name,
    args: [VARIANT, VARIANT],
    returns: VARIANT,
    volatility: "immutable",
    strict: true,
    apply,
  });
}

const RANGES = {
  near: [keyFunction("near_start", nearTo, FIRST), keyFunction("near_end", nearTo, LAST)],
  box: [keyFunction("box_start", inBox, FIRST), keyFunction("box_end", inBox, LAST)],
} as const;

/** Bounds of the keys of a point, both included. */
export interface PointRange {
  readonly subject: Expr;
  readonly from: Expr;
  readonly to: Expr;
}

/** Ranges that the condition lies in, by what it is about; null: it is no condition on points. */
export function pointRanges({ name, operator }: ScalarFunction, args: readonly Expr[]): readonly PointRange[] | null {
  if (name === "point.withinBBox" && args.length === 3) return [rangeOf("box", args[0]!, args[1]!, args[2]!)];
  const isLess = operator === "<" || operator === "<=";
  if (args.length !== 2 || (!isLess && operator !== ">" && operator !== ">=")) return null;
  const [distance, radius] = (isLess ? args : [...args].reverse()) as [Expr, Expr];
  if (distance.kind !== "call" || distance.fn.name !== "point.distance" || radius.type !== VARIANT) return null;
  const [a, b] = distance.args as [Expr, Expr];
  return [rangeOf("near", a, b, radius), rangeOf("near", b, a, radius)];
}

function rangeOf(by: keyof typeof RANGES, subject: Expr, ...args: readonly Expr[]): PointRange {
  const [from, to] = RANGES[by].map((fn): Expr => Object.freeze({ kind: "call", type: VARIANT, fn, args }));
  return { subject, from: from!, to: to! };
}
