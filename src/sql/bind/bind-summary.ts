/**
 * SUMMARIZE: what each column of a table or query holds, as a query over it that is put together of its columns. Each
 * column is read by itself, so memory is needed for one at a time. Called by bind-list.ts.
 */
import { quotedIdentifier } from "../../catalog/relation-names.js";
import { sqlError } from "../../protocol/errors.js";
import { baseType, categoryOf, displayName, hasOrder } from "../../query/expr/types.js";
import type { Plan } from "../../query/plan/plan.js";
import type { SqlType } from "../../values/values.js";
import type { QueryNode } from "../parse/ast-query.js";
import { parseSql } from "../parse/parse.js";
import { type Binding, PLAIN_QUERY, type Source } from "./binding.js";

const NUMBERS: ReadonlySet<string> = new Set(["int2", "int4", "int8", "float4", "float8", "numeric"]);
/** Each is read by a query of its own, which takes some milliseconds to plan. */
const COLUMNS_MAX = 100;
const EXAMPLES = 3;
const EXAMPLE_CHARACTERS = 60;

/** @param of an item of FROM, as text. Throws its binding errors. */
export function bindSummary(of: string, binding: Binding): Source {
  const { columns } = binding.query(queryOf(`SELECT * FROM ${of}`), null, PLAIN_QUERY);
  if (columns.length > COLUMNS_MAX) {
    throw sqlError("54011", `SUMMARIZE takes at most ${COLUMNS_MAX} columns, not ${columns.length}`, {
      hint: "Name some of them: SUMMARIZE SELECT a, b FROM …",
    });
  }
  if (columns.length === 0) throw sqlError("42601", "there are no columns to summarize");
  const names = columns.map((_, i) => quotedIdentifier(`c${i}`)).join(", ");
  const from = `${of} AS s (${names})`;
  // Bound one by one: together they may be longer and deeper than a statement of a client's may be.
  const rows = columns.map((column, i) => {
    return binding.query(queryOf(summaryOf(`c${i}`, column.name, column.type, from)), null, PLAIN_QUERY);
  });
  return below(rows, binding);
}

/** The rows of all, one below the other. */
function below(sources: readonly Source[], binding: Binding): Source {
  if (sources.length === 1) return sources[0]!;
  const half = sources.length >> 1;
  const left = below(sources.slice(0, half), binding);
  const right = below(sources.slice(half), binding);
  const columns = left.columns.map((column) => binding.newColumn(column.name, column.type, true));
  const plan: Plan = Object.freeze({
    kind: "setop",
    op: "union",
    all: true,
    left: left.plan,
    right: right.plan,
    columns,
  });
  return { plan, columns };
}

/** Values are texts, so that columns of all types stand below each other. */
function summaryOf(column: string, name: string, type: SqlType, from: string): string {
  const ordered = hasOrder(type) && !["vector", "halfvec", "sparsevec"].includes(type.name);
  const category = categoryOf(baseType(type));
  const isNumber = NUMBERS.has(baseType(type).name);
  const hasQuartiles = ordered && type.element === null && (isNumber || category === "D" || category === "T");
  const text = (expr: string) => `(${expr})::text`;
  const unless = (holds: boolean, expr: string) => (holds ? expr : "NULL::text");
  const quartile = (part: number) =>
    unless(hasQuartiles, text(`percentile_disc(${part}) WITHIN GROUP (ORDER BY ${column})`));
  const hasEnds = hasQuartiles || (category === "S" && type.element === null);
  const end = (which: "min" | "max", ofBoolean: string) =>
    unless(hasEnds || category === "B", text(`${category === "B" ? ofBoolean : which}(${column})`));
  const short = `CASE WHEN length(${column}::text) > ${EXAMPLE_CHARACTERS} THEN left(${column}::text, ${EXAMPLE_CHARACTERS}) || '…' ELSE ${column}::text END`;
  const often = ordered ? `GROUP BY ${column} ORDER BY count(*) DESC, ${column} ` : "";
  const found = `SELECT ${short} AS example FROM ${from} WHERE ${column} IS NOT NULL ${often}LIMIT ${EXAMPLES}`;
  const parts = [
    `${literal(name)}::text AS column_name`,
    `${literal(displayName(type))}::text AS data_type`,
    "count(*) AS count",
    `count(*) - count(${column}) AS nulls`,
    `${ordered ? `count(DISTINCT ${column})` : "NULL::bigint"} AS distinct_count`,
    `${end("min", "bool_and")} AS min`,
    `${quartile(0.25)} AS q25`,
    `${quartile(0.5)} AS median`,
    `${quartile(0.75)} AS q75`,
    `${end("max", "bool_or")} AS max`,
    `${isNumber ? `avg(${column})::float8` : "NULL::float8"} AS mean`,
    `${type.name === "vector" ? "NULL::text[]" : `(SELECT array_agg(example) FROM (${found}) examples)`} AS examples`,
  ];
  return `SELECT ${parts.join(", ")} FROM ${from}`;
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

function queryOf(text: string): QueryNode {
  const { node } = parseSql(text)[0]!;
  if (node.kind !== "select") throw sqlError("42601", "SUMMARIZE takes a table or a query");
  return node.query;
}
