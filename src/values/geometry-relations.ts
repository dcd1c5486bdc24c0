/**
 * Distances, nearest points, intersections and containment of geometric figures, as PostgreSQL's geo_ops.c has them.
 */
import { spend } from "../protocol/stretch.js";
import {
  add,
  type Box,
  boundsOf,
  boxBetween,
  type Circle,
  centerOfBox,
  distance,
  divide,
  equal,
  hypotenuse,
  inverseSlope,
  inverseSlopeOfLine,
  isSamePoint,
  isZero,
  type Line,
  less,
  lessOrEqual,
  lineThrough,
  multiply,
  type Path,
  type Point,
  type Polygon,
  type Segment,
  segmentsOf,
  sidesOf,
  slopeOf,
  slopeOfLine,
  subtract,
} from "./geometry.js";

// ---- Lines ----

export function lineMeet(l: Line, m: Line): Point | null {
  if (!isZero(l.b)) return meet(l, m);
  return isZero(m.b) ? null : meet(m, l);
}

/** `l` is not vertical. */
function meet(l: Line, m: Line): Point | null {
  if (equal(m.a, multiply(l.a, divide(m.b, l.b)))) return null;
  const x = divide(subtract(multiply(l.b, m.c), multiply(m.b, l.c)), subtract(multiply(l.a, m.b), multiply(m.a, l.b)));
  const y = divide(-add(multiply(l.a, x), l.c), l.b);
  return { x: x + 0, y: y + 0 };
}

export const areParallel = (l: Line, m: Line): boolean => lineMeet(l, m) === null;

export function arePerpendicular(l: Line, m: Line): boolean {
  if (isZero(l.a)) return isZero(m.b);
  if (isZero(m.a)) return isZero(l.b);
  if (isZero(l.b)) return isZero(m.a);
  if (isZero(m.b)) return isZero(l.a);
  return equal(divide(multiply(l.a, m.a), multiply(l.b, m.b)), -1);
}

function ratioOf(l: Line, m: Line): number {
  if (!isZero(m.a)) return divide(l.a, m.a);
  if (!isZero(m.b)) return divide(l.b, m.b);
  return isZero(m.c) ? 1 : divide(l.c, m.c);
}

export function isSameLine(l: Line, m: Line): boolean {
  const ratio = ratioOf(l, m);
  return equal(l.a, multiply(ratio, m.a)) && equal(l.b, multiply(ratio, m.b)) && equal(l.c, multiply(ratio, m.c));
}

export function lineDistance(l: Line, m: Line): number {
  if (lineMeet(l, m) !== null) return 0;
  const ratio = !isZero(l.a) && !isZero(m.a) ? divide(l.a, m.a) : !isZero(l.b) && !isZero(m.b) ? divide(l.b, m.b) : 1;
  return divide(Math.abs(subtract(l.c, multiply(ratio, m.c))), hypotenuse(l.a, l.b));
}

export const isOnLine = ({ x, y }: Point, { a, b, c }: Line): boolean =>
  isZero(add(add(multiply(a, x), multiply(b, y)), c));

/** A point of a figure, and how far it is from what it is nearest to. */
export interface Nearest {
  readonly point: Point;
  readonly distance: number;
}

const nearer = (a: Nearest, b: Nearest): Nearest => (b.distance < a.distance ? b : a);

export function nearestOnLine(line: Line, point: Point): Nearest {
  const found = lineMeet(lineThrough(point, inverseSlopeOfLine(line)), line);
  return found === null ? { point, distance: Number.NaN } : { point: found, distance: distance(found, point) };
}

// ---- Segments ----

export const isOnSegment = (point: Point, { a, b }: Segment): boolean =>
  equal(add(distance(point, a), distance(point, b)), distance(a, b));

const lineOfSegment = (segment: Segment): Line => lineThrough(segment.a, slopeOf(segment));

export function segmentMeetsLine(segment: Segment, line: Line): Point | null {
  const found = lineMeet(lineOfSegment(segment), line);
  if (found === null || !isOnSegment(found, segment)) return null;
  // Ends are given as they are, without a rest of rounding.
  if (isSamePoint(segment.a, found)) return segment.a;
  return isSamePoint(segment.b, found) ? segment.b : found;
}

export function segmentsMeet(a: Segment, b: Segment): Point | null {
  const found = segmentMeetsLine(a, lineOfSegment(b));
  return found !== null && isOnSegment(found, b) ? found : null;
}

export function segmentNearLine(segment: Segment, line: Line): Nearest {
  const found = segmentMeetsLine(segment, line);
  if (found !== null) return { point: found, distance: 0 };
  const [a, b] = [nearestOnLine(line, segment.a).distance, nearestOnLine(line, segment.b).distance];
  return a < b ? { point: segment.a, distance: a } : { point: segment.b, distance: b };
}

export function nearestOnSegment(segment: Segment, point: Point): Nearest {
  const across = lineThrough(point, inverseSlope(segment.a, segment.b));
  const { point: found } = segmentNearLine(segment, across);
  return { point: found, distance: distance(found, point) };
}

/** The point of `on` that is nearest to the other segment. */
export function segmentNearSegment(on: Segment, to: Segment): Nearest {
  const met = segmentsMeet(on, to);
  if (met !== null) return { point: met, distance: 0 };
  const ends = nearer(nearestOnSegment(on, to.a), nearestOnSegment(on, to.b));
  const first = nearer(ends, { point: on.a, distance: nearestOnSegment(to, on.a).distance });
  return nearer(first, { point: on.b, distance: nearestOnSegment(to, on.b).distance });
}

export const areParallelSegments = (a: Segment, b: Segment): boolean => equal(slopeOf(a), slopeOf(b));
export const arePerpendicularSegments = (a: Segment, b: Segment): boolean => equal(slopeOf(a), inverseSlope(b.a, b.b));

/** Null for segments of one direction. */
export const closestOfSegments = (a: Segment, b: Segment): Point | null =>
  slopeOf(a) === slopeOf(b) ? null : segmentNearSegment(b, a).point;

export const closestToLine = (line: Line, segment: Segment): Point | null =>
  slopeOf(segment) === slopeOfLine(line) ? null : segmentNearLine(segment, line).point;

// ---- Boxes ----

export const boxesOverlap = (a: Box, b: Box): boolean =>
  lessOrEqual(a.low.x, b.high.x) &&
  lessOrEqual(b.low.x, a.high.x) &&
  lessOrEqual(a.low.y, b.high.y) &&
  lessOrEqual(b.low.y, a.high.y);

export const boxContainsBox = (a: Box, b: Box): boolean =>
  lessOrEqual(b.high.x, a.high.x) &&
  lessOrEqual(a.low.x, b.low.x) &&
  lessOrEqual(b.high.y, a.high.y) &&
  lessOrEqual(a.low.y, b.low.y);

export const isInBox = ({ x, y }: Point, { high, low }: Box): boolean =>
  high.x >= x && low.x <= x && high.y >= y && low.y <= y;

export function boxIntersection(a: Box, b: Box): Box | null {
  if (!boxesOverlap(a, b)) return null;
  return {
    high: { x: Math.min(a.high.x, b.high.x), y: Math.min(a.high.y, b.high.y) },
    low: { x: Math.max(a.low.x, b.low.x), y: Math.max(a.low.y, b.low.y) },
  };
}

export function segmentMeetsBox(segment: Segment, box: Box): boolean {
  if (!boxesOverlap(boxBetween(segment.a, segment.b), box)) return false;
  if (isInBox(segment.a, box) || isInBox(segment.b, box)) return true;
  return sidesOf(box).some((side) => segmentsMeet(side, segment) !== null);
}

export const lineMeetsBox = (line: Line, box: Box): boolean =>
  sidesOf(box).some((side) => segmentMeetsLine(side, line) !== null);

export function nearestOnBox(box: Box, point: Point): Nearest {
  if (isInBox(point, box)) return { point, distance: 0 };
  return sidesOf(box)
    .map((side) => nearestOnSegment(side, point))
    .reduce(nearer);
}

export function boxNearSegment(box: Box, segment: Segment): Nearest {
  if (segmentMeetsBox(segment, box)) {
    return { point: nearestOnSegment(segment, centerOfBox(box)).point, distance: 0 };
  }
  return sidesOf(box)
    .map((side) => segmentNearSegment(side, segment))
    .reduce(nearer);
}

// ---- Paths ----

/** Null: a path of one point has no segments. */
const least = (distances: readonly number[]): number | null =>
  distances.length === 0 ? null : distances.reduce((a, b) => (b < a ? b : a));

/** Nanoseconds for two segments: whether they meet, and how near they are. */
const MEET_NANOS = 150;
const NEAR_NANOS = 1000;

export function distanceToPath(path: Path, point: Point): number {
  const segments = segmentsOf(path);
  spend(segments.length * NEAR_NANOS);
  return least(segments.map((segment) => nearestOnSegment(segment, point).distance)) ?? 0;
}

function leastOfPairs(a: readonly Segment[], b: readonly Segment[]): number | null {
  spend(a.length * b.length * NEAR_NANOS);
  let found: number | null = null;
  for (const segment of a) {
    for (const other of b) {
      const { distance: here } = segmentNearSegment(segment, other);
      if (found === null || here < found) found = here;
    }
  }
  return found;
}

function anyMeet(a: readonly Segment[], b: readonly Segment[]): boolean {
  spend(a.length * b.length * MEET_NANOS);
  return a.some((segment) => b.some((other) => segmentsMeet(segment, other) !== null));
}

export const pathDistance = (a: Path, b: Path): number | null => leastOfPairs(segmentsOf(a), segmentsOf(b));

export function pathsMeet(a: Path, b: Path): boolean {
  return boxesOverlap(boundsOf(a.points), boundsOf(b.points)) && anyMeet(segmentsOf(a), segmentsOf(b));
}

export const isOnPath = (point: Point, path: Path): boolean =>
  path.isClosed ? isInside(point, path.points) : segmentsOf(path).some((segment) => isOnSegment(point, segment));

// ---- Polygons ----

const ON_EDGE = Number.MAX_SAFE_INTEGER;

/**
 * Whether the point is in the polygon or on its edge: by how often its edges cross the axis to the right of the point.
 */
export function isInside(point: Point, points: Polygon): boolean {
  const moved = points.map(({ x, y }) => ({ x: subtract(x, point.x), y: subtract(y, point.y) }));
  let total = 0;
  for (let i = 1; i <= moved.length; i++) {
    const cross = crossing(moved[i % moved.length]!, moved[i - 1]!);
    if (cross === ON_EDGE) return true;
    total += cross;
  }
  return total !== 0;
}

function crossing({ x, y }: Point, before: Point): number {
  if (isZero(y)) {
    if (isZero(x)) return ON_EDGE;
    if (less(0, x)) {
      if (isZero(before.y)) return less(0, before.x) ? 0 : ON_EDGE;
      return less(before.y, 0) ? 1 : -1;
    }
    return isZero(before.y) && !less(before.x, 0) ? ON_EDGE : 0;
  }
  const sign = less(0, y) ? 1 : -1;
  if (isZero(before.y)) return less(before.x, 0) ? 0 : sign;
  if ((sign < 0 && less(before.y, 0)) || (sign > 0 && less(0, before.y))) return 0;
  if (lessOrEqual(0, x) && less(0, before.x)) return 2 * sign;
  if (less(x, 0) && lessOrEqual(before.x, 0)) return 0;
  const z = subtract(multiply(subtract(x, before.x), y), multiply(subtract(y, before.y), x));
  if (isZero(z)) return ON_EDGE;
  return (sign < 0 && less(z, 0)) || (sign > 0 && less(0, z)) ? 0 : 2 * sign;
}

const edgesOf = (points: Polygon): Segment[] => segmentsOf({ points, isClosed: true });

export function polygonsOverlap(a: Polygon, b: Polygon): boolean {
  if (!boxesOverlap(boundsOf(a), boundsOf(b))) return false;
  return anyMeet(edgesOf(a), edgesOf(b)) || isInside(a[0]!, b) || isInside(b[0]!, a);
}

export function polygonContains(outer: Polygon, inner: Polygon): boolean {
  if (!boxContainsBox(boundsOf(outer), boundsOf(inner))) return false;
  spend(outer.length * inner.length * MEET_NANOS);
  return edgesOf(inner).every(({ a, b }) => isSegmentInside(a, b, outer, 0));
}

/** Whether the segment lies within the polygon, of which the edges before `start` have been looked at. */
function isSegmentInside(a: Point, b: Point, points: Polygon, start: number): boolean {
  const tested = { a, b };
  let isCut = false;
  for (let i = start; i < points.length; i++) {
    const edge = { a: points[i === 0 ? points.length - 1 : i - 1]!, b: points[i]! };
    const [hasA, hasB] = [isOnSegment(a, edge), isOnSegment(b, edge)];
    if (hasA && hasB) return true;
    if (hasA || hasB) {
      const [on, off] = hasA ? [a, b] : [b, a];
      if (!isTouchingInside(on, off, edge, points, i + 1)) return false;
      continue;
    }
    const met = segmentsMeet(tested, edge);
    if (met === null) continue;
    isCut = true;
    if (!isSegmentInside(a, met, points, i + 1) || !isSegmentInside(b, met, points, i + 1)) return false;
  }
  // What was cut has been looked at part by part.
  return isCut || isInside({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }, points);
}

/** Of a segment that begins on an edge. True where only the other edges can tell. */
function isTouchingInside(on: Point, off: Point, edge: Segment, points: Polygon, start: number): boolean {
  const tested = { a: on, b: off };
  const ends = isSamePoint(on, edge.a) ? [edge.b] : isSamePoint(on, edge.b) ? [edge.a] : [edge.a, edge.b];
  const through = ends.find((end) => isOnSegment(end, tested));
  return through === undefined || isSegmentInside(off, through, points, start);
}

export function distanceToPolygon(points: Polygon, point: Point): number {
  if (isInside(point, points)) return 0;
  // The last edge goes from the first point, by which the last digits of a distance differ.
  const edges = [{ a: points[0]!, b: points.at(-1)! }, ...segmentsOf({ points, isClosed: false })];
  return least(edges.map((edge) => nearestOnSegment(edge, point).distance)) ?? 0;
}

export function polygonDistance(a: Polygon, b: Polygon): number {
  return polygonsOverlap(a, b) ? 0 : (leastOfPairs(edgesOf(a), edgesOf(b)) ?? 0);
}

/** The same points in the same or the opposite order, from whichever on. */
export function isSamePolygon(a: Polygon, b: Polygon): boolean {
  if (a.length !== b.length) return false;
  spend(a.length * b.length * MEET_NANOS);
  const count = a.length;
  return b.some((first, start) => {
    if (!isSamePoint(first, a[0]!)) return false;
    return (
      a.every((point, i) => isSamePoint(point, b[(start + i) % count]!)) ||
      a.every((point, i) => isSamePoint(point, b[(start - i + count) % count]!))
    );
  });
}

// ---- Circles ----

export const isInCircle = (point: Point, { center, radius }: Circle): boolean => distance(center, point) <= radius;

export const isSameCircle = (a: Circle, b: Circle): boolean =>
  ((Number.isNaN(a.radius) && Number.isNaN(b.radius)) || equal(a.radius, b.radius)) && isSamePoint(a.center, b.center);

export const circleContains = (a: Circle, b: Circle): boolean =>
  lessOrEqual(distance(a.center, b.center), subtract(a.radius, b.radius));

export const circlesOverlap = (a: Circle, b: Circle): boolean =>
  lessOrEqual(distance(a.center, b.center), add(a.radius, b.radius));

export const distanceToCircle = ({ center, radius }: Circle, point: Point): number =>
  Math.max(0, subtract(distance(point, center), radius));

export const circleDistance = (a: Circle, b: Circle): number =>
  Math.max(0, subtract(distance(a.center, b.center), add(a.radius, b.radius)));

export const circleToPolygon = ({ center, radius }: Circle, points: Polygon): number =>
  Math.max(0, subtract(distanceToPolygon(points, center), radius));
