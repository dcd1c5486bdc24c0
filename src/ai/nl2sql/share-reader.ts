/** Shares that a question asks for: of groups, or of rows for which something holds. Used by read-question.ts. */
import { type ColumnFinder, isNumber } from "./column-finder.js";
import type { ColumnMention, NameMentions } from "./name-mentions.js";
import { type Named, namedAt } from "./phrases.js";
import type { Aggregate, Filter } from "./query-shape.js";
import type { Question } from "./question.js";
import type { ValueMention } from "./value-mentions.js";
import { AGGREGATES } from "./vocabulary.js";

export class ShareReader {
  constructor(
    private readonly question: Question,
    private readonly names: NameMentions,
    private readonly values: readonly ValueMention[],
    private readonly columns: ColumnFinder,
    /** What holds for rows of a share is taken out. */
    private readonly filters: Filter[],
  ) {}

  /** "The share of orders per country", "the share of revenue per country". */
  read(isGrouped: boolean): Aggregate[] {
    const { question } = this;
    for (let at = 0; at < question.tokens.length; at++) {
      const rate = this.rateAt(at);
      if (rate !== null) return [rate];
      if (isGrouped && this.isInPercent(at)) {
        question.use(at, question.tokens.length);
        return [{ fn: "share", ref: null, of: 100 }];
      }
      const whole = isGrouped ? this.ofWhole(at) : null;
      if (whole !== null) return [whole];
      if (!question.says(at, "share|shares|percentage|percent|proportion|fraction", "of") || question.isUsed(at))
        continue;
      const of = question.says(at, "percentage|percent") || this.saysPercent() ? 100 : 1;
      const holds = this.statesOf(at, isGrouped);
      if (holds.length > 0) return [{ fn: "rate", holds, of }];
      if (!isGrouped) continue;
      const named = this.sharedThing(at + 2);
      const ref = named?.kind === "column" ? this.columns.takeColumn(named.mention, isNumber) : null;
      // Of words there is no sum: the question is refused.
      if (named?.kind === "column" && ref === null) continue;
      question.use(at, at + 2);
      // "The share of the total revenue".
      for (let next = at + 2; ref !== null && next < named!.mention.from; next++)
        if (AGGREGATES[question.lower(next)] === "sum") question.use(next);
      return [{ fn: "share", ref, of }];
    }
    return [];
  }

  /** "Pass rate per subject", "unpaid share of the invoices": of all rows those of which it is true. */
  private rateAt(at: number): Aggregate | null {
    const { question, filters } = this;
    if (!question.says(at, "rate|ratio|share|percentage|proportion") || question.isUsed(at)) return null;
    const holds = filters.filter((filter) => filter.isState && filter.at! < at && filter.at! >= at - 2);
    const [only, other] = holds;
    if (only === undefined || other !== undefined || only.ref.table !== this.columns.base || !question.isUsed(at - 1))
      return null;
    question.use(at, question.says(at + 1, "of") ? at + 2 : at + 1);
    filters.splice(filters.indexOf(only), 1);
    return { fn: "rate", holds, of: question.says(at, "percentage") ? 100 : 1 };
  }

  /** "Bills by payment method, in percent", at the end, where no number is named. */
  private isInPercent(at: number): boolean {
    const { question, names } = this;
    const isNumeric = names.columns.some(
      ({ from, candidates }) =>
        !question.isUsed(from) && candidates.some(({ ref, score }) => isNumber(ref) && score >= 0.9),
    );
    const to = question.says(at, "in") ? at + 1 : question.says(at, "as", "a") ? at + 2 : at + 1;
    const isLast = to === question.tokens.length - 1 && question.says(at, "in|as");
    return !isNumeric && isLast && question.says(to, "percent|percents|percentage|percentages");
  }

  /** "The share of bills by method in percent": at the end, it is no column of percents. */
  private saysPercent(): boolean {
    const { question } = this;
    const last = question.tokens.length - 1;
    if (!question.says(last, "percent|percentage|percentages") || !question.says(last - 1, "in|as")) return false;
    question.use(last - 1, last + 1);
    return true;
  }

  /** "Revenue per country as a share of the total". */
  private ofWhole(at: number): Aggregate | null {
    const { question, names } = this;
    const part = question.says(at + 1, "a|the") ? at + 2 : at + 1;
    if (!question.says(at, "as") || !question.says(part, "share|percentage|percent|proportion|fraction", "of"))
      return null;
    const whole = question.says(part + 2, "the") ? part + 3 : part + 2;
    if (!question.says(whole, "total|whole|overall|sum|all")) return null;
    const isMeasure = ({ from, candidates }: ColumnMention) =>
      from < at && !question.isUsed(from) && candidates.some(({ ref }) => isNumber(ref));
    const mention = names.columns.find(isMeasure);
    const ref = mention === undefined ? null : this.columns.takeColumn(mention, isNumber);
    question.use(at, whole + 1);
    return { fn: "share", ref, of: question.says(part, "percentage|percent") ? 100 : 1 };
  }

  /** "The share of the stories that are premium", "of premium stories": what holds for such rows. */
  private statesOf(at: number, isGrouped: boolean): readonly Filter[] {
    const { question, filters } = this;
    const said = question.tokens.findIndex((_, i) => i > at && question.says(i, "is|are|was|were"));
    const holds = filters.filter((filter) => filter.isState && filter.at! >= Math.max(at, said));
    if (holds.length === 0) return [];
    // Among the premium stories of each section, or premium ones among its stories: it does not say.
    const isClear = (said > 0 || !isGrouped) && holds.every(({ ref }) => this.columns.isOneOf(ref.table));
    if (!isClear) this.columns.unuse(at);
    question.use(at, at + 2);
    for (const filter of holds) filters.splice(filters.indexOf(filter), 1);
    return holds;
  }

  /** What groups have a share of: the first thing that is named from there on, before the groups. */
  private sharedThing(from: number): Named | null {
    const isValue = (at: number) => this.values.some((value) => value.from <= at && at < value.to);
    for (let at = from; at < this.question.tokens.length; at++) {
      const named = namedAt(this.names, at);
      if (this.question.isUsed(at) ? !isValue(at) : named !== null) return this.question.isUsed(at) ? null : named;
    }
    return null;
  }
}
