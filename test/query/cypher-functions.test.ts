/** Cypher's operators, functions and aggregates: tables of cases after openCypher 9. */
import t from "tap";
import { LIST_OF, MAP_OF, NODE_OF, PATH_OF, RELATIONSHIP_OF } from "../../src/query/expr/cypher/entities.js";
import { OPERATORS, type OperatorSymbol, TRUTH } from "../../src/query/expr/cypher/operators.js";
import {
  COUNT_ALL,
  cypherAggregate,
  cypherFunction,
  FIRST_VALUE,
  HAS_LABEL,
} from "../../src/query/expr/cypher/registry.js";
import type { AggregateFunction, EvalContext, ScalarFunction } from "../../src/query/expr/expr.js";
import { NO_SERVICES } from "../../src/query/expr/no-services.js";
import { decodeLabels, encodeLabels } from "../../src/values/labels.js";
import { CypherDate, Duration } from "../../src/values/temporal.js";
import { Float, floatValue, GraphNode, GraphPath, GraphRelationship, type Variant } from "../../src/values/variant.js";

/** Null where a strict function gets null, as the compiler has it. */
function call(fn: ScalarFunction, args: readonly Variant[], context: Partial<EvalContext> = {}): Variant {
  if (fn.lazy) return fn.apply(...args.map((arg) => () => arg)) as Variant;
  if (fn.strict && args.includes(null)) return null;
  return (fn.needsContext ? fn.apply(context, ...args) : fn.apply(...args)) as Variant;
}

function outcome(run: () => Variant): unknown {
  try {
    return run();
  } catch (error) {
    const { type, detail } = (error as { details: { type: string; detail: string } }).details;
    return `${type} ${detail}`;
  }
}

const op = (symbol: OperatorSymbol, ...args: Variant[]) => outcome(() => call(OPERATORS[symbol], args));

function named(name: string, ...args: Variant[]): unknown {
  const fn = cypherFunction(name, args.length);
  if ("error" in fn) return fn;
  return outcome(() => call(fn, args));
}

const map = (entries: Readonly<Record<string, Variant>>) => new Map(Object.entries(entries));
const f = (x: number) => new Float(x);
const MAX = 2n ** 63n - 1n;
const MIN = -(2n ** 63n);
const OVERFLOW = "ArithmeticError IntegerOverflow";
const NOT_TAKEN = "TypeError InvalidArgumentType";
const WRONG = "TypeError InvalidArgumentValue";

const ann = new GraphNode(1, ["Person"], map({ name: "Ann", age: 30 }));
const bob = new GraphNode(2, [], map({}));
const knows = new GraphRelationship(7, "KNOWS", 1, 2, map({ since: 2020 }));

t.test("arithmetic", async (t) => {
  const cases: readonly (readonly [Variant, OperatorSymbol, Variant, unknown])[] = [
    [1, "+", 2, 3],
    [1, "+", f(2), f(3)],
    [0.5, "+", 0.5, f(1)],
    [1, "+", null, null],
    [2 ** 53 - 1, "+", 1, 2n ** 53n],
    [2n ** 53n, "-", 1, 2 ** 53 - 1],
    [MAX, "+", 1, OVERFLOW],
    [MIN, "-", 1, OVERFLOW],
    [MAX, "+", f(1), f(2 ** 63)],
    [3_037_000_500, "*", 3_037_000_500, OVERFLOW],
    [3_037_000_499, "*", 3_037_000_499, 9_223_372_030_926_249_001n],
    [0, "*", -1, 0],
    [7, "/", 2, 3],
    [-7, "/", 2, -3],
    [0, "/", -5, 0],
    [7, "/", f(2), 3.5],
    [MIN, "/", -1, OVERFLOW],
    [1, "/", 0, "ArithmeticError DivisionByZero"],
    [MAX, "/", 0, "ArithmeticError DivisionByZero"],
    [1, "/", f(0), Number.POSITIVE_INFINITY],
    [-7, "%", 3, -1],
    [-6, "%", 3, 0],
    [7, "%", 2.5, f(2)],
    [1, "%", 0, "ArithmeticError DivisionByZero"],
    [2, "^", 3, f(8)],
    [2, "^", -1, 0.5],
    ["a", "+", "b", "ab"],
    ["a", "+", 1, "a1"],
    [1.5, "+", "a", "1.5a"],
    ["a", "+", f(1), "a1.0"],
    ["a", "+", true, "atrue"],
    [[1], "+", [2], [1, 2]],
    [[1], "+", 2, [1, 2]],
    [[1], "+", [[2]], [1, [2]]],
    [1, "+", [2], [1, 2]],
    [[1], "+", null, null],
    [true, "+", 1, NOT_TAKEN],
    ["a", "-", 1, NOT_TAKEN],
    [map({}), "*", 2, NOT_TAKEN],
    [new Duration(1, 0, 0, 0), "*", 2, new Duration(2, 0, 0, 0)],
    [new CypherDate(0), "+", new Duration(0, 1, 0, 0), new CypherDate(1)],
  ];
  for (const [a, symbol, b, expected] of cases) t.strictSame(op(symbol, a, b), expected, `${a} ${symbol} ${b}`);
  t.equal(op("negate", 5), -5);
  t.ok(Object.is(op("negate", 0), 0));
  t.strictSame(op("negate", MIN), OVERFLOW);
  t.strictSame(op("negate", 2n ** 53n), -(2n ** 53n));
  t.strictSame(op("negate", f(0)), f(-0));
});

t.test("equality", async (t) => {
  const nan = Number.NaN;
  const cases: readonly (readonly [Variant, Variant, boolean | null])[] = [
    [1, 1, true],
    [1, f(1), true],
    [2n ** 60n, f(2 ** 60), true],
    [2n ** 60n + 1n, f(2 ** 60), false],
    [1, "1", false],
    [nan, nan, false],
    [null, null, null],
    [1, null, null],
    [[1, 2], [1, 2], true],
    [[1], [1, null], false],
    [[1, null], [1, 2], null],
    [[null, 1], [1, 2], false],
    [[null], [null], null],
    [[[1]], [[1]], true],
    [[1], 1, false],
    [map({ a: 1 }), map({ a: f(1) }), true],
    [map({ a: 1, b: 2 }), map({ b: 2, a: 1 }), true],
    [map({ a: 1 }), map({ b: 1 }), false],
    [map({ a: null }), map({ a: null }), null],
    [map({ a: null }), map({}), false],
    [map({ a: null, b: 1 }), map({ a: 1, b: 2 }), false],
    [ann, new GraphNode(1, [], map({})), true],
    [ann, bob, false],
    [ann, map({ name: "Ann", age: 30 }), false],
    [knows, ann, false],
    [true, 1, false],
    [new CypherDate(1), new CypherDate(1), true],
    [new Duration(0, 1, 0, 0), new Duration(0, 0, 86_400, 0), false],
  ];
  for (const [a, b, expected] of cases) {
    t.equal(op("=", a, b), expected, `${String(a)} = ${String(b)}`);
    t.equal(op("=", b, a), expected, `${String(b)} = ${String(a)}`);
    t.equal(op("<>", a, b), expected === null ? null : !expected, `${String(a)} <> ${String(b)}`);
  }
});

t.test("order: < <= > >=", async (t) => {
  const nan = Number.NaN;
  const cases: readonly (readonly [Variant, Variant, readonly (boolean | null)[]])[] = [
    [1, 2, [true, true, false, false]],
    [1, f(1), [false, true, false, true]],
    [2n ** 60n + 1n, f(2 ** 60), [false, false, true, true]],
    [1, nan, [false, false, false, false]],
    [nan, nan, [false, false, false, false]],
    [nan, "a", [null, null, null, null]],
    [1, "1", [null, null, null, null]],
    [1, null, [null, null, null, null]],
    ["a", "b", [true, true, false, false]],
    ["a", "ab", [true, true, false, false]],
    [false, true, [true, true, false, false]],
    [[1, 2], [1], [false, false, true, true]],
    [[1, null], [1], [false, false, true, true]],
    [
      [1, 2],
      [1, null],
      [null, null, null, null],
    ],
    [
      [1, 2],
      [3, null],
      [true, true, false, false],
    ],
    [[1], ["a"], [null, null, null, null]],
    [map({ a: 1 }), map({ a: 2 }), [null, null, null, null]],
    [ann, bob, [null, null, null, null]],
    [new CypherDate(1), new CypherDate(2), [true, true, false, false]],
    [new Duration(0, 1, 0, 0), new Duration(0, 2, 0, 0), [null, null, null, null]],
  ];
  for (const [a, b, expected] of cases) {
    const found = (["<", "<=", ">", ">="] as const).map((symbol) => op(symbol, a, b));
    t.strictSame(found, expected, `${String(a)} ${String(b)}`);
  }
});

t.test("predicates of strings and lists", async (t) => {
  t.equal(op("STARTS WITH", "abc", "ab"), true);
  t.equal(op("ENDS WITH", "abc", "bc"), true);
  t.equal(op("CONTAINS", "abc", "x"), false);
  t.equal(op("CONTAINS", "abc", ""), true);
  t.equal(op("CONTAINS", 1, "1"), null);
  t.equal(op("STARTS WITH", "1", 1), null);
  t.equal(op("=~", "abc", "a.c"), true);
  t.equal(op("=~", "abcd", "a.c"), false);
  t.equal(op("=~", "ABC", "(?i)abc"), true);
  t.equal(op("=~", "a\nb", "a.b"), false);
  t.equal(op("=~", "a\nb", "(?s)a.b"), true);
  t.equal(op("=~", 1, "1"), null);
  t.equal(op("=~", "a", "("), "ArgumentError InvalidArgumentValue");
  t.equal(op("IN", 1, [1, 2]), true);
  t.equal(op("IN", f(1), [1, 2]), true);
  t.equal(op("IN", 3, [1, null]), null);
  t.equal(op("IN", 1, [1, null]), true);
  t.equal(op("IN", null, []), false);
  t.equal(op("IN", null, [1]), null);
  t.equal(op("IN", 1, null), null);
  t.equal(op("IN", [1], [[1, null], [1]]), true);
  t.equal(op("IN", [1, 2], [[1, null]]), null);
  t.equal(op("IN", 1, "x"), NOT_TAKEN);
  t.equal(op("XOR", true, false), true);
  t.equal(
    outcome(() => call(TRUTH, ["x"])),
    NOT_TAKEN,
  );
  t.equal(
    outcome(() => call(TRUTH, [true])),
    true,
  );
});

t.test("long lists: IN answers as it does for short ones", async (t) => {
  const list: Variant[] = Array.from({ length: 100 }, (_, i) => (i % 3 === 0 ? f(i) : i % 3 === 1 ? i : String(i)));
  for (const items of [list, [...list, null], [...list, [1]], [...list, Number.NaN]]) {
    for (let round = 0; round < 3; round++) {
      t.equal(op("IN", 3, items), true);
      t.equal(op("IN", "2", items), true);
      t.equal(op("IN", 2, items), items.includes(null) ? null : false);
      t.equal(op("IN", Number.NaN, items), items.includes(null) ? null : false);
      t.equal(op("IN", [1], items), items.some(Array.isArray) ? true : items.includes(null) ? null : false);
      t.equal(op("IN", [null], items), items.some(Array.isArray) || items.includes(null) ? null : false);
    }
  }
});

t.test("parts of values", async (t) => {
  t.equal(op("index", [1, 2, 3], 0), 1);
  t.equal(op("index", [1, 2, 3], -1), 3);
  t.equal(op("index", [1, 2, 3], 3), null);
  t.equal(op("index", [1, 2, 3], -4), null);
  t.equal(op("index", [1], 1.5), "TypeError ListElementAccessByNonInteger");
  t.equal(op("index", [1], "a"), "TypeError ListElementAccessByNonInteger");
  t.equal(op("index", map({ a: 1 }), "a"), 1);
  t.equal(op("index", map({ a: 1 }), 1), "TypeError MapElementAccessByNonString");
  t.equal(op("index", ann, "name"), "Ann");
  t.equal(op("index", 1, 0), NOT_TAKEN);
  t.equal(op("index", null, 0), null);
  t.strictSame(op("slice", [1, 2, 3, 4], 1, 3), [2, 3]);
  t.strictSame(op("slice", [1, 2, 3, 4], -2, 100), [3, 4]);
  t.strictSame(op("slice", [1, 2, 3, 4], 3, 1), []);
  t.strictSame(op("slice", [1, 2], 0, null), null);
  t.equal(op("slice", "abc", 0, 1), NOT_TAKEN);
  t.equal(op("property", map({ a: 1 }), "b"), null);
  t.equal(op("property", knows, "since"), 2020);
  t.equal(op("property", new CypherDate(0), "year"), 1970);
  t.equal(op("property", "x", "y"), NOT_TAKEN);
});

t.test("entities", async (t) => {
  const text = encodeLabels(["B", "A", "B"]);
  t.equal(text, "\u001fA\u001fB\u001f");
  t.strictSame(decodeLabels(text), ["A", "B"]);
  t.strictSame(decodeLabels(""), []);
  t.equal(encodeLabels([]), "");
  const has = (labels: readonly string[], label: string) => HAS_LABEL.apply(encodeLabels(labels), label);
  t.equal(has(["A", "AB", "B"], "AB"), true);
  t.equal(has(["AB", "ABC"], "B"), false);
  t.equal(has(["XA", "A"], "A"), true);
  t.equal(has(["AA", "X"], "A"), false);
  t.equal(has([], "A"), false);
  t.strictSame(call(LIST_OF, [1, null]), [1, null]);
  t.strictSame(call(MAP_OF, ["a", 1, "b", null, "a", 2]), map({ a: 2, b: null }));
  t.strictSame(NODE_OF.apply(1, "\u001fPerson\u001f", ann.properties), ann);
  t.equal(NODE_OF.apply(null, null, null), null);
  t.strictSame(RELATIONSHIP_OF.apply(7, "KNOWS", 1, 2, knows.properties), knows);
  const services = { ...NO_SERVICES, graphNode: (id: number) => (id === 1 ? ann : bob) };
  const back = new GraphRelationship(8, "KNOWS", 1, 2, map({}));
  const path = call(PATH_OF, [ann, knows, [back]], { services });
  t.strictSame(path, new GraphPath([ann, bob, ann], [knows, back]));
  t.equal(call(PATH_OF, [ann, null], { services }), null);
  t.strictSame(call(cypherFunction("startNode", 1) as ScalarFunction, [knows], { services }), ann);
  t.strictSame(call(cypherFunction("endNode", 1) as ScalarFunction, [knows], { services }), bob);
  const gone = NODE_OF.apply(1, "\0", null) as GraphNode;
  const goneEdge = new GraphRelationship(7, "\0KNOWS", 1, 2, map({}));
  for (const name of ["labels", "properties", "keys"]) t.equal(named(name, gone), "EntityNotFound DeletedEntityAccess");
  t.equal(op("property", gone, "name"), "EntityNotFound DeletedEntityAccess");
  t.equal(op("property", goneEdge, "since"), "EntityNotFound DeletedEntityAccess");
  t.equal(named("id", gone), 1);
  t.equal(named("type", goneEdge), "KNOWS");
});

t.test("functions", async (t) => {
  const path = new GraphPath([ann, bob], [knows]);
  const cases: readonly (readonly [string, readonly Variant[], unknown])[] = [
    ["id", [ann], 1],
    ["elementId", [knows], "7"],
    ["id", ["x"], WRONG],
    ["type", [knows], "KNOWS"],
    ["type", [ann], WRONG],
    ["labels", [ann], ["Person"]],
    ["labels", [1], WRONG],
    ["keys", [ann], ["name", "age"]],
    ["keys", [map({ a: null })], ["a"]],
    ["properties", [ann], ann.properties],
    ["properties", [1], WRONG],
    ["nodes", [path], [ann, bob]],
    ["relationships", [path], [knows]],
    ["length", [path], 1],
    ["length", [ann], WRONG],
    ["size", [[1, null]], 2],
    ["size", ["a😀"], 2],
    ["size", [1], WRONG],
    ["coalesce", [null, 2, 3], 2],
    ["coalesce", [null], null],
    ["head", [[1, 2]], 1],
    ["head", [[]], null],
    ["last", [[1, 2]], 2],
    ["last", [[]], null],
    ["tail", [[1, 2, 3]], [2, 3]],
    ["tail", [[]], []],
    ["reverse", [[1, 2]], [2, 1]],
    ["reverse", ["a😀"], "😀a"],
    ["range", [1, 3], [1, 2, 3]],
    ["range", [3, 1], []],
    ["range", [3, 1, -1], [3, 2, 1]],
    ["range", [0, 10, 4], [0, 4, 8]],
    ["range", [1, 2, 0], "ArgumentError NumberOutOfRange"],
    ["range", [1, 1.5], "ArgumentError InvalidArgumentType"],
    ["range", [0, 10 ** 12], "ArgumentError NumberOutOfRange"],
    ["toInteger", ["42"], 42],
    ["toInteger", [" 42 "], 42],
    ["toInteger", ["2.9"], 2],
    ["toInteger", ["-2.9e1"], -29],
    ["toInteger", ["foo"], null],
    ["toInteger", [""], null],
    ["toInteger", [82.9], 82],
    ["toInteger", [-0.5], 0],
    ["toInteger", [true], 1],
    ["toInteger", [[]], WRONG],
    ["toInteger", [f(2 ** 70)], OVERFLOW],
    ["toInteger", [Number.NaN], null],
    ["toInteger", [null], null],
    ["toIntegerOrNull", [[]], null],
    ["toIntegerList", [["1", 2.5, map({}), null]], [1, 2, null, null]],
    ["toFloat", [1], f(1)],
    ["toFloat", ["2.5"], 2.5],
    ["toFloat", ["5"], f(5)],
    ["toFloat", ["foo"], null],
    ["toFloat", [true], WRONG],
    ["toFloatOrNull", [true], null],
    ["toBoolean", ["TRUE"], true],
    ["toBoolean", [" false "], false],
    ["toBoolean", ["tru"], null],
    ["toBoolean", [0], false],
    ["toBoolean", [1.5], WRONG],
    ["toString", [1], "1"],
    ["toString", [f(1)], "1.0"],
    ["toString", [f(1e10)], "1.0E10"],
    ["toString", [0.00015], "1.5E-4"],
    ["toString", [3.14], "3.14"],
    ["toString", [f(-0)], "-0.0"],
    ["toString", [true], "true"],
    ["toString", [new CypherDate(0)], "1970-01-01"],
    ["toString", [[]], WRONG],
    ["toString", [ann], WRONG],
    ["toStringList", [[1, null, []]], ["1", null, null]],
    ["abs", [-5], 5],
    ["abs", [MIN], OVERFLOW],
    ["abs", [-1.5], 1.5],
    ["abs", ["x"], WRONG],
    ["sign", [-0.5], -1],
    ["sign", [f(0)], 0],
    ["ceil", [1.1], f(2)],
    ["floor", [-1.1], f(-2)],
    ["round", [1.5], f(2)],
    ["round", [-1.5], f(-1)],
    ["round", [1.005, 2], 1.01],
    ["round", [-1.55, 1], -1.6],
    ["round", [1.249, 1, "UP"], 1.3],
    ["round", [2.5, 0, "HALF_EVEN"], f(2)],
    ["round", [1, 2, "SIDEWAYS"], "ArgumentError InvalidArgumentValue"],
    ["sqrt", [4], f(2)],
    ["sqrt", [-1], Number.NaN],
    ["log10", [1000], floatValue(Math.log10(1000))],
    ["exp", [0], f(1)],
    ["pi", [], Math.PI],
    ["e", [], Math.E],
    ["atan2", [0, 1], f(0)],
    ["degrees", [Math.PI], f(180)],
    ["haversin", [0], f(0)],
    ["isNaN", [Number.NaN], true],
    ["left", ["hello", 3], "hel"],
    ["left", ["hello", -1], "ArgumentError NegativeIntegerArgument"],
    ["right", ["hello", 3], "llo"],
    ["right", ["hi", 3], "hi"],
    ["substring", ["0123456789", 1], "123456789"],
    ["substring", ["hello", 1, 3], "ell"],
    ["substring", ["a😀b", 1, 1], "😀"],
    ["substring", ["hello", 9], ""],
    ["substring", ["hello", -1], "ArgumentError NegativeIntegerArgument"],
    ["replace", ["hello", "l", "w"], "hewwo"],
    ["replace", ["hello", "", "w"], "hello"],
    ["split", ["one,two", ","], ["one", "two"]],
    ["split", ["one,two;3", [",", ";"]], ["one", "two", "3"]],
    ["split", ["ab", ""], ["a", "b"]],
    ["trim", ["  a "], "a"],
    ["lTrim", ["  a "], "a "],
    ["rTrim", ["  a "], "  a"],
    ["btrim", ["xxaxx", "x"], "a"],
    ["toLower", ["AbC"], "abc"],
    ["toUpper", ["AbC"], "ABC"],
    ["upper", [1], WRONG],
    ["isEmpty", [[]], true],
    ["isEmpty", [map({})], true],
    ["isEmpty", ["a"], false],
    ["valueType", [null], "NULL"],
    ["valueType", [1], "INTEGER NOT NULL"],
    ["valueType", [[1, 2]], "LIST<INTEGER NOT NULL> NOT NULL"],
    ["valueType", [[1, "a", null]], "LIST<INTEGER | STRING> NOT NULL"],
    ["valueType", [new Duration(0, 0, 0, 0)], "DURATION NOT NULL"],
    [
      "vector.similarity.cosine",
      [
        [1, 0],
        [0, 2],
      ],
      0.5,
    ],
    [
      "vector.similarity.cosine",
      [
        [1, 1],
        [2, 2],
      ],
      floatValue((1 + Math.min(1, 4 / Math.sqrt(16))) / 2),
    ],
    [
      "vector.similarity.euclidean",
      [
        [0, 0],
        [1, 1],
      ],
      1 / 3,
    ],
    ["vector.similarity.euclidean", [[1], [1, 2]], "ArgumentError InvalidArgumentValue"],
    ["vector.similarity.cosine", [["a"], [1]], WRONG],
    ["vector.similarity.cosine", [null, [1]], null],
    ["nullIf", [1, f(1)], null],
    ["nullIf", [1, 2], 1],
    ["exists", [null], false],
    ["exists", [1], true],
  ];
  for (const [name, args, expected] of cases) t.strictSame(named(name, ...args), expected, `${name}(${args.join()})`);
  t.strictSame(named("nope", 1), { error: "unknown" });
  t.strictSame(named("head"), { error: "arity", expected: "1" });
  t.strictSame(named("range", 1), { error: "arity", expected: "2 or 3" });
  t.strictSame(named("coalesce"), { error: "arity", expected: "1 or more" });
  t.match(named("randomUUID"), /^[0-9a-f-]{36}$/);
});

function over(name: string, items: readonly Variant[], direct: Variant[] = []): unknown {
  const { fn } = cypherAggregate(name)!;
  return outcome(() => steps(fn, items, direct));
}

function steps(fn: AggregateFunction, items: readonly Variant[], direct: Variant[]): Variant {
  let state = fn.init();
  for (const item of items) if (item !== null || !fn.strict) state = fn.step(state, item);
  return fn.result(state, direct) as Variant;
}

t.test("aggregates", async (t) => {
  t.equal(over("count", [1, null, 2]), 2);
  t.equal(steps(COUNT_ALL, [1, 1], []), 2);
  t.equal(over("sum", []), 0);
  t.equal(over("SUM", [1, 2, null]), 3);
  t.strictSame(over("sum", [1, f(2)]), f(3));
  t.equal(over("sum", [MAX, 1]), OVERFLOW);
  t.equal(over("sum", ["a"]), WRONG);
  t.strictSame(over("sum", [new Duration(1, 0, 0, 0), new Duration(1, 1, 0, 0)]), new Duration(2, 1, 0, 0));
  t.equal(over("avg", []), null);
  t.strictSame(over("avg", [1, 3]), f(2));
  t.equal(over("avg", [1, 2]), 1.5);
  t.strictSame(over("min", [3, "a", null, [1]]), [1]);
  t.equal(over("max", [3, "a", null, [1]]), 3);
  t.equal(over("max", []), null);
  t.strictSame(over("collect", [1, null, 2]), [1, 2]);
  t.strictSame(over("collect", []), []);
  t.strictSame(over("stDev", [1, 2, 3]), f(1));
  t.strictSame(over("stDev", [1]), f(0));
  t.equal(over("stDevP", [1, 2]), 0.5);
  t.equal(over("percentileCont", [1, 2, 3, 4], [0.5]), 2.5);
  t.strictSame(over("percentileCont", [10, 20, 30], [0]), f(10));
  t.equal(over("percentileDisc", [10, 20, 30], [0.5]), 20);
  t.equal(over("percentileDisc", [10, 20, 30], [1]), 30);
  t.equal(over("percentileDisc", [10, 20, 30], [f(0)]), 10);
  t.equal(over("percentileDisc", [], [0.5]), null);
  t.equal(over("percentileCont", [1], [1000]), "ArgumentError NumberOutOfRange");
  t.equal(over("percentileCont", [], [-1]), "ArgumentError NumberOutOfRange");
  t.equal(steps(FIRST_VALUE, [null, 1], []), null);
  t.equal(steps(FIRST_VALUE, [2, 1], []), 2);
  t.equal(cypherAggregate("head"), null);
});
