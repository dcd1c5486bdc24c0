/** A row of a table as a row of one from which the table inherits. Called by the binder of casts. */
import { descendantsOf } from "../../catalog/inheritance.js";
import type { Expr, ScalarFunction } from "../../query/expr/expr.js";
import type { SqlType, Value } from "../../values/values.js";
import type { Binding } from "./binding.js";
import { firstFound } from "./names.js";

/** The columns of the ancestor, by their names; null when the two are not rows of such tables. */
export function ancestorRow(expr: Expr, type: SqlType, { env }: Binding): Expr | null {
  const { typeName, fields = [] } = expr.type;
  if (typeName === undefined || type.typeName === undefined || typeName === type.typeName) return null;
  const tableOf = (name: string) =>
    firstFound({ schema: null, name }, env, (schema, table) => env.catalog.table(schema, table));
  const [heir, ancestor] = [tableOf(typeName), tableOf(type.typeName)];
  if (heir === null || ancestor === null) return null;
  if (!descendantsOf(ancestor, env.catalog).some(({ id }) => id === heir.id)) return null;
  const places = type.fields!.map(({ name }) => fields.findIndex((field) => field.name === name));
  const fn: ScalarFunction = Object.freeze({
    name: "row",
    args: [expr.type],
    returns: type,
    volatility: "immutable",
    strict: true,
    apply: (row: readonly Value[]) => places.map((place) => row[place] ?? null),
  });
  return Object.freeze({ kind: "call", type, fn, args: [expr] });
}
