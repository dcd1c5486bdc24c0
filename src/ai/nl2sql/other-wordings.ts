/**
 * Questions that are understood in other words alone: "which plant produced the most energy" asks for the highest total
 * of it, "who approved the most claims" for what `approved_by` says, "who teaches Chess" for teachers. Called by
 * `match-question.ts` for what it did not understand; stateless.
 */
import { nameWords, wordsOfName } from "./bare-names.js";
import type { Answer, ComposedAnswer, SimpleAnswer } from "./composed-answer.js";
import { onlySpending } from "./money-questions.js";
import { isCalled, wordScore } from "./name-mentions.js";
import { stemOf } from "./question.js";
import { isMereDeed, relates, tellsWhich } from "./relating-verbs.js";
import { ofRoleNames } from "./role-names.js";
import { type ColumnFacts, type LinkFacts, pathBetween, type SchemaFacts, type TableFacts } from "./schema-facts.js";

const MOST =
  /^(?:(who)|(?:which|what)\s+(.+?))\s+(?:has\s+|have\s+)?(\w+)\s+(?:in\s+)?the\s+(most|least|fewest)\s+(.+?)[?.!\s]*$/i;
const WHO = /^who\s+(\w+)\s+(?:the\s+)?(.+?)[?.!\s]*$/i;
const RATED =
  /^(?:(?:which|what)\s+(?:is|are)\s+)?(?:the\s+)?(best|highest|worst|lowest)[-\s]rated\s+(\w+)(\s+.+?)?[?.!\s]*$/i;
const SOLD =
  /^(?:(?:which|what)\s+(?:is|are)\s+|list\s+|show\s+(?:me\s+)?)?(?:the\s+|our\s+)?(?:top\s+)?(?:(\d+|three|five|ten)\s+)?(?:(?:best|top)[-\s]selling|most\s+sold)\s+(\w+)(\s+.+?)?[?.!\s]*$/i;
const QUANTITY = /^(?:quantity|qty|units|pieces|copies)$/;
const RATING = /^(?:rating|stars?|score)s?$/;
const TIME = String.raw`(?:\s+(?:in|on|since|during|before|after|from|between|last|this|until)\s+.+?)?`;
const DONE_BY = new RegExp(
  String.raw`^how\s+many\s+(.+?)\s+(?:did|does|has|have|had)\s+(?!(?:each|every|the|we|you|they|a|an)\b)(.+?)\s+(\w+)(${TIME})[?.!\s]*$`,
  "i",
);
const SPENT_BY = new RegExp(
  String.raw`^how\s+much\s+(?:money\s+)?(?:did|does|has|have)\s+(?!(?:each|every|the|we|you|they|a|an)\b)(.+?)\s+(?:spend|spent|pay|paid)(?:\s+us)?(?:\s+in\s+total)?(${TIME})[?.!\s]*$`,
  "i",
);
const PERSONS = new Set(
  (
    "person people employee staff member customer client user student pupil teacher lecturer instructor player driver " +
    "doctor worker author agent guest"
  )
    .split(" ")
    .map(stemOf),
);
/** Words that only seem to be understood are more often misread. */
const OTHER_MAX = 0.85;
const SHORT = 0.84;
/** A word of the same family. */
const FAMILY = 0.7;
/** "Treat" of treatments. */
const LETTERS_MIN = 4;
/** The word itself, or its plural. */
const NAMED = 0.95;

/** Null: not in these words either. */
export async function inOtherWords(text: string, schema: SchemaFacts, answer: Answer): Promise<ComposedAnswer | null> {
  const other = await inOtherForm(text, schema, answer);
  if (other !== null) return other;
  const role = await ofRoleNames(text, schema, answer);
  return role === null ? null : lessSure(role);
}

async function inOtherForm(text: string, schema: SchemaFacts, answer: Answer): Promise<ComposedAnswer | null> {
  const most = MOST.exec(text);
  if (most !== null) return ofMost(most, schema, answer);
  const rated = RATED.exec(text);
  if (rated !== null) return ofRated(rated, schema, answer);
  const sold = SOLD.exec(text);
  if (sold !== null) return ofSold(sold, schema, answer);
  const who = WHO.exec(text);
  if (who !== null) return ofWhom(who, schema, answer);
  const done = DONE_BY.exec(text);
  if (done !== null) return ofDoer(done, schema, answer);
  const spent = SPENT_BY.exec(text);
  return spent === null ? null : moneyOf(spent, schema, answer);
}

/** "Which driver moved the most cargo": the verb says no more than that they belong together. */
async function ofMost(
  [, who, entity, verb, most, thing]: RegExpExecArray,
  schema: SchemaFacts,
  answer: Answer,
): Promise<ComposedAnswer | null> {
  if (tellsWhich(verb!)) return null;
  const isMost = most!.toLowerCase() === "most";
  if (who === undefined) {
    // "Which shipper delivered the most orders": they are counted.
    const many = await answer(`which ${entity} has the ${isMost ? "most" : "fewest"} ${thing}`);
    const ranked = many?.shape.ranking?.table;
    const isState = ({ name, kind }: ColumnFacts) =>
      kind !== "number" && wordsOfName(name).some((word) => fitsVerb(verb!, word));
    if (ranked !== undefined && isCalledSo(ranked, thing!, schema))
      return ranked.columns.some(isState) ? null : lessSure(many!);
    const one = await answer(`${entity} with the ${isMost ? "highest" : "lowest"} total ${thing}`);
    return one?.shape.aggregates[0]?.fn === "sum" && one.shape.groups.length === 1 ? lessSure(one) : null;
  }
  const only = onlyColumn(schema, (column) => isDoer(column, verb!));
  if (only === null) return null;
  const one = await answer(`which ${only.name} has the ${isMost ? "most" : "fewest"} ${thing}`);
  return one?.shape.order !== null && one?.shape.groups.length === 1 ? lessSure(one) : null;
}

/** "The best selling tracks", where only one column of any table says how many were sold. */
async function ofSold(
  [, count, things, rest = ""]: RegExpExecArray,
  schema: SchemaFacts,
  answer: Answer,
): Promise<ComposedAnswer | null> {
  const isQuantity = ({ name, kind, isKey }: ColumnFacts) =>
    kind === "number" && !isKey && wordsOfName(name).every((word) => QUANTITY.test(word) || word === "sold");
  const only = onlyColumn(schema, isQuantity);
  if (only === null) return null;
  const asked =
    count === undefined ? `${things!}${rest} with the highest total` : `top ${count} ${things!}${rest} by total`;
  const one = await answer(`${asked} ${only.name}`);
  return one?.shape.aggregates[0]?.fn === "sum" && one.shape.groups.length === 1 ? lessSure(one) : null;
}

/** Null: no column of any table is of that kind, or several are. */
function onlyColumn({ tables }: SchemaFacts, isMeant: (column: ColumnFacts) => boolean): ColumnFacts | null {
  const [only, other] = tables.flatMap(({ columns }) => columns.filter(isMeant));
  return other === undefined ? (only ?? null) : null;
}

const fitsVerb = (verb: string, word: string) =>
  wordScore({ lower: verb.toLowerCase(), stem: stemOf(verb) }, word) >= SHORT;

function isCalledSo(table: TableFacts, things: string, schema: SchemaFacts): boolean {
  const last = things.split(/\s+/).at(-1)!.toLowerCase();
  return nameWords(schema, table).bare.some((word) => wordScore({ lower: last, stem: stemOf(last) }, word) >= NAMED);
}

/** "The best rated talk", where only one column of any table holds ratings: their average is highest. */
async function ofRated(
  [, best, things, rest = ""]: RegExpExecArray,
  schema: SchemaFacts,
  answer: Answer,
): Promise<ComposedAnswer | null> {
  const isRating = ({ name, kind, isKey }: ColumnFacts) =>
    kind === "number" && !isKey && wordsOfName(name).some((word) => RATING.test(word));
  const only = onlyColumn(schema, isRating);
  if (only === null) return null;
  const end = /^(?:best|highest)$/i.test(best!) ? "highest" : "lowest";
  const one = await answer(`${things!}${rest} with the ${end} average ${only.name}`);
  return one?.shape.aggregates[0]?.fn === "avg" && one.shape.groups.length === 1 ? lessSure(one) : null;
}

/** `approved_by` for "approved". */
function isDoer({ name, kind }: ColumnFacts, verb: string): boolean {
  const [done, by, more] = wordsOfName(name);
  if (kind !== "text" || by !== "by" || more !== undefined) return false;
  const lower = verb.toLowerCase();
  return wordScore({ lower, stem: stemOf(lower) }, done!) >= SHORT;
}

/** "Who teaches Chess": the only persons that what is named refers to. */
async function ofWhom(
  [, verb, rest]: RegExpExecArray,
  schema: SchemaFacts,
  answer: Answer,
): Promise<ComposedAnswer | null> {
  if (!relates(stemOf(verb!.toLowerCase()))) return null;
  const found: SimpleAnswer[] = [];
  for (const table of schema.tables.filter((each) => arePersons(each, schema))) {
    // "Who leads the Owls" asks for their leader, not for their members.
    const isDoer = ({ to, columns }: LinkFacts) =>
      to === table &&
      columns.flatMap(wordsOfName).some((word) => stemOf(word.replace(/(?:er|or)$/, "")) === stemOf(verb!));
    const of = schema.links.some(isDoer) ? `who ${verb}` : "of";
    const one = await answer(`${table.name} ${of} ${rest}`);
    const refersToThem = ({ ref }: SimpleAnswer["shape"]["filters"][number]) =>
      schema.links.some(({ from, to }) => from === ref.table && to === table);
    if (one?.shape.base === table && one.shape.filters.some(refersToThem)) found.push(one);
  }
  const [only, other] = found;
  // "Who treated Rex", where there are treatments: not who owns him.
  const isLeftOut = (table: TableFacts) => isOfVerb(table, verb!, schema) && !only!.sql.includes(table.sqlName);
  return only === undefined || other !== undefined || schema.tables.some(isLeftOut) ? null : lessSure(only);
}

function isOfVerb(table: TableFacts, verb: string, schema: SchemaFacts): boolean {
  const stem = stemOf(verb);
  const isLonger = (word: string) => stem.length >= LETTERS_MIN && stemOf(word).startsWith(stem);
  return (
    isCalled(schema, table, { lower: verb.toLowerCase(), stem }, FAMILY) || nameWords(schema, table).bare.some(isLonger)
  );
}

/** "How many permits did Sam Ito submit": those of Sam Ito. */
async function ofDoer(
  [, things, doer, verb, time]: RegExpExecArray,
  schema: SchemaFacts,
  answer: Answer,
): Promise<ComposedAnswer | null> {
  if (!isMereDeed(verb!)) return null;
  const one = await answer(`how many ${things!} of ${doer!}${time!}`);
  return one !== null && isOfSomebody(one, schema) && one.shape.aggregates[0]!.fn === "count" ? lessSure(one) : null;
}

/** "How much did Bistro Nord spend": all of the only money that rows of buyers have. */
async function moneyOf(
  [, buyer, time]: RegExpExecArray,
  schema: SchemaFacts,
  answer: Answer,
): Promise<ComposedAnswer | null> {
  const sum = onlySpending(schema);
  const one = sum === null ? null : await answer(`total ${sum.name} of ${buyer!}${time!}`);
  return one !== null && isOfSomebody(one, schema) && one.shape.aggregates[0]!.fn === "sum" ? lessSure(one) : null;
}

/** One number of rows, each of which is of one person, who is named. */
function isOfSomebody({ shape }: SimpleAnswer, schema: SchemaFacts): boolean {
  const { aggregates, groups, filters, base, limit, having, ranking } = shape;
  const isPlain = groups.length === 0 && limit === null && having === null && ranking === null;
  const isOne = (table: TableFacts) =>
    table !== base && pathBetween(schema, base, table, new Set())?.every(({ toMany }) => !toMany) === true;
  return isPlain && aggregates.length === 1 && filters.some(({ ref, isState }) => isState && isOne(ref.table));
}

function arePersons(table: TableFacts, schema: SchemaFacts): boolean {
  const names = table.columns.map(({ name }) => name.toLowerCase());
  const hasName = (pattern: RegExp) => names.some((name) => pattern.test(name));
  return (
    nameWords(schema, table).bare.some((word) => PERSONS.has(stemOf(word))) ||
    (hasName(/^(?:f|first|given|for?e|vor)_?na(?:me|m)$/) && hasName(/^(?:l|last|family|sur|nach)_?na(?:me|m)$/))
  );
}

function lessSure({ sql, confidence }: SimpleAnswer): ComposedAnswer {
  return { sql, confidence: Math.min(OTHER_MAX, confidence) };
}
