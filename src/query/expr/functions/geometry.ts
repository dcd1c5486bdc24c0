/** Functions and operators of geometric types (chapter 9.11). The figures are in values/geometry.ts. */
import * as g from "../../../values/geometry.js";
import * as r from "../../../values/geometry-relations.js";
import {
  BOOL,
  BOX,
  CIRCLE,
  FLOAT8,
  INT4,
  LINE,
  LSEG,
  PATH,
  POINT,
  POLYGON,
  type SqlType,
  type Value,
} from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { geometricConversion } from "../geometric-cast.js";
import { fn, op, taking } from "./define.js";

/** A type with how its values are read and printed. */
interface Figure<T> {
  readonly type: SqlType;
  readonly read: (value: Value) => T;
  readonly print: (figure: T) => Value;
}

const figure = <T>(type: SqlType, read: (text: string) => T, print: (figure: T) => string): Figure<T> => ({
  type,
  read: (value) => read(value as string),
  print,
});
const plain = <T extends Value>(type: SqlType): Figure<T> => ({
  type,
  read: (value) => value as T,
  print: (value) => value,
});

const P = figure(POINT, g.pointOf, g.pointText);
const S = figure(LSEG, g.segmentOf, g.segmentText);
const L = figure(LINE, g.lineOf, g.lineText);
const B = figure(BOX, g.boxOf, g.boxText);
const W = figure(PATH, g.pathOf, g.pathText);
const G = figure(POLYGON, g.polygonOf, g.polygonText);
const C = figure(CIRCLE, g.circleOf, g.circleText);
const NUMBER = plain<number>(FLOAT8);
const INTEGER = plain<number>(INT4);
const TRUTH = plain<boolean>(BOOL);

function infix<X, Y, Z>(
  symbol: string,
  x: Figure<X>,
  y: Figure<Y>,
  z: Figure<Z>,
  apply: (a: X, b: Y) => Z | null,
): ScalarFunction {
  return op(symbol, [x.type, y.type], z.type, (a: Value, b: Value) => {
    const result = apply(x.read(a), y.read(b));
    return result === null ? null : z.print(result);
  });
}

function prefix<X, Z>(symbol: string, x: Figure<X>, z: Figure<Z>, apply: (a: X) => Z | null): ScalarFunction {
  return op(symbol, [x.type], z.type, (a: Value) => {
    const result = apply(x.read(a));
    return result === null ? null : z.print(result);
  });
}

function call<X, Z>(name: string, x: Figure<X>, z: Figure<Z>, apply: (a: X) => Z | null): ScalarFunction {
  return fn(name, [x.type], z.type, (a: Value) => {
    const result = apply(x.read(a));
    return result === null ? null : z.print(result);
  });
}

function call2<X, Y, Z>(
  name: string,
  x: Figure<X>,
  y: Figure<Y>,
  z: Figure<Z>,
  apply: (a: X, b: Y) => Z | null,
): ScalarFunction {
  return fn(name, [x.type, y.type], z.type, (a: Value, b: Value) => {
    const result = apply(x.read(a), y.read(b));
    return result === null ? null : z.print(result);
  });
}

/** `a op b` and the same question asked of `b`. */
function inverse<X, Y>(
  symbols: readonly [string, string],
  x: Figure<X>,
  y: Figure<Y>,
  test: (a: X, b: Y) => boolean,
): ScalarFunction[] {
  return [infix(symbols[0], x, y, TRUTH, test), infix(symbols[1], y, x, TRUTH, (b, a) => test(a, b))];
}

const CONTAINS = ["@>", "<@"] as const;

/** `a <-> b` either way round. */
function distances<X, Y>(x: Figure<X>, y: Figure<Y>, apply: (a: X, b: Y) => number | null): ScalarFunction[] {
  const both = [infix("<->", x, y, NUMBER, apply)];
  if ((x as object) !== y) both.push(infix("<->", y, x, NUMBER, (b, a) => apply(a, b)));
  return both;
}

type Compare = (a: number, b: number) => boolean;

const more: Compare = (a, b) => g.less(b, a);
const moreOrEqual: Compare = (a, b) => g.lessOrEqual(b, a);

/** `<`, `=` and so on by a figure's size. */
function bySize<T>(kind: Figure<T>, size: (value: T) => number, symbols: readonly string[]): ScalarFunction[] {
  const tests: Readonly<Record<string, Compare>> = {
    "<": g.less,
    "<=": g.lessOrEqual,
    ">": more,
    ">=": moreOrEqual,
    "=": g.equal,
    "<>": (a, b) => !g.equal(a, b),
  };
  return symbols.map((symbol) => infix(symbol, kind, kind, TRUTH, (a, b) => tests[symbol]!(size(a), size(b))));
}

interface Extent {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

const extentOfBox = ({ high, low }: g.Box): Extent => ({ left: low.x, right: high.x, top: high.y, bottom: low.y });
const extentOfCircle = ({ center, radius }: g.Circle): Extent => ({
  left: center.x - radius,
  right: center.x + radius,
  top: center.y + radius,
  bottom: center.y - radius,
});

/** Which of two lies where, by their outermost edges. */
function places<T>(kind: Figure<T>, extent: (value: T) => Extent, below: Compare, notAbove: Compare): ScalarFunction[] {
  const above: Compare = (a, b) => below(b, a);
  const notBelow: Compare = (a, b) => notAbove(b, a);
  const tests: Readonly<Record<string, (a: Extent, b: Extent) => boolean>> = {
    "<<": (a, b) => below(a.right, b.left),
    "&<": (a, b) => notAbove(a.right, b.right),
    ">>": (a, b) => above(a.left, b.right),
    "&>": (a, b) => notBelow(a.left, b.left),
    "<<|": (a, b) => below(a.top, b.bottom),
    "&<|": (a, b) => notAbove(a.top, b.top),
    "|>>": (a, b) => above(a.bottom, b.top),
    "|&>": (a, b) => notBelow(a.bottom, b.bottom),
  };
  return Object.entries(tests).map(([symbol, test]) =>
    infix(symbol, kind, kind, TRUTH, (a, b) => test(extent(a), extent(b))),
  );
}

/** Moved, and turned and scaled, by a point. */
function moved<T>(
  kind: Figure<T>,
  change: (value: T, each: (point: g.Point) => g.Point, scale: (length: number) => number) => T,
): ScalarFunction[] {
  const lengths: Readonly<Record<string, (length: number, by: number) => number>> = { "*": g.multiply, "/": g.divide };
  const move = (symbol: string, combine: (a: g.Point, b: g.Point) => g.Point) =>
    infix(symbol, kind, P, kind, (value, by) =>
      change(
        value,
        (point) => combine(point, by),
        (length) => lengths[symbol]?.(length, g.hypotenuse(by.x, by.y)) ?? length,
      ),
    );
  return [move("+", g.plus), move("-", g.minus), move("*", g.times), move("/", g.over)];
}

const movedPath = ({ isClosed, points }: g.Path, each: (point: g.Point) => g.Point): g.Path => ({
  isClosed,
  points: points.map(each),
});

/** A radius is scaled by a point's distance from the origin. */
const movedCircle = (
  { center, radius }: g.Circle,
  each: (point: g.Point) => g.Point,
  scale: (length: number) => number,
): g.Circle => ({ center: each(center), radius: scale(radius) });

/** Two open paths one after the other; NULL if one is closed. */
const joined = (a: g.Path, b: g.Path): g.Path | null =>
  a.isClosed || b.isClosed ? null : { isClosed: false, points: [...a.points, ...b.points] };

const POINT_OPERATORS: readonly ScalarFunction[] = [
  ...moved(P, (point, each) => each(point)),
  infix("~=", P, P, TRUTH, g.isSamePoint),
  infix("<>", P, P, TRUTH, (a, b) => !g.isSamePoint(a, b)),
  infix("<<", P, P, TRUTH, (a, b) => g.less(a.x, b.x)),
  infix(">>", P, P, TRUTH, (a, b) => more(a.x, b.x)),
  ...["<<|", "<^"].map((symbol) => infix(symbol, P, P, TRUTH, (a, b) => g.less(a.y, b.y))),
  ...["|>>", ">^"].map((symbol) => infix(symbol, P, P, TRUTH, (a, b) => more(a.y, b.y))),
  infix("?|", P, P, TRUTH, (a, b) => g.equal(a.x, b.x)),
  infix("?-", P, P, TRUTH, (a, b) => g.equal(a.y, b.y)),
  ...distances(P, P, g.distance),
  ...distances(P, S, (point, segment) => r.nearestOnSegment(segment, point).distance),
  ...distances(P, W, (point, path) => r.distanceToPath(path, point)),
  ...distances(P, B, (point, box) => r.nearestOnBox(box, point).distance),
  ...distances(P, G, (point, polygon) => r.distanceToPolygon(polygon, point)),
  ...distances(P, L, (point, line) => r.nearestOnLine(line, point).distance),
  ...distances(P, C, (point, circle) => r.distanceToCircle(circle, point)),
  infix("##", P, S, P, (point, segment) => r.nearestOnSegment(segment, point).point),
  infix("##", P, B, P, (point, box) => r.nearestOnBox(box, point).point),
  infix("##", P, L, P, (point, line) => r.nearestOnLine(line, point).point),
  infix("<@", P, S, TRUTH, r.isOnSegment),
  infix("<@", P, L, TRUTH, r.isOnLine),
  ...inverse(CONTAINS, W, P, (path, point) => r.isOnPath(point, path)),
  ...inverse(CONTAINS, B, P, (box, point) => r.isInBox(point, box)),
  ...inverse(CONTAINS, G, P, (polygon, point) => r.isInside(point, polygon)),
  ...inverse(CONTAINS, C, P, (circle, point) => r.isInCircle(point, circle)),
];

const isSameSegment = (a: g.Segment, b: g.Segment) => g.isSamePoint(a.a, b.a) && g.isSamePoint(a.b, b.b);
const isVertical = ({ a, b }: g.Segment) => g.equal(a.x, b.x);
const isHorizontal = ({ a, b }: g.Segment) => g.equal(a.y, b.y);

const SEGMENT_OPERATORS: readonly ScalarFunction[] = [
  ...bySize(S, g.lengthOf, ["<", "<=", ">", ">="]),
  infix("=", S, S, TRUTH, isSameSegment),
  infix("<>", S, S, TRUTH, (a, b) => !isSameSegment(a, b)),
  infix("#", S, S, P, r.segmentsMeet),
  infix("##", S, S, P, r.closestOfSegments),
  infix("##", S, B, P, (segment, box) => r.boxNearSegment(box, segment).point),
  infix("##", L, S, P, r.closestToLine),
  infix("?#", S, S, TRUTH, (a, b) => r.segmentsMeet(a, b) !== null),
  infix("?#", S, B, TRUTH, r.segmentMeetsBox),
  infix("?#", S, L, TRUTH, (segment, line) => r.segmentMeetsLine(segment, line) !== null),
  infix("?||", S, S, TRUTH, r.areParallelSegments),
  infix("?-|", S, S, TRUTH, r.arePerpendicularSegments),
  prefix("?|", S, TRUTH, isVertical),
  prefix("?-", S, TRUTH, isHorizontal),
  prefix("@@", S, P, ({ a, b }) => g.middle(a, b)),
  prefix("@-@", S, NUMBER, g.lengthOf),
  infix("<@", S, B, TRUTH, ({ a, b }, box) => r.isInBox(a, box) && r.isInBox(b, box)),
  infix("<@", S, L, TRUTH, ({ a, b }, line) => r.isOnLine(a, line) && r.isOnLine(b, line)),
  ...distances(S, S, (a, b) => r.segmentNearSegment(a, b).distance),
  ...distances(S, B, (segment, box) => r.boxNearSegment(box, segment).distance),
  ...distances(S, L, (segment, line) => r.segmentNearLine(segment, line).distance),
];

const LINE_OPERATORS: readonly ScalarFunction[] = [
  infix("=", L, L, TRUTH, r.isSameLine),
  infix("#", L, L, P, r.lineMeet),
  infix("?#", L, L, TRUTH, (a, b) => r.lineMeet(a, b) !== null),
  infix("?#", L, B, TRUTH, r.lineMeetsBox),
  infix("?||", L, L, TRUTH, r.areParallel),
  infix("?-|", L, L, TRUTH, r.arePerpendicular),
  prefix("?|", L, TRUTH, ({ b }) => g.isZero(b)),
  prefix("?-", L, TRUTH, ({ a }) => g.isZero(a)),
  ...distances(L, L, r.lineDistance),
];

const BOX_OPERATORS: readonly ScalarFunction[] = [
  ...bySize(B, g.areaOfBox, ["<", "<=", "=", ">", ">="]),
  ...places(B, extentOfBox, g.less, g.lessOrEqual),
  ...moved(B, ({ high, low }, each) => {
    const [a, b] = [each(high), each(low)];
    return g.boxBetween(a, b);
  }),
  infix("<^", B, B, TRUTH, (a, b) => g.lessOrEqual(a.high.y, b.low.y)),
  infix(">^", B, B, TRUTH, (a, b) => moreOrEqual(a.low.y, b.high.y)),
  infix("&&", B, B, TRUTH, r.boxesOverlap),
  infix("?#", B, B, TRUTH, r.boxesOverlap),
  infix("~=", B, B, TRUTH, (a, b) => g.isSamePoint(a.high, b.high) && g.isSamePoint(a.low, b.low)),
  infix("#", B, B, B, r.boxIntersection),
  prefix("@@", B, P, g.centerOfBox),
  ...inverse(CONTAINS, B, B, r.boxContainsBox),
  ...distances(B, B, (a, b) => g.distance(g.centerOfBox(a), g.centerOfBox(b))),
];

const isBelow: Compare = (a, b) => a < b;
const isNotAbove: Compare = (a, b) => a <= b;

const PATH_OPERATORS: readonly ScalarFunction[] = [
  ...(
    [
      ["<", (a, b) => a < b],
      ["<=", (a, b) => a <= b],
      ["=", (a, b) => a === b],
      [">", (a, b) => a > b],
      [">=", (a, b) => a >= b],
    ] as readonly (readonly [string, Compare])[]
  ).map(([symbol, test]) => infix(symbol, W, W, TRUTH, (a, b) => test(a.points.length, b.points.length))),
  ...moved(W, movedPath),
  infix("+", W, W, W, joined),
  infix("?#", W, W, TRUTH, r.pathsMeet),
  prefix("#", W, INTEGER, ({ points }) => points.length),
  prefix("@-@", W, NUMBER, g.lengthOfPath),
  ...distances(W, W, r.pathDistance),
];

const POLYGON_OPERATORS: readonly ScalarFunction[] = [
  ...places(G, (polygon) => extentOfBox(g.boundsOf(polygon)), isBelow, isNotAbove),
  infix("&&", G, G, TRUTH, r.polygonsOverlap),
  infix("~=", G, G, TRUTH, r.isSamePolygon),
  prefix("#", G, INTEGER, (points) => points.length),
  prefix("@@", G, P, (polygon) => g.circleOfPolygon(polygon).center),
  ...inverse(CONTAINS, G, G, r.polygonContains),
  ...distances(G, G, r.polygonDistance),
  ...distances(G, C, (polygon, circle) => r.circleToPolygon(circle, polygon)),
];

const CIRCLE_OPERATORS: readonly ScalarFunction[] = [
  ...bySize(C, g.areaOfCircle, ["<", "<=", "=", "<>", ">", ">="]),
  ...places(C, extentOfCircle, g.less, g.lessOrEqual),
  ...moved(C, movedCircle),
  infix("&&", C, C, TRUTH, r.circlesOverlap),
  infix("~=", C, C, TRUTH, r.isSameCircle),
  prefix("@@", C, P, ({ center }) => center),
  ...inverse(CONTAINS, C, C, r.circleContains),
  ...distances(C, C, r.circleDistance),
];

/** Nanoseconds for each character of a value. */
const NANOS = 60;

export const GEOMETRY_OPERATORS: readonly ScalarFunction[] = taking(NANOS, [
  ...POINT_OPERATORS,
  ...SEGMENT_OPERATORS,
  ...LINE_OPERATORS,
  ...BOX_OPERATORS,
  ...PATH_OPERATORS,
  ...POLYGON_OPERATORS,
  ...CIRCLE_OPERATORS,
]);

/** Conversions that have no other arguments, by the name of the type that they give. */
const CONVERSIONS: readonly ScalarFunction[] = (
  [
    [BOX, [POINT, POLYGON, CIRCLE]],
    [CIRCLE, [BOX, POLYGON]],
    [LSEG, [BOX]],
    [PATH, [POLYGON]],
    [POINT, [BOX, CIRCLE, LSEG, POLYGON]],
    [POLYGON, [BOX, CIRCLE, PATH]],
  ] as readonly (readonly [SqlType, readonly SqlType[]])[]
).flatMap(([to, sources]) => sources.map((from) => fn(to.name, [from], to, geometricConversion(from, to)!)));

export const GEOMETRY_FUNCTIONS: readonly ScalarFunction[] = taking(NANOS, [
  ...CONVERSIONS,
  call("area", B, NUMBER, g.areaOfBox),
  call("area", C, NUMBER, g.areaOfCircle),
  call("area", W, NUMBER, g.areaOfPath),
  call2("bound_box", B, B, B, g.boxAround),
  call2("box", P, P, B, g.boxBetween),
  call("center", B, P, g.centerOfBox),
  call("center", C, P, ({ center }) => center),
  call2("circle", P, NUMBER, C, (center, radius) => ({ center, radius })),
  call("diagonal", B, S, ({ high, low }) => ({ a: high, b: low })),
  call("diameter", C, NUMBER, ({ radius }) => g.multiply(radius, 2)),
  call("height", B, NUMBER, g.boxHeight),
  call("width", B, NUMBER, g.boxWidth),
  call("isclosed", W, TRUTH, ({ isClosed }) => isClosed),
  call("isopen", W, TRUTH, ({ isClosed }) => !isClosed),
  call("pclose", W, W, ({ points }) => ({ isClosed: true, points })),
  call("popen", W, W, ({ points }) => ({ isClosed: false, points })),
  call2("ishorizontal", P, P, TRUTH, (a, b) => g.equal(a.y, b.y)),
  call("ishorizontal", L, TRUTH, ({ a }) => g.isZero(a)),
  call("ishorizontal", S, TRUTH, isHorizontal),
  call2("isvertical", P, P, TRUTH, (a, b) => g.equal(a.x, b.x)),
  call("isvertical", L, TRUTH, ({ b }) => g.isZero(b)),
  call("isvertical", S, TRUTH, isVertical),
  call2("isparallel", S, S, TRUTH, r.areParallelSegments),
  call2("isparallel", L, L, TRUTH, r.areParallel),
  call2("isperp", S, S, TRUTH, r.arePerpendicularSegments),
  call2("isperp", L, L, TRUTH, r.arePerpendicular),
  call("length", W, NUMBER, g.lengthOfPath),
  call("length", S, NUMBER, g.lengthOf),
  call2("line", P, P, L, g.lineBetween),
  call2("lseg", P, P, S, (a, b) => ({ a, b })),
  call("npoints", W, INTEGER, ({ points }) => points.length),
  call("npoints", G, INTEGER, (points) => points.length),
  call2("point", NUMBER, NUMBER, P, (x, y) => ({ x, y })),
  call2("polygon", INTEGER, C, G, g.polygonOfCircle),
  call("radius", C, NUMBER, ({ radius }) => radius),
  call2("slope", P, P, NUMBER, g.slope),
]);

/** `value[i]`, counted from 0: a coordinate of a point, a number of a line, an end of a segment, a corner of a box. */
export const FIGURE_PARTS: ReadonlyMap<SqlType, ScalarFunction> = new Map(
  [
    partOf(P, NUMBER, ({ x, y }) => [x, y]),
    partOf(L, NUMBER, ({ a, b, c }) => [a, b, c]),
    partOf(S, P, ({ a, b }) => [a, b]),
    partOf(B, P, ({ high, low }) => [high, low]),
  ].map((part) => [part.args[0]!, part]),
);

function partOf<X, Z>(x: Figure<X>, z: Figure<Z>, parts: (value: X) => readonly Z[]): ScalarFunction {
  return call2("figure part", x, INTEGER, z, (value, place) => parts(value)[place] ?? null);
}
