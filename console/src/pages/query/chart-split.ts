/** A chart's values split by another column: one series for each of its most frequent values. Pure. */
import { cellText, numberOf } from "../../lib/format.js";
import type { Series } from "../../ui/chart.js";
import type { List } from "./run.js";

/** As many as there are colours. */
export const SERIES_MAX = 6;

export interface Split {
  /** What stands across, one for each place of the series. */
  readonly across: readonly unknown[];
  readonly series: readonly Series[];
  /** How many different values the column has; only the most frequent have a series. */
  readonly distinct: number;
}

interface Wanted {
  readonly rows: readonly List[];
  readonly x: number;
  readonly y: number;
  readonly by: number;
  /** Each row has a place of its own; otherwise rows with the same value across share one. */
  readonly isEachRow: boolean;
}

export function splitRows({ rows, x, y, by, isEachRow }: Wanted): Split {
  const groups = rows.map((row) => cellText(row[by]));
  const counts = new Map<string, number>();
  for (const group of groups) counts.set(group, (counts.get(group) ?? 0) + 1);
  const names = [...counts].sort((a, b) => b[1] - a[1]).slice(0, SERIES_MAX);
  const shown = new Set(names.map(([name]) => name));
  const places = new Map<unknown, number>();
  const across: unknown[] = [];
  const placeOf = (row: List): number => {
    if (!isEachRow) {
      const value = row[x];
      const key = typeof value === "number" ? value : cellText(value);
      const known = places.get(key);
      if (known !== undefined) return known;
      places.set(key, across.length);
    }
    return across.push(row[x]) - 1;
  };
  const placed = rows.map((row, i) => (shown.has(groups[i]!) ? placeOf(row) : -1));
  const values = new Map(names.map(([name]) => [name, new Array<number>(across.length).fill(Number.NaN)]));
  for (const [i, place] of placed.entries()) if (place >= 0) values.get(groups[i]!)![place] = numberOf(rows[i]![y]);
  // The same value has the same colour, however often it is there.
  const series = [...values].map(([name, numbers]) => ({ name, values: numbers }));
  series.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { across, series, distinct: counts.size };
}

/** Numbers and times grow from left to right, whichever series they are of; names stay as the rows have them. */
export function inOrder(rows: readonly List[], x: number): readonly List[] {
  const sizes = Float64Array.from(rows, (row) => {
    const number = numberOf(row[x]);
    return Number.isNaN(number) ? Date.parse(String(row[x])) : number;
  });
  if (sizes.some(Number.isNaN) || sizes.every((size, i) => i === 0 || sizes[i - 1]! <= size)) return rows;
  const order = Uint32Array.from(rows, (_, i) => i).sort((a, b) => sizes[a]! - sizes[b]! || a - b);
  return Array.from(order, (i) => rows[i]!);
}
