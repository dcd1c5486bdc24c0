/**
 * Expressions on their way to a thread that evaluates them over rows of its own: conditions and CASE, too, with their
 * columns and constants in them. What is not certain to give the same there has no such form: calls that are not
 * immutable or ask for the statement's context, functions that statements made, subqueries, values of classes that only
 * one thread knows.
 */
import { Numeric } from "../../values/numeric.js";
import type { SqlArray, Value } from "../../values/values.js";
import type { ColumnId, Expr, ScalarFunction } from "./expr.js";
import { functionOfKey, keyOfFunction, typeKey, typeOfKey } from "./sent-expr.js";
import type { FunctionKey, TypeKey } from "./sent-form.js";

/** A value that V8's format keeps, or a numeric's parts. */
export type SentValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | { readonly numeric: Pick<Numeric, "unscaled" | "scale" | "special"> }
  | { readonly items: readonly SentValue[]; readonly shape: Pick<SqlArray, "dimensions" | "lowerBounds"> };

export type SentCondition = { readonly type: TypeKey } & (
  | { readonly kind: "const"; readonly value: SentValue }
  | { readonly kind: "param"; readonly index: number }
  | { readonly kind: "column"; readonly id: ColumnId; readonly name: string }
  | { readonly kind: "call"; readonly fn: FunctionKey; readonly args: readonly SentCondition[] }
  | { readonly kind: "cast"; readonly input: SentCondition }
  | { readonly kind: "and" | "or"; readonly args: readonly SentCondition[] }
  | { readonly kind: "not"; readonly input: SentCondition }
  | { readonly kind: "isnull"; readonly input: SentCondition; readonly negated: boolean }
  | {
      readonly kind: "case";
      readonly whens: readonly SentCondition[];
      readonly thens: readonly SentCondition[];
      readonly otherwise: SentCondition | null;
    }
  | {
      readonly kind: "in";
      readonly input: SentCondition;
      readonly items: readonly SentCondition[];
      readonly equals: FunctionKey;
      readonly negated: boolean;
    }
);

/** Constants with more items stay where they are. */
const ITEMS_MAX = 1000;

/** Undefined: it has no such form. */
export function sentLeaf(value: Value): SentValue | undefined {
  if (value instanceof Numeric) {
    const { unscaled, scale, special } = value;
    return { numeric: { unscaled, scale, special } };
  }
  if (typeof value !== "object" || value === null) return value;
  if (!("elements" in value) || !("lowerBounds" in value)) return undefined;
  const { elements, dimensions, lowerBounds } = value as SqlArray;
  if (elements.length > ITEMS_MAX) return undefined;
  const items = elements.map(sentLeaf);
  return areSent(items) ? { items, shape: { dimensions, lowerBounds } } : undefined;
}

export function receivedLeaf(sent: SentValue): Value {
  if (typeof sent !== "object" || sent === null) return sent;
  if ("items" in sent) return { elements: sent.items.map(receivedLeaf), ...sent.shape };
  const { unscaled, scale, special } = sent.numeric;
  return special === null ? Numeric.of(unscaled, scale) : Numeric.parse(special);
}

function areSent<T>(items: readonly (T | undefined)[]): items is readonly T[] {
  return !items.includes(undefined);
}

export class Sender {
  /** Parameters that were met. */
  readonly parameters = new Set<number>();

  /** `columns`: those that the other thread has; others belong to queries around. */
  constructor(private readonly columns: ReadonlySet<ColumnId>) {}

  /** Undefined: one of them has no such form. */
  all(exprs: readonly Expr[]): readonly SentCondition[] | undefined {
    const sent = exprs.map((expr) => this.of(expr));
    return areSent(sent) ? sent : undefined;
  }

  of(expr: Expr): SentCondition | undefined {
    const type = typeKey(expr.type);
    if (type === null) return undefined;
    switch (expr.kind) {
      case "const": {
        const value = sentLeaf(expr.value);
        return value === undefined ? undefined : { kind: "const", type, value };
      }
      case "param":
        this.parameters.add(expr.index);
        return { kind: "param", type, index: expr.index };
      case "column":
        return this.columns.has(expr.id) ? { kind: "column", type, id: expr.id, name: expr.name } : undefined;
      case "call": {
        const fn = pureKey(expr.fn);
        const args = fn === undefined ? undefined : this.all(expr.args);
        return args === undefined ? undefined : { kind: "call", type, fn: fn!, args };
      }
      case "cast": {
        const input = expr.assignment === true ? undefined : this.of(expr.input);
        return input === undefined ? undefined : { kind: "cast", type, input };
      }
      case "and":
      case "or": {
        const args = this.all(expr.args);
        return args === undefined ? undefined : { kind: expr.kind, type, args };
      }
      case "not": {
        const input = this.of(expr.input);
        return input === undefined ? undefined : { kind: "not", type, input };
      }
      case "isnull": {
        const input = this.of(expr.input);
        return input === undefined ? undefined : { kind: "isnull", type, input, negated: expr.negated };
      }
      case "case": {
        const whens = this.all(expr.branches.map(({ when }) => when));
        const thens = this.all(expr.branches.map(({ then }) => then));
        const otherwise = expr.otherwise === null ? null : this.of(expr.otherwise);
        if (whens === undefined || thens === undefined || otherwise === undefined) return undefined;
        return { kind: "case", type, whens, thens, otherwise };
      }
      case "in": {
        const input = this.of(expr.input);
        const items = this.all(expr.items);
        const equals = pureKey(expr.equals);
        if (input === undefined || items === undefined || equals === undefined) return undefined;
        return { kind: "in", type, input, items, equals, negated: expr.negated };
      }
      default:
        return undefined;
    }
  }
}

function pureKey(fn: ScalarFunction): FunctionKey | undefined {
  const { volatility, needsContext, deferred, routine, slow, writes, applyInTurns } = fn;
  if (volatility !== "immutable" || needsContext === true || deferred !== undefined || routine !== undefined)
    return undefined;
  if (slow === true || writes === true || applyInTurns !== undefined) return undefined;
  return keyOfFunction(fn) ?? undefined;
}

export function receivedCondition(sent: SentCondition): Expr {
  const type = typeOfKey(sent.type);
  switch (sent.kind) {
    case "const":
      return { kind: "const", type, value: receivedLeaf(sent.value) };
    case "param":
      return { kind: "param", type, index: sent.index };
    case "column":
      return { kind: "column", type, id: sent.id, name: sent.name };
    case "call":
      return { kind: "call", type, fn: functionOfKey(sent.fn), args: sent.args.map(receivedCondition) };
    case "cast":
      return { kind: "cast", type, input: receivedCondition(sent.input) };
    case "and":
    case "or":
      return { kind: sent.kind, type, args: sent.args.map(receivedCondition) };
    case "not":
      return { kind: "not", type, input: receivedCondition(sent.input) };
    case "isnull":
      return { kind: "isnull", type, input: receivedCondition(sent.input), negated: sent.negated };
    case "case": {
      const branches = sent.whens.map((when, i) => ({
        when: receivedCondition(when),
        // biome-ignore lint/suspicious/noThenProperty: the node names its parts as SQL does
        then: receivedCondition(sent.thens[i]!),
      }));
      return {
        kind: "case",
        type,
        branches,
        otherwise: sent.otherwise === null ? null : receivedCondition(sent.otherwise),
      };
    }
    case "in": {
      const { input, items, equals, negated } = sent;
      return {
        kind: "in",
        type,
        input: receivedCondition(input),
        items: items.map(receivedCondition),
        equals: functionOfKey(equals),
        negated,
      };
    }
  }
}
