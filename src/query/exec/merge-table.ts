/**
 * The nodes that a MERGE without an index may find, by the values of the properties that it looks for: read once for
 * many rows. It may have nodes that are not so any more, so each is tested as it is now. Owned by the GraphWriter,
 * which tells what the clause makes and changes.
 */
import { type GraphTables, graphDefOf, NODE_COLUMN } from "../../catalog/graph.js";
import { includesLabel } from "../../values/labels.js";
import type { Value } from "../../values/values.js";
import type { Variant, VariantMap } from "../../values/variant.js";
import { compileExpr, type Predicate } from "../expr/compile.js";
import { PROPERTY } from "../expr/cypher/entities.js";
import type { Batch, ColumnId, EvalContext, Evaluate, Expr } from "../expr/expr.js";
import { variantKeyPart } from "../expr/variant-order.js";
import { andOf, columnsOf, conjuncts, isVolatile, someExpr } from "../expr/walk.js";
import type { MergeStep } from "../plan/graph-plans.js";
import type { IndexScanPlan, Plan, ScanPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import type { EntityState, EntityTable } from "./entity-table.js";
import { after, drainAndClose, type Open } from "./operator.js";
import { compileCondition, EMPTY_ROW, NO_SLOTS, slotsOf } from "./slots.js";
import { hasTriggers } from "./table-triggers.js";

/** Of so many rows each searches by itself, before all nodes are read. */
const SEARCHES = 1;
/** What an entry takes, about, beside its key. */
const ENTRY_BYTES = 120;
/** Of more nodes there is no table: then each row searches by itself. */
const BYTES_MAX = 64 * 1024 ** 2;

export interface MergeTableProgram {
  /** All nodes that a search could give; in columns as `source` says. */
  readonly open: Open;
  readonly source: readonly number[];
  readonly names: readonly string[];
  readonly values: readonly Evaluate[];
  readonly labels: readonly string[];
  /** Over the same columns, and those of the row. */
  readonly condition: Predicate | null;
}

type NodeScan = ScanPlan | IndexScanPlan;

/** Null: each row has to search by itself. */
export function compileMergeTable(
  { match, create }: MergeStep,
  { nodes, edges }: GraphTables,
  compile: (plan: Plan) => Open,
): MergeTableProgram | null {
  if (create.length !== 1 || create[0]!.kind !== "create-node" || !isScanOfNodes(match)) return null;
  if (hasTriggers(nodes, undefined) || hasTriggers(edges, undefined)) return null;
  const all = conjuncts(match.filter);
  if (all.some((expr) => isVolatile(expr) || someExpr(expr, ({ kind }) => kind === "subquery"))) return null;
  const sought = all.flatMap((condition) => soughtIn(condition, match) ?? []);
  if (sought.length === 0) return null;
  const own = new Set(match.columns.map(({ id }) => id));
  const ofAll = all.filter((condition) => [...columnsOf(condition)].every((id) => own.has(id)));
  return {
    open: compile(Object.freeze({ ...match, filter: andOf(ofAll.filter((one) => soughtIn(one, match) === null)) })),
    source: match.source,
    names: sought.map(({ name }) => name),
    values: sought.map(({ value }) => compileExpr(value, NO_SLOTS)),
    labels: match.kind === "indexscan" ? match.labels! : [],
    condition: compileCondition(match.filter, slotsOf(match.columns)),
  };
}

function isScanOfNodes(plan: Plan): plan is NodeScan {
  if (plan.kind !== "scan" && plan.kind !== "indexscan") return false;
  if (graphDefOf(plan.table)?.of !== "nodes" || plan.rowKey !== null) return false;
  return plan.kind === "scan" ? plan.nearest === undefined : plan.labels !== undefined;
}

/** `property(properties, 'name') = value`, the value over the row. */
function soughtIn(condition: Expr, { columns, source }: NodeScan): { name: string; value: Expr } | null {
  if (condition.kind !== "call" || condition.fn.operator !== "=" || condition.args.length !== 2) return null;
  const isOwn = (id: ColumnId) => columns.some((column) => column.id === id);
  const properties = columns[source.indexOf(NODE_COLUMN.properties)];
  for (const [subject, value] of [condition.args, [...condition.args].reverse()] as [Expr, Expr][]) {
    if (subject.kind !== "call" || subject.fn !== PROPERTY || [...columnsOf(value)].some(isOwn)) continue;
    const [of, name] = subject.args;
    if (of?.kind !== "column" || of.id !== properties?.id || name?.kind !== "const") continue;
    return { name: name.value as string, value };
  }
  return null;
}

export class MergeTable {
  /** By the values; most have one node. */
  private readonly ids = new Map<string, number | Set<number>>();
  private searches = 0;
  isBuilt = false;
  private isGivenUp = false;
  private bytes = 0;
  private readonly cells: Value[][];
  private readonly row: Batch;

  constructor(
    private readonly program: MergeTableProgram,
    private readonly nodes: EntityTable,
    private readonly context: ExecContext,
  ) {
    this.cells = program.source.map(() => [null]);
    this.row = { columns: this.cells, length: 1 };
  }

  /** False: so few have searched that this one should do it by itself. */
  get pays(): boolean {
    return ++this.searches > SEARCHES && !this.isGivenUp;
  }

  /**
   * All that the clause has written so far is stored. False: there are too many nodes.
   * @param context of the clause's reads
   */
  build(context: ExecContext): boolean | Promise<boolean> {
    if (this.isBuilt) return true;
    this.isBuilt = true;
    const { open, source } = this.program;
    const [id, properties] = [source.indexOf(NODE_COLUMN.id), source.indexOf(NODE_COLUMN.properties)];
    const take = ({ columns, length }: Batch): void => {
      for (let i = 0; i < length; i++) this.add(columns[id]![i] as number, columns[properties]![i] as VariantMap);
    };
    return after(drainAndClose(open(context), take), () => !this.isGivenUp);
  }

  /** A node that is there now, or has these properties now. */
  add(id: number, properties: VariantMap): void {
    if (!this.isBuilt || this.isGivenUp) return;
    const key = keyOf(this.program.names.map((name) => (properties.get(name) ?? null) as Value));
    if (key === null) return;
    const ids = this.ids.get(key);
    if (ids === undefined) this.ids.set(key, id);
    else if (typeof ids === "number" && ids !== id) this.ids.set(key, new Set([ids, id]));
    else if (typeof ids === "number" || ids.has(id)) return;
    else ids.add(id);
    const bytes = ENTRY_BYTES + 2 * key.length;
    this.context.statement.reserve(bytes);
    this.bytes += bytes;
    if (this.bytes > BYTES_MAX) this.giveUp();
  }

  private giveUp(): void {
    this.isGivenUp = true;
    this.ids.clear();
    this.release();
  }

  /** Rows as the search gives them, for the row that `context` knows. */
  find(context: EvalContext): Value[][] {
    const key = keyOf(this.program.values.map((value) => value(EMPTY_ROW, 0, context)));
    const found: Value[][] = [];
    const ids = (key === null ? undefined : this.ids.get(key)) ?? [];
    for (const id of typeof ids === "number" ? [ids] : ids) {
      const state = this.nodes.find(id);
      if (state !== null && !state.isDeleted && this.isSo(state, context))
        found.push(this.cells.map(([cell]) => cell!));
    }
    return found;
  }

  private isSo(state: EntityState, context: EvalContext): boolean {
    const { labels, condition, source } = this.program;
    if (!labels.every((label) => includesLabel(state.kind, label))) return false;
    for (const [slot, column] of source.entries()) {
      this.cells[slot]![0] =
        column === NODE_COLUMN.id ? state.id : column === NODE_COLUMN.labels ? state.kind : (state.properties as Value);
    }
    return condition === null || condition(this.row, 0, context);
  }

  release(): void {
    this.context.statement.release(this.bytes);
    this.bytes = 0;
  }
}

/** Null: a value is null, which nothing equals. */
function keyOf(values: readonly Value[]): string | null {
  if (values.includes(null)) return null;
  return values.map((value) => variantKeyPart(value as Variant, 0)).join("");
}
