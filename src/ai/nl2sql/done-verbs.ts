/** Verbs of what was done, or not, by the times of rows. Called by read-question.ts once other words are read. */
import { wordsOfName } from "./bare-names.js";
import { anyKind, type ColumnFinder, isNumber, isTime } from "./column-finder.js";
import type { ColumnMention, NameMentions } from "./name-mentions.js";
import { isNegated } from "./phrases.js";
import type { Filter } from "./query-shape.js";
import { isVerb, type Question, stemOf } from "./question.js";
import type { TableFacts } from "./schema-facts.js";

/** What has become of a thing: a column would say it. */
export const DENIES =
  /^(?:cancell?(?:ed)?|paid|pay|lost|lose|won|win|(?:return|reject|confirm|finish|pass|fail)(?:ed)?|(?:approv|complet|clos|resolv|expir|updat|chang|delet|activat)ed?|verif(?:y|ied))$/;
/** What people do with anything. */
export const GENERAL_DEED =
  /^(?:uses?|used|using|chose|chosen|picked|has|wants?|wanted|needs?|needed|bought|ordered|booked)$/;

/** "hired", "not shipped": what has happened has a time or number; what has not is asked of its own table only. */
export function doneVerbs(question: Question, names: NameMentions, columns: ColumnFinder, filters: Filter[]): void {
  if (question.says(0, "when")) return;
  for (const mention of names.columns) {
    // "The amount paid" is that of what was paid, though "paid" tells whose amount.
    const isOfMeasure = names.columns.some(
      ({ to, candidates }) => to === mention.from && question.isUsed(to - 1) && isNumber(candidates[0]!.ref),
    );
    const isOfRows = names.tables.some(({ from, table }) => from === mention.from && table === columns.base);
    if (question.isUsed(mention.from) && !(isOfMeasure && isOfRows)) continue;
    // "That are not behoben": what stands behind "are not" is done, in whatever language.
    const isDenied = question.says(mention.from - 2, "is|are|was|were", "not") && mention.candidates[0]!.score >= 0.95;
    if (!isVerb(question.lower(mention.from)) && !isDenied) continue;
    const ref = columns.resolve(mention, (each) => each.table === columns.base);
    const fit = mention.candidates.find((each) => each.ref.column === ref?.column)?.score ?? 0;
    if (ref === null && undoneOfMany(question, names, columns, filters, mention)) continue;
    if (ref === null || !(isTime(ref) || (isNumber(ref) && fit < 0.95))) continue;
    const isAbsent = isNegated(question, mention.from, 2);
    // "Items that were never sold" may have a `sale_price` all the same.
    if (isNumber(ref) && isAbsent && question.says(mention.from - 1, "never")) continue;
    // "Trips ended" may ask for the time, "how many trips were ended" does not.
    const isBeforeRows = names.tables.some(({ from, table }) => from === mention.to && table === columns.base);
    // "Shipped to Germany", of `ship_country`, says where to.
    const verb = question.at(mention.from)!;
    const isWhere = filters.some(
      ({ ref: other, isState }) =>
        isState === true && wordsOfName(other.column.name).some((word) => stemOf(word) === verb.stem),
    );
    if (isWhere && question.says(mention.to, "to|from|in|by|via")) {
      question.use(mention.from, mention.to);
      continue;
    }
    const isDone =
      isBeforeRows ||
      isOfMeasure ||
      (question.says(mention.from - 1, "was|were|been") && question.says(0, "how", "many"));
    if (fit >= 0.95 && !isAbsent && !isDone) continue;
    if (isAbsent || (isTime(ref) && ref.column.nullable)) {
      filters.push({ ref, sql: (column) => `${column} IS ${isAbsent ? "" : "NOT "}NULL` });
    }
    question.use(mention.from, mention.to);
  }
}

/** "Clients with unpaid invoices": what those have no time of. */
function undoneOfMany(
  question: Question,
  names: NameMentions,
  columns: ColumnFinder,
  filters: Filter[],
  mention: ColumnMention,
): boolean {
  const noun = names.tables.find(({ from }) => from === mention.to);
  if (question.at(mention.from - 1)?.isPrefix !== true || noun === undefined) return false;
  const ref = columns.resolve(mention, (each) => each.table === noun.table && isTime(each));
  if (ref === null) return false;
  question.use(mention.from - 1, mention.to);
  filters.push({ ref, sql: (column) => `${column} IS NULL`, at: mention.from });
  return true;
}

/** A synonym, or better. */
const MEANING = 0.6;

/** Of tables whose rows refer to the rows those that say when it was done; all where no column is called so. */
export function thingsDone(columns: ColumnFinder, verb: number): readonly TableFacts[] {
  const all = columns.manyOf();
  const mention = columns.mentionAt(verb, anyKind);
  if (mention === undefined) return all;
  // "Never ordered" may be a state of the rows themselves.
  if (mention.candidates.some(({ ref }) => ref.table === columns.base)) return [];
  return all.filter((table) =>
    mention.candidates.some(({ ref, score }) => ref.table === table && isTime(ref) && score >= MEANING),
  );
}
