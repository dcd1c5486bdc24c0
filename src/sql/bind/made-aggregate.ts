/**
 * Aggregates that statements made (CREATE AGGREGATE): which of them a call means, and how they compute. Their functions
 * are bound as expressions over the state and the arguments, so that one of LANGUAGE sql takes the place of its call.
 * Called by the binders of calls and of CREATE AGGREGATE.
 */
import { type AggregateSide, type FunctionDef, inputsOf } from "../../catalog/function.js";
import { referenceTo } from "../../catalog/object-reference.js";
import { quotedIdentifier } from "../../catalog/relation-names.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { isBinaryCoercible } from "../../query/expr/coercion.js";
import { compileExpr } from "../../query/expr/compile.js";
import type { AggregateFunction, AggregateSteps, EvalContext, Evaluate, Expr } from "../../query/expr/expr.js";
import {
  isAggregateName,
  isFunctionName,
  isTableFunctionName,
  isWindowName,
  resolveAggregate,
} from "../../query/expr/resolve.js";
import { someExpr } from "../../query/expr/walk.js";
import { type SqlType, UNKNOWN, type Value } from "../../values/values.js";
import type { CallNode } from "../parse/ast-query.js";
import { parseExpression } from "../parse/parse.js";
import { contextOf, type ExprContext } from "./bind-context.js";
import { type BoundRoutine, bindRoutineCall, boundRoutine } from "./bind-routine-call.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";
import type { Bind } from "./call-arguments.js";
import { coerceExplicit, constant } from "./coerce.js";
import { concreteType, inferPolymorphic, NO_TYPES } from "./routine-types.js";
import { Scope } from "./scope.js";
import { calledEnvironment } from "./stored-names.js";

/** The aggregates among the functions of a call's name, when it may mean one of them; null: it calls something else. */
export function aggregatesMeant(
  node: CallNode,
  routines: readonly FunctionDef[],
  context: ExprContext,
  bind: Bind,
): readonly FunctionDef[] | null {
  const aggregates = routines.filter(({ kind }) => kind === "aggregate");
  if (aggregates.length === 0) return null;
  const name = node.path[node.path.length - 1]!;
  const others =
    aggregates.length < routines.length ||
    (node.path.length === 1 &&
      (isAggregateName(name) || isFunctionName(name) || isTableFunctionName(name) || isWindowName(name)));
  if (!others) return aggregates;
  // The types of the arguments tell.
  const { sets: _, ...place } = context;
  const probe: ExprContext = { ...place, aggregates: false, windows: false };
  try {
    return boundRoutine(node, probe, bind, aggregates) === null ? null : aggregates;
  } catch (error) {
    if (error instanceof DbError) return null;
    throw error;
  }
}

/** The aggregate and its arguments. Throws 42883 and 42725 for arguments that it does not take, 42809 for `agg()`. */
export function boundAggregate(
  node: CallNode,
  aggregates: readonly FunctionDef[],
  context: ExprContext,
  bind: Bind,
): { readonly fn: AggregateFunction; readonly args: readonly Expr[]; readonly given: readonly Expr[] } {
  const { position } = node;
  const name = node.path[node.path.length - 1]!;
  const bound = boundRoutine(node, context, bind, aggregates);
  if (bound === null) {
    return resolveAggregate(name, [], position) as never;
  }
  if (!node.star && node.args.length === 0) {
    throw sqlError("42809", `${name}(*) must be used to call a parameterless aggregate function`, { position });
  }
  if (node.star && inputsOf(bound.definition).length > 0) {
    throw sqlError("42883", `function ${name}() does not exist`, { position });
  }
  return { fn: aggregateOf(bound, context.binding, bind), args: bound.args, given: bound.args };
}

interface Made {
  readonly definition: FunctionDef;
  readonly types: readonly SqlType[];
  readonly fn: AggregateFunction;
}

/** Those of a statement: equal calls have the same object. */
const made = new WeakMap<Binding, Made[]>();

function aggregateOf(bound: BoundRoutine, binding: Binding, bind: Bind): AggregateFunction {
  const { definition, parameterTypes } = bound;
  let all = made.get(binding);
  if (all === undefined) {
    all = [];
    made.set(binding, all);
  }
  const same = all.find(
    (other) => other.definition === definition && other.types.every((type, i) => type === parameterTypes[i]),
  );
  if (same !== undefined) return same.fn;
  const fn = makeAggregate(definition, parameterTypes, binding, bind);
  all.push({ definition, types: parameterTypes, fn });
  return fn;
}

function makeAggregate(
  { name, parameters, aggregate }: FunctionDef,
  types: readonly SqlType[],
  binding: Binding,
  bind: Bind,
): AggregateFunction {
  const declared = inputsOf({ parameters }).map(({ type }) => type);
  const standIns = inferPolymorphic(declared, types) ?? NO_TYPES;
  const sideOf = (side: AggregateSide & { readonly inverseFunction?: string }) =>
    bindSide(side, concreteType(side.stateType, standIns, binding.env), types, binding, bind);
  const kept: BindEnvironment = { ...calledEnvironment(binding), stored: true };
  const [plain, moving] = binding.within(kept, () => [
    sideOf(aggregate!),
    aggregate!.moving === undefined ? null : sideOf(aggregate!.moving),
  ]);
  const { element, name: stateName, fields } = plain.stateType;
  const common = {
    name,
    args: types,
    returns: plain.returns,
    strict: plain.transition.strict,
    keepsInput: element !== null || fields !== undefined || ["text", "jsonb", "json", "bytea"].includes(stateName),
    mayWrite: [plain, moving].some((side) => side?.mayWrite),
  };
  const closed = () => {
    throw new Error(`the steps of aggregate ${name} are called outside a statement`);
  };
  return Object.freeze({
    ...common,
    init: closed,
    step: closed,
    result: closed,
    open: (context: EvalContext): AggregateFunction => ({
      ...common,
      ...openSide(plain, context),
      ...(moving !== null && { moving: { ...openSide(moving, context), inverse: inverseOf(moving, context) } }),
    }),
  });
}

/** A function of an aggregate as an expression; column i is its argument i. */
export interface BoundStep {
  readonly expr: Expr;
  readonly strict: boolean;
  /** null: one of the system's. */
  readonly definition: FunctionDef | null;
}

/** `call`: the function's name as SQL text. Throws 42883, without a place. */
export function bindStep(call: string, types: readonly SqlType[], binding: Binding, bind: Bind): BoundStep {
  const columns = types.map((type, id): Expr => Object.freeze({ kind: "column", type, id, name: `$${id + 1}` }));
  const scope = new Scope(null, { find: () => null, parameter: (index) => columns[index] ?? null, conflict: "column" });
  const context = contextOf(binding, scope, "an aggregate's functions");
  const node = parseExpression(`${call}(${types.map((_, i) => `$${i + 1}`).join(", ")})`) as CallNode;
  try {
    const bound = boundRoutine(node, context, bind);
    if (bound !== null) {
      const { definition } = bound;
      if (definition.kind === "procedure" || definition.returnsSet) {
        throw sqlError("42809", `${call} is not a function that returns one value`);
      }
      return { expr: bindRoutineCall(node, context, bind)!, strict: definition.strict, definition };
    }
    const expr = bind(node, context);
    return { expr, strict: expr.kind === "call" ? expr.fn.strict : true, definition: null };
  } catch (error) {
    if (!(error instanceof DbError) || error.details?.position === undefined) throw error;
    const { position: _, ...details } = error.details;
    throw new DbError(error.code, error.message, details);
  }
}

/** The function's name as the aggregate keeps it. */
export function stepName(path: readonly string[], definition: FunctionDef | null): string {
  const full = definition === null ? path : [referenceTo(definition.id), definition.name];
  return full.map(quotedIdentifier).join(".");
}

/** One way in which the aggregate computes, bound for the types of a call. */
interface BoundSide {
  readonly stateType: SqlType;
  readonly returns: SqlType;
  readonly initial: Evaluate | null;
  readonly transition: { readonly run: Evaluate; readonly strict: boolean };
  readonly inverse: Evaluate | null;
  /** null: the state is the result. */
  readonly final: Evaluate | null;
  readonly arity: number;
  readonly mayWrite: boolean;
}

const slotOf = (id: number) => id;

function bindSide(
  side: AggregateSide & { readonly inverseFunction?: string },
  stateType: SqlType,
  types: readonly SqlType[],
  binding: Binding,
  bind: Bind,
): BoundSide {
  const stepTypes = [stateType, ...types];
  const transition = bindStep(side.stateFunction, stepTypes, binding, bind);
  const inverse =
    side.inverseFunction === undefined ? null : bindStep(side.inverseFunction, stepTypes, binding, bind).expr;
  const final =
    side.finalFunction === null
      ? null
      : bindStep(side.finalFunction, side.finalExtra ? stepTypes : [stateType], binding, bind).expr;
  const initial = side.initial === null ? null : initialState(side.initial, stateType, binding);
  const exprs = [transition.expr, ...(inverse === null ? [] : [inverse]), ...(final === null ? [] : [final])];
  const compiled = (expr: Expr | null) => (expr === null ? null : compileExpr(expr, slotOf));
  return {
    stateType,
    returns: final?.type ?? stateType,
    initial: compiled(initial),
    transition: { run: compileExpr(transition.expr, slotOf), strict: transition.strict },
    inverse: compiled(inverse),
    final: compiled(final),
    arity: types.length,
    mayWrite: exprs.some((expr) => someExpr(expr, isVolatileRoutine)),
  };
}

const isVolatileRoutine = (expr: Expr) =>
  expr.kind === "call" && expr.fn.routine !== undefined && expr.fn.volatility === "volatile";

/** INITCOND as the state's type reads it. Throws the errors of reading it. */
export function initialState(text: string, type: SqlType, binding: Binding): Expr {
  return coerceExplicit(constant(UNKNOWN, text), type, binding, 0);
}

/** Whether the first input can be the state of a strict transition function without INITCOND. */
export function startsWithInput(stateType: SqlType, types: readonly SqlType[]): boolean {
  return types[0] !== undefined && isBinaryCoercible(types[0], stateType);
}

/** `count`: inputs that the state holds. */
interface State {
  value: Value;
  count: number;
}

function openSide(side: BoundSide, context: EvalContext): AggregateSteps {
  const columns = Array.from({ length: side.arity + 1 }, (): Value[] => [null]);
  const batch = { columns, length: 1 };
  const { run, strict } = side.transition;
  const isMoving = side.inverse !== null;
  const load = (value: Value, args: readonly Value[]) => {
    columns[0]![0] = value;
    for (let i = 0; i < side.arity; i++) columns[i + 1]![0] = args[i] ?? null;
  };
  return {
    init: (): State => ({ value: side.initial?.(batch, 0, context) ?? null, count: 0 }),
    step(state: State, ...args: Value[]): State {
      if (strict && state.value === null) {
        // The first input is the state; once it is NULL it stays so.
        if (state.count > 0 || side.initial !== null || side.arity === 0) return state;
        state.value = args[0]!;
        state.count = 1;
        return state;
      }
      load(state.value, args);
      state.value = run(batch, 0, context);
      state.count++;
      if (isMoving && state.value === null) {
        throw sqlError("22004", "moving-aggregate transition function must not return null");
      }
      return state;
    },
    result({ value }: State): Value {
      if (side.final === null) return value;
      load(value, []);
      return side.final(batch, 0, context);
    },
  };
}

/** Takes an input back: of the last one the state is the first again, NULL says that it cannot be done. */
function inverseOf(side: BoundSide, context: EvalContext): (state: State, ...args: Value[]) => State | undefined {
  const columns = Array.from({ length: side.arity + 1 }, (): Value[] => [null]);
  const batch = { columns, length: 1 };
  return (state, ...args) => {
    if (state.count <= 1) return { value: side.initial?.(batch, 0, context) ?? null, count: 0 };
    columns[0]![0] = state.value;
    for (let i = 0; i < side.arity; i++) columns[i + 1]![0] = args[i] ?? null;
    const value = side.inverse!(batch, 0, context);
    if (value === null) return undefined;
    return { value, count: state.count - 1 };
  };
}
