/**
 * Verbs that say no more than that two things belong together: "the airline that operates the A220", "wards that Boyle
 * represents", "courses taught by Ada". Called by read-question.ts once all else is read; stateless.
 */
import { nameWords } from "./bare-names.js";
import type { ColumnFinder } from "./column-finder.js";
import { type NameMentions, wordScore } from "./name-mentions.js";
import { type Question, stemOf } from "./question.js";
import { endOf, pathBetween, type SchemaFacts, type TableFacts } from "./schema-facts.js";
import type { ValueMention } from "./value-mentions.js";

const VERBS = new Set(
  (
    "operate run own manage lead led represent handle serve use sell sold produce make made host hold held cover teach taught " +
    "write wrote written submit file play support treat supply provide employ drive drove driven fly flew flown supervise mentor " +
    "coach direct organise organize sponsor fund grow grew grown stock carry buy bought purchase order book reserve contain " +
    "score release publish record attend visit perform receive get got take took upload post share create add file log register " +
    "join rent lease hire sign stream watch listen download view process review borrow inspect repair service host donate give " +
    "gave contribute send sent complete win won earn assign conduct enroll"
  )
    .split(" ")
    .map(stemOf),
);
/** By its stem. */
export const relates = (stem: string) => VERBS.has(stem);
/** A synonym, or better. */
const MEANING = 0.6;

export function relatingVerbs(
  question: Question,
  schema: SchemaFacts,
  names: NameMentions,
  values: readonly ValueMention[],
  columns: ColumnFinder,
  related: { table: TableFacts; exists: boolean }[],
): void {
  const things = [
    ...names.tables.map(({ from, to, table }) => ({ from, to, table })),
    ...values.map(({ from, to, hits }) => ({ from, to, table: hits.length === 1 ? hits[0]!.ref.table : null })),
  ];
  question.tokens.forEach(({ stem, isQuoted }, at) => {
    if (question.isUsed(at) || isQuoted || !relates(stem)) return;
    const thing = thingOf(at);
    if (thing === null || !isOnTheWay(at, thing)) return;
    question.use(at);
    columns.doubt();
    const behind = things.find(({ from, table }) => from > at && from <= at + 2 && table === thing);
    if (behind === undefined || question.isUsed(behind.from) || thing === columns.base) return;
    question.use(behind.from, behind.to);
    related.push({ table: thing, exists: true });
  });

  /** What the row that is asked for belongs to by the verb; null: it has another place in the sentence. */
  function thingOf(at: number): TableFacts | null {
    const before = things.find(({ to }) => to === (question.says(at - 1, "was|were") ? at - 1 : at));
    let next = at + 1;
    while (question.says(next, "a|an|any|the|some|by|people|those|someone|somebody|who|from|in|living|live")) next++;
    const after = things.find(({ from }) => from === next);
    const isPassive = question.says(at + 1, "by");
    if (question.says(at - 1, "who|that|which") || (before !== undefined && isPassive)) return after?.table ?? null;
    if (before === undefined) return null;
    // "How many goals were scored in …".
    if (question.says(at - 1, "was|were|is|are") && question.says(0, "how", "many")) return before.table;
    const isAsked = question.tokens
      .slice(0, before.from)
      .some(({ lower }) => /^(?:do|does|did|that|which|no)$/.test(lower));
    if (!isAsked) return null;
    return after?.table ?? (next === question.tokens.length ? before.table : null);
  }

  /** What the verb names in the schema, if anything, must lie between the two. */
  function isOnTheWay(at: number, thing: TableFacts): boolean {
    const { base } = columns;
    const path = thing === base ? [] : pathBetween(schema, base!, thing, columns.named);
    if (path === null) return false;
    const met = new Set([base, thing, ...path.map(endOf)]);
    const fits = (named: TableFacts | TableFacts["columns"][number]) =>
      nameWords(schema, named).bare.some((part) => wordScore(question.at(at)!, part) >= MEANING);
    return schema.tables.every((table) => met.has(table) || ![table, ...table.columns].some(fits));
  }
}
