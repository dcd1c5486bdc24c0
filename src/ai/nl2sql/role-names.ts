/**
 * Persons and things that are named by what a key calls them: "sellers with at least 10 listings" are members that
 * `seller_id` of listings refers to. Called by `other-wordings.ts`; stateless.
 */
import { nameWords, wordsOfName } from "./bare-names.js";
import type { Answer, SimpleAnswer } from "./composed-answer.js";
import { KEY_ENDING, wordScore } from "./name-mentions.js";
import { Question, stemOf } from "./question.js";
import type { ColumnFacts, LinkFacts, SchemaFacts, TableFacts } from "./schema-facts.js";
import { linkCondition } from "./write-query.js";

/** The word itself, or its plural. */
const CALLED = 0.95;
const ASKED = /^(?:each|every|per|which)$/;

/** The question with the table's name in place of the role's; null: no role is named, several are, or it means more. */
export async function ofRoleNames(text: string, schema: SchemaFacts, answer: Answer): Promise<SimpleAnswer | null> {
  const { tokens } = new Question(text);
  const found = schema.links.flatMap((link) => {
    const words = roleOf(link, schema);
    const isSaid = (at: number) =>
      words.every((word, i) => tokens[at + i]?.isQuoted === false && wordScore(tokens[at + i]!, word) >= CALLED);
    // "Won by the home team" says more than whose it is.
    const isAsked = (at: number) => words.length === 1 || at === 0 || ASKED.test(tokens[at - 1]!.lower);
    const at = words.length === 0 ? -1 : tokens.findIndex((_, i) => isSaid(i) && isAsked(i));
    return at < 0 ? [] : [{ link, start: tokens[at]!.start, end: tokens[at + words.length - 1]!.end }];
  });
  const [only, other] = found;
  if (only === undefined || other !== undefined) return null;
  const { link, start, end } = only;
  const isRival = (each: LinkFacts) => each !== link && each.from === link.from && each.to === link.to;
  const meant = { ...schema, links: schema.links.filter((each) => !isRival(each)), meant: link };
  const named = text.slice(0, start) + link.to.name + text.slice(end);
  const one = await answer(named, meant);
  if (one?.sql.includes(linkCondition(link)) === true) return one;
  // "Sellers from Ireland" have sold something.
  const some = await answer(`${named.replace(/[?.!\s]*$/, "")} with a ${link.from.name}`, meant);
  return some?.sql.includes(linkCondition(link)) === true ? some : null;
}

/** `seller` of `seller_id`, `support rep` of `support_rep_id`, where nothing else is called so; empty: no role. */
function roleOf({ columns, from }: LinkFacts, schema: SchemaFacts): readonly string[] {
  const all = columns.length === 1 ? wordsOfName(columns[0]!) : [];
  const words = KEY_ENDING.test(all.at(-1) ?? "") ? all.slice(0, -1) : [];
  const isCalledSo = (named: Parameters<typeof nameWords>[1]) =>
    nameWords(schema, named).bare.some(
      (word) => wordScore({ lower: words[0]!, stem: stemOf(words[0]!) }, word) >= CALLED,
    );
  const isOther = (table: TableFacts, { name }: ColumnFacts) => table !== from || name !== columns[0];
  const isNamed = () =>
    schema.tables.some(
      (table) => isCalledSo(table) || table.columns.some((column) => isOther(table, column) && isCalledSo(column)),
    );
  return words.length === 0 || words.length > 2 || (words.length === 1 && isNamed()) ? [] : words;
}
