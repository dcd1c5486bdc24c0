/** Calls of functions that statements made: in expressions, in FROM and in CALL. */
import { type FunctionDef, inputsOf, outputsOf } from "../../catalog/function.js";
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import { isAggregateName, isFunctionName, isTableFunctionName, isWindowName } from "../../query/expr/resolve.js";
import { displayName } from "../../query/expr/types.js";
import type { SetCall } from "../../query/plan/plan.js";
import type { SqlType } from "../../values/values.js";
import type { CallNode } from "../parse/ast-query.js";
import { arrayConstructor } from "./array-functions.js";
import { contextOf, type ExprContext } from "./bind-context.js";
import { placeSetCall } from "./bind-set-call.js";
import type { Binding } from "./binding.js";
import { type Bind, refuseAggregateForms } from "./call-arguments.js";
import { coerceAssignment, coerceImplicit, isUnknown, suggestedType } from "./coerce.js";
import { inlinedCall } from "./inline-routine.js";
import type { MatchedRoutine } from "./matched-routine.js";
import { checkedRights } from "./relation-rights.js";
import { type GivenArgument, resolveRoutine, routinesNamed } from "./resolve-routine.js";
import { routineRows, scalarRoutine, waitingRoutine } from "./routine-function.js";
import { signatureOf } from "./routine-types.js";
import { Scope } from "./scope.js";
import { isSequenceFunction } from "./sequence-functions.js";
import { parseStored } from "./stored-names.js";
import { isSystemFunction } from "./system/system-functions.js";

/** A call with its arguments in the order of the parameters. */
export interface BoundRoutine extends MatchedRoutine {
  readonly args: readonly Expr[];
}

/** null: no function that a statement made is meant. Throws 42883, 42725, 42809. */
export function bindRoutineCall(node: CallNode, context: ExprContext, bind: Bind): Expr | null {
  const { binding } = context;
  const bound = boundRoutine(node, context, bind);
  if (bound === null) return null;
  const { definition } = bound;
  const { position } = node;
  const name = node.path[node.path.length - 1]!;
  if (node.over !== null) {
    const message = `OVER specified, but ${name} is not a window function nor an aggregate function`;
    throw sqlError("42809", message, { position });
  }
  refuseAggregateForms(node, name);
  refuseProcedure(definition, binding, position);
  return routineCall(bound, context, bind, position);
}

/** The call as an expression: its body where that is one, else a value that is computed beside the row or in it. */
export function routineCall(bound: BoundRoutine, context: ExprContext, bind: Bind, position: number): Expr {
  const { definition, args } = bound;
  const { binding } = context;
  if (definition.returnsSet) {
    return placeSetCall(() => ({ fn: routineRows(bound), args, shape: bound.returns }), context, position);
  }
  const inlined = inlinedCall(bound, context, bind);
  if (inlined !== null) return inlined;
  const { sets } = context;
  if (context.mayWait && sets !== undefined) {
    const call: SetCall = { fn: waitingRoutine(bound), args, shape: bound.returns };
    return binding.setPosition(sets.add(call, binding), position);
  }
  const fn = scalarRoutine(bound);
  return Object.freeze({ kind: "call", type: fn.returns, fn, args });
}

function refuseProcedure(definition: FunctionDef, { env }: Binding, position: number): void {
  if (definition.kind !== "procedure") return;
  throw sqlError("42809", `${signatureOf(definition, env)} is a procedure`, {
    position,
    hint: "To call a procedure, use CALL.",
  });
}

/** The same for FROM. `out`: the function itself says what its columns are. */
export function bindRoutineRows(
  node: CallNode,
  context: ExprContext,
  bind: Bind,
): {
  readonly call: SetCall;
  readonly bound: BoundRoutine;
  readonly out: boolean;
  readonly column: string | null;
} | null {
  const bound = boundRoutine(node, context, bind);
  if (bound === null) return null;
  const { definition } = bound;
  refuseAggregateForms(node, definition.name);
  refuseProcedure(definition, context.binding, node.position);
  const outputs = outputsOf(definition);
  const call = { fn: routineRows(bound), args: bound.args, shape: bound.returns };
  const column = outputs.length === 1 ? outputs[0]!.name : null;
  return { call, bound, out: outputs.length > 1, column };
}

/** The function that a call means, with its arguments; null: one of the system's. */
export function boundRoutine(
  node: CallNode,
  context: ExprContext,
  bind: Bind,
  candidates: readonly FunctionDef[] = functionsNamed(node, context),
  what: "function" | "procedure" = "function",
): BoundRoutine | null {
  const { binding } = context;
  const { env } = binding;
  if (candidates.length === 0) return null;
  if (env.stored && node.path.length === 1 && isSpecial(node.path[0]!)) return null;
  const { position } = node;
  checkNotation(node);
  const given = node.args.map((arg) => bind(arg.value, context));
  const name = node.path[node.path.length - 1]!;
  const find = (types: readonly SqlType[]): MatchedRoutine | "built in" | null => {
    const described = types.map((type, i): GivenArgument => ({ name: node.args[i]!.name, type }));
    return resolveRoutine(node.path, candidates, described, node.variadic, env, position);
  };
  let found = find(given.map(({ type }) => type));
  if (found === null && given.some(isUnknown)) {
    found = find(given.map((arg) => suggestedType(arg, binding) ?? arg.type));
  }
  if (found === "built in") return null;
  if (found === null) {
    if (node.path.length === 1 && isBuiltIn(name)) return null;
    const spelled = given.map(({ type }, i) => {
      const as = node.args[i]!.name;
      return as === null ? displayName(type) : `${as} => ${displayName(type)}`;
    });
    throw sqlError("42883", `${what} ${node.path.join(".")}(${spelled.join(", ")}) does not exist`, {
      position,
      hint: `No ${what} matches the given name and argument types. You might need to add explicit type casts.`,
    });
  }
  const { id, name: called } = found.definition;
  checkedRights(env)?.require(id, called, "X", "function");
  binding.noted.named.set(node, id);
  return { ...found, args: argumentsFor(found, given, node, binding, bind) };
}

/** Aggregates are bound as such. */
const functionsNamed = (node: CallNode, { binding }: ExprContext) => {
  const named = routinesNamed(node.path, binding.env);
  return named.length === 0 ? named : named.filter(({ kind }) => kind !== "aggregate");
};

function isBuiltIn(name: string): boolean {
  return (
    isFunctionName(name) || isTableFunctionName(name) || isAggregateName(name) || isWindowName(name) || isSpecial(name)
  );
}

/** The system's, without overloads that could be compared. */
const isSpecial = (name: string) => isSystemFunction(name) || isSequenceFunction(name);

function checkNotation({ args }: CallNode): void {
  const seen = new Set<string>();
  for (const arg of args) {
    const at = { position: arg.value.position };
    if (arg.name === null) {
      if (seen.size > 0) throw sqlError("42601", "positional argument cannot follow named argument", at);
    } else if (seen.has(arg.name)) throw sqlError("42601", `argument name "${arg.name}" used more than once`, at);
    else seen.add(arg.name);
  }
}

/** The parameters' values, converted; defaults are bound as if they stood in the call. */
function argumentsFor(
  found: MatchedRoutine,
  given: readonly Expr[],
  node: CallNode,
  binding: Binding,
  bind: Bind,
): Expr[] {
  const at = (index: number) => node.args[index]!.value.position || node.position;
  const inputs = inputsOf(found.definition);
  const { schema } = found.definition;
  return found.sources.map((source, i): Expr => {
    const type = found.parameterTypes[i]!;
    switch (source.kind) {
      case "given":
        return coerceImplicit(given[source.index]!, type, binding, at(source.index));
      case "members": {
        const element = type.element ?? type;
        const members = source.indexes.map((index) => coerceImplicit(given[index]!, element, binding, at(index)));
        const fn = arrayConstructor(element, members.length);
        return Object.freeze({ kind: "call", type: fn.returns, fn, args: members });
      }
      default:
        return defaultValue({ sql: source.sql, schema }, inputs[i]!.name ?? `$${i + 1}`, type, binding, bind);
    }
  });
}

function defaultValue(
  { sql, schema }: { readonly sql: string; readonly schema: string },
  name: string,
  type: SqlType,
  binding: Binding,
  bind: Bind,
): Expr {
  const context = contextOf(binding, new Scope(null), "DEFAULT expressions");
  const expr = bind(parseStored(sql, schema), context);
  return coerceAssignment(expr, { name, type }, binding, 0);
}
