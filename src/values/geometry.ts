/**
 * Points and figures of the plane as numbers, out of the text that geometric values are held as (geometric.ts) and
 * back, and what a figure alone says. Numbers that differ by no more than EPSILON count as equal, as in PostgreSQL's
 * geo_ops.c. Called by geometry-relations.ts and the functions of expressions.
 */
import { sqlError } from "../protocol/errors.js";
import { float8ToText } from "./float-text.js";

export interface Point {
  readonly x: number;
  readonly y: number;
}
export interface Segment {
  readonly a: Point;
  readonly b: Point;
}
/** Ax + By + C = 0. */
export interface Line {
  readonly a: number;
  readonly b: number;
  readonly c: number;
}
export interface Box {
  readonly high: Point;
  readonly low: Point;
}
export interface Path {
  readonly isClosed: boolean;
  readonly points: readonly Point[];
}
export type Polygon = readonly Point[];
export interface Circle {
  readonly center: Point;
  readonly radius: number;
}

// ---- Numbers ----

const EPSILON = 1e-6;

export const isZero = (x: number) => Math.abs(x) <= EPSILON;
export const equal = (x: number, y: number) => x === y || Math.abs(x - y) <= EPSILON;
export const less = (x: number, y: number) => x + EPSILON < y;
export const lessOrEqual = (x: number, y: number) => x <= y + EPSILON;

/** A result that is infinite though its operands were not. Throws 22003. */
function checked(result: number, x: number, y: number): number {
  if (Number.isFinite(result) || !Number.isFinite(x) || !Number.isFinite(y)) return result;
  throw sqlError("22003", "value out of range: overflow");
}

export const add = (x: number, y: number) => checked(x + y, x, y);
export const subtract = (x: number, y: number) => checked(x - y, x, y);
export const multiply = (x: number, y: number) => checked(x * y, x, y);
/** Throws 22012, 22003. */
export function divide(x: number, y: number): number {
  if (y === 0) throw sqlError("22012", "division by zero");
  return checked(x / y, x, y);
}

/** Of a right triangle; as PostgreSQL rounds it. */
export function hypotenuse(x: number, y: number): number {
  const [long, short] = Math.abs(x) < Math.abs(y) ? [Math.abs(y), Math.abs(x)] : [Math.abs(x), Math.abs(y)];
  if (!Number.isFinite(long) || short === 0) return long;
  const ratio = short / long;
  return checked(long * Math.sqrt(1 + ratio * ratio), x, y);
}

// ---- Text ----

/** The numbers of a value in its canonical form. */
const numbersOf = (text: string): number[] =>
  (text.match(/[-+\w.]+/g) ?? []).map((number) => (number === "NaN" ? Number.NaN : Number(number)));

function pointsOf(text: string): Point[] {
  const numbers = numbersOf(text);
  return Array.from({ length: numbers.length >> 1 }, (_, i) => ({ x: numbers[2 * i]!, y: numbers[2 * i + 1]! }));
}

export const pointOf = (text: string): Point => pointsOf(text)[0]!;
export function segmentOf(text: string): Segment {
  const [a, b] = pointsOf(text) as [Point, Point];
  return { a, b };
}
export function lineOf(text: string): Line {
  const [a, b, c] = numbersOf(text) as [number, number, number];
  return { a, b, c };
}
export function boxOf(text: string): Box {
  const [high, low] = pointsOf(text) as [Point, Point];
  return { high, low };
}
export const pathOf = (text: string): Path => ({ isClosed: text.startsWith("("), points: pointsOf(text) });
export const polygonOf = (text: string): Polygon => pointsOf(text);
export function circleOf(text: string): Circle {
  const [x, y, radius] = numbersOf(text) as [number, number, number];
  return { center: { x, y }, radius };
}

export const pointText = ({ x, y }: Point): string => `(${float8ToText(x)},${float8ToText(y)})`;
const pointTexts = (points: readonly Point[]) => points.map(pointText).join();
export const segmentText = ({ a, b }: Segment): string => `[${pointText(a)},${pointText(b)}]`;
export const lineText = ({ a, b, c }: Line): string => `{${[a, b, c].map(float8ToText).join()}}`;
export const boxText = ({ high, low }: Box): string => `${pointText(high)},${pointText(low)}`;
export const pathText = ({ isClosed, points }: Path): string =>
  isClosed ? `(${pointTexts(points)})` : `[${pointTexts(points)}]`;
export const polygonText = (points: Polygon): string => `(${pointTexts(points)})`;
export const circleText = ({ center, radius }: Circle): string => `<${pointText(center)},${float8ToText(radius)}>`;

// ---- Points ----

export const plus = (p: Point, q: Point): Point => ({ x: add(p.x, q.x), y: add(p.y, q.y) });
export const minus = (p: Point, q: Point): Point => ({ x: subtract(p.x, q.x), y: subtract(p.y, q.y) });
/** As complex numbers: turned and scaled. */
export const times = (p: Point, q: Point): Point => ({
  x: subtract(multiply(p.x, q.x), multiply(p.y, q.y)),
  y: add(multiply(p.x, q.y), multiply(p.y, q.x)),
});
export function over(p: Point, q: Point): Point {
  const square = add(multiply(q.x, q.x), multiply(q.y, q.y));
  return {
    x: divide(add(multiply(p.x, q.x), multiply(p.y, q.y)), square),
    y: divide(subtract(multiply(p.y, q.x), multiply(p.x, q.y)), square),
  };
}

export const isSamePoint = (p: Point, q: Point): boolean =>
  [p.x, p.y, q.x, q.y].some(Number.isNaN)
    ? Object.is(p.x, q.x) && Object.is(p.y, q.y)
    : equal(p.x, q.x) && equal(p.y, q.y);

export const distance = (p: Point, q: Point): number => hypotenuse(subtract(p.x, q.x), subtract(p.y, q.y));

export function slope(p: Point, q: Point): number {
  if (equal(p.x, q.x)) return Number.POSITIVE_INFINITY;
  return equal(p.y, q.y) ? 0 : divide(subtract(p.y, q.y), subtract(p.x, q.x));
}

/** The slope of a perpendicular. */
export function inverseSlope(p: Point, q: Point): number {
  if (equal(p.x, q.x)) return 0;
  return equal(p.y, q.y) ? Number.POSITIVE_INFINITY : divide(subtract(p.x, q.x), subtract(q.y, p.y));
}

export const middle = (p: Point, q: Point): Point => ({ x: divide(add(p.x, q.x), 2), y: divide(add(p.y, q.y), 2) });

// ---- Lines, segments ----

export function lineThrough(p: Point, m: number): Line {
  if (!Number.isFinite(m)) return { a: -1, b: 0, c: p.x };
  if (m === 0) return { a: 0, b: -1, c: p.y };
  return { a: m, b: -1, c: subtract(p.y, multiply(m, p.x)) + 0 };
}

/** Throws 22023. */
export function lineBetween(p: Point, q: Point): Line {
  if (isSamePoint(p, q)) throw sqlError("22023", "invalid line specification: must be two distinct points");
  return lineThrough(p, slope(p, q));
}

export function slopeOfLine({ a, b }: Line): number {
  if (isZero(a)) return 0;
  return isZero(b) ? Number.POSITIVE_INFINITY : divide(a, -b);
}

export function inverseSlopeOfLine({ a, b }: Line): number {
  if (isZero(a)) return Number.POSITIVE_INFINITY;
  return isZero(b) ? 0 : divide(b, a);
}

export const lengthOf = ({ a, b }: Segment): number => distance(a, b);
export const slopeOf = ({ a, b }: Segment): number => slope(a, b);

// ---- Boxes ----

/** Of two corners. */
export const boxBetween = (p: Point, q: Point): Box => ({
  high: { x: Math.max(p.x, q.x), y: Math.max(p.y, q.y) },
  low: { x: Math.min(p.x, q.x), y: Math.min(p.y, q.y) },
});

export const boxWidth = ({ high, low }: Box): number => subtract(high.x, low.x);
export const boxHeight = ({ high, low }: Box): number => subtract(high.y, low.y);
export const areaOfBox = (box: Box): number => multiply(boxWidth(box), boxHeight(box));
export const centerOfBox = ({ high, low }: Box): Point => middle(high, low);

/** The sides, in the order in which PostgreSQL looks at them. */
export function sidesOf({ high, low }: Box): Segment[] {
  const [left, right] = [
    { x: low.x, y: high.y },
    { x: high.x, y: low.y },
  ];
  return [
    { a: low, b: left },
    { a: high, b: left },
    { a: low, b: right },
    { a: high, b: right },
  ];
}

export function boundsOf(points: readonly Point[]): Box {
  let { x: highX, y: highY } = points[0]!;
  let [lowX, lowY] = [highX, highY];
  for (const { x, y } of points) {
    [lowX, highX] = [Math.min(lowX, x), Math.max(highX, x)];
    [lowY, highY] = [Math.min(lowY, y), Math.max(highY, y)];
  }
  return { high: { x: highX, y: highY }, low: { x: lowX, y: lowY } };
}

/** The smallest box with both. */
export const boxAround = (a: Box, b: Box): Box => boundsOf([a.high, a.low, b.high, b.low]);

// ---- Paths, polygons, circles ----

/** Of a closed path also the one from the last point to the first, which comes first. */
export function segmentsOf({ points, isClosed }: Path): Segment[] {
  const segments = points.slice(1).map((b, i) => ({ a: points[i]!, b }));
  return isClosed ? [{ a: points.at(-1)!, b: points[0]! }, ...segments] : segments;
}

/** Null: it is open. */
export function areaOfPath({ points, isClosed }: Path): number | null {
  if (!isClosed) return null;
  let area = 0;
  points.forEach((p, i) => {
    const q = points[(i + 1) % points.length]!;
    area = subtract(add(area, multiply(p.x, q.y)), multiply(p.y, q.x));
  });
  return Math.abs(area) / 2;
}

export function lengthOfPath(path: Path): number {
  let length = 0;
  for (const segment of segmentsOf(path)) length = add(length, lengthOf(segment));
  return length;
}

export const areaOfCircle = ({ radius }: Circle): number => multiply(multiply(radius, radius), Math.PI);

/** Around the points' centre, as far away as they are on average. */
export function circleOfPolygon(points: Polygon): Circle {
  let center: Point = { x: 0, y: 0 };
  for (const point of points) center = plus(center, point);
  center = { x: divide(center.x, points.length), y: divide(center.y, points.length) };
  let radius = 0;
  for (const point of points) radius = add(radius, distance(point, center));
  return { center, radius: divide(radius, points.length) };
}

/** Throws 22023, 0A000. */
export function polygonOfCircle(count: number, { center, radius }: Circle): Polygon {
  if (isZero(radius)) throw sqlError("0A000", "cannot convert circle with radius zero to polygon");
  if (count < 2) throw sqlError("22023", "must request at least 2 points");
  if (count > POLYGON_POINTS_MAX) throw sqlError("54000", "too many points requested");
  const step = divide(2 * Math.PI, count);
  return Array.from({ length: count }, (_, i) => {
    const angle = multiply(i, step);
    return {
      x: subtract(center.x, multiply(radius, Math.cos(angle))),
      y: add(center.y, multiply(radius, Math.sin(angle))),
    };
  });
}

const POLYGON_POINTS_MAX = 100_000;

export const circleOfBox = (box: Box): Circle => {
  const center = centerOfBox(box);
  return { center, radius: distance(center, box.high) };
};

export function boxOfCircle({ center, radius }: Circle): Box {
  const delta = divide(radius, Math.sqrt(2));
  return {
    high: { x: add(center.x, delta), y: add(center.y, delta) },
    low: { x: subtract(center.x, delta), y: subtract(center.y, delta) },
  };
}

export const polygonOfBox = ({ high, low }: Box): Polygon => [
  low,
  { x: low.x, y: high.y },
  high,
  { x: high.x, y: low.y },
];

/** Throws 22023. */
export function polygonOfPath({ isClosed, points }: Path): Polygon {
  if (!isClosed) throw sqlError("22023", "open path cannot be converted to polygon");
  return points;
}
