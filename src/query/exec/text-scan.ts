/**
 * The rows of a table that answer a text search, the best first. A text index names them with their scores; rows that
 * the transaction sees differently from the index are checked one by one. While the index is not ready, one is built
 * from the rows that the statement sees.
 */
import type { DerivedIndex } from "../../derived/derived-index.js";
import type { IndexKind } from "../../derived/index-body.js";
import { sqlError } from "../../protocol/errors.js";
import { decodeKey } from "../../storage/key-codec.js";
import { prefixEnd, prefixRange } from "../../storage/keys.js";
import { type Cursor, readSome } from "../../storage/store.js";
import { type Analyzer, analyzerOf } from "../../text/analysis.js";
import { bestFirst } from "../../text/best-first.js";
import type { TextItem } from "../../text/document-terms.js";
import { either, parseTextQuery, phraseOf, type TextQuery } from "../../text/query.js";
import { TextBody } from "../../text/text-body.js";
import { textQueryOf } from "../../text/text-query-of.js";
import { Strangers, searchText } from "../../text/text-search.js";
import { NO_STATISTICS, type TextStatistics, VisibleStatistics } from "../../text/text-statistics.js";
import { requestOfText } from "../../values/trigrams.js";
import type { Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Evaluate } from "../expr/expr.js";
import { TEXT_MODES, type TextMode, TRIGRAM_MODE, TSQUERY_MODE } from "../expr/functions/text-search.js";
import { placesInKey } from "../plan/covering.js";
import type { TextSearchPlan } from "../plan/search-plans.js";
import type { ExecContext } from "./context.js";
import { limitValue } from "./limit.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { compileRowDecoder, RowDecoder, type RowDecoderProgram } from "./row-decoder.js";
import { compileScan } from "./scan.js";
import { findSearchIndex, textIndexKind, textReader } from "./search-index-kind.js";
import { compileSlotFilter, SlotFilter, type SlotFilterProgram } from "./slot-filter.js";
import { compileMaybe, EMPTY_ROW, NO_SLOTS } from "./slots.js";
import { layoutOf, type TableLayout } from "./table-layout.js";

type TextIndex = DerivedIndex<TextItem, TextBody>;

/**
 * With more corrections than this, the statement builds an index of its own, because the index's word counts no longer
 * match what the transaction sees.
 */
const CORRECTIONS_MIN = 10;
const CORRECTIONS_SHARE = 0.05;
/** Nor are the words of a row looked at in one go that are more than this. */
const CORRECTION_BYTES_MAX = 256 * 1024;
/** Answers behind those that are wanted: whether they score as much as the last one. */
const TIES_LOOKED_AT = 8;
/** Records read between two looks at the clock. */
const STEP_ROWS = 16;

interface TextProgram {
  readonly plan: TextSearchPlan;
  readonly layout: TableLayout;
  readonly rows: RowDecoderProgram;
  readonly openScan: Open;
  readonly query: Evaluate;
  readonly mode: Evaluate;
  readonly counts: readonly (Evaluate | null)[] | null;
  readonly itemOf: (record: Uint8Array) => TextItem;
  readonly kind: IndexKind<TextItem, TextBody>;
  readonly analyzer: Analyzer;
  /** Where each column stands in the primary key; null: rows must be read. */
  readonly inKey: readonly number[] | null;
  /** Where scores go by the rows that a policy lets through: that. */
  readonly visible: SlotFilterProgram | null;
}

export function compileTextScan(plan: TextSearchPlan): Open {
  const layout = layoutOf(plan.table);
  const { columnIds } = plan.index;
  const program: TextProgram = {
    plan,
    layout,
    openScan: compileScan({ ...plan, kind: "scan", columns: plan.columns.slice(0, -1), reverse: false }),
    rows: compileRowDecoder({ ...plan, columns: plan.columns.slice(0, -1) }),
    query: compileExpr(plan.query, NO_SLOTS),
    mode: compileExpr(plan.mode, NO_SLOTS),
    counts: plan.counts === null ? null : plan.counts.map((count) => compileMaybe(count, NO_SLOTS)),
    itemOf: textReader(layout, columnIds),
    kind: textIndexKind(plan.table, plan.index),
    analyzer: analyzerOf(plan.index.text!.language),
    inKey: placesInKey(plan),
    visible: plan.visible ? compileSlotFilter({ ...plan, filter: plan.visible }) : null,
  };
  return (context) => new TextScanOperator(program, context);
}

/** A row that answers, by its record where the index does not have it. */
interface Answer {
  readonly key: Uint8Array;
  readonly record: Uint8Array | null;
  readonly score: number;
}

const NO_ANSWERS: Iterator<Answer> = [].values();

class TextScanOperator implements Operator {
  private readonly rows: RowDecoder;
  private readonly visible: SlotFilter<TextItem, TextBody> | null;
  private answers: Iterator<Answer> | null = null;
  /** Rows that are still wanted. */
  private remaining = Number.POSITIVE_INFINITY;
  private lastScore = Number.POSITIVE_INFINITY;
  private isSettled = false;
  private own: OwnIndex | null = null;
  /** Reads the table instead. */
  private scan: Operator | null = null;

  constructor(
    private readonly program: TextProgram,
    private readonly context: ExecContext,
  ) {
    this.rows = new RowDecoder(program.rows, context);
    this.visible = program.visible && new SlotFilter(program.visible, context);
  }

  next(): Pulled {
    if (this.scan !== null) return this.scanned(this.scan.next());
    if (this.answers !== null) return this.emit(this.answers);
    const { context, program } = this;
    context.checkpoint();
    const text = program.query(EMPTY_ROW, 0, context) as string | null;
    const mode = program.mode(EMPTY_ROW, 0, context) as string | null;
    if (text === null) return null;
    if (program.counts !== null)
      this.remaining = program.counts.reduce((sum, one) => sum + limitValue(one, context), 0);
    const index = this.index();
    if (mode === TRIGRAM_MODE) return this.candidates(index, trigramQuery(text));
    if (mode === TSQUERY_MODE) return this.candidates(index, textQueryOf(text, program.plan.index.text!.language));
    const query = queryOf(text, mode, program.analyzer);
    if (index !== null && this.isPrepared(index)) return this.answer(index, query);
    return this.later(index, query);
  }

  close(): void {
    this.own?.close();
    this.scan?.close();
    this.visible?.close();
  }

  /** The index has all that the engine does, and it is known what of it counts; false when a turn ended before. */
  private isPrepared(index: TextIndex): boolean {
    return index.fold(() => this.context.shouldYield()) && (this.visible === null || this.visible.askAll(index));
  }

  private statisticsOf(index: TextIndex): TextStatistics {
    if (this.visible !== null) return new VisibleStatistics(index.body, this.visible.marks(index));
    return this.program.plan.visible === undefined ? index.body : NO_STATISTICS;
  }

  /** Rows that may match; all of them where the index cannot tell: the filter knows which do. */
  private candidates(index: TextIndex | null, query: TextQuery | null): Pulled {
    if (query !== null && index?.fold(() => this.context.shouldYield())) {
      this.answers = this.answersOf(index, query);
      if (this.answers !== null) return this.emit(this.answers);
    }
    this.scan = this.program.openScan(this.context);
    return this.next();
  }

  private scanned(pulled: Pulled): Pulled {
    if (pulled instanceof Promise) return pulled.then((batch) => this.scanned(batch));
    if (pulled === null) return null;
    return { columns: [...pulled.columns, new Array<Value>(pulled.length).fill(0)], length: pulled.length };
  }

  private index(): TextIndex | null {
    const { plan, kind } = this.program;
    return findSearchIndex(this.context, plan.table, plan.index, kind);
  }

  /** Without a promise where nobody waits: inside expressions. */
  private later(index: TextIndex | null, query: TextQuery): Pulled {
    if (index === null || index.state !== "ready") {
      this.own = new OwnIndex(this.program, this.context, this.visible);
      return this.makeOwn(this.own, query);
    }
    return this.context.yieldTurn().then(() => {
      const isReady = index.state === "ready" && this.isPrepared(index);
      return isReady ? this.answer(index, query) : this.later(index, query);
    });
  }

  private makeOwn(own: OwnIndex, query: TextQuery): Pulled {
    if (!own.read()) return this.context.yieldTurn().then(() => this.makeOwn(own, query));
    this.answers = own.answers(query, this.remaining + TIES_LOOKED_AT);
    return this.emit(this.answers);
  }

  private answer(index: TextIndex, query: TextQuery): Pulled {
    this.answers = this.answersOf(index, query);
    return this.answers === null ? this.later(null, query) : this.emit(this.answers);
  }

  /** In one go: what it finds is of one state of the index. Null: the transaction sees too many other rows. */
  private answersOf(index: TextIndex, query: TextQuery): Iterator<Answer> | null {
    const { context, program } = this;
    const { body } = index;
    const gte = program.layout.rowPrefixOf(context.tenantNumber);
    const corrections = context.tx.corrections({ gte, lt: prefixEnd(gte) }, index);
    const corrected: Answer[] = [];
    const statistics = this.statisticsOf(index);
    const strangers = new Strangers(body, statistics);
    const correctionsMax = CORRECTIONS_MIN + CORRECTIONS_SHARE * index.count;
    const slotsSeen = new Set<number>();
    for (let count = 0; corrections.text !== null; corrections.advance()) {
      if (count++ > correctionsMax || (corrections.value?.length ?? 0) > CORRECTION_BYTES_MAX) return null;
      const slot = index.slotOf(corrections.key);
      if (slot !== undefined) slotsSeen.add(slot);
      if (corrections.value === null) continue;
      const score = strangers.score(query, program.itemOf(corrections.value));
      if (score !== null) corrected.push({ key: corrections.key, record: corrections.value, score });
    }
    const { slots, scores } = searchText(body, query, statistics);
    const all = new Float64Array(slots.length + corrected.length);
    all.set(scores);
    corrected.forEach(({ score }, i) => {
      all[slots.length + i] = score;
    });
    return inOrder(all, this.remaining + TIES_LOOKED_AT, (place): Answer | null => {
      if (place >= slots.length) return corrected[place - slots.length]!;
      const slot = slots[place]!;
      if (slotsSeen.has(slot)) return null;
      return { key: index.keyOf(slot), record: null, score: all[place]! };
    });
  }

  /** As many as are wanted, and those that score what the last one of them does: the sort above chooses among them. */
  private emit(answers: Iterator<Answer>): Pulled {
    const { rows, context } = this;
    const scores: number[] = [];
    let isOver = false;
    for (let looked = 0; scores.length < context.batchRows; looked++) {
      if (looked % STEP_ROWS === STEP_ROWS - 1 && scores.length === 0 && context.shouldYield()) {
        return context.yieldTurn().then(() => this.emit(this.settled(answers)));
      }
      const { value, done } = answers.next();
      // As good as the last one that is wanted: which of them it is, others decide.
      isOver = done === true || (this.remaining <= 0 && value.score < this.lastScore);
      if (isOver) break;
      this.add(value);
      if (rows.length === scores.length) continue;
      scores.push(value.score);
      this.lastScore = value.score;
      this.remaining--;
    }
    if (isOver) this.answers = NO_ANSWERS;
    else this.settled(answers);
    if (scores.length === 0) return null;
    const { columns, length } = rows.take();
    return { columns: [...columns, scores as readonly Value[]], length };
  }

  private add({ key, record }: Answer): void {
    const { context, rows } = this;
    const { inKey, layout, plan } = this.program;
    if (inKey !== null) {
      const offset = layout.rowPrefixOf(context.tenantNumber).length;
      const members = inKey.length === 0 ? [] : decodeKey(key, offset, layout.primaryKey!.columns);
      const values: Value[] = inKey.map((place) => members[place]!);
      if (plan.rowKey !== null) values.push(Buffer.from(key));
      rows.addValues(values);
      return;
    }
    const found = record ?? context.tx.get(key);
    if (found !== undefined) rows.add(key, found);
  }

  /** The answers without the index, which may change before they are read. */
  private settled(answers: Iterator<Answer>): Iterator<Answer> {
    if (!this.isSettled) {
      const rest: Answer[] = [];
      for (let next = answers.next(); next.done !== true; next = answers.next()) rest.push(next.value);
      this.answers = rest.values();
      this.isSettled = true;
    }
    return this.answers!;
  }
}

/** An index of the rows that the transaction sees, made for this statement alone. */
class OwnIndex {
  private readonly body: TextBody;
  private readonly keys: Uint8Array[] = [];
  /** Null: it is read to its end. */
  private cursor: Cursor | null;
  private reserved = 0;
  private readonly reading = this.readInSteps();

  constructor(
    private readonly program: TextProgram,
    private readonly context: ExecContext,
    private readonly visible: SlotFilter<TextItem, TextBody> | null,
  ) {
    this.body = new TextBody(program.plan.index.text!.language);
    this.cursor = context.tx.scan(prefixRange(program.layout.rowPrefixOf(context.tenantNumber)));
  }

  /** Goes on until all rows are in it (true) or a turn is due. */
  read(): boolean {
    const { context } = this;
    while (this.reading.next().done !== true) {
      context.checkpoint();
      if (context.shouldYield()) return false;
    }
    return true;
  }

  private *readInSteps(): Generator<undefined, void> {
    const { body, keys, program, context } = this;
    while (this.cursor !== null) {
      const entries = readSome(this.cursor, STEP_ROWS);
      if (entries === null) {
        yield;
        continue;
      }
      const { keys: found, values } = entries;
      if (found.length === 0) break;
      for (let i = 0; i < found.length; i++) {
        if (this.visible?.passes(values[i]!) === false) continue;
        const key = Buffer.from(found[i]!);
        keys[yield* body.addInSteps(program.itemOf(values[i]!))] = key;
      }
      context.statement.reserve(body.bytes - this.reserved);
      this.reserved = body.bytes;
      yield;
    }
    this.closeCursor();
  }

  answers(query: TextQuery, expected: number): Iterator<Answer> {
    const all = this.program.plan.visible === null ? NO_STATISTICS : this.body;
    const { slots, scores } = searchText(this.body, query, all);
    return inOrder(scores, expected, (place) => ({
      key: this.keys[slots[place]!]!,
      record: null,
      score: scores[place]!,
    }));
  }

  close(): void {
    this.closeCursor();
    this.context.statement.release(this.reserved);
    this.reserved = 0;
  }

  private closeCursor(): void {
    this.cursor?.close();
    this.cursor = null;
  }
}

/** The answers at the places of these scores, the best first. */
function* inOrder(
  scores: Float64Array,
  expected: number,
  answerAt: (place: number) => Answer | null,
): Generator<Answer> {
  for (const place of bestFirst(scores, expected)) {
    const answer = answerAt(place);
    if (answer !== null) yield answer;
  }
}

/** Null: all rows have to be looked at. */
function trigramQuery(text: string): TextQuery | null {
  const { trigrams, least } = requestOfText(text);
  return trigrams.length === 0 || least === 0 ? null : { kind: "some", terms: trigrams, least };
}

function queryOf(text: string, mode: string | null, analyzer: Analyzer): TextQuery {
  switch (mode as TextMode | null) {
    case "any":
      return parseTextQuery(text, analyzer);
    case "all":
      return parseTextQuery(text, analyzer, "and");
    case "plain":
      return either(text.split(/\s+/u).map((word) => phraseOf(word, analyzer)));
    default:
      throw sqlError("22023", `text search mode must be one of ${TEXT_MODES.join(", ")}, not ${mode}`);
  }
}
