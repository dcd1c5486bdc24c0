/**
 * Words beside a value that say whose value it is: of "blue eyes" the eyes, where `eye_colour_id` leads to the colours.
 * And words of time that only an end can mean: "currently". Called by `unplaced-words.ts` once the SQL is written;
 * stateless.
 */
import { wordsOfName } from "./bare-names.js";
import { KEY_ENDING, wordScore } from "./name-mentions.js";
import { isVerb, type Question, stemOf } from "./question.js";
import type { LinkFacts, SchemaFacts, TableFacts } from "./schema-facts.js";
import { identifier } from "./sql-names.js";
import { linkCondition } from "./write-query.js";

/** The word itself, or its plural. */
const NAMED = 0.95;
const ENDS = new Set(
  "until till end ended ending left leaving closed returned checkout departed retired expired".split(" ").map(stemOf),
);

/** "Blue eyes", "whose eyes are blue": the key that is read is called so, and its value stands beside the word. */
export function isOfKeyedValue(question: Question, at: number, { links }: SchemaFacts, sql: string): boolean {
  const token = question.at(at)!;
  if (token.isStop || token.isQuoted || token.number !== null) return false;
  const values = [...sql.matchAll(/'((?:[^']|'')*)'/g)].map(([, text]) => text!.toLowerCase().split(/\s+/));
  const after = question.says(at + 1, "is|are|was|were") ? at + 2 : -1;
  const isBeside =
    // "Permanently live in Norway".
    token.lower.endsWith("ly") ||
    // "Which battle lost the most ships", of `lost_in_battle`.
    isVerb(token.lower) ||
    values.some((words) => words.at(-1) === question.lower(at - 1) || words[0] === question.lower(after));
  return links.some(
    (link) => sql.includes(linkCondition(link)) && isRoleOf(link) && (isBeside || isBeforeColumn(link.to)),
  );

  /** "Their current city". */
  function isBeforeColumn({ sqlName, columns }: TableFacts): boolean {
    const next = question.at(at + 1);
    const isIt = (name: string) =>
      sql.includes(`${sqlName}.${identifier(name)}`) &&
      wordsOfName(name).some((word) => wordScore(next!, word) >= NAMED);
    return next !== null && columns.some(({ name }) => isIt(name));
  }

  function isRoleOf({ columns, to }: LinkFacts): boolean {
    const own = wordsOfName(to.name).map(stemOf);
    const roles = columns.flatMap(wordsOfName).filter((word) => !KEY_ENDING.test(word) && !own.includes(stemOf(word)));
    const isIt = (role: string) => wordScore(token, role) >= NAMED || token.lower === `${role}ly`;
    return roles.some(isIt);
  }
}

/** "Currently housed", where rows that are read have an end of which the SQL says nothing. */
export function isOpenNow(question: Question, at: number, tables: readonly TableFacts[], sql: string): boolean {
  if (!question.says(at, "currently|now|presently")) return false;
  return tables.some(({ sqlName, columns }) =>
    columns.some(
      ({ name, kind, nullable }) =>
        nullable &&
        (kind === "date" || kind === "timestamp") &&
        wordsOfName(name).some((word) => ENDS.has(stemOf(word))) &&
        !new RegExp(`\\b${sqlName}\\.${name}\\b`).test(sql),
    ),
  );
}
