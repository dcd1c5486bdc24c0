/**
 * Questions that are made of simpler ones: "customers who bought both tea and coffee" of two lists, "running total of
 * payments per month" of a total per month, "who spent the most" of customers by a sum. Called by `match-question.ts`,
 * which answers the simpler ones; stateless.
 */
import { type Answer, COMPOSED_MAX, type ComposedAnswer, type SimpleAnswer } from "./composed-answer.js";
import { derivedAnswer } from "./derived-answers.js";
import { groupAnswer } from "./group-questions.js";
import { moreInTotal, spent } from "./money-questions.js";
import { namedGroups } from "./named-groups.js";
import type { QueryShape } from "./query-shape.js";
import type { SchemaFacts } from "./schema-facts.js";
import { selfAnswer } from "./self-counts.js";
import { sharedColumns } from "./shared-columns.js";

const BOTH = /^(.*?)\bboth\s+(.+?)\s+and\s+(.+?)[?.!\s]*$/i;
const BUT_NOT = /^(.+?),?\s+but\s+(?:never|not|no)\s+(.+?)[?.!\s]*$/i;
/** What is named before "but", in words. */
const NAMED_WORDS_MAX = 3;
const RUNNING = /\b(?:running|cumulative)\s+(?:(total)(?:\s+of)?|(sum)\s+of)?\s*/i;

/** Null: it is no such question, or one of its parts is not understood. */
export async function composedAnswer(
  text: string,
  schema: SchemaFacts,
  answer: Answer,
): Promise<ComposedAnswer | null> {
  return (
    sharedColumns(text, schema) ??
    (await namedGroups(text, schema, answer)) ??
    (await ofBoth(text, answer)) ??
    (await butNot(text, answer)) ??
    (await running(text, answer)) ??
    (await selfAnswer(text, schema, answer)) ??
    (await groupAnswer(text, schema, answer)) ??
    (await derivedAnswer(text, answer)) ??
    (await moreInTotal(text, schema, answer)) ??
    (await spent(text, schema, answer))
  );
}

async function ofBoth(text: string, answer: Answer): Promise<ComposedAnswer | null> {
  const [, before, first, second] = BOTH.exec(text) ?? [];
  if (before === undefined) return null;
  const one = await answer(before + first!);
  const other = one === null ? null : await answer(before + second!);
  return one === null || other === null ? null : joined(one, other, false);
}

/** "Guests who booked a suite but never a tent": the words before "but" name what the others are compared with. */
async function butNot(text: string, answer: Answer): Promise<ComposedAnswer | null> {
  const [, before, denied] = BUT_NOT.exec(text) ?? [];
  if (before === undefined) return null;
  const one = await answer(before);
  if (one === null) return null;
  const words = before.split(/\s+/);
  for (let named = 1; named <= Math.min(NAMED_WORDS_MAX, words.length - 2); named++) {
    const other = await answer([...words.slice(0, -named), denied!].join(" "));
    const both = other === null ? null : joined(one, other, true);
    if (both !== null) return both;
  }
  return null;
}

/** Rows of one list that are in the other too, or not. */
function joined(one: SimpleAnswer, other: SimpleAnswer, isDenied: boolean): ComposedAnswer | null {
  if (!isPlainList(one.shape) || !isPlainList(other.shape) || one.sql === other.sql) return null;
  const [head, condition] = parted(one.sql);
  const [otherHead, otherCondition] = parted(other.sql);
  if (head !== otherHead || condition === null || otherCondition === null) return null;
  const confidence = Math.min(COMPOSED_MAX, one.confidence, other.confidence);
  const isOfMany = condition.includes("EXISTS (") && otherCondition.startsWith("EXISTS (");
  if (isOfMany) return { sql: `${one.sql} AND ${isDenied ? "NOT " : ""}(${otherCondition})`, confidence };
  // What is shown has many of the rows that the conditions are about.
  if (!one.shape.isDistinct || one.shape.columns.some(({ table }) => table === one.shape.base)) return null;
  return { sql: `${one.sql} ${isDenied ? "EXCEPT" : "INTERSECT"} ${other.sql}`, confidence };
}

function isPlainList({
  aggregates,
  groups,
  having,
  havingValue,
  ranking,
  order,
  firstOfEach,
  limit,
}: QueryShape): boolean {
  const single = [having, havingValue, ranking, order, firstOfEach, limit];
  return aggregates.length === 0 && groups.length === 0 && single.every((part) => part === null);
}

function parted(sql: string): readonly [head: string, condition: string | null] {
  const at = sql.indexOf(" WHERE ");
  return at < 0 ? [sql, null] : [sql.slice(0, at), sql.slice(at + " WHERE ".length)];
}

/** "Cumulative orders by month". */
async function running(text: string, answer: Answer): Promise<ComposedAnswer | null> {
  if (!RUNNING.test(text)) return null;
  const one = await answer(text.replace(RUNNING, (_, total) => (total === undefined ? "" : "total ")));
  if (one === null) return null;
  const { groups, aggregates, change, ofGroups, limit, order } = one.shape;
  const [value, another] = aggregates;
  const isOfTime = groups.length === 1 && groups[0]!.kind === "time" && !/hour of|weekday/.test(groups[0]!.unit);
  const isAdded = another === undefined && (value?.fn === "sum" || (value?.fn === "count" && value.distinct === null));
  if (!isOfTime || !isAdded || change !== null || ofGroups !== null || limit !== null || order !== null) return null;
  const sum = "sum(value) OVER (ORDER BY period)";
  const sql = `SELECT period, value, ${sum} AS running_total FROM (${one.sql}) AS periods (period, value) ORDER BY period`;
  return { sql, confidence: Math.min(COMPOSED_MAX, one.confidence) };
}
