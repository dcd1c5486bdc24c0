/**
 * Which expressions threads compute: those whose calls cost little for each row. Others, such as regular expressions
 * and similarity, take a thousand times as long as the rest of a scan: a few of them would hold all threads, for
 * everybody.
 */
import type { SentCondition } from "../../expr/sent-condition.js";
import type { FunctionKey } from "../../expr/sent-form.js";
import type { SentRead } from "./read-threads.js";

const OPERATORS: ReadonlySet<string> = new Set([
  ...["+", "-", "*", "/", "%", "=", "<>", "<", "<=", ">", ">=", "&", "|", "#", "<<", ">>"],
  ...["~~", "!~~", "~~*", "!~~*", "||", "^@"],
]);

const FUNCTIONS: ReadonlySet<string> = new Set([
  ...["round", "trunc", "ceil", "ceiling", "floor", "sign", "abs", "mod", "div", "sqrt", "isfinite"],
  ...["length", "char_length", "character_length", "len", "octet_length", "bit_length", "ascii"],
  ...["lower", "lcase", "upper", "ucase", "substring", "substr", "strpos", "instr", "position", "left", "right"],
  ...["starts_with", "btrim", "trim", "ltrim", "rtrim", "extract", "date_part", "date_trunc"],
  ...["coalesce", "ifnull", "nullif", "greatest", "least", "is distinct from"],
]);

/** Of a call of a function by its name, beside what any expression takes. */
const FUNCTION_NANOS = 60;

/** Values of these have a size that a row bounds, and what is done with them takes time by their size at most. */
const PLAIN: ReadonlySet<string> = new Set([
  ...["bool", "int2", "int4", "int8", "oid", "float4", "float8", "numeric", "uuid"],
  ...["date", "time", "timetz", "timestamp", "timestamptz", "interval"],
  ...["text", "varchar", "bpchar", "char", "name"],
]);

/** Of all that is computed, of a row; null: something in it takes longer than that, or nobody knows how long. */
export function callNanos({ filter, project, goal }: SentRead): number | null {
  const exprs: SentCondition[] = [];
  if (filter !== null) exprs.push(filter);
  if (project !== null) exprs.push(...project.exprs);
  if (goal.kind === "aggregate") exprs.push(...goal.groups, ...goal.calls.flatMap(({ args }) => args));
  if (goal.kind === "topn") exprs.push(...goal.keys.map(({ expr }) => expr));
  return sumOf(exprs);
}

function sumOf(exprs: readonly SentCondition[]): number | null {
  let sum = 0;
  for (const expr of exprs) {
    const nanos = nanosOf(expr);
    if (nanos === null) return null;
    sum += nanos;
  }
  return sum;
}

function nanosOf(expr: SentCondition): number | null {
  switch (expr.kind) {
    case "const":
    case "param":
    case "column":
      return 0;
    case "call": {
      const below = isCheap(expr.fn, expr.args) ? sumOf(expr.args) : null;
      return below === null ? null : below + (isOperator(expr.fn) ? 0 : FUNCTION_NANOS);
    }
    case "cast": {
      const below = isPlain(expr) && isPlain(expr.input) ? nanosOf(expr.input) : null;
      return below === null ? null : below + FUNCTION_NANOS;
    }
    case "and":
    case "or":
      return sumOf(expr.args);
    case "not":
    case "isnull":
      return nanosOf(expr.input);
    case "case":
      return sumOf([...expr.whens, ...expr.thens, ...(expr.otherwise === null ? [] : [expr.otherwise])]);
    case "in":
      return isCheap(expr.equals, [expr.input]) ? sumOf([expr.input, ...expr.items]) : null;
  }
}

const isPlain = ({ type }: SentCondition): boolean => PLAIN.has(type.name);

const isOperator = ({ table }: FunctionKey): boolean => table === "operators" || table === "operator families";

function isCheap(fn: FunctionKey, args: readonly SentCondition[]): boolean {
  if (fn.table === "cypher" || !args.every(isPlain)) return false;
  if (isOperator(fn)) return OPERATORS.has(fn.name);
  // With a text as the second argument, substring takes a regular expression.
  const isPattern = fn.name.startsWith("substr") && !args.slice(1).every(({ type }) => type.name.startsWith("int"));
  return FUNCTIONS.has(fn.name) && !isPattern;
}
