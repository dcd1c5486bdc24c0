/**
 * SUMMARIZE: what each column of a table or query holds, as a query over it that is put together of its columns. Each column is
 * read by itself, so memory is needed for one at a time. Called by bind-list.ts.
 */
import { quotedIdentifier } from "../../catalog/relation-names.js";
import { sqlError } from "../../protocol/errors.js";
import type { SqlType } from "../../protocol/values.js";
import { baseType, categoryOf, displayName, hasOrder } from "../../query/expr/types.js";
import type { QueryNode } from "../parse/ast-query.js";
import { parseSql } from "../parse/parse.js";
import { type Binding, PLAIN_QUERY, type Source } from "./binding.js";

/** Columns of the answer: counts; texts of values, so that columns of all types stand below each other. */
const EXAMPLES = 3;
const EXAMPLE_CHARACTERS = 60;

/** @param of an item of FROM, as text. Throws what binding it throws. */
export function bindSummary(of: string, binding: Binding): Source {
  const { columns } = binding.query(queryOf(`SELECT * FROM ${of}`), null, PLAIN_QUERY);
  if (columns.length === 0) throw sqlError("42601", "there are no columns to summarize");
  const names = columns.map((_, i) => quotedIdentifier(`c${i}`)).join(", ");
  const from = `${of} AS s (${names})`;
  const rows = columns.map((column, i) => summaryOf(`c${i}`, column.name, column.type, from, i));
  const text = `SELECT column_name, data_type, count, nulls, distinct_count, min, q25, median, q75, max, mean, examples
    FROM (${rows.join(" UNION ALL ")}) summary ORDER BY place`;
  return binding.query(queryOf(text), null, PLAIN_QUERY);
}

function summaryOf(column: string, name: string, type: SqlType, from: string, place: number): string {
  const ordered = hasOrder(type) && type.name !== "vector";
  const category = categoryOf(baseType(type));
  const isNumber = category === "N";
  const hasQuartiles = ordered && type.element === null && (isNumber || category === "D" || category === "T");
  const text = (expr: string) => `(${expr})::text`;
  const unless = (holds: boolean, expr: string) => (holds ? expr : "NULL::text");
  const quartile = (part: number) =>
    unless(hasQuartiles, text(`percentile_disc(${part}) WITHIN GROUP (ORDER BY ${column})`));
  // Booleans, records and the like have an order, but no min and max.
  const end = (which: "min" | "max") =>
    unless(
      ordered,
      `(SELECT ${text(column)} FROM ${from} WHERE ${column} IS NOT NULL ORDER BY ${column} ${which === "min" ? "ASC" : "DESC"} LIMIT 1)`,
    );
  const short = `CASE WHEN length(${column}::text) > ${EXAMPLE_CHARACTERS} THEN left(${column}::text, ${EXAMPLE_CHARACTERS}) || '…' ELSE ${column}::text END`;
  const often = ordered ? `GROUP BY ${column} ORDER BY count(*) DESC, ${column} ` : "";
  const found = `SELECT ${short} AS example FROM ${from} WHERE ${column} IS NOT NULL ${often}LIMIT ${EXAMPLES}`;
  const parts = [
    `${place} AS place`,
    `${literal(name)}::text AS column_name`,
    `${literal(displayName(type))}::text AS data_type`,
    "count(*) AS count",
    `count(*) - count(${column}) AS nulls`,
    `${ordered ? `count(DISTINCT ${column})` : "NULL::bigint"} AS distinct_count`,
    `${end("min")} AS min`,
    `${quartile(0.25)} AS q25`,
    `${quartile(0.5)} AS median`,
    `${quartile(0.75)} AS q75`,
    `${end("max")} AS max`,
    `${isNumber ? `avg(${column})::float8` : "NULL::float8"} AS mean`,
    `${type.name === "vector" ? "NULL::text[]" : `(SELECT array_agg(example) FROM (${found}) examples)`} AS examples`,
  ];
  return `(SELECT ${parts.join(", ")} FROM ${from})`;
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

function queryOf(text: string): QueryNode {
  const { node } = parseSql(text)[0]!;
  if (node.kind !== "select") throw sqlError("42601", "SUMMARIZE takes a table or a query");
  return node.query;
}
