/**
 * A tree of joins as a set: its inputs, and the conditions between them. What reorder-joins.ts works on.
 *
 * Equalities between columns of inner inputs are kept as classes: all columns of a class have one value in a joined
 * row, so one equality between any two of them says it (PostgreSQL's equivalence classes, Graefe's "column
 * equivalence" in Volcano, ICDE 1993).
 */
import type { CallExpr, ColumnExpr, ColumnId, Expr } from "../expr/expr.js";
import { columnsOf, conjuncts, isVolatile } from "../expr/walk.js";
import type { JoinPlan, Plan } from "../plan/plan.js";
import { isVolatilePlan, outerColumnsOf } from "../plan/walk.js";

export interface Input {
  readonly plan: Plan;
  /**
   * `inner` inputs may be anywhere; the right input of another join only to the right of the inputs that it requires.
   */
  readonly type: "inner" | "left" | "semi" | "anti";
  /** Of the right input of another join than an inner one: that join's conditions. */
  readonly conditions: readonly Expr[];
  /** Of a dependent input: the set of inputs, as bits, that must be joined before it. */
  readonly required: number;
  /** It reads columns of other inputs, which must be joined before it. */
  readonly lateral: boolean;
}

/** Whether an input can only be the right side of a join, by itself. */
export function isDependent({ type, lateral }: Input): boolean {
  return type !== "inner" || lateral;
}

export function isReorderable(plan: JoinPlan): boolean {
  if (plan.type === "right" || plan.type === "full") return false;
  // What a lateral side computes for each left row must not depend on how often it is computed.
  if (plan.lateral && isVolatilePlan(plan.right)) return false;
  return plan.condition === null || !isVolatile(plan.condition);
}

interface Parts {
  readonly inputs: Input[];
  /** Of the inner joins. */
  readonly conditions: Expr[];
}

export function inputsOfJoins(plan: Plan): Parts {
  const parts: Parts = { inputs: [], conditions: [] };
  collect(plan, parts);
  return parts;
}

/** A projection that only leaves columns out is no boundary: the reordered whole has the columns that are asked for. */
function withoutSelection(plan: Plan): Plan {
  if (plan.kind !== "project" || plan.input.kind !== "join") return plan;
  const selects = plan.exprs.every((expr, i) => expr.kind === "column" && expr.id === plan.columns[i]!.id);
  return selects ? plan.input : plan;
}

function collect(whole: Plan, parts: Parts): void {
  const plan = withoutSelection(whole);
  if (plan.kind !== "join" || !isReorderable(plan)) {
    const required = inputsRead(outerColumnsOf(plan), parts.inputs);
    parts.inputs.push({ plan, type: "inner", conditions: [], required, lateral: required !== 0 });
    return;
  }
  const first = parts.inputs.length;
  collect(plan.left, parts);
  if (plan.type === "inner") {
    collect(plan.right, parts);
    parts.conditions.push(...conjuncts(plan.condition));
    return;
  }
  const conditions = conjuncts(plan.condition);
  const lateral = inputsRead(outerColumnsOf(plan.right), parts.inputs);
  const read = new Set(conditions.flatMap((condition) => [...columnsOf(condition)]));
  const required = lateral | inputsRead(read, parts.inputs);
  const type = plan.type as "left" | "semi" | "anti";
  const all = parts.inputs.reduce((set, input, i) => (i >= first && showsColumns(input) ? set | (1 << i) : set), 0);
  parts.inputs.push({
    plan: plan.right,
    type,
    conditions,
    required: required === 0 ? all : required,
    lateral: lateral !== 0,
  });
}

const showsColumns = ({ type }: Input) => type !== "semi" && type !== "anti";

/** The inputs, as bits, that have some of these columns. */
function inputsRead(columns: ReadonlySet<ColumnId>, inputs: readonly Input[]): number {
  if (columns.size === 0) return 0;
  return inputs.reduce((set, input, i) => {
    return showsColumns(input) && input.plan.columns.some(({ id }) => columns.has(id)) ? set | (1 << i) : set;
  }, 0);
}

interface Condition {
  readonly expr: Expr;
  /** The inputs that it reads, as bits. */
  readonly set: number;
}

type Members = readonly { readonly column: ColumnExpr; readonly input: number }[];

function isIn(members: Members, set: number): boolean {
  return members.some(({ input }) => (set & (1 << input)) !== 0);
}

interface EqualColumns {
  readonly members: Members;
  readonly equality: CallExpr;
}

export class JoinInputs {
  /** Conditions that read no two inputs: for rows of the whole. (What reads one inner input was pushed into it.) */
  readonly above: Expr[] = [];
  private readonly conditions: Condition[] = [];
  private readonly classes: EqualColumns[] = [];
  private readonly owners = new Map<ColumnId, number>();

  constructor(
    readonly inputs: readonly Input[],
    conditions: readonly Expr[],
  ) {
    inputs.forEach((input, i) => {
      if (input.type === "semi" || input.type === "anti") return;
      for (const { id } of input.plan.columns) this.owners.set(id, i);
    });
    for (const expr of conditions) this.add(expr);
  }

  /** Whether some condition, or a dependent input's own, joins the two sets. */
  connects(left: number, right: number): boolean {
    const both = left | right;
    for (const { set } of this.conditions) {
      if ((set & ~both) === 0 && (set & ~left) !== 0 && (set & ~right) !== 0) return true;
    }
    for (const { members } of this.classes) if (isIn(members, left) && isIn(members, right)) return true;
    return (right & (right - 1)) === 0 && this.inputs[31 - Math.clz32(right)]!.type !== "inner";
  }

  /** What must hold between two sets of inputs that are being joined and did not hold within either. */
  between(left: number, right: number): Expr[] {
    const both = left | right;
    const found: Expr[] = [];
    for (const { expr, set } of this.conditions) {
      if ((set & ~both) === 0 && (set & ~left) !== 0 && (set & ~right) !== 0) found.push(expr);
    }
    const joining = this.classes.filter(({ members }) => isIn(members, left) && isIn(members, right));
    for (const { members, equality } of joining) {
      const [a, b] = [left, right].map((side) => this.representative(members, side, joining));
      found.push(Object.freeze({ ...equality, args: [a!.column, b!.column] }));
    }
    return found;
  }

  /** Of a class's columns on one side that of the input with most classes: together they may be that input's key. */
  private representative(members: Members, side: number, joining: readonly EqualColumns[]): Members[number] {
    const classesOf = (input: number) => joining.filter((one) => isIn(one.members, 1 << input)).length;
    const candidates = members.filter(({ input }) => (side & (1 << input)) !== 0);
    return candidates.reduce((best, one) => (classesOf(one.input) > classesOf(best.input) ? one : best));
  }

  private add(expr: Expr): void {
    let set = 0;
    for (const id of columnsOf(expr)) {
      const owner = this.owners.get(id);
      if (owner !== undefined) set |= 1 << owner;
    }
    if ((set & (set - 1)) === 0) this.above.push(expr);
    else if (!this.addToClass(expr)) this.conditions.push({ expr, set });
  }

  /** True for `a = b`, two columns of one type and of different inner inputs. */
  private addToClass(expr: Expr): boolean {
    if (expr.kind !== "call" || expr.fn.operator !== "=" || expr.args.length !== 2) return false;
    const [a, b] = expr.args as [Expr, Expr];
    if (a.kind !== "column" || b.kind !== "column" || a.type !== b.type) return false;
    const [left, right] = [this.owners.get(a.id), this.owners.get(b.id)];
    if (left === undefined || right === undefined || left === right) return false;
    if (this.inputs[left]!.type !== "inner" || this.inputs[right]!.type !== "inner") return false;
    const holding = this.classes.filter(({ members }) =>
      members.some(({ column }) => column.id === a.id || column.id === b.id),
    );
    const members = holding.flatMap((one) => [...one.members]);
    for (const [column, input] of [
      [a, left],
      [b, right],
    ] as const) {
      if (!members.some((member) => member.column.id === column.id)) members.push({ column, input });
    }
    // Two columns of one input would have to be equal within it, which no condition between inputs says.
    if (new Set(members.map(({ input }) => input)).size < members.length) return false;
    const kept = this.classes.filter((one) => !holding.includes(one));
    this.classes.length = 0;
    this.classes.push(...kept, { members, equality: expr });
    return true;
  }
}
