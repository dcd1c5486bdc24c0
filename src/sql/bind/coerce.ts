/**
 * Giving an expression the type that its place asks for: quoted literals and parameters take it, other values are
 * converted where PostgreSQL would do so by itself (chapter 10 of its manual).
 */

import { DbError, sqlError } from "../../protocol/errors.js";
import { canCoerce, commonType, isBinaryCoercible, madeCast } from "../../query/expr/coercion.js";
import type { ConstExpr, Expr } from "../../query/expr/expr.js";
import { OPERATORS } from "../../query/expr/functions/registry.js";
import { TEXT_SCORE } from "../../query/expr/functions/text-search.js";
import { isReadByStyle } from "../../query/expr/style-dependence.js";
import { baseType, categoryOf, displayName } from "../../query/expr/types.js";
import { isNamedOid } from "../../values/catalog-types.js";
import { namedByPart } from "../../values/range.js";
import { fromText } from "../../values/text-format.js";
import { arrayOf, BOOL, FLOAT8, INT4, type SqlType, TEXT, UNKNOWN, type Value } from "../../values/values.js";
import type { Binding } from "./binding.js";
import { checkedAs, hasDomain, withoutDomains } from "./domain-checks.js";
import { madeCastOf, madeCastOfElements } from "./made-cast.js";
import { rowConstructor } from "./record-functions.js";
import { holdsNames, namedOidInput, namedOidOutput, withName } from "./system/define-function.js";

export function constant(type: SqlType, value: Value): ConstExpr {
  return Object.freeze({ kind: "const", type, value });
}

/** As messages name a type: without its modifier. */
export const typeName = (type: SqlType) => displayName(baseType(type));

export const isUnknown = (expr: Expr) => expr.type.name === "unknown";

/** Types whose text means something else at another time or in another time zone: read when the statement runs. */
const LATE_TYPES = new Set(["timestamptz", "timetz", "tstzrange", "tstzmultirange"]);
const DATE_TYPES = new Set(["date", "time", "timestamp"]);
const RELATIVE_DATE = /^\s*(?:now|today|tomorrow|yesterday)\b/i;

/**
 * A quoted literal as a value of a type. `stored`: text too long for the type is refused, where a written cast cuts
 * it. Throws what reading the text throws (22P02, 22007, …), with the position.
 */
function literal(text: string, type: SqlType, position: number, stored: boolean, binding: Binding): Expr {
  if (hasDomain(type)) {
    return checkedAs(literal(text, withoutDomains(type), position, stored, binding), type, binding);
  }
  const base = baseType(type);
  if (
    LATE_TYPES.has(namedByPart(base)) ||
    isReadByStyle(text, base) ||
    (DATE_TYPES.has(base.name) && RELATIVE_DATE.test(text))
  ) {
    return cast(constant(TEXT, text), type, stored, binding);
  }
  // The fields of an interval type say what a bare number in the text counts.
  const read = stored || base.name === "interval" ? type : base;
  return cast(
    withPosition(position, () => constant(read, fromText(read, text))),
    type,
    false,
    binding,
  );
}

function cast(expr: Expr, type: SqlType, assignment: boolean, binding: Binding): Expr {
  if (expr.type === type) return expr;
  const named = throughNames(expr, type);
  if (named !== expr) return cast(named, type, assignment, binding);
  if (hasDomain(type)) return checkedAs(cast(expr, withoutDomains(type), assignment, binding), type, binding);
  if (expr.kind === "const" && expr.value === null) return constant(type, null);
  const made = madeCast(expr.type, type);
  if (made !== null) return cast(madeCastOf(expr, made, !assignment, binding), type, assignment, binding);
  const { element } = type;
  const ofElements = element === null || expr.type.element === null ? null : madeCast(expr.type.element, element);
  if (ofElements !== null) return cast(madeCastOfElements(expr, ofElements, binding), type, assignment, binding);
  return Object.freeze(
    assignment ? { kind: "cast", type, input: expr, assignment } : { kind: "cast", type, input: expr },
  );
}

const isNamed = (type: SqlType) => isNamedOid(type.element ?? type);
const isText = (type: SqlType) => categoryOf(type.element ?? type) === "S" && type.name !== "unknown";

/** What names of objects, or arrays of them, come as. */
const textFor = (type: SqlType): SqlType => (type.element === null ? TEXT : arrayOf(TEXT));

/** Text as an OID of regclass and the like, and such an OID as text: by a call, as both look into the catalog. */
function throughNames(expr: Expr, type: SqlType): Expr {
  const isList = expr.type.element !== null && type.element !== null;
  if (isNamed(type) && isText(expr.type) && (isList || type.element === null)) {
    const text = isList ? arrayOf(TEXT) : TEXT;
    const input: Expr = expr.type === text ? expr : Object.freeze({ kind: "cast", type: text, input: expr });
    return Object.freeze({ kind: "call", type, fn: namedOidInput(type), args: [input] });
  }
  if (!holdsNames(expr.type) || !isText(type)) return expr;
  if (!isNamed(expr.type)) return withName(expr);
  const fn = namedOidOutput(expr.type);
  return Object.freeze({ kind: "call", type: fn.returns, fn, args: [expr] });
}

/** A literal, NULL or parameter of unknown type as `type`; other expressions of unknown type are read from text. */
function unknownTo(expr: Expr, type: SqlType, binding: Binding, position: number, stored = false): Expr {
  if (expr.kind === "const") {
    if (expr.value === null) return cast(constant(UNKNOWN, null), type, stored, binding);
    if (isNamed(type))
      return cast(
        constant(textFor(type), type.element === null ? expr.value : fromText(arrayOf(TEXT), expr.value as string)),
        type,
        stored,
        binding,
      );
    return literal(expr.value as string, type, position, stored, binding);
  }
  if (expr.kind === "param") {
    const known = binding.parameterType(expr.index);
    const param = binding.setParameterType(expr.index, known ?? (isNamed(type) ? textFor(type) : baseType(type)));
    if (known !== null && !canCoerce(known, type, "assignment")) {
      throw sqlError("42P08", `inconsistent types deduced for parameter $${expr.index + 1}`, { position });
    }
    return cast(param, type, stored, binding);
  }
  return cast(Object.freeze({ ...expr, type: TEXT } as Expr), type, stored, binding);
}

/** An expression of unknown type becomes text; a parameter takes the type that the client's value suggests. */
export function resolveUnknown(expr: Expr, binding: Binding): Expr {
  if (!isUnknown(expr)) return expr;
  return unknownTo(expr, suggestedType(expr, binding) ?? TEXT, binding, 0);
}

/** The type that a parameter of unknown type may be taken to have; null for anything else. */
export function suggestedType(expr: Expr, binding: Binding): SqlType | null {
  if (expr.kind !== "param" || !isUnknown(expr)) return null;
  return binding.parameterType(expr.index) ?? binding.suggestedType(expr.index);
}

/** A row as a composite type: its items, as they were written, as the fields. Null for anything else. */
function rowAs(
  expr: Expr,
  type: SqlType,
  binding: Binding,
  position: number,
  each: (item: Expr, type: SqlType) => Expr,
): Expr | null {
  const items = expr.type === type ? undefined : binding.rowItemsOf(expr);
  if (items === undefined || type.fields === undefined) return null;
  if (items.length !== type.fields.length) {
    const many = items.length > type.fields.length;
    throw sqlError("42846", `cannot cast type record to ${typeName(type)}`, {
      ...(position > 0 && { position }),
      detail: many ? "Input has too many columns." : "Input has too few columns.",
    });
  }
  const args = items.map((item, i) => each(item, type.fields![i]!.type));
  const row = baseType(type);
  return cast(Object.freeze({ kind: "call", type: row, fn: rowConstructor(row), args }), type, false, binding);
}

/** For overload arguments and the like, where `canCoerce` has already said yes. A binary-compatible value stays. */
export function coerceImplicit(expr: Expr, type: SqlType, binding: Binding, position: number): Expr {
  if (expr.type === type) return expr;
  if (isUnknown(expr)) return unknownTo(expr, type, binding, position);
  const row = rowAs(expr, type, binding, position, (item, field) => coerceTo(item, field, "ROW", binding, position));
  if (row !== null) return row;
  // An OID looks the same, and is written otherwise.
  return isBinaryCoercible(expr.type, type) && !isNamed(type) ? expr : cast(expr, type, false, binding);
}

/** The expression as exactly this type, by a written cast. Throws 42846. */
export function coerceExplicit(expr: Expr, type: SqlType, binding: Binding, position: number): Expr {
  if (isUnknown(expr)) return unknownTo(expr, type, binding, position);
  const row = rowAs(expr, type, binding, position, (item, field) => coerceExplicit(item, field, binding, position));
  if (row !== null) return row;
  if (!canCoerce(expr.type, type, "explicit")) {
    throw sqlError("42846", `cannot cast type ${typeName(expr.type)} to ${typeName(type)}`, { position });
  }
  return cast(expr, type, false, binding);
}

/** The constants 0 and 1 as clients write false and true; null for anything else. */
export function zeroOrOne(expr: Expr): Expr | null {
  if (expr.kind !== "const" || expr.type !== INT4 || (expr.value !== 0 && expr.value !== 1)) return null;
  return constant(BOOL, expr.value === 1);
}

/** The expression as it is stored into a column. Throws 42804. */
export function coerceAssignment(
  expr: Expr,
  column: { readonly name: string; readonly type: SqlType },
  binding: Binding,
  position: number,
): Expr {
  const { type, name } = column;
  if (isUnknown(expr)) return unknownTo(expr, type, binding, position, true);
  const row = rowAs(expr, type, binding, position, (item, field) =>
    coerceAssignment(item, { name, type: field }, binding, position),
  );
  if (row !== null) return row;
  const bool = withoutDomains(type) === BOOL ? zeroOrOne(expr) : null;
  if (bool !== null) return cast(bool, type, true, binding);
  if (!canCoerce(expr.type, type, "assignment")) {
    const what = `column "${name}" is of type ${typeName(type)} but expression is of type ${typeName(expr.type)}`;
    throw sqlError("42804", what, {
      ...(position > 0 && { position }),
      hint: "You will need to rewrite or cast the expression.",
      routine: "transformAssignedExpr",
    });
  }
  return cast(expr, type, true, binding);
}

const ABOVE = OPERATORS.get(">")!.find(({ args }) => args[0] === FLOAT8 && args[1] === FLOAT8)!;
const ZERO: Expr = { kind: "const", type: FLOAT8, value: 0 };

/** `what` ("WHERE", "AND", "CASE/WHEN") names the place in the error 42804. */
export function coerceBoolean(expr: Expr, what: string, binding: Binding, position: number): Expr {
  // A MATCH is a score; as a condition it holds for rows that have one.
  if (expr.kind === "call" && expr.fn === TEXT_SCORE)
    return { kind: "call", type: BOOL, fn: ABOVE, args: [expr, ZERO] };
  return coerceTo(expr, BOOL, what, binding, position);
}

/** The expression as the one type that a clause takes, by a conversion as on storing. Throws 42804. */
export function coerceTo(expr: Expr, type: SqlType, what: string, binding: Binding, position: number): Expr {
  if (isUnknown(expr)) return unknownTo(expr, type, binding, position);
  if (!canCoerce(expr.type, type, "assignment")) {
    const message = `argument of ${what} must be type ${typeName(type)}, not type ${typeName(expr.type)}`;
    throw sqlError("42804", message, { position });
  }
  return cast(expr, type, false, binding);
}

/**
 * The one type for several expressions (`construct` names them in the error 42804). When the statement leaves them
 * all open, the values of parameters decide.
 */
export function commonTypeOf(
  exprs: readonly Expr[],
  construct: string,
  binding: Binding,
  positions: readonly number[],
): SqlType {
  const types = exprs.map((expr) => expr.type);
  const open = types.every((type) => type.name === "unknown");
  if (!open) return commonTypeAt(types, construct, positions);
  const suggested = exprs.map((expr) => suggestedType(expr, binding) ?? expr.type);
  // Parameters of which some were sent as text and some as numbers: text, as all of them are to PostgreSQL.
  return categories(suggested) > 1 ? TEXT : commonTypeAt(suggested, construct, positions);
}

/** The error tells the place of the first type that does not go with those before it. */
function commonTypeAt(types: readonly SqlType[], construct: string, positions: readonly number[]): SqlType {
  try {
    return commonType(types, construct);
  } catch (error) {
    for (let count = 1; count <= types.length; count++) {
      withPosition(positions[count - 1] ?? 0, () => commonType(types.slice(0, count), construct));
    }
    throw error;
  }
}

/** How many kinds of types they are that do not convert to each other; unknown ones count for nothing. */
function categories(types: readonly SqlType[]): number {
  return new Set(types.filter(({ name }) => name !== "unknown").map((type) => categoryOf(baseType(type)))).size;
}

/** Expressions as their common type, which may need no conversion to become. */
export function coerceCommon(expr: Expr, type: SqlType, construct: string, binding: Binding, position: number): Expr {
  if (isUnknown(expr)) return unknownTo(expr, type, binding, position);
  const row = rowAs(expr, type, binding, position, (item, field) => coerceTo(item, field, "ROW", binding, position));
  if (row !== null) return row;
  if (!canCoerce(expr.type, type, "implicit")) {
    const message = `${construct} could not convert type ${typeName(expr.type)} to ${typeName(type)}`;
    throw sqlError("42846", message, { position });
  }
  return cast(expr, type, false, binding);
}

/** Errors that know no place in the statement get this one. */
export function withPosition<T>(position: number, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof DbError && error.details?.position === undefined && position > 0) {
      throw new DbError(error.code, error.message, { ...error.details, position });
    }
    throw error;
  }
}
