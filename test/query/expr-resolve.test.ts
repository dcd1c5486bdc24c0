/** Which overload a call means, as chapter 10 of PostgreSQL's manual decides it, and the errors when none fits. */
import t from "tap";
import type { DbError } from "../../src/protocol/errors.js";
import { canCoerce, commonType } from "../../src/query/expr/coercion.js";
import { resolveAggregate, resolveFunction, resolveOperator } from "../../src/query/expr/resolve.js";
import { typeFromName } from "../../src/query/expr/type-spellings.js";
import { displayName, pgOidOf } from "../../src/query/expr/types.js";
import {
  arrayOf,
  BOOL,
  BPCHAR,
  DATE,
  FLOAT4,
  FLOAT8,
  INT2,
  INT4,
  INT8,
  INTERVAL,
  JSONB,
  NUMERIC,
  numericType,
  type SqlType,
  TEXT,
  TIMESTAMP,
  TIMESTAMPTZ,
  typeOf,
  UNKNOWN,
  VARCHAR,
  VECTOR,
} from "../../src/values/values.js";

function failure(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return `${(error as DbError).details?.sqlstate} ${(error as Error).message}`;
  }
  return "";
}

t.test("operators", async (t) => {
  const cases: [SqlType, string, SqlType, SqlType, SqlType[]][] = [
    [INT4, "+", INT4, INT4, [INT4, INT4]],
    [INT2, "+", INT8, INT8, [INT2, INT8]],
    [INT4, "+", NUMERIC, NUMERIC, [NUMERIC, NUMERIC]],
    [INT4, "*", FLOAT8, FLOAT8, [FLOAT8, FLOAT8]],
    [NUMERIC, "/", FLOAT4, FLOAT8, [FLOAT8, FLOAT4]],
    [INT4, "+", UNKNOWN, INT4, [INT4, INT4]],
    [UNKNOWN, "=", VARCHAR, BOOL, [TEXT, TEXT]],
    [BPCHAR, "=", UNKNOWN, BOOL, [BPCHAR, BPCHAR]],
    [BPCHAR, "=", TEXT, BOOL, [TEXT, TEXT]],
    [TEXT, "||", UNKNOWN, TEXT, [TEXT, TEXT]],
    [UNKNOWN, "||", INT4, TEXT, [TEXT, INT4]],
    [UNKNOWN, "||", UNKNOWN, TEXT, [TEXT, TEXT]],
    [arrayOf(INT4), "||", INT4, arrayOf(INT4), [arrayOf(INT4), INT4]],
    [arrayOf(INT4), "=", UNKNOWN, BOOL, [arrayOf(INT4), arrayOf(INT4)]],
    [DATE, "+", INT4, DATE, [DATE, INT4]],
    [DATE, "-", DATE, INT4, [DATE, DATE]],
    [DATE, "<", TIMESTAMPTZ, BOOL, [TIMESTAMPTZ, TIMESTAMPTZ]],
    [TIMESTAMP, "-", TIMESTAMP, INTERVAL, [TIMESTAMP, TIMESTAMP]],
    [INTERVAL, "*", INT4, INTERVAL, [INTERVAL, FLOAT8]],
    [VECTOR, "<=>", UNKNOWN, FLOAT8, [VECTOR, VECTOR]],
    [VECTOR, "<->", arrayOf(NUMERIC), FLOAT8, [VECTOR, VECTOR]],
    [JSONB, "->>", UNKNOWN, TEXT, [JSONB, TEXT]],
    [TEXT, "~~", UNKNOWN, BOOL, [TEXT, TEXT]],
  ];
  for (const [left, symbol, right, returns, args] of cases) {
    const { fn, argTypes } = resolveOperator(symbol, left, right);
    const spelled = `${displayName(left)} ${symbol} ${displayName(right)}`;
    t.equal(fn.returns, returns, `${spelled} gives ${displayName(fn.returns)}`);
    t.same(argTypes.map(displayName), args.map(displayName), spelled);
  }
  t.equal(resolveOperator("-", null, INTERVAL).fn.returns, INTERVAL);
});

t.test("functions", async (t) => {
  const cases: [string, SqlType[], SqlType, SqlType[]][] = [
    ["round", [INT4], FLOAT8, [FLOAT8]],
    ["round", [NUMERIC, INT4], NUMERIC, [NUMERIC, INT4]],
    ["abs", [UNKNOWN], FLOAT8, [FLOAT8]],
    ["length", [VARCHAR], INT4, [TEXT]],
    ["length", [UNKNOWN], INT4, [TEXT]],
    ["coalesce", [INT4, NUMERIC, UNKNOWN], NUMERIC, [NUMERIC, NUMERIC, NUMERIC]],
    ["greatest", [UNKNOWN, UNKNOWN], TEXT, [TEXT, TEXT]],
    ["concat", [INT4, UNKNOWN], TEXT, [INT4, TEXT]],
    ["array_append", [arrayOf(INT4), NUMERIC], arrayOf(NUMERIC), [arrayOf(NUMERIC), NUMERIC]],
    ["date_trunc", [UNKNOWN, DATE], TIMESTAMPTZ, [TEXT, TIMESTAMPTZ]],
    ["date_trunc", [UNKNOWN, TIMESTAMP], TIMESTAMP, [TEXT, TIMESTAMP]],
    ["int4", [UNKNOWN], INT4, [TEXT]],
    ["substring", [TEXT, UNKNOWN], TEXT, [TEXT, TEXT]],
    ["json_extract_path_text", [typeOf("json"), UNKNOWN, UNKNOWN], TEXT, [typeOf("json"), TEXT, TEXT]],
  ];
  for (const [name, given, returns, args] of cases) {
    const { fn, argTypes } = resolveFunction(name, given);
    t.equal(fn.returns, returns, `${name}(${given.map(displayName)})`);
    t.same(argTypes.map(displayName), args.map(displayName), name);
  }
});

t.test("equal calls have identical overloads", async (t) => {
  t.equal(resolveFunction("coalesce", [INT4, INT4]).fn, resolveFunction("coalesce", [INT4, INT4]).fn);
  t.equal(resolveOperator("=", INT4, INT4).fn, resolveOperator("=", INT4, INT4).fn);
});

t.test("aggregates", async (t) => {
  const result = (name: string, ...types: SqlType[]) => resolveAggregate(name, types).fn.returns;
  t.equal(result("count"), INT8);
  t.equal(result("count", UNKNOWN), INT8);
  t.equal(result("sum", INT4), INT8);
  t.equal(result("sum", INT8), NUMERIC);
  t.equal(result("avg", INT2), NUMERIC);
  t.equal(result("avg", FLOAT4), FLOAT8);
  t.equal(result("min", VARCHAR), TEXT);
  t.equal(result("max", DATE), DATE);
  t.equal(result("array_agg", INT4), arrayOf(INT4));
  t.equal(result("stddev", INT4), NUMERIC);
  t.match(
    failure(() => result("sum", TEXT)),
    /^42883 function sum\(text\) does not exist/,
  );
});

t.test("errors", async (t) => {
  t.equal(
    failure(() => resolveFunction("foo", [INT4, UNKNOWN])),
    "42883 function foo(integer, unknown) does not exist",
  );
  t.equal(
    failure(() => resolveOperator("+", INT4, TEXT)),
    "42883 operator does not exist: integer + text",
  );
  t.equal(
    failure(() => resolveOperator("-", null, TEXT)),
    "42883 operator does not exist: - text",
  );
  t.equal(
    failure(() => resolveOperator("-", null, UNKNOWN)),
    "42725 operator is not unique: - unknown",
  );
  t.equal(
    failure(() => resolveOperator("+", UNKNOWN, UNKNOWN)),
    "42725 operator is not unique: unknown + unknown",
  );
  t.equal(
    failure(() => resolveFunction("round", [FLOAT8, INT4])),
    "42883 function round(double precision, integer) does not exist",
  );
  t.equal(
    failure(() => resolveFunction("coalesce", [INT4, BOOL])),
    "42804 COALESCE types integer and boolean cannot be matched",
  );
  t.equal(
    failure(() => resolveOperator("=", INT4, BOOL)),
    "42883 operator does not exist: integer = boolean",
  );
  try {
    resolveFunction("lower", [INT4], 8);
  } catch (error) {
    t.match((error as DbError).details, { position: 8, hint: /explicit type casts/ });
  }
});

t.test("conversions", async (t) => {
  t.ok(canCoerce(INT4, FLOAT8, "implicit"));
  t.notOk(canCoerce(FLOAT8, INT4, "implicit"));
  t.ok(canCoerce(FLOAT8, INT4, "assignment"));
  t.notOk(canCoerce(INT4, TEXT, "implicit"));
  t.ok(canCoerce(INT4, TEXT, "assignment"));
  t.notOk(canCoerce(TEXT, INT4, "assignment"));
  t.ok(canCoerce(TEXT, INT4, "explicit"));
  t.notOk(canCoerce(DATE, INT4, "explicit"));
  t.ok(canCoerce(arrayOf(INT4), arrayOf(FLOAT8), "implicit"));
  t.equal(commonType([INT4, INT8, UNKNOWN]), INT8);
  t.equal(commonType([UNKNOWN, UNKNOWN]), TEXT);
  t.equal(commonType([numericType(5, 2), numericType(5, 2)]), numericType(5, 2));
  t.equal(commonType([numericType(5, 2), numericType(6, 2)]), NUMERIC);
  t.equal(
    failure(() => commonType([INT4, DATE], "UNION")),
    "42804 UNION types integer and date cannot be matched",
  );
});

t.test("names of types", async (t) => {
  const cases: [string, number[], number, string][] = [
    ["INTEGER", [], 0, "integer"],
    ["pg_catalog.int4", [], 0, "integer"],
    ["varchar", [10], 0, "character varying(10)"],
    ["char", [], 0, '"char"'],
    ["numeric", [10, 2], 0, "numeric(10,2)"],
    ["numeric", [3, -2], 0, "numeric(3,-2)"],
    ["timestamp", [3], 0, "timestamp(3) without time zone"],
    ["timestamptz", [], 0, "timestamp with time zone"],
    ["interval", [4], 0, "interval year"],
    ["text", [], 2, "text[]"],
    ["_int4", [], 0, "integer[]"],
    ["DATETIME", [], 0, "timestamp without time zone"],
    ["Double", [], 0, "double precision"],
    ["LONGBLOB", [], 0, "bytea"],
    ["vector", [384], 0, "vector(384)"],
  ];
  for (const [name, modifiers, dimensions, display] of cases) {
    t.equal(displayName(typeFromName(name, modifiers, dimensions)), display, name);
  }
  t.equal(
    failure(() => typeFromName("strange")),
    '42704 type "strange" does not exist',
  );
  t.equal(
    failure(() => typeFromName("constructor")),
    '42704 type "constructor" does not exist',
  );
  t.match(
    failure(() => typeFromName("varchar", [0])),
    /^22023 /,
  );
  t.equal(pgOidOf(arrayOf(TEXT)), 1009);
});
