/** The printing of timestamps in PostgreSQL's ISO DateStyle; other styles are in text-style.ts. */
import { civilFromDays, civilText, infinityText, offsetToText, SECOND_MICROS, timeToText } from "./datetime.js";
import { offsetAt } from "./time-zone.js";
import { addMicros, isFiniteTimestamp, splitTimestamp, type Timestamp } from "./timestamp.js";

/** `separator` is a space, or "T" as in JSON. */
export function timestampToText(timestamp: Timestamp, separator = " "): string {
  return zonedText(timestamp, separator, "");
}

/** The instant as the clock of `timeZone` shows it, with its offset; JSON wants the offset's minutes always. */
export function timestampTzToText(instant: Timestamp, timeZone = "UTC", separator = " "): string {
  if (!isFiniteTimestamp(instant)) return infinityText(instant);
  const offset = offsetAt(timeZone, instant);
  return zonedText(addMicros(instant, offset * SECOND_MICROS), separator, offsetToText(offset, separator === "T"));
}

function zonedText(timestamp: Timestamp, separator: string, zone: string): string {
  if (!isFiniteTimestamp(timestamp)) return infinityText(timestamp);
  const { days, micros } = splitTimestamp(timestamp);
  const date = civilFromDays(days);
  return `${civilText(date)}${separator}${timeToText(micros)}${zone}${date.year > 0 ? "" : " BC"}`;
}
