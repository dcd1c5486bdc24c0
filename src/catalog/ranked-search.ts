/**
 * The statement that ranks a table's rows by their words, by the likeness of their vectors, or by both: their scores,
 * each brought to 0 to 1, are added with weights (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid
 * Retrieval", 2023). Unlike places, scores tell a document that is by far the best by its words from one that is just
 * the first. Text of SQL, because its plan is what SQL's would be: search indexes answer it, EXPLAIN shows it. Read by
 * search() in FROM; what fuses rankings also by searches of document collections.
 */
import { sqlError } from "../protocol/errors.js";
import { VECTOR_METRICS } from "../values/vector-metric.js";
import type { ColumnDef, SearchIndexDef, TableDef } from "./table.js";

export const SEARCH_MODES = ["text", "vector", "hybrid"] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];

/**
 * What the likeness of vectors weighs beside the words, of 1 together: that of a static encoder, which knows no more
 * than words itself, and any other. Below one half: of nearly equal texts the one with all words is meant, whichever is
 * nearest.
 */
export const STATIC_WEIGHT = 0.15;
export const VECTOR_WEIGHT = 0.4;
/** How much of that weight stays, by what the query is. */
const OF_CODES = 0.25;
const OF_QUOTED = 0.5;
/** "INV-2041", "max_rows", "v1.2", "XR7": letters and digits or signs in one word; not "20th", "1990s". */
const CODE = /(?:^|\s)"?(?!\d+(?:st|nd|rd|th|s)\b)(?=\S*\p{L})(?=\S*[\d_])[\p{L}\d][\p{L}\d_./:-]*/u;

/** What a text index tells of a query before it is searched: how much words can decide. */
export interface TextShape {
  /** Words per text. */
  readonly meanWords: number;
  /** 0 to 1: of the query's words, by their rarity, those that some text has. */
  readonly knownShare: number;
}

/** Texts of at most so many words have few of a query's: titles, names, captions. */
const SHORT_TEXTS = 16;
/**
 * For such texts, a query of so many longer words tells what is wanted: no text has them all, and likeness weighs this.
 * Long texts have them, and the words decide.
 */
const TOLD: readonly (readonly [words: number, weight: number])[] = [
  [6, 0.95],
  [4, 0.6],
];
/** Names have hardly any: a query of so many longer words, or of more words than a name, says what it does not name. */
const NAMES = 4;
const TOLD_OF_NAMES = 4;
/** And where the texts have less than this of the query's words, likeness weighs this. */
const KNOWN_MIN = 0.5;
const OF_UNKNOWN = 0.8;
const LONG_WORD = /\p{L}{4,}/gu;
const ANY_WORD = /[\p{L}\p{N}]+/gu;

/**
 * What likeness weighs for this query. Names with digits are meant letter by letter, and what is quoted, if not much
 * else is said. `shape`: of the texts; null: it is not known.
 */
export function weightForQuery(usual: number, query: string, shape: TextShape | null): number {
  const told = shape !== null && shape.meanWords <= NAMES ? toldOfNames(query) : toldOf(query);
  if (CODE.test(query)) return usual * OF_CODES;
  if (told === 0 && /"[^"]+"/.test(query)) return usual * OF_QUOTED;
  if (shape === null || shape.meanWords > SHORT_TEXTS) return usual;
  return Math.max(usual, told, shape.knownShare < KNOWN_MIN ? OF_UNKNOWN : 0);
}

const countOf = (query: string, word: RegExp) => query.match(word)?.length ?? 0;
const toldOf = (query: string) => TOLD.find(([least]) => countOf(query, LONG_WORD) >= least)?.[1] ?? 0;
const toldOfNames = (query: string) =>
  countOf(query, LONG_WORD) >= TOLD_OF_NAMES || countOf(query, ANY_WORD) > NAMES ? 1 : 0;

/** The place in a ranking of vectors that counts as no likeness at all: any two vectors are some distance apart. */
const EDGE_PLACE = 50;
/** Rows of each ranking that are fused: at least the first number, and the second number times the requested rows. */
const CANDIDATES_MIN = EDGE_PLACE;
const CANDIDATES_TIMES = 3;

/** What a table can be searched by. */
export interface Searchable {
  readonly table: TableDef;
  readonly text: SearchIndexDef | null;
  readonly vector: SearchIndexDef | null;
}

/** The parts of a search, as SQL: placeholders, or expressions that are the same for all rows. */
export interface RankedSearch {
  readonly mode: SearchMode;
  /** Of text. Not read in the mode `vector`. */
  readonly words: string;
  /** Of a vector. Not read in the mode `text`. */
  readonly nearTo: string;
  /** Of the likeness of vectors, in the mode `hybrid`: from 0 to 1, the rest is the words'. */
  readonly vectorWeight: number;
  /** Rows at most. */
  readonly limit: string;
  /** A condition on the table's columns that all rows meet, in both rankings. Null: all rows. */
  readonly filter: string | null;
}

/**
 * Those of the fused rankings, in their order: vectors share what one has. `words`: whether words are one of them, the
 * first.
 */
export function fusionWeights(words: boolean, vectorWeights: readonly number[]): number[] {
  const count = vectorWeights.length;
  const ofVectors = vectorWeights.reduce((sum, weight) => sum + weight, 0) / Math.max(1, count);
  const each = vectorWeights.map((weight) => weight / count);
  return words ? [1 - ofVectors, ...each] : each;
}

/** By the table's first index of each kind. */
export function searchableOf(table: TableDef): Searchable {
  const isPlain = ({ text, vector, declared }: SearchIndexDef): boolean =>
    text?.trigrams !== true && vector?.form === undefined && vector?.where === undefined && declared === undefined;
  const indexes = (table.searchIndexes ?? []).filter(isPlain);
  const first = (method: SearchIndexDef["method"]) => indexes.find((index) => index.method === method) ?? null;
  return { table, text: first("text"), vector: first("hnsw") };
}

/**
 * What a search for words does that does not say; null: the table cannot be searched for words. Vectors that nobody
 * says to be made of texts are not compared with that of the words.
 */
export function usualMode({ table, text, vector }: Searchable): SearchMode | null {
  const isEmbedded = vector !== null && isEmbedding(table, vector.columnIds[0]!);
  if (text === null) return isEmbedded ? "vector" : null;
  return isEmbedded ? "hybrid" : "text";
}

/** Whether the column has vectors of texts: a generated column, or one that a collection's schema declares so. */
function isEmbedding(table: TableDef, columnId: number): boolean {
  const { collection } = table;
  const fields = collection?.kind === "document" ? collection.fields : [];
  if (fields.some(({ embeddingColumnId }) => embeddingColumnId === columnId)) return true;
  return /\bembed\b/i.test(columnOf(table, columnId).generatedSql ?? "");
}

/** The rows' columns and then their score, the best first. Throws 0A000 when the table lacks what the mode needs. */
export function rankedSearch(searchable: Searchable, search: RankedSearch): string {
  checkIndexes(searchable, search.mode);
  if (search.mode === "hybrid") return fused(searchable, search);
  return search.mode === "text" ? byWords(searchable, search) : byVector(searchable, search);
}

/** The name of the score beside the table's columns. */
export function scoreName(table: TableDef): string {
  return freeName(table, "score");
}

function freeName(table: TableDef, name: string): string {
  return table.columns.some((column) => column.name === name) ? freeName(table, `${name}_`) : name;
}

function checkIndexes({ table, text, vector }: Searchable, mode: SearchMode): void {
  if (mode !== "vector" && text === null) {
    throw sqlError("0A000", `table "${table.name}" has no text index, which a search for words needs`, {
      hint: `Create one with CREATE INDEX ON ${quoted(table.name)} USING text (columns).`,
    });
  }
  if (mode !== "text" && vector === null) {
    throw sqlError("0A000", `table "${table.name}" has no vector index, which a search for likeness needs`, {
      hint: `Create one with CREATE INDEX ON ${quoted(table.name)} USING hnsw (column).`,
    });
  }
  if (mode === "hybrid" && table.primaryKey === null) {
    throw sqlError("0A000", `table "${table.name}" has no primary key, which a hybrid search tells its rows by`);
  }
}

function byWords(searchable: Searchable, { words, limit, filter }: RankedSearch): string {
  const { table } = searchable;
  const match = matchOf(searchable, words);
  return `SELECT t.*, ${match} AS ${scoreName(table)} FROM ${relation(table)} t
    WHERE ${allOf([`${match} > 0`, filter])} ORDER BY ${match} DESC LIMIT ${limit}`;
}

function byVector(searchable: Searchable, { nearTo, limit, filter }: RankedSearch): string {
  const { table, vector } = searchable;
  const distance = distanceOf(searchable, nearTo);
  const alias = freeName(table, "distance");
  const columns = table.columns.map(({ name }) => `t.${quoted(name)}`);
  const likeness = VECTOR_METRICS[vector!.vector!.metric].scoreSql(`t.${alias}`);
  return `SELECT ${columns.join(", ")}, ${likeness} AS ${scoreName(table)}
    FROM (SELECT t.*, ${distance} AS ${alias} FROM ${relation(table)} t ${where(filter)} ORDER BY ${distance} LIMIT ${limit}) t
    WHERE t.${alias} IS NOT NULL ORDER BY t.${alias}`;
}

function fused(searchable: Searchable, { words, nearTo, vectorWeight, limit, filter }: RankedSearch): string {
  const { table } = searchable;
  const key = table.primaryKey!.map((id) => quoted(columnOf(table, id).name));
  const match = matchOf(searchable, words);
  const scores = fusedScores({
    relation: relation(table),
    key,
    rankings: [
      { kind: "text", score: match, condition: `${match} > 0`, weight: 1 - vectorWeight },
      { kind: "vector", distance: distanceOf(searchable, nearTo), weight: vectorWeight },
    ],
    filter,
    places: `greatest(${CANDIDATES_MIN}, ${CANDIDATES_TIMES} * ${limit})`,
    page: `LIMIT ${limit}`,
  });
  return `SELECT t.*, f.${FUSED_SCORE} AS ${scoreName(table)} FROM (${scores}) f
    JOIN ${relation(table)} t ON ${key.map((name, i) => `t.${name} = f.${keyName(i)}`).join(" AND ")}
    ORDER BY f.${FUSED_SCORE} DESC, f.${FUSED_DISTANCE}, ${key.map((name) => `t.${name}`).join(", ")}`;
}

/** A ranking as SQL over the table's columns, which `t.` stands before. `weight`: beside the others'. */
export type RankingSql = { readonly weight: number } & (
  | { readonly kind: "text"; readonly score: string; readonly condition: string }
  | { readonly kind: "vector"; readonly distance: string }
);

export interface Fusion {
  /** The table, quoted. */
  readonly relation: string;
  /** Columns that tell its rows apart, quoted. */
  readonly key: readonly string[];
  readonly rankings: readonly RankingSql[];
  /** A condition that all rows meet, in each ranking. */
  readonly filter: string | null;
  /** How many of each ranking are fused, as SQL. */
  readonly places: string;
  /** `LIMIT … OFFSET …` */
  readonly page: string;
}

/** What `fusedScores` calls the score, from 0 to 1: the first of every ranking. */
export const FUSED_SCORE = "fused_score";
/** Of equal scores the nearer comes first: behind the edge all are nothing. NULL: not among the nearest. */
export const FUSED_DISTANCE = "fused_distance";
/** What it calls the key's columns. */
export const keyName = (place: number): string => `key_${place + 1}`;

/**
 * The keys of the best rows of several rankings, with their scores, the best first. Whatever else is wanted of the rows
 * is joined to the few that are left: rankings need no more than keys, which search indexes have.
 */
export function fusedScores({ relation: table, key, rankings, filter, places, page }: Fusion): string {
  const keys = key.map((name, i) => `t.${name} AS ${keyName(i)}`).join(", ");
  const listed = key.map((_, i) => keyName(i)).join(", ");
  const sum = rankings.reduce((total, { weight }) => total + weight, 0);
  const lists = rankings.map((ranking) => {
    const weight = `${ranking.weight / sum}::float8`;
    if (ranking.kind === "text") {
      const condition = allOf([ranking.condition, filter]);
      const best = `SELECT ${keys}, ${ranking.score} AS worth FROM ${table} t WHERE ${condition} ORDER BY worth DESC, ${listed} LIMIT ${places}`;
      return `SELECT ${listed}, ${weight} * worth / max(worth) OVER () AS points, NULL::real AS far FROM (${best}) b`;
    }
    const best = `SELECT ${keys}, (${ranking.distance})::real AS far FROM ${table} t ${where(filter)} ORDER BY far LIMIT ${places}`;
    const whole = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING";
    const bounds = `min(far) OVER () AS near, coalesce(nth_value(far, ${EDGE_PLACE}) OVER (ORDER BY far ${whole}), max(far) OVER ()) AS edge`;
    const share = "CASE WHEN far < edge THEN (edge - far) / (edge - near) WHEN near = edge THEN 1 ELSE 0 END";
    // Also without vectors that are no distance from anything (zeros, by the cosine).
    const near = `SELECT ${listed}, far, ${bounds} FROM (${best}) b WHERE far < 'Infinity'`;
    return `SELECT ${listed}, ${weight} * ${share} AS points, far FROM (${near}) b`;
  });
  const sums = `sum(points) AS ${FUSED_SCORE}, min(far) AS ${FUSED_DISTANCE}`;
  const order = `ORDER BY ${FUSED_SCORE} DESC, ${FUSED_DISTANCE}, ${listed}`;
  return `SELECT ${listed}, ${sums} FROM (${lists.join(" UNION ALL ")}) r GROUP BY ${listed} ${order} ${page}`;
}

function matchOf({ table, text }: Searchable, words: string): string {
  const columns = text!.columnIds.map((id) => `t.${quoted(columnOf(table, id).name)}`);
  return `text_score(${columns.join(", ")}, ${words}, 'any')`;
}

function distanceOf({ table, vector }: Searchable, nearTo: string): string {
  const column = columnOf(table, vector!.columnIds[0]!);
  return `t.${quoted(column.name)} ${VECTOR_METRICS[vector!.vector!.metric].operator} ${nearTo}`;
}

const where = (filter: string | null) => (filter === null ? "" : `WHERE ${filter}`);
const allOf = (conditions: readonly (string | null)[]) =>
  conditions.flatMap((condition) => (condition === null ? [] : `(${condition})`)).join(" AND ");

function columnOf({ columns }: TableDef, columnId: number): ColumnDef {
  return columns.find(({ id }) => id === columnId)!;
}

const relation = ({ schema, name }: TableDef) => `${quoted(schema)}.${quoted(name)}`;
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
