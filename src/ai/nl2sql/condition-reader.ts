/**
 * Finds the conditions in a question: comparisons, values, patterns, missing or required values. Adds them to lists
 * that `read-question.ts` takes.
 */
import { ownName } from "./bare-names.js";
import { anyKind, type ColumnFinder, isBoolean, isNumber, isText, isTime, type Kinds } from "./column-finder.js";
import { comparedColumns } from "./compared-columns.js";
import { ageCondition, rangeCondition, valueCondition } from "./condition-sql.js";
import { type Condition, hasYears } from "./conditions.js";
import { DENIES, GENERAL_DEED, thingsDone } from "./done-verbs.js";
import { fitOfRole, isOtherWay } from "./link-roles.js";
import type { ColumnMention, NameMentions, TableMention } from "./name-mentions.js";
import { isNegated, namedAt, negationBefore } from "./phrases.js";
import { plainStates } from "./plain-states.js";
import type { Filter, QueryShape } from "./query-shape.js";
import { isVerb, type Question } from "./question.js";
import { countCondition } from "./row-counts.js";
import { type ColumnFacts, type ColumnRef, namingColumns, type TableFacts } from "./schema-facts.js";
import { isUnclearAnd } from "./several-values.js";
import { escapedPattern, literal } from "./sql-names.js";
import { unitFactor } from "./units.js";
import { isWhen, type ValueHit, type ValueMention } from "./value-mentions.js";

export class ConditionReader {
  readonly filters: Filter[] = [];
  readonly related: { table: TableFacts; exists: boolean }[] = [];
  having: QueryShape["having"] = null;
  isGrouped = false;
  /** Rows of which the average number is asked for: times are theirs. */
  counted: TableFacts | null = null;
  private readonly spans = new Set<ColumnFacts>();
  /** Where a negation says that there is no row of a table. */
  private readonly absences = new Map<number, TableFacts>();

  constructor(
    private readonly question: Question,
    private readonly names: NameMentions,
    private readonly values: readonly ValueMention[],
    private readonly columns: ColumnFinder,
  ) {}

  /** All but comparisons with numbers and dates. */
  read(): void {
    const { question } = this;
    this.filters.push(...plainStates(question, this.names, this.columns));
    this.missing();
    this.valueFilters();
    this.keys();
    this.amounts();
    this.patterns();
    this.booleans();
    this.filters.push(...comparedColumns(question, this.names, this.columns));
  }

  condition(condition: Condition): void {
    const { from, to, measure, comparison, numbers } = condition;
    const { question } = this;
    if (condition.isAverage) {
      const ref = this.columns.measureColumn(measure, from, to);
      if (ref === null) return;
      // "Paid less than the average salary".
      const named = this.names.columns.find((each) => each.from === to);
      if (named?.candidates.some((each) => each.ref.column === ref.column)) question.use(named.from, named.to);
      // "The average amount of their account" is another one for each row.
      const after = named === undefined ? to : named.to;
      if (
        question.says(after, "of|in|for|at", "their|its|his|her|the", "same") ||
        question.says(after, "of|in|for|at", "their|its|his|her")
      )
        this.columns.unuse(to - 1);
      const times = condition.factor === undefined || condition.factor === 1 ? "" : `${condition.factor} * `;
      const average = (column: string) => `${times}(SELECT avg(${column}) FROM ${ref.table.sqlName})`;
      this.add(from, ref, (column) => `${column} ${comparison} ${average(column)}`);
      return;
    }
    if (numbers?.length === 1 && this.counts(condition)) return;
    if (measure?.time !== undefined && numbers !== null && !hasYears(condition)) {
      const ref = this.columns.ageColumn(measure, this.columns.ownerOfClause(from));
      if (ref !== null) this.add(from, ref, ageCondition(ref, comparison, numbers[0]!));
      else for (let at = from; at < to; at++) this.columns.unuse(at);
      return;
    }
    const yearColumn = this.columns.yearColumn(condition);
    if (condition.range !== null && yearColumn === null && !this.columns.isNumeric(condition)) {
      const isSaid = this.counted !== null && this.columns.nearestMention(from, to, isTime) !== null;
      const many = this.columns.manyBefore(from) ?? (isSaid ? null : this.counted);
      const ref =
        many === null ? this.columns.timeColumn(from, to, measure?.time === "birth") : this.columns.timeOf(many);
      if (ref !== null) {
        this.twice(condition, ref);
        this.add(from, ref, rangeCondition(condition.range));
      } else for (let at = from; at < to; at++) this.columns.unuse(at);
      return;
    }
    if (numbers === null) return;
    const ref = yearColumn ?? this.columns.measureColumn(measure, from, to);
    if (ref === null) return;
    const word = question.lower(to - 1);
    const factor = unitFactor(word, ref.column);
    if (factor === null || this.columns.isOfOther(ref, from) || this.columns.isTotal(ref, to)) {
      for (let at = from; at < to; at++) this.columns.unuse(at);
      return;
    }
    this.columns.measured.push({ ref, word, numbers });
    if (ref.column.unit !== undefined) this.columns.doubt();
    const negated = isNegated(question, from, 1);
    const [low, high] = numbers.map((number) => Number((number * factor).toPrecision(12)));
    this.add(from, ref, (column) => {
      const text = high === undefined ? `${column} ${comparison} ${low}` : `${column} BETWEEN ${low} AND ${high}`;
      return negated ? `NOT ${text}` : text;
    });
  }

  /** Two spans of time for one column: "or" stands between them, or one of them is no span. */
  private twice({ from, to, range }: Condition, { column }: ColumnRef): void {
    if (range!.from === null || range!.to === null) return;
    if (this.spans.has(column) && !this.question.says(from - 1, "or"))
      for (let at = from; at < to; at++) this.columns.unuse(at);
    this.spans.add(column);
  }

  /** A condition that begins at that token; after "or" it is an alternative to the one before, on the same column. */
  private add(from: number, ref: ColumnRef, sql: Filter["sql"]): void {
    const before = this.filters.at(-1);
    if (this.question.says(from - 1, "or") && before?.ref.column === ref.column) {
      this.question.use(from - 1);
      this.filters[this.filters.length - 1] = { ref, sql: (column) => `(${before.sql(column)} OR ${sql(column)})` };
    } else this.filters.push({ ref, sql, at: from });
  }

  /** "More than 3 orders": true when it is a number of rows. */
  private counts(condition: Condition): boolean {
    const having = countCondition(condition, this.question, this.names, this.values, this.columns, this.isGrouped);
    if (having !== null) this.having = having;
    return having !== null;
  }

  private valueFilters(): void {
    const chosen: { ref: ColumnRef; values: readonly string[]; denial: number | null; at: number }[] = [];
    for (const { from, to, hits } of this.values) {
      // "In the city of Ashley".
      const before = this.question.says(from - 1, "of") ? from - 1 : from;
      const beside = [...this.names.columns.filter((each) => each.to === before || each.from === to)];
      const besideTables = this.names.tables.filter((each) => each.to === from || each.from === to);
      const score = ({ ref }: { ref: ColumnRef }) =>
        this.columns.nearness(ref.table, this.columns.base) +
        (beside.some(({ candidates }) => candidates.some((each) => each.ref.column === ref.column)) ? 0.5 : 0) +
        (besideTables.some(({ table }) => table === ref.table) ? 0.5 : 0) +
        fitOfRole(this.question, ref.column.name) +
        (namingColumns(ref.table).includes(ref.column) ? 0.05 : 0);
      const [best, second] = [...hits].sort((a, b) => score(b) - score(a)) as [ValueHit, ...ValueHit[]];
      if (second !== undefined && score(best) - score(second) < 0.15) this.columns.doubt();
      this.columns.noteValueRivals(
        best.ref,
        hits.filter((hit) => score(best) === score(hit)).map(({ ref }) => ref),
      );
      if (score(best) <= -1 || isOtherWay(this.question, from, best.ref.column.name)) {
        for (let at = from; at < to; at++) this.columns.unuse(at);
        continue;
      }
      for (const mention of [...beside, ...besideTables]) this.useQualifier(mention, best.ref);
      if (isWhen(this.names, from)) this.columns.doubt();
      const denies = negationBefore(this.question, from);
      // "No comments by mo": it says which of them are not there.
      const absent = denies === null ? undefined : this.absences.get(denies);
      // "Venues without gigs in Cork" are in Cork.
      const denial =
        absent === best.ref.table || (absent !== undefined && best.ref.table === this.columns.base) ? null : denies;
      const same = chosen.find(
        (other) => other.ref.column === best.ref.column && (other.denial === null) === (denial === null),
      );
      if (same === undefined) chosen.push({ ref: best.ref, values: best.values, denial, at: from });
      else {
        if (isUnclearAnd(this.question, from, same.ref, this.columns, this.isGrouped)) this.columns.unuse(from - 1);
        same.values = [...same.values, ...best.values];
        for (let at = from - 1; at >= from - 3; at--) if (this.question.says(at, "or")) this.question.use(at);
      }
    }
    for (const { ref, values, denial, at } of chosen) {
      const sql = valueCondition(values, denial !== null);
      if (denial !== null) this.deny(at, denial, ref, valueCondition(values, false), sql);
      else this.filters.push({ ref, sql, at, isState: true });
    }
  }

  /** "category" beside "Electronics" says no more. */
  private useQualifier(mention: ColumnMention | TableMention, ref: ColumnRef): void {
    const says =
      "table" in mention
        ? mention.table === ref.table
        : mention.candidates.some((each) => each.ref.column === ref.column);
    if (says) this.question.use(mention.from, mention.to);
  }

  /** "A price of 20", "on floor 2": that number. */
  private amounts(): void {
    const { question } = this;
    for (const mention of this.names.columns) {
      const at = question.says(mention.to, "of") ? mention.to + 1 : mention.to;
      const number = question.at(at)?.number ?? null;
      if (number === null || question.isUsed(at) || question.isUsed(mention.from)) continue;
      if (!question.says(mention.from - 1, "a|an|the|have|has|with|had|on|in|at")) continue;
      const ref = this.columns.takeColumn(mention, isNumber);
      if (ref === null) continue;
      question.use(mention.to, at + 1);
      const not = isNegated(question, mention.from, 2) ? "<>" : "=";
      this.filters.push({ ref, sql: (column) => `${column} ${not} ${number}` });
    }
  }

  /** "order 3": the row of that key. */
  private keys(): void {
    const { question } = this;
    for (const { table, to } of this.names.tables) {
      const number = question.at(to)?.number ?? null;
      const numbered = table.columns.find(
        (column) => !column.isKey && /^(?:number|no|nr)$/.test(ownName(table, column)),
      );
      const key = numbered ?? table.columns.find(({ name }) => name === table.primaryKey[0]);
      if (number === null || question.isUsed(to) || !Number.isSafeInteger(number)) continue;
      if (table.primaryKey.length !== 1 || key === undefined || !/^(?:number|text)$/.test(key.kind)) continue;
      if (key.kind === "text" && key !== numbered) continue;
      if (question.lower(to - 1).endsWith("s")) continue;
      question.use(to - 1, to + 1);
      const value = key.kind === "text" ? literal(question.at(to)!.text) : number;
      this.filters.push({ ref: { table, column: key }, sql: (column) => `${column} = ${value}` });
    }
  }

  /** "starts with S", "containing "train"". */
  private patterns(): void {
    const { question } = this;
    for (let at = 0; at < question.tokens.length; at++) {
      let length = 0;
      let form = (text: string) => `%${text}%`;
      if (question.says(at, "start|starts|starting|begin|begins|beginning", "with")) {
        length = 2;
        form = (text) => `${text}%`;
      } else if (question.says(at, "end|ends|ending", "with|in")) {
        length = 2;
        form = (text) => `%${text}`;
      } else if (question.says(at, "contain|contains|containing|include|includes|including|like|matching")) length = 1;
      else if (question.at(at)!.isQuoted && !question.isUsed(at)) length = 0;
      else continue;
      let operand = at + length;
      while (question.says(operand, "the|a|an|letter|letters|word|text|string")) operand++;
      const token = question.at(operand);
      if (token === null || (length === 0 && question.isUsed(operand))) continue;
      const mention = this.columns.nearestMention(at, operand + 1, isText, 5) ?? this.mentionAfter(operand, isText);
      // "Dishes that contain nuts" need not say so in their names.
      if (mention === null && length === 1 && !token.isQuoted) continue;
      const [naming] = namingColumns(this.columns.base!);
      const ref = mention ? this.columns.takeColumn(mention, isText) : { table: this.columns.base!, column: naming! };
      if (ref === null || ref.column.kind !== "text") continue;
      this.filtersWithout(operand);
      question.use(at, operand + 1);
      const pattern = literal(form(escapedPattern(token.text)));
      const not = isNegated(question, at, 2) ? "NOT " : "";
      this.filters.push({ ref, sql: (column) => `${column} ${not}ILIKE ${pattern}` });
      at = operand;
    }
  }

  private mentionAfter(at: number, kinds: Kinds): ColumnMention | null {
    return (
      this.names.columns.find(
        ({ from, candidates }) => from > at && from <= at + 3 && candidates.some(({ ref }) => kinds(ref)),
      ) ?? null
    );
  }

  /** What was read as a value is a pattern. */
  private filtersWithout(at: number): void {
    const value = this.values.find(({ from, to }) => from <= at && at < to);
    if (value === undefined) return;
    const index = this.filters.findIndex(({ ref }) => value.hits.some((hit) => hit.ref.column === ref.column));
    if (index >= 0) this.filters.splice(index, 1);
  }

  /** "without email", "no teacher", "never ordered": what is not there; and "with a scholarship". */
  private missing(): void {
    const { question } = this;
    if (question.says(0, "is|are") && question.says(1, "there")) return;
    for (let at = 0; at < question.tokens.length; at++) {
      if (question.isUsed(at)) continue;
      if (question.says(at, "out", "of")) {
        const isStock: Kinds = (ref) => isNumber(ref) || isBoolean(ref);
        const mention = this.columns.mentionAt(at + 2, isStock);
        const ref = mention && this.columns.takeColumn(mention, isStock);
        if (!ref) continue;
        question.use(at, at + 2);
        this.filters.push({ ref, sql: (column) => (isBoolean(ref) ? `NOT ${column}` : `${column} = 0`) });
      } else if (question.says(at, "nobody") || question.says(at, "no", "one")) this.byNobody(at);
      else if (question.says(at, "without|no|lack|lacking|missing|lacks")) this.absent(at, at + 1);
      else if (question.says(at, "not|never") || /n['’]t$/.test(question.lower(at))) {
        let next = at + 1;
        if (question.says(next, "in|on|part", "any|a|an|of")) next++;
        while (question.says(next, "have|has|had|a|an|any|been|be|ever|yet|of")) next++;
        const named = namedAt(this.names, next);
        const isTable = named?.kind === "table" && named.mention.table !== this.columns.base;
        if (this.withoutRole(at, next)) continue;
        // "Did not buy tea": that value is denied, not all that was bought.
        if (
          isTable &&
          this.values.some(({ from }) => from >= named.mention.to && from <= Math.min(at + 3, named.mention.to + 1))
        )
          question.use(named.mention.from, named.mention.to);
        else if (isTable) this.absent(at, next);
        else if (question.says(at + 1, "have|has|had")) this.absent(at, next);
        else this.undone(at, next);
      } else if (question.says(at, "with|have|has|had|having")) this.present(at + 1);
    }
  }

  /** "Have not written any stories", "never bought a book": what is done says no more than the thing. */
  private undone(at: number, verb: number): void {
    const { question } = this;
    if (!/^(never|have|has|had|did|do|does)$/.test(question.lower(at - 1)) && !/n['’]t|never/.test(question.lower(at)))
      return;
    let next = verb + 1;
    while (question.says(next, "a|an|any|one|single|for|to|in|on|at|from")) next++;
    const named = namedAt(this.names, next);
    if (question.isUsed(verb)) return;
    if (named?.kind === "table" && named.mention.table !== this.columns.base) {
      // What was borrowed may not be returned.
      if (DENIES.test(question.lower(verb))) return;
      question.use(verb, next);
      this.absent(at, next);
    } else this.nothingDone(at, verb);
  }

  /** "Dishes that were never ordered", "waiters who have not served anyone": what refers to them can only be that. */
  private nothingDone(at: number, verb: number): void {
    const { question, columns } = this;
    const [only, other] = thingsDone(columns, verb);
    const end = question.says(verb + 1, "anyone|anything|anybody|any|yet") ? verb + 2 : verb + 1;
    if (only === undefined || other !== undefined || !isVerb(question.lower(verb)) || !this.endsAt(end)) return;
    if (DENIES.test(question.lower(verb))) return;
    columns.doubt();
    question.use(at, end);
    this.related.push({ table: only, exists: false });
  }

  /** "Plans nobody uses", "stories that nobody commented on", "alerts that nobody has confirmed". */
  private byNobody(at: number): void {
    const { question, columns } = this;
    let verb = question.says(at, "no") ? at + 2 : at + 1;
    while (question.says(verb, "has|have|had|ever|yet|is|was|did")) verb++;
    const isDone: Kinds = (ref) => isBoolean(ref) || (isTime(ref) && ref.column.nullable);
    const mention = columns.mentionAt(verb, isDone);
    const ref = mention && columns.resolve(mention, (each) => isDone(each) && each.table === columns.base);
    const thing = question.says(verb + 1, "a|an|any|one") ? verb + 2 : verb + 1;
    const named = [namedAt(this.names, verb), namedAt(this.names, thing)].find((each) => each?.kind === "table");
    const [only, other] = columns.manyOf();
    // "Rooms nobody has booked", where "booked" is a state of stays.
    if (question.isUsed(verb)) columns.unuse(verb);
    if (ref) {
      question.use(at, mention!.to);
      this.filters.push({ ref, at, sql: (column) => (isBoolean(ref) ? `NOT ${column}` : `${column} IS NULL`) });
    } else if (named?.kind === "table" && named.mention.table !== columns.base) {
      question.use(at, named.mention.to);
      this.related.push({ table: named.mention.table, exists: false });
    } else if (only !== undefined && other === undefined && GENERAL_DEED.test(question.lower(verb))) {
      question.use(at, verb + 1);
      this.related.push({ table: only, exists: false });
    }
  }

  private absent(at: number, first: number): void {
    const { question } = this;
    let next = first;
    while (question.says(next, "a|an|any|the|known|registered")) next++;
    if (this.withoutRole(at, next)) return;
    const named = namedAt(this.names, next);
    const key = named === null && this.endsAt(next + 1) ? this.columns.keyCalled(next) : null;
    if (key !== null) {
      question.use(at, next + 1);
      this.filters.push({ ref: key, at, sql: (column) => `${column} IS NULL` });
    }
    if (named === null) return;
    if (named.kind === "table") {
      if (named.mention.table === this.columns.base) return;
      // "Who bought no ticket": what is done says no more than the thing.
      const isDone = isVerb(question.lower(at - 1)) && question.says(at - 2, "who|that|which|have|has|had");
      const done = isDone ? namedAt(this.names, at - 1) : null;
      const isOfIt = done?.kind === "column" && done.mention.candidates[0]!.ref.table === named.mention.table;
      const from = isDone && (done === null || isOfIt) ? at - 1 : at;
      question.use(from, this.behindDeed(named.mention));
      this.absences.set(at, named.mention.table);
      this.related.push({ table: named.mention.table, exists: false });
      return;
    }
    const ref = this.columns.takeColumn(named.mention, anyKind);
    if (ref === null) return;
    question.use(at);
    if (isBoolean(ref))
      this.deny(
        next,
        at,
        ref,
        (column) => column,
        (column) => `NOT ${column}`,
      );
    else this.filters.push({ ref, sql: (column) => `${column} IS NULL` });
  }

  /** "Never borrowed a book", where books are reached by what is borrowed: where the words of both end. */
  private behindDeed({ from, to, table }: TableMention): number {
    const { question, columns } = this;
    const next = question.says(to, "a|an|any") ? to + 1 : to;
    const thing = this.names.tables.find((each) => each.from === next);
    if (thing === undefined || !isVerb(question.lower(from))) return to;
    return columns.isBehind(table, thing.table) ? thing.to : to;
  }

  /** "Classes without a homeroom teacher", "teachers who are not a homeroom teacher", where no more is said of it. */
  private withoutRole(at: number, from: number): boolean {
    const role = this.columns.roleAt(from);
    const { base } = this.columns;
    if (role === null || !this.endsAt(role.to)) return false;
    const { from: table, to, columns } = role.link;
    const column = table.columns.find(({ name }) => name === columns[0])!;
    if (table === base) this.filters.push({ ref: { table, column }, sql: (name) => `${name} IS NULL` });
    else if (to === base && this.columns.isOnlyLink(role.link)) this.related.push({ table, exists: false });
    else return false;
    this.question.use(at, role.to);
    return true;
  }

  private endsAt(at: number): boolean {
    return at === this.question.tokens.length || this.question.says(at, "and|who|that|which|but");
  }

  private present(from: number): void {
    let next = from;
    while (this.question.says(next, "a|an|any|some|at", "least")) next++;
    const isArticle = next > from || this.question.says(next, "a|an|any|some");
    if (this.question.says(next, "a|an|any|some")) next++;
    const named = namedAt(this.names, next);
    // "Viewings with feedback".
    const isOfRows = this.names.tables.some(({ table, to }) => table === this.columns.base && to === from - 1);
    if (named?.kind === "column" && (isArticle || isOfRows)) this.known(named.mention);
    if (named?.kind !== "table" || !isArticle || named.mention.table === this.columns.base) return;
    if (this.values.some(({ from: start }) => start === named.mention.to)) return;
    this.question.use(named.mention.from, named.mention.to);
    this.related.push({ table: named.mention.table, exists: true });
  }

  /** "with an email", where no more is said of it. */
  private known(mention: ColumnMention): void {
    if (!this.endsAt(mention.to) || this.question.isUsed(mention.from)) return;
    const ref = this.columns.resolve(mention, (each) => each.table === this.columns.base && !isBoolean(each));
    if (ref === null) return;
    this.question.use(mention.from, mention.to);
    // A discount of 0 is none.
    this.filters.push({ ref, sql: (column) => `${column} ${isNumber(ref) ? "> 0" : "IS NOT NULL"}` });
  }

  /**
   * "Without open orders": there is no such row. "With orders that are not open": there is one that is not; the rows
   * are named before what is denied of them.
   */
  private deny(at: number, denial: number, ref: ColumnRef, denied: Filter["sql"], sql: Filter["sql"]): void {
    const isNamedBefore = this.names.tables.some(
      ({ table, from }) => table === ref.table && from < denial && !isVerb(this.question.lower(from)),
    );
    const isAbsent = /^(?:no|without|never)$/.test(this.question.lower(denial));
    // "By Kim and not by Osei" are two rows.
    const isOther = this.filters.some((other) => other.ref.column === ref.column);
    const isOfRow = (isNamedBefore && !isAbsent && !isOther) || this.question.at(denial)?.isPrefix === true;
    this.filters.push({ ref, sql, at, isState: true, ...(!isOfRow && { denied, denial }) });
  }

  private booleans(): void {
    for (const mention of this.names.columns) {
      if (this.question.isUsed(mention.from) || !mention.candidates.some(({ ref }) => isBoolean(ref))) continue;
      const best = this.columns.resolve(mention, anyKind);
      if (best === null || !isBoolean(best)) continue;
      this.question.use(mention.from, mention.to);
      const denial = negationBefore(this.question, mention.from);
      const at = mention.from;
      // "How many stories are hidden" does not ask for hidden comments.
      if (best.table !== this.columns.base && !this.columns.isOneOf(best.table) && !this.columns.named.has(best.table))
        this.columns.unuse(at);
      // "Organic and non-organic fields" are all of them.
      if (this.filters.some(({ ref }) => ref.column === best.column)) this.columns.unuse(at);
      if (denial !== null && this.absences.get(denial) !== best.table)
        this.deny(
          at,
          denial,
          best,
          (column) => column,
          (column) => `NOT ${column}`,
        );
      else this.filters.push({ ref: best, sql: (column) => column, at, isState: true });
    }
  }
}
