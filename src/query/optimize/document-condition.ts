/**
 * `to_tsvector('language', text) @@ query` where a text index of that language has all columns of the text: the index
 * names rows that may match, and the condition is still tested on them. Called by text-by-index.ts.
 */
import type { SearchIndexDef } from "../../catalog/table.js";
import { TEXT } from "../../values/values.js";
import type { CallExpr, ConstExpr, Expr } from "../expr/expr.js";
import { TSQUERY_MODE } from "../expr/functions/text-search.js";
import { columnsOf, isVolatile } from "../expr/walk.js";
import type { ScanPlan } from "../plan/plan.js";

export interface DocumentSearch {
  readonly index: SearchIndexDef;
  /** Of type tsquery. */
  readonly query: Expr;
  readonly mode: ConstExpr;
}

/** Null: not such a condition, or no index fits. */
export function documentSearch(scan: ScanPlan, condition: Expr): DocumentSearch | null {
  if (condition.kind !== "call" || (condition.fn.operator !== "@@" && condition.fn.operator !== "@@@")) return null;
  const [left, right] = condition.args as readonly [Expr, Expr];
  const isTurned = left.type.name === "tsquery";
  const document = isTurned ? right : left;
  const query = isTurned ? left : right;
  if (document.kind !== "call" || document.fn.name !== "to_tsvector" || query.type.name !== "tsquery") return null;
  const own = columnsOf(query);
  if (isVolatile(query) || scan.columns.some(({ id }) => own.has(id))) return null;
  const index = indexFor(scan, document);
  return index && { index, query, mode: Object.freeze({ kind: "const", type: TEXT, value: TSQUERY_MODE }) };
}

function indexFor(scan: ScanPlan, { args }: CallExpr): SearchIndexDef | null {
  const [config, text] = args as readonly [Expr, Expr | undefined];
  // With one argument the language is what the session says; of JSON the index would have other words.
  if (text === undefined || text.type.name !== "text" || config.kind !== "const") return null;
  const columns = columnsOfText(scan, text);
  if (columns === null) return null;
  const fits = ({ text: own, columnIds }: SearchIndexDef) =>
    own?.language === config.value && columns.every((id) => columnIds.includes(id));
  return scan.table.searchIndexes?.find(fits) ?? null;
}

/**
 * The columns that a text is put together of, with blanks in between; null: it may have words that are in none of them.
 */
function columnsOfText(scan: ScanPlan, text: Expr): readonly number[] | null {
  const parts: (number | null)[] = [];
  if (!addParts(scan, text, parts)) return null;
  const isGlued = parts.some((part, i) => part !== null && i > 0 && parts[i - 1] !== null);
  const columns = parts.filter((part) => part !== null);
  return isGlued || columns.length === 0 ? null : columns;
}

/** Column ids, and null for a blank; false: something else is among them. */
function addParts(scan: ScanPlan, expr: Expr, parts: (number | null)[]): boolean {
  if (expr.kind === "cast") return isText(expr) && isText(expr.input) && addParts(scan, expr.input, parts);
  if (expr.kind === "const") {
    if (typeof expr.value !== "string" || !/^\s*$/.test(expr.value)) return false;
    if (expr.value !== "") parts.push(null);
    return true;
  }
  if (expr.kind === "call" && expr.fn.name === "coalesce") return addFirstOf(scan, expr.args, parts);
  if (expr.kind === "call" && expr.fn.operator === "||") {
    return expr.args.every((arg) => isText(arg) && addParts(scan, arg, parts));
  }
  const place = expr.kind === "column" && isText(expr) ? scan.columns.findIndex(({ id }) => id === expr.id) : -1;
  if (place < 0) return false;
  parts.push(scan.source[place]!);
  return true;
}

/** `coalesce(column, '')` */
function addFirstOf(scan: ScanPlan, args: readonly Expr[], parts: (number | null)[]): boolean {
  const [column, ...others] = args;
  const blanks: (number | null)[] = [];
  if (!others.every((other) => addParts(scan, other, blanks)) || blanks.some((part) => part !== null)) return false;
  return addParts(scan, column!, parts);
}

const isText = ({ type }: Expr) => type.element === null && ["text", "varchar", "bpchar", "name"].includes(type.name);
