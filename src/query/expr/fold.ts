/**
 * Constant folding: immutable calls and casts of constants are evaluated once, when a statement is planned. The
 * optimizer's first rule calls it. An error leaves the expression as it is, to surface only if it is evaluated at all
 * (`CASE WHEN x <> 0 THEN 1 / x …`).
 */
import { costLeft } from "../../values/value-cost.js";
import { BOOL, type Value } from "../../values/values.js";
import { dependsOnSession } from "./cast.js";
import { compileExpr } from "./compile.js";
import type { Batch, CaseExpr, CastExpr, ConstExpr, EvalContext, Expr, LogicExpr } from "./expr.js";
import { NO_SERVICES } from "./no-services.js";
import { dependsOnStyle, isFormedBySettings, isReadByStyle } from "./style-dependence.js";
import { mapExpr } from "./walk.js";

const NO_ROWS: Batch = { columns: [], length: 1 };

/** Nothing that folds looks at these: whatever depends on the session or on time is not immutable. */
export const NEUTRAL_CONTEXT: EvalContext = Object.freeze({
  params: [],
  transactionMicros: 0,
  statementMicros: 0,
  timeZone: "UTC",
  user: "",
  tenant: "",
  outer: null,
  checkpoint() {},
  services: NO_SERVICES,
});

/**
 * The expression with all that is constant evaluated, and with decided branches of AND, OR and CASE dropped.
 * `timeZone`: dates and times without a zone are read in it, for good; absent: they stay, since the session's zone may
 * be another one later.
 */
export function foldExpr(expr: Expr, timeZone: string | null = null): Expr {
  return mapExpr(expr, (node) => foldNode(node, timeZone));
}

/** Whether a time zone, a style or the time of day decides what this very expression gives, once it is folded. */
export function isSessionCast(expr: Expr): expr is CastExpr {
  if (expr.kind !== "cast") return false;
  const { input, type } = expr;
  return dependsOnSession(input.type, type) || dependsOnStyle(input.type, type);
}

function foldNode(expr: Expr, timeZone: string | null): Expr {
  switch (expr.kind) {
    case "call":
      if (expr.fn.volatility !== "immutable") return expr;
      if (expr.fn.strict && expr.args.some(isNull)) return constant(expr, null);
      if (expr.fn.routine !== undefined || expr.fn.slow || expr.fn.deferred !== undefined) return expr;
      return expr.args.every(isConst) ? evaluated(expr) : expr;
    case "cast":
      if (!isConst(expr.input)) return expr;
      if (isNull(expr.input)) return constant(expr, null);
      if (isFormedBySettings(expr.input.type, expr.type)) return expr;
      if (dependsOnStyle(expr.input.type, expr.type) && !isPlainInterval(expr)) return expr;
      return dependsOnSession(expr.input.type, expr.type) ? foldedIsoText(expr, timeZone) : evaluated(expr);
    case "and":
    case "or":
      return foldLogic(expr);
    case "not":
    case "isnull":
      return isConst(expr.input) ? evaluated(expr) : expr;
    case "case":
      return foldCase(expr);
    case "in":
      if (isNull(expr.input) && expr.items.length > 0) return constant(expr, null);
      return isConst(expr.input) && expr.items.every(isConst) ? evaluated(expr) : expr;
    default:
      return expr;
  }
}

/**
 * More parts than literals in a statement's text can have. Values that have more are computed when needed: plans are
 * kept, and printed.
 */
const FOLDED_PARTS_MAX = 64 * 1024;

const isConst = (expr: Expr): expr is ConstExpr => expr.kind === "const";
const isNull = (expr: Expr) => expr.kind === "const" && expr.value === null;

function constant(expr: Expr, value: Value): ConstExpr {
  return Object.freeze({ kind: "const", type: expr.type, value });
}

function evaluated(expr: Expr, timeZone: string | null = null): Expr {
  const context = timeZone === null ? NEUTRAL_CONTEXT : { ...NEUTRAL_CONTEXT, timeZone };
  try {
    const value = compileExpr(expr, () => -1)(NO_ROWS, 0, context);
    return costLeft(value, FOLDED_PARTS_MAX) < 0 ? expr : constant(expr, value);
  } catch {
    return expr;
  }
}

const INFINITE_TEXT = /^\s*[+-]?infinity\s*$/i;
/** Literal dates that begin with a digit do not say "now" or "today"; those with a zone of their own are fixed too. */
const FIXED_TEXT = /^\s*\d[\d\s:.T/-]*$/;
const FIXED_ZONED_TEXT = /^\s*\d{4,6}-\d\d-\d\d[ T]\d\d:\d\d[\d:.]*(?:Z|[+-]\d\d(?::?\d\d)?)\s*$/;

/**
 * The text of an interval that every IntervalStyle reads alike: `sql_standard` takes a sign at the beginning for all
 * parts.
 */
function isPlainInterval({ input, type }: Expr & { kind: "cast" }): boolean {
  return type.name === "interval" && !isReadByStyle(String((input as ConstExpr).value), type);
}

function foldedIsoText(expr: Expr & { kind: "cast" }, timeZone: string | null): Expr {
  const { value, type } = expr.input as ConstExpr;
  const isZoned = expr.type.name === "timestamptz";
  if (
    timeZone !== null &&
    isZoned &&
    (type.name === "date" || type.name === "timestamp" || FIXED_TEXT.test(String(value)))
  ) {
    return evaluated(expr, timeZone);
  }
  if (typeof value !== "string") return expr;
  if (INFINITE_TEXT.test(value) && isDateOrTimestamp(expr.type.name)) return evaluated(expr);
  if (isZoned) return FIXED_ZONED_TEXT.test(value) ? evaluated(expr) : expr;
  const local = expr.type.name === "date" || expr.type.name === "timestamp" || expr.type.name === "time";
  const isOpen = timeZone === null && isReadByStyle(value, expr.type);
  return local && !isOpen && FIXED_TEXT.test(value) ? evaluated(expr) : expr;
}

const isDateOrTimestamp = (name: string) => name === "date" || name === "timestamp" || name === "timestamptz";

/** Drops operands that do not decide and ends at the first that does. */
function foldLogic(expr: LogicExpr): Expr {
  const decisive = expr.kind === "or";
  const kept: Expr[] = [];
  for (const arg of expr.args) {
    if (!isConst(arg) || arg.value === null) kept.push(arg);
    else if (arg.value === decisive) {
      kept.push(arg);
      break;
    }
  }
  const last = kept.at(-1);
  if (last === undefined) return Object.freeze({ kind: "const", type: BOOL, value: !decisive });
  if (kept.length === 1) return last;
  if (kept.every(isConst)) return evaluated(Object.freeze({ ...expr, args: kept }));
  // What is beside a decisive operand can only fail, and SQL leaves open whether it is evaluated.
  if (isConst(last) && last.value === decisive) return last;
  return kept.length === expr.args.length ? expr : Object.freeze({ ...expr, args: kept });
}

function foldCase(expr: CaseExpr): Expr {
  const branches: CaseExpr["branches"][number][] = [];
  let { otherwise } = expr;
  for (const branch of expr.branches) {
    if (isConst(branch.when)) {
      if (branch.when.value !== true) continue;
      otherwise = branch.then;
      break;
    }
    branches.push(branch);
  }
  if (branches.length === 0) return otherwise ?? constant(expr, null);
  if (branches.length === expr.branches.length) return expr;
  return Object.freeze({ ...expr, branches, otherwise });
}
