/** How functions over the catalog are declared, and the conversions of regclass and the like from and to text. */
import type { EvalContext, Expr, ScalarFunction } from "../../../query/expr/expr.js";
import { isNamedOid, NAMED_OIDS, type NamedOid, namedOidType } from "../../../values/catalog-types.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { arrayOf, type SqlArray, type SqlType, TEXT, type Value } from "../../../values/values.js";
import { existingOid, nameOfOid } from "./object-names.js";
import { type SystemView, systemView } from "./system-view.js";

// biome-ignore lint/suspicious/noExplicitAny: each overload names the parameter types that it declares
export type Answer = (view: SystemView, ...args: any[]) => Value;

export function systemFunction(
  name: string,
  args: readonly SqlType[],
  returns: SqlType,
  answer: Answer,
): ScalarFunction {
  return Object.freeze({
    name,
    args,
    returns,
    volatility: "stable",
    strict: true,
    needsContext: true,
    apply: (context: EvalContext, ...values: Value[]) => answer(systemView(context), ...values),
  });
}

/** One that binds what it prints: others get their turns between the rows. */
export const printingFunction: typeof systemFunction = (...parts) =>
  Object.freeze({ ...systemFunction(...parts), slow: true });

/** Text that is shown under the type's name: what a query's result has in place of an OID. */
const shown = new Map<string, SqlType>(
  (Object.keys(NAMED_OIDS) as NamedOid[]).map((typeName) => [
    typeName,
    Object.freeze({ name: "text", modifier: null, element: null, typeName }),
  ]),
);

/** By the type's name, which domains over it have, too. */
const inputs = new Map<string, ScalarFunction>();
const outputs = new Map<string, ScalarFunction>();
const listInputs = new Map<string, ScalarFunction>();
const listOutputs = new Map<string, ScalarFunction>();

for (const name of Object.keys(NAMED_OIDS) as NamedOid[]) {
  const type = namedOidType(name)!;
  inputs.set(
    name,
    systemFunction(name, [TEXT], type, (view, text: string) => existingOid(name, view, text)),
  );
  outputs.set(
    name,
    systemFunction(`${name}out`, [type], TEXT, (view, oid: number) => nameOfOid(name, view, oid)),
  );
  listInputs.set(
    name,
    systemFunction(name, [arrayOf(TEXT)], arrayOf(type), (view, texts: SqlArray) =>
      mapped(texts, (text) => existingOid(name, view, text as string)),
    ),
  );
  listOutputs.set(
    name,
    systemFunction(`${name}out`, [arrayOf(type)], arrayOf(TEXT), (view, oids: SqlArray) =>
      mapped(oids, (oid) => nameOfOid(name, view, oid as number)),
    ),
  );
}

const mapped = (array: SqlArray, convert: (value: Value) => Value): SqlArray => ({
  ...sqlArray([]),
  ...array,
  elements: array.elements.map((element) => (element === null ? null : convert(element))),
});

/** Reads a text, or texts, as the named OID's type, or an array of it. */
export function namedOidInput(type: SqlType): ScalarFunction {
  return type.element === null ? inputs.get(type.typeName!)! : listInputs.get(type.element.typeName!)!;
}

/** Writes values of a named OID's type, or of an array of it, as text. */
export function namedOidOutput(type: SqlType): ScalarFunction {
  return type.element === null ? outputs.get(type.typeName!)! : listOutputs.get(type.element.typeName!)!;
}

/** Whether the type's values are named OIDs, or arrays or rows that hold some. */
export function holdsNames(type: SqlType): boolean {
  if (type.element !== null) return holdsNames(type.element);
  return type.fields === undefined ? isNamedOid(type) : type.fields.some((field) => holdsNames(field.type));
}

const shownRows = new WeakMap<SqlType, SqlType>();

function shownType(type: SqlType): SqlType {
  if (!holdsNames(type)) return type;
  if (type.element !== null) return arrayOf(shownType(type.element));
  if (type.fields === undefined) return shown.get(type.typeName!)!;
  let made = shownRows.get(type);
  if (made === undefined) {
    const fields = type.fields.map((field) => ({ ...field, type: shownType(field.type) }));
    made = Object.freeze({ ...type, fields: Object.freeze(fields) });
    shownRows.set(type, made);
  }
  return made;
}

function shownValue(type: SqlType, value: Value, view: SystemView): Value {
  if (value === null || !holdsNames(type)) return value;
  const { element, fields } = type;
  if (element !== null) return mapped(value as SqlArray, (each) => shownValue(element, each, view));
  if (fields === undefined) return nameOfOid(type.typeName as NamedOid, view, value as number);
  // A row stored before its type got a field is shorter.
  return (value as readonly Value[]).map((each, i) => shownValue(fields[i]!.type, each, view));
}

const ofRows = new WeakMap<SqlType, ScalarFunction>();

/** Of rows, or of arrays of them. */
function rowsOutput(type: SqlType): ScalarFunction {
  let made = ofRows.get(type);
  if (made === undefined) {
    made = systemFunction("names_in_rows", [type], shownType(type), (view, value: Value) =>
      shownValue(type, value, view),
    );
    ofRows.set(type, made);
  }
  return made;
}

/** What a client gets of regclass and the like, and of rows with such: the objects' names, under the types' own. */
export function withName(expr: Expr): Expr {
  const { type } = expr;
  const fn = isNamedOid(type.element ?? type) ? namedOidOutput(type) : rowsOutput(type);
  return Object.freeze({ kind: "call", type: shownType(type), fn, args: [expr] });
}
