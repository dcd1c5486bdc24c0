/**
 * Helpers with which the tables of this folder declare overloads, and the families of overloads that PostgreSQL
 * declares with pseudo-types (anyelement, anyarray, "any").
 */
import { sqlError } from "../../../protocol/errors.js";
import { arrayOf, type SqlType, TEXT, type Value } from "../../../values/values.js";
import { commonType } from "../coercion.js";
import type { AggregateFunction, DeferredEvaluation, EvalContext, ScalarFunction } from "../expr.js";
import { baseType, displayName } from "../types.js";

// biome-ignore lint/suspicious/noExplicitAny: each overload names the parameter types that it declares
export type Apply = (...args: any[]) => Value;

interface Options {
  readonly strict?: boolean;
  readonly volatility?: ScalarFunction["volatility"];
  readonly variadic?: SqlType;
  readonly needsContext?: true;
  readonly nanosPerUnit?: number;
  readonly applyInTurns?: NonNullable<ScalarFunction["applyInTurns"]>;
}

/** A strict immutable function unless `options` say otherwise. */
export function fn(
  name: string,
  args: readonly SqlType[],
  returns: SqlType,
  apply: Apply,
  options: Options = {},
): ScalarFunction {
  return Object.freeze({ name, args, returns, apply, volatility: "immutable", strict: true, ...options });
}

/** A function that gets the EvalContext as its first argument; stable unless told otherwise. */
export function contextFn(
  name: string,
  args: readonly SqlType[],
  returns: SqlType,
  apply: (context: EvalContext, ...args: never[]) => Value,
  options: Options = {},
): ScalarFunction {
  return Object.freeze({
    name,
    args,
    returns,
    apply: apply as Apply,
    volatility: "stable",
    strict: true,
    needsContext: true,
    ...options,
  });
}

/**
 * A function whose values have to be waited for, computed for several calls at a time; volatile unless told otherwise.
 * See DeferredEvaluation.
 */
export function deferredFn(
  name: string,
  args: readonly SqlType[],
  returns: SqlType,
  evaluate: DeferredEvaluation["evaluate"],
  { rowsMax, check, ...options }: Omit<Options, "needsContext"> & Pick<DeferredEvaluation, "rowsMax" | "check"> = {},
): ScalarFunction {
  const apply = () => {
    throw sqlError("0A000", `${name} cannot be called here`, {
      hint: "The function has to wait for its values. That is possible only in queries and in the new values of rows.",
    });
  };
  const deferred = { evaluate, ...(rowsMax !== undefined && { rowsMax }), ...(check !== undefined && { check }) };
  return Object.freeze({ name, args, returns, apply, volatility: "volatile", strict: true, ...options, deferred });
}

/** An infix operator (two arguments) or a prefix operator (one). */
export function op(
  symbol: string,
  args: readonly SqlType[],
  returns: SqlType,
  apply: Apply,
  options: Options = {},
): ScalarFunction {
  return Object.freeze({
    name: symbol,
    operator: symbol,
    args,
    returns,
    apply,
    volatility: "immutable",
    strict: true,
    ...options,
  });
}

/** The functions, with about how many nanoseconds they take per character, byte or element of their arguments. */
export function taking(nanosPerUnit: number, functions: readonly ScalarFunction[]): ScalarFunction[] {
  return functions.map((one) => Object.freeze({ ...one, nanosPerUnit: one.nanosPerUnit ?? nanosPerUnit }));
}

/** The same function under several names. */
export function aliases(names: readonly string[], overload: ScalarFunction): ScalarFunction[] {
  return names.map((name) => Object.freeze({ ...overload, name }));
}

/** Which function an operator calls: its name, the operator, and what that takes. */
export type OperatorFunction = readonly [name: string, symbol: string, ...args: SqlType[]];

/** The functions behind operators, by their names in pg_proc. Those whose operator is not among them are left out. */
export function operatorFunctions(
  operators: readonly ScalarFunction[],
  named: readonly OperatorFunction[],
): ScalarFunction[] {
  return named.flatMap(([name, symbol, ...args]) => {
    const overload = operators.find(
      (other) =>
        other.name === symbol && other.args.length === args.length && other.args.every((arg, i) => arg === args[i]),
    );
    if (overload === undefined) return [];
    const { operator: _, ...called } = overload;
    return [Object.freeze({ ...called, name })];
  });
}

/** A family of overloads, one per combination of argument types. */
export interface Family<F> {
  readonly name: string;
  /** What the family takes and gives, as a manual prints it: "(anyarray, anyelement) → anyarray". */
  readonly form: string;
  /** The overload for arguments of these types (modifiers removed), or null when the family cannot take them. */
  readonly instantiate: (types: readonly SqlType[]) => F | null;
}

export type FunctionFamily = Family<ScalarFunction>;
export type AggregateFamily = Family<AggregateFunction>;

/** Overloads made so far per family; beyond this many combinations of types they are made again for each use. */
const INSTANCES_MAX = 2000;

/** Of overloads that families made: the types that they were made for. */
const typesMadeFor = new WeakMap<object, readonly SqlType[]>();

/** Undefined: no family made the overload. */
export function typesOfInstance(overload: ScalarFunction | AggregateFunction): readonly SqlType[] | undefined {
  return typesMadeFor.get(overload);
}

/** Keeps instances, so that equal calls have identical overloads. */
export function family<F>(name: string, form: string, instantiate: (types: readonly SqlType[]) => F | null): Family<F> {
  const instances = new Map<string, F | null>();
  return {
    name,
    form,
    instantiate(types) {
      const key = types.map(typeKey).join();
      let instance = instances.get(key);
      if (instance === undefined) {
        instance = instantiate(types);
        if (instance !== null) typesMadeFor.set(instance as object, types);
        if (instances.size >= INSTANCES_MAX) instances.clear();
        instances.set(key, instance);
      }
      return instance;
    },
  };
}

const userTypeKeys = new WeakMap<SqlType, string>();
let userTypesMet = 0;

function typeKey(type: SqlType): string {
  if (type.user !== undefined) {
    let key = userTypeKeys.get(type);
    if (key === undefined) {
      key = `#${++userTypesMet}`;
      userTypeKeys.set(type, key);
    }
    return key;
  }
  if (type.element !== null) return `${typeKey(type.element)}[]`;
  if (type.fields === undefined) return type.name;
  const fields = type.fields.map((field) => `${JSON.stringify(field.name)} ${typeKey(field.type)}`);
  return `${type.typeName ?? "record"}(${fields.join()})`;
}

/** An argument declared with a pseudo-type, or an ordinary type. */
export type Pattern = SqlType | "anyelement" | "anyarray" | "anynonarray" | "any";

/**
 * Replaces pseudo-types: all anyelement and anyarray agree on one element type, the common type of what was given
 * (PostgreSQL's anycompatible). Null when the types do not fit. `whenUnknown`: the element type where nothing but
 * unknown was given; absent: null, too.
 */
export function matchPatterns(
  patterns: readonly Pattern[],
  types: readonly SqlType[],
  whenUnknown?: SqlType,
): { args: SqlType[]; element: SqlType } | null {
  if (patterns.length !== types.length) return null;
  const elements: SqlType[] = [];
  for (const [i, pattern] of patterns.entries()) {
    const type = types[i] as SqlType;
    if (type.name === "unknown" || typeof pattern !== "string" || pattern === "any") continue;
    if (pattern === "anyarray") {
      if (type.element === null) return null;
      elements.push(type.element);
    } else {
      if (pattern === "anynonarray" && type.element !== null) return null;
      elements.push(type);
    }
  }
  const polymorphic = patterns.some((pattern) => typeof pattern === "string" && pattern !== "any");
  if (polymorphic && elements.length === 0) {
    if (whenUnknown === undefined) return null;
    elements.push(whenUnknown);
  }
  let element = TEXT;
  try {
    if (polymorphic) element = baseType(commonType(elements));
  } catch {
    return null;
  }
  const args = patterns.map((pattern, i) => {
    if (pattern === "anyelement" || pattern === "anynonarray") return element;
    if (pattern === "anyarray") return arrayOf(element);
    if (pattern !== "any") return pattern;
    const type = types[i] as SqlType;
    return type.name === "unknown" ? TEXT : type;
  });
  return { args, element };
}

/** How a manual prints parameters and a result. */
export function formOf(patterns: readonly Pattern[], returns: Pattern): string {
  const text = (pattern: Pattern) => (typeof pattern === "string" ? pattern : displayName(pattern));
  return `(${patterns.map(text).join(", ")}) → ${text(returns)}`;
}

/** A strict immutable function over pseudo-types; `make` gets the element type they agreed on. */
export function polymorphic(
  name: string,
  patterns: readonly Pattern[],
  returns: Pattern,
  make: (element: SqlType, args: readonly SqlType[]) => Apply,
  { whenUnknown, ...options }: Options & { readonly operator?: string; readonly whenUnknown?: SqlType } = {},
): FunctionFamily {
  return family(name, formOf(patterns, returns), (types) => {
    const match = matchPatterns(patterns, types, whenUnknown);
    if (match === null) return null;
    const { args, element } = match;
    const result = returns === "anyarray" ? arrayOf(element) : typeof returns === "string" ? element : returns;
    const overload = fn(name, args, result, make(element, args), options);
    return overload;
  });
}
