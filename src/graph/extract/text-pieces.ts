/** A text in pieces that a language model reads at a time. Called by extract-by-model.ts. */

export interface TextPiece {
  readonly text: string;
  /** Where it begins in the whole, in UTF-16 units. */
  readonly start: number;
}

/** Ends of pieces, best first: of paragraphs, of lines, of sentences, of words. */
const ENDS = [/\n\s*\n/g, /\n/g, /[.!?。！？]["')\]”’]*\s+/g, /\s+/g];

/** Pieces with at most the given number of characters, which together are the text; they break at the best places. */
export function textPieces(text: string, charactersMax: number): TextPiece[] {
  const pieces: TextPiece[] = [];
  for (let start = 0; start < text.length; ) {
    const rest = text.slice(start, start + charactersMax);
    const length = start + rest.length === text.length ? rest.length : endOf(rest);
    pieces.push({ text: text.slice(start, start + length), start });
    start += length;
  }
  return pieces.filter((piece) => piece.text.trim() !== "");
}

/** In its second half. */
function endOf(text: string): number {
  for (const end of ENDS) {
    let last = 0;
    for (const found of text.matchAll(end)) last = found.index + found[0].length;
    if (last > text.length / 2) return last;
  }
  // Between two characters, not within one.
  const unit = text.charCodeAt(text.length - 1);
  return unit >= 0xd800 && unit < 0xdc00 && text.length > 1 ? text.length - 1 : text.length;
}
