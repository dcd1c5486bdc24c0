/**
 * Finds what a question asks (`query-shape.ts`), by rules over its words; it is deterministic and needs no model. In
 * order: values and names, orders, conditions, groups, superlatives, aggregates, missing or required values; then
 * whose rows are meant; last, which column each word means, by how well it fits and how near its table is.
 */
import { isDeepStrictEqual } from "node:util";
import { functionsFor } from "./added-up.js";
import { aggregateWords } from "./aggregate-words.js";
import { joinAlternatives } from "./alternatives.js";
import { BaseFinder } from "./base-finder.js";
import { anyKind, ColumnFinder, isNumber } from "./column-finder.js";
import { ConditionReader } from "./condition-reader.js";
import { type Condition, conditionsOf } from "./conditions.js";
import { doneVerbs } from "./done-verbs.js";
import { isOfHaving, type MeasuredGroups, measuredGroups } from "./measured-groups.js";
import { isOfRows, isOtherThing, isRanking, useRateUnits, whoseMany } from "./misread-words.js";
import type { ColumnMention, NameMentions } from "./name-mentions.js";
import { namedRows } from "./named-rows.js";
import { periodChange } from "./period-changes.js";
import {
  countedBy,
  type GroupPhrase,
  groupPhrases,
  limitSaid,
  type OrderPhrase,
  orderPhrase,
  periodAsked,
  type Superlative,
  superlative,
} from "./phrases.js";
import { popular } from "./popular.js";
import { projectedColumns } from "./projected-columns.js";
import type { Aggregate, AggregateFn, GroupKey, Order, QueryShape } from "./query-shape.js";
import { isVerb, type Question } from "./question.js";
import { relatingVerbs } from "./relating-verbs.js";
import { type Reading, rankingsOf, readingsOf } from "./rival-columns.js";
import { eachCount } from "./row-counts.js";
import { type ColumnRef, namingColumns, type SchemaFacts, type TableFacts } from "./schema-facts.js";
import { ShareReader } from "./share-reader.js";
import { SURE, SuperlativeReader } from "./superlative-reader.js";
import { isColumnMeant, type ValueMention } from "./value-mentions.js";
import { AGGREGATES, type Measure, SUMS } from "./vocabulary.js";

/** Below this a word hardly names a column. */
const PROJECTED = 0.5;

export interface ReadQuestion {
  readonly shape: QueryShape;
  /** What it may mean; empty: one thing. */
  readonly readings: readonly Reading[];
  readonly certainty: number;
}

export class QuestionReader {
  private readonly names: NameMentions;
  private readonly values: readonly ValueMention[];
  /** Has what could not be placed, and what may be meant as well. */
  readonly columns: ColumnFinder;
  private readonly conditions: ConditionReader;
  private readonly superlatives: SuperlativeReader;
  private ranking: QueryShape["ranking"] = null;
  private order: Order | null = null;
  private limit: number | null = null;
  private firstOfEach: QueryShape["firstOfEach"] = null;
  private aggregates: Aggregate[] = [];
  /** Tables of whose rows there are most. */
  private rankings: readonly TableFacts[] = [];
  private grouped: MeasuredGroups | null = null;

  constructor(
    private readonly question: Question,
    private readonly schema: SchemaFacts,
    names: NameMentions,
    found: readonly ValueMention[],
  ) {
    const values = found.filter((value) => !isColumnMeant(question, names, value));
    const rows = namedRows(question, schema, names, values);
    this.values = rows.values;
    const isFree = ({ from, to }: { from: number; to: number }) =>
      !values.some((value) => from < value.to && value.from < to);
    this.names = { tables: names.tables.filter(isFree), columns: names.columns.filter(isFree) };
    this.columns = new ColumnFinder(question, schema, this.names);
    this.conditions = new ConditionReader(question, this.names, rows.values, this.columns);
    this.conditions.filters.push(...rows.filters);
    this.superlatives = new SuperlativeReader(question, schema, this.names, this.columns);
  }

  /** Null: the question names nothing that there is. */
  read(): ReadQuestion | null {
    const { question } = this;
    const isValue = (at: number) => this.values.some(({ from, to }) => from <= at && at < to);
    for (const { from, to } of this.values) question.use(from, to);
    for (const { table, score } of this.names.tables) if (score >= 0.55) this.columns.named.add(table);
    const ordered = orderPhrase(question, this.names);
    const change = periodChange(question);
    const conditions = conditionsOf(question, (at) => isValue(at) || question.isUsed(at));
    const groups = groupPhrases(question, this.names, isValue);
    const period = groups.find((group) => group.kind === "time");
    if (change !== null && period === undefined) groups.push({ kind: "time", unit: change });
    // "Per month, year over year": months of two years side by side are not written.
    else if (change !== null && period!.unit !== change) this.columns.notPlaced.push(change);
    const first = superlative(question, this.names, isValue);
    const asked = first === null || groups.length > 0 ? null : periodAsked(question, this.names, first);
    if (asked !== null) groups.push({ kind: "time", unit: asked });
    const ranked = first === null || groups.length > 0 ? null : countedBy(question, this.names, first);
    if (ranked !== null) groups.push(ranked);
    const rows = new BaseFinder(question, this.schema, this.names, this.values, this.columns);
    const each = eachCount(question, this.names, groups);
    if (each !== null) groups.length = 0;
    const counted = each === null ? rows.countedAt() : null;
    if (groups.length === 0)
      this.grouped = measuredGroups(question, this.schema, this.names, this.columns, first, conditions);
    this.columns.base = each?.base ?? this.grouped?.base ?? rows.find(counted, groups, first);
    if (this.columns.base === null) return null;
    if (each !== null) {
      if (this.columns.isOneOf(each.counted)) return null;
      this.conditions.having = { table: each.counted, comparison: ">=", count: 0 };
      this.conditions.counted = each.counted;
      this.columns.doubt();
      this.columns.certainty = Math.min(this.columns.certainty, each.score);
    } else if (this.grouped !== null) this.conditions.counted = this.grouped.aggregate.ref.table;
    const fns = aggregateWords(question, this.columns);
    const groupKeys = this.groupKeys(groups);
    this.conditions.isGrouped = groupKeys.length > 0;
    this.columns.groupTables = groupKeys
      .filter(({ kind }) => kind !== "time")
      .map((key) => (key.kind === "table" ? key.table : key.ref.table))
      .filter((table) => table !== this.columns.base);
    this.conditions.read();
    const measured = this.grouped;
    for (const condition of conditions) {
      if (measured?.having == null || !isOfHaving(condition, measured)) this.conditions.condition(condition);
    }
    if (first !== null && (asked !== null || ranked !== null)) this.bestGroup(first);
    else if (first !== null && measured?.order == null) this.superlative(first, groupKeys);
    const shares = new ShareReader(question, this.names, this.values, this.columns, this.conditions.filters);
    if (this.aggregates.length === 0 && this.conditions.related.length === 0)
      this.aggregates.push(...shares.read(groupKeys.length > 0));
    this.aggregate(fns, counted);
    this.ofEachRow(groupKeys);
    const fnsMeant = (first === null || asked !== null) && counted === null ? this.bareMeasure(groupKeys) : [];
    this.ordered(ordered);
    this.limit = limitSaid(question) ?? this.limit;
    joinAlternatives(question, this.conditions, this.columns);
    doneVerbs(question, this.names, this.columns, this.conditions.filters);
    relatingVerbs(question, this.schema, this.names, this.values, this.columns, this.conditions.related);
    if (measured === null) this.ofGroups(conditions);
    const read = this.shape(counted, groupKeys);
    const shape = { ...read, change, ofGroups: each?.isAverage === true ? ("average" as const) : read.ofGroups };
    const rankings = this.rankings.length < 2 ? [] : rankingsOf(shape, this.rankings);
    if (measured === null)
      return { shape, readings: [...rankings, ...readingsOf(shape, fnsMeant)], certainty: this.columns.certainty };
    return this.ofMeasured(measured, {
      ...shape,
      ofGroups: counted !== null && measured.having !== null ? "count" : null,
    });
  }

  private ofMeasured(measured: MeasuredGroups, shape: QueryShape): ReadQuestion {
    const { group, order, limit, having, aggregate, others } = measured;
    const groups = { ...shape, groups: [group], aggregates: [aggregate], order, limit, havingValue: having };
    const fns = others.length === 0 ? [] : [aggregate.fn, ...others];
    return { shape: groups, readings: readingsOf(groups, fns), certainty: this.columns.certainty };
  }

  /** "The average amount per invoice" is that of all invoices. */
  private ofEachRow(groups: GroupKey[]): void {
    const [own] = groups;
    if (groups.length !== 1 || own!.kind !== "table" || own!.table !== this.columns.base) return;
    const isOfRow = (each: Aggregate) => each.fn === "avg" && each.ref.table === this.columns.base;
    if (this.aggregates.length > 0 && this.aggregates.every(isOfRow)) groups.pop();
  }

  /** "Which month had the most orders", "top 3 towns by number of gigs". */
  private bestGroup({ count, measure }: Superlative): void {
    this.order = { ref: null, descending: measure?.descending ?? true };
    this.limit = count ?? 1;
  }

  /** "Revenue per month" adds it up; of "height per region" nobody knows: the functions that it may be. */
  private bareMeasure(groups: readonly GroupKey[]): readonly AggregateFn[] {
    if (groups.length === 0 || this.aggregates.length > 0 || this.conditions.related.length > 0) return [];
    const isMeasure = ({ from, candidates }: ColumnMention) =>
      !this.question.isUsed(from) && candidates.some(({ ref, score }) => isNumber(ref) && score >= SURE);
    const [mention, other] = this.names.columns.filter(isMeasure);
    const ref = mention === undefined || other !== undefined ? null : this.columns.takeColumn(mention, isNumber);
    if (ref === null) return [];
    this.aggregates.push({ fn: "sum", ref });
    return functionsFor(ref, groups);
  }

  /** "Where the total exceeds 5000": conditions on groups' sums are not written. */
  private ofGroups(conditions: readonly Condition[]): void {
    for (const { from, isAverage } of conditions) {
      let at = from - 1;
      const whose = whoseMany(this.question, this.names, this.columns, from);
      if (whose !== null) this.columns.unuse(whose);
      while (this.question.says(at, "is|are|of|was|were")) at--;
      if (!isAverage && this.aggregates.length > 0 && AGGREGATES[this.question.lower(at)] !== undefined)
        this.columns.unuse(at);
    }
  }

  private groupKeys(groups: readonly GroupPhrase[]): GroupKey[] {
    const keys: GroupKey[] = [];
    for (const group of groups) {
      if (group.kind === "table") keys.push(this.columns.keyOf(group.mention));
      else if (group.kind === "column") {
        const ref = this.columns.resolve(group.mention, anyKind);
        if (ref !== null) keys.push({ kind: "column", ref });
        else this.unplace(group.mention);
      } else {
        const tables = groups.flatMap((each) => (each.kind === "table" ? [each.mention.table] : []));
        const besides = tables.filter((table) => table !== this.columns.base);
        const year = group.unit === "year" ? this.columns.onlyYear() : null;
        const ref = year ?? this.columns.timeColumn(0, 0, false, besides);
        if (year !== null) keys.push({ kind: "column", ref: year });
        else if (ref !== null) keys.push({ kind: "time", ref, unit: group.unit });
        else this.columns.notPlaced.push(group.unit);
      }
    }
    return keys;
  }

  /** No column of that name can be reached from the rows. */
  private unplace({ from, to }: { readonly from: number; readonly to: number }): void {
    for (let at = from; at < to; at++) this.columns.unuse(at);
  }

  private superlative(first: Superlative, groups: GroupKey[]): void {
    if (first.isPopular === true) {
      this.popular(first, groups);
      return;
    }
    const read = this.superlatives.read(first, groups);
    if (read === null) return;
    if (read.aggregate !== undefined) this.aggregates.push(read.aggregate);
    this.ranking = read.ranking ?? this.ranking;
    this.order = read.order ?? this.order;
    this.limit = read.limit ?? this.limit;
    this.firstOfEach = read.firstOfEach ?? null;
    // They are listed, not counted.
    if (this.firstOfEach !== null) groups.length = 0;
  }

  private popular(first: Superlative, groups: GroupKey[]): void {
    const found = groups.length > 0 ? null : popular(this.question, this.names, this.columns, first);
    const { descending } = first.measure!;
    if (found === null) this.unplace({ from: first.at, to: first.to });
    else if (found.group !== null) {
      groups.push(found.group);
      this.order = { ref: null, descending };
    } else {
      this.ranking = { table: found.tables[0]!, descending };
      this.rankings = found.tables;
    }
    this.limit = first.count ?? 1;
  }

  private aggregate(fns: readonly { fn: AggregateFn; at: number }[], counted: number | null): void {
    const { question } = this;
    let ref: ColumnRef | null = null;
    for (const { fn, at } of [...fns].reverse()) {
      const measures = this.names.columns.filter(
        ({ from, candidates }) =>
          from >= at &&
          from <= at + 4 &&
          (!question.isUsed(from) || this.columns.areRows(from)) &&
          candidates.some(({ ref }) => isNumber(ref) && (ref.table === this.columns.base || !question.isUsed(from))),
      );
      const mention = this.bestMeasure(measures, at);
      const whole = mention === undefined ? undefined : this.names.tables.find(({ to }) => to === mention.from);
      // "The average order value" is that of all its lines together.
      const isOfLines = whole !== undefined && whole.table !== this.columns.base && this.columns.isOneOf(whole.table);
      if (fn !== "sum" && isOfLines && question.says(mention!.from, "value|amount|total|size|revenue")) {
        this.columns.unuse(at);
        continue;
      }
      if (isOtherThing(this.names, mention)) {
        this.columns.unuse(at);
        continue;
      }
      const amount = mention === undefined ? this.columns.amountOf(at) : null;
      ref = (mention && this.columns.takeColumn(mention, isNumber)) ?? amount ?? ref;
      if (ref === null) continue;
      question.use(at);
      this.aggregates.unshift({ fn, ref });
    }
    if (counted === null) return;
    question.use(Math.max(0, counted - 2), counted);
    const mention = this.names.columns.find(({ from }) => from === counted) ?? this.differentOf(counted);
    if (mention === undefined || question.isUsed(mention.from)) return;
    const target = this.columns.resolve(mention, anyKind);
    if (target === null || isOfRows(this.names, mention, this.columns.base)) return;
    question.use(mention.from, mention.to);
    if (isNumber(target)) this.aggregates.push({ fn: "sum", ref: target });
    else this.aggregates.push({ fn: "count", distinct: target });
  }

  /** "Distinct guest countries": those of guests. */
  private differentOf(counted: number): ColumnMention | undefined {
    if (!this.question.says(counted - 1, "distinct|different|unique")) return undefined;
    const owner = this.names.tables.find(({ from }) => from === counted);
    const mention = this.names.columns.find(({ from }) => from === owner?.to);
    const own = mention?.candidates.filter(({ ref }) => ref.table === owner!.table);
    return own === undefined || own.length === 0 ? undefined : { ...mention!, candidates: own };
  }

  /** The word itself may be a column's: "total per country". */
  private bestMeasure(measures: readonly ColumnMention[], at: number): ColumnMention | undefined {
    const own = measures.find(({ from, to }) => from === at && to === at + 1);
    const [other] = measures.filter((mention) => mention !== own);
    if (own === undefined || other === undefined) return own ?? other;
    const isOfBase = (mention: ColumnMention) =>
      this.columns.resolve(mention, isNumber)?.table === this.columns.base && mention.candidates[0]!.score >= PROJECTED;
    // "Total revenue" adds up what is earned.
    const isAdded = other.from === own.to && /^(?:quantity|units|hours)$/.test(this.question.lower(other.from));
    const isEarned = other.from === own.to && SUMS.includes(this.question.lower(other.from));
    if (isEarned || isAdded || isOfBase(other) || !isOfBase(own)) return other;
    for (let next = at + 1; next <= at + 2; next++)
      if (this.question.says(next, "amount|value")) this.question.use(next);
    return own;
  }

  private ordered(phrase: OrderPhrase | null): void {
    if (phrase === null) return;
    const { named, descending, measure } = phrase;
    if (measure !== undefined) {
      this.inOrderOf(measure, phrase.at);
      return;
    }
    const [naming] = namingColumns(this.columns.base!);
    const own = { table: this.columns.base!, column: naming! };
    const ref = named === null || named.kind === "table" ? own : this.columns.resolve(named.mention, anyKind);
    if (ref !== null) this.order = { ref, descending };
    else this.unplace(named!.mention);
  }

  /** "Longest first": of groups by what is measured of them, of rows by such a column of their own. */
  private inOrderOf({ descending, words, time }: Measure, at: number): void {
    const [only, other] = this.aggregates;
    const measured = only !== undefined && "ref" in only && only.ref !== null ? only.ref : null;
    const own = words.length === 0 ? null : this.columns.columnByWords(words, isNumber);
    if (this.aggregates.length > 0) {
      const isCalled = own !== null && own.column === measured?.column;
      const isMeant = words.length === 0 ? time === undefined : isCalled || this.columns.means(measured, words);
      if (other === undefined && isMeant) this.order = { ref: null, descending };
      else this.columns.unuse(at);
    } else if (this.conditions.isGrouped && words.length === 0 && time === undefined)
      this.order = { ref: null, descending };
    else if (own?.table === this.columns.base && time === undefined) this.order = { ref: own, descending };
    else if (words.length === 0 && time === undefined && this.columns.onlyNumber() !== null)
      this.order = { ref: this.columns.onlyNumber(), descending };
    else {
      const age = time === undefined ? null : this.columns.ownAge(time);
      if (age === null) this.columns.unuse(at);
      else this.order = { ref: age, descending };
    }
  }

  /** Those that are asked for; none: all of the rows. */
  private shownColumns(): ColumnRef[] {
    const { question, conditions } = this;
    const isOrderedBy = ({ column }: ColumnRef) => {
      if (column !== this.order?.ref?.column) return false;
      const said = this.names.columns.filter(({ candidates }) => candidates.some(({ ref }) => ref.column === column));
      // "Names and grades sorted by grade" shows them.
      return said.length === 1 && (question.says(said[0]!.from - 1, "by") || isRanking(question, said[0]!));
    };
    const columns = projectedColumns(question, this.names, this.columns).filter((ref) => !isOrderedBy(ref));
    // "Agents with a commission of 2 percent" asks for agents.
    const isCompared = ({ column }: ColumnRef) =>
      conditions.filters.some(({ ref, isState }) => ref.column === column && isState === undefined);
    return this.names.tables[0]?.table === this.columns.base && columns.every(isCompared) ? [] : columns;
  }

  private shape(counted: number | null, groups: GroupKey[]): QueryShape {
    const { question } = this;
    useRateUnits(question, this.conditions.filters);
    const isDistinct = question.tokens.some(({ lower }) => /^(distinct|different|unique)$/.test(lower));
    const isCount = counted !== null && this.aggregates.length === 0;
    const keys = groups.length > 0 ? groups : this.columnGroup();
    const isList = !isCount && this.aggregates.length === 0 && keys.length === 0;
    const columns = isList ? this.shownColumns() : [];
    // What a row has none of is not shown: "patients who have not seen a doctor".
    const denied = columns.find(({ table }) =>
      this.conditions.related.some((each) => !each.exists && each.table === table),
    );
    if (denied !== undefined) this.unuseColumn(denied);
    // "Readers who never wrote of sport": what is shown is no row that could have none.
    const isOfMany = columns.length > 0 && columns.every(({ table }) => table !== this.columns.base);
    question.tokens.forEach(({ lower }, at) => {
      if (lower === "never" && (isOfMany || columns.length === 1) && this.names.tables.length === 0)
        this.columns.unuse(at);
      else if (isOfMany && /^(not|never|without|no)$|n['’]t$/.test(lower)) this.columns.unuse(at);
    });
    // "sum of total price" says it twice.
    const aggregates = this.aggregates.filter(
      (each, i, all) => all.findIndex((other) => isDeepStrictEqual(other, each)) === i,
    );
    if (
      (isCount && this.ranking === null && this.conditions.having === null) ||
      (keys.length > 0 && aggregates.length === 0)
    ) {
      if (this.ranking === null && this.conditions.having === null) aggregates.push({ fn: "count", distinct: null });
    }
    // "Stories tagged politics" asks for no tags.
    if (isOfMany && this.names.tables[0]?.table === this.columns.base)
      for (const { from } of this.names.columns) if (isVerb(question.lower(from))) this.columns.unuse(from);
    this.absentThings(columns);
    const isNumeric = columns.some(isNumber) || aggregates.some((each) => "ref" in each && each.ref !== null);
    question.tokens.forEach((_, at) => {
      if (question.says(at, "how", "much") && !isNumeric) this.columns.unuse(at + 1);
    });
    const onlyColumn =
      columns.length === 1 && this.names.tables.length === 0 && this.values.length === 0 && this.order === null;
    if (onlyColumn && this.conditions.filters.length === 0) {
      this.conditions.filters.push({ ref: columns[0]!, sql: (column) => `${column} IS NOT NULL` });
    }
    const isOrderShown = this.order?.ref == null || columns.some(({ column }) => column === this.order!.ref!.column);
    if (!isOrderShown && columns.some(({ table }) => !this.columns.isOneOf(table))) this.unuseColumn(columns[0]!);
    const [only] = columns;
    // Students with their cities are as many as there are students.
    const isOfRows = ({ table }: ColumnRef) => table === this.columns.base || this.columns.isOneOf(table);
    const isOwn = columns.some(({ table }) => table === this.columns.base) && columns.every(isOfRows);
    const many = only !== undefined && !isOwn && columns.some(({ table }) => table !== this.columns.base);
    return {
      base: this.columns.base!,
      columns,
      isDistinct: columns.length > 0 && (isDistinct || onlyColumn || many),
      aggregates,
      groups: keys,
      filters: this.conditions.filters,
      related: this.conditions.related,
      having: this.conditions.having,
      havingValue: null,
      ranking: this.ranking,
      order: this.order,
      change: null,
      ofGroups: isCount && keys.length === 0 && this.conditions.having !== null ? "count" : null,
      firstOfEach: this.firstOfEach,
      limit: this.limit,
      named: this.columns.named,
    };
  }

  /** "Towns without offices": no row says which. "Authors with more than 3 countries": each has one. */
  private absentThings(columns: readonly ColumnRef[]): void {
    const { question, columns: finder, conditions } = this;
    const base = finder.base!;
    const at = question.tokens.findIndex((_, i) => question.says(i, "without|no|never"));
    const isNamedBefore = this.names.tables.some(({ table, from }) => table === base && from < at);
    if (at >= 0 && columns.length > 0 && !isNamedBefore) finder.unuse(at);
    const counted = this.ranking?.table ?? conditions.having?.table ?? base;
    if (counted === base || this.conditions.isGrouped || !finder.isOneOf(counted)) return;
    for (const { table, from } of this.names.tables) if (table === counted) finder.unuse(from);
  }

  private unuseColumn({ column }: ColumnRef): void {
    const isIt = ({ candidates }: ColumnMention) => candidates.some(({ ref }) => ref.column === column);
    for (const mention of this.names.columns.filter(isIt)) this.columns.unuse(mention.from);
  }

  /** "Which quay has the most calls", of berths that nobody speaks of. */
  private groupOfUnnamed(mention: ColumnMention): ColumnRef | null {
    const { base } = this.columns;
    if (mention.candidates[0]!.score < SURE || this.names.tables.some(({ table }) => table === base)) return null;
    const ref = this.columns.resolve(mention, (each) => each.table === base && each.column.kind === "text");
    return ref === null || namingColumns(base!).includes(ref.column) ? null : ref;
  }

  /** "Which city has the most patients": rows are counted by a column of their own. */
  private columnGroup(): GroupKey[] {
    const counted = this.ranking?.table ?? this.conditions.having?.table ?? null;
    if (counted === null) return [];
    const mention = this.names.columns.find(({ from }) => !this.question.isUsed(from));
    const own = mention === undefined ? null : this.columns.resolve(mention, (each) => each.table === counted);
    const ref = own ?? (mention === undefined ? null : this.groupOfUnnamed(mention));
    if (ref === null || (this.columns.base !== counted && mention!.candidates[0]!.score < 0.9)) return [];
    // "The name of the farm with the most workers", "the name and age of visitors with more than 3 museums".
    const { from, to } = mention!;
    if (this.columns.base !== counted && to === from + 1 && this.question.says(from, "name|names")) return [];
    const owner = this.names.tables.find((each) => each.from > to && each.from <= to + 2);
    if (owner?.table === this.columns.base && this.question.says(to, "of")) return [];
    this.question.use(from, to);
    // Rows that have none are of none.
    if (this.ranking !== null && ref.column.nullable)
      this.conditions.filters.push({ ref, sql: (column) => `${column} IS NOT NULL` });
    return [{ kind: "column", ref }];
  }
}
