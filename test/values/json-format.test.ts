/** Cells of JSON and MessagePack answers, and parameters of requests. */
import fc from "fast-check";
import t from "tap";
import type { DbError } from "../../src/protocol/errors.js";
import { fromParameter, jsonWriter, toJsonText, toPlain, typeOfParameter } from "../../src/values/json-format.js";
import { fromText, toText } from "../../src/values/text-format.js";
import {
  arrayOf,
  BOOL,
  BYTEA,
  DATE,
  FLOAT4,
  FLOAT8,
  INT4,
  INT8,
  INTERVAL,
  JSON_TYPE,
  JSONB,
  NUMERIC,
  type SqlType,
  TEXT,
  TIMESTAMP,
  TIMESTAMPTZ,
  typeOf,
  UNKNOWN,
  type Value,
  VECTOR,
} from "../../src/values/values.js";

t.test("a json value with line breaks stays on its line", async (t) => {
  const value = fromText(JSON_TYPE, '{"a":\r\n [1,\n"x\\n"]}');
  t.equal(toJsonText(JSON_TYPE, value), '{"a":   [1, "x\\n"]}');
  const list = fromText(arrayOf(JSON_TYPE), '{"[1,\n2]"}');
  t.equal(toJsonText(arrayOf(JSON_TYPE), list), "[[1, 2]]");
});

t.test("cells", async (t) => {
  const cases: [SqlType, string, string][] = [
    [BOOL, "t", "true"],
    [INT8, "9007199254740991", "9007199254740991"],
    [INT8, "9007199254740992", '"9007199254740992"'],
    [INT8, "-9223372036854775808", '"-9223372036854775808"'],
    [NUMERIC, "9007199254740991", "9007199254740991"],
    [NUMERIC, "12345678901234567890", '"12345678901234567890"'],
    [NUMERIC, "12345678901234567890.10", "12345678901234567890.10"],
    [NUMERIC, "NaN", '"NaN"'],
    [FLOAT8, "Infinity", '"Infinity"'],
    [FLOAT4, "0.1", "0.1"],
    [TEXT, 'a"b\n', '"a\\"b\\n"'],
    [BYTEA, "\\x00ff", '"\\\\x00ff"'],
    [DATE, "2024-01-02", '"2024-01-02"'],
    [TIMESTAMP, "2024-01-02 03:04:05.123", '"2024-01-02T03:04:05.123"'],
    [TIMESTAMPTZ, "2024-01-02 03:04:05+02", '"2024-01-02T01:04:05+00:00"'],
    [INTERVAL, "1 day 2 hours", '"1 day 02:00:00"'],
    [JSONB, '{"a": 1.50, "b": [null]}', '{"a":1.50,"b":[null]}'],
    [JSON_TYPE, '{"a" : 1}', '{"a" : 1}'],
    [VECTOR, "[0.1,2]", "[0.1,2]"],
    [arrayOf(TEXT), '{a,NULL,"b\\"c"}', '["a",null,"b\\"c"]'],
    [arrayOf(INT4), "{{1,2},{3,4}}", "[[1,2],[3,4]]"],
    [arrayOf(INT4), "{}", "[]"],
  ];
  for (const [type, text, json] of cases) {
    t.equal(toJsonText(type, fromText(type, text)), json);
    t.equal(toJsonText(type, null), "null");
  }
  t.equal(jsonWriter(TIMESTAMPTZ, "Asia/Kolkata")(0), '"1970-01-01T05:30:00+05:30"');
});

t.test("every text is valid JSON", async (t) => {
  const write = jsonWriter(TEXT);
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      t.equal(JSON.parse(write(text)), text);
    }),
  );
  t.equal(write("\ud800"), '"\\ud800"');
});

t.test("MessagePack cells", async (t) => {
  const plain = (type: SqlType, text: string) => toPlain(type, fromText(type, text));
  t.equal(plain(NUMERIC, "1.50"), 1.5);
  t.equal(plain(NUMERIC, "12345678901234567890.1"), "12345678901234567890.1");
  t.equal(plain(NUMERIC, "9007199254740991"), 9007199254740991);
  t.equal(plain(NUMERIC, "9007199254740992"), "9007199254740992");
  t.equal(plain(NUMERIC, "9007199254740992.0"), 9007199254740992);
  t.equal(plain(INT8, "9223372036854775807"), 9223372036854775807n);
  t.same(plain(BYTEA, "\\x01ff"), new Uint8Array([1, 255]));
  t.same(plain(VECTOR, "[0.1,2]"), [0.1, 2]);
  t.same(plain(JSONB, '{"a":1.50}'), { a: 1.5 });
});

function refusal(type: SqlType, json: unknown): string {
  try {
    fromParameter(type, json);
  } catch (error) {
    return (error as DbError).details?.sqlstate ?? String(error);
  }
  return "accepted";
}

t.test("parameters", async (t) => {
  const cases: [SqlType, unknown, string][] = [
    [INT4, "12", "12"],
    [INT4, 12, "12"],
    [INT8, "9223372036854775807", "9223372036854775807"],
    [INT8, 2 ** 53, "9007199254740992"],
    [INT8, -7, "-7"],
    [NUMERIC, 0.1, "0.1"],
    [NUMERIC, "1.50", "1.50"],
    [TEXT, 12, "12"],
    [BOOL, true, "t"],
    [BOOL, "off", "f"],
    [BYTEA, "\\x01", "\\x01"],
    [BYTEA, new Uint8Array([1]), "\\x01"],
    [JSONB, { a: [1] }, '{"a": [1]}'],
    [JSONB, '{"a":1}', '{"a": 1}'],
    [JSONB, [1, 2], "[1, 2]"],
    [VECTOR, [1, 2.5], "[1,2.5]"],
    [arrayOf(INT4), [1, null, 3], "{1,NULL,3}"],
    [
      arrayOf(INT4),
      [
        [1, 2],
        [3, 4],
      ],
      "{{1,2},{3,4}}",
    ],
    [DATE, "2024-02-29", "2024-02-29"],
    [TIMESTAMPTZ, new Date(0), "1970-01-01 00:00:00+00"],
  ];
  for (const [type, json, text] of cases) t.equal(toText(type, fromParameter(type, json) as Value), text);
  t.equal(fromParameter(INT4, null), null);
  t.ok(Object.is(fromParameter(INT8, -0), 0), "an integer has no negative zero");
  t.equal(refusal(INT8, 0.5), "22P02");
  t.equal(refusal(INT8, 1e300), "22003");
  t.equal(refusal(INT4, 1.5), "22P02");
  t.equal(refusal(INT4, 3e9), "22003");
  t.equal(refusal(INT4, { a: 1 }), "22P02");
  t.equal(refusal(INT4, "x"), "22P02");
  t.equal(refusal(VECTOR, ["a"]), "22P02");
  t.equal(refusal(typeOf("vector", 3), [1, 2]), "22000");
  t.equal(refusal(arrayOf(INT4), [[1], [2, 3]]), "2202E");
  t.equal(refusal(typeOf("varchar", 2), "abc"), "22001");
});

t.test("types of parameters that a statement leaves open", async (t) => {
  t.equal(typeOfParameter("a"), TEXT);
  t.equal(typeOfParameter(5), INT4);
  t.equal(typeOfParameter(3e9), INT8);
  t.equal(typeOfParameter(1e30), NUMERIC);
  t.equal(typeOfParameter(1.5), FLOAT8);
  t.equal(typeOfParameter(true), BOOL);
  t.equal(typeOfParameter(null), UNKNOWN);
  t.equal(typeOfParameter({}), JSONB);
  t.equal(typeOfParameter([1, 2]), arrayOf(FLOAT8));
  t.equal(typeOfParameter(["a"]), arrayOf(TEXT));
});
