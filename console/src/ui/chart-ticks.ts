/** Where the axes of a chart have their marks: round numbers, and round times of the reader's calendar. */
import { clockText } from "../lib/format.js";

/** Between marks that are about as many as wanted. */
export function stepOf(least: number, most: number, wanted: number): number {
  const raw = (most - least) / Math.max(1, wanted);
  if (raw <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= raw) ?? raw;
}

export function ticksOf(least: number, most: number, step: number): readonly number[] {
  const ticks: number[] = [];
  for (let at = Math.ceil(least / step - 1e-9) * step; at <= most + step * 1e-9; at += step)
    ticks.push(Number(at.toPrecision(12)));
  return ticks;
}

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const MONTH = 30.4 * DAY;
const CLOCK_STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
];
const DAYS = [1, 2, 7, 14];
const MONTHS = [1, 2, 3, 6, 12];

/** Hours, days, months or years, as far apart as there is room for. */
export function timeTicksOf(least: number, most: number, wanted: number): readonly number[] {
  const apart = Math.max(1, (most - least) / Math.max(1, wanted));
  const first = new Date(least);
  const [year, month, day] = [first.getFullYear(), first.getMonth(), first.getDate()];
  const clock = CLOCK_STEPS.find((step) => step >= apart);
  if (clock !== undefined) {
    const midnight = new Date(year, month, day).getTime();
    const from = Math.ceil((least - midnight) / clock);
    return inside(least, most, (i) => midnight + (from + i) * clock);
  }
  const days = DAYS.find((count) => count * DAY >= apart);
  if (days !== undefined) return inside(least, most, (i) => new Date(year, month, day + i * days).getTime());
  const months = MONTHS.find((count) => count * MONTH >= apart) ?? 12 * stepOf(0, apart / (12 * MONTH), 1);
  const from = Math.floor((year * 12 + month) / months);
  return inside(least, most, (i) => new Date(0, (from + i) * months - 1900 * 12).getTime());
}

/** The first may lie before the least. */
function inside(least: number, most: number, at: (i: number) => number): readonly number[] {
  const ticks: number[] = [];
  for (let i = 0; at(i) <= most; i++) if (at(i) >= least) ticks.push(at(i));
  return ticks;
}

/** As exact as all the marks need. */
export function timeTickText(at: number, ticks: readonly number[]): string {
  const date = new Date(at);
  const dates = ticks.map((tick) => new Date(tick));
  const apart = (ticks.at(-1)! - ticks[0]!) / Math.max(1, ticks.length - 1);
  if (apart < DAY && !isMidnight(date)) {
    return clockText(date).slice(0, dates.every((each) => each.getSeconds() === 0) ? "HH:MM".length : undefined);
  }
  if (dates.every((each) => isMidnight(each) && each.getDate() === 1)) {
    if (dates.every((each) => each.getMonth() === 0)) return String(date.getFullYear());
    return date.toLocaleDateString("en-GB", { month: "short", year: "numeric" });
  }
  return dateText(date);
}

/** Of one value: a date, with the time of the day where it has one. */
export function momentText(at: number): string {
  const date = new Date(at);
  return isMidnight(date) ? dateText(date) : `${dateText(date)}, ${clockText(date)}`;
}

function dateText(date: Date): string {
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
}

function isMidnight(date: Date): boolean {
  return date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0 && date.getMilliseconds() === 0;
}
