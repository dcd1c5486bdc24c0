/**
 * Bound expressions into closures that may wait: the same values as compile.ts gives, with turns for others between the
 * elements of lists, and calls over large values in another thread. Slower than compile.ts, so only statements that
 * have overrun use it (optimize/wait-in-expressions.ts). Parts that cannot take long are compiled as usual.
 */

import { Overrun } from "../../protocol/stretch.js";
import { BOOL, type Value } from "../../values/values.js";
import { atLength } from "./at-length.js";
import { compileExpr, type SlotOf } from "./compile.js";
import { listOfItems, Quantifier } from "./compile-list.js";
import { growing } from "./cypher/growing-list.js";
import type {
  Batch,
  CallExpr,
  CaseExpr,
  CastExpr,
  ColumnExpr,
  ColumnId,
  DeferredContext,
  Expr,
  InListExpr,
  ListExpr,
  LogicExpr,
} from "./expr.js";
import { sentExpr } from "./sent-expr.js";
import type { SentExpr } from "./sent-form.js";
import { ListMaker } from "./value-parts.js";
import { mayTakeLong, spendOn } from "./work.js";

/** Its value for one row, at once where nothing takes long. */
export type EvaluateWaiting = (batch: Batch, row: number, context: DeferredContext) => Value | Promise<Value>;

/** Elements between two looks at the clock. */
const ELEMENTS_PER_LOOK = 16;

export function compileWaiting(expr: Expr, slotOf: SlotOf): EvaluateWaiting {
  if (!mayTakeLong(expr)) return compileExpr(expr, slotOf);
  switch (expr.kind) {
    case "call":
    case "cast":
      return compileCall(expr, slotOf);
    case "and":
    case "or":
      return compileLogic(expr, slotOf);
    case "not": {
      const input = compileWaiting(expr.input, slotOf);
      return async (batch, row, context) => {
        const value = await input(batch, row, context);
        return value === null ? null : !value;
      };
    }
    case "isnull": {
      const input = compileWaiting(expr.input, slotOf);
      const test = compileExpr({ ...expr, input: columnOf(expr.input, 0) }, (slot) => slot);
      return async (batch, row, context) =>
        test({ columns: [[await input(batch, row, context)]], length: 1 }, 0, context);
    }
    case "case":
      return compileCase(expr, slotOf);
    case "in":
      return compileInList(expr, slotOf);
    case "list":
      return compileList(expr, slotOf);
    default:
      return compileExpr(expr, slotOf);
  }
}

/**
 * A call together with its arguments, if those are calls and casts. If its values are small it is computed at once,
 * else in another process, to which only the values that it reads are sent.
 */
function compileCall(expr: CallExpr | CastExpr, slotOf: SlotOf): EvaluateWaiting {
  const leaves: Expr[] = [];
  const sent = sentExpr(expr, leaves);
  if (sent === null) return expr.kind === "cast" ? compileCast(expr, slotOf) : compileCallOfParts(expr, slotOf);
  const evaluate = compileExpr(expr, slotOf);
  const values = leaves.map((leaf) => compileExpr(leaf, slotOf));
  return (batch, row, context) => {
    try {
      return evaluate(batch, row, context);
    } catch (error) {
      if (!(error instanceof Overrun)) throw error;
    }
    const given = values.map((value) => value(batch, row, context));
    return elsewhere(sent, given, context, () => evaluate(batch, row, context));
  };
}

/** The value by another process, or by `here` where that is not possible. */
async function elsewhere(
  expr: SentExpr | null,
  values: readonly Value[],
  context: DeferredContext,
  here: () => Value,
): Promise<Value> {
  const value = expr === null ? undefined : await context.services.computeElsewhere(expr, values, context);
  if (value === undefined) return atLength(context, here);
  await context.yieldTurn();
  return value;
}

function compileCast(expr: CastExpr, slotOf: SlotOf): EvaluateWaiting {
  const input = compileWaiting(expr.input, slotOf);
  const convert = compileExpr({ ...expr, input: columnOf(expr.input, 0) }, (slot) => slot);
  return async (batch, row, context) => {
    const value = await input(batch, row, context);
    return atLength(context, () => convert({ columns: [[value]], length: 1 }, 0, context));
  };
}

const columnOf = ({ type }: Expr, id: ColumnId): ColumnExpr => ({ kind: "column", type, id, name: "" });

/** A call in whose arguments something has to be waited for. */
function compileCallOfParts(expr: CallExpr, slotOf: SlotOf): EvaluateWaiting {
  const { fn } = expr;
  const args = expr.args.map((arg) => compileWaiting(arg, slotOf));
  if (fn.name === "coalesce" && fn.lazy === true) {
    return async (batch, row, context) => {
      for (const arg of args) {
        const value = await arg(batch, row, context);
        if (value !== null) return value;
      }
      return null;
    };
  }
  const apply = applying(expr);
  const from = (
    i: number,
    values: Value[],
    batch: Batch,
    row: number,
    context: DeferredContext,
  ): Value | Promise<Value> => {
    for (let at = i; at < args.length; at++) {
      const value = args[at]!(batch, row, context);
      if (value instanceof Promise) {
        return value.then((arrived) => {
          if (fn.strict && arrived === null) return null;
          values.push(arrived);
          return from(at + 1, values, batch, row, context);
        });
      }
      if (fn.strict && value === null) return null;
      values.push(value);
    }
    return apply(values, context);
  };
  return (batch, row, context) => from(0, [], batch, row, context);
}

/** The call over arguments that have been computed. */
function applying({ fn, args, type }: CallExpr): (values: Value[], context: DeferredContext) => Value | Promise<Value> {
  const over: CallExpr = { kind: "call", type, fn, args: args.map(columnOf) };
  const sent = sentExpr(over, []);
  return (values, context) => {
    if (fn.routine !== undefined) return context.services.callRoutine(fn.routine, values, context, true);
    const given = fn.lazy === true ? values.map((value) => () => value) : values;
    const apply = (): Value => (fn.needsContext === true ? fn.apply(context, ...given) : fn.apply(...given));
    try {
      if (fn.nanosPerUnit !== 0) spendOn(fn, values);
      return apply();
    } catch (error) {
      if (!(error instanceof Overrun)) throw error;
    }
    if (fn.applyInTurns !== undefined) return fn.applyInTurns(context, ...values);
    return elsewhere(sent, values, context, apply);
  };
}

function compileLogic(expr: LogicExpr, slotOf: SlotOf): EvaluateWaiting {
  const args = expr.args.map((arg) => compileWaiting(arg, slotOf));
  const decisive = expr.kind === "or";
  const from = (
    i: number,
    unknown: boolean,
    batch: Batch,
    row: number,
    context: DeferredContext,
  ): Value | Promise<Value> => {
    let isOpen = unknown;
    for (let at = i; at < args.length; at++) {
      const value = args[at]!(batch, row, context);
      if (value instanceof Promise) {
        return value.then((arrived) =>
          arrived === decisive ? decisive : from(at + 1, isOpen || arrived === null, batch, row, context),
        );
      }
      if (value === decisive) return decisive;
      if (value === null) isOpen = true;
    }
    return isOpen ? null : !decisive;
  };
  return (batch, row, context) => from(0, false, batch, row, context);
}

function compileCase(expr: CaseExpr, slotOf: SlotOf): EvaluateWaiting {
  const conditions = expr.branches.map((branch) => compileWaiting(branch.when, slotOf));
  const results = expr.branches.map((branch) => compileWaiting(branch.then, slotOf));
  const otherwise = expr.otherwise === null ? () => null : compileWaiting(expr.otherwise, slotOf);
  return async (batch, row, context) => {
    for (let i = 0; i < conditions.length; i++) {
      if ((await conditions[i]!(batch, row, context)) === true) return results[i]!(batch, row, context);
    }
    return otherwise(batch, row, context);
  };
}

function compileInList({ input, items, equals, negated }: InListExpr, slotOf: SlotOf): EvaluateWaiting {
  const given = compileWaiting(input, slotOf);
  const evaluators = items.map((item) => compileWaiting(item, slotOf));
  const equal = applying({ kind: "call", type: BOOL, fn: equals, args: [input, items[0] ?? input] });
  return async (batch, row, context) => {
    const value = await given(batch, row, context);
    if (value === null) return null;
    let unknown = false;
    for (const evaluate of evaluators) {
      const item = await evaluate(batch, row, context);
      const answer = item === null ? null : await equal([value, item], context);
      if (answer === true) return !negated;
      if (answer === null) unknown = true;
    }
    return unknown ? null : negated;
  };
}

/** What is done with each element; answers true when no further one counts. */
type Element = (item: Value, batch: Batch, row: number, context: DeferredContext) => boolean | Promise<boolean>;

interface ListRun {
  readonly element: Element;
  result(): Value;
}

type OpenListRun = (
  locals: Map<ColumnId, Value>,
  batch: Batch,
  row: number,
  context: DeferredContext,
) => ListRun | Promise<ListRun>;

function compileList(expr: ListExpr, slotOf: SlotOf): EvaluateWaiting {
  const list = compileWaiting(expr.list, slotOf);
  const open = runOf(expr, slotOf);
  return async (batch, row, context) => {
    const items = await list(batch, row, context);
    if (items === null) return null;
    const locals = new Map(context.outer);
    const within = { ...context, outer: locals };
    const run = await open(locals, batch, row, within);
    let sinceLook = 0;
    for (const item of listOfItems(items)) {
      if (++sinceLook === ELEMENTS_PER_LOOK) {
        sinceLook = 0;
        if (context.shouldYield()) await context.yieldTurn();
      }
      locals.set(expr.variable, item);
      const decided = run.element(item, batch, row, within);
      if (decided instanceof Promise ? await decided : decided) break;
    }
    return run.result();
  };
}

function runOf(expr: ListExpr, slotOf: SlotOf): OpenListRun {
  if (expr.form === "map") return mapping(expr, slotOf);
  if (expr.form === "reduce") return reducing(expr, slotOf);
  const test = compileWaiting(expr.where!, slotOf);
  return () => {
    const quantifier = new Quantifier(expr.form);
    return {
      element: (_item, batch, row, context) => {
        const value = test(batch, row, context);
        return value instanceof Promise
          ? value.then((arrived) => quantifier.isDecidedBy(arrived))
          : quantifier.isDecidedBy(value);
      },
      result: () => quantifier.answer,
    };
  };
}

function mapping({ where, result }: ListExpr, slotOf: SlotOf): OpenListRun {
  const passes = where === null ? () => true : compileWaiting(where, slotOf);
  const value = result === null ? null : compileWaiting(result, slotOf);
  return () => {
    const values = new ListMaker();
    const keep = (kept: Value): boolean => {
      values.add(kept);
      return false;
    };
    const take: Element = (item, batch, row, context) => {
      const made = value === null ? item : value(batch, row, context);
      return made instanceof Promise ? made.then(keep) : keep(made);
    };
    return {
      element(item, batch, row, context) {
        const passed = passes(batch, row, context);
        if (passed instanceof Promise) {
          return passed.then((arrived) => (arrived === true ? take(item, batch, row, context) : false));
        }
        return passed === true ? take(item, batch, row, context) : false;
      },
      result: () => values.list,
    };
  };
}

function reducing({ accumulator, initial, result }: ListExpr, slotOf: SlotOf): OpenListRun {
  const first = compileWaiting(initial!, slotOf);
  const next = compileWaiting(result!, slotOf);
  const canGrow = growing(result!, accumulator!, (part) => compileExpr(part, slotOf));
  // What is added for one element may take long by itself: then the list is copied, which is the smaller evil.
  const grows = canGrow !== null && !addsAtLength(result!) ? canGrow : null;
  return async (locals, batch, row, context) => {
    let value = await first(batch, row, context);
    const grown = grows?.(value) ?? null;
    return {
      element(_item, rows, at, within) {
        if (grown !== null) {
          value = grown.next(rows, at, within);
          return false;
        }
        locals.set(accumulator!, value);
        const made = next(rows, at, within);
        if (!(made instanceof Promise)) {
          value = made;
          return false;
        }
        return made.then((arrived) => {
          value = arrived;
          return false;
        });
      },
      result: () => value,
    };
  };
}

function addsAtLength(result: Expr): boolean {
  if (result.kind === "call") return result.args.slice(1).some((arg) => arg.kind === "list" || mayTakeLong(arg));
  if (result.kind !== "case") return false;
  return [...result.branches.map((branch) => branch.then), result.otherwise!].some(addsAtLength);
}
