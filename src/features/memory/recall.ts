/**
 * MEMORY_RECALL(namespace, query [, k [, options]]): the memories that are most like the query, as rows.
 *
 * The nearest by the cosine of the embeddings are ranked again by
 *   (1 − recency) · similarity + recency · 2^(−age / half-life)
 * so of memories that are about as alike the newer comes first. `recency` is .1 and the half-life 30 days unless
 * options say otherwise; recency 0 is the order of similarity. The column `similarity` is the cosine alone.
 */

import { sqlError } from "../../protocol/errors.js";
import { MEMORY_RECALL_DEFAULT, MEMORY_RECALL_MAX } from "../../protocol/limits.js";
import type { ExecContext } from "../../query/exec/context.js";
import { deferredContext } from "../../query/exec/deferred-call.js";
import { need } from "../../query/expr/capability.js";
import type { EvalContext } from "../../query/expr/expr.js";
import { EMBEDDING } from "../../query/expr/functions/models.js";
import type { TableFunction, TableRows } from "../../query/expr/table-function.js";
import { FLOAT8, INT4, recordOf, TEXT, TIMESTAMPTZ, type Value } from "../../values/values.js";
import { findTable, namespaceOf } from "./memory-namespace.js";

const ROW = recordOf([
  { name: "id", type: TEXT },
  { name: "content", type: TEXT },
  { name: "similarity", type: FLOAT8 },
  { name: "metadata", type: TEXT },
  { name: "created_at", type: TIMESTAMPTZ },
]);

const RECENCY_DEFAULT = 0.1;
const HALF_LIFE_DAYS_DEFAULT = 30;
const HALF_LIFE_DAYS_MAX = 36_500;
/** Candidates per wanted row that are ranked again. */
const CANDIDATES_PER_ROW = 4;

export const MEMORY_RECALL: readonly TableFunction[] = [[], [INT4], [INT4, TEXT]].map((more) =>
  Object.freeze({
    name: "memory_recall",
    args: [TEXT, TEXT, ...more],
    returns: ROW,
    strict: false,
    open: (context: EvalContext, args: readonly Value[]) => new RecalledRows(context as ExecContext, args),
  }),
);

interface Options {
  readonly recency: number;
  readonly halfLifeDays: number;
  readonly minSimilarity: number;
}

class RecalledRows implements TableRows {
  private rows: readonly (readonly Value[])[] | null = null;
  private given = 0;

  constructor(
    private readonly context: ExecContext,
    private readonly args: readonly Value[],
  ) {}

  async next(out: readonly Value[][], at: number, max: number): Promise<number> {
    this.rows ??= await recall(this.context, this.args);
    const rows = this.rows.slice(this.given, this.given + max);
    for (const [i, row] of rows.entries()) for (let c = 0; c < out.length; c++) out[c]![at + i] = row[c]!;
    this.given += rows.length;
    return rows.length;
  }
}

async function recall(context: ExecContext, args: readonly Value[]): Promise<readonly (readonly Value[])[]> {
  const [namespaceText, query, count, given] = args as readonly (string | null)[];
  if (namespaceText == null || query == null) return [];
  const namespace = namespaceOf(namespaceText);
  const k = countOf((count ?? null) as number | null);
  const { recency, halfLifeDays, minSimilarity } = optionsOf(given ?? null);
  const { services } = context;
  const table = findTable(services.catalogView(), namespace);
  if (table === null || k === 0) return [];
  const [vector] = await need(context, EMBEDDING).later(
    [query],
    table.model,
    deferredContext(context, context.signal()),
  );
  const candidates = recency === 0 ? k : k * CANDIDATES_PER_ROW;
  const { rows } = await services.runStatement(
    `SELECT id, content, similarity, metadata, created_at FROM (
       SELECT id, content, 1 - (embedding <=> $1::vector) AS similarity, metadata::text AS metadata, created_at
       FROM ${table.sqlName} ORDER BY embedding <=> $1::vector LIMIT ${candidates}
     ) AS nearest
     WHERE similarity >= $2::float8
     ORDER BY (1 - $3::float8) * similarity
       + $3::float8 * power(2, -greatest(0, extract(epoch FROM now() - created_at)::float8) / (86400 * $4::float8)) DESC, id
     LIMIT ${k}`,
    [vector!, minSimilarity, recency, halfLifeDays],
    k,
    context,
  );
  return rows;
}

/** Throws 22023. */
function countOf(count: number | null): number {
  if (count === null) return MEMORY_RECALL_DEFAULT;
  if (count < 0)
    throw sqlError("22023", `MEMORY_RECALL cannot return ${count} memories; k must be from 0 to ${MEMORY_RECALL_MAX}`);
  return Math.min(count, MEMORY_RECALL_MAX);
}

/** Throws 22023 for what is no option. */
function optionsOf(text: string | null): Options {
  const given = text === null ? {} : objectOf(text, "the options of MEMORY_RECALL");
  const unknown = Object.keys(given).find((name) => !["recency", "half_life_days", "min_similarity"].includes(name));
  if (unknown !== undefined) {
    throw sqlError("22023", `MEMORY_RECALL has no option "${unknown}"`, {
      hint: "Options are recency (0 to 1), half_life_days and min_similarity (-1 to 1).",
    });
  }
  const number = (name: string, usual: number, min: number, max: number): number => {
    const value = given[name] ?? usual;
    if (typeof value === "number" && value >= min && value <= max) return value;
    throw sqlError("22023", `the option "${name}" of MEMORY_RECALL must be a number from ${min} to ${max}`);
  };
  return {
    recency: number("recency", RECENCY_DEFAULT, 0, 1),
    halfLifeDays: number("half_life_days", HALF_LIFE_DAYS_DEFAULT, 0.001, HALF_LIFE_DAYS_MAX),
    minSimilarity: number("min_similarity", -1, -1, 1),
  };
}

/** Throws 22023. */
export function objectOf(text: string, what: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw sqlError("22023", `${what} must be a JSON object, not "${text.slice(0, 80)}"`);
}
