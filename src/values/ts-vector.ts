/**
 * Values of type tsvector: the words of a document, each once, with the positions where it stands. In batches and
 * records they are text in one canonical form (`'cat':3 'fat':2A,4`), so that equal vectors are equal texts; functions
 * of chapter 12 read that into lists and print lists back. Pure.
 */
import { sqlError } from "../protocol/errors.js";

export interface Lexeme {
  readonly word: string;
  /**
   * Ascending; each is position | weight << 14, weights 0 (D) to 3 (A). Null: it is not known where the word stands.
   */
  readonly positions: readonly number[] | null;
}

/** In the order of the words' UTF-8 bytes. */
export type TsVector = readonly Lexeme[];

/** Words further back count as standing here. */
export const POSITION_MAX = 16_383;
const POSITIONS_MAX = 255;
/** UTF-8 bytes. */
export const LEXEME_BYTES_MAX = 2046;
const VECTOR_BYTES_MAX = 1_048_575;
const WEIGHT_LETTERS = ["", "C", "B", "A"];

export const positionOf = (entry: number): number => entry & POSITION_MAX;
export const weightOf = (entry: number): number => entry >> 14;
export const positionEntry = (position: number, weight: number): number =>
  Math.min(position, POSITION_MAX) | (weight << 14);

/** By code point, as the bytes of UTF-8 are ordered. */
export function compareLexemes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // Halves of surrogate pairs stand for characters that sort after all single units.
    const [left, right] = [x >= 0xd800 && x <= 0xdfff, y >= 0xd800 && y <= 0xdfff];
    return left === right ? x - y : left ? 1 : -1;
  }
  return a.length - b.length;
}

const isSpace = (unit: number) => unit === 32 || (unit >= 9 && unit <= 13);
const isDigit = (unit: number) => unit >= 48 && unit <= 57;
const QUOTE = 39;
const BACKSLASH = 92;
const COLON = 58;
const COMMA = 44;

/** What text a word is read from, and where in it. Shared with the reader of queries. */
export interface WordSource {
  readonly text: string;
  at: number;
  readonly type: "tsvector" | "tsquery";
  /** Of websearch_to_tsquery: quotes and backslashes mean nothing, quotation marks end a word. */
  readonly isWeb?: boolean;
}

const OPERATORS = new Set(["!", "&", "|", "(", ")"].map((sign) => sign.charCodeAt(0)));
export const isOperator = (unit: number): boolean => OPERATORS.has(unit);

const badSyntax = ({ type, text }: WordSource) => sqlError("42601", `syntax error in ${type}: "${text}"`);

/** The next word behind blanks, quoted or not; null at the end. Throws 42601. */
export function readWord(source: WordSource): string | null {
  const { text, type, isWeb = false } = source;
  let { at } = source;
  while (isSpace(text.charCodeAt(at))) at++;
  if (at >= text.length) {
    source.at = at;
    return null;
  }
  if (!isWeb && text.charCodeAt(at) === QUOTE) return readQuoted(source, at + 1);
  const inQuery = type === "tsquery";
  if (inQuery && isOperator(text.charCodeAt(at))) throw badSyntax(source);
  let word = "";
  // The first character is part of the word whatever it is.
  for (const first = at; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === BACKSLASH && !isWeb) {
      word += escaped(source, ++at);
      if (text.charCodeAt(at) >= 0xd800 && text.charCodeAt(at) <= 0xdbff) at++;
      continue;
    }
    const isEnd = isSpace(unit) || unit === COLON || (inQuery && isOperator(unit)) || (isWeb && unit === 34);
    if (isEnd && at > first) break;
    word += text[at];
  }
  if (word === "") throw badSyntax(source);
  source.at = at;
  return word;
}

function readQuoted(source: WordSource, start: number): string {
  const { text } = source;
  let word = "";
  let from = start;
  for (let at = start; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === BACKSLASH) {
      word += text.slice(from, at) + escaped(source, at + 1);
      at++;
      if (text.charCodeAt(at) >= 0xd800 && text.charCodeAt(at) <= 0xdbff) at++;
      from = at + 1;
    } else if (unit === QUOTE) {
      word += text.slice(from, at);
      if (text.charCodeAt(at + 1) !== QUOTE) {
        if (word === "") throw badSyntax(source);
        source.at = at + 1;
        return word;
      }
      word += "'";
      from = ++at + 1;
    }
  }
  throw badSyntax(source);
}

function escaped({ text }: WordSource, at: number): string {
  const code = text.codePointAt(at);
  if (code === undefined) throw sqlError("42601", `there is no escaped character: "${text}"`);
  return String.fromCodePoint(code);
}

/** `:1A,2` behind a word; null when there is none. Throws 42601. */
function readPositions(source: WordSource): number[] | null {
  const { text } = source;
  if (text.charCodeAt(source.at) !== COLON) return null;
  const entries: number[] = [];
  let at = source.at;
  do {
    at++;
    const start = at;
    while (isDigit(text.charCodeAt(at))) at++;
    if (at === start) throw badSyntax(source);
    const position = Math.min(Number(text.slice(start, at)), POSITION_MAX);
    if (position === 0) throw sqlError("42601", `wrong position info in tsvector: "${text}"`);
    const weight = "DdCcBbAa".indexOf(text[at] === "*" ? "A" : (text[at] ?? " "));
    if (weight >= 0) at++;
    entries.push(positionEntry(position, Math.max(0, weight >> 1)));
    // PostgreSQL passes over digits behind a weight.
    while (isDigit(text.charCodeAt(at))) at++;
  } while (text.charCodeAt(at) === COMMA);
  if (at < text.length && !isSpace(text.charCodeAt(at))) throw badSyntax(source);
  source.at = at;
  return entries;
}

/** The value that a text means, in its canonical form. Throws 42601, 54000. */
export function tsVectorFromText(text: string): string {
  const source: WordSource = { text, at: 0, type: "tsvector" };
  const lexemes: Lexeme[] = [];
  for (let word = readWord(source); word !== null; word = readWord(source)) {
    lexemes.push({ word: checkedLexeme(word), positions: readPositions(source) });
  }
  return tsVectorText(makeTsVector(lexemes));
}

/** Throws 54000 for a word that is too long. */
export function checkedLexeme(word: string): string {
  if (word.length * 3 <= LEXEME_BYTES_MAX) return word;
  const bytes = Buffer.byteLength(word);
  if (bytes <= LEXEME_BYTES_MAX) return word;
  throw sqlError("54000", `word is too long (${bytes} bytes, max ${LEXEME_BYTES_MAX} bytes)`);
}

/** Sorted, each word once with all its positions. Throws 54000 for one that is too large. */
export function makeTsVector(lexemes: readonly Lexeme[]): TsVector {
  const sorted = [...lexemes].sort((a, b) => compareLexemes(a.word, b.word));
  const unique: Lexeme[] = [];
  for (let i = 0; i < sorted.length; ) {
    const { word } = sorted[i]!;
    let positions: readonly number[] | null = null;
    for (; i < sorted.length && sorted[i]!.word === word; i++) {
      const more = sorted[i]!.positions;
      if (more !== null) positions = positions === null ? more : [...positions, ...more];
    }
    unique.push({ word, positions: positions === null ? null : distinctPositions(positions) });
  }
  const bytes = contentBytes(unique);
  if (bytes > VECTOR_BYTES_MAX) {
    throw sqlError("54000", `string is too long for tsvector (${bytes} bytes, max ${VECTOR_BYTES_MAX} bytes)`);
  }
  return unique;
}

/** Ascending; of one position the greatest weight stays. */
export function distinctPositions(entries: readonly number[]): readonly number[] {
  if (entries.length === 1) return entries;
  const sorted = [...entries].sort((a, b) => positionOf(a) - positionOf(b) || b - a);
  const kept: number[] = [];
  for (const entry of sorted) {
    const last = kept.at(-1);
    if (last !== undefined && positionOf(last) === positionOf(entry)) continue;
    if (kept.length === POSITIONS_MAX) break;
    kept.push(entry);
    if (positionOf(entry) === POSITION_MAX) break;
  }
  return kept;
}

/** Bytes that PostgreSQL would need for words and positions: its limits and its order are about them. */
export function contentBytes(vector: TsVector): number {
  let bytes = 0;
  for (const { word, positions } of vector) {
    bytes += Buffer.byteLength(word);
    if (positions !== null) bytes += (bytes & 1) + 2 + 2 * positions.length;
  }
  return bytes;
}

export const quotedLexeme = (word: string): string =>
  /['\\]/.test(word) ? `'${word.replace(/['\\]/g, "$&$&")}'` : `'${word}'`;

/** The vector that was printed or read last, which is mostly the next one asked for. */
let lastText = "";
let lastVector: TsVector = [];

/** The canonical text. */
export function tsVectorText(vector: TsVector): string {
  let text = "";
  for (const { word, positions } of vector) {
    if (text !== "") text += " ";
    text += quotedLexeme(word);
    if (positions === null) continue;
    for (let i = 0; i < positions.length; i++) {
      const entry = positions[i]!;
      text += `${i === 0 ? ":" : ","}${positionOf(entry)}${WEIGHT_LETTERS[weightOf(entry)]}`;
    }
  }
  lastText = text;
  lastVector = vector;
  return text;
}

/** The list that a value's text stands for. */
export function tsVectorOf(text: string): TsVector {
  if (text === lastText) return lastVector;
  const source: WordSource = { text, at: 0, type: "tsvector" };
  const lexemes: Lexeme[] = [];
  for (let word = readWord(source); word !== null; word = readWord(source)) {
    lexemes.push({ word, positions: readPositions(source) });
  }
  lastText = text;
  lastVector = lexemes;
  return lexemes;
}

/** PostgreSQL's order: by size, then by number of words, then word by word; those with positions come first. */
export function compareTsVectors(a: string, b: string): number {
  if (a === b) return 0;
  const [left, right] = [tsVectorOf(a), tsVectorOf(b)];
  const size = (vector: TsVector) => 4 * vector.length + contentBytes(vector);
  const difference = size(left) - size(right) || left.length - right.length;
  if (difference !== 0) return difference;
  for (let i = 0; i < left.length; i++) {
    const order = compareEntries(left[i]!, right[i]!);
    if (order !== 0) return order;
  }
  return 0;
}

function compareEntries(a: Lexeme, b: Lexeme): number {
  if ((a.positions === null) !== (b.positions === null)) return a.positions === null ? 1 : -1;
  const order = compareLexemes(a.word, b.word);
  if (order !== 0 || a.positions === null || b.positions === null) return order;
  if (a.positions.length !== b.positions.length) return b.positions.length - a.positions.length;
  for (const [i, entry] of a.positions.entries()) {
    const other = b.positions[i]!;
    if (entry !== other) return positionOf(other) - positionOf(entry) || weightOf(other) - weightOf(entry);
  }
  return 0;
}
