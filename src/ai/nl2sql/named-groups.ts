/**
 * Groups with columns beside what is measured: "show the name and the capacity of each hall and the number of concerts
 * in each", "for each ship, its name and the average speed of its voyages". The measure is asked for per group, and the
 * columns of the group's own row are shown with it. Called by `compositions.ts`; stateless.
 */
import { nameWords } from "./bare-names.js";
import { type Answer, COMPOSED_MAX, type ComposedAnswer } from "./composed-answer.js";
import { wordScore } from "./name-mentions.js";
import { Question } from "./question.js";
import { type ColumnFacts, type ColumnRef, namingColumns, type SchemaFacts, type TableFacts } from "./schema-facts.js";
import { writeQuery } from "./write-query.js";

const SHOW = String.raw`(?:(?:show|list|find|return|give|report|display|what\s+(?:is|are))\s+)?(?:me\s+)?(?:the\s+)?`;
const MEASURE = String.raw`(?:the\s+|their\s+|its\s+)?((?:total\s+)?(?:number|count)\s+of\s+.+?|(?:average|mean|total|maximum|max|minimum|min)\s+.+?)`;
const AND = String.raw`\s*,?\s+(?:and|along\s+with|together\s+with|as\s+well\s+as)\s+`;
const EACH = String.raw`\s+(?:of|in|for|at|by|on|from|per)\s+(?:each|every)\s+(.+?)[?.!\s]*$`;
/** "Show the hall names and the number of concerts in each hall". */
const LAST = new RegExp(`^${SHOW}(.+?)${AND}${MEASURE}${EACH}`, "i");
/** "For each hall, show its name and the number of concerts". */
const FIRST = new RegExp(
  `^for\\s+(?:each|every)\\s+(.+?),?\\s+${SHOW}(?:its\\s+|their\\s+)?(.+?)${AND}${MEASURE}[?.!\\s]*$`,
  "i",
);
/** "Find the name of each hall and the number of concerts there". */
const NAMED = new RegExp(
  `^${SHOW}(.+?)\\s+(?:of|for)\\s+(?:each|every)\\s+(.+?)${AND}${MEASURE}(?:\\s+(?:held\\s+)?(?:there|in\\s+it))?[?.!\\s]*$`,
  "i",
);
const FITS = 0.94;

/** Null: it is no such question, or something that is to be shown is no column of the group. */
export async function namedGroups(text: string, schema: SchemaFacts, answer: Answer): Promise<ComposedAnswer | null> {
  const parts = partsOf(text);
  if (parts === null) return null;
  const one = await answer(`${parts.measure} per ${parts.group}`);
  const [group, other] = one?.shape.groups ?? [];
  if (one === null || group === undefined || other !== undefined || group.kind === "time") return null;
  if (one.shape.columns.length > 0 || one.shape.limit !== null) return null;
  const columns: ColumnRef[] = [];
  for (const item of itemsOf(parts.shown)) {
    const found = group.kind === "table" ? columnsOf(item, group.table, schema) : sameColumn(item, group.ref, schema);
    if (found === null) return null;
    columns.push(...found);
  }
  const sql = writeQuery({ ...one.shape, columns }, schema);
  return sql === null ? null : { sql, confidence: Math.min(COMPOSED_MAX, one.confidence) };
}

interface Parts {
  readonly shown: string;
  readonly measure: string;
  readonly group: string;
}

function partsOf(text: string): Parts | null {
  const first = FIRST.exec(text);
  if (first !== null) return { group: first[1]!, shown: first[2]!, measure: first[3]! };
  const named = NAMED.exec(text);
  if (named !== null) return { shown: named[1]!, group: named[2]!, measure: named[3]! };
  const last = LAST.exec(text);
  return last === null ? null : { shown: last[1]!, measure: last[2]!, group: last[3]! };
}

/** "Names and themes of all concerts": names, themes. */
function itemsOf(shown: string): string[] {
  return shown
    .replace(/\s+(?:of|for|in)\s+(?:all\s+|each\s+|every\s+)?(?:the\s+)?\w+$/i, "")
    .split(/\s*,\s*(?:and\s+)?|\s+and\s+/i)
    .map((item) => item.replace(/^(?:(?:all|the|their|its|different|distinct)\s+)+/i, ""));
}

/** What a group's row is asked for; empty: the row itself, which is shown anyway. Null: it has nothing of that name. */
function columnsOf(item: string, table: TableFacts, schema: SchemaFacts): ColumnRef[] | null {
  const { tokens } = new Question(item);
  if (fits(item, table, schema)) return [];
  const own = tokens.length > 1 && fits(tokens[0]!.text, table, schema) ? item.slice(tokens[1]!.start) : item;
  const ref = (column: ColumnFacts) => ({ table, column });
  if (/^names?$/i.test(own)) return namingColumns(table).map(ref);
  if (/^ids?$/i.test(own)) return table.columns.filter(({ name }) => table.primaryKey.includes(name)).map(ref);
  const [column, other] = table.columns.filter((each) => fits(item, each, schema) || fits(own, each, schema));
  return column === undefined || other !== undefined ? null : [ref(column)];
}

const sameColumn = (item: string, { column }: ColumnRef, schema: SchemaFacts) =>
  fits(item, column, schema) ? [] : null;

/** All words of the name, one after the other. */
export function fits(said: string, named: TableFacts | ColumnFacts, schema: SchemaFacts): boolean {
  const { tokens } = new Question(said);
  const { all, bare } = nameWords(schema, named);
  return [all, bare].some(
    (words) => words.length === tokens.length && words.every((word, i) => wordScore(tokens[i]!, word) >= FITS),
  );
}
