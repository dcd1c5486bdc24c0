/**
 * Estimates the share of rows for which a condition is true, from the statistics of its columns. Conditions count as
 * independent of each other, except for two bounds of one column. Used by cardinality.ts, which names the sources of
 * the formulas.
 */
import type { ColumnStatistics } from "../../catalog/statistics.js";
import { includesLabel } from "../../values/labels.js";
import { LTREE, type SqlArray, VARIANT, type Value } from "../../values/values.js";
import { compilePredicate } from "../expr/compile.js";
import { similarityCondition } from "../expr/cypher/similarity.js";
import type { ColumnId, Expr, ScalarFunction } from "../expr/expr.js";
import { isSessionCast, NEUTRAL_CONTEXT } from "../expr/fold.js";
import { columnsOf, conjuncts, someExpr } from "../expr/walk.js";
import { clamp, type KnownColumns, UNKNOWN_DISTINCT, UNKNOWN_RANGE } from "./known-columns.js";

const UNKNOWN_CONDITION = 1 / 3;
const LIKE_PREFIX = 0.02;
const LIKE_INSIDE = 0.05;
/** Of paths that are below one, above one, or match a pattern. */
const PATHS_SHARE = 0.005;
const UNKNOWN_LABEL = 0.1;
/** Pairs of nodes that are as similar as a pattern wants them to be. */
const SIMILAR_SHARE = 0.01;
/** How much of a range is taken when its two bounds seem to exclude each other. */
const RANGE_WIDTH_UNKNOWN = 0.01;
const HISTOGRAM_ENOUGH = 20;
/** Part of the rows whose values are known one by one, from which on the others need no sample. */
const KNOWN_ENOUGH = 0.9;
/** Unknown arrays are assumed to be as long as in PostgreSQL. */
const ARRAY_GUESS = 10;

export class Selectivity {
  constructor(private readonly columns: KnownColumns) {}

  /** Part of the rows, 0 to 1, for which the condition is true. */
  of(predicate: Expr | null): number {
    const ranges = new Map<ColumnId, { above: number; below: number }>();
    let product = 1;
    for (const condition of conjuncts(predicate)) {
      const bound = this.boundOf(condition);
      if (bound === null) {
        product *= this.ofCondition(condition);
        continue;
      }
      const range = ranges.get(bound.id) ?? { above: 1, below: 1 };
      if (bound.isLower) range.above = Math.min(range.above, bound.selectivity);
      else range.below = Math.min(range.below, bound.selectivity);
      ranges.set(bound.id, range);
    }
    // What is above a and below b is what is above a, less what is not below b.
    for (const { above, below } of ranges.values()) {
      const both = above + below - 1;
      product *= both > 0.001 ? both : Math.min(above, below) * RANGE_WIDTH_UNKNOWN;
    }
    return clamp(product);
  }

  ofCondition(condition: Expr): number {
    if (similarityCondition(condition) !== null) return SIMILAR_SHARE;
    return this.ofComputed(condition) ?? this.ofKind(condition);
  }

  /** What a condition on something computed of one column says of the column's known values. */
  private ofComputed(condition: Expr): number | null {
    const computed = computedIn(condition);
    if (computed === null) return null;
    const [id] = columnsOf(computed);
    const statistics = this.columns.of(id!)?.statistics ?? null;
    return statistics === null ? null : sampledShare(statistics, condition);
  }

  private ofKind(condition: Expr): number {
    switch (condition.kind) {
      case "const":
        return condition.value === true ? 1 : 0;
      case "and":
        return this.of(condition);
      case "or": {
        let none = 1;
        for (const arg of condition.args) none *= 1 - this.of(arg);
        return clamp(1 - none);
      }
      case "not":
        return clamp(1 - this.ofCondition(condition.input));
      case "isnull": {
        const info = columnIn(condition.input) === null ? undefined : this.columns.of(columnIn(condition.input)!);
        const nulls = info?.statistics?.nullFraction ?? (info === undefined ? UNKNOWN_CONDITION : 0.01);
        return condition.negated ? 1 - nulls : nulls;
      }
      case "in": {
        let sum = 0;
        for (const item of condition.items) sum += this.equality(condition.input, item);
        return clamp(condition.negated ? 1 - Math.min(1, sum) : sum);
      }
      case "column":
        return 0.5;
      case "call":
        return this.ofCall(condition);
      case "subquery":
        return 0.5;
      default:
        return UNKNOWN_CONDITION;
    }
  }

  private ofCall(call: Extract<Expr, { kind: "call" }>): number {
    const { operator, name } = call.fn;
    const [a, b] = call.args as [Expr, Expr | undefined];
    if (name === "has_label") return this.withLabel(a, b);
    if (b === undefined) return UNKNOWN_CONDITION;
    switch (operator) {
      case "=":
        return this.equality(a, b);
      case "<>":
        return clamp(1 - this.equality(a, b));
      case "<":
      case "<=":
      case ">":
      case ">=":
        return this.boundOf(call)?.selectivity ?? UNKNOWN_RANGE;
    }
    if (call.fn.anyOf?.operator === "=") return clamp(arrayLength(b) / this.columns.distinct(a, UNKNOWN_DISTINCT));
    const like = operator ?? name;
    if (like === "~~" || like === "~~*" || name.includes("like")) {
      const negated = like.startsWith("!") || name.startsWith("not");
      const selectivity = this.like(a, b);
      return negated ? 1 - selectivity : selectivity;
    }
    if (like.startsWith("!~~")) return 1 - this.like(a, b);
    return call.fn.args.includes(LTREE) ? this.ofPaths(call.fn, a, b) : UNKNOWN_CONDITION;
  }

  /** An operator of ltree on a column and a constant. */
  private ofPaths({ apply }: ScalarFunction, a: Expr, b: Expr): number {
    const id = columnIn(a) ?? columnIn(b);
    const statistics = id === null ? null : (this.columns.of(id)?.statistics ?? null);
    if (statistics === null) return PATHS_SHARE;
    if (a.kind === "const" && a.value !== null) {
      return sampled(statistics, (path) => apply(a.value, path) === true, PATHS_SHARE);
    }
    if (b.kind !== "const" || b.value === null) return PATHS_SHARE;
    return sampled(statistics, (path) => apply(path, b.value) === true, PATHS_SHARE);
  }

  private equality(a: Expr, b: Expr): number {
    const [left, right] = [columnIn(a), columnIn(b)];
    if (left !== null && right !== null) {
      return 1 / Math.max(this.columns.distinctOfColumn(left), this.columns.distinctOfColumn(right));
    }
    const id = left ?? right;
    if (id !== null) return this.columns.equalTo(this.columns.of(id) ?? null, left === null ? a : b);
    const distinct = Math.max(this.columns.distinct(a, UNKNOWN_DISTINCT), this.columns.distinct(b, UNKNOWN_DISTINCT));
    return 1 / distinct;
  }

  /** A comparison of a column with something known. */
  private boundOf(condition: Expr): { id: ColumnId; isLower: boolean; selectivity: number } | null {
    if (condition.kind !== "call" || condition.args.length !== 2) return null;
    const operator = condition.fn.operator;
    if (operator !== "<" && operator !== "<=" && operator !== ">" && operator !== ">=") return null;
    const [a, b] = condition.args as [Expr, Expr];
    const [left, right] = [columnIn(a), columnIn(b)];
    if ((left === null) === (right === null)) return null;
    const id = (left ?? right)!;
    if (columnsOf(left === null ? a : b).size > 0) return null;
    const isLower = operator.startsWith(">") === (left !== null);
    const info = this.columns.of(id) ?? null;
    const below = this.columns.below(info, left === null ? a : b);
    return { id, isLower, selectivity: isLower ? Math.max(0, 1 - below) : below };
  }

  /** The share of the known common values that match the pattern, else a guess by where it is anchored. */
  private like(input: Expr, pattern: Expr): number {
    if (pattern.kind !== "const" || typeof pattern.value !== "string") return LIKE_INSIDE;
    const text = pattern.value;
    const id = columnIn(input);
    const statistics = id === null ? null : (this.columns.of(id)?.statistics ?? null);
    if (statistics === null) return text.startsWith("%") ? LIKE_INSIDE : LIKE_PREFIX;
    const matches = matcherOf(text);
    return sampled(statistics, (value) => matches(String(value)), text.startsWith("%") ? LIKE_INSIDE : LIKE_PREFIX);
  }

  /** Nodes whose labels, a text as the column has it, have this one among them. */
  private withLabel(labels: Expr, label: Expr | undefined): number {
    const id = columnIn(labels);
    const statistics = id === null ? null : (this.columns.of(id)?.statistics ?? null);
    return label?.kind === "const" ? labelShare(statistics, String(label.value)) : UNKNOWN_LABEL;
  }
}

/**
 * The share of the known common values that pass, and of the others a guess that is weighed against the bounds, a small
 * sample.
 */
function sampled(
  { common, histogram, nullFraction }: ColumnStatistics,
  test: (value: Value) => boolean,
  guess: number,
) {
  let part = 0;
  let commonRows = 0;
  for (const { value, fraction } of common) {
    commonRows += fraction;
    if (test(value)) part += fraction;
  }
  const hits = histogram.filter(test).length;
  const fraction = histogram.length < HISTOGRAM_ENOUGH ? guess : (hits / histogram.length + guess) / 2;
  return clamp(part + clamp(1 - commonRows - nullFraction) * fraction);
}

/** The expression over one column, and not the column itself, that is compared with constants; null: none is. */
function computedIn(condition: Expr): Expr | null {
  const isComparison = condition.kind === "call" && COMPARISONS.has(condition.fn.operator ?? "");
  const sides = isComparison ? condition.args : condition.kind === "in" ? [condition.input, ...condition.items] : [];
  const [computed, ...others] = sides.filter(({ kind }) => kind !== "const");
  if (computed === undefined || others.length > 0 || columnIn(computed) !== null) return null;
  return columnsOf(computed).size === 1 && isQuick(computed) ? computed : null;
}

const COMPARISONS: ReadonlySet<string> = new Set(["=", "<>", "<", "<=", ">", ">="]);

/** Types whose values statistics have as they are. */
const AS_MARKED: ReadonlySet<string> = new Set([
  ...["int2", "int4", "int8", "oid", "float4", "float8", "date", "time", "timestamp", "timestamptz"],
  ...["text", "varchar"],
]);

/** Whether it gives the same in every session, and takes little time of a value. */
function isQuick(expr: Expr): boolean {
  return !someExpr(expr, (node) => {
    if (node.kind === "column") return !AS_MARKED.has(node.type.name);
    if (node.kind === "const") return false;
    if (node.kind === "cast") return isSessionCast(node);
    if (node.kind !== "call") return true;
    const { volatility, routine, slow, deferred, needsContext } = node.fn;
    return (
      volatility !== "immutable" ||
      routine !== undefined ||
      slow === true ||
      deferred !== undefined ||
      needsContext === true
    );
  });
}

/** Null: too few values are known, or one of them makes the condition fail. */
function sampledShare({ common, histogram, nullFraction }: ColumnStatistics, condition: Expr): number | null {
  const isEnough = histogram.length >= HISTOGRAM_ENOUGH;
  const commonRows = common.reduce((sum, { fraction }) => sum + fraction, 0);
  if (!isEnough && commonRows + nullFraction < KNOWN_ENOUGH) return null;
  const predicate = compilePredicate(condition, () => 0);
  const passes = (value: Value): boolean => predicate({ columns: [[value]], length: 1 }, 0, NEUTRAL_CONTEXT);
  try {
    let part = 0;
    for (const { value, fraction } of common) if (passes(value)) part += fraction;
    const others = clamp(1 - commonRows - nullFraction);
    if (isEnough) part += (others * (histogram.filter(passes).length + 0.5)) / (histogram.length + 1);
    return clamp(part);
  } catch {
    return null;
  }
}

/** The column that the expression is, under casts. */
export function columnIn(expr: Expr): ColumnId | null {
  if (expr.kind === "cast") return columnIn(expr.input);
  return expr.kind === "column" ? expr.id : null;
}

/** Part of a graph's nodes that have the label, by the statistics of the column `labels`. */
export function labelShare(statistics: ColumnStatistics | null, label: string): number {
  if (statistics === null) return UNKNOWN_LABEL;
  let share = 0;
  for (const { value, fraction } of statistics.common) if (includesLabel(String(value), label)) share += fraction;
  return clamp(share);
}

function matcherOf(pattern: string): (text: string) => boolean {
  const parts = pattern.split("%");
  const [first, last] = [parts[0]!, parts.at(-1)!];
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last)) return false;
    let from = first.length;
    for (const part of parts.slice(1, -1)) {
      const at = text.indexOf(part, from);
      if (at < 0) return false;
      from = at + part.length;
    }
    return true;
  };
}

export function arrayLength(array: Expr): number {
  if (array.kind !== "const" || array.value === null) return ARRAY_GUESS;
  // A list of Cypher, or what else IN is given.
  if (array.type === VARIANT) return Array.isArray(array.value) ? array.value.length : 1;
  return (array.value as SqlArray).elements.length;
}
