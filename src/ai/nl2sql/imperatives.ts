/**
 * Tells an order to change something from a question. Generated SQL only reads, so an order would be answered with
 * rows that nobody asked for. Called by the handler of /v1/nl2sql/query.
 */
import { DbError } from "../../protocol/errors.js";
import type { SchemaFacts } from "./schema-facts.js";

const POLITE = /^(?:(?:please|kindly|now|(?:can|could|would|will) you)[\s,]+)*/i;
const ORDER =
  /^(delete|remove|drop|truncate|insert|update|upsert|create|alter|grant|revoke|rename|replace|merge|erase|purge|wipe|destroy)\s+\S/i;
/** Orders that nothing be changed for. */
const MADE_OF_ROWS = /^create\s+(?:me\s+)?(?:an?\s+|the\s+)?(?:list|report|overview|summary|breakdown|chart)\b/i;

/** Throws question_not_understood for what begins with an order and not with the name of a table or column. */
export function requireReading(question: string, { tables }: SchemaFacts): void {
  const said = question.trim().replace(POLITE, "");
  const order = ORDER.exec(said)?.[1];
  if (order === undefined || MADE_OF_ROWS.test(said)) return;
  const words = `${wordsOf(said)}_`;
  const begins = (name: string) => words.startsWith(`${wordsOf(name)}_`);
  if (tables.some(({ name, columns }) => begins(name) || columns.some((column) => begins(column.name)))) return;
  throw new DbError(
    "question_not_understood",
    `Only questions that read data are supported, not requests that begin with "${order}".`,
    { not_understood: [order], hint: "Send a statement that writes to POST /v1/query/execute." },
  );
}

/** In lower case and one number: names are written as column_name, in questions as column names. */
function wordsOf(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => word.replace(/s$/, "")).join("_");
}
