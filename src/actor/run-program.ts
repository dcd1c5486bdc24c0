/** Pulls a program's rows into the form that the client wants, up to the row cap. Called by the session. */
import { sqlError } from "../protocol/errors.js";
import { fromParameter } from "../protocol/json-format.js";
import type { Value } from "../protocol/values.js";
import type { StatementState } from "../query/exec/context.js";
import type { Operator } from "../query/exec/operator.js";
import type { Batch } from "../query/expr/expr.js";
import type { Rows } from "./sql-result.js";
import type { StatementPlan } from "./statement-plan.js";

/**
 * Pulls all rows, or as many as the cap allows; answers whether it cut some off. The operator is closed in every case.
 * What the rows take counts as memory of the statement.
 */
export function collect(
  operator: Operator,
  rows: Rows,
  maxRows: number,
  statement: StatementState,
): boolean | Promise<boolean> {
  let left = maxRows;
  let pending = false;
  try {
    for (;;) {
      const batch = operator.next();
      if (batch instanceof Promise) {
        pending = true;
        return collectLater(batch, operator, rows, left, statement);
      }
      if (batch === null) return false;
      statement.reserve(rows.append(batch, Math.min(batch.length, left)));
      left -= batch.length;
      if (left < 0) return true;
      const room = rows.room?.();
      if (room !== undefined) {
        pending = true;
        const next = room.then(() => operator.next());
        return collectLater(next, operator, rows, left, statement);
      }
    }
  } finally {
    if (!pending) operator.close();
  }
}

async function collectLater(
  first: Promise<Batch | null>,
  operator: Operator,
  rows: Rows,
  maxRows: number,
  statement: StatementState,
): Promise<boolean> {
  let left = maxRows;
  try {
    for (let batch = await first; batch !== null; batch = await operator.next()) {
      statement.reserve(rows.append(batch, Math.min(batch.length, left)));
      left -= batch.length;
      if (left < 0) return true;
      await rows.room?.();
    }
    return false;
  } finally {
    operator.close();
  }
}

const NO_PARAMETERS: readonly Value[] = [];

/** The values of $1, $2, … in the types that the plan expects. Throws 08P01 when their number is wrong. */
export function convertParameters(plan: StatementPlan, params: readonly unknown[]): readonly Value[] {
  const types = plan.parameterTypes;
  if (params.length !== types.length) {
    throw sqlError("08P01", `the statement takes ${types.length} parameters, but ${params.length} were sent`, {
      hint: "Send one value per placeholder, in the order $1, $2, …",
    });
  }
  if (types.length === 0) return NO_PARAMETERS;
  const values = new Array<Value>(types.length);
  for (let i = 0; i < types.length; i++) values[i] = params[i] === null ? null : fromParameter(types[i]!, params[i]);
  return values;
}
