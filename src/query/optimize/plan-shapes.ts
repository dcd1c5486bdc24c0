/**
 * Finds parts of a statement that are the same plan except for the numbers of their columns. Each node gets a text
 * that describes it. In the text, inputs are named by the number of their own text, and columns by names that say
 * where they come from:
 *
 *   HashJoin a.x = b.y            "hashjoin inner #3 #5 l.s1=r.s2"        a.x is "l.s1": left input, table column 1
 *     Scan a                      "scan 1"   (#3)
 *     Scan b                      "scan 2"   (#5)
 *
 * Nodes with equal texts give the same rows. The text does not say which columns of a table or input they hand on:
 * that depends on their readers (prune-columns.ts), and the names tell which ones they share. Used by
 * share-subplans.ts for one statement.
 */
import { isDeepStrictEqual } from "node:util";
import type { SqlType } from "../../values/values.js";
import type { ColumnId, ConstExpr, Expr } from "../expr/expr.js";
import type {
  AggregateCall,
  AggregatePlan,
  AppendPlan,
  HashJoinPlan,
  JoinPlan,
  MergeJoinPlan,
  Plan,
  SetOpPlan,
  SortKey,
  WindowPlan,
} from "../plan/plan.js";
import { childrenOf, subqueriesOf } from "../plan/walk.js";

export interface Shape {
  /** Equal plans have equal numbers. */
  readonly id: number;
  /** By the columns' ids; equal plans give equal columns the same name. */
  readonly names: Names;
  /** How many queries further out columns come from that are read here; 0: none from outside. */
  readonly depth: number;
}

export type Names = ReadonlyMap<ColumnId, string>;

/** Thrown where a plan may give other rows the next time, or is of a kind that is not compared. */
class Incomparable extends Error {}

/** Rows of a VALUES list that are compared; each of them is written out. */
const VALUES_MAX = 64;

export class PlanShapes {
  private readonly shapes = new Map<Plan, Shape | null>();
  private readonly texts = new Map<string, number>();
  private readonly objects = new Map<object, number>();
  private readonly constants: ConstExpr[] = [];

  /** Takes note of the plan, of all that is below it, and of its subqueries. `outside`: as `visit` has it. */
  add(plan: Plan, outside: readonly Names[] = []): void {
    this.visit(plan, outside);
  }

  /** Null: the plan is equal to none but itself. */
  of(plan: Plan): Shape | null {
    return this.shapes.get(plan) ?? null;
  }

  /** `outside`: columns of the queries around, the nearest first. */
  private visit(plan: Plan, outside: readonly Names[]): Shape | null {
    const known = this.shapes.get(plan);
    if (known !== undefined) return known;
    const children = childrenOf(plan);
    const inputs: (Shape | null)[] = [];
    for (const child of children) {
      const isLateral = plan.kind === "join" && plan.lateral && inputs.length === 1;
      inputs.push(this.visit(child, isLateral ? [inputs[0]?.names ?? NONE, ...outside] : outside));
    }
    const row = children.length === 0 ? ownNames(plan) : namesOfInputs(inputs);
    for (const subquery of subqueriesOf(plan)) this.visit(subquery.plan, [row, ...outside]);
    const shape = inputs.includes(null) ? null : this.shapeOf(plan, inputs as Shape[], row, outside);
    this.shapes.set(plan, shape);
    return shape;
  }

  private shapeOf(plan: Plan, inputs: readonly Shape[], row: Names, outside: readonly Names[]): Shape | null {
    const writer = new ShapeWriter(this, row, outside);
    try {
      const { text, names } = writer.node(plan, inputs);
      const depths = inputs.map(({ depth }, i) =>
        plan.kind === "join" && plan.lateral && i === 1 ? Math.max(depth - 1, 0) : depth,
      );
      return { id: this.numberOf(text), names, depth: Math.max(writer.depth, ...depths) };
    } catch (error) {
      if (error instanceof Incomparable) return null;
      throw error;
    }
  }

  private numberOf(text: string): number {
    const known = this.texts.get(text) ?? this.texts.size;
    this.texts.set(text, known);
    return known;
  }

  /** A definition or a function, as a word. */
  object(object: object): string {
    const known = this.objects.get(object) ?? this.objects.size;
    this.objects.set(object, known);
    return `@${known}`;
  }

  type(type: SqlType): string {
    if (type.fields !== undefined || type.user !== undefined) return this.object(type);
    return `${type.name}${type.modifier ?? ""}${type.element === null ? "" : `[${this.type(type.element)}]`}`;
  }

  constant(expr: ConstExpr): string {
    const { value } = expr;
    const type = this.type(expr.type);
    if (value === null || typeof value !== "object") return `${JSON.stringify(String(value))}${typeof value}:${type}`;
    const known = this.constants.findIndex((other) => isDeepStrictEqual(other.value, value));
    if (known < 0) this.constants.push(expr);
    return `k${known < 0 ? this.constants.length - 1 : known}:${type}`;
  }
}

const NONE: Names = new Map();

/** Columns of a node that reads no other, for its own conditions. */
function ownNames(plan: Plan): Names {
  switch (plan.kind) {
    case "scan":
    case "indexscan":
    case "pointget":
      return new Map(plan.source.map((column, i) => [plan.columns[i]!.id, `s${column}`]));
    case "commonscan":
      return new Map(plan.columns.map(({ id }, i) => [id, `s${plan.source?.[i] ?? i}`]));
    default:
      return new Map(plan.columns.map(({ id }, i) => [id, `p${i}`]));
  }
}

function namesOfInputs(inputs: readonly (Shape | null)[]): Names {
  if (inputs.length === 1) return inputs[0]?.names ?? NONE;
  const names = new Map<ColumnId, string>();
  inputs.forEach((input, i) => {
    for (const [id, name] of input?.names ?? NONE) names.set(id, `${i}.${name}`);
  });
  return names;
}

interface Written {
  readonly text: string;
  readonly names: Names;
}

/** Writes one node's text. */
class ShapeWriter {
  depth = 0;

  constructor(
    private readonly shapes: PlanShapes,
    /** Columns that the node's expressions read. */
    private readonly row: Names,
    private readonly outside: readonly Names[],
  ) {}

  node(plan: Plan, inputs: readonly Shape[]): Written {
    const { row } = this;
    const below = inputs.map(({ id }) => `#${id}`).join(" ");
    const passing = (...parts: readonly (string | boolean | null | undefined)[]): Written => ({
      text: [plan.kind, below, ...parts.map(String)].join(" "),
      names: row,
    });
    switch (plan.kind) {
      case "scan":
      case "indexscan":
      case "pointget":
        return passing(...this.access(plan));
      case "commonscan":
        if (plan.table.working || plan.table.outer.length > 0) throw new Incomparable();
        return passing(this.shapes.object(plan.table));
      case "values":
        if (plan.rows.length > VALUES_MAX) throw new Incomparable();
        return passing(...plan.rows.map((values) => `(${this.all(values)})`));
      case "filter":
        return passing(this.expr(plan.predicate));
      case "sort":
        return passing(this.keys(plan.keys));
      case "topn":
        return passing(this.keys(plan.keys), this.expr(plan.limit), this.maybe(plan.offset));
      case "limit":
        return passing(this.maybe(plan.limit), this.maybe(plan.offset), plan.ties && this.all(plan.ties));
      case "distinct":
        return passing(plan.on === null ? sorted([...row.values()]) : `on ${this.all(plan.on)}`);
      case "project":
        return this.project(plan, below);
      case "join":
        return this.join(plan, inputs, `${plan.lateral} ${this.maybe(plan.condition)}`);
      case "hashjoin":
        return this.join(plan, inputs, `${plan.keepsLeftOrder} ${plan.buildsLeft} ${this.joinKeys(plan)}`);
      case "mergejoin":
        return this.join(plan, inputs, `${JSON.stringify(plan.directions)} ${this.joinKeys(plan)}`);
      case "aggregate":
        return this.aggregate(plan, below);
      case "window":
        return this.window(plan, below);
      case "setop":
        return this.setOp(plan, inputs);
      case "append":
        return this.append(plan, inputs);
      default:
        throw new Incomparable();
    }
  }

  private access(plan: Extract<Plan, { kind: "scan" | "indexscan" | "pointget" }>): string[] {
    if (plan.rowKey !== null || (plan.kind === "scan" && plan.nearest !== undefined)) throw new Incomparable();
    const common = [this.shapes.object(plan.table), this.maybe(plan.filter)];
    if (plan.kind === "scan") return [...common, String(plan.reverse)];
    const index = plan.index === "primary key" ? "primary" : this.shapes.object(plan.index);
    if (plan.kind === "pointget") {
      // What only the filter reads may not be there for others.
      const hidden = sorted([...(plan.filterOnly ?? [])].flatMap((id) => this.row.get(id) ?? []));
      return [...common, index, this.all(plan.key), hidden];
    }
    const bound = (of: typeof plan.lower) => (of === null ? "" : `${of.inclusive} ${this.expr(of.expr)}`);
    const sets = plan.keySets === null ? "" : `${plan.keyArrays} ${this.all(plan.keySets)}`;
    const where = `${this.all(plan.prefix)};${sets};${bound(plan.lower)};${bound(plan.upper)}`;
    return [...common, index, where, `${plan.isNull} ${plan.reverse} ${JSON.stringify(plan.labels ?? null)}`];
  }

  /** What is only handed on is left out of the text; what is computed may fail, so all of it is in. */
  private project(plan: Extract<Plan, { kind: "project" }>, below: string): Written {
    const texts = plan.exprs.map((expr) => this.expr(expr));
    const computed = texts.filter((_, i) => plan.exprs[i]!.kind !== "column");
    return { text: `project ${below} ${sorted(computed)}`, names: namesFor(plan, texts) };
  }

  private joinKeys({ leftKeys, rightKeys, residual }: HashJoinPlan | MergeJoinPlan): string {
    const keys = leftKeys.map((key, i) => `${this.expr(key)}=${this.expr(rightKeys[i]!)}`);
    return `${keys.join()} ${this.maybe(residual)}`;
  }

  private join(plan: JoinPlan | HashJoinPlan | MergeJoinPlan, inputs: readonly Shape[], how: string): Written {
    const [left, right] = inputs as [Shape, Shape];
    const onlyLeft = plan.type === "semi" || plan.type === "anti";
    const names = onlyLeft ? namesOfInputs([left, null]) : this.row;
    return { text: `${plan.kind} ${plan.type} #${left.id} #${right.id} ${how}`, names };
  }

  private aggregate(plan: AggregatePlan, below: string): Written {
    const groups = plan.groups.map((expr) => this.expr(expr));
    const calls = plan.calls.map((call) => this.call(call));
    const { grouping } = plan;
    if (grouping === undefined) {
      const names = namesFor(plan, [...groups.map((text) => `g${text}`), ...calls]);
      return { text: `aggregate ${below} ${groups.join()} ${sorted(calls)}`, names };
    }
    const sets = JSON.stringify([grouping.sets, grouping.masks]);
    return { text: `aggregate ${below} ${groups.join()} ${calls.join()} ${sets}`, names: ownNames(plan) };
  }

  private window(plan: WindowPlan, below: string): Written {
    const { mode, start, end, exclude } = plan.frame;
    const bounds = [start, end].map(
      ({ kind, offset, inRange }) => `${kind} ${this.maybe(offset)} ${inRange && this.shapes.object(inRange)}`,
    );
    const over = `${this.all(plan.partitionBy)} ${this.keys(plan.orderBy)} ${mode} ${bounds.join()} ${exclude}`;
    const calls = plan.calls.map((call) => {
      if (call.kind === "aggregate" && call.fn.mayWrite === true) throw new Incomparable();
      return `w${this.shapes.object(call.fn)}(${this.all(call.args)}) ${this.maybe(call.filter)}`;
    });
    const names = new Map(this.row);
    const made = plan.columns.slice(plan.columns.length - calls.length);
    for (const [i, { id }] of made.entries()) names.set(id, calls[i]!);
    return { text: `window ${below} ${over} ${sorted(calls)}`, names };
  }

  /** Rows are matched by column position, so all columns are part of it. */
  private setOp(plan: SetOpPlan, inputs: readonly Shape[]): Written {
    return { text: `setop ${plan.op} ${plan.all} ${byPlace(plan, inputs)}`, names: ownNames(plan) };
  }

  private append(plan: AppendPlan, inputs: readonly Shape[]): Written {
    const { shapes } = this;
    const names = ownNames(plan);
    const order = plan.mergeKeys && new ShapeWriter(shapes, names, this.outside).keys(plan.mergeKeys);
    const tests = plan.tests?.flat().map(({ bounds, partitionId, conditions }) => {
      const values = conditions.map((condition) => `${condition.place} ${condition.op} ${this.all(condition.values)}`);
      return `${shapes.object(bounds)} ${partitionId} ${values.join()}`;
    });
    const how = `${shapes.object(plan.table)} ${plan.tableOid !== null} ${order} ${tests?.join()}`;
    return { text: `append ${how} ${byPlace(plan, inputs)}`, names };
  }

  private call(call: AggregateCall): string {
    if (call.fn.mayWrite === true) throw new Incomparable();
    const fn = `a${this.shapes.object(call.fn)}`;
    const direct = call.direct === undefined ? "" : this.all(call.direct);
    const args = `${call.distinct} ${this.all(call.args)};${direct};${this.keys(call.orderBy)}`;
    return `${fn}(${args};${this.maybe(call.filter)})`;
  }

  private keys(keys: readonly SortKey[]): string {
    return keys.map(({ expr, descending, nullsFirst }) => `${this.expr(expr)} ${descending} ${nullsFirst}`).join();
  }

  private all(exprs: readonly Expr[]): string {
    return exprs.map((expr) => this.expr(expr)).join();
  }

  private maybe(expr: Expr | null): string {
    return expr === null ? "" : this.expr(expr);
  }

  private expr(expr: Expr): string {
    const { shapes } = this;
    switch (expr.kind) {
      case "const":
        return shapes.constant(expr);
      case "param":
        return `$${expr.index}:${shapes.type(expr.type)}`;
      case "column":
        return this.column(expr.id);
      case "call":
        if (expr.fn.volatility === "volatile") throw new Incomparable();
        return `${shapes.object(expr.fn)}:${shapes.type(expr.type)}(${this.all(expr.args)})`;
      case "cast":
        return `cast:${shapes.type(expr.type)}${expr.assignment ?? ""}(${this.expr(expr.input)})`;
      case "and":
      case "or":
        return `${expr.kind}(${this.all(expr.args)})`;
      case "not":
        return `not(${this.expr(expr.input)})`;
      case "isnull":
        return `isnull${expr.negated}(${this.expr(expr.input)})`;
      case "case": {
        const branches = expr.branches.map((branch) => `${this.expr(branch.when)}?${this.expr(branch.then)}`);
        return `case:${shapes.type(expr.type)}(${branches.join()}:${this.maybe(expr.otherwise)})`;
      }
      case "in":
        return `in${expr.negated}${shapes.object(expr.equals)}(${this.expr(expr.input)};${this.all(expr.items)})`;
      case "subquery":
        return this.subquery(expr);
      case "list":
        throw new Incomparable();
    }
  }

  private column(id: ColumnId): string {
    const own = this.row.get(id);
    if (own !== undefined) return own;
    const level = this.outside.findIndex((names) => names.has(id));
    if (level < 0) throw new Incomparable();
    this.depth = Math.max(this.depth, level + 1);
    return `${"^".repeat(level + 1)}${this.outside[level]!.get(id)}`;
  }

  private subquery(expr: Extract<Expr, { kind: "subquery" }>): string {
    const plan = expr.plan;
    const shape = this.shapes.of(plan);
    if (shape === null) throw new Incomparable();
    this.depth = Math.max(this.depth, shape.depth - 1);
    const columns = plan.columns.map(({ id }) => shape.names.get(id));
    const compare = expr.compare === null ? "" : this.shapes.object(expr.compare);
    const type = this.shapes.type(expr.type);
    return `${expr.form}:${type} #${shape.id}(${columns.join()}) ${compare} ${this.maybe(expr.input)}`;
  }
}

/** Inputs whose columns count by their places. */
function byPlace(plan: Plan, inputs: readonly Shape[]): string {
  const texts = childrenOf(plan).map(({ columns }, i) => {
    const { id, names } = inputs[i]!;
    return `#${id}(${columns.map((column) => names.get(column.id)).join()})`;
  });
  return texts.join(" ");
}

function sorted(texts: readonly string[]): string {
  return [...new Set(texts)].sort().join();
}

function namesFor(plan: Plan, texts: readonly string[]): Names {
  return new Map(texts.map((text, i) => [plan.columns[i]!.id, text]));
}
