/** Counts the walks along relationships that begin at each row of the input. walk-counter.ts does the counting. */
import type { Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Batch, ColumnId, Evaluate, Expr } from "../expr/expr.js";
import type { CountWalksPlan, WalkStep } from "../plan/graph-plans.js";
import type { ExecContext } from "./context.js";
import { TURNED } from "./edge-source.js";
import { compileEdgeSource } from "./expand-edges.js";
import { compileExcluded, type ExcludedOf } from "./expand-exclude.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { PairCounter } from "./pair-counter.js";
import { emptyColumns } from "./row-buffer.js";
import { slotsOf } from "./slots.js";
import { type CountedStep, WalkCounter } from "./walk-counter.js";

interface CountWalksProgram {
  /** Nodes that the row gives: values of these come first among the counter's nodes. */
  readonly given: readonly Evaluate[];
  readonly steps: readonly CountedStep[];
  /** Relationships of the row that a step may not use, by step. */
  readonly excluded: readonly (ExcludedOf | null)[];
  readonly inputWidth: number;
  readonly startsAnywhere: boolean;
}

export function compileCountWalks(plan: CountWalksPlan, input: Open): Open {
  const slots = slotsOf(plan.input.columns);
  const places = new Places(plan);
  const ofRow: Expr[][] = [];
  const steps = plan.steps.map((step, i): CountedStep => {
    const direct = { graph: plan.graph, direction: step.direction, types: step.types };
    const own: Expr[] = [];
    const earlier: { readonly step: number; readonly isSureOfType: boolean }[] = [];
    for (const expr of step.exclude) {
      const found = expr.kind === "column" ? plan.steps.findIndex(({ edge }) => edge === expr.id) : -1;
      if (found === -1) own.push(expr);
      else earlier.push({ step: found, isSureOfType: coversTypes(step, plan.steps[found]!) });
    }
    ofRow[i] = own;
    return {
      source: compileEdgeSource(direct),
      backward: compileEdgeSource({ ...direct, direction: TURNED[step.direction] }),
      from: places.of(step.from),
      into: step.into === null ? -1 : places.of(step.into),
      other: step.other === null ? -1 : places.ofStep(step.other),
      earlier,
    };
  });
  const program: CountWalksProgram = {
    given: places.given.map((expr) => compileExpr(expr, slots)),
    steps,
    excluded: ofRow.map((exprs) => (exprs.length === 0 ? null : compileExcluded(exprs, slots))),
    inputWidth: plan.input.columns.length,
    startsAnywhere: plan.start !== null,
  };
  return (context) => new CountWalksOperator(program, input(context), context);
}

/** Every relationship of the earlier step has a type of the later one. */
function coversTypes(later: WalkStep, earlier: WalkStep): boolean {
  if (later.types.length === 0) return true;
  return earlier.types.length > 0 && earlier.types.every((type) => later.types.includes(type));
}

/** Where the counter has the node that an expression names: what the row gives first, then the ends of steps. */
class Places {
  readonly given: Expr[] = [];
  private readonly ends: readonly ColumnId[];
  private readonly isFixed: boolean;

  constructor({ start, steps }: CountWalksPlan) {
    const ends = steps.flatMap(({ other }) => (other === null ? [] : [other]));
    this.isFixed = start !== null;
    this.ends = start === null ? ends : [start, ...ends];
    for (const { from, into } of steps) {
      for (const expr of [from, into]) if (expr !== null && !this.isEnd(expr)) this.given.push(expr);
    }
  }

  private isEnd(expr: Expr): boolean {
    return expr.kind === "column" && this.ends.includes(expr.id);
  }

  of(expr: Expr): number {
    return this.isEnd(expr) ? this.ofStep((expr as { id: ColumnId }).id) : this.given.indexOf(expr);
  }

  ofStep(id: ColumnId): number {
    // Where walks begin anywhere, that node is the first of all.
    const at = this.ends.indexOf(id);
    return this.isFixed && at === 0 ? this.given.length : this.given.length + at;
  }
}

class CountWalksOperator implements Operator {
  private readonly counter: WalkCounter;
  private readonly out: Value[][];
  private length = 0;
  private batch: Batch | null = null;
  private row = 0;
  private isCounting = false;
  /** Where walks begin anywhere: the node at which the next ones do, and their number so far. */
  private start = 0;
  private total = 0;
  /** Of the walks that begin anywhere, where they need not be walked. */
  private pairs: PairCounter | null = null;

  constructor(
    private readonly program: CountWalksProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.counter = new WalkCounter(program.steps, program.given.length, context);
    this.out = emptyColumns(program.inputWidth + 1);
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
      if (!this.count(this.batch!)) return context.yieldTurn().then(() => this.run());
      this.batch = null;
      if (this.length > 0) return this.take();
    }
  }

  private accept(batch: Batch | null): boolean {
    this.batch = batch;
    this.row = 0;
    return batch !== null;
  }

  /** False: its turn is over. */
  private count(batch: Batch): boolean {
    const { counter, program } = this;
    for (; this.row < batch.length; this.row++) {
      if (!this.isCounting) {
        if (!this.give(batch)) continue;
        this.isCounting = true;
        this.start = 0;
        this.total = 0;
        this.pairs = this.pairsOf();
        if (!program.startsAnywhere) counter.begin();
      }
      if (program.startsAnywhere) {
        if (!this.countAll()) return false;
      } else {
        if (!counter.run()) return false;
        this.total = counter.total;
      }
      this.isCounting = false;
      if (this.total > 0) this.emit(batch);
    }
    return true;
  }

  /** Null: the walks have to be walked. */
  private pairsOf(): PairCounter | null {
    const { startsAnywhere, excluded, steps } = this.program;
    if (!startsAnywhere || excluded.some((each) => each !== null)) return null;
    return PairCounter.of(steps, this.context);
  }

  /** From every node in turn. */
  private countAll(): boolean {
    const { counter, context, pairs } = this;
    if (pairs !== null) {
      const isDone = pairs.run();
      this.total = pairs.total;
      return isDone;
    }
    const place = this.program.given.length;
    const nodes = counter.nodeCount();
    for (; this.start <= nodes; this.start++) {
      if (counter.isIdle) counter.beginAt(place, this.start);
      if (!counter.run()) return false;
      this.total += counter.total;
      if (this.start % 64 === 0 && context.shouldYield()) {
        this.start++;
        return false;
      }
    }
    return true;
  }

  private give(batch: Batch): boolean {
    const { counter, program, context, row } = this;
    for (let i = 0; i < program.given.length; i++) {
      const node = program.given[i]!(batch, row, context);
      if (node === null) return false;
      counter.nodes[i] = node as number;
    }
    program.excluded.forEach((excludedOf, step) => {
      if (excludedOf !== null) counter.exclude(step, excludedOf(batch, row, context));
    });
    return true;
  }

  private emit(batch: Batch): void {
    const { out, length, row } = this;
    for (let c = 0; c < this.program.inputWidth; c++) out[c]![length] = batch.columns[c]![row]!;
    out[this.program.inputWidth]![length] = this.total;
    this.length++;
  }

  private take(): Batch {
    const batch = { columns: this.out, length: this.length };
    this.length = 0;
    return batch;
  }

  close(): void {
    this.batch = null;
    this.input.close();
  }
}
