/**
 * to_tsquery, plainto_tsquery, phraseto_tsquery and websearch_to_tsquery: queries as people write them, their words
 * through a text search configuration. Stop words go at the end, and leave their distance to the phrases they stood in.
 * Pure.
 */
import {
  checkedQuery,
  joined,
  parseTsQuery,
  STOP,
  type TsQuery,
  TsQueryBuilder,
  type TsQueryNode,
  tsQueryText,
} from "../values/ts-query.js";
import { isOperator, readWord, type WordSource } from "../values/ts-vector.js";
import { analyzeText } from "./text-config.js";

/** Throws 42601, 42704, 54000. */
export function toTsQuery(config: string, text: string): string {
  return finished(parseTsQuery(text, (word, weights, prefix) => wordsOf(config, word, "phrase", weights, prefix)));
}

export function plainToTsQuery(config: string, text: string): string {
  return finished(wordsOf(config, text, "and"));
}

export function phraseToTsQuery(config: string, text: string): string {
  return finished(wordsOf(config, text, "phrase"));
}

/** Words that stand together in the text, joined: stop words between them keep their places. */
function wordsOf(config: string, text: string, join: "and" | "phrase", weights = 0, prefix = false): TsQueryNode {
  let query: TsQueryNode | null = null;
  let stops = 0;
  for (const { lexeme } of analyzeText(config, text)) {
    if (lexeme === null) continue;
    if (lexeme === "") {
      stops++;
      continue;
    }
    if (query !== null) for (; stops > 0; stops--) query = joined(join, query, STOP);
    stops = 0;
    const word: TsQueryNode = { kind: "word", word: lexeme, weights, prefix };
    query = query === null ? word : joined(join, query, word);
  }
  return query ?? STOP;
}

function finished(query: TsQuery): string {
  return query === null ? "" : tsQueryText(withoutStops(checkedQuery(query)!).node);
}

/** What is left of a node, and the distances that were lost on its left and right side. */
interface Cleaned {
  readonly node: TsQuery;
  readonly left: number;
  readonly right: number;
}

function withoutStops(node: TsQueryNode): Cleaned {
  if (node.kind === "word") return { node: node === STOP ? null : node, left: 0, right: 0 };
  if (node.kind === "not") {
    const part = withoutStops(node.part);
    return part.node === null ? part : { ...part, node: { kind: "not", part: part.node } };
  }
  const [a, b] = [withoutStops(node.left), withoutStops(node.right)];
  const isPhrase = node.kind === "phrase";
  const distance = isPhrase ? node.distance : 0;
  if (a.node === null && b.node === null) {
    const lost = isPhrase ? a.left + distance + b.left : Math.max(a.left, b.left);
    return { node: null, left: lost, right: lost };
  }
  if (a.node === null) return isPhrase ? { ...b, left: a.left + distance + b.left } : b;
  if (b.node === null) return isPhrase ? { ...a, right: a.right + distance + b.right } : a;
  if (!isPhrase) return { node: joined(node.kind, a.node, b.node), left: 0, right: 0 };
  return { node: joined("phrase", a.node, b.node, distance + a.right + b.left), left: a.left, right: b.right };
}

/** `or` with something behind it that is not part of the same word. */
const OR = /or(?![-_\p{L}\p{N}])(?=.\s*\S)/iuy;

/** Quoted phrases, `or`, `-` for not; whatever is written, there is no syntax error. */
export function webSearchToTsQuery(config: string, text: string): string {
  const source: WordSource = { text, at: 0, type: "tsquery", isWeb: true };
  const builder = new TsQueryBuilder();
  let wantsOperand = true;
  let isFirst = true;
  for (;;) {
    while (/\s/.test(text.charAt(source.at))) source.at++;
    const sign = text.charAt(source.at);
    if (!wantsOperand) {
      if (sign === "") break;
      OR.lastIndex = source.at;
      const isOr = sign !== '"' && OR.test(text);
      if (isOr) source.at += 2;
      builder.operator(isOr ? "or" : "and");
      wantsOperand = true;
    } else if (sign === "-") {
      source.at++;
      builder.operator("not");
      isFirst = false;
    } else if (sign === "") {
      if (isFirst) return "";
      builder.operand(STOP);
      break;
    } else if (sign !== '"' && isOperator(sign.charCodeAt(0))) source.at++;
    else {
      builder.operand(wordsOf(config, sign === '"' ? quotedPart(source) : readWord(source)!, "phrase"));
      wantsOperand = isFirst = false;
    }
  }
  return finished(builder.finish());
}

/** Up to the next quotation mark or the end. */
function quotedPart(source: WordSource): string {
  const close = source.text.indexOf('"', source.at + 1);
  const part = source.text.slice(source.at + 1, close < 0 ? source.text.length : close);
  source.at = close < 0 ? source.text.length : close + 1;
  return part;
}
