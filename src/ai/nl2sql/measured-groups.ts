/**
 * Finds groups that are put in order, or chosen, by an aggregate of their rows: "top 3 customers by total amount", "the
 * team with the highest average rate", "drivers whose total distance is more than 5000". Called by read-question.ts;
 * uses words only once it is sure.
 */
import { wordsOfName } from "./bare-names.js";
import { type ColumnFinder, isNumber } from "./column-finder.js";
import type { Condition } from "./conditions.js";
import type { ColumnMention, NameMentions } from "./name-mentions.js";
import { type Named, namedAt, type Superlative } from "./phrases.js";
import type { AggregateFn, GroupKey, QueryShape } from "./query-shape.js";
import { isVerb, type Question, stemOf } from "./question.js";
import { type ColumnRef, pathBetween, type SchemaFacts, type TableFacts } from "./schema-facts.js";
import { AGGREGATES, SUMS } from "./vocabulary.js";

export interface MeasuredGroups {
  readonly base: TableFacts;
  readonly group: GroupKey;
  readonly aggregate: { readonly fn: AggregateFn; readonly ref: ColumnRef };
  readonly order: QueryShape["order"];
  readonly limit: number | null;
  readonly having: QueryShape["havingValue"];
  /** Other aggregates that the question may mean as well: it names none. */
  readonly others: readonly AggregateFn[];
}

/** Whether it is the condition that the groups are chosen by. */
export const isOfHaving = ({ numbers, comparison }: Condition, { having }: MeasuredGroups) =>
  numbers?.[0] === having!.number && comparison === having!.comparison;

interface Phrase {
  readonly fn: AggregateFn | null;
  readonly from: number;
  readonly measure: ColumnMention;
  readonly entity: Named;
  readonly superlative: Superlative | null;
  readonly condition: Condition | null;
}

export function measuredGroups(
  question: Question,
  schema: SchemaFacts,
  names: NameMentions,
  columns: ColumnFinder,
  first: Superlative | null,
  conditions: readonly Condition[],
): MeasuredGroups | null {
  const phrase = rankedBy(question, names, first) ?? chosenBy(question, names, conditions);
  if (phrase === null) return null;
  const { entity, measure, superlative, condition } = phrase;
  const near = entity.kind === "table" ? entity.mention.table : null;
  const ref = columns.resolve(measure, isNumber, near);
  if (ref === null) return null;
  const group = groupOf(entity, ref.table, columns);
  if (group === null) return null;
  const base = group.kind === "table" ? group.table : ref.table;
  // A row of its own has the number itself: nothing is added up.
  const isMany =
    group.kind === "column" || pathBetween(schema, base, ref.table, columns.named)?.some(({ toMany }) => toMany);
  if (isMany !== true) return null;
  useWords(question, phrase);
  const isSum = isSold(question, phrase.measure) || isOfSums(ref);
  const fn = phrase.fn ?? "sum";
  const aggregate = { fn, ref };
  const isBottom = superlative !== null && question.lower(superlative.at) === "bottom";
  return {
    base,
    group,
    aggregate,
    order: superlative === null ? null : { ref: null, descending: superlative.measure?.descending ?? !isBottom },
    limit: superlative === null ? null : (superlative.count ?? 1),
    having: condition === null ? null : { aggregate, comparison: condition.comparison, number: condition.numbers![0]! },
    others: phrase.fn === null && !isSum ? ["max", "avg"] : [],
  };
}

/** "Units sold" are all of them. */
const isSold = (question: Question, { to }: ColumnMention) => question.says(to, "sold|ordered|bought|purchased");
const isOfSums = ({ column }: ColumnRef) =>
  wordsOfName(column.name).some((word) => SUMS.some((sum) => stemOf(sum) === stemOf(word)));

/** "top 3 X by [total] Y", "X with the highest total Y". */
function rankedBy(question: Question, names: NameMentions, first: Superlative | null): Phrase | null {
  if (first === null) return null;
  if (first.isMost) return mostOf(question, names, first);
  const isTop = first.measure === null;
  if (!isTop && first.measure!.words.length > 0) return null;
  const by = isTop
    ? question.tokens.findIndex((_, at) => at >= first.to && at <= first.to + 4 && question.says(at, "by"))
    : first.to - 1;
  if (by < 0) return null;
  const found = measureAt(question, names, by + 1);
  if (found === null || (found.fn === null && !isTop)) return null;
  const entity = isTop ? entityIn(names, first.to, by) : (entityIn(names, 0, first.at) ?? null);
  return entity === null ? null : { ...found, entity, superlative: first, condition: null };
}

/** "Which town has the most seats", where several rows have the town; "the author with the most likes". */
function mostOf(question: Question, names: NameMentions, first: Superlative): Phrase | null {
  const found = measureAt(question, names, first.to);
  // "Which pub ordered the most kegs": what was done is not who did it.
  let end = question.says(first.at - 1, "the") ? first.at - 1 : first.at;
  if (isVerb(question.lower(end - 1)) && namedAt(names, end - 1) !== null) end--;
  const entity = entityIn(names, 0, end);
  if (found === null || entity === null || namedAt(names, first.to)?.kind === "table") return null;
  return { ...found, fn: "sum", entity, superlative: { ...first, at: end }, condition: null };
}

/** "X whose total Y is more than 5". */
function chosenBy(question: Question, names: NameMentions, conditions: readonly Condition[]): Phrase | null {
  for (const condition of conditions) {
    if (condition.numbers?.length !== 1 || condition.isAverage) continue;
    for (let at = condition.from - 1; at >= Math.max(1, condition.from - 6); at--) {
      const found = AGGREGATES[question.lower(at)] === undefined ? null : measureAt(question, names, at);
      if (found?.fn == null || found.measure.to > condition.from) continue;
      const entity = entityIn(names, 0, at);
      if (entity !== null) return { ...found, entity, superlative: null, condition };
    }
  }
  return null;
}

function measureAt(
  question: Question,
  names: NameMentions,
  start: number,
): Pick<Phrase, "fn" | "from" | "measure"> | null {
  let at = start;
  while (question.says(at, "the|their|its|an|a")) at++;
  const from = at;
  const fn = AGGREGATES[question.lower(at)] ?? null;
  if (fn !== null) at++;
  while (question.says(at, "of|the|their")) at++;
  // "The average room price".
  const owner = names.tables.find((mention) => mention.from === at);
  const isOwned = owner !== undefined && names.columns.some((mention) => mention.from === owner.to);
  if (fn !== null && isOwned) at = owner.to;
  const isMeasure = ({ candidates }: ColumnMention) =>
    candidates.some(({ ref, score }) => isNumber(ref) && score >= 0.5);
  const measure =
    names.columns.find((mention) => mention.from === at && isMeasure(mention)) ??
    (fn === null ? undefined : names.columns.find((mention) => mention.from === from && isMeasure(mention)));
  return measure === undefined ? null : { fn, from, measure };
}

/** The last thing that is named there. */
function entityIn(names: NameMentions, from: number, to: number): Named | null {
  for (let at = to - 1; at >= from; at--) {
    const named = namedAt(names, at);
    if (named !== null && named.mention.to <= to) return named;
  }
  return null;
}

function groupOf(entity: Named, measured: TableFacts, columns: ColumnFinder): GroupKey | null {
  if (entity.kind === "table") return { kind: "table", table: entity.mention.table };
  const ref = columns.resolve(entity.mention, ({ column }) => column.kind !== "number" || column.isKey, measured);
  return ref === null ? null : { kind: "column", ref };
}

function useWords(question: Question, { from, measure, entity, superlative, condition }: Phrase): void {
  question.use(from, measure.to);
  question.use(entity.mention.from, entity.mention.to);
  if (superlative !== null) question.use(superlative.at, superlative.to);
  if (condition !== null) question.use(condition.from, condition.to);
}
