/**
 * ts_headline (chapter 12.3.4): an extract of a text with the words of a tsquery marked. PostgreSQL's choice of
 * extracts: the shortest parts that answer the query ("covers"), lengthened to the wanted number of words. Pure.
 */
import { sqlError } from "../protocol/errors.js";
import { queryWords, type TsQuery, type TsQueryNode } from "../values/ts-query.js";
import { type AnalyzedToken, analyzeText } from "./text-config.js";
import { matches } from "./ts-match.js";

export interface HeadlineOptions {
  startSel: string;
  stopSel: string;
  fragmentDelimiter: string;
  maxWords: number;
  minWords: number;
  shortWord: number;
  maxFragments: number;
  highlightAll: boolean;
}

const TEXT_OPTIONS = { startsel: "startSel", stopsel: "stopSel", fragmentdelimiter: "fragmentDelimiter" } as const;
const NUMBER_OPTIONS = {
  maxwords: "maxWords",
  minwords: "minWords",
  shortword: "shortWord",
  maxfragments: "maxFragments",
} as const;
const OPTION = /\s*(?:"([^"]+)"|([A-Za-z_]\w*))\s*=\s*(?:'((?:[^']|'')*)'|"((?:[^"]|"")*)"|([^\s,'"]+))\s*(?:,|$)/y;

/** `MaxWords=20, StartSel='<em>'`. Throws 42601, 22023, 22P02. */
export function headlineOptions(text: string): HeadlineOptions {
  const options: HeadlineOptions = {
    startSel: "<b>",
    stopSel: "</b>",
    fragmentDelimiter: " ... ",
    maxWords: 35,
    minWords: 15,
    shortWord: 3,
    maxFragments: 0,
    highlightAll: false,
  };
  OPTION.lastIndex = 0;
  for (let at = 0; text.slice(at).trim() !== ""; at = OPTION.lastIndex) {
    const match = OPTION.exec(text);
    if (match === null) throw sqlError("42601", `invalid parameter list format: "${text}"`);
    const [, quotedName, name, single, double, plain] = match;
    const value = single?.replaceAll("''", "'") ?? double?.replaceAll('""', '"') ?? plain!;
    setOption(options, (quotedName ?? name)!, value);
  }
  checkOptions(options);
  return options;
}

function setOption(options: HeadlineOptions, name: string, value: string): void {
  const key = name.toLowerCase();
  if (Object.hasOwn(TEXT_OPTIONS, key)) options[TEXT_OPTIONS[key as keyof typeof TEXT_OPTIONS]] = value;
  else if (Object.hasOwn(NUMBER_OPTIONS, key)) {
    if (!/^\s*[+-]?\d+\s*$/.test(value)) {
      throw sqlError("22P02", `invalid input syntax for type integer: "${value}"`);
    }
    const number = Number(value);
    if (Math.abs(number) > 2_147_483_647) {
      throw sqlError("22003", `value "${value}" is out of range for type integer`);
    }
    options[NUMBER_OPTIONS[key as keyof typeof NUMBER_OPTIONS]] = number;
  } else if (key === "highlightall")
    options.highlightAll = ["1", "on", "true", "t", "y", "yes"].includes(value.toLowerCase());
  else throw sqlError("22023", `unrecognized headline parameter: "${name}"`);
}

function checkOptions({ maxWords, minWords, shortWord, maxFragments, highlightAll }: HeadlineOptions): void {
  if (highlightAll) return;
  if (minWords >= maxWords) throw sqlError("22023", "MinWords should be less than MaxWords");
  if (minWords <= 0) throw sqlError("22023", "MinWords should be positive");
  if (shortWord < 0) throw sqlError("22023", "ShortWord should be >= 0");
  if (maxFragments < 0) throw sqlError("22023", "MaxFragments should be >= 0");
}

type WordNode = TsQueryNode & { readonly kind: "word" };

/** A token and whether it is shown. For each further word of the query that it answers it stands there once more. */
interface Piece {
  readonly type: AnalyzedToken["type"];
  readonly text: string;
  /** Number of the word in the text; 0: it is not searched by. */
  readonly position: number;
  /** The word of the query that it answers. */
  readonly answers: WordNode | null;
  readonly isRepeated: boolean;
  isShown: boolean;
}

interface Extract {
  begin: number;
  end: number;
  /** Words in it, and those of the query. */
  words: number;
  found: number;
  isOut: boolean;
}

const COMPOUNDS: ReadonlySet<string> = new Set(["url", "numhword", "asciihword", "hword"]);
const NUMBERS: ReadonlySet<string> = new Set(["sfloat", "version", "float", "int", "uint", "protocol", "entity"]);

/** What is shown, but counts as no word; of compounds the parts are. */
const isNoWord = ({ type }: Piece) => type === "blank" || type === "tag" || COMPOUNDS.has(type);
const isFound = ({ answers, isRepeated }: Piece) => answers !== null && !isRepeated;

/** An extract of a text. Throws 42704 for an unknown configuration. */
export function headline(
  config: string,
  text: string,
  query: TsQuery,
  options: HeadlineOptions,
  checkpoint: () => void,
): string {
  return new Headline(piecesOf(config, text, query, checkpoint), query, options, checkpoint).write();
}

function piecesOf(config: string, text: string, query: TsQuery, checkpoint: () => void): Piece[] {
  // The order in which PostgreSQL keeps the words of a query.
  const words = queryWords(query).reverse();
  const hasPrefixes = words.some(({ prefix }) => prefix);
  const exact = new Map<string, WordNode[]>();
  for (const word of words) exact.set(word.word, [...(exact.get(word.word) ?? []), word]);
  const answeredBy = (lexeme: string): readonly WordNode[] => {
    if (!hasPrefixes) return exact.get(lexeme) ?? [];
    return words.filter(({ word, prefix }) => (prefix ? lexeme.startsWith(word) : lexeme === word));
  };
  let position = 0;
  const pieces: Piece[] = [];
  for (const { type, start, end, lexeme } of analyzeText(config, text, checkpoint)) {
    const piece = { type, text: text.slice(start, end), isRepeated: false, isShown: false };
    if (lexeme !== null) position++;
    const answered = lexeme === null || lexeme === "" ? [] : answeredBy(lexeme);
    pieces.push({ ...piece, position: lexeme === null ? 0 : position, answers: answered[0] ?? null });
    for (const answers of answered.slice(1)) pieces.push({ ...piece, position, answers, isRepeated: true });
  }
  return pieces;
}

class Headline {
  /** Indexes of pieces that answer a word of the query. */
  private readonly found: readonly number[];

  constructor(
    private readonly pieces: readonly Piece[],
    private readonly query: TsQuery,
    private readonly options: HeadlineOptions,
    private readonly checkpoint: () => void,
  ) {
    this.found = pieces.flatMap((piece, i) => (piece.answers !== null ? [i] : []));
  }

  write(): string {
    const { highlightAll, maxFragments } = this.options;
    if (maxFragments > 0) this.showFragments();
    else if (highlightAll) this.show(0, this.pieces.length - 1);
    else this.showBest();
    return this.text();
  }

  private text(): string {
    const { startSel, stopSel, fragmentDelimiter, highlightAll } = this.options;
    let text = "";
    let isInside = false;
    let fragments = 0;
    for (const piece of this.pieces) {
      if (piece.isRepeated) continue;
      if (!piece.isShown) {
        isInside = false;
        continue;
      }
      if (!isInside && ++fragments > 1) text += fragmentDelimiter;
      isInside = true;
      if (piece.type === "tag" && !highlightAll) text += " ";
      else if (!COMPOUNDS.has(piece.type)) text += isFound(piece) ? startSel + piece.text + stopSel : piece.text;
    }
    return text;
  }

  private show(begin: number, end: number): void {
    for (let i = begin; i <= end; i++) this.pieces[i]!.isShown = true;
  }

  private isBadEnd(index: number): boolean {
    const piece = this.pieces[index]!;
    const isShort = Buffer.byteLength(piece.text) <= this.options.shortWord;
    return (isNoWord(piece) || NUMBERS.has(piece.type) || isShort) && !isFound(piece);
  }

  /** Parts that answer the query and begin and end with words of it, at most `length` pieces each. */
  private *covers(): Generator<readonly [begin: number, end: number]> {
    const { maxWords, maxFragments } = this.options;
    const length = Math.max(maxWords * 10, 100) * Math.max(maxFragments, 1);
    const { found, pieces, query } = this;
    for (let i = 0; i < found.length; i++) {
      const begin = found[i]!;
      const met = new Map<WordNode, number[]>();
      for (let j = i; j < found.length && (j === i || found[j]! - begin < length); j++) {
        if ((j & 63) === 0) this.checkpoint();
        const { answers, position } = pieces[found[j]!]!;
        const positions = met.get(answers!);
        if (positions === undefined) met.set(answers!, [position]);
        else positions.push(position);
        if (matches(query, (word) => met.get(word) ?? false)) {
          yield [begin, found[j]!];
          break;
        }
      }
    }
  }

  /** One extract: with a whole cover, then with most words of the query, then with a good end. */
  private showBest(): void {
    const { minWords } = this.options;
    let best: (Extract & { isWhole: boolean }) | null = null;
    for (const [begin, end] of this.covers()) {
      const extract = this.extractAround(begin, end);
      const isWhole = extract.begin <= begin && extract.end >= end;
      const isBetter =
        best === null ||
        Number(isWhole) - Number(best.isWhole) > 0 ||
        (isWhole === best.isWhole &&
          (extract.found > best.found ||
            (extract.found === best.found && !this.isBadEnd(extract.end) && this.isBadEnd(best.end))));
      if (isBetter) best = { ...extract, isWhole };
    }
    if (best === null) this.showFirst(minWords);
    else this.show(best.begin, best.end);
  }

  private showFirst(words: number): void {
    let count = 0;
    for (let i = 0; i < this.pieces.length && count < words; i++) {
      if (!isNoWord(this.pieces[i]!)) count++;
      this.pieces[i]!.isShown = true;
    }
  }

  private extractAround(begin: number, end: number): Extract {
    const { maxWords, minWords } = this.options;
    const extract: Extract = { begin, end: begin, words: 0, found: 0, isOut: false };
    let i = begin;
    for (; i <= end && extract.words < maxWords; i++) {
      this.count(extract, i, 1);
      extract.end = i;
    }
    if (extract.words < maxWords) this.lengthen(extract, i - 1, begin, end);
    else {
      for (; extract.words > minWords && this.isBadEnd(extract.end); extract.end--)
        this.count(extract, extract.end, -1);
    }
    return extract;
  }

  private count(extract: Extract, index: number, by: 1 | -1): void {
    const piece = this.pieces[index]!;
    if (!isNoWord(piece)) extract.words += by;
    if (isFound(piece)) extract.found += by;
  }

  /** To the right up to a good end, then to the left when the text ends too soon. */
  private lengthen(extract: Extract, from: number, begin: number, end: number): void {
    const { maxWords, minWords } = this.options;
    for (let i = from; i < this.pieces.length && extract.words < maxWords; i++) {
      if (i > end) this.count(extract, i, 1);
      extract.end = i;
      if (!this.isBadEnd(i) && extract.words >= minWords) break;
    }
    if (extract.words >= minWords) return;
    let i = begin - 1;
    for (; i >= 0; i--) {
      this.count(extract, i, 1);
      if (extract.words >= maxWords || (!this.isBadEnd(i) && extract.words >= minWords)) break;
    }
    extract.begin = Math.max(i, 0);
  }

  /** Several extracts: those with most words of the query, of equal ones the shorter. */
  private showFragments(): void {
    const { maxFragments, minWords } = this.options;
    const extracts = [...this.covers()].flatMap(([begin, end]) => this.parts(begin, end));
    let count = 0;
    for (; count < maxFragments; count++) {
      let best: Extract | null = null;
      for (const extract of extracts) {
        if (extract.isOut) continue;
        const isBetter =
          best === null || extract.found > best.found || (extract.found === best.found && extract.words < best.words);
        if (isBetter) best = extract;
      }
      if (best === null) break;
      this.stretch(best);
      this.show(best.begin, best.end);
      for (const extract of extracts) {
        if (extract.begin <= best.end && extract.end >= best.begin) extract.isOut = true;
      }
    }
    if (count === 0) this.showFirst(minWords);
  }

  /** A cover in parts that are not too long, each from a word of the query to another. */
  private parts(begin: number, end: number): Extract[] {
    const { maxWords } = this.options;
    const parts: Extract[] = [];
    for (let start = begin; start <= end; ) {
      while (start < end && !isFound(this.pieces[start]!)) start++;
      const part: Extract = { begin: start, end, words: 0, found: 0, isOut: false };
      let i = start;
      for (; i <= end && part.words < maxWords; i++) this.count(part, i, 1);
      if (end > i) {
        part.end = i;
        for (; i >= start; i--) {
          part.end = i;
          if (isFound(this.pieces[i]!)) break;
          if (!isNoWord(this.pieces[i]!)) part.words--;
        }
      }
      parts.push(part);
      start = part.end + 1;
    }
    return parts;
  }

  /** Half of what is missing goes before the extract, the rest behind it, up to good ends. */
  private stretch(extract: Extract): void {
    const { maxWords } = this.options;
    const { pieces } = this;
    if (extract.words >= maxWords) return;
    const most = Math.trunc((maxWords - extract.words) / 2);
    let { begin, end } = extract;
    let stretched = 0;
    for (let i = extract.begin - 1; i >= 0 && stretched < most && !pieces[i]!.isShown; i--) {
      if (!isNoWord(pieces[i]!)) stretched++;
      begin = i;
    }
    extract.words += stretched;
    for (; begin < extract.begin && this.isBadEnd(begin); begin++) if (!isNoWord(pieces[begin]!)) extract.words--;
    for (let i = extract.end + 1; i < pieces.length && extract.words < maxWords && !pieces[i]!.isShown; i++) {
      if (!isNoWord(pieces[i]!)) extract.words++;
      end = i;
    }
    for (; end > extract.end && this.isBadEnd(end); end--) if (!isNoWord(pieces[end]!)) extract.words--;
    extract.begin = begin;
    extract.end = end;
  }
}
