/**
 * Phrases that shape a query, found in the question's words: groups ("per X"), the first of an order ("top 3",
 * "cheapest"), orders ("sorted by"), negations. They point at mentions; `read-question.ts` decides which columns are
 * meant.
 */
import { adjectiveOf } from "./conditions.js";
import { numberOf } from "./date-phrases.js";
import type { ColumnMention, NameMentions, TableMention } from "./name-mentions.js";
import type { TimeUnit } from "./query-shape.js";
import { isVerb, type Question, type Token } from "./question.js";
import { namingColumns } from "./schema-facts.js";
import { ADJECTIVES, AGGREGATES, type Measure } from "./vocabulary.js";

export type Named =
  | { readonly kind: "table"; readonly mention: TableMention }
  | { readonly kind: "column"; readonly mention: ColumnMention };

/** Below this a word after a table's name is hardly a column of it. */
const OWN_COLUMN = 0.9;
const TIME_UNITS: ReadonlySet<string> = new Set(["year", "quarter", "month", "week", "weekday", "day", "hour"]);

/** "Hour of the day", "day of the week". */
const PARTS: readonly (readonly [of: string, to: string, unit: TimeUnit])[] = [
  ["hour", "day", "hour of day"],
  ["day", "week", "weekday"],
];

/** What is named at this token; a column where it takes more words or fits better than a table. */
export function namedAt(names: NameMentions, at: number): Named | null {
  const table = names.tables.find((mention) => mention.from === at);
  const column = names.columns.find((mention) => mention.from === at);
  if (table === undefined && column === undefined) return null;
  if (table === undefined) return { kind: "column", mention: column! };
  if (column === undefined) return { kind: "table", mention: table };
  const longer = column.to - column.from > table.to - table.from;
  const better = column.candidates[0]!.score > table.score;
  return longer || better ? { kind: "column", mention: column } : { kind: "table", mention: table };
}

export type GroupPhrase = Named | { readonly kind: "time"; readonly unit: TimeUnit };

const isDoneBy = (word: string) => isVerb(word) && !word.endsWith("ing");

/** All groups that the question asks for; uses their words. */
export function groupPhrases(question: Question, names: NameMentions, isValue: (at: number) => boolean): GroupPhrase[] {
  for (let at = 0; at < question.tokens.length; at++) {
    if (question.isUsed(at)) continue;
    const length = groupMarker(question, at, names);
    if (length === 0) continue;
    const groups: GroupPhrase[] = [];
    let next = at + length;
    for (;;) {
      if (question.says(next, "the|different|a|an|calendar")) next++;
      const unit = question.lower(next).replace(/s$/, "");
      const named = columnOfTable(names, namedAt(names, next));
      // "top 3 products by stock": that is an order.
      const isOrder = isMeasure(named) || (named?.kind === "table" && isOfPopular(question, at));
      if (question.says(at, "by") && length === 1 && isRanked(question, at) && isOrder) break;
      // "Donations by companies": that says whose they are.
      if (question.says(at, "by") && length === 1 && isFlag(named)) break;
      if (isValue(next) || (named === null && !TIME_UNITS.has(unit))) break;
      // "orders by customers in France": that says whose they are.
      const after = named?.kind === "table" ? named.mention.to : -1;
      if (
        question.says(at, "by") &&
        length === 1 &&
        (question.says(after, "in|from|of|at|who|whose|with|without|that|living|named|called") ||
          isDoneBy(question.lower(after)))
      )
        break;
      const isUnit = TIME_UNITS.has(unit) && (named?.kind === "table" || named?.mention.to === next + 1);
      // A column that is called so is no part of a day.
      const isColumn =
        unit === "weekday" && named?.kind === "column" && named.mention.candidates[0]!.score >= OWN_COLUMN;
      if (named !== null && (!isUnit || isColumn)) {
        groups.push(named);
        question.use(next, named.mention.to);
        next = named.mention.to;
      } else {
        groups.push({ kind: "time", unit: unit as TimeUnit });
        question.use(next);
        next++;
        // "By hour of the day".
        const whole = question.says(next, "of", "the") ? next + 2 : question.says(next, "of") ? next + 1 : next;
        const part =
          whole === next ? undefined : PARTS.find(([of, to]) => of === unit && question.says(whole, to))?.[2];
        if (part !== undefined) {
          groups[groups.length - 1] = { kind: "time", unit: part };
          question.use(next, whole + 1);
          next = whole + 1;
        }
      }
      // "Per severity per month".
      const isPer = question.says(next, "per") || question.says(next, "for|in|by", "each|every");
      if (!isPer && !question.says(next, "and|,")) break;
      const more = question.says(next, "per|and|,") ? next + 1 : next + 2;
      if (isPer) question.use(next, more);
      next = more;
    }
    if (groups.length === 0) continue;
    // "The name of each hall": a group is shown by its name.
    if (groups[0]!.kind === "table" && question.says(at - 1, "name|names")) question.use(at - 1);
    question.use(at, at + length);
    return groups;
  }
  return [];
}

/** "Per policy kind": the kind of policies. A customer's name is no more than the customer. */
function columnOfTable(names: NameMentions, named: Named | null): Named | null {
  if (named?.kind !== "table") return named;
  const { table, from, to } = named.mention;
  const after = names.columns.find((mention) => mention.from === to);
  const naming = namingColumns(table);
  const own = after?.candidates.filter(
    ({ ref, score }) => ref.table === table && score >= OWN_COLUMN && !ref.column.isKey && !naming.includes(ref.column),
  );
  if (own === undefined || own.length === 0) return named;
  return { kind: "column", mention: { from, to: after!.to, candidates: own } };
}

const isFlag = (named: Named | null) =>
  named?.kind === "column" && named.mention.candidates[0]!.ref.column.kind === "boolean";

const isMeasure = (named: Named | null) =>
  named?.kind === "column" && named.mention.candidates[0]!.ref.column.kind === "number";

const isOfPopular = (question: Question, before: number) =>
  question.tokens.slice(0, before).some((_, at) => popularAt(question, at) > 0);

function isRanked(question: Question, before: number): boolean {
  return question.tokens.slice(0, before).some(({ lower }) => /^(top|bottom|most|least|first|last)$|est$/.test(lower));
}

/** "List every book": nothing is counted or summed. */
function isListOfAll(question: Question, at: number): boolean {
  const begins = question.tokens.slice(0, at).every(({ isStop }) => isStop);
  const measures = ({ lower }: Token) => AGGREGATES[lower] !== undefined || /^(many|much|number|count)$/.test(lower);
  return begins && !question.tokens.some(measures);
}

/** "Agents with rooms in every town": nothing is counted, summed or the highest. */
function measuresBefore(question: Question, at: number): boolean {
  const before = question.tokens.slice(0, at);
  return before.some(({ lower }) => AGGREGATES[lower] !== undefined || /^(many|much|number|count)$|est$/.test(lower));
}

/** "Kegs sold by town": a town is what places have, and sells nothing. */
function isKindAt(names: NameMentions, at: number): boolean {
  const named = namedAt(names, at);
  if (named?.kind !== "column") return false;
  const { ref, score } = named.mention.candidates[0]!;
  return score >= OWN_COLUMN && KIND.test(ref.column.name) && !namingColumns(ref.table).includes(ref.column);
}

const KIND =
  /(?:^|_)(?:town|city|country|region|state|district|area|category|type|kind|genre|style|channel|size|colou?r|class|month|year|day|week)$/i;

/** Tokens of a word that begins a group; 0: none. */
function groupMarker(question: Question, at: number, names: NameMentions): number {
  if (question.says(at, "for|in|by|of|within|on|with|at", "each|every"))
    return question.says(at + 1, "every") && !measuresBefore(question, at) ? 0 : 2;
  if (question.says(at, "grouped|group|broken|split|divided", "by|down", "by")) return 3;
  if (question.says(at, "grouped|group|split|divided", "by")) return 2;
  if (question.says(at, "per")) return 1;
  const isOfEvery = question.says(at - 1, "for|in|by|of|within|on|with|at") && question.says(at, "every");
  if (isOfEvery && !measuresBefore(question, at)) return 0;
  if (question.says(at, "each|every")) return isListOfAll(question, at) ? 0 : 1;
  if (!question.says(at, "by")) return 0;
  const before = question.lower(at - 1);
  if (/^(order|sort|sorted|ordered|ranked|arranged)$/.test(before)) return 0;
  return isDoneBy(before) && !isKindAt(names, at + 1) ? 0 : 1;
}

/** "Which month had the most orders": the unit. A column of that name is no time. */
export function periodAsked(question: Question, names: NameMentions, { at }: Superlative): TimeUnit | null {
  for (let next = 0; next < at; next++) {
    const unit = question.lower(next + 1).replace(/s$/, "");
    if (!question.says(next, "which|what|the|in") || !TIME_UNITS.has(unit) || next + 1 >= at) continue;
    const isColumn = names.columns.some(({ from, candidates }) => from === next + 1 && candidates[0]!.score >= 0.9);
    if (isColumn || question.isUsed(next + 1)) continue;
    question.use(next + 1);
    return unit as TimeUnit;
  }
  return null;
}

/** "Top 3 towns by number of gigs": what is counted by; uses the words but those of the count. */
export function countedBy(question: Question, names: NameMentions, first: Superlative): Named | null {
  if (first.measure !== null || first.count === null || !question.says(first.at, "top")) return null;
  const named = namedAt(names, first.to);
  const by = named?.mention.to ?? -1;
  let of = by + 1;
  while (question.says(of, "the|total")) of++;
  if (named === null || !question.says(by, "by") || !question.says(of, "number|count", "of")) return null;
  question.use(first.at, by + 1);
  return named;
}

export interface OrderPhrase {
  readonly at: number;
  readonly named: Named | null;
  readonly descending: boolean;
  /** "Longest first". */
  readonly measure?: Measure;
}

/** "sorted by X descending", "in alphabetical order". */
export function orderPhrase(question: Question, names: NameMentions): OrderPhrase | null {
  for (let at = 0; at < question.tokens.length; at++) {
    const isSorted = question.says(at, "sorted|sort|ordered|ranked|rank|arranged") || isOrder(question, names, at);
    const isAlphabetical = question.says(at, "alphabetical|alphabetically");
    if (!isSorted && !isAlphabetical) continue;
    let by = at + 1;
    while (by < question.tokens.length && !question.says(by, "by") && by < at + 6) by++;
    if (!question.says(by, "by")) {
      if (!isAlphabetical) continue;
      question.use(at, question.says(at + 1, "order") ? at + 2 : at + 1);
      return { at, named: null, descending: false };
    }
    let next = by + 1;
    if (question.says(next, "the|their|its")) next++;
    const named = namedAt(names, next);
    if (named === null && question.says(next, "count|number") && next >= question.tokens.length - 2) {
      question.use(at);
      question.use(by, next + 1);
      return { at, named, descending: direction(question, next + 1), measure: { descending: true, words: [] } };
    }
    if (named === null) continue;
    question.use(at);
    question.use(by, named.mention.to);
    if (question.says(at + 1, "order")) question.use(at + 1);
    const fromTo = fromMostToLeast(question, named, named.mention.to);
    return { at, named, descending: fromTo ?? direction(question, named.mention.to) };
  }
  return greatestFirst(question);
}

/** "Longest first" at the end: not "the first", of which there is one. */
function greatestFirst(question: Question): OrderPhrase | null {
  const at = question.tokens.length - 2;
  // "In descending order", of what is counted.
  if (at > 0 && question.says(at, "descending|ascending|decreasing|increasing", "order") && !question.isUsed(at)) {
    const from = question.says(at - 1, "in") ? at - 1 : at;
    question.use(from, at + 2);
    const descending = question.says(at, "descending|decreasing");
    return { at, named: null, descending, measure: { descending, words: [] } };
  }
  if (at <= 0 || !question.says(at + 1, "first")) return null;
  const most = /^(?:most|fewest)$/.test(question.lower(at))
    ? { descending: question.says(at, "most"), words: [] }
    : null;
  // "Most expensive first".
  const plain = question.says(at - 1, "most|least") ? ADJECTIVES[question.lower(at)] : undefined;
  const ofPlain =
    plain === undefined || question.says(at - 1, "most") ? plain : { ...plain, descending: !plain.descending };
  const measure = ofPlain ?? most ?? adjectiveOf(question.lower(at), "est");
  const from = ofPlain === undefined ? at : at - 1;
  if (measure === null || question.isUsed(from) || question.says(from - 1, "the")) return null;
  question.use(from, at + 2);
  return { at, named: null, descending: measure.descending, measure };
}

/** The verb: "order by name", "order customers by name"; not "order total by country". */
function isOrder(question: Question, names: NameMentions, at: number): boolean {
  if (!question.says(at, "order")) return false;
  return question.says(at + 1, "by") || (at === 0 && !names.columns.some(({ from, to }) => from <= 0 && to > 1));
}

/** "From the oldest to the youngest", of ages, years or days; null: it does not say so. */
function fromMostToLeast(question: Question, named: Named, from: number): boolean | null {
  const at = question.tokens.findIndex((_, i) => i >= from && question.says(i, "from"));
  const first = question.says(at + 1, "the") ? at + 2 : at + 1;
  const to = question.says(first + 1, "to") ? first + 1 : -1;
  if (at < 0 || to < 0) return null;
  const word = question.lower(first);
  const last = question.says(to + 1, "the") ? to + 2 : to + 1;
  const measure = adjectiveOf(word, "est") ?? adjectiveOf(`${word}est`, "est");
  if (measure === null || question.at(last) === null) return null;
  question.use(at, last + 1);
  const isAge = named.kind === "column" && /(?:^|_)age$/i.test(named.mention.candidates[0]!.ref.column.name);
  // Who is oldest has the highest age and the earliest day.
  return isAge && measure.time === "birth" ? !measure.descending : measure.descending;
}

function direction(question: Question, from: number): boolean {
  const rest = question.tokens.slice(from).map(({ lower }) => lower);
  question.tokens.forEach(({ lower }, i) => {
    if (
      i >= from &&
      /^(asc|ascending|desc|descending|highest|lowest|largest|smallest|newest|oldest|first|reverse)$/.test(lower)
    )
      question.use(i);
  });
  const text = rest.join(" ");
  if (/\b(asc|ascending)\b/.test(text)) return false;
  if (/\b(desc|descending|reverse)\b/.test(text)) return true;
  return /\b(highest|largest|biggest|newest|latest|most)( to|$| first)/.test(text);
}

export interface Superlative {
  readonly at: number;
  readonly to: number;
  /** null: "top 3 … by X", whose measure is named elsewhere. */
  readonly measure: Measure | null;
  /** "most orders", "fewest students": the counted things. */
  readonly isMost: boolean;
  /** "Most popular", "busiest". */
  readonly isPopular?: true;
  readonly count: number | null;
}

/** "cheapest", "the 3 longest", "top 5", "most expensive", "the most"; the first one. */
export function superlative(
  question: Question,
  names: NameMentions,
  isValue: (at: number) => boolean,
): Superlative | null {
  for (let at = 0; at < question.tokens.length; at++) {
    // "first name", "last name".
    const inName = names.columns.some(({ from, to }) => from <= at && at < to && to - from > 1);
    if (question.isUsed(at) || isValue(at) || inName) continue;
    const found = superlativeAt(question, at);
    if (found === null) continue;
    const before = numberOf(question, at - 1);
    const after = numberOf(question, found.to);
    let { to } = found;
    let count: number | null = null;
    if (before !== null && !question.isUsed(at - 1)) {
      count = before;
      question.use(at - 1);
    } else if (after !== null && !question.isUsed(found.to)) {
      count = after;
      to++;
      // "top 5 most expensive".
      const inner = superlativeAt(question, to);
      if (inner !== null) {
        question.use(at, inner.to);
        return { ...inner, at, count };
      }
    }
    question.use(at, to);
    return { ...found, at, to, count };
  }
  return null;
}

function superlativeAt(question: Question, at: number): Omit<Superlative, "count"> | null {
  const word = question.lower(at);
  const found = (to: number, measure: Measure | null, isMost = false) => ({ at, to, measure, isMost });
  const ofPopular = popularAt(question, at);
  if (ofPopular > 0) {
    const measure: Measure = { descending: word !== "least", words: [] };
    return { ...found(at + ofPopular, measure), isPopular: true };
  }
  if (/^(top|bottom)$/.test(word)) return found(at + 1, null);
  if (/^(most|least|fewest)$/.test(word)) {
    if (question.says(at - 1, "at")) return null;
    const measure = ADJECTIVES[question.lower(at + 1).replace(/ly$/, "")];
    const descending = word === "most";
    if (measure !== undefined) {
      return found(at + 2, descending ? measure : { ...measure, descending: !measure.descending });
    }
    return found(at + 1, { descending, words: [] }, true);
  }
  // "most recently" is above; "the first quarter" and "last month" are dates.
  if (/^(last|first)$/.test(word) && /^(quarter|half|month|week|year|day|name|time)s?$/.test(question.lower(at + 1)))
    return null;
  if (question.says(at, "first|last", "and|or|,", "last|first", "name|names")) return null;
  if (question.says(at - 2, "first|last", "and|or|,", "last|first", "name|names")) return null;
  const measure = adjectiveOf(word, "est");
  return measure === null ? null : found(at + 1, measure);
}

/** "Used most often", "most frequently booked": the verb says no more. */
function popularAt(question: Question, at: number): number {
  if (question.says(at, "busiest")) return 1;
  if (!question.says(at, "most|least", "popular|common|frequent|frequently|often")) return 0;
  const isDone =
    question.says(at + 1, "frequently|often|common") && question.says(at + 2, "used|ordered|booked|chosen");
  return isDone ? 3 : 2;
}

/** Whether a negation stands within the few tokens before; uses it. */
export function isNegated(question: Question, at: number, reach = 3): boolean {
  return negationBefore(question, at, reach) !== null;
}

/** Where a negation stands within the few tokens before; uses it. */
export function negationBefore(question: Question, at: number, reach = 3): number | null {
  for (let before = at - 1; before >= Math.max(0, at - reach); before--) {
    const word = question.lower(before);
    if (/^(and|or|but)$/.test(word)) return null;
    // "Unresolved noise complaints": what is not resolved.
    if (question.at(before)!.isPrefix === true && before < at - 1) continue;
    const isOther = question.says(before, "other", "than");
    if (
      isOther ||
      /^(not|never|neither|nor|except|excluding|non|outside|without|no)$/.test(word) ||
      /n['’]t$/.test(word)
    ) {
      question.use(before, isOther ? before + 2 : before + 1);
      return before;
    }
  }
  return null;
}

/** "limit 5"; uses the words. */
export function limitSaid(question: Question): number | null {
  const at = question.tokens.findIndex(
    (_, i) => question.says(i, "limit") && question.at(i + 1)?.number != null && !question.isUsed(i + 1),
  );
  if (at < 0) return null;
  question.use(at, at + 2);
  return question.at(at + 1)!.number;
}
