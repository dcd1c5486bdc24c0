/** The binary forms of values: known bytes of PostgreSQL 15, and values that come back as they went. */
import t from "tap";
import { binaryWriter, fromBinary } from "../../../src/features/postgres/binary-values.js";
import type { DbError } from "../../../src/protocol/errors.js";
import { MessageWriter } from "../../../src/protocol/postgres/message-writer.js";
import { fromText, toText } from "../../../src/values/text-format.js";
import type { SqlType } from "../../../src/values/values.js";
import * as V from "../../../src/values/values.js";

function bytesOf(type: SqlType, text: string): Buffer {
  const writer = new MessageWriter();
  binaryWriter(type)(writer, fromText(type, text));
  const bytes = writer.take();
  t.equal(bytes.readInt32BE(), bytes.length - 4, "the length stands before");
  return bytes.subarray(4);
}

const OWN = { schema: "public", labels: [], fields: [], base: null } as const;
const range = (id: number, name: string, part: SqlType) => V.userType({ ...OWN, kind: "range", id, name, part });
const DOUBLES = range(1, "doubles", V.FLOAT8);
const TEXTS = range(2, "texts", V.TEXT);
const DOUBLE_LISTS = V.userType({ ...OWN, kind: "multirange", id: 3, name: "double_lists", part: DOUBLES });

// Each is what `SELECT encode(…send(value), 'hex')` of PostgreSQL 15 gives.
const KNOWN: readonly (readonly [SqlType, string, string])[] = [
  [V.BOOL, "t", "01"],
  [V.INT2, "-2", "fffe"],
  [V.INT4, "16909060", "01020304"],
  [V.INT8, "-1", "ffffffffffffffff"],
  [V.FLOAT4, "1.5", "3fc00000"],
  [V.FLOAT8, "-2", "c000000000000000"],
  [V.NUMERIC, "0", "0000000000000000"],
  [V.NUMERIC, "1", "00010000000000000001"],
  [V.NUMERIC, "-12345.678", "0003000140000003000109291a7c"],
  [V.NUMERIC, "0.00001", "0001fffe0000000503e8"],
  [V.NUMERIC, "10000", "00010001000000000001"],
  [V.NUMERIC, "0.00", "0000000000000002"],
  [V.NUMERIC, "-9007199254740991.5000", "0005000340000004232f07c8156203df1388"],
  [V.NUMERIC, "9007199254740991", "0004000300000000232f07c8156203df"],
  [V.NUMERIC, "0.000000000001", "0001fffd0000000c0001"],
  [V.NUMERIC, "-1234.567890123456", "000400004000000c04d2162e23340d80"],
  [V.NUMERIC, "100000000", "00010002000000000001"],
  [V.NUMERIC, "12345678901234567890.1234", "000600040000000404d2162e23340d801ed204d2"],
  [V.NUMERIC, "0.00000000000000000100", "0001fffb000000140064"],
  [V.NUMERIC, "NaN", "00000000c0000000"],
  [V.TEXT, "é", "c3a9"],
  [V.BYTEA, "\\x00ff", "00ff"],
  [V.HALFVEC, "[1,-2.5]", "000200003c00c100"],
  [V.SPARSEVEC, "{2:1.5}/3", "000000030000000100000000000000013fc00000"],
  [V.UUID, "0123abcd-0000-4000-8000-00000000ffff", "0123abcd00004000800000000000ffff"],
  [V.DATE, "2000-01-02", "00000001"],
  [V.DATE, "infinity", "7fffffff"],
  [V.DATE, "-infinity", "80000000"],
  [V.TIME, "00:00:01", "00000000000f4240"],
  [V.TIMETZ, "00:00:01+02", "00000000000f4240ffffe3e0"],
  [V.TIMESTAMP, "2000-01-01 00:00:01", "00000000000f4240"],
  [V.TIMESTAMPTZ, "1999-12-31 23:59:59+00", "fffffffffff0bdc0"],
  [V.TIMESTAMP, "infinity", "7fffffffffffffff"],
  [V.INTERVAL, "1 year 2 mons 3 days 00:00:01", "00000000000f4240000000030000000e"],
  [V.JSONB, '{"a": 1}', "017b2261223a20317d"],
  [V.VARBIT, "10110000111", "0000000bb0e0"],
  [V.INET, "10.1.2.3/24", "021800040a010203"],
  [V.CIDR, "10.1.2.0/24", "021801040a010200"],
  [V.MACADDR, "08:00:2b:01:02:03", "08002b010203"],
  [V.MONEY, "-$1,234.56", "fffffffffffe1dc0"],
  [V.arrayOf(V.INT4), "{1,NULL}", "00000001000000010000001700000002000000010000000400000001ffffffff"],
  [V.arrayOf(V.TEXT), "{}", "000000000000000000000019"],
  [V.VECTOR, "[1,-2]", "000200003f800000c0000000"],
  [V.TSVECTOR, "a:1A,2 'b c':3C é", "0000000361000002c00100026220630000014003c3a9000000"],
  [V.TSVECTOR, "", "00000000"],
  [V.TSQUERY, "a & !b:A*", "000000040202020101080162000100006100"],
  [V.TSQUERY, "a <2> 'b c' | d:CD", "000000050203010300640002040002010000622063000100006100"],
  [V.TSQUERY, "", "00000000"],
  [V.HSTORE, 'a=>1, b=>NULL, "c d"=>"é"', "00000003000000016100000001310000000162ffffffff0000000363206400000002c3a9"],
  [V.HSTORE, "", "00000000"],
  [V.CITEXT, "Aé", "41c3a9"],
  [V.arrayOf(V.CITEXT), "{A}", "0000000100000000000040080000000100000001" + "0000000141"],
  [V.LTREE, "a.b", "01612e62"],
  [V.LTREE, "", "01"],
  [V.LQUERY, "a.*", "01612e2a"],
  [V.LTXTQUERY, "a & b*", "01612026" + "20622a"],
  [V.JSONPATH, "strict $.a[*] ? (@ > 1)", "0173747269637420242e2261225b2a5d3f2840203e203129"],
  [V.typeOf("tid"), "(7,2)", "000000070002"],
  [V.INT2VECTOR, "1 -2", "000000010000000000000015000000020000000000000002000100000002fffe"],
  [V.typeOf("oidvector"), "26 4000000000", "00000001000000000000001a0000000200000000000000040000001a00000004ee6b2800"],
  [V.typeOf("oidvector"), "", "00000001000000000000001a0000000000000000"],
  [V.typeOf("point"), "(1,-2)", "3ff0000000000000c000000000000000"],
  [DOUBLES, "[1.5,2)", "02000000083ff8000000000000000000084000000000000000"],
  [TEXTS, '["a,b",]', "1200000003612c62"],
  [TEXTS, "empty", "01"],
  [
    DOUBLE_LISTS,
    "{(,1),[2,3]}",
    "000000020000000d08000000083ff00000000000000000001906000000084000000000000000000000084008000000000000",
  ],
];

t.test("values have PostgreSQL's bytes", async (t) => {
  for (const [type, text, hex] of KNOWN) t.equal(bytesOf(type, text).toString("hex"), hex, `${type.name} ${text}`);
});

t.test("bytes give the values back", async (t) => {
  for (const [type, text] of KNOWN) {
    const value = fromText(type, text);
    t.equal(toText(type, fromBinary(type, bytesOf(type, text))), toText(type, value), `${type.name} ${text}`);
  }
});

t.test("numerics of all sizes and signs come back", async (t) => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return seed % below;
  };
  const digits = (count: number): string => Array.from({ length: count }, () => random(10)).join("");
  for (let i = 0; i < 2000; i++) {
    const whole = random(4) === 0 ? "0" : digits(1 + random(25));
    const text = `${random(2) === 0 ? "-" : ""}${whole}${random(3) === 0 ? "" : `.${digits(1 + random(25))}`}`;
    const value = fromText(V.NUMERIC, text);
    const back = fromBinary(V.NUMERIC, bytesOf(V.NUMERIC, text));
    if (toText(V.NUMERIC, back) !== toText(V.NUMERIC, value))
      t.equal(toText(V.NUMERIC, back), toText(V.NUMERIC, value), text);
  }
});

const PAIR = V.recordOf([
  { name: "a", type: V.INT4 },
  { name: "b", type: V.TEXT },
]);

/** Bytes in which 61 is an "a" of a text. */
const TEXTUAL: readonly (readonly [SqlType, string])[] = [
  [V.TEXT, "61"],
  [V.NAME, "61"],
  [V.typeOf("json"), "226122"],
  [V.JSONB, "01226122"],
  [V.JSONPATH, "01242e22" + "61" + "22"],
  [V.arrayOf(V.TEXT), "0000000100000000000000190000000100000001" + "0000000161"],
  [V.HSTORE, "00000001" + "0000000161" + "0000000162"],
  [V.HSTORE, "00000001" + "0000000162" + "0000000161"],
  [V.LTREE, "0161"],
  [V.TSVECTOR, "000000016162000000"],
  [V.TSQUERY, "00000001010000616200"],
  [PAIR, "0000000200000017000000040000000100000019" + "0000000161"],
];

t.test("bytes that are none of the type are refused", async (t) => {
  const wrong: readonly (readonly [SqlType, string])[] = [
    [V.INT4, "0000"],
    [V.INT4, "0000000000"],
    [V.UUID, "00"],
    [V.JSONB, "027b7d"],
    [V.NUMERIC, "ffff000000000000"],
    [V.NUMERIC, "00010000000000002710"],
    [V.arrayOf(V.INT4), "7fffffff00000000000000177fffffff00000001"],
    [V.arrayOf(V.INT4), "00000001000000000000001700ffffff00000001"],
    [V.arrayOf(V.INT4), "00000001000000000000001900000001000000010000000161"],
    [V.INET, "02180005"],
    [V.TSVECTOR, "000000ff6100"],
    [V.TSVECTOR, "000000010000" + "00"],
    [V.TSVECTOR, "00000001610000010000"],
    [V.TSQUERY, "00000001" + "0202"],
    [V.TSQUERY, "00000002" + "01000061000100006200"],
    [V.TSQUERY, "00000001" + "0300"],
    [V.HSTORE, "7fffffff"],
    [V.HSTORE, "00000001" + "000000ff61"],
    [V.LTREE, "0261"],
    [V.LTREE, "01612e"],
    [V.LQUERY, "01617b"],
    [V.LTXTQUERY, "012620"],
    [V.JSONPATH, "0224"],
    [V.typeOf("tid"), "0000"],
    [V.INT2VECTOR, "0000000100000000000000170000000100000000" + "0000000400000001"],
    // A text that is no UTF-8, and one with a zero byte.
    ...TEXTUAL.flatMap(([type, hex]) => [
      [type, hex.replace("61", "ff")] as const,
      [type, hex.replace("61", "00")] as const,
    ]),
    [V.CHAR, "6162"],
    [V.CHAR, ""],
    [V.NAME, "61".repeat(64)],
    [V.NUMERIC, "00010000000040000001"],
    [V.TIME, "ffffffffffffffff"],
    [V.TIME, "000000141dd76001"],
    [V.TIMETZ, "ffffffffffffffff00000000"],
    [V.TIMETZ, "00000000000000000000e100"],
    [V.DATE, "80000001"],
    [V.TIMESTAMP, "fd0f7cc1411f9fff"],
    [V.TIMESTAMPTZ, "7fffffffffffffaa"],
    [V.VARBIT, "00000009a0"],
    [V.VARBIT, "00000002ff01"],
    [V.VARBIT, "fffffffda0"],
    [V.INET, "0221000401020304"],
    [V.MACADDR, "0102030405060708"],
    [V.typeOf("macaddr8"), "01020304050607"],
    [V.typeOf("pg_lsn"), "01020304050607"],
    [V.typeOf("xid8"), "010203040506070809"],
    [V.typeOf("point"), "3ff0000000000000"],
    [V.typeOf("point"), "3ff00000000000003ff00000000000003ff0000000000000"],
    [V.typeOf("circle"), "3ff00000000000003ff0000000000000"],
    [V.typeOf("path"), "0100000000"],
    [V.typeOf("polygon"), "7fffffff"],
    [V.arrayOf(V.INT4), "00000001000000020000001700000001000000010000000400000005"],
    [V.arrayOf(V.INT4), "0000000100000001000000170000000100000001fffffffe"],
    [V.arrayOf(V.INT4), "000000010000000000000017000000017fffffff0000000400000005"],
    [V.arrayOf(V.INT4), "000000020000000000000017ffffffff00000001ffffffff000000010000000400000005"],
    [V.typeOf("int4multirange"), "ffffffff"],
    [V.typeOf("int4multirange"), "00000001000000100200000004000000010000000400000005"],
    [PAIR, "00000002000000190000000400000001000000190000000178"],
    [PAIR, "0000000200000017fffffffe000000190000000178"],
    [V.VECTOR, "000100013f800000"],
    [V.HALFVEC, "000100013c00"],
  ];
  for (const [type, hex] of wrong) {
    let sqlstate = "";
    try {
      fromBinary(type, Buffer.from(hex, "hex"));
    } catch (error) {
      sqlstate = String((error as DbError).details?.sqlstate);
    }
    t.match(sqlstate, /^(?:22P03|08P01|22P02|42601|22021|22008|22009|42622|54000)$/, `${type.name} ${hex}`);
  }
});
