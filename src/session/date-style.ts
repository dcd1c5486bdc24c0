/** DateStyle and IntervalStyle as SET takes them, and what they and others make of texts. Used by settings.ts. */
import { sqlError } from "../protocol/errors.js";
import { type DateOrder, PLAIN_STYLE, type TextStyle } from "../values/text-style.js";

const STYLES = ["ISO", "SQL", "Postgres", "German"] as const;
const INTERVAL_STYLES = ["postgres", "postgres_verbose", "sql_standard", "iso_8601"] as const;

function orderOf(word: string): DateOrder | null {
  if (word === "ymd") return "YMD";
  if (word === "dmy" || word.startsWith("euro")) return "DMY";
  return word === "mdy" || word === "us" || word.startsWith("noneuro") ? "MDY" : null;
}

const wrong = (name: string, text: string, hint: string): Error =>
  sqlError("22023", `invalid value for parameter "${name}": "${text}"`, { hint });

/**
 * A style, an order or both; what is not said stays as it is. German dates are read by day, month, year unless said
 * otherwise.
 */
export function dateStyle(text: string, _name: string, current: string): string {
  let [style, order] = current.split(", ") as [string, DateOrder];
  let hasStyle = false;
  let hasOrder = false;
  for (const word of text
    .toLowerCase()
    .split(",")
    .map((part) => part.trim())) {
    const [nextStyle, nextOrder] = [STYLES.find((known) => known.toLowerCase() === word), orderOf(word)];
    const isConflict =
      (nextStyle !== undefined && hasStyle && nextStyle !== style) ||
      (nextOrder !== null && hasOrder && nextOrder !== order);
    if ((nextStyle === undefined && nextOrder === null && word !== "default") || isConflict) {
      throw wrong(
        "DateStyle",
        text,
        `Say one of ${STYLES.join(", ")}, and one of MDY, DMY, YMD: SET datestyle = 'ISO, DMY'.`,
      );
    }
    if (word === "default") [style, order] = ["ISO", "MDY"];
    if (nextStyle !== undefined) [style, hasStyle] = [nextStyle, true];
    if (nextStyle === "German" && !hasOrder) order = "DMY";
    if (nextOrder !== null) [order, hasOrder] = [nextOrder, true];
  }
  return `${style}, ${order}`;
}

export function intervalStyle(text: string): string {
  const style = INTERVAL_STYLES.find((known) => known === text.trim().toLowerCase());
  if (style !== undefined) return style;
  throw wrong("IntervalStyle", text, `Available values: ${INTERVAL_STYLES.join(", ")}.`);
}

/** Undefined: all of it is as it is unless set. */
export function textStyleOf(
  dates: string | undefined,
  intervals: string | undefined,
  bytes?: string,
  floatDigits?: string,
): TextStyle | undefined {
  const [style = PLAIN_STYLE.dates, order = PLAIN_STYLE.order] = (dates?.split(", ") ?? []) as [
    TextStyle["dates"]?,
    DateOrder?,
  ];
  const made: TextStyle = {
    dates: style,
    order,
    intervals: (intervals as TextStyle["intervals"]) ?? PLAIN_STYLE.intervals,
    bytes: bytes === "escape" ? "escape" : "hex",
    floatDigits: Number(floatDigits ?? 1),
  };
  const isPlain = style === "ISO" && order === "MDY" && made.intervals === "postgres" && made.bytes === "hex";
  return isPlain && made.floatDigits > 0 ? undefined : made;
}
