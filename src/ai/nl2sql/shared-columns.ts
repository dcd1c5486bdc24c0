/**
 * What two tables have in a column of the same name: "cities that have both an orchestra and a hall" are in both,
 * "countries with peaks but no climbers" in one of them only. Called by `compositions.ts`; stateless.
 */
import type { ComposedAnswer } from "./composed-answer.js";
import { fits } from "./named-groups.js";
import type { SchemaFacts, TableFacts } from "./schema-facts.js";
import { identifier } from "./sql-names.js";

const HEAD = String.raw`^(?:(?:which|what|list|show|find|give|name)\s+)?(?:(?:are|is|me)\s+)?(?:the\s+)?(?:different\s+|distinct\s+)?([\p{L}]+)\s+(?:that\s+|which\s+)?(?:has|have|had|with|where\s+there\s+are)\s+`;
const THING = String.raw`(?:an?\s+|any\s+|some\s+)?([\p{L}]+(?:\s[\p{L}]+)?)`;
const BOTH = new RegExp(`${HEAD}both\\s+${THING}\\s+and\\s+${THING}[?.!\\s]*$`, "iu");
const BUT_NO = new RegExp(
  `${HEAD}${THING}\\s+but\\s+(?:no|not\\s+any|without|do\\s+not\\s+have|does\\s+not\\s+have)\\s+${THING}[?.!\\s]*$`,
  "iu",
);
const CONFIDENCE = 0.85;

/** Null: it is no such question, or the tables have no such column. */
export function sharedColumns(text: string, schema: SchemaFacts): ComposedAnswer | null {
  const both = BOTH.exec(text);
  const found = both ?? BUT_NO.exec(text);
  if (found === null) return null;
  const [, what, one, other] = found;
  // Rows of a table that is called so are asked for by their own links.
  if (tableCalled(what!, schema) !== null) return null;
  const [first, second] = [one!, other!].map((thing) => columnOf(thing, what!, schema));
  if (first == null || second == null) return null;
  return { sql: `${first} ${both === null ? "EXCEPT" : "INTERSECT"} ${second}`, confidence: CONFIDENCE };
}

/** The values of the only column of a table that is called so. */
function columnOf(thing: string, what: string, schema: SchemaFacts): string | null {
  const table = tableCalled(thing, schema);
  const [column, other] = table?.columns.filter((each) => !each.isKey && fits(what, each, schema)) ?? [];
  if (table === null || column === undefined || other !== undefined) return null;
  const name = `${table.sqlName}.${identifier(column.name)}`;
  return `SELECT ${name} FROM ${table.sqlName} WHERE ${name} IS NOT NULL`;
}

function tableCalled(thing: string, schema: SchemaFacts): TableFacts | null {
  const [table, other] = schema.tables.filter((each) => fits(thing, each, schema));
  return other === undefined ? (table ?? null) : null;
}
