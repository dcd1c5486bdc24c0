/** Text input and output of every type: what PostgreSQL prints, round trips, and the errors for bad input. */
import fc from "fast-check";
import t from "tap";
import type { DbError } from "../../src/protocol/errors.js";
import { fromText, toText } from "../../src/values/text-format.js";
import {
  arrayOf,
  BOOL,
  BYTEA,
  FLOAT4,
  FLOAT8,
  INT2,
  INT4,
  INT8,
  JSON_TYPE,
  JSONB,
  numericType,
  type SqlType,
  TEXT,
  typeOf,
  UUID,
  VECTOR,
} from "../../src/values/values.js";

const again = (type: SqlType, text: string) => toText(type, fromText(type, text));

function errorOf(type: SqlType, text: string): string {
  try {
    fromText(type, text);
  } catch (error) {
    return `${(error as DbError).details?.sqlstate} ${(error as Error).message}`;
  }
  return "";
}

t.test("what is read prints in PostgreSQL's own spelling", async (t) => {
  const cases: [SqlType, string, string][] = [
    [BOOL, " Yes ", "t"],
    [BOOL, "of", "f"],
    [INT4, " +12 ", "12"],
    [INT8, "9223372036854775807", "9223372036854775807"],
    [FLOAT8, "1e15", "1e+15"],
    [FLOAT8, "100000000000000", "100000000000000"],
    [FLOAT8, "0.0001", "0.0001"],
    [FLOAT8, "0.00001", "1e-05"],
    [FLOAT8, "123456789012345678", "1.2345678901234568e+17"],
    [FLOAT8, "-0", "-0"],
    [FLOAT8, "inf", "Infinity"],
    [FLOAT4, "1234567", "1.234567e+06"],
    [FLOAT4, "0.1", "0.1"],
    [FLOAT4, "16777216", "1.6777216e+07"],
    [numericType(5, 2), "123.456", "123.46"],
    [typeOf("varchar", 3), "abc  ", "abc"],
    [typeOf("bpchar", 5), "abc", "abc  "],
    [BYTEA, "a\\\\b\\001", "\\x615c6201"],
    [BYTEA, "\\xDEAD beef", "\\xdeadbeef"],
    [UUID, "{A0EEBC99-9C0B4EF8-BB6D6BB9BD380A11}", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
    [JSON_TYPE, '{ "a":1,"a":2 }', '{ "a":1,"a":2 }'],
    [JSONB, '{"bb":1.50, "a":[1,2],"a":{}}', '{"a": {}, "bb": 1.50}'],
    [JSONB, "12345678901234567890.5", "12345678901234567890.5"],
    [JSONB, "1e5", "100000"],
    [VECTOR, " [1, 2.5,-3] ", "[1,2.5,-3]"],
    [arrayOf(INT4), "{1,NULL,{}", ""],
    [arrayOf(INT4), "{{1,2},{3,4}}", "{{1,2},{3,4}}"],
    [arrayOf(INT4), "[0:1]={1,2}", "[0:1]={1,2}"],
    [arrayOf(TEXT), "{ \u00a0,\u2003x\u00a0 }", "{\u00a0,\u2003x\u00a0}"],
    [arrayOf(TEXT), '{"a b",null,"NULL","c\\"d",""}', '{"a b",NULL,"NULL","c\\"d",""}'],
  ];
  for (const [type, text, printed] of cases.filter(([, , printed]) => printed !== "")) {
    t.equal(again(type, text), printed, text);
  }
});

t.test("bad input is refused with PostgreSQL's words", async (t) => {
  const cases: [SqlType, string, string][] = [
    [INT4, "x", '22P02 invalid input syntax for type integer: "x"'],
    [INT4, "1.5", '22P02 invalid input syntax for type integer: "1.5"'],
    [INT4, "99999999999", '22003 value "99999999999" is out of range for type integer'],
    [INT2, "40000", '22003 value "40000" is out of range for type smallint'],
    [INT8, "9223372036854775808", '22003 value "9223372036854775808" is out of range for type bigint'],
    [FLOAT8, "1e400", '22003 "1e400" is out of range for type double precision'],
    [FLOAT4, "1e-60", '22003 "1e-60" is out of range for type real'],
    [BOOL, "o", '22P02 invalid input syntax for type boolean: "o"'],
    [typeOf("varchar", 3), "abcd", "22001 value too long for type character varying(3)"],
    [typeOf("bpchar", 3), "abcd", "22001 value too long for type character(3)"],
    [UUID, "xyz", '22P02 invalid input syntax for type uuid: "xyz"'],
    [BYTEA, "\\xabc", "22023 invalid hexadecimal data: odd number of digits"],
    [JSONB, "{a}", "22P02 invalid input syntax for type json"],
    [JSONB, '"\\u0000"', "22P05 unsupported Unicode escape sequence"],
    [numericType(3, 1), "100", "22003 numeric field overflow"],
    [typeOf("vector", 3), "[1,2]", "22000 expected 3 dimensions, not 2"],
    [VECTOR, "[1,nan]", "22000 NaN not allowed in vector"],
    [arrayOf(INT4), "{1,2", '22P02 malformed array literal: "{1,2"'],
    [arrayOf(INT4), "{{1},{2,3}}", '22P02 malformed array literal: "{{1},{2,3}}"'],
    [arrayOf(INT4), "{1,a}", '22P02 invalid input syntax for type integer: "a"'],
  ];
  for (const [type, text, message] of cases) t.equal(errorOf(type, text), message);
});

t.test("characters count by code point", async (t) => {
  t.equal(fromText(typeOf("varchar", 2), "😀😀"), "😀😀");
  t.equal(errorOf(typeOf("varchar", 2), "😀😀😀"), "22001 value too long for type character varying(2)");
});

t.test("round trips", async (t) => {
  fc.assert(
    fc.property(fc.double(), (x) => {
      t.ok(Object.is(fromText(FLOAT8, toText(FLOAT8, x)), x));
    }),
  );
  fc.assert(
    fc.property(fc.float(), (x) => {
      t.ok(Object.is(fromText(FLOAT4, toText(FLOAT4, x)), x));
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      t.same(fromText(BYTEA, toText(BYTEA, bytes)), bytes);
    }),
  );
  const texts = arrayOf(TEXT);
  fc.assert(
    fc.property(fc.array(fc.option(fc.string({ unit: "binary" })), { minLength: 1 }), (elements) => {
      const array = { elements, dimensions: [elements.length], lowerBounds: [1] };
      t.same(fromText(texts, toText(texts, array)), array);
    }),
  );
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      t.same(JSON.parse(again(JSONB, text)), JSON.parse(text));
    }),
  );
});
