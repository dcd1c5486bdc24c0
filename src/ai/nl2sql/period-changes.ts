/**
 * Periods compared with the ones before: "revenue year over year", "orders per month compared to the previous month".
 * The first half reads the question for `read-question.ts`, the second writes SQL for `write-query.ts`.
 */
import type { TimeUnit } from "./query-shape.js";
import type { Question } from "./question.js";
import { identifier } from "./sql-names.js";

const UNITS: readonly TimeUnit[] = ["year", "quarter", "month", "week", "day"];
const SHORT: Readonly<Record<string, TimeUnit>> = { yoy: "year", qoq: "quarter", mom: "month", wow: "week" };
const CHANGE = "growth|change|changes|increase|development|difference|comparison|compare|compared|trend";

/** The unit whose periods are compared; uses the words that say so. Null: none are. */
export function periodChange(question: Question): TimeUnit | null {
  for (let at = 0; at < question.tokens.length; at++) {
    if (question.isUsed(at)) continue;
    const found = overPeriods(question, at) ?? withPrevious(question, at);
    if (found === null) continue;
    question.use(at, at + found.length);
    useChange(question);
    return found.unit;
  }
  return null;
}

interface Found {
  readonly unit: TimeUnit;
  readonly length: number;
}

/** "Year over year", "month-on-month", "YoY". */
function overPeriods(question: Question, at: number): Found | null {
  const short = SHORT[question.lower(at)];
  if (short !== undefined) return { unit: short, length: 1 };
  for (const unit of UNITS) {
    if (new RegExp(`^${unit}-(?:over|on|to)-${unit}$`).test(question.lower(at))) return { unit, length: 1 };
    if (question.says(at, unit, "over|on|to", unit)) return { unit, length: 3 };
  }
  return null;
}

/** "Compared to the previous year", where groups are years. */
function withPrevious(question: Question, at: number): Found | null {
  if (!question.says(at, "compared|versus|vs")) return null;
  let next = at + 1;
  while (question.says(next, "to|with|the")) next++;
  if (!question.says(next, "previous|prior|preceding")) return null;
  const unit = UNITS.find((each) => question.says(next + 1, each));
  const isGrouped = unit !== undefined && question.tokens.some((_, i) => question.says(i, "per|each|every|by", unit));
  return unit === undefined || !isGrouped ? null : { unit, length: next + 2 - at };
}

/** "Growth of", "change in": that is what is shown. */
function useChange(question: Question): void {
  question.tokens.forEach((_, at) => {
    if (!question.says(at, CHANGE) || question.isUsed(at)) return;
    question.use(at);
    if (question.says(at + 1, "of|in|rate")) question.use(at + 1);
  });
}

const STEPS: Readonly<Record<TimeUnit, string>> = {
  year: "1",
  quarter: "interval '3 months'",
  month: "interval '1 month'",
  week: "interval '7 days'",
  day: "interval '1 day'",
  hour: "interval '1 hour'",
  "hour of day": "1",
  weekday: "1",
};

/**
 * Each period beside the one before it; null where that one has no rows. `periods` has columns of those names, one row
 * for each period and `group`.
 */
export function compareSql(periods: string, unit: TimeUnit, value: string, group: readonly string[]): string {
  const groups = group.map(identifier);
  const partition = groups.length === 0 ? "" : `PARTITION BY ${groups.join(", ")} `;
  const before = (column: string) => `lag(${column}) OVER (${partition}ORDER BY ${unit})`;
  const name = identifier(value);
  const shown = [...groups, unit, name];
  const previous = `CASE WHEN ${before(unit)} = ${unit} - ${STEPS[unit]} THEN ${before(name)} END AS previous`;
  const change = `${name} - previous AS change, (${name} - previous) * 1.0 / nullif(previous, 0) AS growth`;
  return (
    `SELECT ${shown.join(", ")}, previous, ${change} ` +
    `FROM (SELECT ${shown.join(", ")}, ${previous} FROM (${periods}) AS periods) AS compared ` +
    `ORDER BY ${[...groups, unit].join(", ")}`
  );
}
