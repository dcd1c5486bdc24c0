/** How functions over the catalog are declared, and the conversions of regclass and the like from and to text. */
import type { EvalContext, Expr, ScalarFunction } from "../../../query/expr/expr.js";
import { NAMED_OIDS, type NamedOid, namedOidType } from "../../../values/catalog-types.js";
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

const shownType = (type: SqlType): SqlType =>
  type.element === null ? shown.get(type.typeName!)! : arrayOf(shown.get(type.element.typeName!)!);

/** What a client gets of regclass and the like: the object's name, under the type's own. */
export function withName(expr: Expr): Expr {
  return Object.freeze({ kind: "call", type: shownType(expr.type), fn: namedOidOutput(expr.type), args: [expr] });
}
