/** The order of texts, which all orders and comparisons share. */

/** By code point. UTF-16 units agree with that except that surrogates (D800–DFFF) sort below E000–FFFF. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) {
      const xSurrogate = x >= 0xd800 && x <= 0xdfff;
      if (xSurrogate === (y >= 0xd800 && y <= 0xdfff)) return x - y;
      return xSurrogate ? (y > 0xdfff ? 1 : x - y) : x > 0xdfff ? -1 : x - y;
    }
  }
  return a.length - b.length;
}
