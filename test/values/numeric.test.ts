/** Numeric against results that PostgreSQL 15 prints, and its algebra against bigint arithmetic. */
import fc from "fast-check";
import t from "tap";
import { DbError } from "../../src/protocol/errors.js";
import { Numeric } from "../../src/values/numeric.js";
import { numericExp, numericLn, numericLog, numericPower, numericSqrt } from "../../src/values/numeric-math.js";

const n = (text: string) => Numeric.parse(text);

function sqlstate(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    return (error as DbError).details?.sqlstate;
  }
  return undefined;
}

t.test("input and output keep the scale", async (t) => {
  for (const text of ["0", "1.50", "-0.001", "12345678901234567890.123", "0.000", "NaN", "Infinity", "-Infinity"]) {
    t.equal(n(text).toString(), text);
  }
  t.equal(n("  +1e3 ").toString(), "1000");
  t.equal(n("1.5e-3").toString(), "0.0015");
  t.equal(n(".5").toString(), "0.5");
  t.equal(n("5.").toString(), "5");
  t.equal(n("inf").toString(), "Infinity");
  for (const text of ["", "abc", "1.2.3", "--1", "1e", "0x10", "1 2"]) {
    t.equal(
      sqlstate(() => n(text)),
      "22P02",
      text,
    );
  }
  t.equal(
    sqlstate(() => n("1e200000")),
    "22003",
  );
});

t.test("division has PostgreSQL's scale", async (t) => {
  const cases: [string, string, string][] = [
    ["1.0", "3", "0.33333333333333333333"],
    ["10", "3.0", "3.3333333333333333"],
    ["1", "3", "0.33333333333333333333"],
    ["100000", "3", "33333.333333333333"],
    ["1", "30000", "0.000033333333333333333333"],
    ["-7", "2", "-3.5000000000000000"],
    ["6.00", "2.0", "3.0000000000000000"],
    ["Infinity", "2", "Infinity"],
    ["1", "-Infinity", "0"],
    ["Infinity", "Infinity", "NaN"],
  ];
  for (const [a, b, quotient] of cases) t.equal(n(a).div(n(b)).toString(), quotient, `${a} / ${b}`);
  t.equal(
    sqlstate(() => n("1").div(n("0.0"))),
    "22012",
  );
  t.equal(n("10.5").mod(n("3")).toString(), "1.5");
  t.equal(n("-10.5").mod(n("3")).toString(), "-1.5");
  t.equal(n("-10.5").divTruncated(n("3")).toString(), "-3");
});

t.test("rounding is half away from zero", async (t) => {
  const cases: [string, number, string][] = [
    ["2.5", 0, "3"],
    ["-2.5", 0, "-3"],
    ["1234.567", -2, "1200"],
    ["1250", -2, "1300"],
    ["1.005", 2, "1.01"],
    ["1.5", 3, "1.500"],
    ["49", -2, "0"],
  ];
  for (const [x, digits, result] of cases) t.equal(n(x).round(digits).toString(), result, `round(${x}, ${digits})`);
  t.equal(n("-1234.567").trunc(1).toString(), "-1234.5");
  t.equal(n("-1.5").ceil().toString(), "-1");
  t.equal(n("-1.5").floor().toString(), "-2");
  t.equal(n("2.0").ceil().toString(), "2");
});

t.test("roots, logarithms and powers print as PostgreSQL's", async (t) => {
  const cases: [Numeric, string][] = [
    [numericSqrt(n("2")), "1.414213562373095"],
    [numericSqrt(n("0.0000000009")), "0.000030000000000000000"],
    [numericExp(n("1.0")), "2.7182818284590452"],
    [numericExp(n("-10.5")), "0.00002753644934974716"],
    [numericLn(n("2.0")), "0.6931471805599453"],
    [numericLn(n("0.95")), "-0.051293294387550533"],
    [numericLog(n("2.0"), n("64.0")), "6.0000000000000000"],
    [numericLog(n("10"), n("3.0")), "0.4771212547196624"],
    [numericPower(n("2.0"), n("0.5")), "1.4142135623730950"],
    [numericPower(n("1.5"), n("2")), "2.2500000000000000"],
    [numericPower(n("2.0"), n("-3")), "0.1250000000000000"],
    [numericPower(n("0.1"), n("30")), "0.0000000000000000"],
    [numericPower(n("-2"), n("3")), "-8.0000000000000000"],
    [numericPower(n("0"), n("0")), "1.0000000000000000"],
  ];
  for (const [value, text] of cases) t.equal(value.toString(), text);
  t.equal(
    sqlstate(() => numericSqrt(n("-1"))),
    "2201F",
  );
  t.equal(
    sqlstate(() => numericLn(n("0"))),
    "2201E",
  );
  t.equal(
    sqlstate(() => numericPower(n("-8"), n("0.5"))),
    "2201F",
  );
  t.equal(
    sqlstate(() => numericExp(n("10000"))),
    "22003",
  );
});

t.test("precision and scale", async (t) => {
  t.equal(n("123.456").withPrecision(5, 2).toString(), "123.46");
  t.equal(n("12345").withPrecision(3, -2).toString(), "12300");
  t.equal(n("0.0012345").withPrecision(3, 5).toString(), "0.00123");
  t.equal(n("NaN").withPrecision(3, 0).toString(), "NaN");
  t.equal(
    sqlstate(() => n("999.995").withPrecision(5, 2)),
    "22003",
  );
  try {
    n("1234.5").withPrecision(5, 2);
    t.fail("accepted");
  } catch (error) {
    t.ok(error instanceof DbError);
    t.equal((error as DbError).message, "numeric field overflow");
    t.match((error as DbError).details?.detail, "must round to an absolute value less than 10^3");
  }
});

t.test("order and equality", async (t) => {
  const ascending = ["-Infinity", "-2.5", "-0.01", "0", "1.0", "1.01", "10", "Infinity", "NaN"].map(n);
  for (const [i, a] of ascending.entries()) {
    for (const [j, b] of ascending.entries()) t.equal(Math.sign(a.compare(b)), Math.sign(i - j), `${a} ? ${b}`);
  }
  t.equal(n("1.0").hashKey(), n("1.00").hashKey());
  t.equal(n("100").hashKey(), n("1e2").hashKey());
  t.not(n("1").hashKey(), n("10").hashKey());
});

t.test("floats become numbers with so many digits", async (t) => {
  t.equal(Numeric.fromFloat(0.1, 15).toString(), "0.1");
  t.equal(Numeric.fromFloat(Math.fround(0.1), 6).toString(), "0.1");
  t.equal(Numeric.fromFloat(123456789.12345679, 15).toString(), "123456789.123457");
  t.equal(Numeric.fromNumber(9007199254740991).toString(), "9007199254740991");
  t.equal(Numeric.fromNumber(1e21).toString(), "1000000000000000000000");
  t.equal(Numeric.fromNumber(Number.NaN).toString(), "NaN");
});

const numerics = fc
  .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat({ max: 20 }))
  .map(([unscaled, scale]) => Numeric.of(unscaled, scale));

t.test("algebra", async (t) => {
  fc.assert(
    fc.property(numerics, numerics, (a, b) => {
      const scale = Math.max(a.scale, b.scale);
      t.ok(a.add(b).unscaled === a.unscaledAt(scale) + b.unscaledAt(scale));
      t.ok(a.add(b).sub(b).equals(a));
      t.ok(a.mul(b).equals(b.mul(a)));
      t.ok(Numeric.parse(a.toString()).equals(a) && Numeric.parse(a.toString()).scale === a.scale);
      t.equal(a.compare(b) === 0, a.hashKey() === b.hashKey());
      if (!b.isZero()) t.ok(a.divTruncated(b).mul(b).add(a.mod(b)).equals(a));
    }),
    { numRuns: 200 },
  );
});

t.test("a square root is the nearest number of its scale", async (t) => {
  fc.assert(
    fc.property(numerics, (x) => {
      const root = numericSqrt(x.abs());
      const half = Numeric.of(5n, root.scale + 1);
      t.ok(root.add(half).mul(root.add(half)).compare(x.abs()) >= 0);
      const below = root.sub(half);
      t.ok(below.signum() < 0 || below.mul(below).compare(x.abs()) <= 0);
    }),
    { numRuns: 100 },
  );
});

t.test("exp and ln undo each other", async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 ** 9 }), fc.nat({ max: 6 }), (unscaled, scale) => {
      const x = Numeric.of(BigInt(unscaled), scale);
      const again = numericExp(numericLn(x));
      t.ok(
        again
          .sub(x)
          .abs()
          .compare(x.mul(n("1e-13"))) <= 0,
        `${x} → ${again}`,
      );
    }),
    { numRuns: 100 },
  );
});
