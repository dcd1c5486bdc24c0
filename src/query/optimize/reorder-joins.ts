/**
 * The order of joins: inner joins that follow one another are taken apart into their inputs and conditions and put
 * together in the order that costs least by the estimates of cardinality.ts and the prices of join-cost.ts. Left, semi
 * and anti joins take part: their right input may be joined as soon as the inputs that its condition reads are there,
 * and so do lateral joins, when those are there that the right side reads.
 *
 * Up to DYNAMIC_MAX inputs all orders without needless cross products are compared, bushy ones too (Moerkotte and
 * Neumann, "Analysis of Two Existing and One New Dynamic Programming Algorithm", VLDB 2006, DPsub); beyond that, and
 * where that would take too many steps, the
 * pair with the smallest result is joined first, again and again (Fegaras, "A New Heuristic for Optimizing Large
 * Queries", DEXA 1998). Columns that equalities make equal form a class; any two of them may join
 * (join-inputs.ts).
 *
 *   Join (l.s = s.id)                         Join (o.id = l.o)
 *     Join (o.id = l.o)               ⇒         Scan o
 *       Scan o                                  Join (l.s = s.id)
 *       Scan l                                    Scan l
 *     Scan s (few rows)                           Scan s
 */
import type { Expr } from "../expr/expr.js";
import { andOf } from "../expr/walk.js";
import type { JoinPlan, Plan } from "../plan/plan.js";
import { childrenOf, joinColumns, withChildren } from "../plan/walk.js";
import type { Cardinality } from "./cardinality.js";
import {
  canLookUp,
  hashCost,
  hashCostOf,
  lateralCost,
  looksUpIn,
  lookUpCost,
  nestedLoopCost,
  outputCost,
  readCost,
} from "./join-cost.js";
import { type Input, inputsOfJoins, isDependent, isReorderable, JoinInputs } from "./join-inputs.js";
import { filtered, type Rule, withColumns } from "./rule.js";

export const reorderJoins: Rule = {
  name: "reorder-joins",
  places: [400],
  apply: (plan, cardinality) => reorder(plan, cardinality),
};

/** Inputs up to which all orders are compared: 3^n steps. */
const DYNAMIC_MAX = 10;
/** Joins of two sets that are priced before it is given up: where all inputs connect there are too many orders. */
const TRIED_MAX = 4000;
/** More than this many are left as they were written. */
const INPUTS_MAX = 30;

const AFTER_SELECTIVITY = 1 / 3;

function reorder(plan: Plan, cardinality: Cardinality): Plan {
  if (plan.kind !== "join" || !isReorderable(plan)) {
    return withChildren(
      plan,
      childrenOf(plan).map((child) => reorder(child, cardinality)),
    );
  }
  const parts = inputsOfJoins(plan);
  if (parts.inputs.length < 3 || parts.inputs.length > INPUTS_MAX) {
    return withChildren(
      plan,
      [plan.left, plan.right].map((child) => reorder(child, cardinality)),
    );
  }
  const inputs = parts.inputs.map((input) => ({ ...input, plan: reorder(input.plan, cardinality) }));
  const joins = new JoinInputs(inputs, parts.conditions);
  const found = new Search(joins, cardinality).best();
  return found === null ? plan : withColumns(filtered(found, joins.above), plan.columns);
}

/** A way to join a set of inputs. */
interface Candidate {
  readonly set: number;
  readonly rows: number;
  readonly cost: number;
  readonly plan: () => Plan;
  /** Set when it is a single input. */
  readonly input: Input | null;
  /** Part of the table's rows that a single scan's own conditions leave. */
  readonly kept: number;
}

/** By set, the best way to join it. */
type Table = (Candidate | undefined)[];

function smaller(a: Candidate, b: Candidate): Candidate {
  return b.rows < a.rows || (b.rows === a.rows && b.cost < a.cost) ? b : a;
}

class Search {
  private readonly singles: Candidate[];
  private tried = 0;

  constructor(
    private readonly joins: JoinInputs,
    private readonly cardinality: Cardinality,
  ) {
    this.singles = joins.inputs.map((input, i) => ({
      set: 1 << i,
      rows: cardinality.rows(input.plan),
      cost: readCost(input.plan, cardinality),
      plan: () => input.plan,
      input,
      kept: input.plan.kind === "scan" ? cardinality.rows(input.plan) / cardinality.tableRows(input.plan.table) : 1,
    }));
  }

  best(): Plan | null {
    const found = this.singles.length <= DYNAMIC_MAX ? this.dynamic() : null;
    return (found ?? this.greedy())?.plan() ?? null;
  }

  /** Null when there is no order, or too many. */
  private dynamic(): Candidate | null {
    const { singles } = this;
    const all = (1 << singles.length) - 1;
    const best: Table = new Array(all + 1);
    for (const single of singles) if (!isDependent(single.input!)) best[single.set] = single;
    // Sets that nothing connects are only looked at when there is no other way.
    for (const crossing of [false, true]) {
      for (let set = 1; set <= all; set++) {
        if ((set & (set - 1)) === 0 || best[set] !== undefined) continue;
        this.bestOf(set, best, crossing);
        if (this.tried > TRIED_MAX) return null;
      }
      if (best[all] !== undefined) return best[all];
    }
    return null;
  }

  private bestOf(set: number, best: Table, crossing: boolean): void {
    let known: Candidate | undefined;
    for (let left = (set - 1) & set; left > 0; left = (left - 1) & set) {
      const a = best[left];
      if (a === undefined) continue;
      const right = set ^ left;
      const b = best[right] ?? this.dependent(right);
      if (b === undefined) continue;
      // A single input may be looked up instead of being read.
      const least = b.input === null ? a.cost + b.cost : a.cost;
      if (known !== undefined && least >= known.cost) continue;
      if (!crossing && b.input?.lateral !== true && !this.joins.connects(left, right)) continue;
      const joined = this.join(a, b, crossing, known?.rows ?? null);
      if (joined !== null && (known === undefined || joined.cost < known.cost)) known = joined;
    }
    if (known !== undefined) best[set] = known;
  }

  private dependent(set: number): Candidate | undefined {
    return this.singles.find((single) => single.set === set && isDependent(single.input!));
  }

  private greedy(): Candidate | null {
    let open = [...this.singles];
    let pairs = open.flatMap((a) => open.flatMap((b) => this.pair(a, b, false)));
    while (open.length > 1) {
      const crossing = pairs.length > 0 ? [] : open.flatMap((a) => open.flatMap((b) => this.pair(a, b, true)));
      if (pairs.length + crossing.length === 0) return null;
      const next = [...pairs, ...crossing].reduce(smaller);
      open = open.filter(({ set }) => (set & next.set) === 0);
      pairs = pairs.filter(({ set }) => (set & next.set) === 0);
      for (const other of open) pairs.push(...this.pair(next, other, false), ...this.pair(other, next, false));
      open.push(next);
    }
    return open[0]!;
  }

  private pair(a: Candidate, b: Candidate, crossing: boolean): Candidate[] {
    if (a === b || (a.input !== null && isDependent(a.input))) return [];
    const joined = this.join(a, b, crossing, null);
    return joined === null ? [] : [joined];
  }

  /** Left and right joined by the best method; null when nothing connects them (unless `crossing`) or they may not. */
  private join(a: Candidate, b: Candidate, crossing: boolean, rowsKnown: number | null): Candidate | null {
    this.tried++;
    const { joins, cardinality } = this;
    const type = b.input?.type ?? "inner";
    const lateral = b.input?.lateral === true;
    if (b.input !== null && (b.input.required & ~a.set) !== 0) return null;
    const conditions = type === "inner" ? joins.between(a.set, b.set) : b.input!.conditions;
    if (conditions.length === 0 && type === "inner" && !crossing && !lateral) return null;
    // Conditions of inner joins that read what an outer join adds are for the joined rows.
    const after = type === "inner" ? [] : joins.between(a.set, b.set);
    const rows =
      rowsKnown ??
      Math.max(1, cardinality.joinRows(type, a.rows, b.rows, conditions) * AFTER_SELECTIVITY ** after.length);
    const equal = conditions.some((condition) => condition.kind === "call" && condition.fn.operator === "=");
    let cost = lateral ? a.cost + lateralCost(a.rows, b.cost, rows) : a.cost + b.cost;
    // An inner join's sides are both tried either way.
    const hashed = type === "inner" ? hashCost : hashCostOf;
    if (!lateral) cost += equal ? hashed(a.rows, b.rows, rows) : nestedLoopCost(a.rows, b.rows, rows);
    const right = b.input?.plan;
    const by = right !== undefined && canLookUp(type) ? looksUpIn(right, conditions) : null;
    if (by !== null) {
      const tables = right!.kind === "append" ? right!.inputs.length : 1;
      // A key finds rows that the right side's own conditions may then refuse.
      cost = Math.min(cost, a.cost + lookUpCost(by, a.rows * tables, rows / b.kept) + outputCost(rows));
    }
    return {
      set: a.set | b.set,
      rows,
      cost,
      input: null,
      kept: 1,
      plan: () => filtered(joinOf(type, a.plan(), b.plan(), conditions, lateral), after),
    };
  }
}

function joinOf(type: JoinPlan["type"], left: Plan, right: Plan, conditions: readonly Expr[], lateral: boolean): Plan {
  return Object.freeze({
    kind: "join",
    type,
    left,
    right,
    condition: andOf(conditions),
    lateral,
    columns: joinColumns(type, left, right),
  });
}
