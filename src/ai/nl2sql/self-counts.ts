/**
 * Rows that others of their own table refer to: "how many employees does each manager have", "which mentor has the most
 * trainees", "subcategories of Electronics", "top level categories". Called by `compositions.ts`; stateless.
 */
import { nameWords, wordsOfName } from "./bare-names.js";
import { type Answer, COMPOSED_MAX, type ComposedAnswer } from "./composed-answer.js";
import { KEY_ENDING, wordScore } from "./name-mentions.js";
import { stemOf } from "./question.js";
import { type LinkFacts, namingColumns, type SchemaFacts } from "./schema-facts.js";
import { identifier } from "./sql-names.js";
import { NUMBER_WORDS } from "./vocabulary.js";

/** The word itself, its plural, or what is short for it. */
const CALLED = 0.9;
const END = String.raw`[?.!\s]*$`;
const HAS = "has|have|had|manages?|leads?|supervises?|mentors?|coaches|trains?";
const EACH = new RegExp(
  String.raw`^how\s+many\s+(.+?)\s+(?:does|do|did)\s+(?:each|every)\s+(\w+)\s+(?:${HAS})${END}`,
  "i",
);
const PER = new RegExp(
  String.raw`^(?:(?:the\s+)?(?:number|count)\s+of\s+|how\s+many\s+)?(.+?)\s+(?:per|by|(?:for|of|under)\s+(?:each|every)|(?:are|work)\s+(?:there\s+)?(?:per|under\s+(?:each|every)))\s+(\w+)${END}`,
  "i",
);
const MOST = new RegExp(
  String.raw`^(?:(?:which|what)\s+)?(?:the\s+)?(\w+)\s+(?:with|${HAS})\s+the\s+(most|fewest|least)\s+(.+?)${END}`,
  "i",
);
const MORE = new RegExp(
  String.raw`^(?:which\s+)?(\w+)\s+(?:who\s+|that\s+|which\s+)?(?:with|having|${HAS})\s+(more than|fewer than|less than|at least|exactly)\s+(\w+)\s+(.+?)${END}`,
  "i",
);
const UNDER = new RegExp(
  String.raw`^(?:list\s+|show\s+)?(?:all\s+)?(?:the\s+)?sub-?\s?(\w+)\s+(?:of|in|under)\s+(.+?)${END}`,
  "i",
);
const TOP = new RegExp(
  String.raw`^(?:list\s+|show\s+)?(?:all\s+)?(?:the\s+)?(?:top|root)[-\s](?:level\s+)?(\w+)${END}`,
  "i",
);
const OF_ONE = new RegExp(
  String.raw`^(?:who\s+(?:is|was)\s+|what\s+is\s+|which\s+is\s+)?(?:the\s+)?(\w+)\s+of\s+(?:the\s+)?(.+?)${END}`,
  "i",
);
const OWNED = new RegExp(String.raw`^(?:who\s+(?:is|was)\s+|what\s+is\s+)?(.+?)['’]s\s+(\w+)${END}`, "i");
const COMPARED: Readonly<Record<string, string>> = {
  "more than": ">",
  "fewer than": "<",
  "less than": "<",
  "at least": ">=",
  exactly: "=",
};
/** What stands above others of its kind. */
const ABOVE = /^(?:parent|super|superior|main|root|upper)$/;

/** Null: it is no such question. */
export async function selfAnswer(text: string, schema: SchemaFacts, answer: Answer): Promise<ComposedAnswer | null> {
  const each = EACH.exec(text) ?? PER.exec(text);
  const counts = (things: string, role: string, tail: (count: string, by: string) => string) => {
    const link = linkOf(schema, things, role);
    return link === null ? null : counted(link, tail);
  };
  if (each !== null) return counts(each[1]!, each[2]!, (_, by) => `ORDER BY ${by}`);
  const most = MOST.exec(text);
  if (most !== null) {
    const [, role, end, things] = most;
    const order = end!.toLowerCase() === "most" ? " DESC" : "";
    return counts(things!, role!, (count) => `ORDER BY ${count}${order} LIMIT 1`);
  }
  const [, role, comparison, said, things] = MORE.exec(text) ?? [];
  const number =
    said === undefined ? null : /^\d+$/.test(said) ? Number(said) : (NUMBER_WORDS[said.toLowerCase()] ?? null);
  if (role !== undefined && number !== null) {
    const sign = COMPARED[comparison!.toLowerCase()]!;
    return counts(things!, role, (count, by) => `HAVING ${count} ${sign} ${number} ORDER BY ${by}`);
  }
  return (await ofTree(text, schema, answer)) ?? ofOne(text, schema, answer);
}

/** "The mentor of Ada", "Ada's manager". */
async function ofOne(text: string, schema: SchemaFacts, answer: Answer): Promise<ComposedAnswer | null> {
  const [, role, value] = OF_ONE.exec(text) ?? [];
  const [, owner, called] = role === undefined ? (OWNED.exec(text) ?? []) : [];
  const word = role ?? called;
  const found = word === undefined ? [] : schema.selfLinks.filter((link) => fits(word, roleOf(link) ?? ""));
  const [link, other] = found;
  if (link === undefined || other !== undefined) return null;
  const { sqlName, name } = link.from;
  const one = await answer(`${name} ${value ?? owner}`);
  const head = `SELECT ${sqlName}.* FROM ${sqlName} WHERE `;
  if (one === null || !one.sql.startsWith(head) || !one.shape.filters.some(({ isState }) => isState === true))
    return null;
  const key = `${sqlName}.${identifier(link.columns[0]!)}`;
  const rows = `SELECT ${key} FROM ${sqlName} WHERE ${one.sql.slice(head.length)}`;
  const sql = `SELECT ${sqlName}.* FROM ${sqlName} WHERE ${sqlName}.${identifier(link.references[0]!)} IN (${rows})`;
  return { sql, confidence: Math.min(COMPOSED_MAX, one.confidence) };
}

/** "Subcategories of Electronics" have it as their parent; "top level categories" have none. */
async function ofTree(text: string, schema: SchemaFacts, answer: Answer): Promise<ComposedAnswer | null> {
  const [, under, value] = UNDER.exec(text) ?? [];
  const [, top] = TOP.exec(text) ?? [];
  const link = under === undefined && top === undefined ? null : treeOf(schema, (under ?? top)!);
  if (link === null) return null;
  const parent = roleOf(link)!;
  const one = await answer(under === undefined ? `${top} without a ${parent}` : `${under} whose ${parent} is ${value}`);
  const isMeant = one?.sql.includes(`${link.from.sqlName}.${identifier(link.columns[0]!)} I`) === true;
  return isMeant ? { sql: one.sql, confidence: Math.min(COMPOSED_MAX, one.confidence) } : null;
}

const fits = (word: string, part: string) =>
  wordScore({ lower: word.toLowerCase(), stem: stemOf(word) }, part) >= CALLED;

/** `manager` of `manager_id`, `parent` of `parent_category_id`. */
function roleOf({ columns, from }: LinkFacts): string | null {
  if (columns.length !== 1) return null;
  const own = wordsOfName(from.name);
  const words = wordsOfName(columns[0]!).filter((word) => !KEY_ENDING.test(word));
  const [role, more] = words.filter((word) => !own.some((part) => fits(word, part)));
  return role === undefined || more !== undefined ? null : role;
}

/** The only key to their own table of rows that are called `things`, where it calls what it refers to `role`. */
function linkOf(schema: SchemaFacts, things: string, role: string): LinkFacts | null {
  const under = things.replace(/^sub-?\s?/i, "");
  const isUnder = under !== things;
  const found = schema.selfLinks.filter((link) => {
    const above = roleOf(link);
    const own = nameWords(schema, link.from).bare;
    if (above === null || own.length !== 1) return false;
    const isRole = fits(role, above) || (isUnder && ABOVE.test(above) && fits(role, own[0]!));
    return isRole && (fits(under, own[0]!) || /^(?:direct reports|subordinates|reports)$/i.test(things));
  });
  const isOther = schema.tables.some((table) => nameWords(schema, table).bare.some((word) => fits(role, word)));
  return found.length === 1 && (isUnder || !isOther) ? found[0]! : null;
}

/** The only key of rows of that name to those above them. */
function treeOf(schema: SchemaFacts, things: string): LinkFacts | null {
  const found = schema.selfLinks.filter((link) => {
    const above = roleOf(link);
    return above !== null && ABOVE.test(above) && nameWords(schema, link.from).bare.some((word) => fits(things, word));
  });
  return found.length === 1 ? found[0]! : null;
}

function counted(link: LinkFacts, tail: (count: string, by: string) => string): ComposedAnswer | null {
  const { from, columns, references } = link;
  const role = roleOf(link)!;
  const alias = identifier(role === from.name ? `${role}_above` : role);
  const key = `${alias}.${identifier(references[0]!)}`;
  const names = namingColumns(from)
    .map(({ name }) => `${alias}.${identifier(name)}`)
    .filter((name) => name !== key);
  const by = [key, ...names].join(", ");
  const on = `${from.sqlName}.${identifier(columns[0]!)} = ${key}`;
  const rows = `FROM ${from.sqlName} JOIN ${from.sqlName} AS ${alias} ON ${on}`;
  const sql = `SELECT ${by}, count(*) AS count ${rows} GROUP BY ${by} ${tail("count(*)", key)}`;
  return { sql, confidence: COMPOSED_MAX };
}
