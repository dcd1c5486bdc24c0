/**
 * Temporal values as texts by a pattern of letters, as Java's DateTimeFormatter has them ("dd.MM.yyyy HH:mm"), in
 * English. Texts are read by a pattern in temporal-pattern-read.ts.
 */
import { civilFromDays, isoWeek } from "../../../values/datetime.js";
import { Duration, type Temporal } from "../../../values/temporal.js";
import { offsetToText, temporalToText } from "../../../values/temporal-text.js";
import { isoDayOfWeek, ordinalDayOf, quarterOfMonth } from "./temporal-calendar.js";
import { isDated, isTimed } from "./temporal-fields.js";
import { invalidArgument, SECOND_NANOS } from "./temporal-range.js";

/** What letters may show; null: the value has none. */
export interface Shown {
  /** Since the epoch. */
  readonly days: number | null;
  /** Since midnight. */
  readonly nanos: number | null;
  /** Seconds east of UTC. */
  readonly offset: number | null;
  readonly zone: string | null;
}

export const WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" ");
export const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);

/** Letters in a row, text in quotes, or one other character. */
const TOKENS = /([A-Za-z])\1*|'(?:[^']|'')*'|[^A-Za-z]/g;
/** They mean something else in Java than themselves. */
const RESERVED = /^[[\]{}#]$/;

/** A run of one letter, or a text that stands for itself. */
export type PatternPart = { readonly letter: string; readonly width: number } | { readonly text: string };

export function patternParts(pattern: string): PatternPart[] {
  return (pattern.match(TOKENS) ?? []).map((token) => {
    if (RESERVED.test(token))
      throw invalidArgument(`a pattern of dates and times cannot have "${token}" outside of '…'`);
    if (/^[A-Za-z]/.test(token)) return { letter: token[0]!, width: token.length };
    if (token.length === 1) return { text: token };
    return { text: token === "''" ? "'" : token.slice(1, -1).replaceAll("''", "'") };
  });
}

export const unknownLetter = (letter: string) =>
  invalidArgument(`a pattern of dates and times has no letter ${letter} that can be used here`);

const digits = (value: number, width: number): string => {
  const text = String(Math.abs(value)).padStart(width, "0");
  return value < 0 ? `-${text}` : text;
};

const named = (names: readonly string[], at: number, width: number): string => {
  const name = names[at]!;
  if (width === 5) return name.slice(0, 1);
  return width > 3 ? name : name.slice(0, 3);
};

const year = (value: number, width: number) =>
  width === 2 ? digits(((value % 100) + 100) % 100, 2) : digits(value, width);

type Letters<T> = Readonly<Record<string, (value: T, width: number) => string>>;

const OF_DATE: Letters<number> = {
  y: (days, width) => year(civilFromDays(days).year, width),
  u: (days, width) => year(civilFromDays(days).year, width),
  Y: (days, width) => year(isoWeek(days).year, width),
  G: (days) => (civilFromDays(days).year > 0 ? "AD" : "BC"),
  Q: (days, width) => (width > 2 ? "Q" : "") + digits(quarterOfMonth(civilFromDays(days).month), width === 2 ? 2 : 1),
  M: (days, width) => {
    const { month } = civilFromDays(days);
    return width < 3 ? digits(month, width) : named(MONTHS, month - 1, width);
  },
  w: (days, width) => digits(isoWeek(days).week, width),
  D: (days, width) => digits(ordinalDayOf(days), width),
  d: (days, width) => digits(civilFromDays(days).day, width),
  E: (days, width) => named(WEEKDAYS, isoDayOfWeek(days) - 1, width),
  e: (days, width) => (width < 3 ? digits(isoDayOfWeek(days), width) : named(WEEKDAYS, isoDayOfWeek(days) - 1, width)),
};

const hourOf = (nanos: number) => Math.floor(nanos / (3600 * SECOND_NANOS));

const OF_TIME: Letters<number> = {
  a: (nanos) => (hourOf(nanos) < 12 ? "AM" : "PM"),
  H: (nanos, width) => digits(hourOf(nanos), width),
  k: (nanos, width) => digits(hourOf(nanos) || 24, width),
  h: (nanos, width) => digits(hourOf(nanos) % 12 || 12, width),
  K: (nanos, width) => digits(hourOf(nanos) % 12, width),
  m: (nanos, width) => digits(Math.floor(nanos / (60 * SECOND_NANOS)) % 60, width),
  s: (nanos, width) => digits(Math.floor(nanos / SECOND_NANOS) % 60, width),
  S: (nanos, width) =>
    digits(nanos % SECOND_NANOS, 9)
      .padEnd(width, "0")
      .slice(0, width),
  n: (nanos, width) => digits(nanos % SECOND_NANOS, width),
  A: (nanos, width) => digits(Math.floor(nanos / 1_000_000), width),
  N: (nanos, width) => digits(nanos, width),
};

/** `+01`, `+0130` or `+01:30`, with as much as the width asks for. */
function offsetText(offset: number, width: number): string {
  const [hours, minutes, seconds = ""] = offsetToText(offset === 0 ? 60 : offset).split(":");
  const [h, m] = offset === 0 ? ["+00", "00"] : [hours!, minutes!];
  const colon = width === 3 || width === 5 ? ":" : "";
  if (width === 1 && m === "00") return h;
  return `${h}${colon}${m}${width > 3 && seconds !== "" ? colon + seconds : ""}`;
}

/** `GMT+1`, `GMT+01:00`. */
function localized(offset: number, width: number): string {
  if (offset === 0) return "GMT";
  const text = offsetText(offset, 3);
  return `GMT${width === 4 ? text : text.replace(/^(.)0/, "$1").replace(":00", "")}`;
}

const OF_OFFSET: Letters<number> = {
  X: (offset, width) => (offset === 0 ? "Z" : offsetText(offset, width)),
  x: offsetText,
  Z: (offset, width) => {
    if (width === 4) return localized(offset, width);
    return width === 5 && offset === 0 ? "Z" : offsetText(offset, width === 5 ? 5 : 2);
  },
  O: localized,
};

function zoneText({ offset, zone }: Shown, letter: string): string | null {
  // The names of zones in words are those of a place and a season: the letter V gives what they are called anywhere.
  if (letter === "z" && zone !== null && zone !== "UTC") throw unknownLetter("z (VV gives the zone)");
  return zone ?? (offset === null ? null : offsetToText(offset));
}

/** The text of a run of a letter. */
function lettersText(shown: Shown, letter: string, width: number): string {
  const of = letter === "L" ? "M" : letter === "q" ? "Q" : letter === "c" ? "e" : letter;
  const { days, nanos, offset } = shown;
  const known = of === "V" || of === "z" || of in OF_DATE || of in OF_TIME || of in OF_OFFSET;
  if (!known) throw unknownLetter(letter);
  const text =
    (days === null ? undefined : OF_DATE[of]?.(days, width)) ??
    (nanos === null ? undefined : OF_TIME[of]?.(nanos, width)) ??
    (offset === null ? undefined : OF_OFFSET[of]?.(offset, width)) ??
    (of === "V" || of === "z" ? zoneText(shown, of) : null);
  if (text !== null) return text;
  throw invalidArgument(`the value has nothing that the letter ${letter} of a pattern shows`);
}

export function textByPattern(shown: Shown, pattern: string): string {
  const parts = patternParts(pattern);
  return parts.map((part) => ("text" in part ? part.text : lettersText(shown, part.letter, part.width))).join("");
}

/** Letters of durations, from the largest unit to the least; each shows what larger ones of its group leave. */
const GROUPS: readonly (readonly (readonly [letters: string, size: bigint])[])[] = [
  [
    ["yYu", 12n],
    ["qQ", 3n],
    ["ML", 1n],
  ],
  [
    ["wW", 7n],
    ["dD", 1n],
  ],
  [
    ["hHkK", 3_600_000_000_000n],
    ["m", 60_000_000_000n],
    ["s", 1_000_000_000n],
    ["A", 1_000_000n],
    ["nNS", 1n],
  ],
];

function durationByPattern(value: Duration, pattern: string): string {
  const parts = patternParts(pattern);
  const used = parts.flatMap((part) => ("text" in part ? [] : [part.letter]));
  const amounts = [
    BigInt(value.months),
    BigInt(value.days),
    BigInt(value.seconds) * 1_000_000_000n + BigInt(value.nanos),
  ];
  const counts = new Map<string, bigint>();
  for (const [i, group] of GROUPS.entries()) {
    let left = amounts[i]!;
    for (const [letters, size] of group) {
      const own = used.filter((letter) => letters.includes(letter));
      if (own.length === 0) continue;
      for (const letter of own) counts.set(letter, left / size);
      left %= size;
    }
  }
  const text = (letter: string, width: number) => {
    const count = counts.get(letter);
    if (count === undefined) throw unknownLetter(letter);
    const size = count < 0n ? -count : count;
    if (letter === "S") return String(size).padStart(9, "0").padEnd(width, "0").slice(0, width);
    return `${count < 0n ? "-" : ""}${String(size).padStart(width, "0")}`;
  };
  return parts.map((part) => ("text" in part ? part.text : text(part.letter, part.width))).join("");
}

/** `format(value, pattern)`; without a pattern as toString() gives it. */
export function formatTemporal(value: Temporal, pattern: string | null): string {
  if (pattern === null) return temporalToText(value);
  if (value instanceof Duration) return durationByPattern(value, pattern);
  const shown: Shown = {
    days: isDated(value) ? value.days : null,
    nanos: isTimed(value) ? value.nanos : null,
    offset: "offset" in value ? value.offset : null,
    zone: "zone" in value ? value.zone : null,
  };
  return textByPattern(shown, pattern);
}
