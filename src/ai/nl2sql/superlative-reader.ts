/** What a superlative of a question asks for ("the oldest three", "most orders"). Used by read-question.ts. */
import { type ColumnFinder, isBoolean, isNumber, isTime, isYearNumber, type Kinds } from "./column-finder.js";
import { isOfEach } from "./first-of-each.js";
import type { NameMentions } from "./name-mentions.js";
import { namedAt, type Superlative } from "./phrases.js";
import type { Aggregate, GroupKey, Order, QueryShape } from "./query-shape.js";
import { isVerb, type Question } from "./question.js";
import { type ColumnRef, namingColumns, pathBetween, type SchemaFacts, type TableFacts } from "./schema-facts.js";

/** Below this a word hardly names a table. */
export const SURE = 0.9;

/** What says how large, or how high, a thing is. */
const SIZES: readonly (readonly [adjective: RegExp, words: readonly string[]])[] = [
  [/^(?:larg|bigg|small)est$/, ["size", "area", "population"]],
  [/^(?:high|low)est$/, ["elevation", "altitude", "height"]],
];

/** The parts of a shape that it gives. */
export interface SuperlativeRead {
  readonly ranking?: QueryShape["ranking"];
  readonly order?: Order;
  readonly aggregate?: Aggregate;
  readonly limit?: number;
  readonly firstOfEach?: QueryShape["firstOfEach"];
}

export class SuperlativeReader {
  constructor(
    private readonly question: Question,
    private readonly schema: SchemaFacts,
    private readonly names: NameMentions,
    private readonly columns: ColumnFinder,
  ) {}

  /** Null: nothing can be told from it. */
  read(first: Superlative, groups: readonly GroupKey[]): SuperlativeRead | null {
    const { question } = this;
    const measure = first.measure;
    const count = first.count ?? 1;
    let next = first.to;
    while (question.says(next, "of|the|number|total|different|rated|in|their")) next++;
    // "top 5 members by number of visits"
    const by = namedAt(this.names, next)?.mention.to ?? next;
    if (measure === null && question.says(by, "by")) {
      let at = by + 1;
      while (question.says(at, "the|number|count|of")) at++;
      const named = namedAt(this.names, at);
      if (named?.kind === "table" && named.mention.table !== this.columns.base && at > by + 2) {
        question.use(by, named.mention.to);
        const descending = question.lower(first.at) !== "bottom";
        return { ranking: { table: named.mention.table, descending }, limit: count };
      }
    }
    if (first.isMost) {
      // "The most folk gigs": what is said of them is read elsewhere.
      let thing = next;
      while (thing < next + 3 && (question.isUsed(thing) || this.columns.mentionAt(thing, isBoolean) !== undefined))
        thing++;
      const named = namedAt(this.names, namedAt(this.names, next)?.kind === "table" ? next : thing);
      if (named?.kind === "table") {
        question.use(named.mention.from, named.mention.to);
        // "Fewest rides by hour of the day".
        const isOfGroups = named.mention.table === this.columns.base && groups.every(({ kind }) => kind !== "table");
        if (groups.length > 0 && isOfGroups)
          return { order: { ref: null, descending: measure!.descending }, limit: count };
        // "The hotel with the most rooms in each city": groups of groups are not written.
        if (groups.length > 0) this.columns.unuse(first.at);
        return { ranking: { table: named.mention.table, descending: measure!.descending }, limit: count };
      }
    }
    const measured = groups.length > 0 && first.count === null ? this.measureOf(next) : null;
    if (measured !== null) return { aggregate: { fn: this.isTop(first) ? "max" : "min", ref: measured } };
    const thing = this.thingAt(next);
    const isRow = thing !== null && groups.length > 0 && (first.count === null || thing === this.columns.base);
    const found = isRow && thing !== this.columns.base ? null : this.column(first, next);
    if (isRow) {
      // Of rows of another table than those that are read, nobody knows which are the first.
      const isOfGroup = groups.some((group) => group.kind === "table" && group.table === found?.table);
      if (found !== null && !isOfGroup && this.columns.isOneOf(found.table) && isOfEach(groups, this.columns)) {
        const order = { ref: found, descending: this.isDescending(first, found) };
        return { firstOfEach: { groups: [...groups], ...order, count } };
      }
      for (let at = first.at; at < first.to; at++) this.columns.unuse(at);
      return null;
    }
    // "Who sold the most" asks for a sum.
    const isSum = first.isMost && found !== null && !this.columns.isOneOf(found.table);
    const ref = isSum ? null : found;
    if (ref === null) {
      // "The top 3 cranes": by what, nobody said.
      const isAnyOrder = !question.says(first.at, "top|bottom") || question.says(first.to, "rows|records|entries");
      if (measure === null && first.count !== null && groups.length === 0 && isAnyOrder) return { limit: count };
      for (let at = first.at; at < first.to; at++) this.columns.unuse(at);
      return null;
    }
    if (this.isExtreme(first, ref, groups)) {
      return { aggregate: { fn: this.isTop(first) ? "max" : "min", ref } };
    }
    // Of many rows the one that is highest, or all of them together: "the most expensive district".
    const named = this.names.columns.find(({ from }) => from === next)?.candidates[0];
    const isOfRows = named?.ref.column.kind === "text" && !namingColumns(named.ref.table).includes(named.ref.column);
    if (!this.columns.isOneOf(ref.table) || isOfRows) this.columns.doubt();
    return { order: { ref, descending: this.isDescending(first, ref) }, limit: count };
  }

  private isTop({ measure, at }: Superlative): boolean {
    return measure?.descending ?? this.question.lower(at) !== "bottom";
  }

  /** Of ages the oldest is the highest. */
  private isDescending(first: Superlative, ref: ColumnRef): boolean {
    const byAge = first.measure?.time !== undefined && ref.column.kind === "number" && !isYearNumber(ref);
    return byAge ? !this.isTop(first) : this.isTop(first);
  }

  /** "The highest claim cost per region": the number behind the rows that it is one of. */
  private measureOf(next: number): ColumnRef | null {
    const rows = this.names.tables.find(({ from, table }) => from === next && table === this.columns.base);
    const mention = this.names.columns.find(
      ({ from, candidates }) => from === rows?.to && candidates[0]!.score >= SURE,
    );
    const isOwn: Kinds = (ref) => isNumber(ref) && ref.table === this.columns.base;
    const ref = mention === undefined ? null : this.columns.takeColumn(mention, isOwn);
    if (ref !== null) this.question.use(next, rows!.to);
    return ref;
  }

  /** The rows that a superlative stands before: "the longest open ticket". */
  private thingAt(next: number): TableFacts | null {
    for (let at = next; at <= next + 2; at++) {
      const named = namedAt(this.names, at);
      if (named?.kind === "table") return named.mention.table;
      // "The highest temperature per logger" is none of loggers.
      if (at > next && this.question.says(at, "per|by|in|of|for|within|each|every|at|on")) return null;
      if (at === next || this.question.isUsed(at)) continue;
      const mention = this.names.tables.find(({ from }) => from === at);
      return mention?.table ?? null;
    }
    return null;
  }

  private column({ measure, at, to, isMost }: Superlative, next: number): ColumnRef | null {
    // "Who earns the most": what there is most of stands before.
    if (isMost) {
      const before = this.columns.nearestMention(at, to, isNumber);
      const ref = before && this.columns.takeColumn(before, isNumber);
      if (ref) return ref;
    }
    // "The longest delivery" is no time of delivery.
    const kinds: Kinds = (ref) => isNumber(ref) || (isTime(ref) && (measure?.words.length ?? 0) === 0);
    const named = this.columns.mentionAt(next, kinds);
    if (named !== undefined && !this.question.isUsed(next)) {
      const ref = this.columns.takeColumn(named, kinds);
      if (ref !== null) return ref;
    }
    if (measure?.time !== undefined) {
      const age = this.columns.columnByWords(measure.words, isNumber);
      if (age !== null && age.table === this.columns.base) return age;
      return this.ownTime(at, to, measure.time === "birth");
    }
    if (measure !== null && measure.words.length > 0) {
      const ref = this.columns.columnByWords(measure.words, isNumber) ?? this.columns.ownByMeaning(measure.words);
      // "The most expensive work" is not that of the exhibition whose tickets cost most.
      const isOther = ref !== null && !this.columns.named.has(ref.table) && !this.columns.isOneOf(ref.table);
      if (ref !== null) return isOther ? null : ref;
    }
    // "top 5 students by GPA".
    const by = this.question.tokens.findIndex((_, i) => this.question.says(i, "by|in|for|with") && i > at);
    const measured =
      by < 0
        ? undefined
        : this.names.columns.find(
            ({ from, candidates }) => from > by && from <= by + 3 && candidates.some(({ ref }) => isNumber(ref)),
          );
    if (measured !== undefined) return this.columns.takeColumn(measured, isNumber);
    const size = this.ofSize(at);
    if (size !== null) return size;
    const own = this.columns.base!.columns.filter((column) => isNumber({ table: this.columns.base!, column }));
    return own.length === 1 && measure !== null && !isMost ? { table: this.columns.base!, column: own[0]! } : null;
  }

  /** "The largest vineyards": the only number of theirs that says how large they are. */
  private ofSize(at: number): ColumnRef | null {
    const words = SIZES.find(([adjective]) => adjective.test(this.question.lower(at)))?.[1] ?? [];
    const { base } = this.columns;
    const [only, other] = this.columns.numbersByWords(words).filter(({ table }) => table === base);
    if (only === undefined || other !== undefined) return null;
    this.columns.doubt();
    return only;
  }

  /**
   * The time of a row: its own, or its year. The time of related rows only if there is one such row, or if it is named.
   */
  private ownTime(at: number, to: number, birthFirst: boolean): ColumnRef | null {
    const { base } = this.columns;
    const ref = this.columns.timeColumn(at, to, birthFirst);
    if (ref?.table === base) return ref;
    const year = base!.columns.find((column) => isYearNumber({ table: base!, column }));
    if (year !== undefined) return { table: base!, column: year };
    const steps = ref === null ? null : pathBetween(this.schema, base!, ref.table, this.columns.named);
    const isNamed = ref !== null && this.columns.named.has(ref.table);
    return isNamed || steps?.every(({ toMany }) => !toMany) === true ? ref : null;
  }

  /** Whether "the highest grade" asks for the value, not for the row that has it. */
  private isExtreme({ at, to, count, measure }: Superlative, ref: ColumnRef, groups: readonly GroupKey[]): boolean {
    if (count !== null || measure === null || measure.words.length > 0 || measure.time !== undefined) return false;
    if (groups.length > 0) return true;
    const { question } = this;
    // "The highest paid clerk" is a clerk.
    if (isVerb(question.lower(to)) && namedAt(this.names, to + 1)?.kind === "table") return false;
    if (isVerb(question.lower(to)) && question.isUsed(to + 1)) return false;
    // "The largest transfer" is a row.
    if (namedAt(this.names, to)?.kind === "table" && !this.names.columns.some(({ from }) => from > to)) return false;
    const mention = this.names.columns.find(({ from }) => from >= to && from <= to + 2);
    const followed = mention !== undefined && this.names.tables.some(({ from }) => from === mention.to);
    const before = this.names.tables.some(({ from, score }) => from < at && score >= SURE) || question.says(0, "who");
    return isNumber(ref) && !followed && !before;
  }
}
