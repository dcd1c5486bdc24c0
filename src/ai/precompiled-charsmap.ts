/**
 * The normalization that a SentencePiece model was trained with, as its tokenizer.json holds it ("Precompiled"): a trie
 * (Darts-clone's double array) from UTF-8 to places in a list of replacements. The package for tokenizers does not read
 * it, but has NFKC in its place, which differs for joiners, blanks and what else the model's makers chose. Works like
 * Hugging Face's crate spm_precompiled: a grapheme of less than 6 bytes is looked up as a whole, then each of its
 * characters. Made by text-tokenizer.ts; constant.
 */

const GRAPHEME_BYTES_MAX = 5;
const ASCII_END = 0x80;

export class PrecompiledCharsmap {
  private readonly units: Uint32Array;
  private readonly replacements: Buffer;
  /** What stands for each character of ASCII. */
  private readonly ascii: readonly string[];
  /** No character of ASCII changes, but control characters. */
  private readonly keepsAscii: boolean;
  private readonly segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });

  /**
   * `base64`: the number of the trie's bytes, the trie, the replacements, each of which ends with a zero. Throws
   * RangeError.
   */
  constructor(base64: string) {
    const bytes = Buffer.from(base64, "base64");
    const trieBytes = bytes.readUInt32LE(0);
    if (trieBytes % 4 !== 0 || 4 + trieBytes > bytes.length) throw new RangeError("the table of characters is broken");
    this.units = new Uint32Array(trieBytes / 4);
    for (let i = 0; i < this.units.length; i++) this.units[i] = bytes.readUInt32LE(4 + 4 * i);
    this.replacements = bytes.subarray(4 + trieBytes);
    this.ascii = Array.from({ length: ASCII_END }, (_, code) => {
      const character = String.fromCharCode(code);
      return this.find(character) ?? character;
    });
    this.keepsAscii = this.ascii.every((to, code) => code < 0x20 || code === 0x7f || to === String.fromCharCode(code));
  }

  normalize(text: string): string {
    if (this.keepsAscii && PRINTABLE.test(text)) return text;
    if (ASCII.test(text)) {
      // Each character is a grapheme, but for the end of a line.
      return text
        .split("\r\n")
        .map((line) => this.asciiLine(line))
        .join(this.grapheme("\r\n"));
    }
    let out = "";
    for (const { segment } of this.segmenter.segment(text)) out += this.grapheme(segment);
    return out;
  }

  private asciiLine(line: string): string {
    let out = "";
    for (let i = 0; i < line.length; i++) out += this.ascii[line.charCodeAt(i)]!;
    return out;
  }

  private grapheme(text: string): string {
    const whole = Buffer.byteLength(text) <= GRAPHEME_BYTES_MAX ? this.find(text) : null;
    if (whole !== null) return whole;
    let out = "";
    for (const character of text) out += this.find(character) ?? character;
    return out;
  }

  /** The replacement of the shortest beginning of the text that has one; null: none has. */
  private find(text: string): string | null {
    const { units } = this;
    let place = offsetOf(units[0] ?? 0);
    for (const byte of Buffer.from(text)) {
      if (byte === 0) return null;
      place ^= byte;
      const unit = units[place] ?? 0;
      if ((unit & LABEL_BITS) >>> 0 !== byte) return null;
      place ^= offsetOf(unit);
      if ((unit & LEAF_BIT) !== 0) return this.replacementAt((units[place] ?? 0) & VALUE_BITS);
    }
    return null;
  }

  private replacementAt(start: number): string {
    const end = this.replacements.indexOf(0, start);
    return this.replacements.toString("utf8", start, end < 0 ? undefined : end);
  }
}

const PRINTABLE = /^[\x20-\x7e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is about all of ASCII
const ASCII = /^[\x00-\x7f]*$/;

const LEAF_BIT = 1 << 8;
const LABEL_BITS = (1 << 31) | 0xff;
const VALUE_BITS = 0x7fffffff;

/** Where a unit's children lie, from it. */
const offsetOf = (unit: number): number => (unit >>> 10) << ((unit & (1 << 9)) >>> 6);
