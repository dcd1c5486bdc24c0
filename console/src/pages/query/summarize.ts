/** What is in a column of a result. Pure. */
import type { Column } from "../../../../clients/typescript/src/index.js";
import { cellText, isNumeric, measureText, numberOf, timeText } from "../../lib/format.js";
import type { List } from "./run.js";

export interface Bar {
  readonly label: string;
  readonly count: number;
}

export interface Summary {
  readonly name: string;
  readonly type: string;
  readonly nulls: number;
  readonly distinct: number;
  /** There are more different values than are counted. */
  readonly isSample: boolean;
  /** Of numbers and times. */
  readonly range: { readonly least: string; readonly most: string; readonly mean: string } | null;
  /** Of numbers and times how they are spread, of others the most frequent ones. */
  readonly bars: readonly Bar[];
}

const DISTINCT_MAX = 20_000;
const TOPS = 5;
const BARS = 24;

export function summaryOf(
  { name, data_type: type }: Column,
  at: number,
  rows: readonly List[],
  count: number,
): Summary {
  const counts = new Map<string, number>();
  const numbers: number[] = [];
  let nulls = 0;
  let isSample = false;
  const isMoment = /^(?:date|timestamp)/.test(type) && !type.endsWith("[]");
  const wantsNumbers = isNumeric(type) || isMoment;
  for (let i = 0; i < count; i++) {
    const value = rows[i]![at];
    if (value === null || value === undefined) {
      nulls++;
      continue;
    }
    if (wantsNumbers || typeof value === "number") {
      const number = isMoment ? Date.parse(String(value)) : numberOf(value);
      if (Number.isFinite(number)) numbers.push(number);
    }
    const text = cellText(value).slice(0, 200);
    const known = counts.get(text);
    if (known !== undefined) counts.set(text, known + 1);
    else if (counts.size < DISTINCT_MAX) counts.set(text, 1);
    else isSample = true;
  }
  const areNumbers = numbers.length > 0 && numbers.length === count - nulls;
  const facts = { name, type, nulls, distinct: counts.size, isSample };
  if (areNumbers) return { ...facts, ...spreadOf(numbers, isMoment ? momentText(type) : measureText) };
  const tops = [...counts].sort((a, b) => b[1] - a[1]).slice(0, TOPS);
  return { ...facts, range: null, bars: tops.map(([label, often]) => ({ label, count: often })) };
}

function momentText(type: string): (ms: number) => string {
  return type === "date"
    ? (ms) => new Date(ms).toISOString().slice(0, 10)
    : (ms) => timeText(new Date(ms).toISOString());
}

function spreadOf(numbers: readonly number[], text: (value: number) => string): Pick<Summary, "range" | "bars"> {
  let [least, most, sum] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (const number of numbers) {
    if (number < least) least = number;
    if (number > most) most = number;
    sum += number;
  }
  const range = { least: text(least), most: text(most), mean: text(sum / numbers.length) };
  return { range, bars: histogramOf(numbers, least, most, BARS, text) };
}

/** How many numbers lie in each of equal steps from the least to the most. */
export function histogramOf(
  numbers: readonly number[],
  least: number,
  most: number,
  steps: number,
  text: (value: number) => string = measureText,
): readonly Bar[] {
  const width = (most - least) / steps || 1;
  const counts = new Array<number>(most === least ? 1 : steps).fill(0);
  for (const number of numbers) {
    const at = Math.min(counts.length - 1, Math.floor((number - least) / width));
    counts[at] = counts[at]! + 1;
  }
  return counts.map((count, i) => ({
    label: `${text(least + i * width)} – ${text(least + (i + 1) * width)}`,
    count,
  }));
}
