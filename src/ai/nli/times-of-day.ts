/** Times of day in the words of a sentence, in minutes: "23:40", "9 am", "seven in the morning", "noon". Pure. */
import type { Word } from "./claim-words.js";
import type { Quantity } from "./quantity.js";

const CLOCK = "time of day";
const NAMED: Readonly<Record<string, number>> = { noon: 720, midday: 720, midnight: 1440 };
const DAY_MINUTES = 1440;

export function clockAt(words: readonly Word[], at: number): Quantity | null {
  const { word, isNumber } = words[at]!;
  const named = NAMED[word];
  if (named !== undefined) return timeOf([named], at, at + 1, words);
  if (!isNumber) return null;
  const parts = /^(\d{1,2})[:.](\d{2})$/.exec(word);
  const isWritten = parts !== null && word.includes(":");
  const [hour, minute] = parts === null ? [Number(word), 0] : [Number(parts[1]), Number(parts[2])];
  if (!Number.isInteger(hour) || hour > 24 || minute > 59) return null;
  const half = halfOfDay(words, at + 1);
  if (half !== null) {
    const of12 = hour % 12;
    return timeOf([(half.isAfternoon ? of12 + 12 : of12) * 60 + minute], at, half.end, words);
  }
  if (isWritten) return timeOf([hour * 60 + minute], at, at + 1, words);
  // "At nine", where nothing is counted: in the morning or in the evening.
  const next = words[at + 1];
  const counts = next?.isContent === true && next.word !== "o";
  if (words[at - 1]?.word !== "at" || counts || hour === 0) return null;
  return timeOf(hour > 12 ? [hour * 60] : [hour * 60, ((hour + 12) % 24) * 60], at, at + 1, words);
}

function halfOfDay(words: readonly Word[], at: number): { isAfternoon: boolean; end: number } | null {
  const [one, two, three] = [words[at]?.word ?? "", words[at + 1]?.word ?? "", words[at + 2]?.word ?? ""];
  if (one === "am" || one === "pm") return { isAfternoon: one === "pm", end: at + 1 };
  if ((one === "a" || one === "p") && two === "m") return { isAfternoon: one === "p", end: at + 2 };
  if (one !== "in" || two !== "the") return null;
  if (three === "morning") return { isAfternoon: false, end: at + 3 };
  return three === "afternoon" || three === "evening" ? { isAfternoon: true, end: at + 3 } : null;
}

/**
 * Of a time that may be either of two, the earlier; "until" and "from" make no interval of it: they are compared as
 * words.
 */
function timeOf(minutes: readonly number[], start: number, end: number, words: readonly Word[]): Quantity {
  const [first, last] = [minutes[0]! % (DAY_MINUTES + 1), minutes.at(-1)! % (DAY_MINUTES + 1)];
  const isEither = first !== last;
  const unit = isEither ? `${CLOCK}, either` : CLOCK;
  const before = words[start - 1]?.word ?? "";
  const low = before === "after" ? first + 1 : before === "before" ? 0 : first;
  const high = before === "before" ? first - 1 : before === "after" ? DAY_MINUTES : first;
  return { unit, low, high, start, end, isDate: true };
}
