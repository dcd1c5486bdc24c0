/**
 * Whatever values Cypher's functions, operators and aggregates get, they answer with a value or a DbError; and their
 * laws.
 */
import { ok } from "node:assert";
import fc from "fast-check";
import t from "tap";
import { DbError } from "../../src/protocol/errors.js";
import { OPERATORS } from "../../src/query/expr/cypher/operators.js";
import { CYPHER_FUNCTIONS, cypherAggregate, cypherFunction } from "../../src/query/expr/cypher/registry.js";
import type { EvalContext, ScalarFunction } from "../../src/query/expr/expr.js";
import { NO_SERVICES } from "../../src/query/expr/no-services.js";
import { compareVariants } from "../../src/query/expr/variant-order.js";
import { CypherVector } from "../../src/values/cypher-vector.js";
import { VARIANT } from "../../src/values/values.js";
import { Float, floatValue, GraphNode, isIntegerValue, type Variant } from "../../src/values/variant.js";
import { variantFromJson, variantToJson, variantToPlain } from "../../src/values/variant-format.js";
import { tries } from "../lengths.js";
import { numbers, scalars, variants } from "../storage/variants.js";

const context = {
  params: [],
  statementMicros: 1_600_000_000_000_000,
  transactionMicros: 1_600_000_000_000_000,
  timeZone: "UTC",
  services: { ...NO_SERVICES, graphNode: (id: number) => new GraphNode(id, [], new Map()) },
  checkpoint: () => undefined,
} as unknown as EvalContext;

function call(fn: ScalarFunction, args: readonly Variant[]): Variant {
  if (fn.strict && args.includes(null)) return null;
  return (fn.needsContext ? fn.apply(context, ...args) : fn.apply(...args)) as Variant;
}

/** Numbers are in their normal form: safe integers, bigints beyond, boxed floats. */
function checkNormal(value: Variant): void {
  if (typeof value === "bigint") ok(!Number.isSafeInteger(Number(value)) && BigInt.asIntN(64, value) === value);
  if (typeof value === "number" && Number.isInteger(value)) ok(Number.isSafeInteger(value) && !Object.is(value, -0));
  if (value instanceof Float) ok(Number.isInteger(value.value));
  if (Array.isArray(value)) value.slice(0, 100).forEach(checkNormal);
}

/** A value, or null where it is refused. */
function tried(run: () => Variant): Variant {
  try {
    const value = run();
    ok(value !== undefined);
    checkNormal(value);
    variantToJson(value);
    return value;
  } catch (error) {
    if (error instanceof DbError && error.code !== "internal_error") return null;
    throw error;
  }
}

/** Numbers that make long lists and texts are left to other tests. */
const args = fc.oneof({ weight: 3, arbitrary: variants }, { weight: 2, arbitrary: fc.integer({ min: -50, max: 50 }) });

t.test("functions and operators", async (t) => {
  const all = [...CYPHER_FUNCTIONS, ...Object.values(OPERATORS)].filter(({ name }) => name !== "range");
  const property = fc.property(
    fc.constantFrom(...all),
    fc.array(args, { minLength: 6, maxLength: 6 }),
    (fn, values) => {
      if (fn.args.some((type) => type !== VARIANT)) return;
      tried(() => call(fn, values.slice(0, fn.args.length)));
    },
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: tries(5000) }));
});

t.test("aggregates", async (t) => {
  const names = ["count", "sum", "avg", "min", "max", "collect", "stDev", "stDevP", "percentileCont", "percentileDisc"];
  const property = fc.property(
    fc.constantFrom(...names),
    fc.array(args, { maxLength: 8 }),
    args,
    (name, items, direct) => {
      const { fn } = cypherAggregate(name)!;
      tried(() => {
        let state = fn.init();
        for (const item of items) if (item !== null) state = fn.step(state, item);
        return fn.result(state, [direct]) as Variant;
      });
    },
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: tries(2000) }));
});

t.test("comparisons agree with the order that keys have", async (t) => {
  const { "=": equals, "<": less, "<=": atMost, ">": greater, ">=": atLeast } = OPERATORS;
  const property = fc.property(variants, variants, (a, b) => {
    if (a === null || b === null) return;
    const order = compareVariants(a, b);
    if (call(equals, [a, b]) === true) ok(order === 0, "=");
    if (call(less, [a, b]) === true) ok(order < 0, "<");
    if (call(atMost, [a, b]) === true) ok(order <= 0, "<=");
    if (call(greater, [a, b]) === true) ok(order > 0, ">");
    if (call(atLeast, [a, b]) === true) ok(order >= 0, ">=");
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: tries(2000) }));
});

t.test("arithmetic of integers is exact or overflows", async (t) => {
  const INT64 = (x: bigint) => BigInt.asIntN(64, x) === x;
  const exact = {
    "+": (a: bigint, b: bigint) => a + b,
    "-": (a: bigint, b: bigint) => a - b,
    "*": (a: bigint, b: bigint) => a * b,
  };
  const property = fc.property(
    numbers,
    numbers,
    fc.constantFrom("+" as const, "-" as const, "*" as const),
    (a, b, symbol) => {
      const result = tried(() => call(OPERATORS[symbol], [a, b]));
      if (isIntegerValue(a) && isIntegerValue(b)) {
        const expected = exact[symbol](BigInt(a), BigInt(b));
        ok(INT64(expected) ? BigInt(result as bigint) === expected : result === null);
      } else ok(result instanceof Float || typeof result === "number");
    },
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: tries(2000) }));
});

t.test("texts of scalars read back", async (t) => {
  const named = (name: string, value: Variant) => call(cypherFunction(name, 1) as ScalarFunction, [value]);
  const property = fc.property(scalars, (value) => {
    const hasNoText = value instanceof Uint8Array || value instanceof CypherVector;
    if (hasNoText) return ok(named("toStringOrNull", value) === null);
    const text = named("toString", value) as string;
    if (isIntegerValue(value)) ok(named("toInteger", text) === value);
    else if (typeof value === "number" || value instanceof Float) {
      ok(
        compareVariants(named("toFloat", text), floatValue(Number(value instanceof Float ? value.value : value))) === 0,
      );
    } else if (typeof value === "boolean") ok(named("toBoolean", text) === value);
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 3000 }));
});

t.test("parameters become variants, and answers JSON", async (t) => {
  const property = fc.property(fc.jsonValue(), (json) => {
    const value = variantFromJson(json);
    checkNormal(value);
    ok(JSON.stringify(JSON.parse(variantToJson(value))) === JSON.stringify(withStrings(json)));
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 2000 }));
  t.same(variantToPlain(variantFromJson({ a: [1, 2n ** 60n, null], b: new Float64Array([1.5]) })), {
    a: [1, 2n ** 60n, null],
    b: [1.5],
  });
  const bytes = new Uint8Array([0, 255]);
  const kept = variantFromJson([bytes]);
  bytes[1] = 1;
  t.same(variantToPlain(kept), [new Uint8Array([0, 255])], "they are copied");
  t.equal(variantToJson(kept), String.raw`["\\x00ff"]`);
  t.throws(() => variantFromJson(new DataView(bytes.buffer)), { message: /bytes/ });
});

/** Integers that JavaScript would change are strings in answers. */
function withStrings(json: unknown): unknown {
  if (typeof json === "number") {
    if (Object.is(json, -0)) return 0;
    return Number.isInteger(json) && !Number.isSafeInteger(json) && Math.abs(json) < 2 ** 63
      ? String(BigInt(json))
      : json;
  }
  if (Array.isArray(json)) return json.map(withStrings);
  if (typeof json !== "object" || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, withStrings(value)]));
}
