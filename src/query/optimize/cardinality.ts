/**
 * How many rows a plan gives, as far as one can tell before running it: what join order, join method and build side
 * are chosen by, and what EXPLAIN shows. One object per optimized statement; it remembers what it has estimated.
 *
 * The formulas are System R's (Selinger et al., "Access Path Selection in a Relational Database Management System",
 * SIGMOD 1979) with common values and equi-depth histograms as PostgreSQL uses them (selfuncs.c; manual, §76.1).
 * Conditions count as independent of each other, except for two bounds of one column and the columns of a unique key.
 */
import { EDGE_COLUMN, type GraphTables, NODE_COLUMN } from "../../catalog/graph.js";
import type { ColumnStatistics, StatisticsSource, TableStatistics } from "../../catalog/statistics.js";
import { type Mark, markOf } from "../../catalog/statistics.js";
import type { TableDef } from "../../catalog/table.js";
import { includesLabel } from "../../protocol/labels.js";
import { type SqlArray, TEXT, VARIANT } from "../../protocol/values.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import { columnsOf, conjuncts } from "../expr/walk.js";
import type { CommonScanPlan, CommonTable, JoinType, Plan, SetCall } from "../plan/plan.js";
import { walkPlan } from "../plan/walk.js";
import { keyColumnIds, keysOfTable } from "./key-conditions.js";

/** Guesses where nothing is known. */
const UNKNOWN_ROWS = 20_000;
const UNKNOWN_DISTINCT = 200;
const UNKNOWN_RANGE = 1 / 3;
const UNKNOWN_CONDITION = 1 / 3;
const LIKE_PREFIX = 0.02;
const LIKE_INSIDE = 0.05;
/** Rows of one step of a recursive query, and how many steps it takes. */
const ROWS_PER_STEP = 100;
const STEPS = 10;
/** Rows of a LIMIT whose number is a parameter. */
const ROWS_PER_PAGE = 100;

const UNKNOWN_LABEL = 0.1;
const EDGES_PER_NODE = 5;
/** Steps that a path of any length is taken for. */
const PATH_STEPS = 3;

/** `column = column`, and the part of all pairs that it leaves. */
interface EqualPair {
  readonly columns: readonly [ColumnId, ColumnId];
  readonly selectivity: number;
}

interface ColumnInfo {
  readonly table: TableDef;
  readonly tableRows: number;
  readonly columnId: number;
  readonly statistics: ColumnStatistics | null;
}

/** Rows of a table that a text search finds. */
const TEXT_SEARCH_SHARE = 0.02;

export class Cardinality {
  private readonly known = new WeakMap<Plan, number>();
  private readonly columns = new Map<ColumnId, ColumnInfo>();
  private readonly common = new Map<CommonTable, Plan>();
  private readonly tables = new Map<number, TableStatistics | null>();

  constructor(private readonly source: StatisticsSource | null) {}

  /** Takes note of the WITH tables defined in the plan, before anything that reads them is estimated. */
  learn(plan: Plan): void {
    walkPlan(plan, (node) => {
      if (node.kind === "with")
        for (const { table, plan: definition } of node.tables) this.common.set(table, definition);
    });
  }

  /** At least one: a product of many guesses is seldom right when it says less. */
  rows(plan: Plan): number {
    let rows = this.known.get(plan);
    if (rows === undefined) {
      rows = Math.max(this.estimate(plan), 1);
      this.known.set(plan, rows);
    }
    return rows;
  }

  /** Whether the table was analyzed. */
  isKnown(table: TableDef): boolean {
    const statistics = this.tableStatistics(table);
    return statistics !== null && Object.keys(statistics.columns).length > 0;
  }

  /** Rows of the whole table, whatever a scan's filter leaves of them. */
  tableRows(table: TableDef): number {
    return this.tableStatistics(table)?.rows ?? UNKNOWN_ROWS;
  }

  /** Different values of the expression among `rows` rows. */
  distinct(expr: Expr, rows: number): number {
    const ids = [...columnsOf(expr)];
    if (ids.length === 0) return 1;
    let product = 1;
    for (const id of ids) product *= this.distinctOfColumn(id);
    return Math.max(1, Math.min(product, rows));
  }

  /** Part of the rows, 0 to 1, for which the condition is true. */
  selectivity(predicate: Expr | null): number {
    const ranges = new Map<ColumnId, { above: number; below: number }>();
    let product = 1;
    for (const condition of conjuncts(predicate)) {
      const bound = this.boundOf(condition);
      if (bound === null) {
        product *= this.ofCondition(condition);
        continue;
      }
      const range = ranges.get(bound.id) ?? { above: 1, below: 1 };
      if (bound.isLower) range.above = Math.min(range.above, bound.selectivity);
      else range.below = Math.min(range.below, bound.selectivity);
      ranges.set(bound.id, range);
    }
    // What is above a and below b is what is above a, less what is not below b.
    for (const { above, below } of ranges.values()) {
      const both = above + below - 1;
      product *= both > 0.001 ? both : Math.min(above, below) * RANGE_WIDTH_UNKNOWN;
    }
    return clamp(product);
  }

  /** Rows of a join of sides with so many rows, on the conditions between them. */
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
      if (pair === null) fraction *= Math.sqrt(this.ofCondition(condition));
      else {
        const [a, b] = pair.map((id) => this.distinctOfColumn(id)) as [number, number];
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
        const distinct = Math.max(...pair.map((id) => this.distinctOfColumn(id)));
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
    const tables = new Set(equal.flatMap(({ columns }) => columns.map((id) => this.columns.get(id)?.table)));
    let rest = equal;
    let product = 1;
    for (const table of tables) {
      if (table === undefined) continue;
      const reads = ({ columns }: EqualPair, ids: readonly number[]) =>
        columns.some((id) => {
          const info = this.columns.get(id);
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
    return this.ofCondition(condition);
  }

  /** Relationships of these types that a node has on average, seen from that side. */
  fanOut(graph: GraphTables, direction: "out" | "in" | "either", types: readonly string[]): number {
    if (direction === "either") return this.fanOut(graph, "out", types) + this.fanOut(graph, "in", types);
    const { edges, nodes } = graph;
    const type = this.infoOf(edges, EDGE_COLUMN.type);
    let share = types.length === 0 ? 1 : 0;
    for (const name of new Set(types)) share += this.equalTo(type, { kind: "const", type: TEXT, value: name });
    const rows = this.tableStatistics(edges)?.rows ?? UNKNOWN_ROWS * EDGES_PER_NODE;
    return (rows * Math.min(1, share)) / Math.max(1, this.tableRows(nodes));
  }

  private expandRows(plan: Extract<Plan, { kind: "expand" | "expandpath" }>): number {
    const { graph, direction, types, into } = plan;
    const fanOut = this.fanOut(graph, direction, types);
    let walks = fanOut;
    if (plan.kind === "expandpath") {
      const { min, max, search } = plan.path;
      if (search !== "all" && into !== null) walks = 1;
      else for (let step = 2; step <= Math.min(max ?? PATH_STEPS, PATH_STEPS); step++) walks += fanOut ** step;
      if (min === 0) walks++;
      if (search !== "all") return this.rows(plan.input) * walks;
    }
    const share = into === null ? 1 : 1 / Math.max(1, this.tableRows(graph.nodes));
    return this.rows(plan.input) * walks * share;
  }

  /** Nodes whose labels, a text as the column has it, have this one among them. */
  private withLabel(labels: Expr, label: Expr | undefined): number {
    const id = columnIn(labels);
    const statistics = id === null ? null : (this.columns.get(id)?.statistics ?? null);
    return label?.kind === "const" ? labelShare(statistics, String(label.value)) : UNKNOWN_LABEL;
  }

  private estimate(plan: Plan): number {
    switch (plan.kind) {
      case "scan":
        this.register(plan);
        return this.tableRows(plan.table) * this.selectivity(plan.filter);
      case "pointget":
        this.register(plan);
        return 1;
      case "indexscan":
        this.register(plan);
        return this.tableRows(plan.table) * this.indexFraction(plan) * this.selectivity(plan.filter);
      case "textsearch":
        this.register(plan);
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
      case "project":
        return this.passOn(plan, plan.exprs, this.rows(plan.input));
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
        return this.passOn(plan, plan.groups, this.distinctRows(plan.groups, input));
      }
      case "limit":
      case "topn":
        return Math.min(this.limitOf(plan.limit), this.rows(plan.input));
      case "distinct": {
        const input = this.rows(plan.input);
        const keys = plan.on ?? plan.columns.map(({ id, type, name }): Expr => ({ kind: "column", id, type, name }));
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
      const info = this.columns.get(definition.columns[plan.source?.[i] ?? i]!.id);
      if (info !== undefined) this.columns.set(id, info);
    });
    return rows;
  }

  /** Columns are known as those of the largest input. */
  private appendRows(plan: Extract<Plan, { kind: "append" }>): number {
    const rows = plan.inputs.map((input) => this.rows(input));
    const total = rows.reduce((sum, count) => sum + count, 0);
    const largest = plan.inputs[rows.indexOf(Math.max(...rows))];
    largest?.columns.forEach(({ id }, i) => {
      const info = this.columns.get(id);
      if (info !== undefined) this.columns.set(plan.columns[i]!.id, { ...info, tableRows: total });
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
      const { statistics } = this.infoOf(plan.table, NODE_COLUMN.labels);
      for (const label of plan.labels) fraction *= labelShare(statistics, label);
      return fraction;
    }
    let next = 0;
    for (const expr of plan.prefix) fraction *= this.equalTo(this.infoOf(plan.table, ids[next++]!), expr);
    if (plan.keySets !== null) {
      const info = this.infoOf(plan.table, ids[next++]!);
      fraction *= Math.min(1, keysIn(plan) / Math.max(1, this.distinctIn(info)));
    }
    const info = ids[next] === undefined ? null : this.infoOf(plan.table, ids[next]!);
    if (info === null) return Math.max(fraction, 1 / Math.max(1, this.tableRows(plan.table)));
    const above = plan.lower === null ? 1 : 1 - this.below(info, plan.lower.expr);
    const below = plan.upper === null ? 1 : this.below(info, plan.upper.expr);
    return fraction * Math.max(0.0001, plan.lower !== null && plan.upper !== null ? above + below - 1 : above * below);
  }

  // ---- single conditions ----

  private ofCondition(condition: Expr): number {
    switch (condition.kind) {
      case "const":
        return condition.value === true ? 1 : 0;
      case "and":
        return this.selectivity(condition);
      case "or": {
        let none = 1;
        for (const arg of condition.args) none *= 1 - this.selectivity(arg);
        return clamp(1 - none);
      }
      case "not":
        return clamp(1 - this.ofCondition(condition.input));
      case "isnull": {
        const info = columnIn(condition.input) === null ? undefined : this.columns.get(columnIn(condition.input)!);
        const nulls = info?.statistics?.nullFraction ?? (info === undefined ? UNKNOWN_CONDITION : 0.01);
        return condition.negated ? 1 - nulls : nulls;
      }
      case "in": {
        let sum = 0;
        for (const item of condition.items) sum += this.equality(condition.input, item);
        return clamp(condition.negated ? 1 - Math.min(1, sum) : sum);
      }
      case "column":
        return 0.5;
      case "call":
        return this.ofCall(condition);
      case "subquery":
        return 0.5;
      default:
        return UNKNOWN_CONDITION;
    }
  }

  private ofCall(call: Extract<Expr, { kind: "call" }>): number {
    const { operator, name } = call.fn;
    const [a, b] = call.args as [Expr, Expr | undefined];
    if (name === "has_label") return this.withLabel(a, b);
    if (b === undefined) return UNKNOWN_CONDITION;
    switch (operator) {
      case "=":
        return this.equality(a, b);
      case "<>":
        return clamp(1 - this.equality(a, b));
      case "<":
      case "<=":
      case ">":
      case ">=":
        return this.boundOf(call)?.selectivity ?? UNKNOWN_RANGE;
    }
    if (call.fn.anyOf?.operator === "=") return clamp(arrayLength(b) / this.distinct(a, UNKNOWN_DISTINCT));
    const like = operator ?? name;
    if (like === "~~" || like === "~~*" || name.includes("like")) {
      const negated = like.startsWith("!") || name.startsWith("not");
      const selectivity = this.like(a, b);
      return negated ? 1 - selectivity : selectivity;
    }
    if (like.startsWith("!~~")) return 1 - this.like(a, b);
    return UNKNOWN_CONDITION;
  }

  private equality(a: Expr, b: Expr): number {
    const [left, right] = [columnIn(a), columnIn(b)];
    if (left !== null && right !== null) {
      return 1 / Math.max(this.distinctOfColumn(left), this.distinctOfColumn(right));
    }
    const id = left ?? right;
    if (id !== null) return this.equalTo(this.columns.get(id) ?? null, left === null ? a : b);
    const distinct = Math.max(this.distinct(a, UNKNOWN_DISTINCT), this.distinct(b, UNKNOWN_DISTINCT));
    return 1 / distinct;
  }

  /** column = value: its own frequency when it is a common value, otherwise an even part of what is left. */
  private equalTo(info: ColumnInfo | null, value: Expr): number {
    const statistics = info?.statistics ?? null;
    if (statistics === null) return 1 / this.distinctIn(info);
    const mark = constantMark(value);
    const found = mark === null ? undefined : statistics.common.find((entry) => entry.value === mark);
    if (found !== undefined) return found.fraction;
    const commonRows = statistics.common.reduce((sum, { fraction }) => sum + fraction, 0);
    const others = statistics.distinct - statistics.common.length;
    if (mark === null) return (1 - statistics.nullFraction) / Math.max(1, statistics.distinct);
    if (others <= 0) return 0.5 / Math.max(1, info!.tableRows);
    return clamp(1 - commonRows - statistics.nullFraction) / others;
  }

  /** A comparison of a column with something known. */
  private boundOf(condition: Expr): { id: ColumnId; isLower: boolean; selectivity: number } | null {
    if (condition.kind !== "call" || condition.args.length !== 2) return null;
    const operator = condition.fn.operator;
    if (operator !== "<" && operator !== "<=" && operator !== ">" && operator !== ">=") return null;
    const [a, b] = condition.args as [Expr, Expr];
    const [left, right] = [columnIn(a), columnIn(b)];
    if ((left === null) === (right === null)) return null;
    const id = (left ?? right)!;
    if (columnsOf(left === null ? a : b).size > 0) return null;
    const isLower = operator.startsWith(">") === (left !== null);
    const info = this.columns.get(id) ?? null;
    const below = this.below(info, left === null ? a : b);
    return { id, isLower, selectivity: isLower ? Math.max(0, 1 - below) : below };
  }

  /** Part of the rows whose value lies below the given one, by common values and the histogram. */
  private below(info: ColumnInfo | null, value: Expr): number {
    const statistics = info?.statistics ?? null;
    const mark = constantMark(value);
    if (statistics === null || mark === null) return UNKNOWN_RANGE;
    let part = 0;
    let commonRows = 0;
    for (const entry of statistics.common) {
      commonRows += entry.fraction;
      if (entry.value < mark) part += entry.fraction;
      else if (entry.value === mark) part += entry.fraction / 2;
    }
    const others = clamp(1 - commonRows - statistics.nullFraction);
    return clamp(part + others * positionIn(statistics.histogram, mark));
  }

  /** A pattern's part of the values that are known by name, else a guess by where it is anchored. */
  private like(input: Expr, pattern: Expr): number {
    if (pattern.kind !== "const" || typeof pattern.value !== "string") return LIKE_INSIDE;
    const text = pattern.value;
    const id = columnIn(input);
    const statistics = id === null ? null : (this.columns.get(id)?.statistics ?? null);
    if (statistics === null) return text.startsWith("%") ? LIKE_INSIDE : LIKE_PREFIX;
    const matches = matcherOf(text);
    let part = 0;
    let commonRows = 0;
    for (const { value, fraction } of statistics.common) {
      commonRows += fraction;
      if (matches(String(value))) part += fraction;
    }
    const { histogram } = statistics;
    const others = clamp(1 - commonRows - statistics.nullFraction);
    const hits = histogram.filter((value) => matches(String(value))).length;
    const guess = text.startsWith("%") ? LIKE_INSIDE : LIKE_PREFIX;
    // The bounds are a small sample: they are weighed against the guess.
    const fraction = histogram.length < HISTOGRAM_ENOUGH ? guess : (hits / histogram.length + guess) / 2;
    return clamp(part + others * fraction);
  }

  // ---- columns ----

  private register(plan: Extract<Plan, { kind: "scan" | "textsearch" | "pointget" | "indexscan" }>): void {
    plan.source.forEach((columnId, i) => {
      this.columns.set(plan.columns[i]!.id, this.infoOf(plan.table, columnId));
    });
  }

  /** Columns that are other columns under a new id are known as those. */
  private passOn(plan: Plan, exprs: readonly Expr[], rows: number): number {
    exprs.forEach((expr, i) => {
      const info = expr.kind === "column" ? this.columns.get(expr.id) : undefined;
      if (info !== undefined) this.columns.set(plan.columns[i]!.id, info);
    });
    return rows;
  }

  private infoOf(table: TableDef, columnId: number): ColumnInfo {
    const statistics = this.tableStatistics(table);
    return {
      table,
      tableRows: statistics?.rows ?? UNKNOWN_ROWS,
      columnId,
      statistics: statistics?.columns[columnId] ?? null,
    };
  }

  private tableStatistics(table: TableDef): TableStatistics | null {
    let statistics = this.tables.get(table.id);
    if (statistics === undefined) {
      statistics = this.source?.of(table) ?? null;
      this.tables.set(table.id, statistics);
    }
    return statistics;
  }

  private distinctOfColumn(id: ColumnId): number {
    return this.distinctIn(this.columns.get(id) ?? null);
  }

  private distinctIn(info: ColumnInfo | null): number {
    if (info === null) return UNKNOWN_DISTINCT;
    if (info.statistics !== null) return Math.max(1, info.statistics.distinct);
    if (uniqueKeyAmong(info.table, new Set([info.columnId]))) return Math.max(1, info.tableRows);
    // A key of several columns leads with one that repeats itself.
    return Math.max(1, Math.min(UNKNOWN_DISTINCT * 10, info.tableRows / 5));
  }
}

/** How much of a range is taken when its two bounds seem to exclude each other. */
const RANGE_WIDTH_UNKNOWN = 0.01;
const HISTOGRAM_ENOUGH = 20;

/** Part of a graph's nodes that have the label, by the statistics of the column `labels`. */
function labelShare(statistics: ColumnStatistics | null, label: string): number {
  if (statistics === null) return UNKNOWN_LABEL;
  let share = 0;
  for (const { value, fraction } of statistics.common) if (includesLabel(String(value), label)) share += fraction;
  return clamp(share);
}

function clamp(selectivity: number): number {
  return Math.min(1, Math.max(selectivity, 1e-9));
}

function uniqueKeyAmong(table: TableDef, ids: ReadonlySet<number>): boolean {
  return keysOfTable(table).some(
    (key) => (key === "primary key" || key.unique) && keyColumnIds(table, key).every((id) => ids.has(id)),
  );
}

/** The column that the expression is, under casts. */
function columnIn(expr: Expr): ColumnId | null {
  if (expr.kind === "cast") return columnIn(expr.input);
  return expr.kind === "column" ? expr.id : null;
}

function equalColumns(condition: Expr): [ColumnId, ColumnId] | null {
  if (condition.kind !== "call" || condition.fn.operator !== "=" || condition.args.length !== 2) return null;
  const [a, b] = condition.args.map(columnIn) as [ColumnId | null, ColumnId | null];
  return a === null || b === null ? null : [a, b];
}

function constantMark(expr: Expr): Mark | null {
  if (expr.kind === "cast") return constantMark(expr.input);
  return expr.kind === "const" && expr.value !== null ? markOf(expr.value) : null;
}

/** 0 before the first bound, 1 after the last; numbers are interpolated within their group. */
function positionIn(histogram: readonly Mark[], mark: Mark): number {
  const groups = histogram.length - 1;
  if (groups < 1) return 0.5;
  const next = histogram.findIndex((bound) => bound > mark);
  if (next === 0) return 0;
  if (next < 0) return 1;
  const [low, high] = [histogram[next - 1]!, histogram[next]!];
  const within =
    typeof low === "number" && typeof high === "number" && typeof mark === "number" ? (mark - low) / (high - low) : 0.5;
  return (next - 1 + within) / groups;
}

function matcherOf(pattern: string): (text: string) => boolean {
  const parts = pattern.split("%");
  const [first, last] = [parts[0]!, parts.at(-1)!];
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last)) return false;
    let from = first.length;
    for (const part of parts.slice(1, -1)) {
      const at = text.indexOf(part, from);
      if (at < 0) return false;
      from = at + part.length;
    }
    return true;
  };
}

/** Arrays of which nothing is known are taken for as long as PostgreSQL takes them. */
const ARRAY_GUESS = 10;

/** unnest gives a row per element. */
function rowsOfCall({ fn, args }: SetCall): number {
  const isUnnest = fn.name === "unnest" && args.length === 1 && args[0]!.type.element !== null;
  return isUnnest ? arrayLength(args[0]!) : UNKNOWN_ROWS;
}

function keysIn({ keySets, keyArrays }: Extract<Plan, { kind: "indexscan" }>): number {
  if (!keyArrays) return keySets!.length;
  return keySets!.reduce((sum, array) => sum + arrayLength(array), 0);
}

function arrayLength(array: Expr): number {
  if (array.kind !== "const" || array.value === null) return ARRAY_GUESS;
  // A list of Cypher, or what else IN is given.
  if (array.type === VARIANT) return Array.isArray(array.value) ? array.value.length : 1;
  return (array.value as SqlArray).elements.length;
}
