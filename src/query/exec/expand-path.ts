/**
 * Repeats each row of the input for each path of several relationships from a node: all paths, depth first, in which
 * no relationship occurs twice; or the shortest ones (shortest-path.ts). Compiled for compile-plan.ts.
 */
import type { Value } from "../../values/values.js";
import type { GraphRelationship, Variant } from "../../values/variant.js";
import { compilePredicate } from "../expr/compile.js";
import type { Batch } from "../expr/expr.js";
import type { EdgeColumns, ExpandPathPlan } from "../plan/graph-plans.js";
import type { OutputColumn } from "../plan/plan.js";
import { AllPaths } from "./all-paths.js";
import type { ExecContext } from "./context.js";
import { DistinctEnds } from "./distinct-ends.js";
import { type EdgeSource, TURNED } from "./edge-source.js";
import { compileEdgeSource, openEdgeSource } from "./expand-edges.js";
import { compileExcluded } from "./expand-exclude.js";
import { compileEdgeRecords, EdgeRecords } from "./expand-records.js";
import { FollowedList } from "./followed-list.js";
import type { Open, Operator, Pulled } from "./operator.js";
import type { PathProgram, PathRow, PathSearch, StepProgram } from "./path-search.js";
import { emptyColumns } from "./row-buffer.js";
import { ShortestPaths } from "./shortest-path.js";
import { ShortestTrails } from "./shortest-trails.js";
import { compileAll, compileMaybe, slotsOf } from "./slots.js";

export function compileExpandPath(plan: ExpandPathPlan, input: Open): Open {
  const { path } = plan;
  const slots = slotsOf(plan.input.columns);
  const own = new Set(plan.columns.slice(plan.input.columns.length).map(({ id }) => id));
  const steps = stepsOf(plan);
  const program: PathProgram = {
    steps,
    backward: compileEdgeSource({ ...plan, direction: TURNED[plan.direction] }),
    from: compileAll(plan.from, slots),
    into: plan.into && compileAll(plan.into, slots),
    excluded: compileExcluded(plan.exclude, slots),
    inputWidth: plan.input.columns.length,
    min: path.min,
    max: path.max ?? Number.POSITIVE_INFINITY,
    search: path.search,
    avoids: path.avoids ?? "relationships",
    distinct: plan.distinct ?? false,
    bound: compileMaybe(path.bound, slots),
    reversed: plan.reversed,
    givesList: own.has(path.relationships.id),
    givesOther: plan.other !== null && own.has(plan.other.id),
    records: compileEdgeRecords(steps[0]!.source.layout),
  };
  return (context) => new ExpandPathOperator(program, input(context), context);
}

/** In the order of the walk, which may be against the pattern. */
function stepsOf({ graph, direction, types, path, reversed, input }: ExpandPathPlan): readonly StepProgram[] {
  const steps = (path.cycle ?? [{ ...path, direction, types }]).map((step) => {
    const turned = reversed && path.cycle !== undefined ? TURNED[step.direction] : step.direction;
    const slots = slotsOf([...input.columns, ...columnsOfEdge(step.each)]);
    return {
      source: compileEdgeSource({ graph, direction: turned, types: step.types }),
      filter: step.filter && compilePredicate(step.filter, slots),
    };
  });
  return reversed ? steps.reverse() : steps;
}

function columnsOfEdge({ id, type, src, dst, properties }: EdgeColumns): readonly OutputColumn[] {
  return [id, type, src, dst, properties];
}

/** Paths between two looks at the clock. */
const EMITTED_PER_LOOK = 16;

class ExpandPathOperator implements Operator, PathRow {
  readonly source: EdgeSource;
  readonly sources: readonly EdgeSource[];
  private towards: EdgeSource | null = null;
  private readonly records: EdgeRecords;
  private readonly search: PathSearch;
  private readonly out: Value[][];
  private length = 0;
  private batch: Batch | null = null;
  private from: ArrayLike<Value> = [];
  private into: ArrayLike<Value> | null = null;
  private readonly fromValues: Value[] = [];
  private readonly intoValues: Value[] = [];
  private row = 0;
  private isStarted = false;
  private excluded: readonly number[] = [];
  /** What the filter sees: the row's columns and one relationship. */
  private readonly tested: Value[][];
  private readonly view: Batch;

  constructor(
    readonly program: PathProgram,
    private readonly input: Operator,
    readonly context: ExecContext,
  ) {
    this.sources = program.steps.map(({ source }) => openEdgeSource(source, context));
    this.source = this.sources[0]!;
    this.records = new EdgeRecords(program.records, context);
    this.search =
      program.bound !== null
        ? new FollowedList(this)
        : program.distinct
          ? new DistinctEnds(this)
          : program.search === "all"
            ? new AllPaths(this)
            : typeof program.search === "object"
              ? new ShortestTrails(this, program.search.by, program.search.count)
              : new ShortestPaths(this, program.search);
    this.out = emptyColumns(program.inputWidth + Number(program.givesList) + Number(program.givesOther));
    this.tested = emptyColumns(program.inputWidth + 5);
    this.view = { columns: this.tested, length: 1 };
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
        // Rows made so far are copies, so the input may use its batch again.
        const batch = this.length > 0 && context.shouldYield() ? undefined : this.input.next();
        if (batch === undefined) return this.take();
        if (batch instanceof Promise) return batch.then((arrived) => (this.accept(arrived) ? this.run() : this.take()));
        if (!this.accept(batch)) return this.take();
      }
      const isOver = this.walk(this.batch!);
      if (this.length === context.batchRows) return this.take();
      if (isOver) this.batch = null;
      else return context.yieldTurn().then(() => this.run());
    }
  }

  private accept(batch: Batch | null): boolean {
    this.batch = batch;
    if (batch === null) return false;
    const { program, context } = this;
    this.from = program.from(batch, context, this.fromValues);
    this.into = program.into?.(batch, context, this.intoValues) ?? null;
    this.row = 0;
    this.isStarted = false;
    return true;
  }

  /** False: its turn is over, or the batch is full. */
  private walk(batch: Batch): boolean {
    const { context, search } = this;
    for (; this.row < batch.length; this.row++) {
      if (!this.isStarted) {
        const node = this.from[this.row];
        const into = this.into === null ? -1 : this.into[this.row];
        if (node === null || into === null) continue;
        this.begin(batch);
        search.start(node as number, into as number);
        this.isStarted = true;
      }
      for (;;) {
        if (this.length === context.batchRows) return false;
        const found = search.next();
        if (found === undefined) return false;
        if (!found) break;
        this.emit(batch);
        // A path of many relationships takes longer to write down than to find.
        if (this.length % EMITTED_PER_LOOK === 0 && context.shouldYield()) return false;
      }
      this.isStarted = false;
    }
    return true;
  }

  private begin(batch: Batch): void {
    const { program, row } = this;
    this.excluded = program.excluded(batch, row, this.context);
    if (program.steps.every(({ filter }) => filter === null)) return;
    for (let c = 0; c < program.inputWidth; c++) this.tested[c]![0] = batch.columns[c]![row]!;
  }

  backward(): EdgeSource {
    this.towards ??= openEdgeSource(this.program.backward, this.context);
    return this.towards;
  }

  allows(edge: number, step = 0): boolean {
    if (this.excluded.length > 0 && this.excluded.includes(edge)) return false;
    const { steps, inputWidth } = this.program;
    const { filter } = steps[step]!;
    if (filter === null) return true;
    const { id, type, src, dst, properties } = this.records.get(edge);
    const fields: readonly Value[] = [id, type, src, dst, properties];
    for (let i = 0; i < fields.length; i++) this.tested[inputWidth + i]![0] = fields[i]!;
    return filter(this.view, 0, this.context);
  }

  list(): readonly Variant[] | null {
    const value = this.program.bound!(this.batch!, this.row, this.context);
    return Array.isArray(value) ? (value as readonly Variant[]) : null;
  }

  private emit(batch: Batch): void {
    const { program, out, length, search } = this;
    for (let c = 0; c < program.inputWidth; c++) out[c]![length] = batch.columns[c]![this.row]!;
    let c = program.inputWidth;
    if (program.givesList) out[c++]![length] = this.relationships(search.edges());
    if (program.givesOther) out[c]![length] = search.end();
    this.length++;
  }

  private relationships(edges: readonly number[]): readonly GraphRelationship[] {
    this.records.load(edges, edges.length);
    const list = edges.map((edge) => this.records.get(edge));
    return this.program.reversed ? list.reverse() : list;
  }

  private take(): Batch | null {
    if (this.length === 0) return null;
    const batch = { columns: this.out, length: this.length };
    this.length = 0;
    return batch;
  }

  close(): void {
    this.batch = null;
    this.records.close();
    this.search.close?.();
    this.input.close();
  }
}
