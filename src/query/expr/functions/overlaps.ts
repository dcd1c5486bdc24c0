/** (start, end) OVERLAPS (start, end), as in SQL:2003; an end may be an interval after its start. */
import type { Timestamp } from "../../../values/timestamp.js";
import {
  BOOL,
  INTERVAL,
  type Interval,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  TIMETZ,
  type TimeTz,
} from "../../../values/values.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { addToInstant, addToTime, addToTimestamp } from "./datetime.js";
import { contextFn } from "./define.js";

/** A time of day or a timestamp. */
type Point = Timestamp | null;

/** A missing end is not known to be after its start; a missing start is taken to be the end. Null: nobody knows. */
function overlaps(a: Point, b: Point, c: Point, d: Point): boolean | null {
  const first = ordered(a, b);
  const second = ordered(c, d);
  if (first === null || second === null) return null;
  const [start, end] = first;
  const [otherStart, otherEnd] = second;
  if (start === otherStart) return end === null || otherEnd === null ? null : true;
  const [reach, from, other] = start > otherStart ? [otherEnd, start, end] : [end, otherStart, otherEnd];
  if (reach === null) return null;
  if (from < reach) return true;
  return other === null ? null : false;
}

function ordered(a: Point, b: Point): readonly [Timestamp, Point] | null {
  if (a === null) return b === null ? null : [b, null];
  return b !== null && a > b ? [b, a] : [a, b];
}

type Added = (context: EvalContext, start: Timestamp, interval: Interval) => Timestamp;

const ENDS: readonly (readonly [typeof TIMESTAMP, Added])[] = [
  [TIMESTAMP, (_, start, interval) => addToTimestamp(start, interval)],
  [TIMESTAMPTZ, addToInstant],
  [TIME, (_, start, interval) => addToTime(start as number, interval)],
];

const NOT_STRICT = { strict: false } as const;

export const OVERLAPS: readonly ScalarFunction[] = [
  ...ENDS.flatMap(([type, added]) =>
    [
      [type, type],
      [type, INTERVAL],
      [INTERVAL, type],
      [INTERVAL, INTERVAL],
    ].map((ends) => {
      const end = (context: EvalContext, place: number, start: Point, value: Point | Interval): Point => {
        if (ends[place] !== INTERVAL) return value as Point;
        return start === null || value === null ? null : added(context, start, value as Interval);
      };
      return contextFn(
        "overlaps",
        [type, ends[0]!, type, ends[1]!],
        BOOL,
        (context, a: Point, b: Point | Interval, c: Point, d: Point | Interval) =>
          overlaps(a, end(context, 0, a, b), c, end(context, 1, c, d)),
        type === TIMESTAMPTZ ? NOT_STRICT : { ...NOT_STRICT, volatility: "immutable" },
      );
    }),
  ),
  contextFn(
    "overlaps",
    [TIMETZ, TIMETZ, TIMETZ, TIMETZ],
    BOOL,
    (_, ...points: (TimeTz | null)[]) => {
      const [a, b, c, d] = points.map((point) => (point === null ? null : utcMicros(point)));
      return overlaps(a!, b!, c!, d!);
    },
    { ...NOT_STRICT, volatility: "immutable" },
  ),
];

const utcMicros = ({ micros, offset }: TimeTz): number => micros - offset * 1_000_000;
