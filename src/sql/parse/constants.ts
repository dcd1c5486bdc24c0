/** Constants as texts write them, for those who read long lists of them apart from the grammar. */

/**
 * A number, a word or a parameter, at the end of which something else can begin. Sticky. Numbers that take long to read
 * are left to the grammar.
 */
export const CONSTANT =
  /(?:(?<number>-?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,2})?)|(?<word>null|true|false|default)|\$(?<parameter>\d{1,5}))(?=[\s,)])/iy;

/** White space. Sticky. */
export const SPACE = /\s*/y;

/** Behind the closing quote; -1: there is none. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; ) {
    const quote = text.indexOf("'", at);
    if (quote < 0) return -1;
    if (text[quote + 1] !== "'") return quote + 1;
    at = quote + 2;
  }
}
