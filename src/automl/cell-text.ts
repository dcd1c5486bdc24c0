/** Numbers and moments written as text, as files and documents have them. Used wherever cells are read; no state. */

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
/** ISO 8601 and SQL's way of writing it; without an offset it is UTC. */
const MOMENT =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/;

/** NaN when the text is no finite decimal number. */
export function numberOfText(text: string): number {
  const trimmed = text.trim();
  if (!NUMBER.test(trimmed)) return Number.NaN;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : Number.NaN;
}

/** Milliseconds since 1970, UTC; NaN when the text is no date or timestamp, or one that does not exist. */
export function momentOfText(text: string): number {
  const parts = MOMENT.exec(text.trim());
  if (parts === null) return Number.NaN;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "0", offset = "Z"] = parts;
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
  if (new Date(date).getUTCDate() !== Number(day) || Number(month) > 12) return Number.NaN;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return Number.NaN;
  const time = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
  return date + time + Math.floor(Number(`0.${fraction}`) * 1000) - offsetMs(offset);
}

function offsetMs(offset: string): number {
  if (offset === "Z") return 0;
  const digits = offset.slice(1).replace(":", "");
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || "0");
  return (offset.startsWith("-") ? -minutes : minutes) * 60_000;
}
