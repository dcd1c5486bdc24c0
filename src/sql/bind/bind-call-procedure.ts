/** CALL: the procedure and its arguments, which are a row that is computed first. */
import type { FunctionDef } from "../../catalog/function.js";
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import { displayName } from "../../query/expr/types.js";
import type { Plan } from "../../query/plan/plan.js";
import type { CallStatement } from "../parse/ast-functions.js";
import { contextOf } from "./bind-context.js";
import { bindExpr } from "./bind-expr.js";
import { boundRoutine } from "./bind-routine-call.js";
import type { Binding } from "./binding.js";
import type { BoundCall } from "./bound-statement.js";
import { isUnknown } from "./coerce.js";
import { refuseDenied } from "./relation-rights.js";
import { routinesNamed } from "./resolve-routine.js";
import { scalarRoutine } from "./routine-function.js";
import { signatureOf } from "./routine-types.js";
import { Scope } from "./scope.js";

/** Throws 42883, 42725, 42809 for a function. */
export function bindCall({ call, position }: CallStatement, binding: Binding): BoundCall {
  const { env } = binding;
  const name = call.path.join(".");
  const scope = new Scope(null, env.variables ?? null);
  const context = { ...contextOf(binding, scope, "CALL arguments"), subqueries: true };
  const routines = routinesNamed(call.path, env);
  // A call names OUT parameters too; the values for them are ignored.
  const callable = new Map(routines.map((routine) => [asCalled(routine), routine]));
  const bound = boundRoutine(call, context, bindExpr, [...callable.keys()], "procedure");
  if (bound === null) {
    const given = call.args.map((arg) => bindExpr(arg.value, context));
    const types = given.map((arg) => (isUnknown(arg) ? "unknown" : displayName(arg.type)));
    throw sqlError("42883", `procedure ${name}(${types.join(", ")}) does not exist`, {
      position: call.position,
      hint: "No procedure matches the given name and argument types. You might need to add explicit type casts.",
    });
  }
  const definition = callable.get(bound.definition)!;
  if (definition.kind !== "procedure") {
    throw sqlError("42809", `${signatureOf(definition, env)} is not a procedure`, {
      position: call.position || position,
      hint: "To call a function, use SELECT.",
    });
  }
  const isInput = definition.parameters.map(({ mode }) => mode !== "out");
  const keep = <T>(items: readonly T[]) => items.filter((_, i) => isInput[i]);
  const args: readonly Expr[] = keep(bound.args);
  const columns = args.map((arg, i) => binding.newColumn(`$${i + 1}`, arg.type, true));
  const { routine } = scalarRoutine({ ...bound, definition, parameterTypes: keep(bound.parameterTypes) });
  const row: Plan = Object.freeze({ kind: "values", rows: [args], columns });
  refuseDenied(row, binding);
  return {
    kind: "call",
    routine: routine!,
    args: row,
    given: call.args.map(({ value }) => value),
    sources: bound.sources,
  };
}

const called = new WeakMap<FunctionDef, FunctionDef>();

/** The procedure with its OUT parameters as parameters that are given, too. */
function asCalled(routine: FunctionDef): FunctionDef {
  let result = called.get(routine);
  if (result === undefined) {
    const parameters = routine.parameters.map((parameter) =>
      parameter.mode === "out" ? { ...parameter, mode: "inout" as const } : parameter,
    );
    result = routine.parameters.some(({ mode }) => mode === "out") ? { ...routine, parameters } : routine;
    called.set(routine, result);
  }
  return result;
}
