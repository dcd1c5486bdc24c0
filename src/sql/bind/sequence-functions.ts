/** nextval and currval: their sequence is looked up when the statement is bound, its value asked of a service. */
import type { CatalogView } from "../../catalog/catalog-view.js";
import { parseRelationName, quotedIdentifier } from "../../catalog/relation-names.js";
import { sqlError } from "../../protocol/errors.js";
import { INT8, TEXT } from "../../protocol/values.js";
import type { EvalContext, Expr, ScalarFunction } from "../../query/expr/expr.js";
import { constant } from "./coerce.js";

function sequenceFunction(
  name: string,
  apply: (context: EvalContext, sequence: string) => number | bigint,
): ScalarFunction {
  return Object.freeze({
    name,
    args: [TEXT],
    returns: INT8,
    volatility: "volatile",
    strict: true,
    needsContext: true,
    apply,
  });
}

const FUNCTIONS: Readonly<Record<string, ScalarFunction>> = {
  nextval: sequenceFunction("nextval", (context, sequence) => context.services.nextSequenceValue!(sequence)),
  currval: sequenceFunction("currval", (context, sequence) => context.services.currentSequenceValue!(sequence)),
};

/** Functions that change data although they stand in a query. */
export function writesData(fn: ScalarFunction): boolean {
  return fn === FUNCTIONS.nextval;
}

export function isSequenceFunction(name: string): boolean {
  return Object.hasOwn(FUNCTIONS, name);
}

/** Throws 42P01 for an unknown sequence, 0A000 when its name is not a literal. The service gets `schema.name`. */
export function bindSequenceCall(
  name: string,
  args: readonly Expr[],
  catalog: CatalogView,
  searchPath: readonly string[],
  position: number,
): Expr {
  const [arg] = args;
  if (args.length !== 1 || arg?.kind !== "const" || typeof arg.value !== "string") {
    throw sqlError("0A000", `${name} with anything but one literal name is not supported yet`, { position });
  }
  const relation = parseRelationName(arg.value);
  const schemas = relation.schema === null ? searchPath : [relation.schema];
  for (const schema of schemas) {
    const sequence = catalog.sequence(schema, relation.name);
    if (sequence === null) continue;
    const canonical = `${quotedIdentifier(sequence.schema)}.${quotedIdentifier(sequence.name)}`;
    return Object.freeze({ kind: "call", type: INT8, fn: FUNCTIONS[name]!, args: [constant(TEXT, canonical)] });
  }
  throw sqlError("42P01", `relation "${arg.value}" does not exist`, { position });
}
