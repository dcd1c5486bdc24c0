/**
 * Questions about groups of rows: "the average order value" of the totals of orders, "styles whose average price is
 * above the overall average", "the top 2 beers by revenue in each town". Called by `compositions.ts`; stateless.
 */
import { nameWords } from "./bare-names.js";
import type { Answer, ComposedAnswer, SimpleAnswer } from "./composed-answer.js";
import { columnSql } from "./first-of-each.js";
import { wordScore } from "./name-mentions.js";
import { stemOf } from "./question.js";
import type { SchemaFacts } from "./schema-facts.js";
import { identifier } from "./sql-names.js";
import { NUMBER_WORDS } from "./vocabulary.js";

/** What is made of two queries is less sure than one. */
const NESTED_MAX = 0.85;
const SURE = 0.9;

export async function groupAnswer(text: string, schema: SchemaFacts, answer: Answer): Promise<ComposedAnswer | null> {
  return (
    (await averageOfSums(text, schema, answer)) ??
    (await againstAverage(text, answer)) ??
    (await topOfEach(text, answer))
  );
}

const AVERAGE_VALUE =
  /^(?:what\s+is\s+)?(?:the\s+)?(?:average|mean)\s+(?:(?:value|total|amount|size)\s+(?:of\s+(?:an?|the|all|our)|per|by)\s+(\w+)|(\w+)\s+(?:value|total|amount))(\s+(?:per|by|in|of|for|from|since|this|last)\s+.+?)?[?.!\s]*$/i;

/** "The average order value", where an order's lines hold what it is worth. */
async function averageOfSums(text: string, schema: SchemaFacts, answer: Answer): Promise<ComposedAnswer | null> {
  const match = AVERAGE_VALUE.exec(text);
  const thing = match?.[1] ?? match?.[2];
  // Of "average order value per month" the order is asked for, and the month besides.
  if (thing === undefined || /^\s+(?:per|by)\s/i.test(match![3] ?? "")) return null;
  const table = schema.tables.find((each) => isCalled(schema, each, thing));
  // What holds its own total needs no sum.
  if (
    table === undefined ||
    table.columns.some(({ kind, name, isKey }) => kind === "number" && !isKey && OWN.test(name))
  )
    return null;
  const one = await answer(`total revenue per ${thing}${match![3] ?? ""}`);
  const value = one === null ? null : sumOf(one);
  if (value === null || one!.shape.groups[0]!.kind !== "table") return null;
  if (one!.shape.aggregates[0]!.fn !== "sum") return null;
  const sql = `SELECT avg(${value}) AS average FROM (${one!.sql}) AS sums`;
  return { sql, confidence: Math.min(NESTED_MAX, one!.confidence) };
}

const OWN = /total|amount|value|price|sum/i;

const AGAINST =
  /^(.+?)\s+(?:whose|with\s+an?|that\s+have\s+an?|having\s+an?)\s+(?:(above|below|higher|lower|over|under)[-\s]+(?:than[-\s]+)?average\s+average\s+(.+?)|(average|mean)\s+(.+?)\s+(?:is\s+|was\s+|are\s+|that\s+is\s+)?(above|below|over|under|higher\s+than|lower\s+than|greater\s+than|more\s+than|less\s+than|exceeds)\s+(?:the\s+|that\s+of\s+)?(?:(?:overall|general|total|global)\s+)?(?:average|mean)(?:\s+(?:overall|of\s+all(?:\s+\w+)?|\5))?)[?.!\s]*$/i;

/** "Styles whose average price is above the overall average": averages of groups beside that of all rows. */
async function againstAverage(text: string, answer: Answer): Promise<ComposedAnswer | null> {
  const match = AGAINST.exec(text);
  const measure = match?.[3] ?? match?.[5];
  if (match === null || measure === undefined) return null;
  const one = await answer(`average ${measure} per ${match[1]!.replace(/^(?:which|what|list|show|the|all)\s+/i, "")}`);
  const value = one === null ? null : sumOf(one);
  const aggregate = one?.shape.aggregates[0];
  if (value === null || aggregate?.fn !== "avg" || one!.shape.filters.length > 0) return null;
  const { table } = aggregate.ref;
  const column = columnSql(aggregate.ref);
  const sign = /below|under|lower|less/i.test(match[2] ?? match[6]!) ? "<" : ">";
  const having = `HAVING avg(${column}) ${sign} (SELECT avg(${column}) FROM ${table.sqlName})`;
  const [head, order] = one!.sql.split(/(?= ORDER BY )/);
  return { sql: `${head} ${having}${order ?? ""}`, confidence: Math.min(NESTED_MAX, one!.confidence) };
}

const TOP_OF_EACH =
  /^(?:(?:what|which)\s+are\s+|list\s+|show\s+)?(?:the\s+)?top\s+(\w+)\s+(\w+)\s+by\s+(.+?)\s+(?:in|per|for|of|within|by)\s+(?:each\s+|every\s+)?(\w+)[?.!\s]*$/i;

/** "Top 2 beers by revenue in each town": sums of both, of which the first of each are shown. */
async function topOfEach(text: string, answer: Answer): Promise<ComposedAnswer | null> {
  const [, said, entity, measure, group] = TOP_OF_EACH.exec(text) ?? [];
  if (said === undefined || !/\b(?:each|every|per)\b/i.test(text)) return null;
  const number = NUMBER_WORDS[said.toLowerCase()] ?? Number(said);
  if (!Number.isSafeInteger(number) || number < 1) return null;
  const one = await answer(`${measure} per ${group} and ${entity}`);
  const ranked = one === null ? null : ranking(one, number);
  return ranked === null ? null : { sql: ranked, confidence: Math.min(NESTED_MAX, one!.confidence) };
}

function ranking(one: SimpleAnswer, count: number): string | null {
  const { groups, aggregates, change, ofGroups, limit } = one.shape;
  if (groups.length !== 2 || aggregates.length !== 1 || change !== null || ofGroups !== null || limit !== null)
    return null;
  const names = listNames(one.sql);
  if (names.length < 3) return null;
  // A thing is told by its key, which comes first.
  const by = `PARTITION BY ${names[0]} ORDER BY ${names.at(-1)} DESC`;
  const [grouped] = one.sql.split(/ ORDER BY (?!.*\))/);
  const inner = `SELECT ${names.join(", ")}, row_number() OVER (${by}) AS place FROM (${grouped}) AS sums (${names.join(", ")})`;
  return `SELECT ${names.join(", ")} FROM (${inner}) AS ranked WHERE place <= ${count} ORDER BY ${names[0]}, place`;
}

/** The name of the only aggregate, where nothing else was done with the groups. */
function sumOf({ sql, shape }: SimpleAnswer): string | null {
  const { groups, aggregates, change, ofGroups, limit, having, havingValue } = shape;
  if (groups.length !== 1 || aggregates.length !== 1 || change !== null || ofGroups !== null) return null;
  if (limit !== null || having !== null || havingValue !== null) return null;
  return listNames(sql).at(-1) ?? null;
}

/** Names for the columns of a query, each once: those that it gives them, or the columns' own. */
function listNames(sql: string): string[] {
  const list = sql.slice("SELECT ".length, sql.indexOf(" FROM "));
  const names: string[] = [];
  for (const part of list.split(/, (?![^(]*\))/)) {
    const [, quoted, plain] = /(?:"([^"]+)"|([\p{L}\p{N}_]+))$/u.exec(part) ?? [];
    const name = quoted ?? plain ?? "value";
    let unique = name;
    for (let i = 2; names.includes(identifier(unique)); i++) unique = `${name}_${i}`;
    names.push(identifier(unique));
  }
  return names;
}

function isCalled(schema: SchemaFacts, table: SchemaFacts["tables"][number], word: string): boolean {
  const lower = word.toLowerCase();
  const last = nameWords(schema, table).bare.at(-1)!;
  return wordScore({ lower, stem: stemOf(lower) }, last) >= SURE;
}
