/**
 * Each row of the input once per relationship of a node. Rows of one batch of the input come together; which row, which
 * relationship and which node at its other end is noted in arrays, and the columns are filled from those.
 */
import type { Value } from "../../values/values.js";
import type { Batch } from "../expr/expr.js";
import type { EdgeColumns, ExpandPlan } from "../plan/graph-plans.js";
import type { ExecContext } from "./context.js";
import type { EdgeSource, EdgeSourceProgram, Span } from "./edge-source.js";
import { compileEdgeSource, openEdgeSource } from "./expand-edges.js";
import { compileExcluded, type ExcludedOf } from "./expand-exclude.js";
import { compileEdgeRecords, EdgeRecords, type EdgeRecordsProgram } from "./expand-records.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { compileAll, type EvaluateAll, slotsOf } from "./slots.js";

type Made = keyof EdgeColumns | "other";

interface ExpandProgram {
  readonly source: EdgeSourceProgram;
  readonly from: EvaluateAll;
  readonly into: EvaluateAll | null;
  readonly excluded: ExcludedOf | null;
  readonly inputWidth: number;
  /** What the columns after the input's hold. */
  readonly made: readonly Made[];
  readonly records: EdgeRecordsProgram;
}

export function compileExpand(plan: ExpandPlan, input: Open): Open {
  const slots = slotsOf(plan.input.columns);
  const source = compileEdgeSource(plan);
  const madeBy = new Map<number, Made>();
  for (const [part, column] of Object.entries(plan.edge)) madeBy.set(column.id, part as keyof EdgeColumns);
  if (plan.other !== null) madeBy.set(plan.other.id, "other");
  const program: ExpandProgram = {
    source,
    from: compileAll(plan.from, slots),
    into: plan.into && compileAll(plan.into, slots),
    excluded: plan.exclude.length === 0 ? null : compileExcluded(plan.exclude, slots),
    inputWidth: plan.input.columns.length,
    made: plan.columns.slice(plan.input.columns.length).map(({ id }) => madeBy.get(id)!),
    records: compileEdgeRecords(source.layout),
  };
  return (context) => new ExpandOperator(program, input(context), context);
}

class ExpandOperator implements Operator {
  private readonly edges: EdgeSource;
  private readonly records: EdgeRecords | null;
  private readonly out: Value[][];
  private batch: Batch | null = null;
  private from: ArrayLike<Value> = [];
  private into: ArrayLike<Value> | null = null;
  private readonly fromValues: Value[] = [];
  private readonly intoValues: Value[] = [];
  private row = 0;
  /** Of the row's node; null: not looked up yet. */
  private spans: readonly Span[] | null = null;
  private span = 0;
  private position = 0;
  private excluded: readonly number[] = [];
  /** What the next batch is made of. */
  private length = 0;
  private readonly rows: number[] = [];
  private readonly foundIn: Span[] = [];
  private readonly at: number[] = [];

  constructor(
    private readonly program: ExpandProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.edges = openEdgeSource(program.source, context);
    this.records = program.made.includes("properties") ? new EdgeRecords(program.records, context) : null;
    this.out = emptyColumns(program.inputWidth + program.made.length);
  }

  next(): Pulled {
    const { context } = this;
    if (this.batch !== null && context.shouldYield()) return context.yieldTurn().then(() => this.run());
    return this.run();
  }

  private run(): Pulled {
    const { context } = this;
    context.checkpoint();
    for (;;) {
      if (this.batch === null) {
        const batch = this.input.next();
        if (batch instanceof Promise) return batch.then((arrived) => (this.accept(arrived) ? this.run() : null));
        if (!this.accept(batch)) return null;
      }
      this.walk(this.batch!);
      if (this.length > 0) return this.take(this.batch!);
      this.batch = null;
      if (context.shouldYield()) return context.yieldTurn().then(() => this.run());
    }
  }

  private accept(batch: Batch | null): boolean {
    this.batch = batch;
    if (batch === null) return false;
    const { program, context } = this;
    this.from = program.from(batch, context, this.fromValues);
    this.into = program.into?.(batch, context, this.intoValues) ?? null;
    this.row = 0;
    this.spans = null;
    return true;
  }

  /** Goes on until a batch is full or the input's rows are done. */
  private walk(batch: Batch): void {
    const { context, program } = this;
    for (; this.row < batch.length; this.row++) {
      if (this.spans === null) {
        const node = this.from[this.row];
        if (node === null || (this.into !== null && this.into[this.row] === null)) continue;
        const { edges, into } = this;
        this.spans = into === null ? edges.of(node as number) : edges.between(node as number, into[this.row] as number);
        this.span = 0;
        this.position = this.spans[0]?.from ?? 0;
        if (program.excluded !== null) this.excluded = program.excluded(batch, this.row, context);
      }
      for (; this.span < this.spans.length; this.span++) {
        if (!this.walkSpan(this.spans[this.span]!)) return;
        this.position = this.spans[this.span + 1]?.from ?? 0;
      }
      this.spans = null;
    }
  }

  /** False: the batch is full. */
  private walkSpan(span: Span): boolean {
    const { batchRows } = this.context;
    const { rows, foundIn, at, excluded, row } = this;
    const { others, edges, to } = span;
    const target = this.into === null ? -1 : (this.into[row] as number);
    const hidden = span.skipsLoops ? (this.from[row] as number) : -1;
    let { length } = this;
    let i = this.position;
    for (; i < to && length < batchRows; i++) {
      const other = others[i]!;
      if (target !== -1 && other !== target) continue;
      if (other === hidden) continue;
      if (excluded.length > 0 && excluded.includes(edges[i]!)) continue;
      rows[length] = row;
      foundIn[length] = span;
      at[length] = i;
      length++;
    }
    this.length = length;
    this.position = i;
    return i === to;
  }

  private take(batch: Batch): Batch {
    const { program, out, length, rows } = this;
    for (let c = 0; c < program.inputWidth; c++) {
      const from = batch.columns[c]!;
      const to = out[c]!;
      for (let i = 0; i < length; i++) to[i] = from[rows[i]!]!;
    }
    program.made.forEach((part, m) => {
      this.fill(part, out[program.inputWidth + m]!);
    });
    this.length = 0;
    return { columns: out, length };
  }

  private fill(part: Made, to: Value[]): void {
    const { length, foundIn, at, from, rows } = this;
    switch (part) {
      case "other":
        for (let i = 0; i < length; i++) to[i] = foundIn[i]!.others[at[i]!]!;
        return;
      case "id":
        for (let i = 0; i < length; i++) to[i] = foundIn[i]!.edges[at[i]!]!;
        return;
      case "type":
        for (let i = 0; i < length; i++) to[i] = foundIn[i]!.type;
        return;
      case "src":
        for (let i = 0; i < length; i++) to[i] = foundIn[i]!.isOut ? from[rows[i]!]! : foundIn[i]!.others[at[i]!]!;
        return;
      case "dst":
        for (let i = 0; i < length; i++) to[i] = foundIn[i]!.isOut ? foundIn[i]!.others[at[i]!]! : from[rows[i]!]!;
        return;
      case "properties": {
        const ids = Array.from({ length }, (_, i) => foundIn[i]!.edges[at[i]!]!);
        this.records!.load(ids, length);
        for (let i = 0; i < length; i++) to[i] = this.records!.get(ids[i]!).properties;
      }
    }
  }

  close(): void {
    this.batch = null;
    this.records?.close();
    this.input.close();
  }
}
