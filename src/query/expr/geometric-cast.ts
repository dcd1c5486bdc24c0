/** Conversions between geometric types, for casts (cast.ts) and the functions that are named after types. */
import * as g from "../../values/geometry.js";
import type { GeometricName, SqlType, TypeName } from "../../values/values.js";

type Convert = (text: string) => string;

const DEFAULT_CORNERS = 12;
const boxOfPolygon: Convert = (text) => g.boxText(g.boundsOf(g.polygonOf(text)));

const CONVERSIONS: Partial<Record<GeometricName, Partial<Record<TypeName, Convert>>>> = {
  point: {
    box(text) {
      const point = g.pointOf(text);
      return g.boxText({ high: point, low: point });
    },
  },
  lseg: {
    point(text) {
      const { a, b } = g.segmentOf(text);
      return g.pointText(g.middle(a, b));
    },
  },
  path: { polygon: (text) => g.polygonText(g.polygonOfPath(g.pathOf(text))) },
  box: {
    point: (text) => g.pointText(g.centerOfBox(g.boxOf(text))),
    lseg(text) {
      const { high, low } = g.boxOf(text);
      return g.segmentText({ a: high, b: low });
    },
    polygon: (text) => g.polygonText(g.polygonOfBox(g.boxOf(text))),
    circle: (text) => g.circleText(g.circleOfBox(g.boxOf(text))),
  },
  polygon: {
    point: (text) => g.pointText(g.circleOfPolygon(g.polygonOf(text)).center),
    path: (text) => g.pathText({ isClosed: true, points: g.polygonOf(text) }),
    box: boxOfPolygon,
    circle: (text) => g.circleText(g.circleOfPolygon(g.polygonOf(text))),
  },
  circle: {
    point: (text) => g.pointText(g.circleOf(text).center),
    box: (text) => g.boxText(g.boxOfCircle(g.circleOf(text))),
    polygon: (text) => g.polygonText(g.polygonOfCircle(DEFAULT_CORNERS, g.circleOf(text))),
  },
};

export function geometricConversion(from: SqlType, to: SqlType): Convert | null {
  return CONVERSIONS[from.name as GeometricName]?.[to.name] ?? null;
}
