/** Expressions over the elements of a list: what they give, what of them is a column, and how they are printed. */
import t from "tap";
import type { Expr, ListExpr } from "../../src/query/expr/expr.js";
import { printExpr } from "../../src/query/expr/print.js";
import { columnsOf, exprEquals, inputsOf, mapExpr, withInputs } from "../../src/query/expr/walk.js";
import { BOOL, INT4, VARIANT, type Value } from "../../src/values/values.js";
import { constant, evaluate, infix } from "./evaluate.js";

const column = (id: number, name: string): Expr => ({ kind: "column", type: INT4, id, name });
const x = column(1, "x");
const sum = column(2, "s");
const list = (...items: Value[]): Expr => constant(VARIANT, items);

const PARTS = { kind: "list", accumulator: null, initial: null, result: null, where: null, variable: 1 } as const;

const mapped = (over: Expr, where: Expr | null, result: Expr | null): ListExpr => ({
  ...PARTS,
  form: "map",
  type: VARIANT,
  list: over,
  where,
  result,
});

const quantified = (form: "all" | "any" | "none" | "single", ...items: Value[]): ListExpr => ({
  ...PARTS,
  form,
  type: BOOL,
  list: list(...items),
  where: infix(x, "=", constant(INT4, 1)),
});

t.test("a map filters, then computes", async (t) => {
  const twice = infix(x, "*", constant(INT4, 2));
  t.same(evaluate(mapped(list(1, 2, 3), infix(x, ">", constant(INT4, 1)), twice)), [4, 6]);
  t.same(evaluate(mapped(list(1, null), null, null)), [1, null]);
  t.equal(evaluate(mapped(constant(VARIANT, null), null, null)), null);
  t.same(evaluate(mapped(constant(VARIANT, 5), null, null)), [5], "a value that is no list is a list of it");
});

t.test("inner lists see the variables of outer ones", async (t) => {
  const y = column(3, "y");
  const inner: ListExpr = { ...mapped(list(10, 20), null, infix(x, "+", y)), variable: 3 };
  t.same(evaluate(mapped(list(1, 2), null, inner)), [
    [11, 21],
    [12, 22],
  ]);
});

t.test("quantifiers are three-valued", async (t) => {
  const table: [...Value[]][] = [[], [1], [2], [1, 2], [1, 1], [1, null], [2, null], [null]];
  const answers = (form: "all" | "any" | "none" | "single") => table.map((row) => evaluate(quantified(form, ...row)));
  t.same(answers("all"), [true, true, false, false, true, null, false, null]);
  t.same(answers("any"), [false, true, false, true, true, true, null, null]);
  t.same(answers("none"), [true, false, true, false, false, false, null, null]);
  t.same(answers("single"), [false, true, false, true, false, null, null, null]);
});

t.test("reduce goes from left to right", async (t) => {
  const reduced: ListExpr = {
    ...PARTS,
    form: "reduce",
    type: VARIANT,
    list: list(1, 2, 3),
    accumulator: 2,
    initial: constant(INT4, 100),
    result: infix(sum, "-", x),
  };
  t.equal(evaluate(reduced), 94);
  t.equal(printExpr(reduced).replace(/IN .*? \|/, "IN l |"), "reduce(s = 100, x IN l | (s - x))");
});

t.test("local variables are no columns; rewrites reach all parts", async (t) => {
  const over: ListExpr = mapped(column(7, "l"), infix(x, ">", column(8, "m")), x);
  t.same([...columnsOf(over)].sort(), [7, 8]);
  t.equal(printExpr(over), "[x IN l WHERE (x > m) | x]");
  t.equal(withInputs(over, inputsOf(over)), over);
  const other = mapExpr(over, (node) => (node.kind === "column" && node.id === 8 ? constant(INT4, 5) : node));
  t.equal(printExpr(other), "[x IN l WHERE (x > 5) | x]");
  t.notOk(exprEquals(over, other));
  t.ok(exprEquals(over, over));
});
