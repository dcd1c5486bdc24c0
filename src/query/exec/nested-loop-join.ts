/** A join on any condition, or none: every right row is a candidate for every left row. */
import type { JoinPlan } from "../plan/plan.js";
import { JoinOperator, type JoinProgram, type Matcher } from "./join-rows.js";
import type { Open } from "./operator.js";
import { RowBuffer } from "./row-buffer.js";
import { compileCondition, slotsOf } from "./slots.js";

export function compileNestedLoopJoin(plan: JoinPlan, left: Open, right: Open): Open {
  const program: JoinProgram = {
    type: plan.type,
    leftWidth: plan.left.columns.length,
    rightWidth: plan.right.columns.length,
    condition: compileCondition(plan.condition, slotsOf([...plan.left.columns, ...plan.right.columns])),
  };
  return (context) => {
    const rows = new RowBuffer(plan.right.columns, context);
    return new JoinOperator(program, left(context), right(context), rows, everyRow(rows), context);
  };
}

function everyRow(rows: RowBuffer): Matcher {
  return {
    bytes: 0,
    build() {},
    probe() {},
    first: () => (rows.length > 0 ? 0 : -1),
    following: (candidate) => (candidate + 1 < rows.length ? candidate + 1 : -1),
    release() {},
  };
}
