/**
 * Where a question names tables and columns: by stem, by words of the same family (teaches, teacher) and by synonym.
 * Which of several columns a word means is decided later, by what else is asked (`read-question.ts`).
 */
import { abbreviationScore } from "./abbreviated-words.js";
import { type NameWords, nameWords, wordsOfName } from "./bare-names.js";
import { isVerb, type Question, stemOf, type Token } from "./question.js";
import type { ColumnFacts, ColumnRef, SchemaFacts, TableFacts } from "./schema-facts.js";
import { ABBREVIATIONS, AGGREGATES, GERMAN_WORDS, STOP_WORDS, SYNONYMS, UNITS } from "./vocabulary.js";

export interface TableMention {
  readonly table: TableFacts;
  readonly from: number;
  readonly to: number;
  readonly score: number;
}

export interface ColumnMention {
  readonly from: number;
  readonly to: number;
  /** Best first. */
  readonly candidates: readonly { readonly ref: ColumnRef; readonly score: number }[];
}

export interface NameMentions {
  readonly tables: readonly TableMention[];
  readonly columns: readonly ColumnMention[];
}

/** Parts of names that people leave out. */
const OPTIONAL_PARTS: ReadonlySet<string> = new Set([
  ...["id", "at", "on", "of", "the", "no", "nr", "is", "has"],
  // `temp_c`, `size_mb`.
  ..."c f kw kwh mw kwp kpa hz rpm mbps cents cent pence kb mb gb ms l ml t lb lbs oz ft nm ha sqm m2 m3 gbp chf".split(
    " ",
  ),
  ...UNITS,
]);
/** A match by a word of the same family, and by a synonym. */
const FAMILY_SCORE = 0.7;
const PLURAL_SCORE = 0.95;
const SYNONYM_SCORE = 0.6;
const ROLE_SCORE = 0.94;
/** Endings of names of keys. */
export const KEY_ENDING = /^(?:id|key|nr|no|code|cd|fk)$/;
/** One word of a name of several. */
const PART_SCORE = 0.6;
/** What is left of `offered_on` of offers says nothing. */
const LITTLE_WORD = /^(?:at|on|of|the|no|is|has|in|by|to|for)$/;
const SCORE_MIN = 0.3;
/** The name itself, whole. */
const SAID_SCORE = 0.9;
const COUNTS = /^(?:count|cnt|number|num|qty|quantity|total)$/;

const groupsByStem = new Map<string, Set<number>>();
const listed = new Set(SYNONYMS.flat());
SYNONYMS.forEach((words, group) => {
  for (const word of words) {
    const stem = stemOf(word);
    const groups = groupsByStem.get(stem);
    if (groups === undefined) groupsByStem.set(stem, new Set([group]));
    else groups.add(group);
  }
});

/** A word of the name of a table or a column, but for what all such names have, fits by at least so much. */
export function isCalled(
  schema: SchemaFacts,
  named: TableFacts | ColumnFacts,
  word: Pick<Token, "lower" | "stem">,
  least: number,
): boolean {
  return nameWords(schema, named).bare.some((part) => wordScore(word, part) >= least);
}

/** How well a word of a question fits one of a name, 0 to 1. */
export function wordScore(token: Pick<Token, "lower" | "stem">, word: string): number {
  if (token.stem === "" || token.lower.length < 2) return 0;
  if (token.lower === word) return 1;
  const full = ABBREVIATIONS[word];
  if (full !== undefined) return 0.96 * wordScore(token, full);
  const stem = stemOf(word);
  if (isDoerOf(token.lower, word)) return 0;
  if (token.stem === stem) return 0.98;
  if (isPluralOf(token.lower, word) || isPluralOf(word, token.lower)) return PLURAL_SCORE;
  if (AGGREGATES[token.lower] !== undefined || token.lower === "count") return 0;
  const shared = sharedPrefix(ofAction(token.stem), ofAction(stem));
  if (shared >= 5 && shared >= 0.6 * Math.max(token.stem.length, stem.length)) return FAMILY_SCORE;
  const groups = groupsByStem.get(stem);
  // "Tickets" are not when something was issued.
  const isDone = word.endsWith("ed") && !GERMAN_WORDS.has(word);
  if (/[^s]s$/.test(token.lower) && !isVerb(token.lower) && isDone) return 0;
  // Who does it is another thing than what is done: a publisher is no day of publication.
  const own = isDoer(token) && !listed.has(token.lower) ? undefined : groupsByStem.get(token.stem);
  if (groups !== undefined && own !== undefined) for (const group of own) if (groups.has(group)) return SYNONYM_SCORE;
  return abbreviationScore(word, token.lower);
}

/** Plurals of other languages: "kunden", "rechnungen". */
function isPluralOf(plural: string, word: string): boolean {
  if (word.length < 4 || !plural.startsWith(word)) return false;
  const ending = plural.slice(word.length);
  return /^(?:e?n|e)$/.test(ending) || (GERMAN_WORDS.has(word) && /^ern?$/.test(ending));
}

/** "admission" and "admitted". */
function ofAction(stem: string): string {
  return stem.replace(/miss$/, "mit");
}

const DOER = /(?:er|or)s?$/;

function isDoer({ lower, stem }: Pick<Token, "lower" | "stem">): boolean {
  return DOER.test(lower) && !DOER.test(stem);
}

/** "publisher" beside "published", "creator" beside "created". */
function isDoerOf(word: string, done: string): boolean {
  return DOER.test(word) && done.endsWith("ed") && word.replace(DOER, "") === done.slice(0, -2);
}

function sharedPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

export function nameMentions(question: Question, schema: SchemaFacts): NameMentions {
  const columns = columnMentions(question, schema);
  // "Inspectors" are a column of that name, though inspections are a table.
  const isColumn = ({ from, to, score, table }: TableMention) =>
    (score <= FAMILY_SCORE || (DOER.test(question.lower(from)) && !DOER.test(table.name))) &&
    !isVerb(question.lower(from)) &&
    columns.some((each) => each.from <= from && to <= each.to && each.candidates[0]!.score >= PLURAL_SCORE);
  const tables = withoutModifiers(
    question,
    tableMentions(question, schema).filter((mention) => !isColumn(mention)),
  );
  // "TV channels" are rows, whatever flag has "tv" in its name.
  const isInRows = ({ from, to, candidates }: ColumnMention) =>
    candidates[0]!.ref.column.kind === "boolean" &&
    tables.some((each) => each.from <= from && to <= each.to && to - from < each.to - each.from);
  return { tables, columns: columns.filter((mention) => !isInRows(mention)) };
}

/** "How many car makers": makers, and no cars; uses the word. */
function withoutModifiers(question: Question, tables: readonly TableMention[]): TableMention[] {
  return tables.filter(({ from, to }, i) => {
    const next = tables[i + 1];
    const isPlural = (at: number) => /[^s]s$/.test(question.lower(at));
    const isModifier =
      next?.from === to &&
      to === from + 1 &&
      next.score >= SAID_SCORE &&
      isPlural(next.from) &&
      !isPlural(from) &&
      !isVerb(question.lower(from)) &&
      question.says(from - 1, "many|most|fewest|of|all");
    if (isModifier) question.use(from);
    return !isModifier;
  });
}

/** At most one per place: the best, the longest. */
function tableMentions(question: Question, schema: SchemaFacts): TableMention[] {
  const mentions: TableMention[] = [];
  for (let from = 0; from < question.tokens.length; from++) {
    const best = tableAt(question, from, schema);
    if (best === null) continue;
    mentions.push(best);
    from = best.to - 1;
  }
  return mentions;
}

function tableAt(question: Question, from: number, schema: SchemaFacts): TableMention | null {
  let best: TableMention | null = null;
  for (const table of schema.tables) {
    const { all, bare } = nameWords(schema, table);
    const written = writtenTogether(question, from, all);
    // "Order lines" are no orders.
    if (written !== null && written.length > 1) return { table, from, to: from + written.length, score: written.score };
    if (written !== null && (best === null || written.score > best.score)) {
      best = { table, from, to: from + 1, score: written.score };
    }
    const role = roleScore(question, from, schema, table);
    if (role > (best?.score ?? 0)) best = { table, from, to: from + 1, score: role };
    for (const length of new Set([all.length, bare.length, 1])) {
      const words = length === all.length ? all : bare;
      const score = tableScore(question, from, length, words, all);
      if (score >= SCORE_MIN && (best === null || score > best.score)) {
        best = { table, from, to: from + length, score };
      }
    }
  }
  return best;
}

/** "Clients" of `ClientParty`, whose rows are referred to by `client_id`: what its keys call it. */
function roleScore(question: Question, from: number, { links }: SchemaFacts, table: TableFacts): number {
  const token = question.at(from)!;
  if (token.isQuoted) return 0;
  const own = wordsOfName(table.name);
  const roles = links
    .filter(({ to, columns }) => to === table && columns.length === 1)
    .map(({ columns }) => wordsOfName(columns[0]!))
    .filter((words) => words.length === 2 && KEY_ENDING.test(words[1]!) && own.includes(words[0]!));
  const score = Math.max(0, ...roles.map(([role]) => wordScore(token, role!)));
  return score >= PLURAL_SCORE ? ROLE_SCORE : 0;
}

/** Words of a question that are one name, or more words than the name has. */
const WRITTEN_WORDS_MAX = 4;
const WRITTEN_LETTERS_MIN = 5;

/**
 * A name whose words are divided otherwise than in the schema: `unit_price`, "unitprice" or "unitPrice" for unit_price,
 * "order lines" for orderlines. Null: the question does not say it here.
 */
function writtenTogether(question: Question, from: number, words: readonly string[]): Match | null {
  const name = words.join("");
  if (name.length < WRITTEN_LETTERS_MIN && !question.lower(from).includes("_")) return null;
  let written = "";
  for (let length = 1; length <= WRITTEN_WORDS_MAX; length++) {
    const token = question.at(from + length - 1);
    if (token === null || token.isQuoted || token.number !== null) return null;
    written += token.lower.replaceAll(/[^\p{L}\p{N}]/gu, "");
    if (written.length > name.length + 2) return null;
    // Words divided alike are compared one by one.
    if (length === words.length && (length > 1 || written === token.lower)) continue;
    if (written === name) return { score: 1, length };
    if (written === `${name}s` || name === `${written}s`) return { score: 0.98, length };
  }
  return null;
}

function tableScore(
  question: Question,
  from: number,
  length: number,
  words: readonly string[],
  all: readonly string[],
): number {
  const joined = question.at(from);
  if (joined === null || joined.isQuoted) return 0;
  if (length === words.length) {
    const whole = consecutive(question, from, words);
    // "Entries" of `cup_entry`, which "cups" are, too.
    return whole > 0 || length > 1 ? whole : PART_SCORE * wordScore(joined, all.at(-1)!);
  }
  // The last word of a compound is what the thing is.
  return PART_SCORE * wordScore(joined, words.at(-1)!);
}

/** The words one after the other; the weakest counts. */
function consecutive(question: Question, from: number, words: readonly string[]): number {
  let least = 1;
  for (const [i, word] of words.entries()) {
    const token = question.at(from + i);
    if (token === null || token.isQuoted) return 0;
    least = Math.min(least, wordScore(token, word));
  }
  return least;
}

/** At most one per place; all columns that it may mean. */
function columnMentions(question: Question, schema: SchemaFacts): ColumnMention[] {
  const mentions: ColumnMention[] = [];
  for (let from = 0; from < question.tokens.length; from++) {
    const found = columnsAt(question, from, schema);
    if (found === null) continue;
    mentions.push(found);
    from = found.to - 1;
  }
  return mentions;
}

function columnsAt(question: Question, from: number, schema: SchemaFacts): ColumnMention | null {
  // "Average and maximum age", beside a column `average`.
  const next = question.says(from + 1, "and|or") ? from + 2 : from + 1;
  const isFunction = (at: number) => AGGREGATES[question.lower(at)] !== undefined;
  if (isFunction(from) && isFunction(next)) return null;
  const all: { ref: ColumnRef; score: number; length: number }[] = [];
  const things = new Set(schema.tables.map((table) => stemOf(nameWords(schema, table).bare.at(-1)!)));
  for (const table of schema.tables) {
    for (const column of table.columns) {
      const words = nameWords(schema, column);
      const written = writtenTogether(question, from, words.all) ?? columnScore(question, from, words, column.isKey);
      const isThing =
        isThingOn(question, from, words.all, written.length) ||
        (written.length === 1 && isThingDone(question, from, words.bare, things));
      const match = isThing || isDoerOfTime(question, from, column, written.score) ? NONE : written;
      if (match.score >= SCORE_MIN) all.push({ ref: { table, column }, ...match });
    }
  }
  if (all.length === 0) return null;
  all.sort((a, b) => b.score * b.length - a.score * a.length);
  const { length } = all[0]!;
  const candidates = all.filter((each) => each.length === length).sort((a, b) => b.score - a.score);
  return { from, to: from + length, candidates };
}

/** "Orders" are rows of `pub_orders`, not the days of `ordered_on`. */
function isThingDone(question: Question, from: number, bare: readonly string[], things: ReadonlySet<string>): boolean {
  const { lower, stem } = question.at(from)!;
  const [done] = bare;
  if (isVerb(lower) || done === undefined || !done.endsWith("ed") || stemOf(done) !== stem) return false;
  // "The order date".
  return things.has(stem) && !question.says(from + 1, "date|dates|time|times|day|days");
}

/** Who wrote a thing is not when it was written. */
function isDoerOfTime(question: Question, from: number, { kind }: ColumnFacts, score: number): boolean {
  const isTime = kind === "date" || kind === "timestamp";
  return isTime && score <= SYNONYM_SCORE && DOER.test(question.lower(from)) && !isVerb(question.lower(from));
}

/** "Offers on properties" are no `offered_on`. */
function isThingOn(question: Question, from: number, words: readonly string[], length: number): boolean {
  const word = question.lower(from);
  return length === 2 && question.says(from + 1, "on|at") && word.endsWith("s") && word !== words[0];
}

interface Match {
  readonly score: number;
  /** Words of the question. */
  readonly length: number;
}

const NONE: Match = { score: 0, length: 0 };

function columnScore(question: Question, from: number, { all, bare }: NameWords, isKey: boolean) {
  const token = question.at(from)!;
  if (token.isQuoted || token.number !== null) return NONE;
  const whole = consecutive(question, from, all);
  if (whole > 0) return { score: whole, length: all.length };
  const own = isKey || bare.every((word) => LITTLE_WORD.test(word)) ? 0 : consecutive(question, from, bare);
  if (own > 0) return { score: own * 0.99, length: bare.length };
  // `units_on_order` are no orders.
  const isOfUnits = /^units?$/.test(bare[0]!) && /^(?:on|in|of)$/.test(bare[1] ?? "");
  const core = isOfUnits ? bare : bare.filter((word) => !OPTIONAL_PARTS.has(word));
  // A key is meant only by its whole name: "department" is the table.
  if (isKey || core.length === 0) return NONE;
  // "Number of passengers" of `passenger_count`.
  const isCount = question.says(from - 2, "number|count", "of") && core.length > 1 && COUNTS.test(core.at(-1)!);
  const counted = isCount ? consecutive(question, from, core.slice(0, -1)) : 0;
  if (counted >= PLURAL_SCORE) return { score: counted * 0.97, length: core.length - 1 };
  // "Unit price" of `unit_price_cents`.
  const end = bare.findLastIndex((word) => !OPTIONAL_PARTS.has(word)) + 1;
  const leading = end > core.length && end < bare.length ? consecutive(question, from, bare.slice(0, end)) : 0;
  if (leading > 0) return { score: leading * 0.97, length: end };
  const inOrder = consecutive(question, from, core);
  if (inOrder > 0) return { score: inOrder * 0.97, length: core.length };
  const next = question.at(from + 1);
  if (next !== null && !next.isQuoted) {
    // "signed up" is signup, "year of enrollment" is enrollment_year.
    if (core.some((word) => word === token.lower + next.lower || word === token.stem + next.lower)) {
      return { score: 0.9, length: 2 };
    }
    if (core.length === 2) {
      const skipped = next.lower === "of" ? 2 : 1;
      const second = question.at(from + skipped);
      const turned = second === null ? 0 : Math.min(wordScore(token, core[1]!), wordScore(second, core[0]!));
      if (turned > 0) return { score: turned * 0.95, length: skipped + 1 };
    }
  }
  if (core.length < 2 || (STOP_WORDS.has(token.lower) && token.lower !== "name")) return NONE;
  const scores = core.map((word, i) => wordScore(token, word) * (i === core.length - 1 ? 1 : 0.9));
  return { score: PART_SCORE * Math.max(...scores), length: 1 };
}
