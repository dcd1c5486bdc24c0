/**
 * Splits an anchor into the pieces that are held against a claim by themselves: its sentences, those that begin with a
 * pronoun together with the sentence before. Pure.
 */
export interface EvidenceWindow {
  readonly text: string;
  /** UTF-16 code units of the anchor. */
  readonly start: number;
  readonly end: number;
}

/** Pieces of an anchor that the model reads: those that are nearest to the claim. */
export const WINDOWS_MAX = 4;

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });
const ABBREVIATION = /(?:^|[\s(])(?:mr|mrs|ms|dr|prof|st|jr|sr|inc|ltd|corp|vs|no|e\.g|i\.e|approx|\p{Lu})\.\s*$/iu;
const GOES_ON = /^(?:he|she|it|they|this|these|those|its|their|his|her|there)\b/iu;

export function windowsOf(anchor: string): EvidenceWindow[] {
  const sentences: EvidenceWindow[] = [];
  let open = -1;
  for (const { segment, index } of segmenter.segment(anchor)) {
    if (open < 0) open = index;
    const end = index + segment.length;
    if (end < anchor.length && ABBREVIATION.test(anchor.slice(Math.max(open, end - 12), end))) continue;
    const window = trimmed(anchor, open, end);
    if (window !== null) sentences.push(window);
    open = -1;
  }
  return sentences.map((sentence, i) => {
    const before = sentences[i - 1];
    if (before === undefined || !GOES_ON.test(sentence.text)) return sentence;
    return { text: anchor.slice(before.start, sentence.end), start: before.start, end: sentence.end };
  });
}

function trimmed(anchor: string, start: number, end: number): EvidenceWindow | null {
  const piece = anchor.slice(start, end);
  const text = piece.trim();
  if (text === "") return null;
  const from = start + piece.indexOf(text);
  return { text, start: from, end: from + text.length };
}
