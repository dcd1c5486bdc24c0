/**
 * From a byte offset in the text that the grammar saw to a character position in the text that the client sent.
 * The two differ by encoding (the grammar counts UTF-8 bytes, PostgreSQL's messages count characters) and by the
 * rewrites of `dialect.ts`. Owned by one call of `parseSql`.
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
  return {
    original,
    text,
    indexOfByte: (offset) => toOriginal(advance(text, offset, bytesOf)),
    indexOfCharacter: (offset) => toOriginal(advance(text, offset, () => 1)),
    position: (index) => characters(original, index) + 1,
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

function bytesOf(codePoint: number): number {
  return codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
}

/** The UTF-16 index at which `units` (as `size` counts each code point) have passed. */
function advance(text: string, units: number, size: (codePoint: number) => number): number {
  let index = 0;
  for (let passed = 0; passed < units && index < text.length; ) {
    const codePoint = text.codePointAt(index)!;
    passed += size(codePoint);
    index += codePoint > 0xffff ? 2 : 1;
  }
  return index;
}

function characters(text: string, end: number): number {
  let count = 0;
  for (let index = 0; index < end; count++) index += text.codePointAt(index)! > 0xffff ? 2 : 1;
  return count;
}
