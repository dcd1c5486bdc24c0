/**
 * Random trees and mutated statements: whatever comes, the answer is a tree that can be printed and read again, or a
 * DbError.
 */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import t from "tap";
import type { Expr } from "../../src/cypher/parse/ast.js";
import { tokenize } from "../../src/cypher/parse/lexer.js";
import { parseCypher } from "../../src/cypher/parse/parse.js";
import { printCypher } from "../../src/cypher/parse/print.js";
import { DbError } from "../../src/protocol/errors.js";
import { tries } from "../lengths.js";
import { tckPresent, tckQueries } from "./tck-features.js";
import { fingerprint } from "./trees.js";

const golden = readFileSync(new URL("../../../test/golden/cypher/parse.txt", import.meta.url), "utf8");
const seeds = [...golden.matchAll(/^> (.*)$/gm)].map(([, line]) => line!);
if (tckPresent()) seeds.push(...tckQueries().map(({ text }) => text));

const words = [...new Set(seeds.flatMap((text) => tokensOf(text)))];

function tokensOf(text: string): string[] {
  try {
    const { starts, ends } = tokenize(text);
    return starts.map((start, i) => text.slice(start, ends[i]));
  } catch {
    return [text];
  }
}

function holds(text: string): void {
  let tree: ReturnType<typeof parseCypher>;
  try {
    tree = parseCypher(text);
  } catch (error) {
    if (error instanceof DbError && error.code === "syntax_error") return;
    throw error;
  }
  const printed = printCypher(tree);
  if (fingerprint(parseCypher(printed)) !== fingerprint(tree)) throw new Error(`read otherwise: ${printed}`);
}

const check = (property: Parameters<typeof fc.assert>[0], numRuns: number) =>
  fc.assert(property, { numRuns: tries(numRuns), seed: 6 });

t.test("statements with tokens removed, doubled, swapped and put in", async (t) => {
  const edit = fc.record({
    at: fc.nat(400),
    remove: fc.nat(3),
    insert: fc.array(fc.constantFrom(...words), { maxLength: 3 }),
  });
  check(
    fc.property(fc.constantFrom(...seeds), fc.array(edit, { minLength: 1, maxLength: 3 }), (text, edits) => {
      const tokens = tokensOf(text);
      for (const { at, remove, insert } of edits) tokens.splice(at % (tokens.length + 1), remove, ...insert);
      holds(tokens.join(" "));
    }),
    1500,
  );
  t.pass();
});

t.test("statements with characters changed, and cut off", async (t) => {
  const piece = fc.oneof(fc.string({ unit: "binary", maxLength: 3 }), fc.constantFrom(..."()[]{}<>-'\"`\\$.:|*/ué–"));
  check(
    fc.property(
      fc.constantFrom(...seeds),
      fc.nat(400),
      fc.nat(2),
      piece,
      fc.boolean(),
      (text, at, remove, put, cut) => {
        const place = at % (text.length + 1);
        holds(text.slice(0, place) + put + (cut ? "" : text.slice(place + remove)));
      },
    ),
    1500,
  );
  t.pass();
});

const position = 0;
const name = fc.oneof(
  fc.constantFrom("a", "n", "count", "all", "match", "end", "a b", "`", "é", "1x", "$", "exists", ""),
  fc.string({ unit: "grapheme", maxLength: 4 }).filter((text) => !text.includes(".")),
);
const variable = name.map((name) => ({ kind: "variable" as const, name, position }));

const { expr } = fc.letrec<{ expr: Expr; leaf: Expr }>((tie) => {
  const operand = tie("expr");
  const node = (shape: Parameters<typeof fc.record>[0]) =>
    fc.record({ ...shape, position: fc.constant(0) }) as fc.Arbitrary<Expr>;
  const kind = <T extends string>(...kinds: T[]) => fc.constantFrom(...kinds);
  return {
    leaf: fc.oneof(
      variable,
      node({ kind: kind("integer"), value: fc.maxSafeInteger().map((value) => value + 0) }),
      node({ kind: kind("integer"), value: fc.bigInt(2n ** 53n, 2n ** 63n - 1n) }),
      node({ kind: kind("float"), value: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
      node({ kind: kind("string"), value: fc.string({ unit: "binary" }) }),
      node({ kind: kind("boolean"), value: fc.boolean() }),
      node({ kind: kind("parameter"), name: name }),
    ),
    expr: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      tie("leaf"),
      node({ kind: kind("arithmetic"), operator: kind("+", "-", "*", "/", "%", "^"), left: operand, right: operand }),
      node({
        kind: kind("logical"),
        operator: kind("AND", "OR", "XOR"),
        operands: fc.array(operand, { minLength: 2, maxLength: 3 }),
      }),
      node({ kind: kind("not"), operand }),
      node({ kind: kind("unary"), operator: kind("+", "-"), operand }),
      node({
        kind: kind("comparison"),
        first: operand,
        rest: fc.array(
          fc.record({ operator: kind("=", "<>", "<", "<=", ">", ">="), operand, position: fc.constant(0) }),
          { minLength: 1, maxLength: 2 },
        ),
      }),
      node({
        kind: kind("text-match"),
        operator: kind("STARTS WITH", "ENDS WITH", "CONTAINS", "=~"),
        left: operand,
        right: operand,
      }),
      node({ kind: kind("in"), item: operand, list: operand }),
      node({ kind: kind("null-test"), operand, negated: fc.boolean() }),
      node({ kind: kind("property"), target: operand, name }),
      node({ kind: kind("index"), target: operand, index: operand }),
      node({ kind: kind("slice"), target: operand, from: fc.option(operand), to: fc.option(operand) }),
      node({
        kind: kind("call"),
        name,
        distinct: fc.boolean(),
        args: fc.array(operand, { minLength: 1, maxLength: 2 }),
      }),
      node({ kind: kind("list"), items: fc.array(operand, { maxLength: 3 }) }),
      node({
        kind: kind("map"),
        entries: fc.array(fc.record({ key: name, value: operand, position: fc.constant(0) }), { maxLength: 2 }),
      }),
      node({
        kind: kind("list-comprehension"),
        variable,
        list: operand,
        where: fc.option(operand),
        result: fc.option(operand),
      }),
      node({
        kind: kind("quantifier"),
        quantifier: kind("all", "any", "none", "single"),
        variable,
        list: operand,
        where: fc.option(operand),
      }),
      node({ kind: kind("reduce"), accumulator: variable, initial: operand, variable, list: operand, result: operand }),
      node({
        kind: kind("case"),
        subject: fc.option(operand),
        branches: fc.array(fc.record({ when: operand, result: operand }), { minLength: 1, maxLength: 2 }),
        otherwise: fc.option(operand),
      }),
    ),
  };
});

t.test("random expressions are read as they were printed", async (t) => {
  check(
    fc.property(expr, (expr) => {
      const item = { expr, alias: { kind: "variable", name: "x", position }, name: "x", position } as const;
      const clause = {
        kind: "return",
        distinct: false,
        star: false,
        items: [item],
        orderBy: [],
        skip: null,
        limit: null,
        where: null,
        position,
      } as const;
      const body = { kind: "query", parts: [{ clauses: [clause], position }], all: false, position } as const;
      const text = printCypher({ mode: "run", body, parameters: [] });
      const { body: read } = parseCypher(text);
      if (fingerprint(read) !== fingerprint(body)) throw new Error(`read otherwise: ${text}`);
    }),
    1000,
  );
  t.pass();
});
