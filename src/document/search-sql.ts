/**
 * Searches as statements: a filter alone, or a ranking by text, by vector or by several rankings fused. Each ranking
 * contains the filter, so it is exact, and search indexes apply it themselves. Called by the handler of search.
 */
import {
  FUSED_DISTANCE,
  FUSED_SCORE,
  fusedScores,
  fusionWeights,
  keyName,
  type RankingSql,
} from "../catalog/ranked-search.js";
import { VECTOR_METRICS, type VectorMetric } from "../values/vector-metric.js";
import type { Collection } from "./collection.js";
import type { Statement } from "./document-rows.js";
import { filterCondition } from "./filter.js";
import { Parameters } from "./sql-text.js";

/** Places of each ranking that are fused, at least: within these, pages of one search fit together. */
const FUSED_PLACES_MIN = 100;

/** A ranking, best first. */
export type Ranking =
  /** Columns of a text index, in quotes. */
  | {
      readonly kind: "text";
      readonly columns: readonly string[];
      readonly query: string;
      /** It says which words a document must have or lack. */
      readonly demands: boolean;
    }
  | {
      readonly kind: "vector";
      readonly column: string;
      readonly metric: VectorMetric;
      readonly vector: Float32Array | readonly number[];
      /** Beside words (STATIC_WEIGHT, VECTOR_WEIGHT). */
      readonly weight: number;
    };

export interface SearchRequest {
  /** None: documents in the order of their ids. At most one is of text, and that is the first. */
  readonly rankings: readonly Ranking[];
  /** All of them hold, each with its place in the request. */
  readonly filters: readonly { readonly filter: unknown; readonly where: string }[];
  readonly limit: number;
  readonly offset: number;
  /** Without rankings: only documents behind this id. */
  readonly afterId: string | null;
}

/**
 * Rows of the collection's `selectList`, and a score where there are rankings; one more than the limit, if there is.
 */
export function searchStatement(collection: Collection, request: SearchRequest): Statement {
  const params = new Parameters();
  const condition = conditionOf(collection, request, params);
  const { rankings } = request;
  const sql =
    rankings.length === 0
      ? listing(collection, request, condition, params)
      : rankings.length === 1
        ? ranked(collection, rankings[0]!, request, condition, params)
        : fused(collection, request, condition, params);
  return { sql, params: params.values };
}

/** How many documents a listing or a text search has in all; what has a vector ranking ranks every document. */
export function countStatement(collection: Collection, request: SearchRequest): Statement {
  const params = new Parameters();
  const condition = conditionOf(collection, { ...request, afterId: null }, params);
  const [ranking] = request.rankings;
  const matches = ranking?.kind === "text" ? `${matchOf(ranking, params)} AND ` : "";
  return { sql: `SELECT count(*) FROM ${collection.sqlName} WHERE ${matches}${condition}`, params: params.values };
}

function conditionOf(collection: Collection, { filters }: SearchRequest, params: Parameters): string {
  const { columns, inner, indexedPaths: indexed, sqlName: table } = collection;
  const target = { columns, inner, rest: "doc", hasId: true, indexed, table };
  const parts = filters.map(({ filter, where }) => filterCondition(target, filter, params, where));
  const held = parts.filter((part) => part !== "true").map((part) => `(${part})`);
  return held.length === 0 ? "true" : held.join(" AND ");
}

function page({ limit, offset }: SearchRequest, params: Parameters): string {
  return `LIMIT ${params.add(limit + 1, "int8")} OFFSET ${params.add(offset, "int8")}`;
}

function listing(collection: Collection, request: SearchRequest, condition: string, params: Parameters): string {
  const { selectList, sqlName } = collection;
  const behind = request.afterId === null ? "" : ` AND id > ${params.add(request.afterId, "text")}`;
  return `SELECT ${selectList} FROM ${sqlName} WHERE ${condition}${behind} ORDER BY id ${page(request, params)}`;
}

function matchOf(ranking: Extract<Ranking, { kind: "text" }>, params: Parameters): string {
  return `MATCH (${ranking.columns.join(", ")}) AGAINST (${params.add(ranking.query, "text")})`;
}

function ranked(
  { selectList, sqlName }: Collection,
  ranking: Ranking,
  request: SearchRequest,
  condition: string,
  params: Parameters,
): string {
  if (ranking.kind === "text") {
    const match = matchOf(ranking, params);
    const order = `score DESC, id ${page(request, params)}`;
    return `SELECT ${selectList}, ${match} AS score FROM ${sqlName} WHERE ${match} AND ${condition} ORDER BY ${order}`;
  }
  const { column, metric } = ranking;
  const distance = `${column} ${VECTOR_METRICS[metric].operator} ${params.add(ranking.vector, "vector")}`;
  const score = VECTOR_METRICS[metric].scoreSql(distance);
  return `SELECT ${selectList}, ${score} AS score FROM ${sqlName} WHERE ${condition} ORDER BY ${distance} ${page(request, params)}`;
}

/** The documents of the fused keys. */
function fused(collection: Collection, request: SearchRequest, condition: string, params: Parameters): string {
  const { rankings, limit, offset } = request;
  const { sqlName } = collection;
  const places = Math.max(FUSED_PLACES_MIN, 2 ** Math.ceil(Math.log2(offset + limit + 1)));
  const ofVectors = rankings.flatMap((ranking) => (ranking.kind === "vector" ? [ranking.weight] : []));
  const weights = fusionWeights(ofVectors.length < rankings.length, ofVectors);
  const [words] = rankings;
  // "-unwanted" holds for what is near by its vector, too.
  const demanded = words?.kind === "text" && words.demands ? `${matchOf(words, params)} AND ` : "";
  const filter = `${demanded}${condition}`;
  const scores = fusedScores({
    relation: sqlName,
    key: ["id"],
    rankings: rankings.map((ranking, i): RankingSql => {
      const weight = weights[i]!;
      if (ranking.kind === "text") {
        const match = matchOf(ranking, params);
        return { kind: "text", score: match, condition: match, weight };
      }
      const { column, metric, vector } = ranking;
      const distance = `${column} ${VECTOR_METRICS[metric].operator} ${params.add(vector, "vector")}`;
      return { kind: "vector", distance, weight };
    }),
    filter: filter === "true" ? null : filter,
    places: params.add(places, "int8"),
    page: page(request, params),
  });
  const list = ["id", ...[...collection.columns.values()].map(({ column }) => column!), "doc"]
    .map((column) => `t.${column}`)
    .join(", ");
  const order = `ORDER BY s.${FUSED_SCORE} DESC, s.${FUSED_DISTANCE}, t.id`;
  return `SELECT ${list}, s.${FUSED_SCORE} FROM (${scores}) AS s JOIN ${sqlName} AS t ON t.id = s.${keyName(0)} ${order}`;
}
