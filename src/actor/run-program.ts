/** Pulls a program's rows into the form that the client wants, up to the row cap. Called by the session. */
import { cypherError } from "../protocol/cypher-error.js";
import { DbError, sqlError } from "../protocol/errors.js";
import { fromParameter } from "../protocol/json-format.js";
import { Overrun } from "../protocol/stretch.js";
import type { Value } from "../protocol/values.js";
import { variantFromJson } from "../protocol/variant-format.js";
import type { StatementState } from "../query/exec/context.js";
import type { Operator } from "../query/exec/operator.js";
import type { Batch } from "../query/expr/expr.js";
import { overrunError } from "./overrun.js";
import type { Rows } from "./sql-result.js";
import type { StatementPlan } from "./statement-plan.js";
import type { ParameterValues } from "./statement-run.js";

/** As `collect`; what has overrun once rows have left ends in an error, since it cannot be run again. */
export function collected(
  operator: Operator,
  rows: Rows,
  maxRows: number,
  statement: StatementState,
): boolean | Promise<boolean> {
  const failed = (error: unknown): never => {
    throw error instanceof Overrun && statement.hasSent ? overrunError() : error;
  };
  try {
    const done = collect(operator, rows, maxRows, statement);
    return done instanceof Promise ? done.catch(failed) : done;
  } catch (error) {
    return failed(error);
  }
}

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
        statement.hasSent = true;
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
      const room = rows.room?.();
      if (room === undefined) continue;
      statement.hasSent = true;
      await room;
    }
    return false;
  } finally {
    operator.close();
  }
}

const NO_PARAMETERS: readonly Value[] = [];

/** The values of $1, $2, … in the types that the plan expects. Throws 08P01 when their number is wrong. */
export function convertParameters(plan: StatementPlan, params: ParameterValues): readonly Value[] {
  const types = plan.parameterTypes;
  if (plan.parameterNames !== null) return namedParameters(plan.parameterNames, params);
  if (!isPositional(params)) throw namedForSql();
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

function isPositional(params: ParameterValues): params is readonly unknown[] {
  return Array.isArray(params);
}

function namedForSql(): DbError {
  return new DbError("invalid_request", "SQL takes its parameters as an array: [value of $1, value of $2, …].", {
    field: "parameters",
  });
}

function positionalForCypher(): DbError {
  return new DbError("invalid_request", "Cypher takes its parameters as an object, not as an array.", {
    field: "parameters",
    hint: 'Send {"name": value} with a value per $name; of $1 the name is "1".',
  });
}

/** Cypher's `$name`. Values that no parameter asks for are passed over; an empty array has none. */
function namedParameters(names: readonly string[], params: ParameterValues): readonly Value[] {
  if (isPositional(params) && params.length > 0) throw positionalForCypher();
  return names.map((name) => {
    if (!Object.hasOwn(params, name)) {
      // Nothing has run yet: openCypher counts it among the errors of compile time.
      throw cypherError("ParameterMissing", "MissingParameter", `The parameter $${name} has no value.`, "compile time");
    }
    return variantFromJson((params as Readonly<Record<string, unknown>>)[name]);
  });
}
