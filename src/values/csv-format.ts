/** Writes CSV: RFC 4180 with the choices of PostgreSQL's COPY. Used by exports. Pure. */

export interface CsvStyle {
  /** One character each. */
  readonly delimiter: string;
  readonly quote: string;
  /** Stands before a quote, or before itself, within quotes; absent: the quote does. */
  readonly escape?: string;
  /** How NULL is written, without quotes; a value that is this text is quoted. */
  readonly nullText: string;
  readonly header: boolean;
}

/** A function that escapes what stands within quotes. */
export function csvEscaper({ quote, escape: given }: CsvStyle): (text: string) => string {
  const mark = given ?? quote;
  if (mark === quote) return (text) => (text.includes(quote) ? text.replaceAll(quote, quote + quote) : text);
  return (text) => text.replaceAll(mark, mark + mark).replaceAll(quote, mark + quote);
}

/** A function that writes one field: null as the null text, anything else quoted where it must be. */
export function csvFieldWriter(style: CsvStyle): (text: string | null) => string {
  const { delimiter, quote, nullText } = style;
  const escaped = csvEscaper(style);
  return (text) => {
    if (text === null) return nullText;
    const mustQuote =
      text === nullText ||
      text.includes(delimiter) ||
      text.includes(quote) ||
      text.includes("\n") ||
      text.includes("\r") ||
      text === "\\.";
    return mustQuote ? quote + escaped(text) + quote : text;
  };
}
