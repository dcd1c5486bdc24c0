/** The words that dates and times are written with, of English, and what each one says. */

/** Of English, in lower case. */
export const MONTH_NAMES = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];

/** A part of a date or a time that a word announces: "y2001m02d04". */
export type Unit = "year" | "month" | "day" | "hour" | "minute" | "second" | "julian" | "none";

export type Word =
  | { readonly says: "month"; readonly month: number }
  | { readonly says: "weekday" | "nothing" | "iso time" | "summer time" }
  | { readonly says: "half"; readonly half: "am" | "pm" }
  | { readonly says: "era"; readonly bc: boolean }
  | { readonly says: "unit"; readonly unit: Unit }
  | { readonly says: "moment"; readonly moment: Moment };

export type Moment = "now" | "today" | "tomorrow" | "yesterday" | "allballs" | "epoch" | "infinity" | "-infinity";

const UNITS: Readonly<Record<string, Unit>> = {
  y: "year",
  m: "month",
  d: "day",
  h: "hour",
  mm: "minute",
  s: "second",
  j: "julian",
  jd: "julian",
  julian: "julian",
  dow: "none",
  doy: "none",
  isodow: "none",
  isoyear: "none",
};
const WEEKDAYS =
  "sun sunday mon monday tue tues tuesday wed weds wednesday thu thur thurs thursday fri friday sat saturday";
const MOMENTS: readonly Moment[] = [
  "now",
  "today",
  "tomorrow",
  "yesterday",
  "allballs",
  "epoch",
  "infinity",
  "-infinity",
];

const WORDS = new Map<string, Word>([
  ["at", { says: "nothing" }],
  ["on", { says: "nothing" }],
  ["t", { says: "iso time" }],
  ["dst", { says: "summer time" }],
  ["am", { says: "half", half: "am" }],
  ["pm", { says: "half", half: "pm" }],
  ["ad", { says: "era", bc: false }],
  ["bc", { says: "era", bc: true }],
  ["sept", { says: "month", month: 9 }],
]);
for (const [index, name] of MONTH_NAMES.entries()) {
  const word: Word = { says: "month", month: index + 1 };
  WORDS.set(name, word).set(name.slice(0, 3), word);
}
for (const name of WEEKDAYS.split(" ")) WORDS.set(name, { says: "weekday" });
for (const [name, unit] of Object.entries(UNITS)) WORDS.set(name, { says: "unit", unit });
for (const moment of MOMENTS) WORDS.set(moment, { says: "moment", moment });

/** `text` in lower case. */
export const wordOf = (text: string): Word | undefined => WORDS.get(text);
