/** Finds whose rows a question asks for: the table that is listed, counted or added up. Used by read-question.ts. */
import { nameWords } from "./bare-names.js";
import { anyKind, type ColumnFinder, isBoolean, isNumber, isText } from "./column-finder.js";
import { type NameMentions, type TableMention, wordScore } from "./name-mentions.js";
import { type GroupPhrase, namedAt, type Superlative } from "./phrases.js";
import { isVerb, type Question } from "./question.js";
import type { ColumnRef, SchemaFacts, TableFacts } from "./schema-facts.js";
import { SURE } from "./superlative-reader.js";
import type { ValueMention } from "./value-mentions.js";
import { AGGREGATES, SUMS } from "./vocabulary.js";

/** The score of what is written short. */
const SHORT = 0.84;
/** "Staff number" of `num_of_staff`. */
const TURNED = 0.75;
/** The score of a name's last word. */
const PART = 0.58;

export class BaseFinder {
  constructor(
    private readonly question: Question,
    private readonly schema: SchemaFacts,
    private readonly names: NameMentions,
    private readonly values: readonly ValueMention[],
    private readonly columns: ColumnFinder,
  ) {}

  /** The token after "how many", "number of"; null: nothing is counted. */
  countedAt(): number | null {
    const { question } = this;
    for (let at = 0; at < question.tokens.length; at++) {
      let next = 0;
      if (question.says(at, "how", "many")) next = at + 2;
      else if (question.says(at, "number|count|amount", "of") && !this.endsColumn(at) && !this.isAmount(at))
        next = at + 2;
      else if (question.says(at, "count") && at === 0) next = at + 1;
      if (next === 0 || this.isOfNumbers(at, next)) continue;
      while (question.says(next, "the|all|of|our|total|different|distinct|unique")) next++;
      return next;
    }
    return null;
  }

  /** "The average amount of a transfer" is no number of transfers. */
  private isAmount(at: number): boolean {
    return this.question.says(at, "amount") && AGGREGATES[this.question.lower(at - 1)] !== undefined;
  }

  /** "Average number of pages": of a column of numbers. */
  private isOfNumbers(at: number, next: number): boolean {
    const mention = this.columns.mentionAt(next, isNumber);
    if (AGGREGATES[this.question.lower(at - 1)] === undefined || mention === undefined) return false;
    if (mention.candidates[0]!.score < SURE) return false;
    this.question.use(at, next);
    return true;
  }

  /** "Update count of parts" is a column of theirs. */
  private endsColumn(at: number): boolean {
    // "Phone number of Laine", of a column `phone`.
    if (
      this.question.says(at - 1, "phone|telephone|mobile|fax") &&
      this.columns.mentionAt(at - 1, isText) !== undefined
    )
      return true;
    return this.names.columns.some(
      ({ from, to, candidates }) => from < at && to === at + 1 && candidates[0]!.score >= TURNED,
    );
  }

  find(counted: number | null, groups: readonly GroupPhrase[], first: Superlative | null): TableFacts | null {
    const { tables } = this.names;
    const isGroup = ({ from }: TableMention) =>
      groups.some((group) => group.kind !== "time" && group.mention.from === from);
    // "Most borrowed books" are books: what is done with them is counted.
    const isDone = first !== null && isVerb(this.question.lower(first.to)) && namedAt(this.names, first.to) !== null;
    const isRanked = ({ from }: TableMention) =>
      first?.isMost === true && from >= first.to && from <= (isDone ? first.to : first.to + 1);
    // "Order total" is a column.
    const isPart = (mention: TableMention) =>
      this.names.columns.some(
        ({ from, to, candidates }) =>
          from <= mention.from &&
          mention.to <= to &&
          to - from > mention.to - mention.from &&
          candidates[0]!.score >= SURE,
      );
    const free = tables.filter(
      (mention) =>
        !this.question.isUsed(mention.from) &&
        !isPart(mention) &&
        !isGroup(mention) &&
        !isRanked(mention) &&
        !this.isHaving(mention.from, first),
    );
    if (counted !== null) {
      // Words between may be values: "how many female students".
      const near = free.find(({ from, score }) => from >= counted && from <= counted + 3 && score >= 0.5);
      const column = this.names.columns.find(({ from }) => from === counted);
      const better =
        column !== undefined && (near === undefined || near.from > counted || column.candidates[0]!.score > near.score);
      if (better && column.candidates.some(({ ref }) => isNumber(ref) || ref.column.kind === "text")) {
        const ref = this.columns.resolve(column, anyKind, near?.table ?? null);
        if (ref !== null) return ref.table;
      }
      const flag = this.flagged(counted);
      if (flag !== null && near !== undefined && near.from > counted && near.table !== flag) return flag;
      if (near !== undefined) return this.take(near);
    }
    const qualified = (mention: TableMention) => this.values.some(({ to }) => to === mention.from);
    // What the question begins with may be written short: `stu` for students, "readings" of `temp_reading`.
    const isHead = ({ from, score, table }: TableMention) =>
      (score >= SHORT || (score >= PART && this.isOnlyPlural(from, table))) &&
      this.question.tokens.slice(0, from).every(({ isStop }) => isStop);
    const sure = free.filter((mention) => mention.score >= SURE || isHead(mention));
    const subject = sure.find((mention) => !qualified(mention)) ?? sure[0];
    // "What is the average fee per specialty": the measure's table, unless the subject is nearer.
    const near = subject ?? free[0];
    const measure = this.measured(near?.table ?? null);
    if (subject === undefined && measure !== null && measure.table === near?.table && this.asksAggregate())
      return this.take(near);
    if (measure !== null && measure.table !== subject?.table && this.asksAggregate()) return measure.table;
    if (subject !== undefined) return this.take(subject);
    const column = this.subjectColumn(first);
    const verb = free[0];
    const isSame = verb !== undefined && column?.table === verb.table;
    if (verb !== undefined && (column === null || isSame || verb.score >= 0.65)) return this.take(verb);
    if (column !== null) return column.table;
    if (tables.length > 0 && groups.length > 0) return this.take(tables[0]!);
    const grouped = groups.find((group) => group.kind === "column");
    const ref = grouped === undefined ? null : this.columns.resolve(grouped.mention, anyKind);
    return ref?.table ?? this.baseOfValues();
  }

  /** "Readings" of a table of such a name, where nothing else is called so. */
  private isOnlyPlural(at: number, table: TableFacts): boolean {
    const token = this.question.at(at)!;
    if (!/[^s]s$/.test(token.lower) || isVerb(token.lower)) return false;
    const isCalled = (named: TableFacts | TableFacts["columns"][number]) =>
      nameWords(this.schema, named).bare.some((word) => wordScore(token, word) >= SURE);
    return this.schema.tables.every((each) => (each === table) === isCalled(each) && !each.columns.some(isCalled));
  }

  /** "How many companies donate": those of which it is true are counted, not what they do. */
  private flagged(counted: number): TableFacts | null {
    const mention = this.columns.mentionAt(counted, isBoolean);
    const flag = mention?.candidates.find(({ ref, score }) => isBoolean(ref) && score >= SURE);
    return flag === undefined || /ed$/.test(this.question.lower(counted)) ? null : flag.ref.table;
  }

  private take(mention: TableMention): TableFacts {
    this.columns.certainty = Math.min(this.columns.certainty, mention.score);
    this.question.use(mention.from, mention.to);
    return mention.table;
  }

  /** Whether the name is what a number of rows is compared with: "more than 3 orders". */
  private isHaving(at: number, first: Superlative | null): boolean {
    // "The last 5 visits".
    if (first !== null && first.at < at && at <= first.to) return false;
    const before = this.question.at(at - 1);
    return before?.number != null && this.question.isUsed(at - 1);
  }

  private asksAggregate(): boolean {
    return this.question.tokens.some(({ lower }) => AGGREGATES[lower] !== undefined);
  }

  /** The column that an aggregate word stands before. */
  private measured(near: TableFacts | null): ColumnRef | null {
    const at = this.question.tokens.findIndex(({ lower }) => AGGREGATES[lower] !== undefined);
    if (at < 0) return null;
    // "Total revenue" is no total of another column.
    const isOther = SUMS.includes(this.question.lower(at + 1)) || this.question.says(at + 1, "quantity|units|hours");
    const first = isOther ? at + 1 : at;
    const mention = this.names.columns.find(
      ({ from, candidates }) => from >= first && from <= at + 4 && candidates.some(({ ref }) => isNumber(ref)),
    );
    return mention === undefined ? null : this.columns.resolve(mention, isNumber, near);
  }

  private subjectColumn(first: Superlative | null): ColumnRef | null {
    const free = this.names.columns.filter(
      ({ from }) =>
        !this.question.isUsed(from) &&
        !this.isHaving(from, first) &&
        (first === null || !first.isMost || from < first.at),
    );
    const best = free.find(({ candidates }) => candidates[0]!.score >= 0.7) ?? free[0];
    return best === undefined ? null : this.columns.resolve(best, anyKind, this.valueTable());
  }

  private valueTable(): TableFacts | null {
    return this.values[0]?.hits[0]?.ref.table ?? null;
  }

  /** Of a value alone ("how many toys"): what refers to the table that lists such values, or that table. */
  private baseOfValues(): TableFacts | null {
    const table = this.valueTable();
    if (table === null) return null;
    this.columns.certainty = Math.min(this.columns.certainty, 0.6);
    const from = this.schema.links.filter(({ to }) => to === table).map((link) => link.from);
    return table.columns.length <= 3 && from.length > 0 ? from[0]! : table;
  }
}
