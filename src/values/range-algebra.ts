/**
 * What ranges and multiranges have to do with each other (rangetypes.c, multirangetypes.c). Multiranges are sorted, and
 * there is something between each two of their ranges. Called by the functions of expressions and by the check of
 * exclusion constraints.
 */
import { sqlError } from "../protocol/errors.js";
import {
  type Bound,
  compareEnds,
  compareEndValues,
  compareValues,
  EMPTY,
  type End,
  lowerEnd,
  mergedRanges,
  type Range,
  upperEnd,
} from "./range.js";

type Ranges = readonly Range[];

export function containsValue(range: Range, value: Bound): boolean {
  if (range.isEmpty) return false;
  if (range.lower !== null) {
    const order = compareValues(range.lower, value);
    if (order > 0 || (order === 0 && !range.lowerInc)) return false;
  }
  if (range.upper === null) return true;
  const order = compareValues(range.upper, value);
  return order > 0 || (order === 0 && range.upperInc);
}

export function contains(a: Range, b: Range): boolean {
  if (b.isEmpty) return true;
  if (a.isEmpty) return false;
  return compareEnds(lowerEnd(a), lowerEnd(b)) <= 0 && compareEnds(upperEnd(a), upperEnd(b)) >= 0;
}

export function overlaps(a: Range, b: Range): boolean {
  if (a.isEmpty || b.isEmpty) return false;
  return compareEnds(lowerEnd(a), upperEnd(b)) <= 0 && compareEnds(lowerEnd(b), upperEnd(a)) <= 0;
}

/** `a` ends before `b` begins. */
export function isBefore(a: Range, b: Range): boolean {
  return !a.isEmpty && !b.isEmpty && compareEnds(upperEnd(a), lowerEnd(b)) < 0;
}

/** `a` does not go on beyond the end of `b`. */
export function endsWithin(a: Range, b: Range): boolean {
  return !a.isEmpty && !b.isEmpty && compareEnds(upperEnd(a), upperEnd(b)) <= 0;
}

/** `a` does not begin before `b`. */
export function beginsWithin(a: Range, b: Range): boolean {
  return !a.isEmpty && !b.isEmpty && compareEnds(lowerEnd(a), lowerEnd(b)) >= 0;
}

/** Nothing lies between an upper and a lower end, and no value in both. */
function touch(upper: End, lower: End): boolean {
  return compareEndValues(upper, lower) === 0 && upper.inc !== lower.inc;
}

export function isAdjacent(a: Range, b: Range): boolean {
  if (a.isEmpty || b.isEmpty) return false;
  return touch(upperEnd(a), lowerEnd(b)) || touch(upperEnd(b), lowerEnd(a));
}

/** The smallest range that has both. */
export function span(a: Range, b: Range): Range {
  if (a.isEmpty) return b;
  if (b.isEmpty) return a;
  const first = compareEnds(lowerEnd(a), lowerEnd(b)) <= 0 ? a : b;
  const last = compareEnds(upperEnd(a), upperEnd(b)) >= 0 ? a : b;
  return between(lowerEnd(first), upperEnd(last));
}

/** Of ends in their order. */
function between(lower: End, upper: End): Range {
  const range = { lower: lower.value, upper: upper.value, lowerInc: lower.inc, upperInc: upper.inc, isEmpty: false };
  const order = compareEndValues(lower, upper);
  const isNothing = order > 0 || (order === 0 && lower.value !== null && !(lower.inc && upper.inc));
  return isNothing ? EMPTY : range;
}

/** Throws 22000 when something lies between them. */
export function union(a: Range, b: Range): Range {
  if (!a.isEmpty && !b.isEmpty && !overlaps(a, b) && !isAdjacent(a, b)) {
    throw sqlError("22000", "result of range union would not be contiguous");
  }
  return span(a, b);
}

export function intersection(a: Range, b: Range): Range {
  if (!overlaps(a, b)) return EMPTY;
  const first = compareEnds(lowerEnd(a), lowerEnd(b)) >= 0 ? a : b;
  const last = compareEnds(upperEnd(a), upperEnd(b)) <= 0 ? a : b;
  return between(lowerEnd(first), upperEnd(last));
}

/** Where a range ends that another one is cut out of. */
const before = ({ value, inc }: End): End => ({ value, inc: !inc, isLower: false });
const behind = ({ value, inc }: End): End => ({ value, inc: !inc, isLower: true });

/** What is left of `a`: nothing, one range or two. */
function without(a: Range, b: Range): Range[] {
  if (!overlaps(a, b)) return a.isEmpty ? [] : [a];
  const left: Range[] = [];
  if (compareEnds(lowerEnd(a), lowerEnd(b)) < 0) left.push(between(lowerEnd(a), before(lowerEnd(b))));
  if (compareEnds(upperEnd(a), upperEnd(b)) > 0) left.push(between(behind(upperEnd(b)), upperEnd(a)));
  return left.filter((range) => !range.isEmpty);
}

/** Throws 22000 when two ranges are left. */
export function difference(a: Range, b: Range): Range {
  const left = without(a, b);
  if (left.length > 1) throw sqlError("22000", "result of range difference would not be contiguous");
  return left[0] ?? EMPTY;
}

// ---- Multiranges ----

/** The first range that does not end before the other one begins; the number of ranges where all do. */
function placeOf(ranges: Ranges, range: Range): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareEnds(upperEnd(ranges[middle]!), lowerEnd(range)) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

export const listContains = (ranges: Ranges, range: Range): boolean => {
  if (range.isEmpty) return true;
  const found = ranges[placeOf(ranges, range)];
  return found !== undefined && contains(found, range);
};

export const listContainsValue = (ranges: Ranges, value: Bound): boolean =>
  listContains(ranges, { lower: value, upper: value, lowerInc: true, upperInc: true, isEmpty: false });

export const listContainsAll = (ranges: Ranges, others: Ranges): boolean =>
  others.every((range) => listContains(ranges, range));

export const listOverlaps = (ranges: Ranges, range: Range): boolean => {
  if (range.isEmpty) return false;
  const found = ranges[placeOf(ranges, range)];
  return found !== undefined && overlaps(found, range);
};

export const listsOverlap = (ranges: Ranges, others: Ranges): boolean =>
  others.some((range) => listOverlaps(ranges, range));

/** The range from the first to the last; empty of none. */
export function spanOf(ranges: Ranges): Range {
  const [first, last] = [ranges[0], ranges.at(-1)];
  return first === undefined ? EMPTY : between(lowerEnd(first), upperEnd(last!));
}

export const listUnion = (ranges: Ranges, others: Ranges): Range[] => mergedRanges([...ranges, ...others]);

export function listIntersection(ranges: Ranges, others: Ranges): Range[] {
  const found: Range[] = [];
  for (let i = 0, j = 0; i < ranges.length && j < others.length; ) {
    const [a, b] = [ranges[i]!, others[j]!];
    const common = intersection(a, b);
    if (!common.isEmpty) found.push(common);
    if (compareEnds(upperEnd(a), upperEnd(b)) < 0) i++;
    else j++;
  }
  return found;
}

export function listDifference(ranges: Ranges, others: Ranges): Range[] {
  const left: Range[] = [];
  let first = 0;
  for (const range of ranges) {
    let rest: Range | undefined = range;
    while (first < others.length && isBefore(others[first]!, range)) first++;
    for (let j = first; j < others.length && rest !== undefined && !isBefore(rest, others[j]!); j++) {
      if (!overlaps(rest, others[j]!)) continue;
      const parts: Range[] = without(rest, others[j]!);
      rest = undefined;
      // What lies behind the other range is looked at again.
      for (const part of parts) {
        if (isBefore(part, others[j]!)) left.push(part);
        else rest = part;
      }
    }
    if (rest !== undefined) left.push(rest);
  }
  return left;
}
