/**
 * Bound expressions into closures. The executor compiles each expression of a plan once and calls the closure per row;
 * plans are cached and shared, so a closure keeps no state: parameters, time and services come with the EvalContext.
 *
 * Shapes that rows spend their time in (columns, constants, number comparisons, AND of two) have closures of their own.
 */
import { sqlError } from "../../protocol/errors.js";
import { compareText } from "../../values/compare-text.js";
import type { SqlType, Value } from "../../values/values.js";
import { comparedConversion, conversionOf } from "./cast.js";
import { hashKeyOf } from "./compare.js";
import { compileList } from "./compile-list.js";
import type {
  Batch,
  CallExpr,
  CaseExpr,
  CastExpr,
  ColumnId,
  ConstExpr,
  EvalContext,
  Evaluate,
  Expr,
  InListExpr,
  LogicExpr,
  ScalarFunction,
  SubqueryExpr,
} from "./expr.js";
import { comparesByHash, hashedHas } from "./hashed-items.js";
import { displayName } from "./types.js";
import { isPlainScalar } from "./variant-order.js";
import { measured, spendOn, takesLargeValues } from "./work.js";

export type SlotOf = (id: ColumnId) => number;
export type Predicate = (batch: Batch, row: number, context: EvalContext) => boolean;

/**
 * A closure that gives the expression's value for one row. `slotOf` maps a column to its place in the batch; −1 for a
 * column of an enclosing query, which is then read from `context.outer`.
 */
export function compileExpr(expr: Expr, slotOf: SlotOf): Evaluate {
  switch (expr.kind) {
    case "const": {
      const { value } = expr;
      return () => value;
    }
    case "param": {
      const { index } = expr;
      return (_batch, _row, context) => context.params[index] as Value;
    }
    case "column":
      return compileColumn(expr.id, slotOf);
    case "call":
      return compileCall(expr, slotOf);
    case "cast":
      return compileCast(expr, slotOf);
    case "and":
    case "or":
      return compileLogic(expr, slotOf);
    case "not": {
      const input = compileExpr(expr.input, slotOf);
      return (batch, row, context) => {
        const value = input(batch, row, context);
        return value === null ? null : !value;
      };
    }
    case "isnull":
      return compileIsNull(compileExpr(expr.input, slotOf), expr.input.type, expr.negated);
    case "case":
      return compileCase(expr, slotOf);
    case "in":
      return compileInList(expr, slotOf);
    case "subquery":
      return compileSubquery(expr, slotOf);
    case "list":
      return compileList(expr, slotOf, { expr: compileExpr, predicate: compilePredicate });
  }
}

/** A condition as a filter takes it: NULL counts as false. */
export function compilePredicate(expr: Expr, slotOf: SlotOf): Predicate {
  if (expr.kind === "and") {
    const parts = expr.args.map((arg) => compilePredicate(arg, slotOf));
    const [first, second] = parts as [Predicate, Predicate];
    if (parts.length === 2) return (batch, row, context) => first(batch, row, context) && second(batch, row, context);
    return (batch, row, context) => parts.every((part) => part(batch, row, context));
  }
  if (expr.kind === "or") {
    const parts = expr.args.map((arg) => compilePredicate(arg, slotOf));
    return (batch, row, context) => parts.some((part) => part(batch, row, context));
  }
  const evaluate = compileExpr(expr, slotOf);
  return (batch, row, context) => evaluate(batch, row, context) === true;
}

function compileColumn(id: ColumnId, slotOf: SlotOf): Evaluate {
  const slot = slotOf(id);
  if (slot >= 0) return (batch, row) => (batch.columns[slot] as ArrayLike<Value>)[row] as Value;
  return (_batch, _row, context) => (context.outer as ReadonlyMap<ColumnId, Value>).get(id) as Value;
}

function compileCall(expr: CallExpr, slotOf: SlotOf): Evaluate {
  const { fn } = expr;
  const args = expr.args.map((arg) => compileExpr(arg, slotOf));
  if (fn.lazy === true) return compileLazy(fn, args);
  if (fn.operator !== undefined && expr.args.length === 2) {
    const operands = expr.args as [Expr, Expr];
    const fast = compileComparison(fn.operator, operands, compiledOperands(operands, args, slotOf));
    if (fast !== null) return fast;
  }
  const apply = takesLargeValues(fn) && fn.nanosPerUnit !== 0 ? measured(fn) : fn.apply;
  if (fn.needsContext === true) return compileContextCall(fn, apply, args);
  return fn.strict ? compileStrictCall(apply, args) : compileNullableCall(apply, args);
}

/** Calls that NULL arguments answer with NULL. */
function compileStrictCall(apply: ScalarFunction["apply"], args: readonly Evaluate[]): Evaluate {
  const [a, b, c] = args as [Evaluate, Evaluate, Evaluate];
  switch (args.length) {
    case 0:
      return () => apply();
    case 1:
      return (batch, row, context) => {
        const x = a(batch, row, context);
        return x === null ? null : apply(x);
      };
    case 2:
      return (batch, row, context) => {
        const x = a(batch, row, context);
        const y = b(batch, row, context);
        return x === null || y === null ? null : apply(x, y);
      };
    case 3:
      return (batch, row, context) => {
        const x = a(batch, row, context);
        const y = b(batch, row, context);
        const z = c(batch, row, context);
        return x === null || y === null || z === null ? null : apply(x, y, z);
      };
    default:
      return (batch, row, context) => {
        const values = args.map((arg) => arg(batch, row, context));
        return values.includes(null) ? null : apply(...values);
      };
  }
}

function compileNullableCall(apply: ScalarFunction["apply"], args: readonly Evaluate[]): Evaluate {
  const [a, b] = args as [Evaluate, Evaluate];
  switch (args.length) {
    case 1:
      return (batch, row, context) => apply(a(batch, row, context));
    case 2:
      return (batch, row, context) => apply(a(batch, row, context), b(batch, row, context));
    default:
      return (batch, row, context) => apply(...args.map((arg) => arg(batch, row, context)));
  }
}

function compileContextCall(
  { strict }: ScalarFunction,
  apply: ScalarFunction["apply"],
  args: readonly Evaluate[],
): Evaluate {
  if (args.length === 0) return (_batch, _row, context) => apply(context);
  if (args.length === 1) {
    const arg = args[0] as Evaluate;
    return (batch, row, context) => {
      const value = arg(batch, row, context);
      return strict && value === null ? null : apply(context, value);
    };
  }
  return (batch, row, context) => {
    const values = args.map((arg) => arg(batch, row, context));
    return strict && values.includes(null) ? null : apply(context, ...values);
  };
}

function compileLazy(fn: ScalarFunction, args: readonly Evaluate[]): Evaluate {
  const { apply } = fn;
  if (fn.name !== "coalesce") {
    return (batch, row, context) => apply(...args.map((arg) => () => arg(batch, row, context)));
  }
  if (args.length === 2) {
    const [a, b] = args as [Evaluate, Evaluate];
    return (batch, row, context) => a(batch, row, context) ?? b(batch, row, context);
  }
  return (batch, row, context) => {
    for (const arg of args) {
      const value = arg(batch, row, context);
      if (value !== null) return value;
    }
    return null;
  };
}

/** Types whose values JavaScript's own operators compare: integers (also as bigint) and points in time. */
const ORDERED_BY_NUMBER = new Set(["int2", "int4", "int8", "oid", "date", "time", "timestamp", "timestamptz"]);
const PLAIN_TEXT = new Set(["text", "varchar", "name", "uuid"]);

/**
 * Comparisons of numbers and strings without a call. int8 and timestamps mix number and bigint, which `<` compares by
 * value but `===` does not; as they are always normalised, two different representations are never equal.
 */
function compileComparison(
  operator: string,
  operands: readonly [Expr, Expr],
  args: readonly [Evaluate, Evaluate],
): Evaluate | null {
  const [left, right] = operands;
  const [a, b] = args;
  const numbers = ORDERED_BY_NUMBER.has(left.type.name) && ORDERED_BY_NUMBER.has(right.type.name);
  if (numbers && isTimestamp(left.type) === isTimestamp(right.type) && sameKind(left.type, right.type)) {
    return right.kind === "const" && typeof right.value === "number"
      ? compareWithNumber(operator, a, right.value)
      : compareNumbers(operator, a, b);
  }
  if (PLAIN_TEXT.has(left.type.name) && PLAIN_TEXT.has(right.type.name)) return compareStrings(operator, a, b);
  return null;
}

/** Of a comparison: times that are cast for it may be out of the range of timestamps. */
function compiledOperands(operands: readonly Expr[], args: readonly Evaluate[], slotOf: SlotOf) {
  return operands.map((operand, i) => {
    const convert = operand.kind === "cast" ? comparedConversion(operand.input.type, operand.type) : null;
    if (convert === null) return args[i]!;
    const input = compileExpr((operand as CastExpr).input, slotOf);
    return (batch: Batch, row: number, context: EvalContext) => {
      const value = input(batch, row, context);
      return value === null ? null : convert(value, context);
    };
  }) as [Evaluate, Evaluate];
}

const isTimestamp = (type: SqlType) => type.name === "timestamp" || type.name === "timestamptz";
const isInteger = (type: SqlType) => type.name.startsWith("int") || type.name === "oid";
const sameKind = (a: SqlType, b: SqlType) => a.name === b.name || (isInteger(a) && isInteger(b));

function compareWithNumber(operator: string, a: Evaluate, constant: number): Evaluate | null {
  switch (operator) {
    case "=":
      return (batch, row, context) => {
        const x = a(batch, row, context);
        return x === null ? null : x === constant;
      };
    case "<>":
      return (batch, row, context) => {
        const x = a(batch, row, context);
        return x === null ? null : x !== constant;
      };
    case "<":
      return (batch, row, context) => {
        const x = a(batch, row, context) as number | null;
        return x === null ? null : x < constant;
      };
    case "<=":
      return (batch, row, context) => {
        const x = a(batch, row, context) as number | null;
        return x === null ? null : x <= constant;
      };
    case ">":
      return (batch, row, context) => {
        const x = a(batch, row, context) as number | null;
        return x === null ? null : x > constant;
      };
    case ">=":
      return (batch, row, context) => {
        const x = a(batch, row, context) as number | null;
        return x === null ? null : x >= constant;
      };
    default:
      return null;
  }
}

function compareNumbers(operator: string, a: Evaluate, b: Evaluate): Evaluate | null {
  const test = numberTest(operator);
  if (test === null) return null;
  return (batch, row, context) => {
    const x = a(batch, row, context) as number | null;
    const y = b(batch, row, context) as number | null;
    return x === null || y === null ? null : test(x, y);
  };
}

function numberTest(operator: string): ((x: number, y: number) => boolean) | null {
  switch (operator) {
    case "=":
      return (x, y) => x === y;
    case "<>":
      return (x, y) => x !== y;
    case "<":
      return (x, y) => x < y;
    case "<=":
      return (x, y) => x <= y;
    case ">":
      return (x, y) => x > y;
    case ">=":
      return (x, y) => x >= y;
    default:
      return null;
  }
}

function compareStrings(operator: string, a: Evaluate, b: Evaluate): Evaluate | null {
  const test = stringTest(operator);
  if (test === null) return null;
  return (batch, row, context) => {
    const x = a(batch, row, context) as string | null;
    const y = b(batch, row, context) as string | null;
    return x === null || y === null ? null : test(x, y);
  };
}

function stringTest(operator: string): ((x: string, y: string) => boolean) | null {
  switch (operator) {
    case "=":
      return (x, y) => x === y;
    case "<>":
      return (x, y) => x !== y;
    case "<":
      return (x, y) => compareText(x, y) < 0;
    case "<=":
      return (x, y) => compareText(x, y) <= 0;
    case ">":
      return (x, y) => compareText(x, y) > 0;
    case ">=":
      return (x, y) => compareText(x, y) >= 0;
    default:
      return null;
  }
}

const CAST = {};

function compileCast(expr: CastExpr, slotOf: SlotOf): Evaluate {
  const input = compileExpr(expr.input, slotOf);
  const convert = conversionOf(expr.input.type, expr.type, expr.assignment === true);
  if (convert === null) {
    const [from, to] = [displayName(expr.input.type), displayName(expr.type)];
    throw sqlError("42846", `cannot cast type ${from} to ${to}`);
  }
  return (batch, row, context) => {
    const value = input(batch, row, context);
    if (value === null) return null;
    if (typeof value !== "number") spendOn(CAST, [value]);
    return convert(value, context);
  };
}

/** Kleene's AND and OR: `decisive` (false for AND) ends it, otherwise a NULL seen makes the result NULL. */
function compileLogic(expr: LogicExpr, slotOf: SlotOf): Evaluate {
  const args = expr.args.map((arg) => compileExpr(arg, slotOf));
  const decisive = expr.kind === "or";
  if (args.length === 2) {
    const [a, b] = args as [Evaluate, Evaluate];
    return (batch, row, context) => {
      const x = a(batch, row, context);
      if (x === decisive) return decisive;
      const y = b(batch, row, context);
      if (y === decisive) return decisive;
      return x === null || y === null ? null : !decisive;
    };
  }
  return (batch, row, context) => {
    let unknown = false;
    for (const arg of args) {
      const value = arg(batch, row, context);
      if (value === decisive) return decisive;
      if (value === null) unknown = true;
    }
    return unknown ? null : !decisive;
  };
}

/** A record IS NULL when all its fields are, and IS NOT NULL when none is. */
function compileIsNull(input: Evaluate, type: SqlType, negated: boolean): Evaluate {
  if (type.name === "record") {
    return (batch, row, context) => {
      const value = input(batch, row, context) as readonly Value[] | null;
      if (value === null) return !negated;
      return value.every((field) => (field === null) !== negated);
    };
  }
  return negated
    ? (batch, row, context) => input(batch, row, context) !== null
    : (batch, row, context) => input(batch, row, context) === null;
}

function compileCase(expr: CaseExpr, slotOf: SlotOf): Evaluate {
  const conditions = expr.branches.map((branch) => compilePredicate(branch.when, slotOf));
  const results = expr.branches.map((branch) => compileExpr(branch.then, slotOf));
  const otherwise: Evaluate = expr.otherwise === null ? () => null : compileExpr(expr.otherwise, slotOf);
  return (batch, row, context) => {
    for (let i = 0; i < conditions.length; i++) {
      if ((conditions[i] as Predicate)(batch, row, context)) return (results[i] as Evaluate)(batch, row, context);
    }
    return otherwise(batch, row, context);
  };
}

/** Lists of constants of the input's type become a set; others are compared one by one. */
function compileInList(expr: InListExpr, slotOf: SlotOf): Evaluate {
  const input = compileExpr(expr.input, slotOf);
  const { negated, equals, items } = expr;
  const sameType = items.every((item) => item.kind === "const" && item.type.name === expr.input.type.name);
  const isHashed =
    expr.input.type.name !== "variant" || items.every((item) => isPlainScalar((item as ConstExpr).value));
  if (sameType && isHashed && items.length > 3 && expr.input.type.name !== "record") {
    return inSet(input, expr, hashKeyOf(expr.input.type), negated);
  }
  const evaluators = items.map((item) => compileExpr(item, slotOf));
  const { apply } = equals;
  return (batch, row, context) => {
    const value = input(batch, row, context);
    if (value === null) return null;
    let unknown = false;
    for (const evaluate of evaluators) {
      const item = evaluate(batch, row, context);
      const equal = item === null ? null : apply(value, item);
      if (equal === true) return !negated;
      if (equal === null) unknown = true;
    }
    return unknown ? null : negated;
  };
}

function inSet(input: Evaluate, expr: InListExpr, keyOf: ReturnType<typeof hashKeyOf>, negated: boolean): Evaluate {
  const keys = new Set<ReturnType<typeof keyOf>>();
  let withNull = false;
  for (const item of expr.items) {
    const value = item.kind === "const" ? item.value : null;
    if (value === null) withNull = true;
    else keys.add(keyOf(value));
  }
  return (batch, row, context) => {
    const value = input(batch, row, context);
    if (value === null) return null;
    if (keys.has(keyOf(value))) return !negated;
    return withNull ? null : negated;
  };
}

/** Enclosing values go into `context.outer`; the executor runs the plan; IN, ANY and ALL compare its rows here. */
function compileSubquery(expr: SubqueryExpr, slotOf: SlotOf): Evaluate {
  const outer = expr.outer.map((id) => [id, compileColumn(id, slotOf)] as const);
  const run: Evaluate = (batch, row, context) => {
    if (outer.length === 0) return context.services.runSubquery(expr, context);
    const values = new Map(context.outer);
    for (const [id, read] of outer) values.set(id, read(batch, row, context));
    return context.services.runSubquery(expr, { ...context, outer: values });
  };
  if (expr.input === null || expr.compare === null) return run;
  const input = compileExpr(expr.input, slotOf);
  const { apply, strict, needsContext } = expr.compare;
  const decisive = expr.form !== "all";
  const keyOf = decisive && comparesByHash(expr.compare) ? hashKeyOf(expr.compare.args[0]!) : null;
  return (batch, row, context) => {
    const items = run(batch, row, context) as readonly Value[];
    if (items.length === 0) return !decisive;
    const value = input(batch, row, context);
    const found = keyOf === null ? undefined : hashedHas(items, value, keyOf);
    if (found !== undefined) return found;
    const test =
      needsContext === true ? (item: Value) => apply(context, value, item) : (item: Value) => apply(value, item);
    return compareWithAll(value, items, strict, test, decisive);
  };
}

/** `value op ANY (items)` when `decisive` is true, `op ALL` when it is false; NULL when a NULL leaves it open. */
function compareWithAll(
  value: Value,
  items: readonly Value[],
  strict: boolean,
  test: (item: Value) => Value,
  decisive: boolean,
): boolean | null {
  let unknown = false;
  for (const item of items) {
    const result = strict && (value === null || item === null) ? null : test(item);
    if (result === decisive) return decisive;
    if (result === null) unknown = true;
  }
  return unknown ? null : !decisive;
}
