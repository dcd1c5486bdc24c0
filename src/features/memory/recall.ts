/**
 * MEMORY_RECALL(namespace, query [, k [, options]]): the memories that are most like the query, as rows.
 *
 * The nearest by the cosine of the embeddings are ranked again by
 *   (1 − recency) · ((1 − words) · similarity + words · share) + recency · 2^(−age / half-life)
 * so of memories that are about as alike the newer comes first. `share` is the part of the query's words that the
 * memory has (word-shares.ts): short sentences about one person are much alike, and a word tells them apart.
 * `recency` is .1, `words` .2 and the half-life 30 days unless options say otherwise; with both 0 the order is that of
 * similarity. The column `similarity` is the cosine alone.
 *
 * Only memories that hold now are found, with `as_of` those that held then, and with `include_superseded` also those
 * that others superseded before.
 */

import { sqlError } from "../../protocol/errors.js";
import { MEMORY_RECALL_DEFAULT, MEMORY_RECALL_MAX } from "../../protocol/limits.js";
import type { ExecContext } from "../../query/exec/context.js";
import { deferredContext } from "../../query/exec/deferred-call.js";
import { need } from "../../query/expr/capability.js";
import type { EvalContext } from "../../query/expr/expr.js";
import { EMBEDDING } from "../../query/expr/functions/models.js";
import { MadeRows, type TableFunction } from "../../query/expr/table-function.js";
import { FLOAT8, INT4, recordOf, TEXT, TIMESTAMPTZ, type Value } from "../../values/values.js";
import { findTable, type MemoryTable, namespaceOf } from "./memory-namespace.js";
import { objectOf, timeOption } from "./memory-options.js";
import { sharesOfWords } from "./word-shares.js";

const ROW = recordOf([
  { name: "id", type: TEXT },
  { name: "content", type: TEXT },
  { name: "similarity", type: FLOAT8 },
  { name: "metadata", type: TEXT },
  { name: "created_at", type: TIMESTAMPTZ },
  { name: "valid_from", type: TIMESTAMPTZ },
  { name: "valid_until", type: TIMESTAMPTZ },
  { name: "superseded_by", type: TEXT },
]);

const OPTIONS = ["recency", "words", "half_life_days", "min_similarity", "as_of", "include_superseded"];
const RECENCY_DEFAULT = 0.1;
const HALF_LIFE_DAYS_DEFAULT = 30;
const HALF_LIFE_DAYS_MAX = 36_500;
/** Candidates per wanted row that are ranked again, and the fewest in all. */
const CANDIDATES_PER_ROW = 4;
const CANDIDATES_MIN = 50;
const WORDS_DEFAULT = 0.2;

export const MEMORY_RECALL: readonly TableFunction[] = [[], [INT4], [INT4, TEXT]].map((more) =>
  Object.freeze({
    name: "memory_recall",
    args: [TEXT, TEXT, ...more],
    returns: ROW,
    strict: false,
    open: (context: EvalContext, args: readonly Value[]) => new MadeRows(() => recall(context as ExecContext, args)),
  }),
);

interface Options {
  readonly recency: number;
  readonly words: number;
  readonly halfLifeDays: number;
  readonly minSimilarity: number;
  /** What held then; null: what holds now. */
  readonly asOf: string | null;
  readonly includesSuperseded: boolean;
}

/** SQL over a memory's row: whether it is to be found. `asOf`: the parameter with the time. */
export function heldCondition(table: MemoryTable, options: Pick<Options, "asOf" | "includesSuperseded">, asOf: string) {
  const isHeld = `${table.start} <= ${asOf}::text::timestamptz`;
  const until = `(valid_until IS NULL OR valid_until > ${asOf}::text::timestamptz)`;
  if (options.asOf !== null) {
    return table.hasHistory && !options.includesSuperseded ? `${isHeld} AND ${until}` : isHeld;
  }
  return table.hasHistory && !options.includesSuperseded ? "valid_until IS NULL" : "true";
}

async function recall(context: ExecContext, args: readonly Value[]): Promise<readonly (readonly Value[])[]> {
  const [namespaceText, query, count, given] = args as readonly (string | null)[];
  if (namespaceText == null || query == null) return [];
  const namespace = namespaceOf(namespaceText);
  const k = countOf((count ?? null) as number | null);
  const options = optionsOf(given ?? null);
  const { recency, words, halfLifeDays, minSimilarity, asOf } = options;
  const { services } = context;
  const table = findTable(services.catalogView(), namespace);
  if (table === null || k === 0) return [];
  const deferred = deferredContext(context, context.signal());
  const [vector] = await need(context, EMBEDDING).later([query], table.model, deferred);
  const isRankedAgain = recency > 0 || words > 0;
  const candidates = isRankedAgain ? Math.max(k * CANDIDATES_PER_ROW, CANDIDATES_MIN) : k;
  const { rows } = await services.runStatement(
    `SELECT id, content, similarity, metadata, created_at, valid_from, valid_until, superseded_by,
       power(2, -greatest(0, extract(epoch FROM ${asOf === null ? "now()" : "$4::text::timestamptz"} - created_at)::float8)
         / (86400 * $3::float8)) AS freshness
     FROM (
       SELECT id, content, 1 - (embedding <=> $1::vector) AS similarity, metadata::text AS metadata, created_at,
         ${table.history}
       FROM ${table.sqlName} WHERE ${heldCondition(table, options, "$4")} ORDER BY embedding <=> $1::vector LIMIT ${candidates}
     ) AS nearest
     WHERE similarity >= $2::float8
     ORDER BY similarity DESC, id`,
    [vector!, minSimilarity, halfLifeDays, ...(asOf === null ? [] : [asOf])],
    candidates,
    context,
  );
  if (!isRankedAgain) return rows;
  const shares = await sharesOfWords(query, words === 0 ? [] : rows.map(([, content]) => content as string), deferred);
  const ranked = rows.map((row, i) => {
    const likeness = (1 - words) * (row[2] as number) + words * (shares[i] ?? 0);
    return { row, rank: (1 - recency) * likeness + recency * (row[8] as number) };
  });
  return ranked
    .sort((one, other) => other.rank - one.rank)
    .slice(0, k)
    .map(({ row }) => row);
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
  const unknown = Object.keys(given).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) {
    throw sqlError("22023", `MEMORY_RECALL has no option "${unknown}"`, {
      hint: "Options are recency and words (0 to 1), half_life_days, min_similarity (-1 to 1), as_of and include_superseded.",
    });
  }
  const number = (name: string, usual: number, min: number, max: number): number => {
    const value = given[name] ?? usual;
    if (typeof value === "number" && value >= min && value <= max) return value;
    throw sqlError("22023", `the option "${name}" of MEMORY_RECALL must be a number from ${min} to ${max}`);
  };
  const includesSuperseded = given.include_superseded ?? false;
  if (typeof includesSuperseded !== "boolean") {
    throw sqlError("22023", 'the option "include_superseded" of MEMORY_RECALL must be true or false');
  }
  return {
    asOf: timeOption(given.as_of, "as_of"),
    includesSuperseded,
    recency: number("recency", RECENCY_DEFAULT, 0, 1),
    words: number("words", WORDS_DEFAULT, 0, 1),
    halfLifeDays: number("half_life_days", HALF_LIFE_DAYS_DEFAULT, 0.001, HALF_LIFE_DAYS_MAX),
    minSimilarity: number("min_similarity", -1, -1, 1),
  };
}
