/**
 * Questions whose answer is made of another one's: "are there open orders" of their list, "the difference between the
 * highest and the lowest price" of the highest, "cost per hour of each job" of both columns. Called by
 * `compositions.ts`; stateless.
 */
import { isNumber } from "./column-finder.js";
import { type Answer, COMPOSED_MAX, type ComposedAnswer, type SimpleAnswer } from "./composed-answer.js";
import { columnSql } from "./first-of-each.js";
import { isMereDeed } from "./relating-verbs.js";
import { namingColumns } from "./schema-facts.js";

export async function derivedAnswer(text: string, answer: Answer): Promise<ComposedAnswer | null> {
  return (
    (await whetherAny(text, answer)) ??
    (await whetherSomebody(text, answer)) ??
    (await range(text, answer)) ??
    (await differenceOfTwo(text, answer)) ??
    (await ratioOfEach(text, answer)) ??
    (await twoYears(text, answer))
  );
}

const THERE = /^(?:is|are|was|were)\s+there\s+(?:an?\s+|any\s+|some\s+)?(.+?)[?.!\s]*$/i;
const ANY = /^(do|does|did|have|has|is|are|was|were)\s+(?:any|some)(?:\s+of\s+(?:the|our))?\s+(\w+)\s+(.+?)[?.!\s]*$/i;
/** It asks for more than one of them. */
const MANY = /^(?:no|not|more|fewer|less|at|enough|only|exactly|\d+|two|three|four|five|ten)\b/i;

/** "Are there rooms without a window": whether the list of them has a row. */
async function whetherAny(text: string, answer: Answer): Promise<ComposedAnswer | null> {
  const things = THERE.exec(text)?.[1] ?? ofAny(text);
  if (things === null || MANY.test(things)) return null;
  const one = await answer(things);
  if (one === null || one.shape.aggregates.length > 0 || one.shape.limit !== null) return null;
  return { sql: `SELECT EXISTS (${one.sql}) AS answer`, confidence: Math.min(COMPOSED_MAX, one.confidence) };
}

function ofAny(text: string): string | null {
  const [, verb, things, rest] = ANY.exec(text) ?? [];
  if (verb === undefined) return null;
  return /^(?:do|does|did)$/i.test(verb) ? `${things} that ${rest}` : `${things} that ${verb.toLowerCase()} ${rest}`;
}

const SOMEBODY =
  /^(?:did|does|do|has|have|had)\s+(?!(?:any|some|we|you|they|it|all|every|each|no|most|both)\b)(?:the\s+)?(.+?)\s+(\w+)\s+(?:an?|any|some)\s+(\w+(?:\s+\w+)?)(\s+(?:in|on|since|during|before|after|from|between|last|this)\s+.+?)?[?.!\s]*$/i;

/** "Did Ann book any rooms in May": whether there are rows of hers. */
async function whetherSomebody(text: string, answer: Answer): Promise<ComposedAnswer | null> {
  const [, doer, verb, things, time = ""] = SOMEBODY.exec(text) ?? [];
  if (doer === undefined || !(isMereDeed(verb!) || /^(?:have|has|own|owns)$/i.test(verb!))) return null;
  const one = await answer(`${things!} of ${doer}${time}`);
  if (one === null || !isPlainOf(one)) return null;
  return { sql: `SELECT EXISTS (${one.sql}) AS answer`, confidence: Math.min(COMPOSED_MAX, one.confidence) };
}

/** A list of rows of somebody who is named: those of a value of another table. */
function isPlainOf({ shape }: SimpleAnswer): boolean {
  const { aggregates, groups, limit, ranking, having, filters, base } = shape;
  const isList =
    aggregates.length === 0 && groups.length === 0 && limit === null && ranking === null && having === null;
  return isList && filters.some(({ ref, isState }) => isState && ref.table !== base);
}

const DIFFERENCE = /^(?:what\s+is\s+|what's\s+|calculate\s+|show\s+)?(?:the\s+)?difference\s+(?:between|of|in)\s+/i;
const ENDS =
  /^(?:the\s+)?(highest|largest|biggest|greatest|longest|maximum|max|lowest|smallest|shortest|minimum|min)\s+and\s+(?:the\s+)?(highest|largest|biggest|greatest|longest|maximum|max|lowest|smallest|shortest|minimum|min)\s+(.+?)[?.!\s]*$/i;
const IS_HIGH = /^(?:highest|largest|biggest|greatest|longest|maximum|max)$/i;

/** "The difference between the highest and the lowest price". */
async function range(text: string, answer: Answer): Promise<ComposedAnswer | null> {
  const [, one, other, measure] = DIFFERENCE.test(text) ? (ENDS.exec(text.replace(DIFFERENCE, "")) ?? []) : [];
  if (measure === undefined || IS_HIGH.test(one!) === IS_HIGH.test(other!)) return null;
  const highest = await answer(`maximum ${measure}`);
  const { aggregates, order, limit } = highest?.shape ?? {};
  if (highest === null || aggregates?.length !== 1 || aggregates[0]!.fn !== "max") return null;
  if (order !== null || limit !== null) return null;
  const sql = highest.sql.replace(/\bmax\(([^()]+)\) AS [^\s,]+/, "max($1) - min($1) AS difference");
  return sql === highest.sql ? null : { sql, confidence: Math.min(COMPOSED_MAX, highest.confidence) };
}

const OF_TWO =
  /^(?:the\s+)?(.+?)\s+(of|in|for|from|at|on)\s+(?:the\s+)?(.+?)\s+and\s+(?:(?:of|in|for|that\s+of)\s+)?(?:the\s+)?(.+?)[?.!\s]*$/i;

/** "The difference between the budget of Art and Law": two numbers of one thing each. */
async function differenceOfTwo(text: string, answer: Answer): Promise<ComposedAnswer | null> {
  const parts = DIFFERENCE.test(text) ? OF_TWO.exec(text.replace(DIFFERENCE, "")) : null;
  if (parts === null) return null;
  const [, measure, link, first, second] = parts;
  const one = await answer(`${measure} ${link} ${first}`);
  const other = one === null ? null : await answer(`${measure} ${link} ${second}`);
  if (one === null || other === null || !isOneNumber(one) || !isOneNumber(other) || one.sql === other.sql) return null;
  if (one.shape.filters.length !== other.shape.filters.length) return null;
  const sql = `SELECT (${one.sql}) - (${other.sql}) AS difference`;
  return { sql, confidence: Math.min(COMPOSED_MAX, one.confidence, other.confidence) };
}

/** An aggregate of all rows, or the number of the row of that name. */
function isOneNumber({ shape }: SimpleAnswer): boolean {
  const { aggregates, groups, columns, filters, base, ranking, having, ofGroups } = shape;
  if (groups.length > 0 || ranking !== null || having !== null || ofGroups !== null) return false;
  if (aggregates.length > 0) return aggregates.length === 1;
  const [only, other] = columns;
  const isNamed = filters.some(({ ref }) => ref.table === base && namingColumns(base).includes(ref.column));
  return only !== undefined && other === undefined && isNumber(only) && only.table === base && isNamed;
}

const RATIO =
  /^(?:what\s+is\s+|show\s+|list\s+)?(?:the\s+)?(.+?)\s+per\s+(.+?)\s+(?:of|for)\s+(?:each|every)\s+(.+?)[?.!\s]*$/i;

/** "Cost per hour of each job", where both are numbers of jobs. */
async function ratioOfEach(text: string, answer: Answer): Promise<ComposedAnswer | null> {
  const [, measure, unit, things] = RATIO.exec(text) ?? [];
  if (measure === undefined) return null;
  const one = await answer(`${measure} and ${unit} of ${things}`);
  const { base, columns, limit, aggregates } = one?.shape ?? {};
  const [over, under, more] = columns ?? [];
  if (one === null || base === undefined || over === undefined || under === undefined || more !== undefined)
    return null;
  if (![over, under].every((ref) => ref.table === base && isNumber(ref)) || aggregates!.length > 0 || limit !== null)
    return null;
  const keys = base.columns.filter(({ name }) => base.primaryKey.includes(name));
  const names = [...new Set([...keys, ...namingColumns(base)])].map((column) => columnSql({ table: base, column }));
  const ratio = `${columnSql(over)} * 1.0 / nullif(${columnSql(under)}, 0) AS ratio`;
  const sql = `SELECT ${[...names, ratio].join(", ")}${one.sql.slice(one.sql.indexOf(" FROM "))}`;
  return { sql, confidence: Math.min(COMPOSED_MAX, one.confidence) };
}

const YEARS =
  /^(.+?)\s+(?:in|of|for)\s+(\d{4})\s*,?\s+(?:compared\s+(?:to|with)|versus|vs\.?|against)\s+(?:in\s+)?(\d{4})[?.!\s]*$/i;

/** "Number of orders in 2025 compared to 2024": a row for each, as of years that are compared. */
async function twoYears(text: string, answer: Answer): Promise<ComposedAnswer | null> {
  const [, asked, year, before] = YEARS.exec(text) ?? [];
  if (asked === undefined) return null;
  const one = await answer(`${asked} in ${year!}`);
  const other = one === null ? null : await answer(`${asked} in ${before!}`);
  if (one === null || other === null || one.shape.aggregates.length !== 1 || one.sql === other.sql) return null;
  if (!isOneNumber(one) || !isOneNumber(other)) return null;
  const years = `SELECT ${before!}, (${other.sql}) UNION ALL SELECT ${year!}, (${one.sql})`;
  const change = "value - lag(value) OVER (ORDER BY year) AS change";
  const sql = `SELECT year, value, ${change} FROM (${years}) AS years (year, value) ORDER BY year`;
  return { sql, confidence: Math.min(COMPOSED_MAX, one.confidence, other.confidence) };
}
