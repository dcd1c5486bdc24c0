/** Searches of collections: what is asked for, as a search in SQL, and its rows as documents with scores. */

import type { Request } from "../../actor/request.js";
import { type SearchMode, VECTOR_WEIGHT } from "../../catalog/ranked-search.js";
import { isVectorIndexOf } from "../../catalog/search-index-ddl.js";
import { type Collection, type Field, textIndexOf } from "../../document/collection.js";
import { documentOfRow } from "../../document/document-rows.js";
import { invalid } from "../../document/field-path.js";
import { isObject, type JsonObject } from "../../document/merge-patch.js";
import { pick } from "../../document/pick.js";
import { countStatement, type Ranking, type SearchRequest, searchStatement } from "../../document/search-sql.js";
import { textsOf } from "../../document/texts.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX } from "../../protocol/limits.js";
import type { Answer } from "../../session/answer.js";
import { elapsedSince } from "../../session/sql-result.js";
import { type Analyzer, analyzerOf } from "../../text/analysis.js";
import { highlight } from "../../text/highlight.js";
import { parseTextQuery, type TextQuery } from "../../text/query.js";
import { DEFAULT_METRIC } from "../../values/vector-metric.js";
import { embedderOf } from "../models/request-embedder.js";
import { rowsOf } from "../statements/run-alone.js";
import { findCollection } from "./document-session.js";
import { type Cursor, cursorOf, readCursor } from "./list-cursor.js";
import { modelWeight, queryShape, textRanking } from "./text-ranking.js";

export interface DocumentSearch {
  readonly query?: string | JsonObject;
  readonly filters?: JsonObject;
  readonly filter?: JsonObject;
  readonly limit?: number;
  readonly offset?: number;
  readonly mode?: SearchMode;
  readonly vector?: readonly number[];
  readonly vector_field?: string;
  readonly min_score?: number;
  readonly cursor?: string;
  readonly highlight?: boolean;
  readonly fields?: readonly string[];
  readonly track_total?: boolean;
}

type Found = ResponseOf<"documents.search">;

/** The documents of the collection that are found, with their scores. */
export async function searchDocuments(request: Request, name: string, wanted: DocumentSearch): Promise<Answer<Found>> {
  const started = performance.now();
  const collection = findCollection(request, name);
  const rankings = await rankingsOf(request, collection, wanted);
  const { limit = SEARCH_LIMIT_DEFAULT } = wanted;
  const cursor = wanted.cursor === undefined ? null : readCursor(wanted.cursor);
  const offset = cursor === null ? (wanted.offset ?? 0) : cursor.offset;
  if (limit + offset > SEARCH_LIMIT_MAX && (rankings.length > 0 || cursor?.afterId === undefined)) {
    throw invalid("offset", `a search gives ${SEARCH_LIMIT_MAX} results at most, with those skipped`);
  }
  const afterId = rankings.length === 0 ? (cursor?.afterId ?? null) : null;
  const asked: SearchRequest = {
    rankings,
    filters: filtersOf(wanted),
    limit,
    offset: afterId === null ? offset : 0,
    afterId,
  };
  const { min_score: minScore, fields } = wanted;
  const rows = await rowsOf(request, searchStatement(collection, asked));
  const isRanked = rankings.length > 0;
  const scorePlace = collection.columns.size + 2;
  // A document without a vector is as far away as can be.
  const good = isRanked
    ? rows.filter(
        (row) => row[scorePlace] !== null && (minScore === undefined || (row[scorePlace] as number) >= minScore),
      )
    : rows;
  const page = good.slice(0, limit);
  const show = shownAs(fields);
  const marks = highlighterOf(collection, rankings, wanted);
  const documents = page.map((row) => {
    const document = documentOfRow(collection, row);
    if (!isRanked) return show(document);
    return { ...show(document), score: row[scorePlace], ...(marks !== null && { highlights: marks(document) }) };
  });
  const hasMore = good.length > limit;
  const end = offset + page.length;
  const { total, isExact } = await totalOf(request, collection, asked, wanted, hasMore, end);
  return {
    plain: {
      documents: documents as Found["documents"][number][],
      total,
      total_relation: isExact ? "eq" : "gte",
      mode: modeNameOf(rankings),
      took_ms: elapsedSince(started),
      next_offset: hasMore ? end : null,
      next_cursor: hasMore ? cursorOf(nextCursor(isRanked, end, page.at(-1)![0] as string)) : null,
    },
  };
}

/**
 * A listing continues after the last id, so that added and removed documents shift nothing; a ranking continues by
 * position.
 */
function nextCursor(isRanked: boolean, end: number, lastId: string): Cursor {
  return isRanked ? { offset: end } : { offset: end, afterId: lastId };
}

function modeNameOf(rankings: readonly Ranking[]): string {
  return rankings.length > 1 ? "hybrid" : (rankings[0]?.kind ?? "filter");
}

/** A `query` that is an object is a filter like the others. */
function filtersOf({ query, filters, filter }: DocumentSearch): SearchRequest["filters"] {
  const list: { filter: unknown; where: string }[] = [];
  if (isObject(query)) list.push({ filter: query, where: "query" });
  if (filters !== undefined) list.push({ filter: filters, where: "filters" });
  if (filter !== undefined) list.push({ filter, where: "filter" });
  return list;
}

async function rankingsOf(request: Request, collection: Collection, wanted: DocumentSearch): Promise<Ranking[]> {
  const { vector, mode } = wanted;
  const words = typeof wanted.query === "string" && wanted.query.trim() !== "" ? wanted.query : null;
  if (words === null && vector === undefined) {
    if (mode === undefined || typeof wanted.query === "string") return [];
    throw invalid("query", `the mode ${mode} needs words${mode === "text" ? "" : " or a vector"}`);
  }
  const text = words === null || mode === "vector" ? null : textRanking(collection, words);
  if (mode === "text") {
    if (words === null) throw invalid("query", "the mode text needs words");
    if (text === null) throw noTextIndex(collection);
    return [text];
  }
  const fields = vectorFieldsOf(collection, wanted);
  const near = await vectorRankings(request, collection, fields, words, vector);
  if (mode === "vector" && near.length === 0) throw noVectors(collection);
  if (mode === "hybrid" && text === null && words !== null) throw noTextIndex(collection);
  if (mode === "hybrid" && near.length === 0) throw noVectors(collection);
  const rankings = text === null ? near : [text, ...near];
  if (rankings.length === 0) throw noTextIndex(collection);
  return rankings;
}

function noTextIndex({ name }: Collection): DbError {
  return new DbError(
    "invalid_request",
    `The collection "${name}" has no text index, so it cannot be searched by words.`,
    {
      field: "query",
      hint: 'Add one with PATCH /v1/collections/{name} {"schema": {"indexes": [{"fields": ["*"], "type": "text"}]}}.',
    },
  );
}

function noVectors({ name }: Collection): DbError {
  return new DbError(
    "invalid_request",
    `The collection "${name}" has no vector field, so it cannot be searched by similarity.`,
    {
      field: "mode",
      hint: "Declare a field of type vector, or a string field with embed.",
    },
  );
}

/**
 * The field that the request names; else for words the embedded ones, for a vector the one field with vectors of its
 * length, one that is of vectors before one that is embedded; else the only vector field there is.
 */
function vectorFieldsOf(collection: Collection, { vector_field: name, vector }: DocumentSearch): readonly Field[] {
  const all = [...collection.columns.values()].filter(({ type, embedding }) => type === "vector" || embedding !== null);
  if (name !== undefined) {
    const field = all.find((other) => other.name === name);
    if (field !== undefined) return [field];
    const known = all.map((other) => other.name).join(", ");
    throw invalid("vector_field", `"${name}" is not a vector field. Known: ${known || "none"}`);
  }
  const given = all.filter(({ type }) => type === "vector");
  if (vector === undefined) {
    if (collection.embedded.length > 0) return collection.embedded;
    return given.length > 1 ? [] : given;
  }
  const isAsLong = (field: Field) => dimensionsOf(collection, field) === vector.length;
  const choices = [given.filter(isAsLong), all.filter(isAsLong), given, all];
  const fitting = choices.find(({ length }) => length > 0) ?? [];
  if (fitting.length > 1) {
    throw invalid("vector_field", `say which field to compare with: ${fitting.map((other) => other.name).join(", ")}`);
  }
  return fitting;
}

/** The modes in which the collection can be searched for words. Throws not_found. */
export function searchModes(request: Request, name: string): SearchMode[] {
  const collection = findCollection(request, name);
  const hasText = textIndexOf(collection) !== null;
  const hasVectors = vectorFieldsOf(collection, {}).some((field) => takesWords(request, collection, field));
  return [
    ...(hasText ? (["text"] as const) : []),
    ...(hasVectors ? (["vector"] as const) : []),
    ...(hasText && hasVectors ? (["hybrid"] as const) : []),
  ];
}

/** Vectors of looks, say, are no vectors of words. */
function takesWords({ partition }: Request, collection: Collection, field: Field): boolean {
  return partition.models.describe(field.model).dimensions === dimensionsOf(collection, field);
}

/** Words are embedded for fields whose vectors are as long as the model's. */
async function vectorRankings(
  request: Request,
  collection: Collection,
  fields: readonly Field[],
  words: string | null,
  vector: readonly number[] | undefined,
): Promise<Ranking[]> {
  const rankings: Ranking[] = [];
  const embedded = new Map<string | null, Float32Array>();
  const shape = words === null || vector !== undefined ? null : queryShape(request, collection, words);
  for (const field of fields) {
    const column = field.embedding ?? field.column!;
    const metric = metricOf(collection, field);
    if (vector !== undefined) {
      const dimensions = dimensionsOf(collection, field);
      if (vector.length !== dimensions) {
        throw invalid("vector", `expected ${dimensions} dimensions, not ${vector.length}`);
      }
      if (!vector.every((x) => Number.isFinite(Math.fround(x)))) throw invalid("vector", "expected finite numbers");
      rankings.push({ kind: "vector", column, metric, vector, weight: VECTOR_WEIGHT });
    } else if (words !== null) {
      const { model } = field;
      if (!takesWords(request, collection, field)) continue;
      const of = embedded.get(model) ?? (await embedderOf(request).embed([words], model ?? undefined))[0]!;
      embedded.set(model, of);
      rankings.push({
        kind: "vector",
        column,
        metric,
        vector: of,
        weight: modelWeight(request, model, words, shape),
      });
    }
  }
  return rankings;
}

function vectorColumnOf({ table }: Collection, field: Field) {
  const name = (field.embedding ?? field.column!).slice(1, -1).replaceAll('""', '"');
  return table.columns.find((column) => column.name === name)!;
}

function dimensionsOf(collection: Collection, field: Field): number | null {
  return vectorColumnOf(collection, field).type.modifier;
}

/** Its index's; cosine without one. */
function metricOf(collection: Collection, field: Field) {
  const { id } = vectorColumnOf(collection, field);
  const index = collection.table.searchIndexes?.find(isVectorIndexOf(id));
  return index?.vector?.metric ?? DEFAULT_METRIC;
}

/** Exact for listings and text searches; else the end of the page, and whether there is more. */
async function totalOf(
  request: Request,
  collection: Collection,
  asked: SearchRequest,
  { track_total: tracks = true, min_score: minScore }: DocumentSearch,
  hasMore: boolean,
  end: number,
): Promise<{ readonly total: number; readonly isExact: boolean }> {
  const isCountable = asked.rankings.length === 0 || modeNameOf(asked.rankings) === "text";
  const isKnown = !hasMore && (end > asked.offset || asked.offset === 0);
  if (isKnown && asked.afterId === null) return { total: end, isExact: true };
  if (!tracks || !isCountable || minScore !== undefined) return { total: hasMore ? end + 1 : end, isExact: !hasMore };
  const [row] = await rowsOf(request, countStatement(collection, asked));
  return { total: Number(row![0]), isExact: true };
}

function shownAs(fields: readonly string[] | undefined): (document: JsonObject) => JsonObject {
  if (fields === undefined) return (document) => document;
  return (document) => pick(document, ["id", ...fields]);
}

/** Passages by the path of their text. Null: none are wanted, or words were not searched for. */
function highlighterOf(
  collection: Collection,
  rankings: readonly Ranking[],
  { highlight: isWanted = true }: DocumentSearch,
): ((document: JsonObject) => JsonObject) | null {
  const ranking = rankings.find(({ kind }) => kind === "text");
  const index = textIndexOf(collection);
  if (!isWanted || ranking?.kind !== "text" || index === null) return null;
  const analyzer = analyzerOf(index.language);
  const query = parseTextQuery(ranking.query, analyzer);
  return (document) => passagesOf(document, index.fields, query, analyzer);
}

function passagesOf(
  document: JsonObject,
  fields: readonly string[] | null,
  query: TextQuery,
  analyzer: Analyzer,
): JsonObject {
  const found: [string, string[]][] = [];
  for (const { path, text } of textsOf(document, fields)) {
    const passages = highlight(text, query, analyzer);
    if (passages.length > 0) found.push([path, passages]);
  }
  return Object.fromEntries(found);
}
