/** Leaves of values that are more than the columns of pixels what can be seen. Pure. */

/** In a line that was thinned: what follows is not joined to what was before. */
export const GAP = -1;

/**
 * Of each run of values in one column the first, the least, the most and the last, in their order. A gap that is
 * narrower than a column is not seen.
 */
export function thinLine(
  values: readonly number[],
  columnOf: (index: number) => number,
  joinsGaps: boolean,
): readonly number[] {
  const kept: number[] = [];
  let column = Number.NaN;
  let isAfterGap = false;
  let [first, least, most, last] = [GAP, GAP, GAP, GAP];
  const endRun = (): void => {
    if (first === GAP) return;
    kept.push(...new Set([first, Math.min(least, most), Math.max(least, most), last]));
  };
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    if (!Number.isFinite(value)) {
      isAfterGap = !joinsGaps;
      continue;
    }
    const here = columnOf(index);
    if (here === column) {
      if (value < values[least]!) least = index;
      if (value > values[most]!) most = index;
      last = index;
    } else {
      endRun();
      if (isAfterGap && kept.length > 0) kept.push(GAP);
      [first, least, most, last] = [index, index, index, index];
      column = here;
    }
    isAfterGap = false;
  }
  endRun();
  return kept;
}

export interface ThinBar {
  readonly column: number;
  /** 0 or below it. */
  readonly lowest: number;
  /** 0 or above it. */
  readonly highest: number;
}

/** For each column that has values, how far their bars reach. */
export function thinBars(values: readonly number[], columnOf: (index: number) => number): readonly ThinBar[] {
  const bars: { column: number; lowest: number; highest: number }[] = [];
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    if (!Number.isFinite(value)) continue;
    const column = columnOf(index);
    let bar = bars.at(-1);
    if (bar?.column !== column) {
      bar = { column, lowest: 0, highest: 0 };
      bars.push(bar);
    }
    if (value < bar.lowest) bar.lowest = value;
    if (value > bar.highest) bar.highest = value;
  }
  return bars;
}
