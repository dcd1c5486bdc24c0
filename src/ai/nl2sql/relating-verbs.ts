/**
 * Verbs that say no more than that two things belong together: "the airline that operates the A220", "wards that Boyle
 * represents", "courses taught by Ada". Called by read-question.ts once all else is read; stateless.
 */
import type { ColumnFinder } from "./column-finder.js";
import { isCalled, type NameMentions } from "./name-mentions.js";
import { isVerb, type Question, stemOf } from "./question.js";
import { endOf, pathBetween, type SchemaFacts, type TableFacts } from "./schema-facts.js";
import type { ValueMention } from "./value-mentions.js";

const VERBS = new Set(
  (
    "operate run own manage lead led represent handle serve use sell sold produce make made host hold held cover teach taught " +
    "write wrote written submit file play support treat supply provide employ drive drove driven fly flew flown supervise mentor " +
    "coach direct organise organize sponsor fund grow grew grown stock carry buy bought purchase order book reserve contain " +
    "score release publish record attend visit perform receive get got take took upload post share create add file log register " +
    "join rent lease hire sign stream watch listen download view process review borrow inspect repair service host donate give " +
    "gave raise raised speak spoke spoken appear act star participate compete contribute send sent complete win won earn assign conduct enroll"
  )
    .split(" ")
    .map(stemOf),
);
/** What it is said with is another thing than it, or no more so. */
const CHANGES =
  /^(?:excluding|lacking|missing|avoiding|needing|requiring|preceding|following|replacing|including|containing|starting|ending|beginning|excluded|moved|transferred|left|changed|rejected|cancelled|replaced|returned|refused|sold|bought|needed|lost)$/;
/** By its stem. */
export const relates = (stem: string) => VERBS.has(stem);
/** "Matches that Ann lost" are not all of hers. */
const TELLS_WHICH =
  /^(?:los|miss|wast|fail|reject|refus|cancel|return|ow(?:e|es|ed)$|need|win|won$|complet|finish|pass|sav|skip|forg|left$|leav)/i;
export const tellsWhich = (verb: string) => TELLS_WHICH.test(verb);
/** "Tickets that Ann bought" are her tickets. */
export const isMereDeed = (verb: string) => relates(stemOf(verb.toLowerCase())) && !tellsWhich(verb);
const WHEN = "in|on|since|during|before|after|last|this|between";
/** A synonym, or better. */
const MEANING = 0.6;
/** A word of the same family. */
const FAMILY = 0.7;

export function relatingVerbs(
  question: Question,
  schema: SchemaFacts,
  names: NameMentions,
  values: readonly ValueMention[],
  columns: ColumnFinder,
  related: Related,
): void {
  const reader = new RelatingVerbs(question, schema, names, values, columns);
  question.tokens.forEach(({ isQuoted }, at) => {
    if (!question.isUsed(at) && !isQuoted) reader.read(at, related);
  });
}

type Related = { table: TableFacts; exists: boolean }[];

interface Thing {
  readonly from: number;
  readonly to: number;
  /** Null: a value of one of several tables. */
  readonly table: TableFacts | null;
}

class RelatingVerbs {
  private readonly things: readonly Thing[];

  constructor(
    private readonly question: Question,
    private readonly schema: SchemaFacts,
    private readonly names: NameMentions,
    private readonly values: readonly ValueMention[],
    private readonly columns: ColumnFinder,
  ) {
    this.things = [
      ...names.tables.map(({ from, to, table }) => ({ from, to, table })),
      ...values.map(({ from, to, hits }) => ({ from, to, table: hits.length === 1 ? hits[0]!.ref.table : null })),
    ];
  }

  read(at: number, related: Related): void {
    const { question, columns } = this;
    if (this.isBeforeValue(at)) this.use(at);
    else if (this.isDeedOfRows(at)) {
      this.use(at);
      related.push({ table: this.tableAt(at)!, exists: true });
    } else if (relates(question.at(at)!.stem)) {
      const thing = this.thingOf(at);
      if (thing === null || !this.isOnTheWay(at, thing)) return;
      this.use(at);
      const behind = this.things.find(({ from, table }) => from > at && from <= at + 2 && table === thing);
      if (behind === undefined || question.isUsed(behind.from) || thing === columns.base) return;
      question.use(behind.from, behind.to);
      related.push({ table: thing, exists: true });
    }
  }

  private use(at: number): void {
    this.question.use(at);
    this.columns.doubt();
  }

  /** "Clients who complained", where there are complaints: of such a row there is one. */
  private isDeedOfRows(at: number): boolean {
    const { question, columns } = this;
    if (!isVerb(question.lower(at)) || !question.says(at - 1, "who|that|which")) return false;
    const isEnd = at + 1 === question.tokens.length || question.says(at + 1, WHEN);
    const table = this.tableAt(at);
    return isEnd && table !== null && table !== columns.base && columns.isAllOf(table);
  }

  private tableAt(at: number): TableFacts | null {
    const isIt = (each: NameMentions["tables"][number]) =>
      each.from === at && each.to === at + 1 && each.score >= FAMILY;
    return this.names.tables.find(isIt)?.table ?? null;
  }

  /** "Trips carrying fish", "courses taught in English", "lessons longer than 40 minutes taught by Vera". */
  private isBeforeValue(at: number): boolean {
    const { question, columns } = this;
    const { base } = columns;
    if (!isVerb(question.lower(at)) || CHANGES.test(question.lower(at))) return false;
    let next = at + 1;
    while (question.says(next, "a|an|the|by|in|with|of|on|at|for|as|to|from")) next++;
    const hits = this.values.find(({ from }) => from === next)?.hits ?? [];
    const [hit, other] = hits;
    const behind = question.says(at - 1, "is|are|was|were|that|which|who") ? at - 2 : at - 1;
    if (hit === undefined || !question.isUsed(behind)) return false;
    if (hits.every(({ ref }) => ref.table === base)) {
      const isOfOthers = this.names.tables.some(({ to, table }) => to === behind + 1 && table !== base);
      return !isOfOthers && this.isOnTheWay(at, base!);
    }
    const isBy = question.says(at + 1, "by") && relates(question.at(at)!.stem) && other === undefined;
    return isBy && columns.isOneOf(hit.ref.table) && this.isOnTheWay(at, hit.ref.table);
  }

  /** What the row that is asked for belongs to by the verb; null: it has another place in the sentence. */
  private thingOf(at: number): TableFacts | null {
    const { question, things } = this;
    const before = things.find(({ to }) => to === (question.says(at - 1, "was|were") ? at - 1 : at));
    let next = at + 1;
    while (question.says(next, "a|an|any|the|some|by|people|those|someone|somebody|who|from|in|living|live")) next++;
    // "Who teach more than one course".
    while (question.says(next, "more|less|fewer|at|least|most|than|over|exactly|only") || this.isNumber(next)) next++;
    const after = things.find(({ from }) => from === next);
    const isPassive = question.says(at + 1, "by");
    if (question.says(at - 1, "who|that|which") || (before !== undefined && isPassive)) return after?.table ?? null;
    if (before === undefined) return null;
    // "How many goals were scored in …".
    if (question.says(at - 1, "was|were|is|are") && question.says(0, "how", "many")) return before.table;
    const isAsked = question.tokens
      .slice(0, before.from)
      .some(({ lower }) => /^(?:do|does|did|that|which|no)$/.test(lower));
    // "How many students play chess".
    const isCounted = question.says(0, "how", "many") && !tellsWhich(question.lower(at)) && after !== undefined;
    if (!isAsked && !isCounted) return null;
    return after?.table ?? (next === question.tokens.length ? before.table : null);
  }

  private isNumber(at: number): boolean {
    const { question } = this;
    return question.at(at)?.number != null && question.isUsed(at);
  }

  /** What the verb names in the schema, if anything, must lie between the two. */
  private isOnTheWay(at: number, thing: TableFacts): boolean {
    const { question, schema, columns } = this;
    const { base } = columns;
    const path = thing === base ? [] : pathBetween(schema, base!, thing, columns.named);
    if (path === null) return false;
    const met = new Set([base, thing, ...path.map(endOf)]);
    const fits = (named: TableFacts | TableFacts["columns"][number]) =>
      isCalled(schema, named, question.at(at)!, MEANING);
    return schema.tables.every((table) => met.has(table) || ![table, ...table.columns].some(fits));
  }
}
