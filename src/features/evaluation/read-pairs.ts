/** The questions of an evaluation of retrieval with their relevant documents: as sent, or from a table. No state. */
import type { Request } from "../../actor/request.js";
import { invalid } from "../../document/field-path.js";
import { DbError } from "../../protocol/errors.js";
import { EVALUATION_PAIR_ROWS_MAX, EVALUATION_PAIRS_MAX, QUESTION_CHARACTERS_MAX } from "../../protocol/limits.js";
import { giveWay } from "../../protocol/turns.js";
import { readRows } from "../automl/read-rows.js";
import { sourceOfTable } from "../automl/train-spec.js";
import type { Grades } from "./retrieval-metrics.js";

export interface Pair {
  readonly query: string;
  readonly relevant: Grades;
}

type SentPair = { readonly query: string; readonly relevant: readonly string[] | Readonly<Record<string, number>> };

/** Throws invalid_request that names the pair or the row. */
export async function pairsOf(
  request: Request,
  { pairs, pairs_from: from }: { readonly pairs?: readonly SentPair[]; readonly pairs_from?: string },
): Promise<readonly Pair[]> {
  if ((pairs === undefined) === (from === undefined)) {
    throw invalid(pairs === undefined ? "pairs" : "pairs_from", 'send one of "pairs" and "pairs_from"');
  }
  if (from !== undefined) return pairsFrom(request, from);
  const read: Pair[] = [];
  for (const [i, { query, relevant }] of pairs!.entries()) {
    const grades = Array.isArray(relevant)
      ? new Map((relevant as readonly string[]).map((id) => [id, 1]))
      : new Map(Object.entries(relevant as Record<string, number>));
    if (query.trim() === "") throw invalid(`pairs[${i}].query`, "the question is empty");
    if (![...grades.values()].some((grade) => grade > 0)) {
      throw invalid(`pairs[${i}].relevant`, "no document has a grade above 0, so nothing can be found");
    }
    read.push({ query, relevant: grades });
    await giveWay(request);
  }
  return read;
}

/** At most `most` rows of a table, view or collection. Throws payload_too_large. */
export async function rowsFrom(request: Request, table: string, field: string, most: number) {
  const source = sourceOfTable(request, table);
  const rows = await readRows(request, { ...source, sql: `${source.sql} LIMIT ${most + 1}` });
  if (rows.length > most) {
    throw new DbError("payload_too_large", `${field}: "${table}" has more than ${most} rows. Name a view with fewer.`, {
      field,
    });
  }
  if (rows.length === 0) throw invalid(field, `"${table}" has no rows`);
  return rows;
}

/** Rows with columns query, document_id and perhaps grade; in the order of the questions' texts. */
async function pairsFrom(request: Request, table: string): Promise<readonly Pair[]> {
  const byQuery = new Map<string, Map<string, number>>();
  const rows = await rowsFrom(request, table, "pairs_from", EVALUATION_PAIR_ROWS_MAX);
  for (const [i, { query, document_id: id, grade = 1 }] of rows.entries()) {
    const place = `row ${i + 1} of "${table}"`;
    const isQuestion = typeof query === "string" && query.trim() !== "" && query.length <= QUESTION_CHARACTERS_MAX;
    if (!isQuestion) {
      throw invalid("pairs_from", `${place}: query must be a text of 1 to ${QUESTION_CHARACTERS_MAX} characters`);
    }
    if (id === null || id === undefined || typeof id === "object") {
      throw invalid("pairs_from", `${place}: document_id must be the id of a document`);
    }
    const value = grade === null ? 1 : Number(grade);
    if (!(value >= 0 && value <= 10)) throw invalid("pairs_from", `${place}: grade must be a number from 0 to 10`);
    const grades = byQuery.get(query) ?? new Map<string, number>();
    grades.set(String(id), value);
    byQuery.set(query, grades);
    if (byQuery.size > EVALUATION_PAIRS_MAX) {
      const why = `pairs_from: "${table}" has more than ${EVALUATION_PAIRS_MAX} questions. Name a view with fewer.`;
      throw new DbError("payload_too_large", why, { field: "pairs_from" });
    }
    await giveWay(request);
  }
  const pairs = [...byQuery].map(([query, relevant]) => ({ query, relevant }));
  const empty = pairs.find(({ relevant }) => ![...relevant.values()].some((grade) => grade > 0));
  if (empty !== undefined) {
    throw invalid("pairs_from", `no document of "${empty.query.slice(0, 80)}" has a grade above 0`);
  }
  return pairs.sort((a, b) => (a.query < b.query ? -1 : 1));
}
