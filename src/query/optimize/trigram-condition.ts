/**
 * LIKE, ILIKE and the operators of pg_trgm on a column that an index of trigrams has: the index names rows that may
 * match, and the condition is still tested on them. Called by text-by-index.ts.
 */
import type { SearchIndexDef } from "../../catalog/table.js";
import { requestOfText } from "../../values/trigrams.js";
import { TEXT } from "../../values/values.js";
import type { ConstExpr, Expr, ScalarFunction } from "../expr/expr.js";
import { TRIGRAM_MODE } from "../expr/functions/text-search.js";
import {
  SIMILARITY_THRESHOLD,
  STRICT_WORD_THRESHOLD,
  TRIGRAMS_OF_ALIKE,
  TRIGRAMS_OF_LIKE,
  WORD_THRESHOLD,
} from "../expr/functions/trigrams.js";
import { columnsOf, isVolatile } from "../expr/walk.js";
import type { ScanPlan } from "../plan/plan.js";
import type { DocumentSearch } from "./document-condition.js";
import { likeRange } from "./like-range.js";

/** How an operator says that texts are alike: by which setting, and on which side the wanted text stands. */
const ALIKE: Readonly<Record<string, readonly [setting: string, wanted: "left" | "right" | "either"]>> = {
  "%": [SIMILARITY_THRESHOLD, "either"],
  "<%": [WORD_THRESHOLD, "left"],
  "%>": [WORD_THRESHOLD, "right"],
  "<<%": [STRICT_WORD_THRESHOLD, "left"],
  "%>>": [STRICT_WORD_THRESHOLD, "right"],
};

/** Null: not such a condition, no index has the column, or a pattern that says too little. */
export function trigramSearch(scan: ScanPlan, condition: Expr): DocumentSearch | null {
  if (condition.kind !== "call" || condition.args.length !== 2) return null;
  const { operator, name } = condition.fn;
  const [left, right] = condition.args as [Expr, Expr];
  if (operator === "~~" || operator === "~~*" || name === "like" || name === "ilike") {
    if (hasOrderedIndex(scan, condition)) return null;
    return searchFor(scan, left, right, (pattern) => call(TRIGRAMS_OF_LIKE, [pattern]));
  }
  const alike = operator === undefined || condition.fn.args[0] !== TEXT ? undefined : ALIKE[operator];
  if (alike === undefined) return null;
  const [setting, wanted] = alike;
  const request = (text: Expr) => call(TRIGRAMS_OF_ALIKE, [text, constant(setting)]);
  const byRight = wanted === "left" ? null : searchFor(scan, left, right, request);
  return byRight ?? (wanted === "right" ? null : searchFor(scan, right, left, request));
}

function searchFor(scan: ScanPlan, column: Expr, wanted: Expr, request: (wanted: Expr) => Expr): DocumentSearch | null {
  const own = columnsOf(wanted);
  if (isVolatile(wanted) || scan.columns.some(({ id }) => own.has(id))) return null;
  const index = indexOf(scan, column);
  if (index === null || saysNothing(wanted, request)) return null;
  return { index, query: request(wanted), mode: constant(TRIGRAM_MODE) };
}

/** Whether it is known that a pattern has no trigram. */
function saysNothing(wanted: Expr, request: (wanted: Expr) => Expr): boolean {
  const asked = request(wanted);
  if (wanted.kind !== "const" || asked.kind !== "call" || asked.fn !== TRIGRAMS_OF_LIKE) return false;
  return wanted.value === null || requestOfText(TRIGRAMS_OF_LIKE.apply(wanted.value) as string).trigrams.length === 0;
}

function indexOf(scan: ScanPlan, expr: Expr): SearchIndexDef | null {
  if (expr.kind === "cast") {
    const isKept = expr.type.name === "text" && ["text", "varchar", "name"].includes(expr.input.type.name);
    return isKept ? indexOf(scan, expr.input) : null;
  }
  const place = expr.kind === "column" ? scan.columns.findIndex(({ id }) => id === expr.id) : -1;
  if (place < 0) return null;
  const columnId = scan.source[place]!;
  const fits = ({ text, columnIds }: SearchIndexDef) => text?.trigrams === true && columnIds.includes(columnId);
  return scan.table.searchIndexes?.find(fits) ?? null;
}

/** An ordered index on the column finds texts with a known beginning sooner. */
function hasOrderedIndex(scan: ScanPlan, condition: Expr): boolean {
  const range = likeRange(condition);
  if (range === null || range.subject.kind !== "column") return false;
  const { id } = range.subject;
  const place = scan.columns.findIndex((column) => column.id === id);
  const columnId = place < 0 ? undefined : scan.source[place];
  const { primaryKey, indexes } = scan.table;
  return primaryKey?.[0] === columnId || indexes.some(({ columns }) => columns[0]?.columnId === columnId);
}

const constant = (value: string): ConstExpr => Object.freeze({ kind: "const", type: TEXT, value });

function call(fn: ScalarFunction, args: readonly Expr[]): Expr {
  return Object.freeze({ kind: "call", type: fn.returns, fn, args });
}
