/**
 * Maps a byte offset in the text that the grammar saw to a character position in the client's text. The two differ by
 * encoding (the grammar counts UTF-8 bytes, PostgreSQL's messages count characters) and by the rewrites of
 * `dialect.ts`. Owned by one call of `parseSql`.
 */

/** `text` replaces the client's characters from `start` to `end` (UTF-16 indexes, end exclusive). */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface SourceMap {
  /** The client's text. */
  readonly original: string;
  /** The text for the grammar. */
  readonly text: string;
  /** UTF-16 index in the client's text of a UTF-8 byte offset in `text`. */
  indexOfByte(offset: number): number;
  /** UTF-16 index in the client's text of a character (code point) offset in `text`. */
  indexOfCharacter(offset: number): number;
  /** 1-based character position of a UTF-16 index in the client's text. */
  position(index: number): number;
}

/** `edits` in order and apart from each other. */
export function sourceMap(original: string, edits: readonly Edit[]): SourceMap {
  const text = edits.length === 0 ? original : applyEdits(original, edits);
  const toOriginal = edits.length === 0 ? (index: number) => index : originalIndex(edits);
  // Only ASCII has as many bytes as UTF-16 units.
  if (Buffer.byteLength(text, "utf8") === text.length && Buffer.byteLength(original, "utf8") === original.length) {
    return { original, text, indexOfByte: toOriginal, indexOfCharacter: toOriginal, position: (index) => index + 1 };
  }
  const inText = new Characters(text);
  const inOriginal = text === original ? inText : new Characters(original);
  return {
    original,
    text,
    indexOfByte: (offset) => toOriginal(inText.indexOfByte(offset)),
    indexOfCharacter: (offset) => toOriginal(inText.indexOfCharacter(offset)),
    position: (index) => inOriginal.before(index) + 1,
  };
}

function applyEdits(original: string, edits: readonly Edit[]): string {
  let text = "";
  let from = 0;
  for (const edit of edits) {
    text += original.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return text + original.slice(from);
}

/** An index inside a replacement maps to where the replaced characters began. */
function originalIndex(edits: readonly Edit[]): (index: number) => number {
  return (index) => {
    let shift = 0;
    for (const edit of edits) {
      const start = edit.start + shift;
      if (index < start) break;
      if (index < start + edit.text.length) return edit.start;
      shift += edit.text.length - (edit.end - edit.start);
    }
    return index - shift;
  };
}

/** UTF-16 units between two places whose bytes and characters are known. */
const STRIDE = 512;

/**
 * Counts bytes and characters of a text that is not ASCII. A tree has a position per node, so places on the way are
 * kept: each question costs at most a stride, not the whole text before it.
 */
class Characters {
  /** Per place: UTF-16 index, bytes and characters before it. */
  private places: { readonly indexes: number[]; readonly bytes: number[]; readonly characters: number[] } | null = null;

  constructor(private readonly text: string) {}

  indexOfByte(offset: number): number {
    const { indexes, bytes } = this.known();
    const at = lastNotAfter(bytes, offset);
    return advance(this.text, indexes[at]!, offset - bytes[at]!, bytesOf);
  }

  indexOfCharacter(offset: number): number {
    const { indexes, characters } = this.known();
    const at = lastNotAfter(characters, offset);
    return advance(this.text, indexes[at]!, offset - characters[at]!, () => 1);
  }

  /** Characters before an index. */
  before(index: number): number {
    const { indexes, characters } = this.known();
    const at = lastNotAfter(indexes, index);
    let count = characters[at]!;
    for (let i = indexes[at]!; i < index; count++) i += this.text.codePointAt(i)! > 0xffff ? 2 : 1;
    return count;
  }

  private known() {
    if (this.places !== null) return this.places;
    const places = { indexes: [0], bytes: [0], characters: [0] };
    let bytes = 0;
    let characters = 0;
    for (let index = 0, next = STRIDE; index < this.text.length; ) {
      const codePoint = this.text.codePointAt(index)!;
      bytes += bytesOf(codePoint);
      characters++;
      index += codePoint > 0xffff ? 2 : 1;
      if (index < next) continue;
      places.indexes.push(index);
      places.bytes.push(bytes);
      places.characters.push(characters);
      next = index + STRIDE;
    }
    this.places = places;
    return places;
  }
}

/** The last place of an ascending list, which begins with 0, that is not after a value. */
function lastNotAfter(values: readonly number[], value: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle]! <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

function bytesOf(codePoint: number): number {
  return codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
}

/** The UTF-16 index at which, from index `from` on, `units` (as `size` counts each code point) have passed. */
function advance(text: string, from: number, units: number, size: (codePoint: number) => number): number {
  let index = from;
  for (let passed = 0; passed < units && index < text.length; ) {
    const codePoint = text.codePointAt(index)!;
    passed += size(codePoint);
    index += codePoint > 0xffff ? 2 : 1;
  }
  return index;
}
