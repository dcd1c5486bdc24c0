/** The pieces of text of a PDF's page, in the order they are drawn, as lines and paragraphs. Used by pdf.ts. */

/** As pdf.js gives it. */
export interface PlacedText {
  readonly str: string;
  readonly hasEOL: boolean;
  /** The last two are x and y of the piece's origin, in points, y upwards. */
  readonly transform: readonly number[];
  readonly height: number;
}

interface Line {
  text: string;
  readonly y: number;
  height: number;
}

/** A distance of lines above this many heights of letters begins a paragraph. */
const PARAGRAPH_DISTANCE = 1.75;

export function pageText(items: readonly PlacedText[]): string {
  const lines = linesOf(items);
  let text = "";
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1];
    if (before === undefined) text = line.text;
    // A word that is broken at the end of a line.
    else if (/\p{Ll}-$/u.test(text) && /^\p{Ll}/u.test(line.text)) text = text.slice(0, -1) + line.text;
    else text += (isNewParagraph(before, line) ? "\n\n" : "\n") + line.text;
  }
  return text;
}

function linesOf(items: readonly PlacedText[]): Line[] {
  const lines: Line[] = [];
  let open: Line | null = null;
  for (const { str, hasEOL, transform, height } of items) {
    open ??= { text: "", y: transform[5] ?? 0, height: 0 };
    open.text += str;
    if (str.trim() !== "") open.height = Math.max(open.height, height);
    if (hasEOL) {
      lines.push(open);
      open = null;
    }
  }
  if (open !== null) lines.push(open);
  const trimmed = lines.map((line) => ({ ...line, text: line.text.replace(/\s+/g, " ").trim() }));
  return trimmed.filter(({ text }) => text !== "");
}

function isNewParagraph(before: Line, line: Line): boolean {
  const distance = Math.abs(before.y - line.y);
  const height = Math.max(before.height, line.height);
  return height > 0 && (distance > PARAGRAPH_DISTANCE * height || before.height > 1.2 * line.height);
}
