/** Casts that statements made, as expressions. Called by coerce.ts; coercion.ts says where they apply. */
import type { CastDef } from "../../catalog/operator.js";
import { sqlError } from "../../protocol/errors.js";
import type { Expr, ScalarFunction } from "../../query/expr/expr.js";
import { resolveFunction } from "../../query/expr/resolve.js";
import { displayName } from "../../query/expr/types.js";
import { arrayOf, BOOL, INT4, type SqlType, TEXT, type Value } from "../../values/values.js";
import type { Binding } from "./binding.js";
import { checkedRights } from "./relation-rights.js";
import { scalarRoutine } from "./routine-function.js";

/** The value as the cast's target, without its modifier. `isWritten`: the statement says the cast. */
export function madeCastOf(expr: Expr, made: CastDef, isWritten: boolean, binding: Binding): Expr {
  const { method, source, target } = made;
  binding.madeCast = made;
  switch (method.kind) {
    case "inout":
      return rawCast(rawCast(expr, TEXT), target);
    case "binary":
      return rawCast(expr, target);
    case "function": {
      const fn = functionOf(method.computes, source, binding);
      // The cast's function may ask for the modifier, which is applied afterwards, and for how it was called.
      const more: readonly (readonly [SqlType, Value])[] = [
        [INT4, -1],
        [BOOL, isWritten],
      ];
      const rest = more
        .slice(0, fn.args.length - 1)
        .map(([type, value]): Expr => Object.freeze({ kind: "const", type, value }));
      const call: Expr = Object.freeze({
        kind: "call",
        type: fn.returns,
        fn,
        args: [rawCast(expr, fn.args[0]!), ...rest],
      });
      return rawCast(call, target);
    }
  }
}

/** The same of an array's elements, one by one. Throws 0A000 for a function, which has no such form. */
export function madeCastOfElements(expr: Expr, made: CastDef, binding: Binding): Expr {
  binding.madeCast = made;
  if (made.method.kind === "function") {
    const [from, to] = [displayName(arrayOf(made.source)), displayName(arrayOf(made.target))];
    throw sqlError("0A000", `a cast from ${from} to ${to} by the function of its elements is not supported yet`, {
      hint: "Use ARRAY(SELECT x::type FROM unnest(…) x).",
    });
  }
  const target = arrayOf(made.target);
  return made.method.kind === "inout" ? rawCast(rawCast(expr, arrayOf(TEXT)), target) : rawCast(expr, target);
}

function rawCast(input: Expr, type: SqlType): Expr {
  return input.type === type ? input : Object.freeze({ kind: "cast", type, input });
}

function functionOf(
  computes: Extract<CastDef["method"], { kind: "function" }>["computes"],
  source: SqlType,
  binding: Binding,
): ScalarFunction {
  if ("builtIn" in computes) return resolveFunction(computes.builtIn, [source]).fn;
  const { env } = binding;
  const definition = env.catalog.functionById(computes.id)!;
  checkedRights(env)?.require(definition.id, definition.name, "X", "function");
  const { parameters, returns } = definition;
  const sources = parameters.map((_, index) => ({ kind: "given", index }) as const);
  return scalarRoutine({
    definition,
    sources,
    parameterTypes: parameters.map(({ type }) => type.type),
    returns: returns.type,
  });
}
