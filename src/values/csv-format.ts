/** How CSV is written: RFC 4180 with the choices that PostgreSQL's COPY gives. Export writes by it. Pure. */

export interface CsvStyle {
  /** One character each. */
  readonly delimiter: string;
  readonly quote: string;
  /** How NULL is written, without quotes; a value that is this text is quoted. */
  readonly nullText: string;
  readonly header: boolean;
}

/** A function that writes one field: null as the null text, anything else quoted where it must be. */
export function csvFieldWriter({ delimiter, quote, nullText }: CsvStyle): (text: string | null) => string {
  const doubled = quote + quote;
  return (text) => {
    if (text === null) return nullText;
    const mustQuote =
      text === nullText ||
      text.includes(delimiter) ||
      text.includes(quote) ||
      text.includes("\n") ||
      text.includes("\r") ||
      text === "\\.";
    return mustQuote ? quote + (text.includes(quote) ? text.replaceAll(quote, doubled) : text) + quote : text;
  };
}
