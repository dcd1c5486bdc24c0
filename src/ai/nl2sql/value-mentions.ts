/**
 * Finds values of text columns in a question: runs of its words are looked up in the tenant's rows, a bounded number
 * of each table. Quoted text that is not a value is left to patterns ("starts with", "contains").
 */
import type { NameMentions } from "./name-mentions.js";
import type { Question } from "./question.js";
import type { ColumnRef, SchemaFacts } from "./schema-facts.js";
import { identifier } from "./sql-names.js";
import { DEMONYMS } from "./vocabulary.js";

/** Runs a query and answers its rows. */
export type LookUp = (sql: string, parameters: readonly unknown[]) => Promise<readonly (readonly unknown[])[]>;

export interface ValueMention {
  readonly from: number;
  readonly to: number;
  readonly hits: readonly ValueHit[];
}

export interface ValueHit {
  readonly ref: ColumnRef;
  /** As they are stored; several when the question has one word of each. */
  readonly values: readonly string[];
}

/** Below this a word hardly names a column. */
const SURE = 0.9;
const NOUNS = /^(?:data|work|company|system|people|person|information|place|table|list|record)$/;
/** Words of one value. */
const WORDS_MAX = 6;
/** Columns that are looked through, rows of each, and values that one word may be part of. */
const COLUMNS_MAX = 300;
const ROWS_MAX = 20_000;
const VALUES_MAX = 20;

/** Abbreviations in columns with that name. */
const CODED = /^(sex|gender)$/i;
const CODES: Readonly<Record<string, readonly string[]>> = {
  female: ["f", "w", "woman", "female"],
  women: ["f", "w", "woman", "female"],
  woman: ["f", "w", "woman", "female"],
  girls: ["f", "female", "girl"],
  male: ["m", "man", "male"],
  men: ["m", "man", "male"],
  man: ["m", "man", "male"],
  boys: ["m", "male", "boy"],
};

interface Run {
  readonly from: number;
  readonly to: number;
}

export async function valueMentions(
  question: Question,
  schema: SchemaFacts,
  names: NameMentions,
  lookUp: LookUp,
): Promise<ValueMention[]> {
  const runs = candidateRuns(question, names);
  const parts = candidateParts(question, names);
  const forms = otherForms(question, names);
  if (runs.size === 0 && parts.size === 0) return [];
  const found = new Map<string, { run: Run; hits: ValueHit[]; isWhole: boolean }>();
  const add = (run: Run, ref: ColumnRef, value: string, isWhole: boolean) => {
    const key = `${run.from} ${run.to} ${isWhole}`;
    const entry = found.get(key) ?? { run, hits: [], isWhole };
    found.set(key, entry);
    const same = entry.hits.find((hit) => hit.ref.column === ref.column);
    if (same === undefined) entry.hits.push({ ref, values: [value] });
    else if (!same.values.includes(value)) (same.values as string[]).push(value);
  };
  for (const ref of textColumns(schema)) {
    const codes = CODED.test(ref.column.name) ? Object.values(CODES).flat() : [];
    for (const value of await valuesIn(ref, [...runs.keys(), ...forms.keys(), ...codes], [...parts.keys()], lookUp)) {
      const lower = value.toLowerCase();
      for (const run of runs.get(lower) ?? []) add(run, ref, value, true);
      for (const { run, isOf } of forms.get(lower) ?? []) if (isOf(ref)) add(run, ref, value, false);
      if (codes.length > 0) {
        question.tokens.forEach((token, i) => {
          if (CODES[token.lower]?.includes(lower)) add({ from: i, to: i + 1 }, ref, value, true);
        });
      }
      for (const word of new Set(lower.split(/\s+/))) {
        for (const run of parts.get(word) ?? []) add(run, ref, value, false);
      }
    }
  }
  return withoutOverlaps([...found.values()]);
}

function textColumns({ tables }: SchemaFacts): ColumnRef[] {
  const refs = tables.flatMap((table) =>
    table.columns.filter(({ kind }) => kind === "text").map((column) => ({ table, column })),
  );
  return refs.slice(0, COLUMNS_MAX);
}

async function valuesIn(ref: ColumnRef, runs: string[], parts: string[], lookUp: LookUp): Promise<string[]> {
  const name = identifier(ref.column.name);
  const rows = await lookUp(
    `SELECT DISTINCT v FROM (SELECT ${name}::text AS v FROM ${ref.table.sqlName} LIMIT ${ROWS_MAX}) AS looked
     WHERE lower(v) = ANY($1::text[]) OR string_to_array(lower(v), ' ') && $2::text[] LIMIT 200`,
    [runs, parts],
  );
  return rows.map(([value]) => String(value));
}

/** Runs of words by what they may read like in a row, in lower case. */
function candidateRuns(question: Question, names: NameMentions): Map<string, Run[]> {
  const runs = new Map<string, Run[]>();
  const add = (text: string, run: Run) => runs.set(text, [...(runs.get(text) ?? []), run]);
  const { tokens } = question;
  // "The data track": a noun that says little elsewhere.
  const isNoun = (at: number) =>
    NOUNS.test(tokens[at]!.lower) &&
    names.columns.some(({ from, candidates }) => from === at + 1 && candidates[0]!.score >= SURE);
  for (let from = 0; from < tokens.length; from++) {
    for (let to = from + 1; to <= Math.min(tokens.length, from + WORDS_MAX); to++) {
      if (to === from + 1 && ((tokens[from]!.isStop && !isNoun(from)) || isPlainNumber(question, from))) continue;
      const run = { from, to };
      const text =
        tokens[from]!.isQuoted && to === from + 1 ? tokens[from]!.lower : question.slice(from, to).toLowerCase();
      for (const form of formsOf(text)) add(form, run);
    }
  }
  return runs;
}

function isPlainNumber(question: Question, at: number): boolean {
  return /^\d/.test(question.tokens[at]!.text) && question.tokens[at]!.number !== null;
}

/** Singular and plural, both spellings of doubled letters. */
function formsOf(text: string): Set<string> {
  const forms = new Set([text, text.replace(/[.?!,;:]+$/, ""), text.replaceAll(/\s*-\s*/g, " ")]);
  for (const form of [...forms]) {
    if (/s$/.test(form)) forms.add(form.slice(0, -1));
    else forms.add(`${form}s`);
    if (/ies$/.test(form)) forms.add(`${form.slice(0, -3)}y`);
    if (/es$/.test(form)) forms.add(form.slice(0, -2));
    if (/lled$/.test(form)) forms.add(form.replace(/lled$/, "led"));
    else if (/led$/.test(form)) forms.add(form.replace(/led$/, "lled"));
  }
  return forms;
}

interface OtherForm {
  readonly run: Run;
  readonly isOf: (ref: ColumnRef) => boolean;
}

const NATION = /countr|ctry|nation|land\b|origin/i;
/** A word of the same family, or better: a column's or table's name. */
const FAMILY = 0.7;

/** Values that single words say in another form: "failed" is fail, "approval" approved, "Spanish" of Spain. */
function otherForms(question: Question, names: NameMentions): Map<string, OtherForm[]> {
  const forms = new Map<string, OtherForm[]>();
  const add = (form: string, other: OtherForm) => forms.set(form, [...(forms.get(form) ?? []), other]);
  question.tokens.forEach(({ lower, stem, number, isStop, isQuoted, isCapitalised }, at) => {
    if (isStop || isQuoted || number !== null) return;
    const run = { from: at, to: at + 1 };
    for (const nation of DEMONYMS[lower] ?? []) add(nation, { run, isOf: ({ column }) => NATION.test(column.name) });
    const isNamed = [...names.tables, ...names.columns].some(
      (each) => each.from <= at && at < each.to && scoreOf(each) >= FAMILY,
    );
    if (isCapitalised || isNamed || !DONE.test(lower) || stem.length < 4) return;
    for (const form of [stem, `${stem}e`, `${stem}ed`, `${stem}${stem.at(-1)}ed`])
      if (form !== lower) add(form, { run, isOf: ({ column }) => !column.isKey });
  });
  return forms;
}

const DONE = /(?:ed|al|ion|ment|ure)$/;
const scoreOf = (each: NameMentions["tables"][number] | NameMentions["columns"][number]) =>
  "table" in each ? each.score : each.candidates[0]!.score;

/** Single words that may be a part of a value: proper names that are no word of the schema. */
function candidateParts(question: Question, names: NameMentions): Map<string, Run[]> {
  const parts = new Map<string, Run[]>();
  question.tokens.forEach(({ isCapitalised, lower, isStop }, i) => {
    if (!isCapitalised || i === 0 || lower.length < 3 || isStop) return;
    const covers = ({ from, to }: Run) => from <= i && i < to;
    if (names.tables.some(covers) || names.columns.some(covers)) return;
    parts.set(lower, [...(parts.get(lower) ?? []), { from: i, to: i + 1 }]);
  });
  return parts;
}

/** Whole values before parts, long ones before short ones. */
function withoutOverlaps(found: { run: Run; hits: ValueHit[]; isWhole: boolean }[]): ValueMention[] {
  const length = ({ from, to }: Run) => to - from;
  found.sort((a, b) => Number(b.isWhole) - Number(a.isWhole) || length(b.run) - length(a.run));
  const kept: ValueMention[] = [];
  for (const { run, hits } of found) {
    if (kept.some(({ from, to }) => run.from < to && from < run.to)) continue;
    const few = hits.filter(({ values }) => values.length <= VALUES_MAX);
    if (few.length > 0) kept.push({ ...run, hits: few });
  }
  return kept.sort((a, b) => a.from - b.from);
}

const isOf = (hits: readonly ValueHit[], { column }: ColumnRef) => hits.some(({ ref }) => ref.column === column);

/** Whether the word names a time as well: "shipped" of `shipped_at`. */
export const isWhen = ({ columns }: NameMentions, at: number): boolean =>
  columns.some(
    ({ from, candidates }) =>
      from === at && candidates.some(({ ref, score }) => /^(?:date|timestamp)$/.test(ref.column.kind) && score >= SURE),
  );

/** "Without a manager", "manager of Scott": the column of that name, though it is also somebody's job. */
export function isColumnMeant(question: Question, names: NameMentions, { from, to, hits }: ValueMention): boolean {
  const { columns, tables } = names;
  const isTable = tables.some((each) => each.from === from && each.to === to && each.score >= SURE);
  const isBeside = columns.some(
    (each) => (each.to === from || each.from === to) && each.candidates.some(({ ref }) => isOf(hits, ref)),
  );
  // A branch is a branch, though "branch" is also a channel.
  if (isTable && !isBeside && !question.at(from)!.isQuoted) return true;
  // "Members of Iron Pact" are all of guild_members, though the rank of some is "member".
  const { lower, isQuoted } = question.at(from)!;
  const isWritten = hits.some(({ values }) => values.some((value) => value.toLowerCase() === lower));
  const isPlural = to === from + 1 && /[^s]s$/.test(lower) && !isWritten;
  const isFirst = from === 0 || question.says(from - 1, "of|many|the|all|which|what|list|show|any");
  // "Per lecturer": lecturers differ, of those who are called so there is one kind.
  if (!isQuoted && question.says(from - 1, "per|each|every") && tables.some((each) => each.from === from)) return true;
  if (isPlural && !isQuoted && isFirst && tables.some((each) => each.from === from)) return true;
  const isColumn = columns.some((each) => each.from === from && each.to === to && each.candidates[0]!.score >= SURE);
  // "How many docks", "more than 20 docks", though a district is called so.
  const isCounted =
    question.says(from - 2, "how|number", "many|of") ||
    question.at(from - 1)?.number != null ||
    (question.says(from - 1, "more|fewer|less") && question.says(to, "than"));
  if (isColumn && isCounted && !question.at(from)!.isQuoted) return true;
  let before = from - 1;
  while (question.says(before, "a|an|any|the")) before--;
  // "Orders that have not been shipped": a day says when they were, whatever their state is now.
  if (question.says(before, "been") && question.says(before - 1, "not|never") && isWhen(names, from)) return true;
  return isColumn && (question.says(before, "without|no|lack|lacks|lacking|missing") || question.says(to, "of"));
}
