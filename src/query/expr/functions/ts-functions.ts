/** Text search: functions and operators of tsvector and tsquery (chapters 9.13 and 12 of PostgreSQL's manual). */
import { sqlError } from "../../../protocol/errors.js";
import { lexize } from "../../../text/text-config.js";
import { vectorMatches } from "../../../text/ts-match.js";
import { phraseToTsQuery, plainToTsQuery, toTsQuery, webSearchToTsQuery } from "../../../text/ts-query-input.js";
import { RANK_WEIGHTS, tsRank, tsRankCoverDensity } from "../../../text/ts-rank.js";
import { rewrite } from "../../../text/ts-rewrite.js";
import { TsVectorBuilder } from "../../../text/ts-vector-builder.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { regConfigFromText } from "../../../values/text-search-configs.js";
import {
  checkedDistance,
  checkedQuery,
  joined,
  nodeCount,
  queryWords,
  type TsQuery,
  type TsQueryNode,
  tsQueryOf,
  tsQueryText,
} from "../../../values/ts-query.js";
import {
  makeTsVector,
  positionEntry,
  positionOf,
  type TsVector,
  tsVectorOf,
  tsVectorText,
  weightOf,
} from "../../../values/ts-vector.js";
import {
  arrayOf,
  BOOL,
  CHAR,
  FLOAT4,
  INT4,
  JSON_TYPE,
  JSONB,
  type Json,
  REGCONFIG,
  type SqlArray,
  type SqlType,
  TEXT,
  TSQUERY,
  TSVECTOR,
  type Value,
} from "../../../values/values.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { contextFn, fn, op } from "./define.js";
import { isTextPart, jsonFilter, jsonTexts } from "./json-texts.js";

/** The configuration for calls that name none. Throws 42704. */
export function currentConfig(context: EvalContext): string {
  return regConfigFromText(context.services.setting("default_text_search_config") ?? "english");
}

function textVector(context: EvalContext, config: string, text: string): string {
  const builder = new TsVectorBuilder(config, () => context.checkpoint());
  builder.add(text);
  return builder.finish();
}

/** Of texts that follow each other as if they were one. */
export function textsVector(
  context: Pick<EvalContext, "checkpoint">,
  config: string,
  texts: readonly string[],
): string {
  const builder = new TsVectorBuilder(config, () => context.checkpoint());
  for (const text of texts) builder.add(text, 0);
  return builder.finish();
}

function jsonVector(context: EvalContext, config: string, document: Json, filter?: Json): string {
  const builder = new TsVectorBuilder(config, () => context.checkpoint());
  const parts = filter === undefined ? isTextPart : jsonFilter(filter.value);
  for (const text of jsonTexts(document.value, parts)) builder.add(text);
  return builder.finish();
}

type Convert = (context: EvalContext, config: string, ...args: never[]) => string;

/** With a configuration (immutable), and with that of the session (stable). */
function byConfig(name: string, args: readonly SqlType[], returns: SqlType, convert: Convert): ScalarFunction[] {
  const apply = convert as (context: EvalContext, config: string, ...args: unknown[]) => string;
  return [
    contextFn(name, [REGCONFIG, ...args], returns, apply, { volatility: "immutable" }),
    contextFn(name, args, returns, (context: EvalContext, ...rest: never[]) =>
      apply(context, currentConfig(context), ...rest),
    ),
  ];
}

const queryInput =
  (convert: (config: string, text: string) => string): Convert =>
  (_context, config, text: string) =>
    convert(config, text);

const CONVERSIONS: readonly ScalarFunction[] = [
  ...byConfig("to_tsvector", [TEXT], TSVECTOR, textVector),
  ...byConfig("to_tsvector", [JSON_TYPE], TSVECTOR, jsonVector),
  ...byConfig("to_tsvector", [JSONB], TSVECTOR, jsonVector),
  ...byConfig("json_to_tsvector", [JSON_TYPE, JSONB], TSVECTOR, jsonVector),
  ...byConfig("jsonb_to_tsvector", [JSONB, JSONB], TSVECTOR, jsonVector),
  ...byConfig("to_tsquery", [TEXT], TSQUERY, queryInput(toTsQuery)),
  ...byConfig("plainto_tsquery", [TEXT], TSQUERY, queryInput(plainToTsQuery)),
  ...byConfig("phraseto_tsquery", [TEXT], TSQUERY, queryInput(phraseToTsQuery)),
  ...byConfig("websearch_to_tsquery", [TEXT], TSQUERY, queryInput(webSearchToTsQuery)),
  contextFn("get_current_ts_config", [], REGCONFIG, currentConfig),
];

/** Throws 22004. */
function textsOf({ elements }: SqlArray, what: string): string[] {
  if (elements.includes(null)) throw sqlError("22004", `${what} array may not contain nulls`);
  return elements as string[];
}

/** Throws 22023. */
function weightOfLetter(letter: string, message: (letter: string) => string): number {
  const weight = "DCBA".indexOf(letter.toUpperCase());
  if (weight < 0 || letter === "") throw sqlError("22023", message(letter));
  return weight;
}

const byCode = (letter: string) => `unrecognized weight: ${letter === "" ? 0 : letter.charCodeAt(0)}`;

function setWeight(text: string, letter: string, only: SqlArray | null): string {
  const weight = weightOfLetter(letter, byCode);
  const words = only === null ? null : new Set(only.elements);
  return tsVectorText(
    tsVectorOf(text).map((lexeme) => {
      if (lexeme.positions === null || (words !== null && !words.has(lexeme.word))) return lexeme;
      return { ...lexeme, positions: lexeme.positions.map((entry) => positionEntry(positionOf(entry), weight)) };
    }),
  );
}

function withoutLexemes(text: string, words: readonly Value[]): string {
  const gone: ReadonlySet<Value> = new Set(words);
  return tsVectorText(tsVectorOf(text).filter(({ word }) => !gone.has(word)));
}

/** Positions of these weights; words without positions have none. */
function filtered(text: string, letters: SqlArray): string {
  let mask = 0;
  for (const letter of textsOf(letters, "weight")) {
    mask |= 1 << weightOfLetter(letter, (wrong) => `unrecognized weight: "${wrong}"`);
  }
  const kept = tsVectorOf(text).flatMap(({ word, positions }) => {
    const some = (positions ?? []).filter((entry) => (mask >> weightOf(entry)) & 1);
    return some.length === 0 ? [] : [{ word, positions: some }];
  });
  return tsVectorText(kept);
}

/** The second behind the first. */
function concatenated(a: string, b: string): string {
  const first = tsVectorOf(a);
  const second = tsVectorOf(b);
  let last = 0;
  for (const { positions } of first) for (const entry of positions ?? []) last = Math.max(last, positionOf(entry));
  const moved = second.map(({ word, positions }) => ({
    word,
    positions: positions?.map((entry) => positionEntry(positionOf(entry) + last, weightOf(entry))) ?? null,
  }));
  return tsVectorText(makeTsVector([...first, ...moved]));
}

function vectorOfArray(array: SqlArray): string {
  const words = textsOf(array, "lexeme");
  if (words.includes("")) throw sqlError("2200F", "lexeme array may not contain empty strings");
  return tsVectorText(makeTsVector(words.map((word) => ({ word, positions: null }))));
}

const VECTOR_FUNCTIONS: readonly ScalarFunction[] = [
  fn("length", [TSVECTOR], INT4, (text: string) => tsVectorOf(text).length),
  fn("strip", [TSVECTOR], TSVECTOR, (text: string) =>
    tsVectorText(tsVectorOf(text).map(({ word }) => ({ word, positions: null }))),
  ),
  fn("setweight", [TSVECTOR, CHAR], TSVECTOR, (text: string, letter: string) => setWeight(text, letter, null)),
  fn("setweight", [TSVECTOR, CHAR, arrayOf(TEXT)], TSVECTOR, setWeight),
  fn("ts_delete", [TSVECTOR, TEXT], TSVECTOR, (text: string, word: string) => withoutLexemes(text, [word])),
  fn("ts_delete", [TSVECTOR, arrayOf(TEXT)], TSVECTOR, (text: string, { elements }: SqlArray) =>
    withoutLexemes(text, elements),
  ),
  fn("ts_filter", [TSVECTOR, arrayOf(CHAR)], TSVECTOR, filtered),
  fn("tsvector_concat", [TSVECTOR, TSVECTOR], TSVECTOR, concatenated),
  fn("array_to_tsvector", [arrayOf(TEXT)], TSVECTOR, vectorOfArray),
  fn("tsvector_to_array", [TSVECTOR], arrayOf(TEXT), (text: string) =>
    sqlArray(tsVectorOf(text).map(({ word }) => word)),
  ),
];

function combined(kind: "and" | "or" | "phrase", distance = 1): (a: string, b: string) => string {
  return (a, b) => {
    const [left, right] = [tsQueryOf(a), tsQueryOf(b)];
    if (left === null || right === null) return left === null ? b : a;
    return tsQueryText(checkedQuery(joined(kind, left, right, distance)));
  };
}

function negated(text: string): string {
  const part = tsQueryOf(text);
  return part === null ? "" : tsQueryText(checkedQuery({ kind: "not", part }));
}

/** The part that an index can look up: without what is only excluded. "T": all documents have to be looked at. */
function queryTree(text: string): string {
  const query = tsQueryOf(text);
  if (query === null) return "";
  const tree = withoutNot(query);
  return tree === null ? "T" : tsQueryText(tree);
}

function withoutNot(node: TsQueryNode): TsQuery {
  if (node.kind === "word") return node;
  if (node.kind === "not") return null;
  const [left, right] = [withoutNot(node.left), withoutNot(node.right)];
  if (left !== null && right !== null) return { ...node, left, right };
  return node.kind === "or" ? null : (left ?? right);
}

/** Whether all words of `b` are among those of `a`. */
function containsWords(a: string, b: string): boolean {
  const words = new Set(queryWords(tsQueryOf(a)).map(({ word }) => word));
  return queryWords(tsQueryOf(b)).every(({ word }) => words.has(word));
}

/** Throws 42704. */
function lexemesOf(dictionary: string, word: string): SqlArray {
  const lexeme = lexize(dictionary, word);
  if (lexeme === null) throw sqlError("42704", `text search dictionary "${dictionary}" does not exist`);
  return sqlArray(lexeme === "" ? [] : [lexeme]);
}

const QUERY_FUNCTIONS: readonly ScalarFunction[] = [
  fn("numnode", [TSQUERY], INT4, (text: string) => nodeCount(tsQueryOf(text))),
  fn("querytree", [TSQUERY], TEXT, queryTree),
  fn("ts_rewrite", [TSQUERY, TSQUERY, TSQUERY], TSQUERY, (query: string, target: string, substitute: string) =>
    tsQueryText(checkedQuery(rewrite(tsQueryOf(query), tsQueryOf(target), tsQueryOf(substitute)))),
  ),
  fn("tsquery_and", [TSQUERY, TSQUERY], TSQUERY, combined("and")),
  fn("tsquery_or", [TSQUERY, TSQUERY], TSQUERY, combined("or")),
  fn("tsquery_not", [TSQUERY], TSQUERY, negated),
  fn("tsquery_phrase", [TSQUERY, TSQUERY], TSQUERY, combined("phrase")),
  fn("tsquery_phrase", [TSQUERY, TSQUERY, INT4], TSQUERY, (a: string, b: string, distance: number) =>
    combined("phrase", checkedDistance(distance))(a, b),
  ),
];

/** Throws 2202E, 22004, 22023. */
function rankWeights({ elements, dimensions }: SqlArray): number[] {
  if (dimensions.length !== 1) throw sqlError("2202E", "array of weight must be one-dimensional");
  if (elements.length < RANK_WEIGHTS.length) throw sqlError("2202E", "array of weight is too short");
  if (elements.includes(null)) throw sqlError("22004", "array of weight must not contain nulls");
  return RANK_WEIGHTS.map((usual, i) => {
    const weight = elements[i] as number;
    if (weight > 1) throw sqlError("22023", "weight out of range");
    return weight >= 0 ? weight : usual;
  });
}

function rankFunctions(
  name: string,
  rank: (weights: readonly number[], vector: TsVector, query: TsQuery, normalization: number) => number,
): ScalarFunction[] {
  return [[], [INT4]].flatMap((more) => [
    fn(name, [TSVECTOR, TSQUERY, ...more], FLOAT4, (vector: string, query: string, normalization = 0) =>
      rank(RANK_WEIGHTS, tsVectorOf(vector), tsQueryOf(query), normalization),
    ),
    fn(
      name,
      [arrayOf(FLOAT4), TSVECTOR, TSQUERY, ...more],
      FLOAT4,
      (weights: SqlArray, vector: string, query: string, normalization = 0) =>
        rank(rankWeights(weights), tsVectorOf(vector), tsQueryOf(query), normalization),
    ),
  ]);
}

const answers = (vector: string, query: string) => vectorMatches(tsVectorOf(vector), tsQueryOf(query));

const MATCHES: readonly ScalarFunction[] = ["@@", "@@@"].flatMap((symbol) => [
  op(symbol, [TSVECTOR, TSQUERY], BOOL, answers),
  op(symbol, [TSQUERY, TSVECTOR], BOOL, (query: string, vector: string) => answers(vector, query)),
]);

const matchOperator = (right: SqlType, query: (config: string, text: string) => string): ScalarFunction =>
  op(
    "@@",
    [TEXT, right],
    BOOL,
    (context: EvalContext, document: string, text: string) => {
      const config = currentConfig(context);
      return answers(textVector(context, config, document), query(config, text));
    },
    { volatility: "stable", needsContext: true },
  );

export const TS_OPERATORS: readonly ScalarFunction[] = [
  ...MATCHES,
  matchOperator(TSQUERY, (_config, query) => query),
  matchOperator(TEXT, plainToTsQuery),
  op("||", [TSVECTOR, TSVECTOR], TSVECTOR, concatenated),
  op("||", [TSQUERY, TSQUERY], TSQUERY, combined("or")),
  op("&&", [TSQUERY, TSQUERY], TSQUERY, combined("and")),
  op("!!", [TSQUERY], TSQUERY, negated),
  op("<->", [TSQUERY, TSQUERY], TSQUERY, combined("phrase")),
  op("@>", [TSQUERY, TSQUERY], BOOL, containsWords),
  op("<@", [TSQUERY, TSQUERY], BOOL, (a: string, b: string) => containsWords(b, a)),
];

export const TS_FUNCTIONS: readonly ScalarFunction[] = [
  ...CONVERSIONS,
  ...VECTOR_FUNCTIONS,
  ...QUERY_FUNCTIONS,
  fn("ts_lexize", [TEXT, TEXT], arrayOf(TEXT), lexemesOf),
  fn("ts_match_vq", [TSVECTOR, TSQUERY], BOOL, answers),
  fn("ts_match_qv", [TSQUERY, TSVECTOR], BOOL, (query: string, vector: string) => answers(vector, query)),
  ...rankFunctions("ts_rank", tsRank),
  ...rankFunctions("ts_rank_cd", tsRankCoverDensity),
];
