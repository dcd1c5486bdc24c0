/**
 * Cuts an extracted text into chunks of a bounded size by its structure: never across a page or a heading (but that a
 * heading without text of its own goes with what follows), at the end of a paragraph where that leaves a chunk at least
 * half full, else between sentences or lines, and within one of those only when it alone is larger than a chunk. A
 * chunk repeats the last whole sentences of the one before it. Called by parse-file.ts.
 */
import { DbError } from "../../protocol/errors.js";
import { FILE_CHUNKS_MAX } from "../../protocol/limits.js";
import type { ExtractedText, Section } from "./extracted-text.js";

export interface Chunk {
  readonly text: string;
  readonly page?: number;
  readonly heading?: string;
  /** UTF-16 offsets: `text.slice(start, end)` of the extracted text is the chunk. */
  readonly start: number;
  readonly end: number;
}

export interface ChunkSizes {
  /** UTF-16 code units of a chunk, at most. */
  readonly characters: number;
  /** UTF-16 code units repeated of the chunk before, at most. */
  readonly overlap: number;
}

/** What is kept whole, without the white space around it. */
interface Span {
  readonly start: number;
  readonly end: number;
  /** 0: within a paragraph; 1: ends one, but what follows is indented; 2: ends one. */
  readonly ends: 0 | 1 | 2;
}

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });
/**
 * Code units that are given to the segmenter at once: after each point it looks ahead without bound for a small letter.
 */
const WINDOW_CHARACTERS = 2048;
/** A point after these ends no sentence. */
const ABBREVIATION = /(?:^|[\s(])(?:mr|mrs|ms|dr|prof|st|jr|sr|inc|ltd|corp|vs|no|fig|e\.g|i\.e|approx|\p{Lu})\.\s*$/iu;

/** In the order of the text. Throws DbError `file_too_large` beyond `FILE_CHUNKS_MAX`. */
export function chunkText({ text, sections }: ExtractedText, sizes: ChunkSizes): Chunk[] {
  const chunks: Chunk[] = [];
  for (const section of joinTitles(sections)) {
    const { page, heading } = section;
    const where = { ...(page === undefined ? {} : { page }), ...(heading === undefined ? {} : { heading }) };
    for (const { start, end } of pack(spansOf(text, section, sizes.characters), sizes)) {
      if (chunks.length >= FILE_CHUNKS_MAX) {
        throw new DbError("file_too_large", `The file has more than ${FILE_CHUNKS_MAX} chunks of text.`);
      }
      chunks.push({ text: text.slice(start, end), ...where, start, end });
    }
  }
  return chunks;
}

/** A heading without text of its own goes with the first section below it. */
function joinTitles(sections: readonly Section[]): Section[] {
  const joined: Section[] = [];
  for (const section of sections) {
    const before = joined.at(-1);
    if (before?.titleOnly === true && isBelow(section, before)) {
      joined[joined.length - 1] = { ...section, start: before.start };
    } else {
      joined.push(section);
    }
  }
  return joined;
}

function isBelow(section: Section, above: Section): boolean {
  const heading = section.heading ?? "";
  const isDeeper = heading === above.heading || heading.startsWith(`${above.heading} > `);
  return section.page === above.page && isDeeper;
}

/** Fills chunks with spans one after the other. */
function* pack(spans: readonly Span[], { characters, overlap }: ChunkSizes): Generator<{ start: number; end: number }> {
  let first = 0;
  let done = 0;
  while (first < spans.length) {
    const start = spans[first]!.start;
    let next = done + 1;
    while (next < spans.length && spans[next]!.end - start <= characters) next++;
    // Only new text may be left for the next chunk: repeated text does not end a chunk.
    if (next < spans.length) next = lastBlockEnd(spans, done, next, start + characters / 2);
    done = next;
    const { end } = spans[next - 1]!;
    yield { start, end };
    if (next >= spans.length) return;
    // Whole spans that are repeated, as long as the next new one still fits beside them.
    let from = next;
    while (
      from - 1 > first &&
      end - spans[from - 1]!.start <= overlap &&
      spans[next]!.end - spans[from - 1]!.start <= characters
    ) {
      from--;
    }
    first = from;
  }
}

/** After the last paragraph among the new spans, when it ends beyond `half`; else `next`. */
function lastBlockEnd(spans: readonly Span[], done: number, next: number, half: number): number {
  for (const ends of [2, 1]) {
    for (let at = next; at > done && spans[at - 1]!.end >= half; at--) {
      if (spans[at - 1]!.ends >= ends) return at;
    }
  }
  return next;
}

function spansOf(text: string, section: Section, characters: number): Span[] {
  const spans: Span[] = [];
  for (const [start, end] of blocksOf(text, section)) {
    const before = spans.length;
    for (const [from, to] of section.unit === "line" ? linesOf(text, start, end) : sentencesOf(text, start, end)) {
      for (const [a, b] of pieces(text, from, to, characters)) spans.push({ start: a, end: b, ends: 0 });
    }
    if (spans.length > before) spans[spans.length - 1] = { ...spans.at(-1)!, ends: isIndented(text, end) ? 1 : 2 };
  }
  return spans;
}

/** Paragraphs: what blank lines set apart. */
function* blocksOf(text: string, { start, end }: Section): Generator<[number, number]> {
  let from = start;
  for (const match of text.slice(start, end).matchAll(/\r?\n(?:[ \t]*\r?\n)+/g)) {
    yield [from, start + match.index];
    from = start + match.index + match[0].length;
  }
  yield [from, end];
}

/** Whether what follows the paragraph that ends here is a part of something that began before, as in code. */
function isIndented(text: string, end: number): boolean {
  let at = end;
  while (text[at] === "\n" || text[at] === "\r") at++;
  return text[at] === " " || text[at] === "\t" || text[at] === "}";
}

function* linesOf(text: string, start: number, end: number): Generator<[number, number]> {
  for (let from = start; from < end; ) {
    const newline = text.indexOf("\n", from);
    const to = newline < 0 || newline >= end ? end : newline;
    const trimmed = trimEnd(text, from, to);
    // Leading white space is a part of a line: it may mean something in code.
    if (text.slice(from, trimmed).trim() !== "") yield [from, trimmed];
    from = to + 1;
  }
}

function* sentencesOf(text: string, start: number, end: number): Generator<[number, number]> {
  let open = -1;
  for (let from = start; from < end; ) {
    const last = Math.min(from + WINDOW_CHARACTERS, end);
    let next = last;
    for (const { segment, index } of segmenter.segment(onOneLine(text.slice(from, last)))) {
      if (open < 0) open = from + index;
      // What the window may have cut is looked at again from its start, or goes on when it fills the window.
      if (last < end && index + segment.length === last - from) {
        if (index > 0) next = from + index;
        break;
      }
      const close = from + index + segment.length;
      if (close < end && ABBREVIATION.test(text.slice(Math.max(open, close - 12), close))) continue;
      yield* trimmed(text, open, close);
      open = -1;
    }
    from = next;
  }
  if (open >= 0) yield* trimmed(text, open, end);
}

/** A line's end ends no sentence but before the item of a list. One character for one, so that places stay. */
function onOneLine(text: string): string {
  return text.replace(/\r?\n(?![ \t]*(?:[-*+•‣]|\d{1,3}[.)])[ \t])/g, (newline) => " ".repeat(newline.length));
}

function* trimmed(text: string, start: number, end: number): Generator<[number, number]> {
  const from = trimStart(text, start, end);
  const to = trimEnd(text, from, end);
  if (from < to) yield [from, to];
}

/** A span that is larger than a chunk, cut at white space where there is some, and never within a character. */
function* pieces(text: string, start: number, end: number, characters: number): Generator<[number, number]> {
  let from = start;
  while (end - from > characters) {
    let to = from + characters;
    const space = lastSpace(text, from + Math.floor(characters / 2), to);
    if (space > 0) to = space;
    else if (to - 1 > from && isLowSurrogate(text, to)) to--;
    const trimmed = trimEnd(text, from, to);
    if (trimmed > from) yield [from, trimmed];
    from = trimStart(text, to, end);
  }
  if (from < end) yield [from, end];
}

function lastSpace(text: string, low: number, high: number): number {
  for (let at = high; at > low; at--) if (isSpace(text, at)) return at;
  return -1;
}

function trimStart(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isSpace(text, at)) at++;
  return at;
}

function trimEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && isSpace(text, at - 1)) at--;
  return at;
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (
    code === 0x20 ||
    (code >= 0x09 && code <= 0x0d) ||
    code === 0xa0 ||
    code === 0xfeff ||
    (code > 0x1fff && /\s/.test(text[at]!))
  );
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
