/**
 * Finds the column that a word of a question means: by how well it fits, and by how near its table is to the rows that
 * are asked for. One per question; `read-question.ts` sets the rows' table as soon as it is known.
 */
import { nameWords, wordsOfName } from "./bare-names.js";
import { type Condition, hasYears } from "./conditions.js";
import { type RoleMention, roleAt } from "./link-roles.js";
import { type ColumnMention, type NameMentions, type TableMention, wordScore } from "./name-mentions.js";
import type { GroupKey } from "./query-shape.js";
import { isVerb, type Question, stemOf } from "./question.js";
import { likelyTimes, RivalColumns } from "./rival-columns.js";
import {
  type ColumnFacts,
  type ColumnRef,
  endOf,
  type LinkFacts,
  pathBetween,
  type SchemaFacts,
  type TableFacts,
} from "./schema-facts.js";
import type { Measured } from "./stored-units.js";
import { AGGREGATES, AMOUNTS, type Measure, UNIT_NAMES } from "./vocabulary.js";

export type Kinds = (ref: ColumnRef) => boolean;

export const isNumber: Kinds = ({ column }) => column.kind === "number" && !column.isKey;
export const isTime: Kinds = ({ column }) => column.kind === "date" || column.kind === "timestamp";
export const isText: Kinds = ({ column }) => column.kind === "text";
export const isBoolean: Kinds = ({ column }) => column.kind === "boolean";
export const anyKind: Kinds = () => true;
/** Whole years: `enrolled_year`, `founded`. */
export const isYearNumber: Kinds = (ref) =>
  isNumber(ref) &&
  wordsOfName(ref.column.name).some((word) =>
    /year|^(?:yr|vintage|founded|established|built|born|since|commissioned|opened|launched|introduced|constructed|released)$/.test(
      word,
    ),
  );
/** Not the year in which a thing was made: `election_year`, `season`. */
const isEventYear = ({ column }: ColumnRef) =>
  /year|season|(?:^|_)yr$/i.test(column.name) &&
  !/birth|born|built|made|model|found|establish|open|launch|construct|releas|publi/i.test(column.name);
const isBirth = ({ column }: ColumnRef) => /birth|born|dob/i.test(column.name);

/** Units of what a name or an adjective says: nobody knows whether a lone number is of days. */
const MEASURED: ReadonlySet<string> = new Set(
  "second minute hour day week month year kilogram gram milligram metre centimetre kilometre mile".split(" "),
);
const MONEY: ReadonlySet<string> = new Set(["dollar", "euro", "pound"]);
const AMOUNT_STEMS: ReadonlySet<string> = new Set(AMOUNTS.map(stemOf));
const MONEY_WORDS = ["price", "salary", "total", "budget", "revenue", "balance"];
/** A synonym, or better. */
const MEANING = 0.6;

const DOUBT = 0.85;
const SURE = 0.85;
/** Two columns fit as well. */
const SAME = 0.001;

const nameFits = (word: string, { column }: ColumnRef) =>
  wordsOfName(column.name).some((part) => wordScore({ lower: word, stem: stemOf(word) }, part) >= SURE);

export class ColumnFinder {
  /** Whose rows are asked for. */
  base: TableFacts | null = null;
  /** Tables that rows are grouped by: when those came into being is no time of the rows. */
  groupTables: readonly TableFacts[] = [];
  /** Tables that the question names. */
  readonly named = new Set<TableFacts>();
  /** Least score of the names that the query rests on. */
  certainty = 1;
  /** Words of conditions that no column was found for. */
  readonly notPlaced: string[] = [];
  /** Columns that may be meant as well as those that were taken. */
  readonly rivals = new RivalColumns();
  /** Columns that are compared with numbers, and the numbers' units. */
  readonly measured: Measured[] = [];

  constructor(
    private readonly question: Question,
    private readonly schema: SchemaFacts,
    private readonly names: NameMentions,
  ) {}

  /** The column that a mention means here; null: none of that kind can be reached. */
  resolve(mention: ColumnMention, kinds: Kinds, near: TableFacts | null = this.base): ColumnRef | null {
    const scored = mention.candidates
      .filter(({ ref }) => kinds(ref))
      .map(({ ref, score: fit }) => ({ ref, fit, score: fit + this.nearness(ref.table, near) }));
    scored.sort((a, b) => b.score - a.score);
    const [best] = scored;
    if (best === undefined || best.score <= 0) return null;
    const rivals = scored.filter(({ ref, score }) => best.score - score < SAME && this.isRival(best.ref, ref, near));
    this.rivals.note(
      best.ref,
      rivals.map(({ ref }) => ref),
    );
    this.certainty = Math.min(this.certainty, best.fit + 0.3);
    // A synonym in another table: the rows may have what is meant by a name that nobody knows.
    if (this.base !== null && best.ref.table !== this.base && best.fit <= MEANING) this.doubt();
    return best.ref;
  }

  /** Whether both may be meant: of two tables beside the rows, or two that have no more than a word of the question. */
  private isRival(one: ColumnRef, other: ColumnRef, near: TableFacts | null): boolean {
    if (near === null || one.column === other.column) return false;
    return one.table === other.table || (one.table !== near && other.table !== near);
  }

  /** Columns of several tables have the value, and nothing tells which of them is meant. */
  noteValueRivals(best: ColumnRef, all: readonly ColumnRef[]): void {
    this.rivals.note(
      best,
      all.filter((ref) => ref.table !== best.table && this.isRival(best, ref, this.base)),
    );
  }

  /** Whether a row that is asked for has one row of that table. */
  isOneOf(table: TableFacts): boolean {
    const path = pathBetween(this.schema, this.base!, table, this.named);
    return path?.every(({ toMany }) => !toMany) === true;
  }

  /** "The average rating", where the rows are ratings and their number is of stars. Several of them are counted. */
  areRows(at: number): boolean {
    return (
      !this.question.lower(at).endsWith("s") &&
      this.names.tables.some(({ from, table }) => from === at && table === this.base)
    );
  }

  /** Whether all rows of that table are of one row that is asked for: orders of customers, and lines of those. */
  isAllOf(table: TableFacts): boolean {
    const path = pathBetween(this.schema, this.base!, table, this.named);
    return path?.every(({ toMany }) => toMany) === true;
  }

  /** Whether the way from the rows to `to` leads through `table`. */
  isBehind(table: TableFacts, to: TableFacts): boolean {
    const path = pathBetween(this.schema, this.base!, to, this.named);
    return path?.slice(0, -1).some((step) => endOf(step) === table) === true;
  }

  /** What a key's name calls those that it refers to, where that is said. */
  roleAt(at: number): RoleMention | null {
    return roleAt(this.question, at, this.schema);
  }

  /** Whether no other key goes from one of its tables to the other. */
  isOnlyLink(link: LinkFacts): boolean {
    return !this.schema.links.some((other) => other !== link && other.from === link.from && other.to === link.to);
  }

  /** Tables whose rows refer to the rows that are asked for. */
  manyOf(): readonly TableFacts[] {
    return [
      ...new Set(this.schema.links.filter(({ from, to }) => to === this.base && from !== to).map(({ from }) => from)),
    ];
  }

  /** Tables that the rows refer to. */
  onesOf(): readonly TableFacts[] {
    return [...new Set(this.schema.links.filter(({ from }) => from === this.base).map(({ to }) => to))];
  }

  /** "Assignee" of `assignee_id`: the key of the rows that is called so, also one of other such rows. */
  keyCalled(at: number): ColumnRef | null {
    const stem = this.question.at(at)?.stem;
    const { columns, primaryKey } = this.base!;
    const isCalled = ({ name, isKey }: ColumnFacts) => {
      const words = wordsOfName(name);
      return isKey && !primaryKey.includes(name) && words.length === 2 && stemOf(words[0]!) === stem;
    };
    const [column, other] = columns.filter(isCalled);
    return column === undefined || other !== undefined ? null : { table: this.base!, column };
  }

  nearness(table: TableFacts, near: TableFacts | null): number {
    const named = this.named.has(table) ? 0.15 : 0;
    if (near === null) return named;
    if (table === near) return 0.35;
    const path = pathBetween(this.schema, near, table, this.named);
    return path === null ? -2 : named - 0.1 * path.length;
  }

  mentionAt(at: number, kinds: Kinds): ColumnMention | undefined {
    return this.names.columns.find(
      ({ from, to, candidates }) => from <= at && at < to && candidates.some(({ ref }) => kinds(ref)),
    );
  }

  /** The nearest mention of such a column, before first; words that are taken do not count. */
  nearestMention(from: number, to: number, kinds: Kinds, reach = 4): ColumnMention | null {
    for (let at = from - 1; at >= Math.max(0, from - reach); at--) {
      const mention = this.mentionAt(at, kinds);
      if (mention !== undefined && !this.question.isUsed(at)) return mention;
      if (this.question.says(at, "and|or|with")) break;
    }
    for (let at = to; at <= to + 2; at++) {
      const mention = this.mentionAt(at, kinds);
      if (mention !== undefined && !this.question.isUsed(at)) return mention;
      if (this.question.says(at, "and|or|with")) break;
    }
    return null;
  }

  takeColumn(mention: ColumnMention, kinds: Kinds): ColumnRef | null {
    const ref = this.resolve(mention, kinds);
    if (ref !== null) this.question.use(mention.from, mention.to);
    return ref;
  }

  /** All columns that can be reached, nearest first. */
  columnsNear(kinds: Kinds): ColumnRef[] {
    const refs = this.schema.tables.flatMap((table) => table.columns.map((column) => ({ table, column })));
    const found = refs.filter(kinds).map((ref) => ({ ref, score: this.nearness(ref.table, this.base) }));
    return found
      .filter(({ score }) => score > -1)
      .sort((a, b) => b.score - a.score)
      .map(({ ref }) => ref);
  }

  columnByWords(words: readonly string[], kinds: Kinds): ColumnRef | null {
    for (const ref of this.columnsNear(kinds)) if (words.some((word) => nameFits(word, ref))) return ref;
    return null;
  }

  /** All numbers that are called so. */
  numbersByWords(words: readonly string[]): ColumnRef[] {
    const kinds: Kinds = (ref) => isNumber(ref) && words.some((word) => nameFits(word, ref));
    return this.columnsNear(kinds);
  }

  /** "Total unpaid fines": the only amount of such things, where they are the rows. */
  amountOf(at: number): ColumnRef | null {
    const named = this.names.tables.find(({ from, table }) => from > at && from <= at + 3 && table === this.base);
    if (named === undefined) return null;
    // "The average bid" is that of what was bid; "total bids" are so many.
    const isOne = named.from === at + 1 && named.score >= 0.9 && !/[^s]s$/.test(this.question.lower(named.from));
    const isOfOne = isOne && AGGREGATES[this.question.lower(at)] !== "sum";
    if (!isOfOne && !AMOUNT_STEMS.has(this.question.at(named.from)!.stem)) return null;
    const found = this.numbersByWords(["amount", ...MONEY_WORDS]).filter(({ table }) => table === this.base);
    return found.length === 1 ? found[0]! : null;
  }

  /** The only number of the rows that means the same as one of the words. */
  ownByMeaning(words: readonly string[]): ColumnRef | null {
    const refs = this.base!.columns.map((column) => ({ table: this.base!, column })).filter(isNumber);
    const fits = refs.filter((ref) => this.means(ref, words));
    if (fits.length !== 1) return null;
    this.certainty = Math.min(this.certainty, MEANING + 0.3);
    return fits[0]!;
  }

  /** Whether the column is called so by a synonym, or better. */
  means(ref: ColumnRef | null, words: readonly string[]): boolean {
    const parts = ref === null ? [] : nameWords(this.schema, ref.column).bare;
    return words.some((lower) => parts.some((part) => wordScore({ lower, stem: stemOf(lower) }, part) >= MEANING));
  }

  /** "Employees per city" where no key leads to the cities, and employees have a column of that name: that one. */
  keyOf({ table, from, to }: TableMention): GroupKey {
    const rows: GroupKey = { kind: "table", table };
    if (table === this.base || this.nearness(table, this.base) > -1) return rows;
    const mention = this.names.columns.find((each) => each.from === from && each.to === to);
    const isOwn = ({ ref, score }: ColumnMention["candidates"][number]) =>
      ref.table === this.base && score >= SURE && !ref.column.isKey;
    const own = mention?.candidates.find(isOwn);
    return own === undefined ? rows : { kind: "column", ref: own.ref };
  }

  /** Of whom a clause before the token says something: "owned by students who are older than 20"; null: nobody. */
  ownerOfClause(at: number): TableFacts | null {
    let before = at - 1;
    while (before > at - 4 && this.question.says(before, "is|are|was|were|have|has|had|a|an")) before--;
    if (!this.question.says(before, "who|that|which")) return null;
    return this.names.tables.find(({ to, score }) => to === before && score >= MEANING)?.table ?? null;
  }

  /** "Pets of students who weigh more than 60": a column of the rows, though the clause is about others. */
  isOfOther({ table }: ColumnRef, from: number): boolean {
    const owner = this.ownerOfClause(from);
    return owner !== null && table === this.base && owner !== table;
  }

  /** "Drivers with more than 10 points": all of theirs together, or those of one race; it does not say. */
  isTotal({ table, column }: ColumnRef, to: number): boolean {
    // "Points" are also a unit.
    const mention = this.names.columns.find(({ from }) => from === to || from === to - 1);
    if (table === this.base || this.isOneOf(table) || mention === undefined) return false;
    if (!/[^s]s$/.test(this.question.lower(mention.from))) return false;
    return mention.candidates.some(({ ref, score }) => ref.column === column && score >= SURE);
  }

  /** "The earnings of players, highest first": the only number of the rows that is named. */
  onlyNumber(): ColumnRef | null {
    const isOwn: Kinds = (ref) => isNumber(ref) && ref.table === this.base;
    const refs = this.names.columns.flatMap(({ candidates }) =>
      candidates.filter(({ ref, score }) => isOwn(ref) && score >= SURE),
    );
    return refs.length === 1 ? refs[0]!.ref : null;
  }

  /** What ages are told by: a number of years, or a date of birth. */
  ageColumn(measure: Measure, owner: TableFacts | null = null): ColumnRef | null {
    if (owner !== null && owner !== this.base) {
      const own = owner.columns.map((column) => ({ table: owner, column }));
      const isAge = (ref: ColumnRef) => isNumber(ref) && measure.words.some((word) => nameFits(word, ref));
      return own.find(isAge) ?? own.filter(isTime).find(isBirth) ?? null;
    }
    return this.columnByWords(measure.words, isNumber) ?? this.columnsNear(isTime).find(isBirth) ?? null;
  }

  /**
   * The date that a condition without a column is about: one that a verb names, or the first of the rows. Tables
   * `besides` have another part in the question: "per waiter and month" asks for no day on which a waiter began.
   */
  timeColumn(from: number, to: number, birthFirst = false, besides = this.groupTables): ColumnRef | null {
    const mention =
      this.nearestMention(from, to, isTime, 5) ??
      this.names.columns.find((each) => each.candidates.some(({ ref }) => isTime(ref) && ref.table === this.base));
    // "Edits made in May", where pages were created: the edits have a time of their own.
    const meant = mention && this.resolve(mention, isTime);
    const isSynonym = mention !== undefined && !mention.candidates.some(({ score }) => score > MEANING);
    const isOther = meant != null && meant.table !== this.base && isSynonym && this.timeOf(this.base!) !== null;
    if (mention && !isOther) {
      const ref = this.takeColumn(mention, isTime);
      if (ref !== null) return ref;
    }
    // Of rows that nobody speaks of, no date is meant.
    const isSpokenOf = ({ table }: ColumnRef) => this.named.has(table) || this.isOneOf(table);
    const all = this.columnsNear(isTime).filter(isSpokenOf);
    const meantHere = all.filter(({ table }) => !besides.includes(table));
    const near = meantHere.length > 0 ? meantHere : all;
    const births = near.filter(isBirth);
    const others = near.filter((ref) => !isBirth(ref));
    const found = (birthFirst ? (births[0] ?? others[0]) : (others[0] ?? births[0])) ?? null;
    // Of when something was made and when it ends, nobody said which.
    // The oldest worker may be who was hired first.
    if (birthFirst && births.length === 0 && found !== null) this.doubt();
    const rows = birthFirst ? [] : others.filter(({ table }) => table === found?.table);
    if (rows.length <= 1) return found;
    this.doubt();
    const [first, ...rest] = likelyTimes(rows) as [ColumnRef, ...ColumnRef[]];
    this.rivals.note(first, rest);
    return first;
  }

  /** A column of whole years that a year is compared to. */
  yearColumn(condition: Condition): ColumnRef | null {
    if (!hasYears(condition)) return null;
    const ofYears = isYearNumber;
    const mention = this.nearestMention(condition.from, condition.to, ofYears, 5);
    if (mention !== null) return this.takeColumn(mention, ofYears);
    if (condition.range === null) return null;
    const measured = this.measuredYear() ?? this.yearOfMany(condition.from);
    if (measured !== null) return measured;
    // "Vessels at berth B3 in 2026" were there then, not built then.
    if (this.names.tables.some(({ table, score }) => table !== this.base && score >= MEANING)) return null;
    if (this.columnsNear(isTime).some(({ table }) => table === this.base)) return null;
    // "In 2020" does not ask who was born then.
    return this.columnsNear(ofYears).find((ref) => ref.table === this.base && !isBirth(ref)) ?? null;
  }

  /** "Votes per party in 2024": the only year of what is measured, where no day says when it was. */
  private measuredYear(): ColumnRef | null {
    const table = this.names.columns.map(({ candidates }) => candidates[0]!.ref).find(isNumber)?.table;
    if (table === undefined) return null;
    const own = table.columns.map((column) => ({ table, column }));
    const hasTime = (each: TableFacts) => each.columns.some((column) => isTime({ table: each, column }));
    if (hasTime(table) || hasTime(this.base!)) return null;
    const [only, other] = own.filter((ref) => isYearNumber(ref) && isEventYear(ref));
    return other === undefined ? (only ?? null) : null;
  }

  /** "Halls without a concert in 2014", where concerts have a year and no day. */
  private yearOfMany(at: number): ColumnRef | null {
    const table = this.manyBefore(at);
    const own = table?.columns.map((column) => ({ table, column })) ?? [];
    const [only, other] = own.filter((ref) => isYearNumber(ref) && isEventYear(ref));
    return own.some(isTime) || other !== undefined ? null : (only ?? null);
  }

  /** "Films per year", of rows with a year and no day. */
  onlyYear(): ColumnRef | null {
    const own = this.base!.columns.map((column) => ({ table: this.base!, column }));
    const [only, other] = own.filter(isYearNumber);
    return own.some(isTime) || other !== undefined ? null : (only ?? null);
  }

  /** Whether years are numbers here: a column of numbers stands beside them. */
  isNumeric({ from, to, numbers }: Condition): boolean {
    if (numbers === null) return false;
    // "Dues in 2025" are those of that year, not 2025 of them.
    const isOfTime = this.question.says(from, "in|during|since|before|after|until");
    if (isOfTime && this.nearestMention(from, to, isYearNumber, 2) === null) return false;
    const number = this.nearestMention(from, to, isNumber, 2);
    return number !== null && number.candidates[0]!.score >= 0.6 && this.nearestMention(from, to, isTime, 2) === null;
  }

  /** The first time of a table's own. */
  timeOf(table: TableFacts): ColumnRef | null {
    const times = table.columns.map((column) => ({ table, column })).filter(isTime);
    const [first, second] = likelyTimes(times.filter((ref) => !isBirth(ref)));
    if (second !== undefined) this.doubt();
    return first ?? times[0] ?? null;
  }

  /** "Oldest first": the only year or day of the rows that tells how old they are. */
  ownAge(time: "date" | "birth"): ColumnRef | null {
    const own = this.base!.columns.map((column) => ({ table: this.base!, column }));
    const found = own.filter((ref) => isYearNumber(ref) || (time === "birth" ? isBirth(ref) : isTime(ref)));
    return found.length === 1 ? found[0]! : null;
  }

  /** A table that a row has many of, named right before: "with no orders in 2024", "orders placed in 2024". */
  manyBefore(at: number): TableFacts | null {
    const endingAt = (end: number) => this.names.tables.find(({ to, score }) => to === end && score >= MEANING);
    const found = endingAt(at) ?? (isVerb(this.question.lower(at - 1)) ? endingAt(at - 1) : undefined);
    const path = found && pathBetween(this.schema, this.base!, found.table, this.named);
    return path?.some(({ toMany }) => toMany) === true ? found!.table : null;
  }

  /** The number that an adjective, or a name beside it, is about. */
  measureColumn(measure: Measure | null, from: number, to: number): ColumnRef | null {
    // The unit may be in the name: "40 minutes" of duration_minutes.
    const unit = this.question.lower(to - 1);
    const near = this.nearestMention(from, to, isNumber);
    // "The average fare of rides longer than 5 km" is no fare above 5.
    const isOf = ({ candidates }: ColumnMention, words: readonly string[]) =>
      candidates.some(({ ref }) => words.some((word) => nameFits(word, ref)));
    if (near !== null && measure !== null && measure.words.length > 0 && !isOf(near, measure.words)) {
      const own = this.columnByWords(measure.words, isNumber);
      if (own?.table === this.base) return own;
    }
    if (near !== null) {
      const own = this.ownInsteadOf(near);
      if (own !== null) return own;
      const ref = this.takeColumn(near, isNumber);
      // "Fields larger than 10 hectares", where hectares are those of farms.
      if (ref !== null && measure !== null && ref.table !== this.base && !this.named.has(ref.table))
        for (let at = from; at < to; at++) this.unuse(at);
      if (ref !== null) return ref;
    }
    if (measure !== null && measure.words.length > 0) {
      const ref = this.columnByWords(measure.words, isNumber);
      if (ref !== null) return ref;
    }
    const spellings = Object.keys(UNIT_NAMES).filter((other) => UNIT_NAMES[other] === UNIT_NAMES[unit]);
    const units = spellings.includes(unit) ? spellings : [unit];
    const byUnit = this.question.at(to - 1)?.number === null ? this.columnByWords(units, isNumber) : null;
    if (byUnit !== null) return byUnit;
    // "Dishes under 20 euros": the only number of theirs that is one of money.
    const money = MONEY.has(UNIT_NAMES[unit] ?? "") ? this.ownByMeaning(MONEY_WORDS) : null;
    if (money !== null) return money;
    const isOther = (measure !== null && measure.words.length > 0) || MEASURED.has(UNIT_NAMES[unit] ?? "");
    const table = this.manyBefore(from) ?? this.base!;
    const own = table.columns.filter((column) => isNumber({ table, column }));
    // "More than 3 major faults" are so many rows.
    const isOfRows = this.names.tables.some((each) => each.from >= to && each.from <= to + 2 && each.table !== table);
    if (own.length === 1 && !isOther && !isOfRows && !this.isUnknown(from - 1)) {
      this.certainty = Math.min(this.certainty, 0.6);
      return { table, column: own[0]! };
    }
    for (let at = from; at < to; at++) this.unuse(at);
    return null;
  }

  /** "Players worth 5 million" have a value; the fees of their transfers are called so only by a synonym. */
  private ownInsteadOf(mention: ColumnMention): ColumnRef | null {
    const { ref, score } = mention.candidates.find((each) => isNumber(each.ref))!;
    if (score > MEANING || ref.table === this.base || this.named.has(ref.table) || this.isOneOf(ref.table)) return null;
    const own = this.ownByMeaning([this.question.lower(mention.from)]);
    if (own !== null) this.question.use(mention.from, mention.to);
    return own;
  }

  /** A word that means something, and nothing here: "weigh" where nothing has a weight. */
  private isUnknown(at: number): boolean {
    const token = this.question.at(at);
    if (token === null || this.question.isUsed(at) || token.isStop) return false;
    const covers = ({ from, to }: { from: number; to: number }) => from <= at && at < to;
    return !this.names.tables.some(covers) && !this.names.columns.some(covers);
  }

  /** One of several things is taken that the question may mean. */
  doubt(): void {
    this.certainty = Math.min(this.certainty, DOUBT);
  }

  /** A word that could not be placed counts as not understood. */
  unuse(at: number): void {
    this.notPlaced.push(this.question.lower(at));
  }
}
