/**
 * Finds words of a question that its SQL leaves out. Without them another question would be answered. Called by
 * `match-question.ts` once the SQL is written; stateless.
 */
import { nameWords, wordsOfName } from "./bare-names.js";
import { saysRole } from "./link-roles.js";
import { isCalled, type NameMentions, wordScore } from "./name-mentions.js";
import { isVerb, type Question, type Token } from "./question.js";
import type { ColumnRef, SchemaFacts, TableFacts } from "./schema-facts.js";
import { identifier } from "./sql-names.js";
import type { ValueMention } from "./value-mentions.js";
import { isOfKeyedValue, isOpenNow } from "./values-of-roles.js";
import { UNIT_NAMES, UNITS } from "./vocabulary.js";

/** They mean little by themselves and qualify the words beside them. */
const WEIGHTY =
  /^(?:not|never|no|none|neither|nor|without|except|excluding|outside|per|each|most|least|fewest|top|bottom|more|less|fewer|between|average|avg|mean|median|sum|combined|maximum|max|minimum|min|[<>=!]+)$|n['’]t$/;
const NEGATION = /^(?:not|never|no|neither|without)$|n['’]t$/;
/** "Total number of orders" is their number. */
const WHOLE = /^(?:total|overall)$/;
/** Behind a unit it says no more: "minutes played", "hours worked". */
const SPENT =
  /^(?:played|worked|spent|used|logged|recorded|driven|flown|travelled|watched|billed|sold|bought|purchased|ordered)$/;
const isAmount = (word: string) => UNITS.has(word) || /^(?:amount|money)$/.test(word);
/** What makes a ticket a member's. */
const DEALING = /^(?:done|performed|made|bought|purchased|ordered|booked|reserved)$/;
/** A word of the same family (teaches, teacher), or better. */
const SAME_FAMILY = 0.7;
/** Below this a word hardly names a column. */
const SURE = 0.9;
/** For verbs, a synonym as well: what was bought is in orders. */
const SAME_MEANING = 0.6;

/** "Create a list of …" asks for no more than "list …". */
const ASKING =
  /^(?:create|generate|prepare|build|produce|compile|write|a|an|the|me|us|short|list|table|report|overview)$/;
const isReport = (question: Question) =>
  /^(?:list|table|report|overview)$/.test(question.lower(askingLength(question) - 1));

function askingLength(question: Question): number {
  let length = 0;
  while (ASKING.test(question.lower(length))) length++;
  return length;
}

export function unplacedWords(question: Question, schema: SchemaFacts, sql: string): string[] {
  const tables = schema.tables.filter(({ sqlName }) => isIn(sql, sqlName));
  const words: string[] = [];
  const asking = isReport(question) ? askingLength(question) : 0;
  question.tokens.forEach((token, at) => {
    if (at < asking || question.isUsed(at) || !/[\p{L}\p{N}<>=]/u.test(token.text)) return;
    if (isOfEach(question, at, sql) || isOpenNow(question, at, tables, sql)) words.push(token.text);
    else if (token.isPrefix === true) words.push(question.slice(at, at + 2));
    else if (WEIGHTY.test(token.lower)) {
      words.push(token.text);
      const denied = NEGATION.test(token.lower)
        ? question.tokens.slice(at + 1).find(({ isStop }) => !isStop)
        : undefined;
      if (denied !== undefined) words.push(denied.text);
    } else if (WHOLE.test(token.lower)) {
      // "Total transferred per channel" is no number of transfers.
      const isOfAmounts = isVerb(question.lower(at + 1)) || question.says(at + 1, "per|by");
      if (!(isOfAmounts ? /\bsum\(/ : /\b(?:count|sum)\(/).test(sql)) words.push(token.text);
    } else if (isAmount(question.lower(at - 1)) && SPENT.test(token.lower)) return;
    else if (saysRole(question, at, schema, sql)) return;
    else if (isUnitOf(question, at, tables, sql) || isOfKeyedValue(question, at, schema, sql)) return;
    else if (isOfContact(question, at, schema, tables, sql)) return;
    else if (isDealing(question, at, schema, tables) || isFlagged(question, at, tables, sql)) return;
    else if (isMadeIn(question, at, tables, sql)) return;
    else if (isTimeOf(question, at, tables, sql) || isLevelOf(question, at, tables, sql)) return;
    else if (isPlainDeed(question, at, schema, tables, sql) || isDeedOfMeasure(question, at, schema, tables, sql))
      return;
    else if (question.says(at - 2, "do|does", "we|you|they", "sell|stock|carry|keep|own")) return;
    else if ((!token.isStop || isVerbOf(token, schema)) && !isSaid(token, question, schema, tables, sql))
      words.push(token.text);
  });
  return words;
}

/** Names of tables and columns that were read as a part of the query, and of which nothing stands in it. */
export function droppedNames(
  question: Question,
  { tables, columns }: NameMentions,
  values: readonly ValueMention[],
  sql: string,
): string[] {
  const isRead = ({ from, to }: { from: number; to: number }) =>
    question.isUsed(from) && !values.some((value) => from < value.to && value.from < to);
  const list = sql.slice(0, sql.indexOf(" FROM "));
  const lost = columns.filter((mention) => {
    if (!isRead(mention) || mention.candidates[0]!.score < SURE || question.at(mention.from)!.isStop) return false;
    // The ids of rows are their key, whatever it is called.
    const isKeyShown = tables.some(({ table }) =>
      [...table.primaryKey.map(identifier), "*"].some((key) => list.includes(`${table.sqlName}.${key}`)),
    );
    if (question.says(mention.from, "id|ids") && mention.to === mention.from + 1) return !isKeyShown;
    const tablesHere = tables.filter(({ from, to }) => from < mention.to && mention.from < to);
    const named = [
      ...mention.candidates.map(({ ref }) => ref.column.sql ?? ref.column.name),
      ...tablesHere.map(({ table }) => table.sqlName),
    ];
    // "Who never ordered anything": there is no such row at all.
    const isNever = ({ ref }: { readonly ref: ColumnRef }) =>
      sql.includes(`NOT EXISTS (SELECT 1 FROM ${ref.table.sqlName} `);
    if (isVerb(question.lower(mention.from)) && mention.candidates.some(isNever)) return false;
    // "Written by Kim" does not ask when.
    if (isVerb(question.lower(mention.from)) && question.says(mention.to, "by")) return false;
    return !named.some((name) => isIn(sql, name));
  });
  return lost.map(({ from, to }) => question.slice(from, to));
}

/** "Built before 2019", of a year of the thing itself. */
function isMadeIn(question: Question, at: number, tables: readonly TableFacts[], sql: string): boolean {
  if (!question.says(at, "built|made|manufactured|produced|constructed|released")) return false;
  if (!question.says(at + 1, "in|before|after|since|between|from|until")) return false;
  const isYear = ({ name, kind }: TableFacts["columns"][number]) =>
    kind === "number" && isIn(sql, name) && wordsOfName(name).includes("year");
  return tables.some(({ columns }) => columns.some(isYear));
}

/** "Cooking time" of `cook_minutes`: what is measured in units of time is one. */
function isTimeOf(question: Question, at: number, tables: readonly TableFacts[], sql: string): boolean {
  const before = question.at(at - 1);
  if (before === null || !question.says(at, "time|times")) return false;
  const isIt = ({ name, kind }: TableFacts["columns"][number]) => {
    const words = wordsOfName(name);
    const isUnit = /^(?:second|minute|hour|day)$/.test(UNIT_NAMES[words.at(-1)!] ?? "");
    return (
      kind === "number" && isUnit && isIn(sql, name) && words.some((word) => wordScore(before, word) >= SAME_FAMILY)
    );
  };
  return tables.some(({ columns }) => columns.some(isIt));
}

/** "Battery level", "fee amount": of a number of that name it says no more. */
function isLevelOf(question: Question, at: number, tables: readonly TableFacts[], sql: string): boolean {
  const before = question.at(at - 1);
  if (
    before === null ||
    !question.isUsed(at - 1) ||
    !question.says(at, "level|levels|value|values|amount|figure|figures")
  )
    return false;
  return tables.some(({ columns }) =>
    columns.some(
      ({ name, kind, isKey }) =>
        kind === "number" &&
        !isKey &&
        isIn(sql, name) &&
        wordsOfName(name).some((word) => wordScore(before, word) >= SURE),
    ),
  );
}

/** "In minutes", of a number of minutes. */
function isUnitOf(question: Question, at: number, tables: readonly TableFacts[], sql: string): boolean {
  const unit = UNIT_NAMES[question.lower(at)];
  if (unit === undefined || !question.says(at - 1, "in")) return false;
  const isIt = ({ name, sql: of }: TableFacts["columns"][number]) =>
    isIn(sql, of ?? name) && wordsOfName(name).some((word) => UNIT_NAMES[word] === unit);
  return tables.some(({ columns }) => columns.some(isIt));
}

/** "Subscribed to the newsletter", where that is a flag. */
function isFlagged(question: Question, at: number, tables: readonly TableFacts[], sql: string): boolean {
  if (!question.says(at, "subscribed|signed|opted")) return false;
  let next = at + 1;
  while (question.says(next, "to|in|up|for|the|our|a|an")) next++;
  const token = question.at(next);
  const isIt = ({ name, kind }: TableFacts["columns"][number]) =>
    kind === "boolean" && isIn(sql, name) && wordsOfName(name).some((word) => wordScore(token!, word) >= SURE);
  return token !== null && tables.some(({ columns }) => columns.some(isIt));
}

/** "Email address", "phone numbers" of a column `email` or `phone`. */
function isOfContact(
  question: Question,
  at: number,
  schema: SchemaFacts,
  tables: readonly TableFacts[],
  sql: string,
): boolean {
  const before = question.at(at - 1);
  if (!question.says(at - 1, "email|mail|phone|telephone|mobile")) return false;
  if (!/^(?:address|number)(?:es|s)?$/.test(question.lower(at))) return false;
  const isIt = (column: TableFacts["columns"][number]) =>
    isIn(sql, column.name) && isCalled(schema, column, before!, SAME_MEANING);
  return tables.some(({ columns }) => columns.some(isIt));
}

/** "Members who bought tickets" have some, where nothing else is bought. */
function isDealing(question: Question, at: number, schema: SchemaFacts, tables: readonly TableFacts[]): boolean {
  const token = question.at(at)!;
  if (!DEALING.test(token.lower) || !question.says(at - 1, "who|that|which|have|has|had")) return false;
  const isNamed = schema.tables.some((table) =>
    [table, ...table.columns].some((named) => isCalled(schema, named, token, SAME_MEANING)),
  );
  let next = at + 1;
  while (question.says(next, "a|an|any|some|the|most|fewest|least|at|more|than") || question.at(next)?.number != null)
    next++;
  const thing = question.at(next);
  return !isNamed && thing !== null && tables.some((table) => isCalled(schema, table, thing, SURE));
}

/** Of a distance it says no more, though there are drivers. */
const WAY = /^(?:driven|travelled|traveled|covered|flown|ridden|walked|sailed)$/;
/** What is done with such things anyway. */
const DEED =
  /^(?:sold|played|made|placed|held|run|issued|taken|given|performed|recorded|done|bought|purchased|written|produced|conducted|logged)$/;
const BEHIND_DEED =
  "per|by|on|in|at|each|every|through|via|from|with|during|for|of|since|before|after|between|last|this";
/** Rows with such a column may also be of things to which that was not done. */
const STATES = /status|state|stage|phase/i;

/** "Tickets sold per channel": the verb says no more than that there are tickets. */
function isPlainDeed(
  question: Question,
  at: number,
  schema: SchemaFacts,
  tables: readonly TableFacts[],
  sql: string,
): boolean {
  const token = question.at(at)!;
  if (!DEED.test(token.lower) || !/[^s]s$/.test(question.lower(at - 1))) return false;
  if (at + 1 < question.tokens.length && !question.says(at + 1, BEHIND_DEED)) return false;
  // "Sold by Kim" says who did it.
  if (question.says(at + 1, "by") && !sql.includes(" GROUP BY ")) return false;
  const thing = question.at(at - 1)!;
  const isOfThings = ({ name }: TableFacts["columns"][number]) =>
    isIn(sql, name) && wordScore(thing, wordsOfName(name).at(-1)!) >= SURE;
  const done = tables.find((table) => isCalled(schema, table, thing, SURE) || table.columns.some(isOfThings));
  // Where there are sales, they say what was sold.
  if (
    done === undefined ||
    schema.tables.some((table) => table !== done && isCalled(schema, table, token, SAME_MEANING))
  )
    return false;
  return !done.columns.some((column) => STATES.test(column.name) || isCalled(schema, column, token, SAME_MEANING));
}

/** "Total quantity sold of each part": behind what is added up it says no more, where nothing else is called so. */
function isDeedOfMeasure(
  question: Question,
  at: number,
  schema: SchemaFacts,
  tables: readonly TableFacts[],
  sql: string,
): boolean {
  const token = question.at(at)!;
  const thing = question.at(at - 1);
  const isWay = WAY.test(token.lower) && !question.says(at + 1, "by");
  if (thing === null || !question.isUsed(at - 1)) return false;
  const isDeed = DEED.test(token.lower) || /^(?:paid|charged|billed)$/.test(token.lower);
  if (isWay ? !/\b(?:sum|avg|max|min)\(/.test(sql) : !isDeed || !/\bsum\(/.test(sql)) return false;
  const isMeasure = ({ name, kind, isKey }: TableFacts["columns"][number]) =>
    kind === "number" && !isKey && isIn(sql, name) && wordsOfName(name).some((word) => wordScore(thing, word) >= SURE);
  if (!tables.some(({ columns }) => columns.some(isMeasure))) return false;
  if (isWay) return true;
  const fits = (named: TableFacts | TableFacts["columns"][number]) => isCalled(schema, named, token, SAME_MEANING);
  return schema.tables.every((table) => tables.includes(table) || ![table, ...table.columns].some(fits));
}

/** "Offered" says little, but where there are offers. */
function isVerbOf(token: Token, schema: SchemaFacts): boolean {
  if (!isVerb(token.lower)) return false;
  return schema.tables.some((table) => isCalled(schema, table, token, 0.95));
}

/** "Whose books are all in print", "who only read novels", "out of fashion": a condition on all rows, or none. */
function isOfEach(question: Question, at: number, sql: string): boolean {
  // "Paid all their bills", "with rooms in every town".
  if (question.says(at, "all|every", "their|its|his|her")) return true;
  if (question.says(at, "every")) return question.says(at - 1, "in|with|on|at|for|from|by|of|to");
  // "Sorted by town, then name".
  if (question.says(at, "then")) return / ORDER BY /.test(sql);
  if (question.says(at, "all|both")) return question.says(at - 1, "are|were|is|have|has|had|who|that|which|whose");
  if (question.says(at, "only")) return question.says(at - 1, "are|is|have|has|had|who|that|which|whose|ever");
  if (question.says(at, "out") && isVerb(question.lower(at - 1))) return true;
  return question.says(at, "out", "of") || question.says(at, "all", "of", "whose");
}

/** It names a table that the SQL reads, or is a verb for what a column of it says. */
function isSaid(
  token: Token,
  question: Question,
  schema: SchemaFacts,
  tables: readonly TableFacts[],
  sql: string,
): boolean {
  if (token.isQuoted || token.number !== null) return false;
  const fit = (name: TableFacts | TableFacts["columns"][number], word: Token = token) =>
    Math.max(...nameWords(schema, name).bare.map((part) => wordScore(word, part)));
  if (tables.some((table) => fit(table) >= SAME_FAMILY)) return true;
  if (!isVerb(token.lower)) return false;
  // A table that is named is meant by its name: "reserved books" are no bookings.
  const isNamed = (table: TableFacts) =>
    question.tokens.some((word) => word !== token && fit(table, word) >= SAME_FAMILY);
  if (tables.some((table) => fit(table) >= SAME_MEANING && !isNamed(table))) return true;
  return tables.some(({ columns }) =>
    columns.some((column) => isIn(sql, column.sql ?? column.name) && fit(column) >= SAME_MEANING),
  );
}

function isIn(sql: string, name: string): boolean {
  const at = sql.indexOf(name);
  if (at < 0) return false;
  const isWordPart = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}_]/u.test(character);
  return (!isWordPart(sql[at - 1]) && !isWordPart(sql[at + name.length])) || isIn(sql.slice(at + 1), name);
}
