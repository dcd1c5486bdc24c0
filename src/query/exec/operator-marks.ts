/**
 * Marks in shared memory which operator is at work, so that another thread can tell where a statement does not give
 * way. The place of the mark is set once per thread; until then nobody reads it.
 */
import type { Plan } from "../plan/plan.js";
import { AroundOperator } from "./around-operator.js";
import type { Open, Operator, Pulled } from "./operator.js";

const KINDS: Readonly<Record<Plan["kind"], true>> = {
  scan: true,
  textsearch: true,
  pointget: true,
  indexscan: true,
  values: true,
  tablefunction: true,
  projectset: true,
  deferred: true,
  project: true,
  filter: true,
  join: true,
  hashjoin: true,
  mergejoin: true,
  aggregate: true,
  window: true,
  sort: true,
  topn: true,
  limit: true,
  lock: true,
  distinct: true,
  setop: true,
  append: true,
  with: true,
  commonscan: true,
  recursive: true,
  expand: true,
  expandpath: true,
  countwalks: true,
  match: true,
  insert: true,
  update: true,
  merge: true,
  delete: true,
  graphwrite: true,
};

/** By number; 0 stands for none. */
export const OPERATOR_NAMES: readonly string[] = ["", ...Object.keys(KINDS)];

const NUMBERS = new Map(OPERATOR_NAMES.map((name, number) => [name, number]));

let mark: Int32Array = new Int32Array(1);

/** Operators of this thread are marked there from now on. */
export function markOperatorsIn(memory: Int32Array): void {
  mark = memory;
}

/** Around an operator whose batches may take long. */
export function marking(plan: Plan, open: Open): Open {
  const number = NUMBERS.get(plan.kind)!;
  return (context) => new MarkingOperator(open(context), number);
}

/** Costs a point read more than all else that marks do; and it ends at once. */
export function isPointRead(plan: Plan): boolean {
  if (plan.kind === "pointget") return true;
  return (plan.kind === "project" || plan.kind === "limit") && isPointRead(plan.input);
}

class MarkingOperator extends AroundOperator {
  constructor(
    operator: Operator,
    private readonly number: number,
  ) {
    super(operator);
  }

  override next(): Pulled {
    const outer = mark[0]!;
    mark[0] = this.number;
    const batch = this.operator.next();
    // Whoever asked goes on with it.
    mark[0] = outer;
    if (!(batch instanceof Promise)) return batch;
    return batch.then((arrived) => {
      mark[0] = outer;
      return arrived;
    });
  }
}
