/**
 * Values of type tsquery: words joined by & (and), | (or), ! (not) and <N> (followed by, N words further). In batches
 * and records they are text as PostgreSQL prints it; functions of chapter 12 read that into trees. Pure.
 */
import { sqlError } from "../protocol/errors.js";
import { checkedLexeme, compareLexemes, POSITION_MAX, quotedLexeme, readWord, type WordSource } from "./ts-vector.js";

export type TsQueryNode =
  | {
      readonly kind: "word";
      readonly word: string;
      /** Bit w: occurrences of weight w (0 is D, 3 is A) count; 0: all do. */
      readonly weights: number;
      /** Words that begin so. */
      readonly prefix: boolean;
    }
  | { readonly kind: "not"; readonly part: TsQueryNode }
  | { readonly kind: "and" | "or"; readonly left: TsQueryNode; readonly right: TsQueryNode }
  | { readonly kind: "phrase"; readonly distance: number; readonly left: TsQueryNode; readonly right: TsQueryNode };

/** Null: a query without words, which nothing matches. */
export type TsQuery = TsQueryNode | null;

export type TsOperator = Exclude<TsQueryNode["kind"], "word">;

export const DISTANCE_MAX = POSITION_MAX + 1;
/** Words and operators of a query: its tree may be that deep. */
const NODES_MAX = 4096;

const PRIORITY: Readonly<Record<TsOperator, number>> = { or: 1, and: 2, phrase: 3, not: 4 };

/** Throws 22023 for a distance that no words have. */
export function checkedDistance(distance: number): number {
  if (distance >= 0 && distance <= DISTANCE_MAX) return distance;
  throw sqlError(
    "22023",
    `distance in phrase operator must be an integer value between zero and ${DISTANCE_MAX} inclusive`,
  );
}

/** Throws 54000 for a query with more words than can be worked on. */
export function checkedQuery(query: TsQuery): TsQuery {
  let count = 0;
  const open: TsQueryNode[] = query === null ? [] : [query];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (++count > NODES_MAX) throw sqlError("54000", "tsquery is too large");
    if (node.kind === "not") open.push(node.part);
    else if (node.kind !== "word") open.push(node.left, node.right);
  }
  return query;
}

/** What stands where an operand is expected; null: nothing, and the query ends. */
export type Operand = (word: string, weights: number, prefix: boolean) => TsQueryNode | null;

interface Operator {
  readonly kind: TsOperator;
  readonly distance: number;
}

/** Operands that are stop words stay in their places until the tree is complete: distances count over them. */
export const STOP: TsQueryNode = Object.freeze({ kind: "word", word: "", weights: 0, prefix: false });

/** Operators and operands, put together by priority. NOT binds to the right, the others to the left. */
export class TsQueryBuilder {
  private readonly operands: TsQueryNode[] = [];
  private readonly operators: (Operator | "(")[] = [];
  private count = 0;

  operand(node: TsQueryNode): void {
    this.counted();
    this.operands.push(node);
  }

  operator(kind: TsOperator, distance = 1): void {
    this.counted();
    const priority = PRIORITY[kind];
    this.reduce((top) => (kind === "not" ? PRIORITY[top.kind] > priority : PRIORITY[top.kind] >= priority));
    this.operators.push({ kind, distance });
  }

  open(): void {
    this.counted();
    this.operators.push("(");
  }

  close(): void {
    this.reduce(() => true);
    this.operators.pop();
  }

  /** Null when there was no operand. */
  finish(): TsQuery {
    this.reduce(() => true);
    return this.operands.pop() ?? null;
  }

  private counted(): void {
    if (++this.count > NODES_MAX) throw sqlError("54000", "tsquery is too large");
  }

  private reduce(isDue: (top: Operator) => boolean): void {
    for (let top = this.operators.at(-1); top !== undefined && top !== "(" && isDue(top); top = this.operators.at(-1)) {
      this.operators.pop();
      const right = this.operands.pop()!;
      if (top.kind === "not") this.operands.push({ kind: "not", part: right });
      else this.operands.push(joined(top.kind, this.operands.pop()!, right, top.distance));
    }
  }
}

export function joined(
  kind: "and" | "or" | "phrase",
  left: TsQueryNode,
  right: TsQueryNode,
  distance = 1,
): TsQueryNode {
  return kind === "phrase" ? { kind, left, right, distance } : { kind, left, right };
}

const PHRASE = /<(?:-|(\d+))>/y;
const WEIGHTS = /:([abcd*]*)/iy;

/** The tree of a query as written; `operand` makes the node of a word. Throws 42601, 22023, 54000. */
export function parseTsQuery(
  text: string,
  operand: (word: string, weights: number, prefix: boolean) => TsQueryNode,
): TsQuery {
  const source: WordSource = { text, at: 0, type: "tsquery" };
  const builder = new TsQueryBuilder();
  const bad = () => sqlError("42601", `syntax error in tsquery: "${text}"`);
  let depth = 0;
  let isFirst = true;
  let wantsOperand = true;
  for (;;) {
    while (/\s/.test(text.charAt(source.at))) source.at++;
    const sign = text.charAt(source.at);
    if (wantsOperand) {
      if (sign === "") {
        if (isFirst) return null;
        throw sqlError("42601", `no operand in tsquery: "${text}"`);
      }
      if (sign === ":") throw bad();
      if (sign === "!" || sign === "(") {
        source.at++;
        if (sign === "!") builder.operator("not");
        else {
          builder.open();
          depth++;
        }
        isFirst = false;
        continue;
      }
      const word = readWord(source)!;
      builder.operand(operand(word, ...suffixOf(source)));
      wantsOperand = isFirst = false;
    } else if (sign === "") {
      if (depth > 0) throw bad();
      return builder.finish();
    } else if (sign === ")") {
      if (--depth < 0) throw bad();
      source.at++;
      builder.close();
    } else {
      readOperator(source, sign, builder, bad);
      wantsOperand = true;
    }
  }
}

function readOperator(source: WordSource, sign: string, builder: TsQueryBuilder, bad: () => Error): void {
  if (sign === "&" || sign === "|") {
    source.at++;
    builder.operator(sign === "&" ? "and" : "or");
    return;
  }
  PHRASE.lastIndex = source.at;
  const phrase = PHRASE.exec(source.text);
  if (phrase === null) throw bad();
  source.at = PHRASE.lastIndex;
  builder.operator("phrase", checkedDistance(Number(phrase[1] ?? 1)));
}

/** Weights and `*` behind a word. */
function suffixOf(source: WordSource): [weights: number, prefix: boolean] {
  WEIGHTS.lastIndex = source.at;
  const match = WEIGHTS.exec(source.text);
  if (match === null) return [0, false];
  source.at = WEIGHTS.lastIndex;
  let weights = 0;
  for (const letter of match[1]!.toUpperCase()) if (letter !== "*") weights |= 1 << "DCBA".indexOf(letter);
  return [weights, match[1]!.includes("*")];
}

const plainWord: (word: string, weights: number, prefix: boolean) => TsQueryNode = (word, weights, prefix) => {
  if (Buffer.byteLength(word) > 2046) throw sqlError("54000", `word is too long in tsquery: "${word}"`);
  return { kind: "word", word: checkedLexeme(word), weights, prefix };
};

/** The value that a text means, in its canonical form. Throws 42601, 22023, 54000. */
export function tsQueryFromText(text: string): string {
  return tsQueryText(parseTsQuery(text, plainWord));
}

/** As PostgreSQL prints it: parentheses only where priorities ask for them. */
export function tsQueryText(query: TsQuery): string {
  return query === null ? "" : nodeText(query, 0, false);
}

function nodeText(node: TsQueryNode, above: number, isRightOfPhrase: boolean): string {
  if (node.kind === "word") return wordText(node);
  const priority = PRIORITY[node.kind];
  const isPhrase = node.kind === "phrase";
  let text: string;
  if (node.kind === "not") text = `!${nodeText(node.part, priority, false)}`;
  else {
    const sign = isPhrase ? (node.distance === 1 ? "<->" : `<${node.distance}>`) : node.kind === "and" ? "&" : "|";
    text = `${nodeText(node.left, priority, false)} ${sign} ${nodeText(node.right, priority, isPhrase)}`;
  }
  return priority < above || (isPhrase && isRightOfPhrase) ? `( ${text} )` : text;
}

function wordText({ word, weights, prefix }: TsQueryNode & { kind: "word" }): string {
  const quoted = quotedLexeme(word);
  if (weights === 0 && !prefix) return quoted;
  const letters = [3, 2, 1, 0].map((weight) => ((weights >> weight) & 1 ? "DCBA"[weight] : "")).join("");
  return `${quoted}:${prefix ? "*" : ""}${letters}`;
}

/** Queries read last; a statement mostly asks one of many rows. */
const READ_MAX = 64;
const read = new Map<string, TsQuery>();

/** The tree that a value's text stands for. */
export function tsQueryOf(text: string): TsQuery {
  let query = read.get(text);
  if (query === undefined) {
    query = parseTsQuery(text, plainWord);
    if (read.size >= READ_MAX) read.clear();
    read.set(text, query);
  }
  return query;
}

/** Words and operators. */
export function nodeCount(query: TsQuery): number {
  if (query === null) return 0;
  if (query.kind === "word") return 1;
  return query.kind === "not" ? 1 + nodeCount(query.part) : 1 + nodeCount(query.left) + nodeCount(query.right);
}

/** The words of a query in the order that they are written. */
export function queryWords(query: TsQuery): (TsQueryNode & { readonly kind: "word" })[] {
  if (query === null) return [];
  if (query.kind === "word") return [query];
  return query.kind === "not" ? queryWords(query.part) : [...queryWords(query.left), ...queryWords(query.right)];
}

const KIND_CODE: Readonly<Record<TsOperator, number>> = { not: 1, and: 2, or: 3, phrase: 4 };

/** By the number of words and operators, then by length of the words, then part by part. */
export function compareTsQueries(a: string, b: string): number {
  if (a === b) return 0;
  const [left, right] = [tsQueryOf(a), tsQueryOf(b)];
  const bytes = (query: TsQuery) => queryWords(query).reduce((sum, { word }) => sum + Buffer.byteLength(word), 0);
  const order = nodeCount(left) - nodeCount(right) || bytes(left) - bytes(right);
  return order || compareNodes(left!, right!) || compareLexemes(a, b);
}

/** The sum that PostgreSQL keeps of a word and orders by before the word itself: a CRC-32 run the wrong way round. */
function wordSum(word: string): number {
  let sum = 0xffffffff;
  for (const byte of Buffer.from(word)) {
    let entry = ((sum >>> 24) ^ byte) & 0xff;
    for (let bit = 0; bit < 8; bit++) entry = entry & 1 ? (entry >>> 1) ^ 0xedb88320 : entry >>> 1;
    sum = entry ^ (sum << 8);
  }
  return ~sum | 0;
}

/** PostgreSQL's order of nodes: operators before words. */
export function compareNodes(a: TsQueryNode, b: TsQueryNode): number {
  if (a.kind === "word" || b.kind === "word") {
    if (a.kind !== b.kind) return a.kind === "word" ? 1 : -1;
    const [left, right] = [a as TsQueryNode & { kind: "word" }, b as TsQueryNode & { kind: "word" }];
    return left.word === right.word
      ? 0
      : compareNumbers(wordSum(right.word), wordSum(left.word)) || compareLexemes(left.word, right.word);
  }
  if (a.kind !== b.kind) return KIND_CODE[b.kind] - KIND_CODE[a.kind];
  if (a.kind === "not") return compareNodes(a.part, (b as typeof a).part);
  const other = b as typeof a;
  const order = compareNodes(a.right, other.right) || compareNodes(a.left, other.left);
  if (order !== 0 || a.kind !== "phrase") return order;
  return (other as typeof a).distance - a.distance;
}

const compareNumbers = (a: number, b: number) => (a < b ? -1 : a > b ? 1 : 0);
