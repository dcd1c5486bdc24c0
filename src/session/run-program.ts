/** Pulls a program's rows into the form that the client wants, up to the row cap. Called by the session. */

import { DbError, sqlError } from "../protocol/errors.js";
import { Overrun } from "../protocol/stretch.js";
import { giveWay, type Turns } from "../protocol/turns.js";
import type { StatementState } from "../query/exec/context.js";
import type { Operator } from "../query/exec/operator.js";
import type { Batch } from "../query/expr/expr.js";
import { cypherError } from "../values/cypher-error.js";
import { fromParameter } from "../values/json-format.js";
import { writeInTurns } from "../values/json-in-turns.js";
import { sqlArray } from "../values/text-format-array.js";
import { costLeft } from "../values/value-cost.js";
import type { Json, SqlArray, SqlType, Value } from "../values/values.js";
import { variantFromJson } from "../values/variant-format.js";
import { appendInTurns, isHeavy } from "./heavy-rows.js";
import { overrunError } from "./overrun.js";
import type { Rows } from "./sql-result.js";
import type { StatementPlan } from "./statement-plan.js";
import type { ParameterValues, StatementRun } from "./statement-run.js";

/** As `collect`; an overrun after rows have been sent is an error, because the statement cannot be run again. */
export function collected(
  operator: Operator,
  rows: Rows,
  maxRows: number,
  statement: StatementState,
  turns: Turns,
): boolean | Promise<boolean> {
  const failed = (error: unknown): never => {
    throw error instanceof Overrun && statement.hasSent ? overrunError() : error;
  };
  try {
    const done = collect(operator, rows, maxRows, statement, turns);
    return done instanceof Promise ? done.catch(failed) : done;
  } catch (error) {
    return failed(error);
  }
}

/**
 * Pulls all rows, or as many as the cap allows; returns whether some were cut off. The operator is always closed. The
 * rows count as memory of the statement.
 */
export function collect(
  operator: Operator,
  rows: Rows,
  maxRows: number,
  statement: StatementState,
  turns: Turns,
): boolean | Promise<boolean> {
  let left = maxRows;
  let pending = false;
  if (rows.takesChunks === true) operator.acceptChunks?.();
  try {
    for (;;) {
      const batch = operator.next();
      if (batch instanceof Promise) {
        pending = true;
        return collectLater(batch, operator, rows, left, statement, turns);
      }
      if (batch === null) return false;
      const taken = take(rows, batch, left, statement, turns);
      left -= batch.length;
      if (taken !== undefined) {
        pending = true;
        const next = taken.then(() => (left < 0 ? null : operator.next()));
        const later = collectLater(next, operator, rows, left, statement, turns);
        return left < 0 ? later.then(() => true) : later;
      }
      if (left < 0) return true;
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
  turns: Turns,
): Promise<boolean> {
  let left = maxRows;
  try {
    for (let batch = await first; batch !== null; batch = await operator.next()) {
      await take(rows, batch, left, statement, turns);
      left -= batch.length;
      if (left < 0) return true;
    }
    return false;
  } finally {
    operator.close();
  }
}

/**
 * A promise where the rows are large, which are then written with turns in between, or the client has to take some
 * first.
 */
function take(
  rows: Rows,
  batch: Batch,
  left: number,
  statement: StatementState,
  turns: Turns,
): Promise<void> | undefined {
  const count = Math.min(batch.length, left);
  const { weight } = rows;
  if (weight !== undefined && weight.heavy.length > 0 && isHeavy(batch, count, weight.heavy)) {
    return appendInTurns(rows, batch, count, turns, statement);
  }
  statement.reserve(rows.append(batch, count));
  if (batch.length > left) return undefined;
  const room = rows.room?.();
  if (room !== undefined) statement.hasSent = true;
  return room;
}

const NO_PARAMETERS: readonly Value[] = [];

function wrongCount(expected: number, sent: number): Error {
  return sqlError(
    "08P01",
    `the statement takes ${expected} parameter${expected === 1 ? "" : "s"}, but ${sent} were sent`,
    {
      hint: "Send one value per placeholder, in the order $1, $2, …",
    },
  );
}

/** The values of $1, $2, … in the types that the plan expects. Throws 08P01 when their number is wrong. */
export function convertParameters(
  plan: StatementPlan,
  params: ParameterValues,
  field = "parameters",
): readonly Value[] {
  const types = plan.parameterTypes;
  if (plan.parameterNames !== null) return namedParameters(plan.parameterNames, params, field, plan.optionalParameters);
  if (!isPositional(params)) throw namedForSql(field);
  if (params.length !== types.length) throw wrongCount(types.length, params.length);
  if (types.length === 0) return NO_PARAMETERS;
  const values = new Array<Value>(types.length);
  for (let i = 0; i < types.length; i++) values[i] = params[i] === null ? null : fromParameter(types[i]!, params[i]);
  return values;
}

/** Items of a list that are made values at once. */
const ITEMS_AT_ONCE = 4096;
/** Parts of a document whose text is made only when it is stored. */
const PARTS_AT_ONCE = 4096;
/** Characters of texts, and numbers in arrays, that are converted at once: half a millisecond's, as of vectors. */
const LENGTH_AT_ONCE = 65_536;

/** To the clock while so much is converted. */
const LOOKS = 8;

/** Values that were made of long lists and large objects: a statement that is run again finds them. */
const madeBefore = new WeakMap<object, { readonly type: SqlType; readonly value: Value }>();

/** The values of a run's parameters, which may have come as values. */
export function parametersOf(plan: StatementPlan, run: StatementRun): readonly Value[] {
  if (run.variables !== undefined) return run.variables;
  return run.declared === undefined ? convertParameters(plan, run.params, run.paramsField) : givenValues(plan, run);
}

/** Throws 08P01 when their number is wrong. */
export function givenValues(plan: StatementPlan, { params }: StatementRun): readonly Value[] {
  const values = params as readonly Value[];
  if (values.length !== plan.parameterTypes.length) throw wrongCount(plan.parameterTypes.length, values.length);
  return values;
}

/**
 * As `convertParameters`; many values and long lists are converted in turns, and large documents written as they will
 * be stored.
 */
export function parametersInTurns(
  plan: StatementPlan,
  params: ParameterValues,
  turns: Turns,
  field?: string,
): readonly Value[] | Promise<readonly Value[]> {
  if (!isPositional(params) || plan.parameterNames !== null) return convertParameters(plan, params, field);
  const types = plan.parameterTypes;
  if (params.length !== types.length) return convertParameters(plan, params, field);
  let length = types.length;
  for (let i = 0; i < types.length; i++) {
    const given = params[i];
    length += lengthOf(given);
    if (length > LENGTH_AT_ONCE || isLongList(types[i]!, given) || isDocument(types[i]!, given))
      return convertInTurns(types, params, turns);
  }
  return convertParameters(plan, params, field);
}

const lengthOf = (given: unknown): number => (typeof given === "string" || Array.isArray(given) ? given.length : 0);

const isLongList = (type: SqlType, given: unknown): given is readonly unknown[] =>
  type.element !== null && Array.isArray(given) && given.length > ITEMS_AT_ONCE;

const isDocument = (type: SqlType, given: unknown): given is object =>
  type.name === "jsonb" && typeof given === "object" && given !== null && costLeft(given, PARTS_AT_ONCE) < 0;

async function convertInTurns(
  types: readonly SqlType[],
  params: readonly unknown[],
  turns: Turns,
): Promise<readonly Value[]> {
  const values: Value[] = [];
  let length = 0;
  for (const [i, type] of types.entries()) {
    const given = params[i];
    length += 1 + lengthOf(given);
    if (length > LENGTH_AT_ONCE / LOOKS) {
      length = 0;
      await giveWay(turns);
    }
    if (isLongList(type, given)) values.push(await arrayInTurns(type, given, turns));
    else if (isDocument(type, given)) values.push(await documentInTurns(type, given, turns));
    else values.push(fromParameter(type, given));
  }
  return values;
}

async function documentInTurns(type: SqlType, given: object, turns: Turns): Promise<Value> {
  const made = madeBefore.get(given);
  if (made !== undefined && made.type === type) return made.value;
  const value = fromParameter(type, given) as Json;
  await writeInTurns(value, turns);
  madeBefore.set(given, { type, value });
  return value;
}

async function arrayInTurns(type: SqlType, given: readonly unknown[], turns: Turns): Promise<Value> {
  const made = madeBefore.get(given);
  if (made !== undefined && made.type === type) return made.value;
  const elements: Value[] = [];
  for (let at = 0; at < given.length; at += ITEMS_AT_ONCE) {
    const part = fromParameter(type, given.slice(at, at + ITEMS_AT_ONCE)) as SqlArray;
    // Lists in the list are further dimensions.
    if (part.dimensions.length !== 1) return fromParameter(type, given);
    for (const element of part.elements) elements.push(element);
    if (turns.shouldYield()) await turns.yieldTurn();
  }
  const value = sqlArray(elements);
  madeBefore.set(given, { type, value });
  return value;
}

function isPositional(params: ParameterValues): params is readonly unknown[] {
  return Array.isArray(params);
}

function namedForSql(field: string): DbError {
  return new DbError("invalid_request", "SQL takes its parameters as an array: [value of $1, value of $2, …].", {
    field,
  });
}

function positionalForCypher(field: string): DbError {
  return new DbError("invalid_request", "Cypher takes its parameters as an object, not as an array.", {
    field,
    hint: 'Send {"name": value} with a value per $name. The name of $1 is "1".',
  });
}

/** Cypher's `$name`. Values that no parameter asks for are passed over; an empty array has none. */
function namedParameters(
  names: readonly string[],
  params: ParameterValues,
  field: string,
  optional?: ReadonlySet<string>,
): readonly Value[] {
  if (isPositional(params) && params.length > 0) throw positionalForCypher(field);
  return names.map((name) => {
    if (!Object.hasOwn(params, name)) {
      if (optional?.has(name)) return null;
      // Nothing has run yet: openCypher counts it among the errors of compile time.
      throw cypherError("ParameterMissing", "MissingParameter", `The parameter $${name} has no value.`, "compile time");
    }
    return variantFromJson((params as Readonly<Record<string, unknown>>)[name]);
  });
}
