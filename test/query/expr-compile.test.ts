/** Evaluation of bound expressions: three-valued logic, laziness, casts, subqueries, and folding of constants. */
import fc from "fast-check";
import t from "tap";
import { compileExpr, compilePredicate } from "../../src/query/expr/compile.js";
import type { Batch, Expr, SubqueryExpr } from "../../src/query/expr/expr.js";
import { foldExpr } from "../../src/query/expr/fold.js";
import { NO_SERVICES } from "../../src/query/expr/no-services.js";
import { printExpr, printShortConst } from "../../src/query/expr/print.js";
import { operatorFor } from "../../src/query/expr/resolve.js";
import { andOf, columnsOf, conjuncts, exprEquals, isConstant } from "../../src/query/expr/walk.js";
import {
  BOOL,
  BPCHAR,
  FLOAT8,
  INT4,
  INT8,
  NUMERIC,
  RECORD,
  type SqlType,
  TEXT,
  TIMESTAMPTZ,
  typeOf,
  UNKNOWN,
  type Value,
} from "../../src/values/values.js";
import { call, constant, context, evaluate, infix, literal, textOf } from "./evaluate.js";

const TRUTH = [true, false, null] as const;
const bool = (value: boolean | null) => constant(BOOL, value);
const int = (value: number | null) => constant(INT4, value);
const column = (id: number, type: SqlType, name = `c${id}`): Expr => ({ kind: "column", type, id, name });
const batchOf = (...columns: Value[][]): Batch => ({ columns, length: columns[0]?.length ?? 0 });
const failing = infix(int(1), "/", int(0));
// biome-ignore lint/suspicious/noThenProperty: the node names its parts as SQL does
const branch = (when: Expr, result: Expr) => ({ when, then: result });
const equals = (type: SqlType) => operatorFor("=", type)!;

t.test("AND and OR are Kleene's, in any number", async (t) => {
  const min = (values: readonly (boolean | null)[]) =>
    values.includes(false) ? false : values.includes(null) ? null : true;
  const max = (values: readonly (boolean | null)[]) =>
    values.includes(true) ? true : values.includes(null) ? null : false;
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...TRUTH), { minLength: 2, maxLength: 4 }), (values) => {
      const args = values.map(bool);
      const and: Expr = { kind: "and", type: BOOL, args };
      const or: Expr = { kind: "or", type: BOOL, args };
      t.equal(evaluate(and), min(values));
      t.equal(evaluate(or), max(values));
      t.equal(compilePredicate(and, () => -1)(batchOf(), 0, context), min(values) === true);
      t.equal(compilePredicate(or, () => -1)(batchOf(), 0, context), max(values) === true);
      t.equal(evaluate(foldExpr(and)), min(values));
      t.equal(evaluate(foldExpr(or)), max(values));
    }),
  );
  t.equal(evaluate({ kind: "not", type: BOOL, input: bool(null) }), null);
});

t.test("what decides stops the evaluation", async (t) => {
  const positive = infix(failing, ">", int(0));
  t.equal(evaluate({ kind: "and", type: BOOL, args: [bool(false), positive] }), false);
  t.equal(evaluate({ kind: "or", type: BOOL, args: [bool(true), positive] }), true);
  t.equal(evaluate(call("coalesce", int(null), int(2), failing)), 2);
  const branches = [branch(bool(null), failing), branch(bool(true), int(7))];
  t.equal(evaluate({ kind: "case", type: INT4, branches, otherwise: failing }), 7);
  t.equal(evaluate({ kind: "case", type: INT4, branches: branches.slice(0, 1), otherwise: null }), null);
});

t.test("strict functions give NULL for NULL without running", async (t) => {
  t.equal(evaluate(infix(int(null), "/", int(0))), null);
  t.equal(evaluate(call("substring", literal(TEXT, "abc"), int(1), int(null))), null);
  t.equal(textOf(call("concat", literal(TEXT, "a"), int(null), int(1))), "a1");
  t.equal(textOf(call("greatest", int(1), int(null), int(3))), "3");
});

t.test("IN follows the rules for NULL, with few items and with many", async (t) => {
  const inList = (type: SqlType, input: Value, items: Value[], negated = false): Expr => ({
    kind: "in",
    type: BOOL,
    input: constant(type, input),
    items: items.map((item) => constant(type, item)),
    equals: equals(type),
    negated,
  });
  for (const rest of [[], [11, 12, 13, 14]]) {
    t.equal(evaluate(inList(INT4, 1, [1, 2, ...rest])), true);
    t.equal(evaluate(inList(INT4, 3, [1, 2, ...rest])), false);
    t.equal(evaluate(inList(INT4, 3, [1, null, ...rest])), null);
    t.equal(evaluate(inList(INT4, 1, [1, null, ...rest])), true);
    t.equal(evaluate(inList(INT4, 3, [1, null, ...rest], true)), null);
    t.equal(evaluate(inList(INT4, 3, [1, 2, ...rest], true)), true);
    t.equal(evaluate(inList(INT4, null, [1, 2, ...rest])), null);
  }
  const numbers = ["1.0", "2", "3", "4", "5"].map((text) => literal(NUMERIC, text).value);
  t.equal(evaluate(inList(NUMERIC, literal(NUMERIC, "1.00").value, numbers)), true);
  t.equal(evaluate(inList(BPCHAR, "a  ", ["a", "b", "c", "d"])), true);
});

t.test("columns of the batch, of enclosing rows, and parameters", async (t) => {
  const sum = infix(column(7, INT4), "+", infix(column(8, INT4), "+", { kind: "param", type: INT4, index: 1 }));
  const run = compileExpr(sum, (id) => (id === 7 ? 0 : -1));
  const given = { ...context, params: [0, 30], outer: new Map([[8, 200]]) };
  t.equal(run(batchOf([1, 2, 3]), 2, given), 233);
  t.equal(run(batchOf([null]), 0, given), null);
});

t.test("comparisons agree with their operators in all the shortened forms", async (t) => {
  const big = 2n ** 60n;
  const values: [SqlType, Value[]][] = [
    [INT8, [0, -1, 2 ** 53 - 1, big, -big, big + 1n]],
    [FLOAT8, [0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]],
    [TEXT, ["", "a", "B", "é", "\uffff", "😀"]],
  ];
  for (const [type, list] of values) {
    for (const symbol of ["=", "<>", "<", "<=", ">", ">="]) {
      const byOverload = operatorFor(symbol, type)!;
      for (const a of list) {
        for (const b of list) {
          const expected = byOverload.apply(a, b);
          t.equal(evaluate(infix(constant(type, a), symbol, constant(type, b))), expected, `${a} ${symbol} ${b}`);
        }
      }
    }
  }
});

t.test("casts", async (t) => {
  const cast = (input: Expr, type: SqlType, assignment = false): Expr => ({ kind: "cast", type, input, assignment });
  t.equal(textOf(cast(literal(NUMERIC, "2.5"), INT4)), "3");
  t.equal(textOf(cast(constant(FLOAT8, 2.5), INT4)), "2");
  t.equal(textOf(cast(constant(FLOAT8, 3e9), INT4)), "ERROR 22003: integer out of range");
  t.equal(textOf(cast(literal(TEXT, "abcd"), typeOf("varchar", 2))), "ab");
  t.equal(
    textOf(cast(literal(TEXT, "abcd"), typeOf("varchar", 2), true)),
    "ERROR 22001: value too long for type character varying(2)",
  );
  t.equal(textOf(cast(literal(TEXT, "ab  "), typeOf("varchar", 2), true)), "ab");
  t.equal(textOf(cast(bool(true), TEXT)), "true");
  t.equal(textOf(cast(literal(UNKNOWN, "today"), typeOf("date"))), "2024-02-29");
  const local = cast(literal(typeOf("timestamp"), "2024-07-01 12:00"), TIMESTAMPTZ);
  t.equal(textOf(local, { timeZone: "America/New_York" }), "2024-07-01 12:00:00-04");
  t.equal(textOf(cast(int(1), typeOf("date"))), "ERROR 42846: cannot cast type integer to date");
});

t.test("a record is NULL when all its fields are", async (t) => {
  const isNull = (value: Value, negated: boolean) =>
    evaluate({ kind: "isnull", type: BOOL, input: constant(RECORD, value), negated });
  t.equal(isNull([null, null], false), true);
  t.equal(isNull([1, null], false), false);
  t.equal(isNull([1, null], true), false);
  t.equal(isNull([1, 2], true), true);
});

t.test("subqueries get the enclosing values; ANY and ALL compare their rows", async (t) => {
  const subquery = (form: SubqueryExpr["form"], input: Expr | null): SubqueryExpr => ({
    kind: "subquery",
    type: form === "scalar" ? INT4 : BOOL,
    form,
    plan: { kind: "values", rows: [], columns: [] },
    outer: [7],
    input,
    compare: input === null ? null : operatorFor("<", INT4),
  });
  const over = (expr: SubqueryExpr, rows: readonly Value[]) => {
    const services = { ...NO_SERVICES, runSubquery: () => rows };
    return compileExpr(expr, () => 0)(batchOf([5]), 0, { ...context, services });
  };
  const scalar = compileExpr(subquery("scalar", null), () => 0);
  const runSubquery = (_expr: SubqueryExpr, { outer }: { outer: ReadonlyMap<number, Value> | null }) =>
    outer?.get(7) ?? null;
  t.equal(scalar(batchOf([5, 6]), 1, { ...context, services: { ...NO_SERVICES, runSubquery } }), 6);
  t.equal(over(subquery("any", int(2)), [1, 3]), true);
  t.equal(over(subquery("any", int(2)), [1, null]), null);
  t.equal(over(subquery("any", int(2)), []), false);
  t.equal(over(subquery("any", int(null)), []), false);
  t.equal(over(subquery("all", int(2)), [3, 4]), true);
  t.equal(over(subquery("all", int(2)), [1, null]), false);
  t.equal(over(subquery("all", int(2)), []), true);
});

t.test("folding", async (t) => {
  const folded = foldExpr(infix(column(1, INT4), "+", infix(int(2), "*", int(3))));
  t.equal(printExpr(folded), "(c1 + 6)");
  t.equal(foldExpr(failing), failing, "an error stays for the run");
  t.equal(printExpr(foldExpr(call("now"))), "now()");
  const date = (text: string): Expr => ({ kind: "cast", type: typeOf("date"), input: literal(TEXT, text) });
  t.equal(foldExpr(date("2024-01-02")).kind, "const");
  t.equal(foldExpr(date("today")).kind, "cast");
  const stamp: Expr = { kind: "cast", type: TIMESTAMPTZ, input: literal(TEXT, "2024-01-02 03:04") };
  t.equal(foldExpr(stamp).kind, "cast", "its meaning depends on the session's time zone");
  t.equal(foldExpr(call("repeat", literal(TEXT, "ab"), int(9))).kind, "const");
  const long = call("repeat", literal(TEXT, "ab"), int(9_000_000));
  t.equal(foldExpr(long), long, "plans hold no large values");
  const half: Expr = { kind: "and", type: BOOL, args: [bool(true), infix(column(1, INT4), "=", int(1))] };
  t.equal(printExpr(foldExpr(half)), "(c1 = 1)");
});

t.test("printing", async (t) => {
  const id = column(1, INT8, "id");
  t.equal(printExpr(infix(id, "=", { kind: "param", type: INT8, index: 0 })), "(id = $1)");
  t.equal(printExpr(infix(column(2, TEXT, "name"), "=", literal(TEXT, "it's"))), "(name = 'it''s'::text)");
  const long: Expr = { kind: "const", type: TEXT, value: "it's".repeat(100_000) };
  const subplan = () => "";
  t.equal(printExpr(infix(column(2, TEXT, "name"), "=", long), subplan, printShortConst), "(name = '…'::text)");
  t.equal(printExpr(long).length, 500_000 + "''::text".length, "in full unless asked otherwise");
  t.equal(printExpr({ kind: "isnull", type: BOOL, input: id, negated: true }), "(id IS NOT NULL)");
  t.equal(printExpr(call("lower", column(2, TEXT, "name"))), "lower(name)");
  t.equal(printExpr({ kind: "cast", type: TEXT, input: id }), "id::text");
});

t.test("conjuncts, columns and equality", async (t) => {
  const a = infix(column(1, INT4), "=", int(1));
  const b = infix(column(2, INT4), ">", int(2));
  const both = andOf([a, b]) as Expr;
  t.same(conjuncts(andOf([both, a])), [a, b, a]);
  t.equal(andOf([]), null);
  t.same([...columnsOf(both)].sort(), [1, 2]);
  t.ok(exprEquals(a, infix(column(1, INT4), "=", int(1))));
  t.notOk(exprEquals(a, b));
  t.notOk(exprEquals(call("random"), call("random")));
  t.ok(isConstant(infix(int(1), "+", { kind: "param", type: INT4, index: 0 })));
  t.notOk(isConstant(a));
});
