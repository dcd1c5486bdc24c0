/** Functions in FROM: what they return as columns, with their aliases and definitions. Called by bind-from.ts. */
import { sqlError } from "../../protocol/errors.js";
import type { EvalContext } from "../../query/expr/expr.js";
import { isTableFunctionName } from "../../query/expr/resolve.js";
import {
  needsDefinition,
  recordRows,
  shapeColumns,
  type TableFunction,
  valueRows,
} from "../../query/expr/table-function.js";
import { baseType, displayName } from "../../query/expr/types.js";
import type { OutputColumn, Plan, SetCall } from "../../query/plan/plan.js";
import { INT8, type RecordField, recordName, recordOf, type SqlType, type Value } from "../../values/values.js";
import type { CallNode, ColumnSpec, ExprNode, FromFunction } from "../parse/ast-query.js";
import { contextOf, type ExprContext } from "./bind-context.js";
import { bindExpr } from "./bind-expr.js";
import { bindRoutineRows } from "./bind-routine-call.js";
import { resolveSetCall } from "./bind-set-call.js";
import { bindType } from "./bind-type.js";
import type { Binding } from "./binding.js";
import { resolveUnknown } from "./coerce.js";
import { asToRecord } from "./json-record-checks.js";
import { outputName } from "./output-name.js";
import { withoutVoids } from "./parameter-names.js";
import type { Scope } from "./scope.js";

/** Rows of one or several functions; `name` is what they are called together without an alias. */
export interface BoundFunctions {
  readonly plan: Plan;
  readonly columns: readonly OutputColumn[];
  readonly name: string;
  /** One function that returns a value, not rows: the whole of it is that value. */
  readonly scalar: boolean;
}

/** A call with the names of its columns; `name` is null for those that take the alias's. */
interface NamedCall {
  readonly call: SetCall;
  readonly names: readonly (string | null)[];
  readonly functionName: string;
}

/** `lateral`: the scope of the items to the left of the function, whose columns its arguments may read. */
export function bindFunctions(node: FromFunction, lateral: Scope, binding: Binding): BoundFunctions {
  const context: ExprContext = {
    ...contextOf(binding, lateral, "functions in FROM"),
    setsRefused: "set-returning functions must appear at top level of FROM",
  };
  const several = node.functions.length > 1;
  if (several && node.columns.length > 0) {
    throw sqlError("42601", "ROWS FROM() with multiple functions cannot have a column definition list", {
      position: node.columns[0]!.type.position,
      hint: "Put a separate column definition list for each function inside ROWS FROM().",
    });
  }
  if (node.ordinality && !several && node.columns.length > 0) {
    throw sqlError("42601", "WITH ORDINALITY cannot be used with a column definition list", {
      position: node.columns[0]!.type.position,
      hint: "Put the column definition list inside ROWS FROM().",
    });
  }
  const calls = node.functions.flatMap(({ call, columns }) =>
    bindOne(call, columns.length > 0 ? columns : node.columns, context),
  );
  const alone = calls.length === 1 && !node.ordinality;
  const alias = calls.length === 1 ? (node.alias?.name ?? null) : null;
  const columns = calls.flatMap(({ call, names, functionName }) =>
    shapeColumns(call.shape, functionName).map(({ type }, i) =>
      binding.newColumn(names[i] ?? alias ?? functionName, type, true),
    ),
  );
  if (node.ordinality) columns.push(binding.newColumn("ordinality", INT8, false));
  const name = node.alias?.name ?? calls[0]!.functionName;
  const plan: Plan = Object.freeze({
    kind: "tablefunction",
    alias: name,
    calls: calls.map(({ call }) => call),
    ordinality: node.ordinality,
    columns,
  });
  return { plan, columns, name, scalar: alone && calls[0]!.call.shape.fields === undefined };
}

function bindOne(given: ExprNode, definition: readonly ColumnSpec[], context: ExprContext): NamedCall[] {
  const node = withoutVoids(given, context.binding);
  const functionName = outputName(node);
  if (node.kind === "call" && isTableFunctionName(functionName)) {
    // unnest(a, b) is ROWS FROM (unnest(a), unnest(b))
    const parts =
      functionName === "unnest" && node.args.length > 1 ? node.args.map((arg) => ({ ...node, args: [arg] })) : [node];
    return parts.map((part) => bindSet(part, functionName, definition, context));
  }
  const bare = node.kind === "call" && definition.length > 0 ? withoutBase(node, functionName, context) : null;
  if (bare !== null) return [bindSet(bare, functionName, definition, context)];
  const routine = node.kind === "call" ? bindRoutineRows(node, context, bindExpr) : null;
  if (routine !== null) {
    const { call, out, column } = routine;
    const shape = defined(call.shape, definition, out, node.position, context.binding);
    return [{ call: { ...call, shape }, names: namesOf(shape, column), functionName }];
  }
  const value = resolveUnknown(bindExpr(node, context), context.binding);
  const shape = defined(value.type, definition, false, node.position, context.binding);
  const call = { fn: oneRow(functionName, value.type), args: [value], shape };
  return [{ call, names: namesOf(shape, null), functionName }];
}

function withoutBase(node: CallNode, name: string, context: ExprContext): CallNode | null {
  const [first] = node.args;
  return first?.value.kind === "cast" ? asToRecord(node, name, bindExpr(first.value, context).type) : null;
}

function bindSet(
  node: CallNode,
  functionName: string,
  definition: readonly ColumnSpec[],
  context: ExprContext,
): NamedCall {
  const given = resolveSetCall(node, context, bindExpr);
  const call = definition.length === 0 ? withShape(given, node.position, context) : given;
  const hasColumns = call.fn.returns.fields !== undefined && recordName(call.fn.returns) === null;
  const isUnnest = call.fn.name === "unnest" && call.fn.args[0]!.element !== null;
  const isKnown = (hasColumns && !isUnnest) || call !== given;
  const shape = defined(call.shape, definition, isKnown, node.position, context.binding);
  return { call: { ...call, shape }, names: namesOf(shape, call.fn.column ?? null), functionName };
}

/** Of a function whose constant arguments tell its row. */
function withShape(call: SetCall, position: number, { binding }: ExprContext): SetCall {
  const { shapeOf } = binding.env;
  if (call.fn.shapeOf === undefined || shapeOf === undefined) return call;
  const values = call.args.map((arg) => {
    if (arg.kind === "const" && arg.value !== null) return arg.value;
    throw sqlError("42P10", `arguments of ${call.fn.name} must be constants where its columns are not named`, {
      position,
      hint: `Name the columns: ${call.fn.name}(…) AS t(a integer, b text).`,
    });
  });
  return { ...call, shape: shapeOf(call.fn, values) };
}

function namesOf(shape: SqlType, fixed: string | null): (string | null)[] {
  return shape.fields === undefined ? [fixed] : shape.fields.map((field) => field.name);
}

/**
 * The type of a row, by the call's column definition list where there is one. `out`: the function declares its columns.
 * Throws 42601 for a list that is missing or out of place, 42804 when it is not what the function returns.
 */
function defined(
  returns: SqlType,
  definition: readonly ColumnSpec[],
  out: boolean,
  position: number,
  binding: Binding,
): SqlType {
  const isRecord = returns.name === "record" && recordName(returns) === null && !out;
  if (definition.length === 0) {
    if (!isRecord) return returns;
    throw sqlError("42601", 'a column definition list is required for functions returning "record"', { position });
  }
  const at = { position: definition[0]!.type.position };
  if (out) throw sqlError("42601", "a column definition list is redundant for a function with OUT parameters", at);
  if (recordName(returns) !== null && returns.name === "record") {
    throw sqlError(
      "42601",
      "a column definition list is redundant for a function returning a named composite type",
      at,
    );
  }
  if (!isRecord) {
    throw sqlError("42601", 'a column definition list is only allowed for functions returning "record"', at);
  }
  const fields = definition.map(({ name, type }): RecordField => ({ name, type: bindType(type, binding) }));
  const twice = fields.find(({ name }, i) => fields.findIndex((other) => other.name === name) < i);
  if (twice !== undefined) throw sqlError("42701", `column name "${twice.name}" specified more than once`, at);
  if (needsDefinition(returns)) return recordOf(fields);
  checkRow(returns.fields!, fields);
  // A field that is called `record` keeps what is known of it.
  return recordOf(fields.map(({ name }, i) => ({ name, type: returns.fields![i]!.type })));
}

function checkRow(returned: readonly RecordField[], wanted: readonly RecordField[]): void {
  const message = "function return row and query-specified return row do not match";
  if (returned.length !== wanted.length) {
    const count = returned.length === 1 ? "1 attribute" : `${returned.length} attributes`;
    throw sqlError("42804", message, { detail: `Returned row contains ${count}, but query expects ${wanted.length}.` });
  }
  returned.forEach(({ type }, i) => {
    const expected = wanted[i]!.type;
    if (baseType(type) === baseType(expected)) return;
    if (type.name === expected.name && (type.element ?? type).name === "record") return;
    const detail = `Returned type ${displayName(type)} at ordinal position ${i + 1}, but query expects ${displayName(expected)}.`;
    throw sqlError("42804", message, { detail });
  });
}

/** A scalar function in FROM gives one row; of a record, its fields. */
function oneRow(name: string, type: SqlType): TableFunction {
  return Object.freeze({
    name,
    args: [type],
    returns: type,
    strict: false,
    open: (_context: EvalContext, [value]: readonly Value[], shape: SqlType) =>
      shape.fields === undefined ? valueRows([value!]) : recordRows([(value ?? []) as readonly Value[]]),
  });
}
