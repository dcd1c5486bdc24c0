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
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(cellText(row[by]), (counts.get(cellText(row[by])) ?? 0) + 1);
  const names = [...counts].sort((a, b) => b[1] - a[1]).slice(0, SERIES_MAX);
  const shown = new Set(names.map(([name]) => name));
  const kept = rows.filter((row) => shown.has(cellText(row[by])));
  const places = new Map<unknown, number>();
  const across: unknown[] = [];
  const placeOf = (row: List): number => {
    const key = isEachRow ? row : cellText(row[x]);
    const known = places.get(key);
    if (known !== undefined) return known;
    places.set(key, across.length);
    across.push(row[x]);
    return across.length - 1;
  };
  const order = inOrder(kept, x);
  for (const row of order) placeOf(row);
  const values = new Map(names.map(([name]) => [name, new Array<number>(across.length).fill(Number.NaN)]));
  for (const row of order) values.get(cellText(row[by]))![placeOf(row)] = numberOf(row[y]);
  // The same value has the same colour, however often it is there.
  const series = [...values].map(([name, numbers]) => ({ name, values: numbers }));
  series.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { across, series, distinct: counts.size };
}

/** Numbers and times grow from left to right, whichever series they are of; names stay as the rows have them. */
function inOrder(rows: readonly List[], x: number): readonly List[] {
  const sizeOf = (row: List): number => {
    const number = numberOf(row[x]);
    return Number.isNaN(number) ? Date.parse(String(row[x])) : number;
  };
  const sizes = new Map(rows.map((row) => [row, sizeOf(row)]));
  if ([...sizes.values()].some(Number.isNaN)) return rows;
  return [...rows].sort((a, b) => sizes.get(a)! - sizes.get(b)!);
}
