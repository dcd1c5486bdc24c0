/**
 * Answers questions with SQL by rules alone, without a model: the words of the question are matched with the names of
 * the tenant's tables and columns and with values in its rows. Called by the handler of /v1/nl2sql/query if no
 * provider is configured. It is deterministic: equal questions over equal data give equal SQL.
 */
import { DbError } from "../../protocol/errors.js";
import { ASKABLE_MAX, askableQuestions } from "./askable.js";
import { restatedWords, unshownWords } from "./asked-entity.js";
import { wordsOfName } from "./bare-names.js";
import type { Answer, SimpleAnswer } from "./composed-answer.js";
import { composedAnswer } from "./compositions.js";
import { confidenceOf, LIKELY, likelihood } from "./confidence.js";
import { denyingPrefix, opposite } from "./denied-words.js";
import { withDurations } from "./durations.js";
import { withGuessedKeys } from "./guessed-keys.js";
import { meantLinks } from "./link-roles.js";
import { misreadWords } from "./misread-words.js";
import { mendedQuestion } from "./misspellings.js";
import { withWholeMoney } from "./money-units.js";
import { nameMentions } from "./name-mentions.js";
import { inOtherWords } from "./other-wordings.js";
import { plainerWords } from "./plainer-words.js";
import type { QueryShape } from "./query-shape.js";
import { Question } from "./question.js";
import { QuestionReader } from "./read-question.js";
import { withMargin, withRevenue } from "./revenue-columns.js";
import type { SchemaFacts } from "./schema-facts.js";
import { identifier } from "./sql-names.js";
import { withStoredUnits } from "./stored-units.js";
import { withFlags } from "./text-flags.js";
import { withTextTimes } from "./text-times.js";
import { fewestQuery, leftOutQuery, withNone } from "./traits.js";
import { droppedNames, unplacedWords } from "./unplaced-words.js";
import { type LookUp, type ValueMention, valueMentions } from "./value-mentions.js";
import { linkCondition, writeQuery } from "./write-query.js";

export interface MatchedQuestion {
  readonly sql: string;
  /** 0 to 1: how likely it is right, told with caution. */
  readonly confidence: number;
}

interface Understood extends MatchedQuestion {
  /** It is understood in other words, or with misspelt names mended: it is told no surer than the rules are. */
  readonly isMended: boolean;
  /** A phrase that has one meaning: not refused, though its words alone say little of what is read. */
  readonly isPhrase: boolean;
}

/** Rules are never quite sure. */
const CONFIDENCE_MAX = 0.95;
/** What each part of the question beyond two takes from that: there is more to misread. */
const RISK = 0.03;
const PARTS_SURE = 2;
/** Rows that are looked at for codes, how many different ones a column of codes has, and rows that have each. */
const CODED_ROWS = 20_000;
const CODES_MAX = 3;
const CODED_MIN = 3;
/** Runs of so many words are looked up in the tenant's rows. */
const WORDS_MAX = 100;

/** What is taken from it where words are read as misspelt names. */
const MISSPELT = 0.15;

/** Throws question_not_understood, with what was understood. */
export async function matchQuestion(asked: string, declared: SchemaFacts, lookUp: LookUp): Promise<MatchedQuestion> {
  const stored = await withFlags(await withGuessedKeys(declared, lookUp), lookUp);
  const read = understoodBy(plainerWords(asked), stored, lookUp);
  const {
    sql,
    confidence: certainty,
    isPhrase,
    isMended,
  } = await read.catch(async (error: unknown) => {
    throw await withAskable(error, stored, lookUp);
  });
  await requireMissing(sql, stored, lookUp);
  const fewest = fewestQuery(sql);
  if (fewest !== null && (await lookUp(fewest, [])).length > 0) throw unsure(sql.replace("LEFT JOIN", "JOIN"), sql);
  const without = leftOutQuery(sql);
  const leftOut = without !== null && (await lookUp(without, [])).length > 0;
  const likely = likelihood(asked, { sql, certainty, leftOut }, stored);
  if (leftOut && likely < LIKELY && !isPhrase) throw unsure(sql, withNone(sql, stored));
  const confidence = confidenceOf(likely);
  return { sql, confidence: isMended ? Math.min(confidence, certainty) : confidence };
}

/** "Without oxygen" where the column is a code that no row lacks: one of its values says so, nobody knows which. */
async function requireMissing(sql: string, { tables }: SchemaFacts, lookUp: LookUp): Promise<void> {
  for (const { sqlName, columns } of tables) {
    for (const column of columns) {
      const name = `${sqlName}.${identifier(column.name)}`;
      if (column.kind !== "text" || column.isKey || !sql.includes(`${name} IS NULL`)) continue;
      const looked = `SELECT ${name} AS v FROM ${sqlName} LIMIT ${CODED_ROWS}`;
      const codes = await lookUp(
        `SELECT v, count(*) FROM (${looked}) AS looked GROUP BY v ORDER BY count(*) LIMIT ${CODES_MAX + 1}`,
        [],
      );
      const isOften = codes.length > 0 && Number(codes[0]![1]) >= CODED_MIN;
      if (!isOften || codes.length > CODES_MAX || codes.some(([value]) => value === null)) continue;
      const understood = { tables: [], columns: [name], values: [] };
      throw notUnderstood(`Every row has a value of ${name}.`, understood, wordsOfName(column.name));
    }
  }
}

/** What is not understood, with questions about the same tables that are. */
async function withAskable(error: unknown, facts: SchemaFacts, lookUp: LookUp): Promise<unknown> {
  if (!(error instanceof DbError) || error.code !== "question_not_understood" || error.details?.readings !== undefined)
    return error;
  const { tables } = (error.details as { readonly understood?: Understanding } | undefined)?.understood ?? {
    tables: [],
  };
  const askable: string[] = [];
  for (const question of askableQuestions(facts, tables)) {
    if (askable.length < ASKABLE_MAX && (await understood(question, facts, lookUp)) !== null) askable.push(question);
  }
  if (askable.length === 0) return error;
  const hint = `You could ask ${askable.map((question) => `"${question}"`).join(" or ")}. ${error.details?.hint ?? ""}`;
  return new DbError(error.code, error.message, { ...error.details, could_ask: askable, hint: hint.trim() });
}

/** By the rules alone; its confidence is theirs. */
async function understoodBy(text: string, stored: SchemaFacts, lookUp: LookUp): Promise<Understood> {
  const earned = withMargin(withRevenue(await withTextTimes(stored, lookUp), text), text);
  const facts = withDurations(withWholeMoney(earned, text), text);
  const asked: Answer = (simpler, schema = facts) => understood(simpler, schema, lookUp);
  const composed = await composedAnswer(text, facts, asked);
  if (composed !== null) return { ...composed, isPhrase: true, isMended: false };
  try {
    const { sql, confidence } = await matchWords(text, facts, lookUp);
    return { sql, confidence, isPhrase: false, isMended: false };
  } catch (error) {
    const isOpen = error instanceof DbError && error.details?.readings === undefined;
    const other = isOpen ? await inOtherWords(text, facts, asked) : null;
    if (other !== null) return { ...other, isPhrase: true, isMended: true };
    const mended = isOpen ? mendedQuestion(text, facts) : null;
    if (mended === null) throw error;
    const { sql, confidence } = await matchWords(mended, facts, lookUp).catch(() => {
      throw error;
    });
    const less = Math.round(Math.max(0.05, confidence - MISSPELT) * 100) / 100;
    return { sql, confidence: less, isPhrase: false, isMended: true };
  }
}

/** Null: it is not, or in several ways. */
async function understood(text: string, facts: SchemaFacts, lookUp: LookUp): Promise<SimpleAnswer | null> {
  try {
    return await matchWords(text, facts, lookUp);
  } catch (error) {
    if (error instanceof DbError && error.code === "question_not_understood") return null;
    throw error;
  }
}

async function matchWords(text: string, facts: SchemaFacts, lookUp: LookUp): Promise<SimpleAnswer> {
  const question = new Question(
    text,
    (word) => denyingPrefix(word, facts),
    (word) => opposite(word, facts),
  );
  const { schema, unclear } = meantLinks(question, facts);
  if (question.tokens.length > WORDS_MAX) {
    const nothing = { tables: [], columns: [], values: [] };
    throw notUnderstood(`It has more than ${WORDS_MAX} words.`, nothing, []);
  }
  const names = nameMentions(question, schema);
  const values = await valueMentions(question, schema, names, lookUp);
  const found = () => understanding(names, values);
  const reader = new QuestionReader(question, schema, names, values);
  const read = reader.read();
  if (read === null) throw notUnderstood("It names no existing table or column.", found(), []);
  const sql = writeQuery(read.shape, schema);
  if (sql === null) throw notUnderstood("Its tables are not connected by foreign keys.", found(), []);
  for (const [link, columns] of unclear) {
    if (!sql.includes(linkCondition(link))) continue;
    throw notUnderstood(`It does not say which of ${columns.join(", ")} is meant.`, found(), []);
  }
  const unshown = [
    ...unshownWords(question, names, read.shape),
    ...restatedWords(question, read.shape),
    ...misreadWords(question, read.shape),
    ...droppedNames(question, names, values, sql),
  ];
  const missing = [...new Set([...unplacedWords(question, schema, sql), ...reader.columns.notPlaced, ...unshown])];
  if (missing.length > 0) {
    throw notUnderstood(
      `What does the question mean by ${missing.map((word) => `"${word}"`).join(", ")} was not found.`,
      found(),
      missing,
    );
  }
  const known = await withStoredUnits(reader.columns.measured, facts, lookUp);
  if (typeof known === "string") throw notUnderstood(`${known} does not say what unit it is in.`, found(), []);
  if (known !== facts) return matchWords(text, known, lookUp);
  const meant = read.readings.length > 0 ? read.readings : reader.columns.rivals.readings(read.shape);
  const readings = meant.flatMap(({ meaning, shape }) => {
    const written = writeQuery(shape, schema);
    return written === null ? [] : [{ meaning, sql: written }];
  });
  if (readings.length > 1) throw ambiguous(readings, found());
  const certainty = Math.min(CONFIDENCE_MAX, read.certainty) - RISK * Math.max(0, partsOf(read.shape) - PARTS_SURE);
  const confidence = Math.round(Math.max(0.05, certainty) * 100) / 100;
  return { sql, confidence, shape: read.shape };
}

function partsOf({ filters, groups, related, aggregates, ...shape }: QueryShape): number {
  const { having, havingValue, ranking, order, firstOfEach } = shape;
  const single = [having, havingValue, ranking, order, firstOfEach].filter((part) => part !== null).length;
  return filters.length + groups.length + related.length + aggregates.length + single;
}

/** What the rules make of it is wrong too often: whoever asked may still choose it. `all`: with those of none. */
function unsure(sql: string, all: string | null): DbError {
  const readings =
    all === null
      ? [{ meaning: "as far as its words were understood", sql }]
      : [
          { meaning: "only those that have some", sql },
          { meaning: "also those that have none", sql: all },
        ];
  const why = all === null ? "What it was taken for is not sure enough." : "It may mean those that have none, too.";
  return new DbError("question_not_understood", `The question cannot be turned into SQL. ${why}`, {
    readings,
    hint: 'Run a statement in "readings", or say more in the names of tables and columns (GET /v1/schema/tables).',
  });
}

interface Understanding {
  readonly tables: readonly string[];
  readonly columns: readonly string[];
  readonly values: readonly string[];
}

function understanding(names: ReturnType<typeof nameMentions>, values: readonly ValueMention[]): Understanding {
  const qualified = ({ table, column }: { table: { name: string }; column: { name: string } }) =>
    `${table.name}.${column.name}`;
  return {
    tables: [...new Set(names.tables.map(({ table }) => table.name))],
    columns: [...new Set(names.columns.map(({ candidates }) => qualified(candidates[0]!.ref)))],
    values: values.map(({ hits }) => `${qualified(hits[0]!.ref)} = ${hits[0]!.values[0]}`),
  };
}

/** Whoever asked chooses one. */
function ambiguous(
  readings: readonly { readonly meaning: string; readonly sql: string }[],
  understood: Understanding,
): DbError {
  const meanings = readings.map(({ meaning }) => meaning).join(", or ");
  return new DbError("question_not_understood", `The question has several meanings: ${meanings}.`, {
    understood,
    readings,
    hint: 'Say which is meant, such as "by total amount", or run one of the statements in "readings".',
  });
}

function notUnderstood(why: string, understood: Understanding, words: readonly string[]): DbError {
  const parts = Object.entries(understood).filter(([, items]) => items.length > 0);
  const said = parts.map(([kind, items]) => `${kind} ${items.join(", ")}`).join("; ");
  return new DbError(
    "question_not_understood",
    `The question cannot be turned into SQL. ${why} Understood: ${said === "" ? "nothing" : said}.`,
    {
      understood,
      ...(words.length > 0 && { not_understood: words }),
      hint: "Use the names of tables and columns (GET /v1/schema/tables), or configure an AI provider.",
    },
  );
}
