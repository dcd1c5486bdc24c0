/**
 * Writing clauses of Cypher (GraphWritePlan). All rows of the input are read, then the steps run for each row in turn;
 * a row's expressions see what was changed before, and so do the rows that come out. Rows that only make something are
 * not kept where there are many. graph-write-steps.ts runs the steps, graph-writer.ts writes.
 */
import type { Value } from "../../values/values.js";
import {
  DELETED_MARK,
  DELETED_PROPERTIES,
  type GraphNode,
  GraphRelationship,
  type Variant,
} from "../../values/variant.js";
import { nodeOf } from "../expr/cypher/entities.js";
import type { Batch, ColumnId } from "../expr/expr.js";
import { someExpr } from "../expr/walk.js";
import type { BoundCheck } from "../plan/change-plans.js";
import type { EdgeColumns, EntityPolicies, GraphWritePlan, GraphWriteStep, NodeColumns } from "../plan/graph-plans.js";
import { columnsMadeBy } from "../plan/graph-steps.js";
import type { Plan } from "../plan/plan.js";
import { exprsOfPlan } from "../plan/walk.js";
import { BULK_ROWS } from "./bulk-writer.js";
import type { ExecContext } from "./context.js";
import type { EntityChecks, EntityState } from "./entity-table.js";
import { type Renewal, renewed } from "./graph-values.js";
import { compileSteps, idOfEntity, type RunStep, type StepRun, type TableFor } from "./graph-write-steps.js";
import { type GraphChecks, GraphWriter, type MadeOfRow } from "./graph-writer.js";
import { compileMergeTable } from "./merge-table.js";
import { after, drain, inTurns, type Open, type Operator, type Pulled } from "./operator.js";
import { emptyColumns, RowBuffer } from "./row-buffer.js";
import { compileChecks } from "./row-checks.js";
import { slotsOf } from "./slots.js";
import { writingContext } from "./statement-snapshot.js";

/** Where an entity's columns are. */
interface EntitySlots {
  readonly of: "node" | "relationship";
  readonly id: number;
  /** Labels, or the type. */
  readonly kind: number;
  readonly properties: number;
}

interface GraphWriteProgram {
  readonly plan: GraphWritePlan;
  readonly input: Open;
  /** Slots of a row while steps run: the columns, and those that only steps inside of FOREACH see. */
  readonly width: number;
  readonly steps: readonly RunStep[];
  readonly entities: readonly EntitySlots[];
  readonly found: ReadonlySet<ColumnId>;
  /** Null: no policy decides. */
  readonly checks: GraphChecks | null;
  /** Slots of other values that may hold entities. */
  readonly variants: readonly number[];
  /** What each row makes where the steps do nothing else; null: they do. */
  readonly made: MadeOfRow | null;
}

/** `opens`: the programs of the input, then of each MERGE's search. */
export function compileGraphWrite(plan: GraphWritePlan, opens: readonly Open[], compile: (plan: Plan) => Open): Open {
  const made = columnsMadeBy(plan.steps);
  const columns = [
    ...new Map([...plan.input.columns, ...plan.columns, ...made].map((each) => [each.id, each])).values(),
  ];
  const slotOf = slotsOf(columns);
  const entities = entitiesOf(plan, slotOf);
  const properties = new Set(entities.map((entity) => entity.properties));
  const program: GraphWriteProgram = {
    plan,
    input: opens[0]!,
    width: columns.length,
    steps: compileSteps(plan.steps, slotOf, opens.slice(1), tablesOf(plan, compile)),
    entities,
    found: new Set(plan.nodes.map(({ id }) => id.id)),
    checks: checksOf(plan),
    variants: columns.flatMap(({ type }, slot) => (type.name === "variant" && !properties.has(slot) ? [slot] : [])),
    made: madeOfRow(plan),
  };
  return (context) => new GraphWriteOperator(program, context);
}

/** Subqueries may ask for what rows before have made. */
function madeOfRow(plan: GraphWritePlan): MadeOfRow | null {
  const { steps } = plan;
  if (exprsOfPlan(plan).some((expr) => someExpr(expr, ({ kind }) => kind === "subquery"))) return null;
  const made = new Set<ColumnId>();
  let nodes = 0;
  let edges = 0;
  for (const step of steps) {
    if (step.kind === "create-node" || step.kind === "create-edge") {
      made.add(step.columns.id.id);
      if (step.kind === "create-node") nodes++;
      else edges++;
    } else if (!changesOneOf(made, step)) return null;
  }
  return { nodes, edges, changes: nodes + edges < steps.length };
}

function changesOneOf(made: ReadonlySet<ColumnId>, step: GraphWriteStep): boolean {
  if (step.kind !== "set-property" && step.kind !== "set-properties" && step.kind !== "set-labels") return false;
  const id = idOfEntity(step.target);
  return id !== null && made.has(id.id);
}

/** Only where nobody else decides what is found, and nobody else writes meanwhile. */
function tablesOf(plan: GraphWritePlan, compile: (plan: Plan) => Open): TableFor {
  const runsOthers = exprsOfPlan(plan).some((expr) =>
    someExpr(expr, (part) => part.kind === "call" && part.fn.routine !== undefined),
  );
  if (runsOthers || plan.policies !== undefined || plan.steps.some(({ kind }) => kind === "call")) return () => null;
  return (step) => compileMergeTable(step, plan.graph, compile);
}

/** What policies ask of what the plan writes; null: none decides. */
export function checksOf({ policies }: Pick<GraphWritePlan, "policies">): GraphChecks | null {
  if (policies === undefined) return null;
  const compiled = (of: EntityPolicies | null): EntityChecks | null => {
    if (of === null) return null;
    const checks = (some: readonly BoundCheck[]) => compileChecks(some, slotsOf(of.columns));
    const { visible, insert, existing, update, remove } = of;
    return {
      visible: checks(visible),
      insert: checks(insert),
      existing: checks(existing),
      update: checks(update),
      remove: checks(remove),
    };
  };
  return { nodes: compiled(policies.nodes), edges: compiled(policies.edges) };
}

function entitiesOf(plan: GraphWritePlan, slotOf: (id: ColumnId) => number): readonly EntitySlots[] {
  const ofNode = ({ id, labels, properties }: NodeColumns): EntitySlots => {
    return { of: "node", id: slotOf(id.id), kind: slotOf(labels.id), properties: slotOf(properties.id) };
  };
  const ofEdge = ({ id, type, properties }: EdgeColumns): EntitySlots => {
    return { of: "relationship", id: slotOf(id.id), kind: slotOf(type.id), properties: slotOf(properties.id) };
  };
  const inSteps = (steps: readonly GraphWriteStep[]): EntitySlots[] =>
    steps.flatMap((step) => {
      if (step.kind === "create-node") return [ofNode(step.columns)];
      if (step.kind === "create-edge") return [ofEdge(step.columns)];
      if (step.kind === "merge") return inSteps(step.create);
      return step.kind === "foreach" ? inSteps(step.steps) : [];
    });
  const found = [...plan.nodes.map(ofNode), ...plan.edges.map(ofEdge), ...inSteps(plan.steps)];
  return found.filter(({ id }) => id >= 0);
}

/** Rows between two looks at the clock. */
const ROWS_PER_LOOK = 32;

class GraphWriteOperator implements Operator, StepRun, Renewal {
  readonly cells: Value[][];
  readonly row: Batch;
  readonly outer: Map<ColumnId, Value>;
  readonly context: ExecContext;
  readonly writer: GraphWriter;
  readonly found: ReadonlySet<ColumnId>;
  private readonly input: Operator;
  private readonly rows: RowBuffer;
  private readonly out: Value[][];
  private length = 0;
  private position = 0;
  private isDone = false;
  private released = false;
  /** What rows make goes into loads. */
  private isLoading = false;
  /** The writer's version that the row was last renewed at. */
  private seen = 0;

  constructor(
    private readonly program: GraphWriteProgram,
    context: ExecContext,
  ) {
    this.outer = new Map(context.outer);
    const writing = { ...writingContext(context), outer: this.outer, edgeSources: undefined };
    this.writer =
      (context.graphWriter as GraphWriter | undefined) ?? new GraphWriter(program.plan.graph, writing, program.checks);
    this.found = program.found;
    this.context = { ...writing, edgeSources: this.writer.edgeSources };
    this.input = program.input(context);
    this.rows = new RowBuffer(program.plan.input.columns, context);
    this.cells = Array.from({ length: program.width }, () => [null]);
    this.row = { columns: this.cells, length: 1 };
    this.out = emptyColumns(program.plan.columns.length);
  }

  next(): Pulled {
    if (this.isDone) return this.emit();
    return drain(
      this.input,
      (batch) => this.take(batch),
      () => after(this.run(), () => after(this.writer.finish(), () => this.renewAll())),
    );
  }

  /** Nobody sees what goes into a load: from then on rows need not wait for the others, which may read the graph. */
  private take(batch: Batch): void | Promise<void> {
    const { rows, writer } = this;
    rows.append(batch);
    if (!this.isLoading) {
      const { made } = this.program;
      if (made === null || this.sharesWriter) return;
      if (rows.length * Math.max(made.nodes, made.edges) < BULK_ROWS || !writer.loadNew(made)) return;
      this.isLoading = true;
    }
    return after(this.run(), () => rows.clear());
  }

  private get sharesWriter(): boolean {
    return this.context.graphWriter !== undefined;
  }

  private run(): void | Promise<void> {
    for (let number = 0; number < this.rows.length; number++) {
      const pending = this.runRow(number);
      if (pending !== undefined) return this.runLater(pending, number + 1);
      if (number % ROWS_PER_LOOK !== 0) continue;
      this.context.checkpoint();
      if (this.context.shouldYield()) return this.runLater(this.context.yieldTurn(), number + 1);
    }
  }

  private async runLater(pending: Promise<void>, from: number): Promise<void> {
    await pending;
    for (let number = from; number < this.rows.length; number++) {
      const later = this.runRow(number);
      if (later !== undefined) await later;
      if (number % ROWS_PER_LOOK !== 0) continue;
      this.context.checkpoint();
      if (this.context.shouldYield()) await this.context.yieldTurn();
    }
  }

  private runRow(number: number): void | Promise<void> {
    const { cells, rows } = this;
    const width = rows.columns.length;
    for (let slot = 0; slot < width; slot++) cells[slot]![0] = rows.columns[slot]![number]!;
    for (let slot = width; slot < cells.length; slot++) cells[slot]![0] = null;
    this.renew(true);
    return after(this.runSteps(this.program.steps, 0, this.keep), this.endRow);
  }

  private readonly endRow = (): void | Promise<void> => this.writer.endRow();

  /** Runs the steps from one on, then `end`; once for each row that MERGE makes of this one. */
  runSteps(steps: readonly RunStep[], from: number, end: () => void | Promise<void>): void | Promise<void> {
    for (let i = from; i < steps.length; i++) {
      const step = steps[i]!;
      if (step.kind === "rows") return step.run(this, () => this.runSteps(steps, i + 1, end));
      const pending = step.run(this);
      if (pending !== undefined) {
        return pending.then(() => {
          this.renew();
          return this.runSteps(steps, i + 1, end);
        });
      }
      this.renew();
    }
    return end();
  }

  private readonly keep = (): void => {
    const { out, cells } = this;
    for (let slot = 0; slot < out.length; slot++) out[slot]!.push(cells[slot]![0]!);
    this.length++;
  };

  renew(hasNewCells = false): void {
    const { version } = this.writer;
    if (hasNewCells ? version === 0 : version === this.seen) return;
    this.seen = version;
    this.renewIn(this.cells, 0);
  }

  private renewIn(columns: readonly Value[][], row: number): void {
    const { entities, variants, made } = this.program;
    const width = columns.length;
    for (const { of, id, kind, properties } of entities) {
      const value = id < width ? columns[id]![row] : null;
      if (value === null || value === undefined) continue;
      const state = this.changed(of, value as number);
      if (state === null) continue;
      if (kind < width && kind >= 0) columns[kind]![row] = kindOf(of, state);
      if (properties < width && properties >= 0) columns[properties]![row] = propertiesOf(state) as Value;
    }
    // No other value holds what the row itself has made.
    if (made !== null) return;
    for (const slot of variants) {
      if (slot < width) columns[slot]![row] = renewed(columns[slot]![row] as Variant, this) as Value;
    }
  }

  private changed(of: EntitySlots["of"], id: number): EntityState | null {
    const state = (of === "node" ? this.writer.nodes : this.writer.edges).states.get(id);
    return state?.isChanged ? state : null;
  }

  node(node: GraphNode): GraphNode {
    const state = this.changed("node", node.id);
    return state === null ? node : nodeOf(node.id, kindOf("node", state), propertiesOf(state));
  }

  relationship(relationship: GraphRelationship): GraphRelationship {
    const { id, src, dst } = relationship;
    const state = this.changed("relationship", id);
    if (state === null) return relationship;
    return new GraphRelationship(id, kindOf("relationship", state), src, dst, propertiesOf(state));
  }

  /** All rows as they are at the clause's end. */
  private renewAll(): Pulled {
    this.isDone = true;
    const stale = this.writer.version > 0 ? this.length : 0;
    return inTurns(
      this.context,
      stale,
      (row) => this.renewIn(this.out, row),
      () => this.emit(),
    );
  }

  private emit(): Batch | null {
    const { position, length, out } = this;
    if (position === length) return null;
    const end = Math.min(position + this.context.batchRows, length);
    this.position = end;
    const columns = position === 0 && end === length ? out : out.map((values) => values.slice(position, end));
    return { columns, length: end - position };
  }

  close(): void {
    this.input.close();
    if (this.released) return;
    this.released = true;
    this.rows.release();
    if (!this.sharesWriter) this.writer.release();
  }
}

function kindOf(of: EntitySlots["of"], { isDeleted, kind }: EntityState): string {
  if (!isDeleted) return kind;
  return of === "node" ? DELETED_MARK : DELETED_MARK + kind;
}

function propertiesOf({ isDeleted, properties }: EntityState) {
  return isDeleted ? DELETED_PROPERTIES : properties;
}
