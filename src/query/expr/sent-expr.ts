/**
 * Expressions on their way to another process, where a function cannot be sent. A function is the table that has it and
 * its place there, or its family and the types that it was made for: each side builds the tables from the same program.
 */
import { arrayOf, type SqlType, typeOf } from "../../values/values.js";
import { CYPHER_FUNCTIONS, cypherOperators } from "./cypher/registry.js";
import type { AggregateFunction, Expr, ScalarFunction } from "./expr.js";
import { type FunctionFamily, typesOfInstance } from "./functions/define.js";
import {
  AGGREGATE_FAMILIES,
  AGGREGATES,
  FUNCTION_FAMILIES,
  FUNCTIONS,
  OPERATOR_FAMILIES,
  OPERATORS,
} from "./functions/registry.js";
import type { FunctionKey, SentExpr, TypeKey } from "./sent-form.js";

type Lists<T> = ReadonlyMap<string, readonly T[]>;

const cypher: Lists<ScalarFunction> = byName([...CYPHER_FUNCTIONS, ...cypherOperators()]);
const tables = { functions: FUNCTIONS, operators: OPERATORS, cypher } as const;
const families = { families: FUNCTION_FAMILIES, "operator families": OPERATOR_FAMILIES } as const;

function byName(functions: readonly ScalarFunction[]): Map<string, ScalarFunction[]> {
  const map = new Map<string, ScalarFunction[]>();
  for (const fn of functions) map.set(fn.name, [...(map.get(fn.name) ?? []), fn]);
  return map;
}

/** Null: the function is known to this thread only, such as one over a tenant's own types. */
export function keyOfFunction(fn: ScalarFunction): FunctionKey | null {
  for (const table of ["functions", "operators", "cypher"] as const) {
    const place = tables[table].get(fn.name)?.indexOf(fn) ?? -1;
    if (place >= 0) return { table, name: fn.name, place };
  }
  const made = typesOfInstance(fn);
  const types = made?.map(typeKey) ?? [null];
  if (!areKnown(types)) return null;
  for (const table of ["families", "operator families"] as const) {
    const place = families[table].get(fn.name)?.findIndex((one) => one.instantiate(made!) === fn) ?? -1;
    if (place >= 0) return { table, name: fn.name, place, types };
  }
  return null;
}

export function functionOfKey(key: FunctionKey): ScalarFunction {
  if (!("types" in key)) return tables[key.table].get(key.name)![key.place]!;
  const family: FunctionFamily = families[key.table].get(key.name)![key.place]!;
  return family.instantiate(key.types.map(typeOfKey))!;
}

/** Of an aggregate; `types` where a family made it. */
export interface AggregateKey {
  readonly name: string;
  readonly place: number;
  readonly types: readonly TypeKey[] | null;
}

export function keyOfAggregate(fn: AggregateFunction): AggregateKey | null {
  const place = AGGREGATES.get(fn.name)?.indexOf(fn) ?? -1;
  if (place >= 0) return { name: fn.name, place, types: null };
  const made = typesOfInstance(fn);
  const types = made?.map(typeKey) ?? [null];
  if (!areKnown(types)) return null;
  const family = AGGREGATE_FAMILIES.get(fn.name)?.findIndex((one) => one.instantiate(made!) === fn) ?? -1;
  return family < 0 ? null : { name: fn.name, place: family, types };
}

export function aggregateOfKey({ name, place, types }: AggregateKey): AggregateFunction {
  if (types === null) return AGGREGATES.get(name)![place]!;
  return AGGREGATE_FAMILIES.get(name)![place]!.instantiate(types.map(typeOfKey))!;
}

export function typeKey(type: SqlType): TypeKey | null {
  if (type.user !== undefined || type.fields !== undefined) return null;
  const element = type.element === null ? null : typeKey(type.element);
  if (type.element !== null && element === null) return null;
  return { name: type.name, modifier: type.modifier, element };
}

function areKnown(types: readonly (TypeKey | null)[]): types is readonly TypeKey[] {
  return !types.includes(null);
}

export function typeOfKey({ name, modifier, element }: TypeKey): SqlType {
  return element === null ? typeOf(name, modifier) : arrayOf(typeOfKey(element));
}

/**
 * The form of an expression of calls and casts; its columns, parameters and constants become leaves and are added to
 * `leaves`. Null: something in it is known to this process only, or asks for more than values.
 */
export function sentExpr(expr: Expr, leaves: Expr[]): SentExpr | null {
  const type = typeKey(expr.type);
  if (type === null) return null;
  switch (expr.kind) {
    case "column":
    case "param":
    case "const":
      return { leaf: leaves.push(expr) - 1, type };
    case "cast": {
      const input = expr.assignment === true ? null : sentExpr(expr.input, leaves);
      return input === null ? null : { cast: input, type };
    }
    case "call": {
      const { volatility, deferred, lazy, routine } = expr.fn;
      if (volatility === "volatile" || deferred !== undefined || lazy === true || routine !== undefined) return null;
      if (expr.fn.applyInTurns !== undefined) return null;
      const fn = keyOfFunction(expr.fn);
      const args = expr.args.map((arg) => sentExpr(arg, leaves));
      return fn === null || args.includes(null) ? null : { fn, args: args as SentExpr[], type };
    }
    default:
      return null;
  }
}

/** The types of leaves, by their places. */
export function leafTypes(sent: SentExpr, types: SqlType[] = []): SqlType[] {
  if ("leaf" in sent) types[sent.leaf] = typeOfKey(sent.type);
  else for (const part of "cast" in sent ? [sent.cast] : sent.args) leafTypes(part, types);
  return types;
}

/** The expression over columns that are the leaves: column i is leaf i. */
export function receivedExpr(sent: SentExpr): Expr {
  const type = typeOfKey(sent.type);
  if ("leaf" in sent) return { kind: "column", id: sent.leaf, type, name: "" };
  if ("cast" in sent) return { kind: "cast", type, input: receivedExpr(sent.cast) };
  return { kind: "call", type, fn: functionOfKey(sent.fn), args: sent.args.map(receivedExpr) };
}
