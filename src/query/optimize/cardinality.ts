/**
 * Estimates how many rows a plan gives. Join order, join method and build side are chosen by it, and EXPLAIN shows it.
 * One object per optimized statement; it remembers what it has estimated.
 *
 * The formulas are System R's (Selinger et al., "Access Path Selection in a Relational Database Management System",
 * SIGMOD 1979) with common values and equi-depth histograms as PostgreSQL uses them (selfuncs.c; manual, §76.1).
 * Conditions count as independent of each other (selectivity.ts), except for those on all columns of a unique key.
 */
import { EDGE_COLUMN, type GraphTables, NODE_COLUMN } from "../../catalog/graph.js";
import type { StatisticsSource } from "../../catalog/statistics.js";
import type { TableDef } from "../../catalog/table.js";
import { TEXT } from "../../values/values.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import { conjuncts } from "../expr/walk.js";
import { columnExpr } from "../plan/column-expr.js";
import type { CommonScanPlan, CommonTable, JoinType, Plan, SetCall } from "../plan/plan.js";
import { walkPlan } from "../plan/walk.js";
import { keyColumnIds, keysOfTable } from "./key-conditions.js";
import { clamp, KnownColumns, UNKNOWN_ROWS } from "./known-columns.js";
import { arrayLength, columnIn, labelShare, Selectivity } from "./selectivity.js";

/** Rows of one step of a recursive query, and how many steps it takes. */
const ROWS_PER_STEP = 100;
const STEPS = 10;
/** Rows of a LIMIT whose number is a parameter. */
const ROWS_PER_PAGE = 100;

const EDGES_PER_NODE = 5;
/** Steps that a path of any length is taken for. */
const PATH_STEPS = 3;

/** `column = column`, and the part of all pairs that it leaves. */
interface EqualPair {
  readonly columns: readonly [ColumnId, ColumnId];
  readonly selectivity: number;
}

/** Rows of a table that a text search finds. */
const TEXT_SEARCH_SHARE = 0.02;

export class Cardinality {
  private readonly estimated = new WeakMap<Plan, number>();
  private readonly known: KnownColumns;
  private readonly conditions: Selectivity;
  private readonly common = new Map<CommonTable, Plan>();

  constructor(source: StatisticsSource | null) {
    this.known = new KnownColumns(source);
    this.conditions = new Selectivity(this.known);
  }

  /** Takes note of the WITH tables defined in the plan, before anything that reads them is estimated. */
  learn(plan: Plan): void {
    walkPlan(plan, (node) => {
      if (node.kind === "with")
        for (const { table, plan: definition } of node.tables) this.common.set(table, definition);
    });
  }

  /** At least one: a product of many guesses is seldom right when it says less. */
  rows(plan: Plan): number {
    let rows = this.estimated.get(plan);
    if (rows === undefined) {
      rows = Math.max(this.estimate(plan), 1);
      this.estimated.set(plan, rows);
    }
    return rows;
  }

  /** Whether the table was analyzed. */
  isKnown(table: TableDef): boolean {
    return this.known.isKnown(table);
  }

  /** Rows of the whole table, whatever a scan's filter leaves of them. */
  tableRows(table: TableDef): number {
    return this.known.tableRows(table);
  }

  /** Different values of the expression among `rows` rows. */
  distinct(expr: Expr, rows: number): number {
    return this.known.distinct(expr, rows);
  }

  /** Part of the rows, 0 to 1, for which the condition is true. */
  selectivity(predicate: Expr | null): number {
    return this.conditions.of(predicate);
  }

  /** Rows of a join of two sides with the given numbers of rows, on the conditions between them. */
  joinRows(type: JoinType, left: number, right: number, conditions: readonly Expr[]): number {
    const inner = left * right * this.joinSelectivity(conditions, left, right);
    switch (type) {
      case "inner":
        return inner;
      case "left":
        return Math.max(inner, left);
      case "right":
        return Math.max(inner, right);
      case "full":
        return Math.max(inner, left + right);
      case "semi":
        return Math.min(left, Math.max(this.matched(conditions, left, right), left * 1e-3));
      case "anti":
        return Math.max(left - this.matched(conditions, left, right), left * 0.1);
    }
  }

  /** Left rows with a match: containment of the smaller set of key values in the larger. */
  private matched(conditions: readonly Expr[], left: number, right: number): number {
    let fraction = 1;
    for (const condition of conditions) {
      const pair = equalColumns(condition);
      if (pair === null) fraction *= Math.sqrt(this.conditions.ofCondition(condition));
      else {
        const [a, b] = pair.map((id) => this.known.distinctOfColumn(id)) as [number, number];
        // Which of the two is the left one is not known here; the right side can hold no more values than rows.
        const most = Math.max(a, b);
        fraction *= Math.min(1, Math.min(Math.min(a, b), right) / Math.max(1, Math.min(most, left)));
      }
    }
    return left * Math.min(1, fraction);
  }

  private joinSelectivity(conditions: readonly Expr[], left: number, right: number): number {
    let product = 1;
    const equal: EqualPair[] = [];
    for (const condition of conditions) {
      const pair = equalColumns(condition);
      if (pair === null) product *= this.ofJoinCondition(condition, left, right);
      else {
        const distinct = Math.max(...pair.map((id) => this.known.distinctOfColumn(id)));
        equal.push({ columns: pair, selectivity: 1 / Math.max(1, distinct) });
      }
    }
    return clamp(product * this.ofEqualities(equal));
  }

  /**
   * All equalities together. Those on all columns of a unique key match one row of its table, however few values each
   * of the columns has.
   */
  private ofEqualities(equal: readonly EqualPair[]): number {
    const tables = new Set(equal.flatMap(({ columns }) => columns.map((id) => this.known.of(id)?.table)));
    let rest = equal;
    let product = 1;
    for (const table of tables) {
      if (table === undefined) continue;
      const reads = ({ columns }: EqualPair, ids: readonly number[]) =>
        columns.some((id) => {
          const info = this.known.of(id);
          return info?.table === table && ids.includes(info.columnId);
        });
      for (const key of keysOfTable(table)) {
        const ids = keyColumnIds(table, key);
        const unique = key === "primary key" || key.unique;
        if (!unique || ids.length < 2 || !ids.every((id) => rest.some((pair) => reads(pair, [id])))) continue;
        const covered = rest.filter((pair) => reads(pair, ids));
        const independent = covered.reduce((part, { selectivity }) => part * selectivity, 1);
        product *= Math.max(independent, 1 / Math.max(1, this.tableRows(table)));
        rest = rest.filter((pair) => !covered.includes(pair));
      }
    }
    return rest.reduce((part, { selectivity }) => part * selectivity, product);
  }

  private ofJoinCondition(condition: Expr, left: number, right: number): number {
    if (condition.kind === "call" && condition.fn.operator === "=" && condition.args.length === 2) {
      const [a, b] = condition.args as [Expr, Expr];
      return 1 / Math.max(this.distinct(a, Math.max(left, right)), this.distinct(b, Math.max(left, right)));
    }
    return this.conditions.ofCondition(condition);
  }

  /** Average number of relationships of these types per node, for the given number of nodes, seen from that side. */
  fanOut(
    graph: GraphTables,
    direction: "out" | "in" | "either",
    types: readonly string[],
    among = this.tableRows(graph.nodes),
  ): number {
    if (direction === "either") return this.fanOut(graph, "out", types, among) + this.fanOut(graph, "in", types, among);
    const { edges } = graph;
    const type = this.known.infoOf(edges, EDGE_COLUMN.type);
    let share = types.length === 0 ? 1 : 0;
    for (const name of new Set(types)) share += this.known.equalTo(type, { kind: "const", type: TEXT, value: name });
    const rows = this.known.tableStatistics(edges)?.rows ?? UNKNOWN_ROWS * EDGES_PER_NODE;
    return (rows * Math.min(1, share)) / Math.max(1, among);
  }

  private expandRows(plan: Extract<Plan, { kind: "expand" | "expandpath" }>): number {
    const { graph, direction, types, into } = plan;
    const fanOut = plan.fanOut ?? this.fanOut(graph, direction, types);
    let walks = fanOut;
    if (plan.kind === "expandpath") {
      const { min, max, search } = plan.path;
      walks = search !== "all" && into !== null ? 1 : pathsOf(fanOut, plan.onward ?? fanOut, max);
      if (min === 0) walks++;
      if (search !== "all") return this.rows(plan.input) * walks;
    }
    const share = into === null ? 1 : 1 / Math.max(1, this.tableRows(graph.nodes));
    return this.rows(plan.input) * walks * share;
  }

  private estimate(plan: Plan): number {
    switch (plan.kind) {
      case "scan":
        this.known.register(plan);
        return this.tableRows(plan.table) * this.selectivity(plan.filter);
      case "pointget":
        this.known.register(plan);
        return 1;
      case "indexscan":
        this.known.register(plan);
        return this.tableRows(plan.table) * this.indexFraction(plan) * this.selectivity(plan.filter);
      case "textsearch":
        this.known.register(plan);
        return this.tableRows(plan.table) * TEXT_SEARCH_SHARE * this.selectivity(plan.filter);
      case "values":
        return plan.rows.length;
      case "tablefunction":
        return Math.max(...plan.calls.map(rowsOfCall));
      case "commonscan": {
        if (plan.table.working) return ROWS_PER_STEP;
        const definition = this.common.get(plan.table);
        return definition === undefined ? UNKNOWN_ROWS : this.commonRows(plan, definition);
      }
      case "recursive":
        return this.rows(plan.left) * STEPS;
      case "filter": {
        const input = this.rows(plan.input);
        return input * this.selectivity(plan.predicate);
      }
      case "project": {
        const input = this.rows(plan.input);
        this.known.passOn(plan, plan.exprs);
        return input;
      }
      case "join":
        return this.joinRows(plan.type, this.rows(plan.left), this.rows(plan.right), conjuncts(plan.condition));
      case "hashjoin":
      case "mergejoin": {
        const [left, right] = [this.rows(plan.left), this.rows(plan.right)];
        return this.equiJoinRows(plan, left, right);
      }
      case "aggregate": {
        const input = this.rows(plan.input);
        if (plan.groups.length === 0) return plan.grouping?.sets.length ?? 1;
        const groups = this.distinctRows(plan.groups, input);
        this.known.passOn(plan, plan.groups);
        return groups;
      }
      case "limit":
      case "topn":
        return Math.min(this.limitOf(plan.limit), this.rows(plan.input));
      case "distinct": {
        const input = this.rows(plan.input);
        const keys = plan.on ?? plan.columns.map(columnExpr);
        return this.distinctRows(keys, input);
      }
      case "setop": {
        const [left, right] = [this.rows(plan.left), this.rows(plan.right)];
        return plan.op === "union" ? left + right : plan.op === "except" ? left : Math.min(left, right);
      }
      case "append":
        return this.appendRows(plan);
      case "expand":
      case "expandpath":
        return this.expandRows(plan);
      default:
        return "input" in plan ? this.rows((plan as { readonly input: Plan }).input) : UNKNOWN_ROWS;
    }
  }

  /** Columns are known as those of the definition. */
  private commonRows(plan: CommonScanPlan, definition: Plan): number {
    const rows = this.rows(definition);
    plan.columns.forEach(({ id }, i) => {
      const info = this.known.of(definition.columns[plan.source?.[i] ?? i]!.id);
      if (info !== undefined) this.known.learn(id, info);
    });
    return rows;
  }

  /** Columns are known as those of the largest input. */
  private appendRows(plan: Extract<Plan, { kind: "append" }>): number {
    const rows = plan.inputs.map((input) => this.rows(input));
    const total = rows.reduce((sum, count) => sum + count, 0);
    const largest = plan.inputs[rows.indexOf(Math.max(...rows))];
    largest?.columns.forEach(({ id }, i) => {
      const info = this.known.of(id);
      if (info !== undefined) this.known.learn(plan.columns[i]!.id, { ...info, tableRows: total });
    });
    return total;
  }

  private equiJoinRows(plan: Extract<Plan, { kind: "hashjoin" | "mergejoin" }>, left: number, right: number): number {
    let product = this.selectivity(plan.residual);
    const equal: EqualPair[] = [];
    let matched = 1;
    plan.leftKeys.forEach((key, i) => {
      const other = plan.rightKeys[i]!;
      const [a, b] = [this.distinct(key, Number.MAX_VALUE), this.distinct(other, Number.MAX_VALUE)];
      matched *= Math.min(1, Math.min(b, right) / Math.max(1, Math.min(a, left)));
      if (key.kind === "column" && other.kind === "column") {
        equal.push({ columns: [key.id, other.id], selectivity: 1 / Math.max(a, b) });
      } else product /= Math.max(a, b);
    });
    const inner = left * right * product * this.ofEqualities(equal);
    if (plan.type === "semi") return left * matched;
    if (plan.type === "anti") return Math.max(left * (1 - matched), left * 0.1);
    if (plan.type === "inner") return inner;
    return Math.max(inner, plan.type === "left" ? left : plan.type === "right" ? right : left + right);
  }

  private distinctRows(keys: readonly Expr[], input: number): number {
    let product = 1;
    for (const key of keys) product *= this.distinct(key, input);
    // Groups by several columns are seldom all there; half of the input is PostgreSQL's bound for guesses, too.
    return keys.length > 1 ? Math.min(product, Math.max(1, input / 2)) : Math.min(product, input);
  }

  private limitOf(limit: Expr | null): number {
    if (limit === null) return Number.MAX_VALUE;
    if (limit.kind !== "const") return ROWS_PER_PAGE;
    return limit.value === null ? Number.MAX_VALUE : Number(limit.value);
  }

  /** Part of the table within an index scan's bounds. */
  private indexFraction(plan: Extract<Plan, { kind: "indexscan" }>): number {
    const ids = keyColumnIds(plan.table, plan.index);
    let fraction = 1;
    if (plan.labels !== undefined) {
      const { statistics } = this.known.infoOf(plan.table, NODE_COLUMN.labels);
      for (const label of plan.labels) fraction *= labelShare(statistics, label);
      return fraction;
    }
    let next = 0;
    for (const expr of plan.prefix) fraction *= this.known.equalTo(this.known.infoOf(plan.table, ids[next++]!), expr);
    if (plan.keySets !== null) {
      const info = this.known.infoOf(plan.table, ids[next++]!);
      fraction *= Math.min(1, keysIn(plan) / Math.max(1, this.known.distinctIn(info)));
    }
    const info = ids[next] === undefined ? null : this.known.infoOf(plan.table, ids[next]!);
    if (info === null) return Math.max(fraction, 1 / Math.max(1, this.tableRows(plan.table)));
    const above = plan.lower === null ? 1 : 1 - this.known.below(info, plan.lower.expr);
    const below = plan.upper === null ? 1 : this.known.below(info, plan.upper.expr);
    return fraction * Math.max(0.0001, plan.lower !== null && plan.upper !== null ? above + below - 1 : above * below);
  }
}

function equalColumns(condition: Expr): [ColumnId, ColumnId] | null {
  if (condition.kind !== "call" || condition.fn.operator !== "=" || condition.args.length !== 2) return null;
  const [a, b] = condition.args.map(columnIn) as [ColumnId | null, ColumnId | null];
  return a === null || b === null ? null : [a, b];
}

/** unnest gives a row per element. */
function rowsOfCall({ fn, args }: SetCall): number {
  const isUnnest = fn.name === "unnest" && args.length === 1 && args[0]!.type.element !== null;
  return isUnnest ? arrayLength(args[0]!) : UNKNOWN_ROWS;
}

function keysIn({ keySets, keyArrays }: Extract<Plan, { kind: "indexscan" }>): number {
  if (!keyArrays) return keySets!.length;
  return keySets!.reduce((sum, array) => sum + arrayLength(array), 0);
}

/**
 * Paths of up to the given number of relationships from one node with the given averages of it and of later nodes.
 * Those have fewer relationships: they are of many kinds, and the average is that of one kind.
 */
export function pathsOf(fanOut: number, onward: number, max: number | null): number {
  let [paths, ofLength] = [fanOut, fanOut];
  for (let step = 2; step <= Math.min(max ?? PATH_STEPS, PATH_STEPS); step++) {
    ofLength *= Math.min(onward, Math.sqrt(onward));
    paths += ofLength;
  }
  return paths;
}
