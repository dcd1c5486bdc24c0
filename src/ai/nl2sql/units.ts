/** Units of measure in questions and in names of columns. Used by condition-reader.ts and stored-units.ts; no state. */
import { wordsOfName } from "./bare-names.js";
import type { ColumnFacts } from "./schema-facts.js";
import { UNIT_NAMES } from "./vocabulary.js";

/** Of names whose words are not told apart. */
const UNIT_ENDING =
  /(?:milliseconds|seconds|minutes|hours|days|weeks|months|years|grams|kilograms|metres|meters|miles)$/;

/** Units of one kind, by how many of the least they are. */
const KINDS: readonly Readonly<Record<string, number>>[] = [
  { millisecond: 1, second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 },
  { milligram: 1, gram: 1000, kilogram: 1_000_000 },
  { centimetre: 1, metre: 100, kilometre: 100_000 },
];

/** How many of a column's unit are one of the word's: an hour is 60 minutes. Null: the units are of different kinds. */
export function unitFactor(word: string, column: ColumnFacts): number | null {
  const unit = UNIT_NAMES[word];
  if (unit === undefined) return 1;
  const named = unitsOf(column);
  if (named.length === 0 || named.includes(unit)) return 1;
  const kind = kindOf(unit);
  const own = named.length === 1 ? kind?.[named[0]!] : undefined;
  return own === undefined ? null : kind![unit]! / own;
}

/** How many of each unit of the word's kind are one of the word's. Null: it is no such unit, or the column has one. */
export function possibleUnits(word: string, column: ColumnFacts): Readonly<Record<string, number>> | null {
  const unit = UNIT_NAMES[word];
  const kind = unit === undefined ? undefined : kindOf(unit);
  if (kind === undefined || column.sql !== undefined || unitsOf(column).length > 0) return null;
  return Object.fromEntries(Object.entries(kind).map(([other, size]) => [other, kind[unit!]! / size]));
}

function unitsOf({ name, unit }: ColumnFacts): readonly string[] {
  if (unit !== undefined) return [unit];
  return wordsOfName(name)
    .map((part) => UNIT_NAMES[part] ?? UNIT_NAMES[UNIT_ENDING.exec(part)?.[0] ?? ""])
    .filter((other) => other !== undefined);
}

const kindOf = (unit: string) => KINDS.find((each) => each[unit] !== undefined);
