/** A moment as numbers that models can use. No state. */

export const PARTS = [
  "days",
  "month",
  "day",
  "weekday",
  "hour",
  "hour_sine",
  "hour_cosine",
  "year_sine",
  "year_cosine",
] as const;
export type Part = (typeof PARTS)[number];

const DAY_MS = 86_400_000;

/** `moment`: milliseconds since 1970, UTC; NaN gives NaN. `days` since 1970; Monday is weekday 0. */
export function partOf(moment: number, part: Part): number {
  if (Number.isNaN(moment)) return Number.NaN;
  const date = new Date(moment);
  const hour = (((moment % DAY_MS) + DAY_MS) % DAY_MS) / 3_600_000;
  switch (part) {
    case "days":
      return moment / DAY_MS;
    case "month":
      return date.getUTCMonth() + 1;
    case "day":
      return date.getUTCDate();
    case "weekday":
      return (date.getUTCDay() + 6) % 7;
    case "hour":
      return hour;
    case "hour_sine":
      return Math.sin((2 * Math.PI * hour) / 24);
    case "hour_cosine":
      return Math.cos((2 * Math.PI * hour) / 24);
    case "year_sine":
      return Math.sin(yearAngle(date));
    case "year_cosine":
      return Math.cos(yearAngle(date));
  }
}

function yearAngle(date: Date): number {
  return (2 * Math.PI * (date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1))) / (365.25 * DAY_MS);
}
