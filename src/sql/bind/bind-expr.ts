/**
 * Expressions: resolves names, chooses overloads, types literals and parameters. The result may still be of unknown
 * type (a bare literal or parameter); the caller decides what it becomes (coerce.ts).
 *
 * Called by the binders of every clause. Larger groups of nodes have files of their own: comparisons, calls,
 * subqueries.
 */

import { sqlError } from "../../protocol/errors.js";
import { withMadeCasts } from "../../query/expr/coercion.js";
import type { Expr } from "../../query/expr/expr.js";
import { isFunctionName, resolveFunction } from "../../query/expr/resolve.js";
import { categoryOf } from "../../query/expr/types.js";
import { bitsFromText } from "../../values/bit-string.js";
import { isNamedOid } from "../../values/catalog-types.js";
import { arrayOf, BIT, BOOL, INT4, type SqlType, UNKNOWN } from "../../values/values.js";
import type {
  ArrayNode,
  BitStringNode,
  CaseNode,
  CastNode,
  ColumnNode,
  ExprNode,
  ValueFunctionNode,
} from "../parse/ast-query.js";
import { startOf } from "../parse/expr-start.js";
import { plainCall } from "../parse/plain-call.js";
import { ancestorRow } from "./ancestor-row.js";
import { arrayConstructor } from "./array-functions.js";
import { bindAggregateCall, bindFunctionCall, bindGrouping, isAggregateCall } from "./bind-call.js";
import { bindBetween, bindDistinctFrom, bindIn, bindNullIf, bindOperator, bindQuantified } from "./bind-comparison.js";
import { type ExprContext, withoutSets } from "./bind-context.js";
import { bindRoutineCall } from "./bind-routine-call.js";
import { bindField, bindRow, bindWholeRow, rowOfRelation } from "./bind-row.js";
import { bindSubquery } from "./bind-subquery.js";
import { bindSubscript } from "./bind-subscript.js";
import { bindType } from "./bind-type.js";
import { bindWindowCall } from "./bind-window.js";
import {
  coerceBoolean,
  coerceCommon,
  coerceExplicit,
  commonTypeOf,
  constant,
  resolveUnknown,
  typeName,
  withPosition,
} from "./coerce.js";
import { caseOf } from "./logic.js";
import { aggregatesMeant } from "./made-aggregate.js";
import { numberConstant } from "./number-constant.js";
import { routinesNamed } from "./resolve-routine.js";
import { type ScopeItem, TABLE_OID, VARIABLES } from "./scope.js";
import { storedEnvironment } from "./stored-names.js";
import { isSystemFunction } from "./system/system-functions.js";

export function bindExpr(node: ExprNode, context: ExprContext): Expr {
  const expr = bindNode(node, context);
  context.binding.noted.printed?.exprs.set(node, expr);
  return expr;
}

function bindNode(node: ExprNode, context: ExprContext): Expr {
  const { binding } = context;
  const { position } = node;
  switch (node.kind) {
    case "null":
      return constant(UNKNOWN, null);
    case "boolean":
      return constant(BOOL, node.value);
    case "integer":
      return constant(INT4, node.value);
    case "number":
      return numberConstant(node.text);
    case "string":
      return constant(UNKNOWN, node.value);
    case "bits":
      return bitString(node);
    case "parameter":
      return context.scope.functionParameter(node.index, position) ?? binding.parameter(node.index, position);
    case "column":
      return bindColumn(node, context);
    case "and":
    case "or": {
      // Operands behind the one that decides are not evaluated.
      const inside = context.mayWait ? { ...context, mayWait: false } : context;
      const args = node.args.map((arg) => bindBoolean(arg, node.kind.toUpperCase(), inside));
      return Object.freeze({ kind: node.kind, type: BOOL, args });
    }
    case "not":
      return Object.freeze({ kind: "not", type: BOOL, input: bindBoolean(node.input, "NOT", context) });
    case "is null": {
      const input = resolveUnknown(bindExpr(node.input, context), binding);
      return Object.freeze({ kind: "isnull", type: BOOL, input, negated: node.negated });
    }
    case "is boolean":
      return bindBooleanTest(bindBoolean(node.input, "IS", context), node.value, node.negated);
    case "case":
      return bindCase(node, context);
    case "cast":
      return bindCast(node, context);
    case "call": {
      const routines = routinesNamed(node.path, binding.env);
      if (routines.length > 0) {
        const aggregates = aggregatesMeant(node, routines, context, bindExpr);
        if (aggregates !== null) {
          const bindMade = node.over === null ? bindAggregateCall : bindWindowCall;
          return bindMade(node, context, bindExpr, aggregates);
        }
        const routine = bindRoutineCall(node, context, bindExpr);
        if (routine !== null) return routine;
      }
      if (node.over !== null) return bindWindowCall(node, context, bindExpr);
      if (isAggregateCall(node)) return bindAggregateCall(node, context, bindExpr);
      return bindFunctionCall(node, context, bindExpr);
    }
    case "merge action": {
      const action = context.scope.mergeActionHere();
      if (action !== null) return action;
      throw sqlError("42601", "MERGE_ACTION() can only be used in the RETURNING list of a MERGE command", {
        position: node.position,
      });
    }
    case "grouping":
      return bindGrouping(node, context, bindExpr);
    case "subquery":
      return bindSubquery(node, context, bindExpr);
    default:
      return bindOther(node, context);
  }
}

function bindOther(node: ExprNode, context: ExprContext): Expr {
  const { binding } = context;
  const { position } = node;
  switch (node.kind) {
    case "stored":
      // No cast that a statement made since may change what indexes hold.
      return withMadeCasts(null, () =>
        binding.within(storedEnvironment(node.schema, binding), () => bindExpr(node.input, context)),
      );
    case "operator":
      return bindOperator(node, context, bindExpr);
    case "quantified":
      return bindQuantified(node, context, bindExpr);
    case "distinct from":
      return bindDistinctFrom(node, context, bindExpr);
    case "between":
      return bindBetween(node, context, bindExpr);
    case "in":
      return bindIn(node, context, bindExpr);
    case "nullif":
      return bindNullIf(node, context, bindExpr);
    case "coalesce":
    case "greatest":
    case "least":
      return bindCommonCall(
        node.kind,
        node.args,
        node.kind === "coalesce" ? withoutSets(context, "COALESCE") : context,
        position,
      );
    case "array":
      return bindArray(node, context, null);
    case "subscript":
      return bindSubscript(node, context, bindExpr);
    case "value function":
      return bindValueFunction(node, context);
    case "row":
      return bindRow(node, context, bindExpr);
    case "field":
      return bindField(node, context, bindExpr);
    case "collate":
      return bindCollate(bindExpr(node.input, context), node.collation.at(-1) ?? "", position);
    case "default":
      throw sqlError("42601", "DEFAULT is not allowed in this context", { position });
    default:
      throw sqlError("0A000", `${UNSUPPORTED[node.kind] ?? node.kind} is not supported yet`, { position });
  }
}

const UNSUPPORTED: Partial<Record<ExprNode["kind"], string>> = {};

/** A condition; `what` names its place in the error 42804. */
export function bindBoolean(node: ExprNode, what: string, context: ExprContext): Expr {
  return coerceBoolean(bindExpr(node, context), what, context.binding, startOf(node));
}

/** B'101' and X'1F'. */
function bitString({ text, position }: BitStringNode): Expr {
  return withPosition(position, () => constant(BIT, bitsFromText(text)));
}

function bindColumn(node: ColumnNode, context: ExprContext): Expr {
  const { scope, binding } = context;
  const { position, path } = node;
  if (node.star) {
    if (path.length > 0) return bindWholeRow(node, context)!;
    throw sqlError("42601", 'row expansion via "*" is not supported here', { position });
  }
  if (path.length > 3) {
    throw sqlError("42601", `improper qualified name (too many dotted names): ${path.join(".")}`, { position });
  }
  let found: ReturnType<typeof scope.resolve>;
  try {
    found = scope.resolve(node);
  } catch (error) {
    const row = bindWholeRow(node, context) ?? attributeCall(node, context);
    if (row !== null) return row;
    throw error;
  }
  const { expr, item, outer } = found;
  binding.noted.printed?.columns.set(node, found);
  if (item.own !== undefined) binding.noted.own.set(node, item.own);
  if (expr.kind !== "column") return storedIn(found.name, expr, item, context);
  // A fresh node per reference: messages about grouping need to know where this one stands.
  const name = (outer || scope.items.length > 1) && item.name !== null ? `${item.name}.${found.name}` : found.name;
  return binding.setPosition(Object.freeze({ ...expr, name }), position);
}

/** `t.f` for `f(t)`, of a function that a statement made; null when there is none or no relation has the name. */
function attributeCall(node: ColumnNode, context: ExprContext): Expr | null {
  const [relation, name] = node.path;
  if (node.path.length !== 2 || !context.scope.isRelation(relation!)) return null;
  if (routinesNamed([name!], context.binding.env).length === 0) return null;
  const value: ExprNode = { ...node, path: [relation!], star: true };
  const { position } = node;
  const call = plainCall([name!], [value], position);
  return bindRoutineCall(call, context, bindExpr);
}

/** A system column, which a row that an outer join did not find has none of. */
function storedIn(name: string, found: Expr, item: ScopeItem, { binding }: ExprContext): Expr {
  const perhapsMissing =
    item !== VARIABLES && item.columns.every(({ expr }) => expr.kind === "column" && binding.isMissing(expr.id));
  if (!(name === TABLE_OID || item.hidden?.has(name)) || !perhapsMissing) return found;
  const missing: Expr = Object.freeze({
    kind: "isnull",
    type: BOOL,
    input: rowOfRelation(item, binding),
    negated: false,
  });
  return caseOf(found.type, [[missing, constant(found.type, null)]], found);
}

/** `x IS [NOT] TRUE`, FALSE or UNKNOWN, which are never NULL themselves. */
function bindBooleanTest(input: Expr, value: boolean | null, negated: boolean): Expr {
  if (value === null) return Object.freeze({ kind: "isnull", type: BOOL, input, negated });
  const when: Expr = value ? input : Object.freeze({ kind: "not", type: BOOL, input });
  return caseOf(BOOL, [[when, constant(BOOL, !negated)]], constant(BOOL, negated));
}

function bindCase(node: CaseNode, outside: ExprContext): Expr {
  const context = withoutSets(outside, "CASE");
  const { binding } = context;
  const { position } = node;
  const whens = node.branches.map(({ when }) => {
    if (node.input === null) return bindBoolean(when, "CASE/WHEN", context);
    const comparison = { name: "=", schema: "pg_catalog", left: node.input, right: when, position };
    return bindOperator({ kind: "operator", ...comparison }, context, bindExpr);
  });
  const values = node.branches.map(({ result }) => bindExpr(result, context));
  const otherwise = node.otherwise === null ? null : bindExpr(node.otherwise, context);
  // PostgreSQL looks at ELSE first.
  const results = node.branches.map(({ result }) => startOf(result));
  const type =
    otherwise === null
      ? commonTypeOf(values, "CASE", binding, results)
      : commonTypeOf([otherwise, ...values], "CASE", binding, [startOf(node.otherwise!), ...results]);
  const as = (expr: Expr) => coerceCommon(expr, type, "CASE", binding, position);
  const branches = whens.map((when, i) => [when, as(values[i]!)] as const);
  return caseOf(type, branches, otherwise === null ? null : as(otherwise));
}

function bindCast(node: CastNode, context: ExprContext): Expr {
  const { input, position } = node;
  const type = bindType(node.type, context.binding);
  if (input.kind === "array" && type.element !== null) {
    let array = type;
    while (array.user?.kind === "domain") array = array.user.base!;
    const made = bindArray(input, context, array);
    return array === type ? made : coerceExplicit(made, type, context.binding, position);
  }
  const at = input.position > 0 ? input.position : position;
  const expr = bindExpr(input, context);
  return ancestorRow(expr, type, context.binding) ?? coerceExplicit(expr, type, context.binding, at);
}

/** COALESCE, GREATEST and LEAST: all arguments of one type. */
function bindCommonCall(name: string, nodes: readonly ExprNode[], context: ExprContext, position: number): Expr {
  const { binding } = context;
  const construct = name.toUpperCase();
  const given = nodes.map((node) => bindExpr(node, context));
  const type = commonTypeOf(given, construct, binding, nodes.map(startOf));
  const args = given.map((arg) => coerceCommon(arg, type, construct, binding, position));
  const { fn } = resolveFunction(
    name,
    args.map((arg) => arg.type),
    position,
  );
  // Values that are all of one domain are so afterwards, and so are OIDs that are written as names.
  const isKept = type.user?.kind === "domain" || isNamedOid(type.element ?? type);
  return Object.freeze({ kind: "call", type: isKept ? type : fn.returns, fn, args });
}

/** `ARRAY[…]`; `type` is what a cast around it asks for. */
function bindArray(node: ArrayNode, context: ExprContext, type: SqlType | null): Expr {
  const { binding } = context;
  const { position } = node;
  const nested = node.elements.length > 0 && node.elements.every((element) => element.kind === "array");
  const given = node.elements.map((element) =>
    nested ? bindArray(element as ArrayNode, context, type) : bindExpr(element, context),
  );
  if (given.length === 0) {
    if (type === null) {
      throw sqlError("42P18", "cannot determine type of empty array", {
        position,
        hint: "Explicitly cast to the desired type, for example ARRAY[]::integer[].",
      });
    }
    return coerceExplicit(constant(type, { elements: [], dimensions: [], lowerBounds: [] }), type, binding, position);
  }
  const wanted =
    type === null ? commonTypeOf(given, "ARRAY", binding, node.elements.map(startOf)) : nested ? type : type.element!;
  const elements = given.map((expr) =>
    type === null
      ? coerceCommon(expr, wanted, "ARRAY", binding, position)
      : coerceExplicit(expr, wanted, binding, position),
  );
  // An array within an array is a further dimension, unless it is one of a domain.
  const result = wanted.element === null || wanted.user !== undefined ? arrayOf(wanted) : wanted;
  return Object.freeze({ kind: "call", type: result, fn: arrayConstructor(wanted, elements.length), args: elements });
}

/** Value functions of the date and time, as casts of the transaction's start. */
const TIME_FUNCTIONS: Readonly<Record<string, SqlType["name"]>> = {
  current_date: "date",
  current_time: "timetz",
  current_timestamp: "timestamptz",
  localtime: "time",
  localtimestamp: "timestamp",
};

function bindValueFunction(node: ValueFunctionNode, context: ExprContext): Expr {
  const { position, precision } = node;
  const time = TIME_FUNCTIONS[node.name];
  if (time === undefined) {
    const known = isFunctionName(node.name) || isSystemFunction(node.name);
    const name = known ? node.name : "current_user";
    return bindFunctionCall(plainCall([name], [], position), context, bindExpr);
  }
  const now = bindFunctionCall(plainCall(["now"], [], position), context, bindExpr);
  const modifiers = precision === null ? [] : [{ kind: "integer", value: precision, position } as const];
  const type = { name: time, schema: null, modifiers, arrayDimensions: 0, setOf: false, position };
  return coerceExplicit(now, bindType(type, context.binding), context.binding, position);
}

/** Text is compared by code point everywhere, which is the collation "C". */
function bindCollate(input: Expr, collation: string, position: number): Expr {
  if (!["C", "POSIX", "default", "ucs_basic"].includes(collation)) {
    const message = `collation "${collation}" for encoding "UTF8" does not exist`;
    throw sqlError("42704", message, { position });
  }
  if (!["S", "X"].includes(categoryOf(input.type.element ?? input.type))) {
    throw sqlError("42804", `collations are not supported by type ${typeName(input.type)}`, { position });
  }
  return input;
}
