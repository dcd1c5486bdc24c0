/**
 * Vectors as text and as JSON: round trips, what pgvector refuses, shortest digits, and distances against plain sums.
 */
import fc from "fast-check";
import t from "tap";
import { DbError } from "../../src/protocol/errors.js";
import { float4ToText, shortFloat4 } from "../../src/values/float-text.js";
import { fromParameter, toJsonText } from "../../src/values/json-format.js";
import { fromText, toText } from "../../src/values/text-format.js";
import { typeOf, type Value, VECTOR } from "../../src/values/values.js";
import {
  cosineDistance,
  cosineSimilarity,
  innerProduct,
  l1Distance,
  l2Distance,
  norm,
  normalized,
} from "../../src/values/vector-math.js";

const finite = { noNaN: true, noDefaultInfinity: true } as const;
const vectors = fc.float32Array({ minLength: 1, maxLength: 50, ...finite });

function outcome(run: () => Value): string {
  try {
    return toText(VECTOR, run());
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    return `${error.details?.sqlstate} ${error.message}`;
  }
}

t.test("round trips", async () => {
  fc.assert(
    fc.property(vectors, (vector) => {
      t.strictSame(fromText(VECTOR, toText(VECTOR, vector)), vector);
      const json = toJsonText(VECTOR, vector);
      t.strictSame(
        fromParameter(VECTOR, JSON.parse(json)),
        vector.map((x) => x + 0),
        json,
      );
      t.strictSame(fromParameter(VECTOR, vector), vector);
    }),
  );
});

t.test("members are written as single numbers are", async () => {
  const fractions = fc.oneof(
    fc.float({ min: Math.fround(-1.5), max: Math.fround(1.5), noNaN: true }),
    fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => Math.fround(n / 1_000_000)),
    fc.integer({ min: 1, max: 12 }).map((places) => Math.fround(10 ** -places)),
    fc.float(finite),
  );
  fc.assert(
    fc.property(fc.array(fractions, { minLength: 1, maxLength: 20 }), (members) => {
      const vector = Float32Array.from(members);
      t.equal(toText(VECTOR, vector), `[${Array.from(vector, float4ToText).join()}]`);
      t.equal(toJsonText(VECTOR, vector), `[${Array.from(vector, (x) => String(shortFloat4(x))).join()}]`);
    }),
    { numRuns: 2000 },
  );
});

t.test("shortest digits of single-precision numbers", async () => {
  const slow = (x: number): string => {
    for (let digits = 1; digits < 9; digits++) {
      const text = x.toPrecision(digits);
      if (Math.fround(Number(text)) === x) return String(Number(text));
    }
    return String(Number(x.toPrecision(9)));
  };
  const digitsOf = (text: string) =>
    text
      .replace(/e.*/, "")
      .replace(/[-.]/g, "")
      .replace(/^0+|0+$/g, "").length;
  fc.assert(
    fc.property(fc.oneof(fc.float(finite), fc.float({ min: -2, max: 2, noNaN: true })), (x) => {
      const short = shortFloat4(x);
      t.equal(Math.fround(short), x);
      t.equal(Math.fround(Number(float4ToText(x))), x);
      if (!Number.isInteger(x)) t.equal(digitsOf(String(short)), digitsOf(slow(x)), `${short} is short`);
    }),
    { numRuns: 2000 },
  );
  for (const [number, text] of [
    [0.1, "0.1"],
    [1 / 3, "0.33333334"],
    [1e-4, "0.0001"],
    [9.5e-5, "9.5e-05"],
    [123456.7, "123456.7"],
    [999999.9, "999999.9"],
    [1e6, "1e+06"],
    [16777216, "1.6777216e+07"],
    [1.5e38, "1.5e+38"],
    [1.4e-45, "1e-45"],
    [-0, "-0"],
  ] as const) {
    t.equal(float4ToText(Math.fround(number)), text);
  }
});

t.test("text as pgvector reads it", async (t) => {
  for (const [text, expected] of [
    ["[1,2,3]", "[1,2,3]"],
    [" [ 1,  2 ,    3  ] ", "[1,2,3]"],
    ["[1.,2.,.5]", "[1,2,0.5]"],
    ["[+1,-2e1]", "[1,-20]"],
    ["[1.23456]", "[1.23456]"],
    ["[1.5e38,-1.5e-38]", "[1.5e+38,-1.5e-38]"],
    ["[1e-46,1]", "[0,1]"],
    ["[hello,1]", '22P02 invalid input syntax for type vector: "[hello,1]"'],
    ["[NaN,1]", "22000 NaN not allowed in vector"],
    ["[1,-Infinity]", "22000 infinite value not allowed in vector"],
    ["[4e38,1]", '22003 "4e38" is out of range for type vector'],
    ["[1e999]", '22003 "1e999" is out of range for type vector'],
    ["[]", "22000 vector must have at least 1 dimension"],
    ["[ ]", "22000 vector must have at least 1 dimension"],
    ...[
      "",
      "[",
      "[,",
      "[,]",
      "[1,]",
      "[1a]",
      "[1,,3]",
      "[1, ,3]",
      "[1,2,3",
      "[1,2,3]9",
      "1,2,3",
      "[[1]]",
      '["1"]',
      "{1}",
    ].map((wrong) => [wrong, `22P02 invalid input syntax for type vector: "${wrong}"`] as const),
    [`[${"1,".repeat(16_000)}1]`, "54000 vector cannot have more than 16000 dimensions"],
    [`[${"1,".repeat(16_000)}.1]`, "54000 vector cannot have more than 16000 dimensions"],
  ] as const) {
    t.equal(
      outcome(() => fromText(VECTOR, text)),
      expected,
      text.slice(0, 40),
    );
  }
  t.equal(
    outcome(() => fromText(typeOf("vector", 2), "[1,2,3]")),
    "22000 expected 2 dimensions, not 3",
  );
  t.equal(
    outcome(() => fromText(typeOf("vector", 2), "[1, 2., 3]")),
    "22000 expected 2 dimensions, not 3",
  );
  t.equal((fromText(VECTOR, `[${"1,".repeat(15_999)}1]`) as Float32Array).length, 16_000);
});

t.test("any text is read or refused", async () => {
  const pieces = fc.constantFrom(
    "[",
    "]",
    ",",
    " ",
    "1",
    "-",
    "+",
    ".",
    "e5",
    "nan",
    "inf",
    "0x1",
    '"',
    "\n",
    "9e99",
    "\u00a0",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join("")),
        fc.string(),
      ),
      (text) => {
        const result = outcome(() => fromText(VECTOR, text));
        t.match(result, /^(\[[^\]]+\]$|22P02 |22000 |22003 )/);
        const inner = outcome(() => fromText(VECTOR, `[${text}]`));
        t.match(inner, /^(\[[^\]]+\]$|22P02 |22000 |22003 )/);
      },
    ),
    { numRuns: 2000 },
  );
});

t.test("parameters", async (t) => {
  for (const [json, expected] of [
    [[1, 2.5], "[1,2.5]"],
    ["[1, 2.5]", "[1,2.5]"],
    [new Float64Array([0.1]), "[0.1]"],
    [[], "22000 vector must have at least 1 dimension"],
    [[1, "2"], "22P02 members of a vector must be numbers"],
    [[1, null], "22P02 members of a vector must be numbers"],
    [[[1]], "22P02 members of a vector must be numbers"],
    [[1e39], '22003 "1e+39" is out of range for type vector'],
    [[Number.NaN], "22000 NaN not allowed in vector"],
    [{ 0: 1 }, "22P02 a parameter of type vector cannot be an object"],
  ] as const) {
    t.equal(
      outcome(() => fromParameter(VECTOR, json)),
      expected,
    );
  }
});

t.test("distances", async () => {
  const pairs = fc.integer({ min: 1, max: 70 }).chain((length) => {
    const part = fc.float32Array({ minLength: length, maxLength: length, min: -1000, max: 1000, noNaN: true });
    return fc.tuple(part, part);
  });
  const close = (a: number, b: number, scale: number) => Math.abs(a - b) <= 1e-9 * (scale + 1e-300);
  fc.assert(
    fc.property(pairs, ([a, b]) => {
      const sum = (f: (x: number, y: number) => number) => a.reduce((total, x, i) => total + f(x, b[i]!), 0);
      const [aa, bb] = [sum((x) => x * x), sum((_, y) => y * y)];
      const product = sum((x, y) => x * y);
      t.ok(
        close(
          innerProduct(a, b),
          product,
          sum((x, y) => Math.abs(x * y)),
        ),
      );
      t.ok(close(l2Distance(a, b), Math.sqrt(sum((x, y) => (x - y) ** 2)), l2Distance(a, b)));
      t.ok(
        close(
          l1Distance(a, b),
          sum((x, y) => Math.abs(x - y)),
          l1Distance(a, b),
        ),
      );
      t.ok(close(norm(a), Math.sqrt(aa), norm(a)));
      if (aa > 1e-60 && bb > 1e-60) {
        t.ok(Math.abs(cosineSimilarity(a, b) - product / Math.sqrt(aa * bb)) < 1e-9);
        t.ok(Math.abs(cosineSimilarity(a, b)) <= 1);
        t.ok(Math.abs(norm(normalized(a)) - 1) < 1e-6);
      }
      t.ok(Object.is(cosineDistance(a, b), cosineDistance(b, a)));
    }),
  );
  t.ok(Number.isNaN(cosineDistance(Float32Array.of(0, 0), Float32Array.of(1, 2))));
});
