/**
 * Plans one pattern, part by part: a node to begin with, then relationships that connect to what is there, cheapest
 * first. A state machine over the plan so far; plan-patterns.ts calls it.
 */

import { EDGE_COLUMN } from "../../catalog/graph.js";
import { sqlError } from "../../protocol/errors.js";
import { INT8, TEXT } from "../../values/values.js";
import { similarityCondition } from "../expr/cypher/similarity.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import { andOf, columnsOf, conjuncts } from "../expr/walk.js";
import { columnExpr } from "../plan/column-expr.js";
import { behindPolicy } from "../plan/graph-guard.js";
import type {
  EdgeColumns,
  MatchPlan,
  NodeColumns,
  PatternEdge,
  PatternNode,
  VariableLength,
} from "../plan/graph-plans.js";
import type { FilterPlan, OutputColumn, Plan, ScanPlan } from "../plan/plan.js";
import { joinColumns } from "../plan/walk.js";
import { type Cardinality, pathsOf } from "./cardinality.js";
import { accessFor } from "./choose-access.js";
import { factored } from "./factor-conditions.js";
import { newColumnId } from "./new-column-id.js";
import {
  anyType,
  bothWays,
  call,
  constant,
  edgeColumns,
  edgeScan,
  equal,
  isNotNull,
  joined,
  newColumn,
  nodeColumns,
  nodeScan,
  scanBase,
} from "./pattern-parts.js";
import { filtered } from "./rule.js";

/**
 * A node that is looked up by an index and found so seldom more than once is bound before a path of many steps leads to
 * it.
 */
const BOUND_FIRST_ROWS = 4;
/** The same for a shortest path, which is searched from both ends. */
const SHORTEST_BOUND_ROWS = 100;
/** What reading a node costs beside handing it on. */
const READ = 0.3;
/** What a walk along a relationship costs beside handing on a node that a scan found. */
const STEP_SHARE = 0.1;

const ONE_ROW: Plan = Object.freeze({ kind: "values", rows: [[]], columns: [] });

/** The match without its node: all of its columns and perhaps others, in any order. */
export function planMatch(match: MatchPlan, cardinality: Cardinality): Plan {
  if (!match.optional) {
    return new PatternPlanner(match, match.input, cardinality).plan();
  }
  const right = new PatternPlanner(match, ONE_ROW, cardinality).plan();
  const left = match.input;
  const columns = joinColumns("left", left, right);
  return Object.freeze({ kind: "join", type: "left", left, right, condition: null, lateral: true, columns });
}

/** Rows of the node that the pattern would be entered by. */
export function rowsToBeginWith(match: MatchPlan, cardinality: Cardinality): number {
  return new PatternPlanner(match, match.input, cardinality).rowsToBeginWith();
}

/** A relationship that is in the match already: nothing else may be the same. */
interface Used {
  /** Its id, or the list of a path. */
  readonly expr: Expr;
  readonly types: readonly string[];
}

type NewNode = Extract<PatternNode, { kind: "new" }>;

/** What can come next, and how many rows there will be. */
interface Step {
  /** Null: not along a relationship, to a node that is similar. */
  readonly edge: number | null;
  readonly rows: number;
  take(): void;
}

class PatternPlanner {
  private current: Plan;
  /** By node: its id, once it is bound. */
  private readonly ids: (Expr | null)[];
  /** New nodes whose labels and properties are among the columns. */
  private readonly fetched = new Set<number>();
  private readonly edgesLeft: Set<number>;
  private readonly used: Used[] = [];
  private conditions: Expr[];
  /** Columns that the pattern makes. */
  private readonly made: ReadonlySet<ColumnId>;
  /** By node: how many nodes have its labels. */
  private readonly populations: readonly number[];

  constructor(
    private readonly match: MatchPlan,
    input: Plan,
    private readonly cardinality: Cardinality,
  ) {
    this.current = input;
    this.ids = match.nodes.map((node) => (node.kind === "bound" ? node.id : null));
    this.edgesLeft = new Set(match.edges.keys());
    this.conditions = conjuncts(match.predicate && factored(match.predicate, relationsOf(match)));
    this.made = new Set(match.columns.slice(match.input.columns.length).map(({ id }) => id));
    this.populations = match.nodes.map((node, i) =>
      node.kind === "new" ? this.population(i, node.columns) : this.all(),
    );
  }

  private all(): number {
    return this.cardinality.tableRows(this.match.graph.nodes);
  }

  private population(node: number, { labels }: NodeColumns): number {
    const filter = andOf(this.conditionsOn([labels]));
    return filter === null ? this.all() : this.cardinality.rows(Object.freeze({ ...this.scanOf(node), filter }));
  }

  plan(): Plan {
    const { match } = this;
    this.place();
    for (const [i, node] of match.nodes.entries()) {
      // Nothing hangs on it: it is there unless it is NULL.
      const isAlone = match.edges.every(({ left, right }) => left !== i && right !== i);
      if (isAlone && node.kind === "bound") this.current = filtered(this.current, [isNotNull(node.id)]);
    }
    for (;;) {
      if (this.walkOn()) continue;
      const start = this.cheapestStart();
      if (start === null) break;
      const edge = this.edgeByIndex(this.startCost(start));
      if (edge === null) this.bind(start);
      else this.bindEdge(edge);
    }
    if (this.edgesLeft.size > 0) throw readInTurn();
    for (let node = 0; node < match.nodes.length; node++) this.fetch(node);
    this.place();
    return filtered(this.current, this.conditions);
  }

  // ---- nodes ----

  /** The node to enter the next part of the pattern by; null: all are bound. */
  private cheapestStart(): number | null {
    let best: number | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (let node = 0; node < this.ids.length; node++) {
      if (this.ids[node] !== null) continue;
      const cost = this.startCost(node);
      if (cost < least) {
        least = cost;
        best = node;
      }
    }
    return best;
  }

  rowsToBeginWith(): number {
    const start = this.cheapestStart();
    return start === null ? 0 : this.cardinality.rows(accessFor(this.scanOf(start)));
  }

  /** Of finding the node, and of the shortest step from it. */
  private startCost(node: number): number {
    const scan = this.scanOf(node);
    const access = accessFor(scan);
    const rows = this.cardinality.rows(access);
    const found = access.kind === "scan" ? rows + this.cardinality.tableRows(scan.table) * READ : rows;
    let least = Number.POSITIVE_INFINITY;
    for (const edge of this.edgesLeft) {
      const pattern = this.match.edges[edge]!;
      if (pattern.left !== node && pattern.right !== node) continue;
      least = Math.min(least, rows * this.walksFrom(pattern, node));
    }
    return least === Number.POSITIVE_INFINITY ? found : found + least * STEP_SHARE;
  }

  /** Walks along the relationship from one such node. */
  private walksFrom(pattern: PatternEdge, node: number): number {
    const { shape } = pattern;
    const fanOut = this.fanOutFrom(pattern, node);
    return shape.kind === "many" ? Math.max(1, pathsOf(fanOut, this.onwardFrom(pattern, node), shape.max)) : fanOut;
  }

  /** Types of relationships join nodes of few labels: those with the labels of this one have all of them. */
  private fanOutFrom(pattern: PatternEdge, node: number): number {
    const { match, cardinality, populations } = this;
    return cardinality.fanOut(match.graph, directionFrom(pattern, node), pattern.types, populations[node]);
  }

  /** The same of the later nodes of a path: where it ends at nodes of another label, they can be any. */
  private onwardFrom(pattern: PatternEdge, node: number): number {
    const { match, cardinality, populations } = this;
    const end = populations[pattern.left === node ? pattern.right : pattern.left]!;
    const isOther = end !== populations[node] && end < cardinality.tableRows(match.graph.nodes);
    if (!isOther) return this.fanOutFrom(pattern, node);
    return cardinality.fanOut(match.graph, directionFrom(pattern, node), pattern.types);
  }

  /** The scan of a new node with what is said of it alone. */
  private scanOf(node: number): ScanPlan {
    const { graph, nodes } = this.match;
    const { columns, name } = nodes[node] as { columns: NodeColumns; name: string };
    const own = nodeColumns(columns);
    const scan = nodeScan(graph, name, own);
    return Object.freeze({ ...scan, filter: andOf(this.conditionsOn(own)) });
  }

  /** Conditions that use no columns of the pattern other than these. */
  private conditionsOn(columns: readonly OutputColumn[]): Expr[] {
    const own = new Set(columns.map(({ id }) => id));
    return this.conditions.filter((condition) => {
      const read = [...columnsOf(condition)].filter((id) => this.made.has(id));
      return read.length > 0 && read.every((id) => own.has(id));
    });
  }

  /** Joins a node that nothing leads to. */
  private bind(node: number): void {
    const { columns, name, policy } = this.match.nodes[node] as NewNode;
    const all = nodeScan(this.match.graph, name, nodeColumns(columns));
    const scan = behindPolicy(all, policy);
    const first = conditionsOnOneRow(this.current);
    this.current = first === null ? joined("inner", this.current, scan, null) : filtered(scan, first);
    this.ids[node] = columnExpr(columns.id);
    this.fetched.add(node);
    this.place();
  }

  /** Labels and properties of a node that a walk has reached. */
  private fetch(node: number): void {
    const pattern = this.match.nodes[node]!;
    if (pattern.kind === "bound" || this.fetched.has(node)) return;
    this.fetched.add(node);
    const { columns, name, policy } = pattern;
    const id: OutputColumn = { ...columns.id, id: newColumnId() };
    const scan = nodeScan(this.match.graph, name, [id, columns.labels, columns.properties]);
    const condition = equal(columnExpr(columns.id), columnExpr(id));
    // A relationship's ends exist, so each row stays. As a left join it goes when nobody reads its columns.
    if (policy === undefined) this.current = joined("left", this.current, scan, condition);
    else this.current = behindPolicy(joined("inner", this.current, scan, condition), policy);
  }

  // ---- relationships ----

  /** Takes the step that leaves the fewest rows; false: nothing hangs on what is bound. */
  private walkOn(): boolean {
    let best: Step | null = null;
    const similar = this.conditions.map((condition) => this.stepToSimilar(condition));
    for (const step of [...[...this.edgesLeft].map((edge) => this.stepBy(edge)), ...similar]) {
      if (step !== null && (best === null || step.rows < best.rows)) best = step;
    }
    if (best === null) return false;
    if (best.edge !== null) this.edgesLeft.delete(best.edge);
    best.take();
    this.place();
    return true;
  }

  /**
   * To the one new node that has to be similar to what is there; similar-by-index.ts and exec/similar-join.ts find it.
   */
  private stepToSimilar(condition: Expr): Step | null {
    const similar = similarityCondition(condition);
    if (similar === null) return null;
    const present = new Set(this.current.columns.map(({ id }) => id));
    const missing = [...columnsOf(condition)].filter((id) => this.made.has(id) && !present.has(id));
    const node = this.match.nodes.findIndex(
      (pattern, i) =>
        this.ids[i] === null && pattern.kind === "new" && missing.every((id) => id === pattern.columns.properties.id),
    );
    if (missing.length === 0 || node < 0) return null;
    const rows = this.cardinality.rows(this.current) * this.cardinality.rows(accessFor(this.scanOf(node)));
    return { edge: null, rows: rows * this.cardinality.selectivity(condition), take: () => this.bind(node) };
  }

  private stepBy(edge: number): Step | null {
    const pattern = this.match.edges[edge]!;
    const { shape, left, right } = pattern;
    if (shape.kind === "bound") return { edge, rows: 0, take: () => this.joinBound(pattern, shape.id) };
    const [atLeft, atRight] = [this.ids[left] !== null, this.ids[right] !== null];
    if ((!atLeft && !atRight) || !this.isReady(shape)) return null;
    const rows = this.cardinality.rows(this.current);
    if (atLeft && atRight) {
      const share = shape.kind === "one" ? 1e-3 : shape.search === "all" ? 1 : 1e3;
      return { edge, rows: rows * share, take: () => this.walk(pattern, left, right) };
    }
    const [from, to] = atLeft ? [left, right] : [right, left];
    const selectivity = this.cardinality.selectivity(this.scanOf(to).filter);
    const reached = rows * this.walksFrom(pattern, from) * selectivity;
    if (shape.kind === "one") return { edge, rows: reached, take: () => this.walk(pattern, from, to) };
    // Paths come after single relationships of as many rows.
    const take = () => {
      if (this.isFewToBind(to, shape.search === "all" ? BOUND_FIRST_ROWS : SHORTEST_BOUND_ROWS)) this.bind(to);
      this.walk(pattern, from, to);
    };
    return { edge, rows: reached * (shape.search === "all" ? 2 : 1e3), take };
  }

  /** Whether all is bound that the conditions on a path's relationships read. */
  private isReady(shape: PatternEdge["shape"]): boolean {
    const read = [...columnsInFilters(shape)].filter((id) => this.made.has(id));
    if (read.length === 0) return true;
    const there = new Set(this.current.columns.map(({ id }) => id));
    for (const [i, node] of this.match.nodes.entries()) {
      if (node.kind === "new" && this.ids[i] !== null) for (const { id } of nodeColumns(node.columns)) there.add(id);
    }
    return read.every((id) => there.has(id));
  }

  /** By an index, or from a small table. */
  private isFewToBind(node: number, rowsMax: number): boolean {
    const access = accessFor(this.scanOf(node));
    return access.kind !== "scan" && this.cardinality.rows(access) <= rowsMax;
  }

  private walk(pattern: PatternEdge, from: number, to: number): void {
    const { types, shape } = pattern;
    const read = columnsInFilters(shape);
    for (const [i, node] of this.match.nodes.entries()) {
      if (node.kind !== "new") continue;
      const { labels, properties } = node.columns;
      if (read.has(labels.id) || read.has(properties.id)) this.fetch(i);
    }
    const { match, current } = this;
    const into = this.ids[to] ?? null;
    const target = match.nodes[to]!;
    const other = into === null && target.kind === "new" ? target.columns.id : null;
    const common = {
      graph: match.graph,
      input: current,
      from: this.ids[from]!,
      direction: directionFrom(pattern, from),
      types,
      fanOut: this.fanOutFrom(pattern, from),
      exclude: this.used.filter((used) => mayBeSame(used.types, types)).map(({ expr }) => expr),
      other,
      into,
    };
    const last = other === null ? [] : [other];
    if (shape.kind === "one") {
      const columns = [...current.columns, ...edgeColumns(shape.columns), ...last];
      const walked: Plan = Object.freeze({ kind: "expand", ...common, edge: shape.columns, columns });
      this.current = behindPolicy(walked, shape.policy);
    } else {
      const path = shape as VariableLength;
      const reversed = pattern.left !== from;
      const columns = [...current.columns, path.relationships, ...last];
      const onward = this.onwardFrom(pattern, from);
      this.current = Object.freeze({ kind: "expandpath", ...common, path, onward, reversed, columns });
    }
    if (other !== null) {
      this.ids[to] = columnExpr(other);
      if (this.mustSee(to)) this.fetch(to);
    }
    this.use(pattern);
  }

  private use({ shape, types }: PatternEdge): void {
    if (this.match.repeatable) return;
    const expr =
      shape.kind === "bound" ? shape.id : columnExpr(shape.kind === "one" ? shape.columns.id : shape.relationships);
    this.used.push({ expr, types });
  }

  /** Whether the node itself is looked at before anything else is asked of it. */
  private mustSee(node: number): boolean {
    return (this.match.nodes[node] as NewNode).policy !== undefined || this.isReadInConditions(node);
  }

  private isReadInConditions(node: number): boolean {
    const { labels, properties } = (this.match.nodes[node] as NewNode).columns;
    return this.conditions.some((condition) => {
      const read = columnsOf(condition);
      return read.has(labels.id) || read.has(properties.id);
    });
  }

  /**
   * A relationship that the input gives: its record says which nodes it joins. Where both directions are meant it comes
   * once for each.
   */
  private joinBound(pattern: PatternEdge, id: Expr): void {
    const { graph } = this.match;
    const record: EdgeColumns = {
      id: newColumn("id", INT8),
      type: newColumn("type", TEXT),
      src: newColumn("src", INT8),
      dst: newColumn("dst", INT8),
      properties: newColumn("properties", graph.edges.columns[4]!.type),
    };
    const read = [record.id, record.type, record.src, record.dst];
    const source = [EDGE_COLUMN.id, EDGE_COLUMN.type, EDGE_COLUMN.src, EDGE_COLUMN.dst];
    const scan: Plan = Object.freeze({ ...scanBase(graph.edges, pattern.name, read), source });
    const plan = joined("inner", this.current, scan, equal(id, columnExpr(record.id)));
    const conditions = this.used
      .filter((used) => used.expr.type === INT8 && mayBeSame(used.types, pattern.types))
      .map((used) => call("<>", used.expr, id));
    if (pattern.types.length > 0) conditions.push(anyType(record.type, pattern.types));
    this.bindEnds(pattern, record, plan, conditions);
  }

  /** `plan` has the relationship's record. */
  private bindEnds(pattern: PatternEdge, record: EdgeColumns, before: Plan, conditions: Expr[]): void {
    const [src, dst] = [columnExpr(record.src), columnExpr(record.dst)];
    let plan = before;
    let [leftEnd, rightEnd]: [Expr, Expr] = pattern.direction === "in" ? [dst, src] : [src, dst];
    if (pattern.direction === "either") [plan, leftEnd, rightEnd] = bothWays(before, src, dst);
    this.current = filtered(plan, conditions);
    this.bindEnd(pattern.left, leftEnd);
    this.bindEnd(pattern.right, rightEnd);
    this.use(pattern);
  }

  /** The node is the one with this id. */
  private bindEnd(node: number, id: Expr): void {
    const known = this.ids[node];
    if (known !== null && known !== undefined) {
      this.current = filtered(this.current, [equal(known, id)]);
      return;
    }
    const { columns } = this.match.nodes[node] as { columns: NodeColumns };
    const exprs = [...this.current.columns.map(columnExpr), id];
    const input = this.current;
    this.current = Object.freeze({ kind: "project", input, exprs, columns: [...input.columns, columns.id] });
    this.ids[node] = columnExpr(columns.id);
    if (this.mustSee(node)) this.fetch(node);
  }

  /** A relationship that an index on its properties finds at less cost; null: there is none. */
  private edgeByIndex(cost: number): number | null {
    let best: number | null = null;
    let least = cost;
    for (const edge of this.edgesLeft) {
      const { shape, left, right, types } = this.match.edges[edge]!;
      if (shape.kind !== "one" || types.length !== 1 || this.ids[left] !== null || this.ids[right] !== null) continue;
      // Of a path that was walked before, no single relationship is at hand.
      if (this.used.some((used) => used.expr.type !== INT8 && mayBeSame(used.types, types))) continue;
      const own = edgeColumns(shape.columns);
      const conditions = [equal(columnExpr(shape.columns.type), constant(TEXT, types[0]!)), ...this.conditionsOn(own)];
      const access = accessFor(Object.freeze({ ...edgeScan(this.match.graph, "", own), filter: andOf(conditions) }));
      const rows = this.cardinality.rows(access);
      if (access.kind === "scan" || access.kind === "pointget" || rows >= least) continue;
      best = edge;
      least = rows;
    }
    return best;
  }

  /** Joins a relationship that nothing leads to, by its type and properties. */
  private bindEdge(edge: number): void {
    const pattern = this.match.edges[edge]!;
    const { columns, policy } = pattern.shape as Extract<PatternEdge["shape"], { kind: "one" }>;
    this.edgesLeft.delete(edge);
    const scan = behindPolicy(edgeScan(this.match.graph, pattern.name, edgeColumns(columns)), policy);
    const first = conditionsOnOneRow(this.current);
    const plan = first === null ? joined("inner", this.current, scan, null) : filtered(scan, first);
    const ofType = equal(columnExpr(columns.type), constant(TEXT, pattern.types[0]!));
    const excluded = this.used
      .filter((used) => used.expr.type === INT8 && mayBeSame(used.types, pattern.types))
      .map((used) => call("<>", used.expr, columnExpr(columns.id)));
    this.bindEnds(pattern, columns, plan, [ofType, ...excluded]);
    this.place();
  }

  /** Puts conditions on the rows that have all that they read. */
  private place(): void {
    const present = new Set(this.current.columns.map(({ id }) => id));
    const isReady = (condition: Expr) => [...columnsOf(condition)].every((id) => !this.made.has(id) || present.has(id));
    const ready = this.conditions.filter(isReady);
    if (ready.length === 0) return;
    this.conditions = this.conditions.filter((condition) => !isReady(condition));
    this.current = filtered(this.current, ready);
  }
}

/** The columns of each new node and relationship. */
function relationsOf({ nodes, edges }: MatchPlan): ReadonlySet<ColumnId>[] {
  const made = [
    ...nodes.flatMap((node) => (node.kind === "new" ? [Object.values(node.columns) as OutputColumn[]] : [])),
    ...edges.flatMap(({ shape }) => (shape.kind === "one" ? [edgeColumns(shape.columns)] : [])),
  ];
  return made.map((columns) => new Set(columns.map(({ id }) => id)));
}

/** What is said of the one row, without columns, that the plan is of; null: it is another plan. */
function conditionsOnOneRow(plan: Plan): readonly Expr[] | null {
  if (plan.kind === "values") return plan.rows.length === 1 && plan.columns.length === 0 ? [] : null;
  const below = plan.kind === "filter" ? conditionsOnOneRow(plan.input) : null;
  return below && [...below, ...conjuncts((plan as FilterPlan).predicate)];
}

/** As seen from one of its ends. */
function directionFrom(pattern: PatternEdge, node: number): "out" | "in" | "either" {
  if (pattern.direction === "either" || node === pattern.left) return pattern.direction;
  return pattern.direction === "out" ? "in" : "out";
}

function mayBeSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === 0 || b.length === 0 || a.some((type) => b.includes(type));
}

/** Conditions on the relationships of a path. */
export function filtersOf(shape: PatternEdge["shape"]): readonly Expr[] {
  if (shape.kind !== "many") return [];
  return [shape.filter, ...(shape.cycle ?? []).map(({ filter }) => filter)].filter((filter) => filter !== null);
}

function columnsInFilters(shape: PatternEdge["shape"]): ReadonlySet<ColumnId> {
  return new Set(filtersOf(shape).flatMap((filter) => [...columnsOf(filter)]));
}

function readInTurn(): Error {
  const message = "conditions on the relationships of two paths of one pattern read each other's path";
  return sqlError("0A000", message, { hint: "Write one of them as all(r IN … WHERE …) in the WHERE of the MATCH." });
}
