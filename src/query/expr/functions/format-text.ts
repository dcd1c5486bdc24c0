/** format(): PostgreSQL's sprintf with %s, %I and %L, positions (%2$s), widths and a minus for left alignment. */
import { sqlError } from "../../../protocol/errors.js";
import { quoteIdentifier, quoteLiteral } from "../print.js";

const SPECIFIER = /%(?:(\d+)\$)?(-)?(?:(\d+)|\*(?:(\d+)\$)?)?(.)?/gs;

/** `texts[0]` is the format; null for a null format. Throws 22023. */
export function formatText(texts: readonly (string | null)[]): string | null {
  const format = texts[0] as string | null;
  if (format === null) return null;
  let next = 1;
  const take = (explicit: string | undefined): string | null => {
    const index = explicit === undefined ? next : Number(explicit);
    if (index === 0) throw sqlError("22023", "format specifies argument 0, but arguments are numbered from 1");
    if (index >= texts.length) throw sqlError("22023", "too few arguments for format()");
    next = index + 1;
    return texts[index] as string | null;
  };
  return format.replace(
    SPECIFIER,
    (whole: string, at?: string, minus?: string, width?: string, widthAt?: string, type?: string) => {
      if (type === "%" && whole === "%%") return "%";
      if (type === undefined) {
        throw sqlError("22023", "unterminated format() type specifier", { hint: 'For a single "%" use "%%".' });
      }
      const starred = whole.includes("*") && type !== "*";
      const given = starred ? Number(take(widthAt) ?? 0) : Number(width ?? 0);
      const text = convert(type, take(at));
      const alignLeft = minus !== undefined || given < 0;
      return alignLeft ? text.padEnd(Math.abs(given)) : text.padStart(given);
    },
  );
}

function convert(type: string, text: string | null): string {
  switch (type) {
    case "s":
      return text ?? "";
    case "I":
      if (text === null) throw sqlError("22004", "null values cannot be formatted as an SQL identifier");
      return quoteIdentifier(text);
    case "L":
      return text === null ? "NULL" : quoteLiteral(text);
    default:
      throw sqlError("22023", `unrecognized format() type specifier "${type}"`, {
        hint: 'For a single "%" use "%%".',
      });
  }
}
