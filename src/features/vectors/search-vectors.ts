/**
 * Searches of vector collections: a statement that orders by distance, whose text is the same for all
 * searches of one shape. Its rows leave as the objects that clients read, without a form in between.
 */

import type { Request } from "../../actor/request.js";
import { filterCondition, NOTHING_DECLARED } from "../../document/filter.js";
import type { FilterTarget } from "../../document/filter-place.js";
import { Parameters } from "../../document/sql-text.js";
import { DbError } from "../../protocol/errors.js";
import { RESULT_BYTES_MAX, SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX } from "../../protocol/limits.js";
import { sentName } from "../../protocol/sent-name.js";
import { resultTooLarge } from "../../protocol/size-errors.js";
import type { Batch } from "../../query/expr/expr.js";
import type { TextAnswer } from "../../session/answer.js";
import type { ResultShape, Rows } from "../../session/sql-result.js";
import { shortFloat4 } from "../../values/float-text.js";
import { VECTOR_METRICS } from "../../values/vector-metric.js";
import { embedderOf } from "../models/request-embedder.js";
import { runAlone } from "../statements/run-alone.js";
import { findVectorCollection } from "./find-vector-collection.js";
import type { VectorCollection } from "./vector-collection.js";
import { vectorIn } from "./vector-input.js";

/** What filters are about; `id` is the vector's. */
const METADATA: FilterTarget = { ...NOTHING_DECLARED, rest: "metadata", hasId: true };

export interface VectorSearch {
  readonly vector?: unknown;
  readonly query?: string;
  readonly text_query?: string;
  readonly mode?: string;
  readonly limit?: number;
  readonly k?: number;
  readonly top_k?: number;
  readonly offset?: number;
  readonly filter?: Readonly<Record<string, unknown>> | null;
  readonly filter_mode?: string;
  readonly include_metadata?: boolean;
  readonly include_vectors?: boolean;
  readonly ef?: number;
  readonly min_score?: number;
  readonly threshold?: number;
  readonly max_distance?: number;
}

/** The vectors of the collection that are most like the given one. */
export function searchVectors(request: Request, name: string, asked: VectorSearch): TextAnswer | Promise<TextAnswer> {
  const wanted = searchedByLikeness(request, underOneName(asked));
  const collection = findVectorCollection(request, name);
  const queryField = sentName(asked, ["query", "text_query"]);
  const { vector, query } = wanted;
  if (vector !== undefined && query !== undefined) {
    throw new DbError("invalid_request", `Send "vector" or "${queryField}", not both.`, { field: queryField });
  }
  if (vector !== undefined) return searchNear(request, wanted, collection, vectorIn(vector, "vector", collection));
  if (query === undefined) throw new DbError("invalid_request", 'Missing field "vector".', { field: "vector" });
  return embedderOf(request)
    .embed([query])
    .then(([embedded]) => searchNear(request, wanted, collection, vectorIn(embedded, queryField, collection)));
}

function searchNear(
  request: Request,
  wanted: VectorSearch,
  collection: VectorCollection,
  vector: Float32Array,
): TextAnswer | Promise<TextAnswer> {
  const { operator, scoreOf, distanceOf } = VECTOR_METRICS[collection.metric];
  const { offset = 0, include_metadata: withMetadata = true, include_vectors: withVectors = false } = wanted;
  const params = new Parameters();
  params.values.push(vector, limitOf(wanted), offset);
  // In single precision the index measures it, and rows are read only for what else is asked for.
  const columns = ["id", `(vector ${operator} $1)::real AS distance`];
  if (withMetadata) columns.push("metadata");
  if (withVectors) columns.push("vector");
  const where = wanted.filter ? ` WHERE ${filterCondition(METADATA, wanted.filter, params, "filter")}` : "";
  const sql = `SELECT ${columns.join(", ")} FROM ${collection.sqlName}${where} ORDER BY vector ${operator} $1 LIMIT $2 OFFSET $3`;
  const { min_score: minScore, max_distance: maxDistance = Number.POSITIVE_INFINITY } = wanted;
  const distanceMax = Math.min(maxDistance, minScore === undefined ? maxDistance : distanceOf(minScore));
  const collector = (shape: ResultShape): Rows => new FoundRows(shape, scoreOf, distanceMax);
  return runAlone(request, { sql, params: params.values, collector, settings: settingsOf(wanted) }, ({ rows }) => ({
    json: `[${rows.json}]`,
  }));
}

/** Where a mode asks for words as well as for a vector, the vector is searched for, and the answer says so. */
function searchedByLikeness(request: Request, wanted: VectorSearch): VectorSearch {
  const { mode, query, ...rest } = wanted;
  if (mode !== "text" && mode !== "hybrid") return wanted;
  const why = "Vectors have no words, so the search used similarity alone. Document collections have hybrid search.";
  request.warnings = [...request.warnings, `The mode "${mode}" is not used: ${why}`];
  return rest.vector === undefined && query !== undefined ? { ...rest, query } : rest;
}

/** `text_query` is `query`, `threshold` is `min_score`. */
function underOneName({ text_query: textQuery, threshold, ...rest }: VectorSearch): VectorSearch {
  const one = <T>(names: readonly [string, string], a: T | undefined, b: T | undefined): T | undefined => {
    if (a === undefined || b === undefined || a === b) return a ?? b;
    throw new DbError("invalid_request", `Send "${names[0]}" or "${names[1]}", which are the same.`, {
      field: names[1],
    });
  };
  const query = one(["query", "text_query"], rest.query, textQuery);
  const minScore = one(["min_score", "threshold"], rest.min_score, threshold);
  return { ...rest, ...(query !== undefined && { query }), ...(minScore !== undefined && { min_score: minScore }) };
}

/** The three names are one field. */
function limitOf({ limit, k, top_k: topK, offset = 0, max_distance: maxDistance }: VectorSearch): number {
  const sent = [limit, k, topK].filter((value) => value !== undefined);
  if (sent.some((value) => value !== sent[0])) {
    throw new DbError("invalid_request", 'Send one of "limit", "k" and "top_k".', { field: "limit" });
  }
  const count = sent[0] ?? (maxDistance === undefined ? SEARCH_LIMIT_DEFAULT : SEARCH_LIMIT_MAX - offset);
  if (count + offset > SEARCH_LIMIT_MAX) {
    throw new DbError(
      "invalid_request",
      `A search returns at most ${SEARCH_LIMIT_MAX} results, including skipped ones.`,
      {
        field: "offset",
      },
    );
  }
  return count;
}

const FILTER_MODES: ReadonlySet<string> = new Set(["auto", "pre", "post"]);

function settingsOf({ ef, filter_mode: mode }: VectorSearch): Readonly<Record<string, string>> | undefined {
  if (mode !== undefined && !FILTER_MODES.has(mode)) {
    const known = [...FILTER_MODES].join(", ");
    throw new DbError("invalid_request", `The filter mode "${mode}" is not known. Known: ${known}.`, {
      field: "filter_mode",
    });
  }
  if (ef === undefined && (mode === undefined || mode === "auto")) return undefined;
  return { ...(ef !== undefined && { "hnsw.ef_search": String(ef) }), ...(mode && { "hnsw.filter_mode": mode }) };
}

type ScoreOf = (distance: number) => number;

/** Of single precision. JSON has no NaN, which is the distance of vectors that cannot be compared. */
const numberJson = (x: number): string => (Number.isFinite(x) ? String(shortFloat4(Math.fround(x))) : "null");

/** Rows of id, distance and perhaps more, in the order of their distance; those beyond the largest one are left out. */
class FoundRows implements Rows {
  json = "";

  constructor(
    private readonly shape: ResultShape,
    private readonly scoreOf: ScoreOf,
    private readonly distanceMax: number,
  ) {}

  append({ columns }: Batch, count: number): number {
    const { outputs, json: writers } = this.shape;
    let json = "";
    for (let row = 0; row < count; row++) {
      const distance = shortFloat4(columns[1]![row] as number);
      if (distance > this.distanceMax) break;
      const id = writers[0]!(columns[0]![row]!);
      json += `${this.json === "" && json === "" ? "" : ","}{"id":${id},"score":${numberJson(this.scoreOf(distance))},"distance":${numberJson(distance)}`;
      for (let c = 2; c < outputs.length; c++) {
        const value = columns[c]![row]!;
        json += `,"${outputs[c]!.name}":${value === null ? "null" : writers[c]!(value)}`;
      }
      json += "}";
    }
    this.json += json;
    if (this.json.length > RESULT_BYTES_MAX) throw resultTooLarge();
    return json.length;
  }
}
