/**
 * Questions that are made of simpler ones: "customers who bought both tea and coffee" of two lists, "running total of
 * payments per month" of a total per month, "who spent the most" of customers by a sum. Called by `match-question.ts`,
 * which answers the simpler ones; stateless.
 */
import { nameWords } from "./bare-names.js";
import { wordScore } from "./name-mentions.js";
import type { QueryShape } from "./query-shape.js";
import { stemOf } from "./question.js";
import { type ColumnFacts, endOf, pathBetween, type SchemaFacts, type TableFacts } from "./schema-facts.js";

/** An answer to one of the simpler questions. */
export interface SimpleAnswer {
  readonly sql: string;
  readonly confidence: number;
  readonly shape: QueryShape;
}

export interface ComposedAnswer {
  readonly sql: string;
  readonly confidence: number;
}

/** Null: the question is not understood. */
export type Answer = (text: string) => Promise<SimpleAnswer | null>;

const BOTH = /^(.*?)\bboth\s+(.+?)\s+and\s+(.+?)[?.!\s]*$/i;
const BUT_NOT = /^(.+?),?\s+but\s+(?:never|not|no)\s+(.+?)[?.!\s]*$/i;
/** What is named before "but", in words. */
const NAMED_WORDS_MAX = 3;
const RUNNING = /\b(?:running|cumulative)\s+(?:(total)(?:\s+of)?|(sum)\s+of)?\s*/i;
/** A list of lists, and a sum that no word names, are less sure than what they are made of. */
const COMPOSED_MAX = 0.88;

/** Null: it is no such question, or one of its parts is not understood. */
export async function composedAnswer(
  text: string,
  schema: SchemaFacts,
  answer: Answer,
): Promise<ComposedAnswer | null> {
  return (
    (await ofBoth(text, answer)) ??
    (await butNot(text, answer)) ??
    (await running(text, answer)) ??
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

const MOST =
  /^(?:(who)|which\s+(\w+))\s+(?:has\s+)?(spent|paid(?:\s+us)?|ordered|bought)\s+(?:the\s+)?(most|least)(?:\s+money)?[?.!\s]*$/i;
const EACH =
  /^how\s+much\s+(?:money\s+)?(?:did|does|has|have)\s+(?:each|every)\s+(\w+)\s+(?:spend|spent|pay|paid)(?:\s+in\s+total)?[?.!\s]*$/i;
const BUYERS =
  "customer client buyer shopper guest member user subscriber account passenger patron visitor company".split(" ");
const MONEY = "amount total subtotal paid price fee charge payment revenue spent".split(" ");
/** Not what is paid. */
const OTHER_MONEY = /(?:^|_)(?:due|owed|list|unit|tax|cost|refund|discount)(?:_|$)/i;
const SURE = 0.9;

/** "Who spent the most", "how much did each client pay": sums of the only money that rows of the only buyers have. */
async function spent(text: string, schema: SchemaFacts, answer: Answer): Promise<ComposedAnswer | null> {
  const most = MOST.exec(text);
  const [, each] = EACH.exec(text) ?? [];
  if (most === null && each === undefined) return null;
  // What was bought most may also be counted.
  if (most !== null && /^(?:ordered|bought)$/i.test(most[3]!)) return null;
  const said = each ?? most?.[2];
  const buyers = schema.tables.filter((table) =>
    (said === undefined ? BUYERS : [said]).some((word) => isCalled(schema, table, word)),
  );
  const [buyer, otherBuyer] = buyers;
  if (buyer === undefined || otherBuyer !== undefined) return null;
  const sums = schema.tables.flatMap((table) => (isMany(schema, buyer, table) ? moneyOf(schema, table) : []));
  const [sum, otherSum] = sums;
  if (sum === undefined || otherSum !== undefined) return null;
  const asked =
    each === undefined
      ? `${buyer.name} with the ${most![4]!.toLowerCase() === "most" ? "highest" : "lowest"} total ${sum.name}`
      : `total ${sum.name} per ${buyer.name}`;
  const one = await answer(asked);
  return one === null ? null : { sql: one.sql, confidence: Math.min(COMPOSED_MAX, one.confidence) };
}

function isCalled(schema: SchemaFacts, named: TableFacts | ColumnFacts, word: string): boolean {
  const lower = word.toLowerCase();
  return nameWords(schema, named).bare.some((part) => wordScore({ lower, stem: stemOf(lower) }, part) >= SURE);
}

function isMany(schema: SchemaFacts, buyer: TableFacts, table: TableFacts): boolean {
  const path = table === buyer ? null : pathBetween(schema, buyer, table, new Set());
  return path?.every((step) => step.toMany && endOf(step) !== buyer) === true;
}

function moneyOf(schema: SchemaFacts, table: TableFacts): ColumnFacts[] {
  return table.columns.filter(
    (column) =>
      column.kind === "number" &&
      !column.isKey &&
      !OTHER_MONEY.test(column.name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_")) &&
      MONEY.some((word) => isCalled(schema, column, word)),
  );
}
