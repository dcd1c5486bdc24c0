/** Functions, operators and aggregates against what PostgreSQL 15 answers (pgvector for vectors). */
import t from "tap";
import {
  arrayOf,
  BOOL,
  BYTEA,
  DATE,
  FLOAT8,
  INT2,
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
  UNKNOWN,
  VECTOR,
} from "../../src/values/values.js";
import { aggregated, call, infix, literal, textOf } from "./evaluate.js";

type Asserts = Pick<typeof t, "equal">;
type Operand = readonly [SqlType, string | null];
const i = (text: string | null): Operand => [INT4, text];
const n = (text: string | null): Operand => [NUMERIC, text];
const f = (text: string): Operand => [FLOAT8, text];
const s = (text: string | null): Operand => [TEXT, text];
const u = (text: string | null): Operand => [UNKNOWN, text];
const j = (text: string): Operand => [JSONB, text];

const operators = (t: Asserts, cases: readonly (readonly [Operand, string, Operand, string | null])[]) => {
  for (const [left, symbol, right, result] of cases) {
    t.equal(textOf(infix(literal(...left), symbol, literal(...right))), result, `${left[1]} ${symbol} ${right[1]}`);
  }
};

const functions = (t: Asserts, cases: readonly (readonly [string, readonly Operand[], string | null])[]) => {
  for (const [name, args, result] of cases) {
    const spelled = `${name}(${args.map(([, text]) => text)})`;
    t.equal(textOf(call(name, ...args.map((arg) => literal(...arg)))), result, spelled);
  }
};

t.test("arithmetic", async (t) => {
  operators(t, [
    [i("2147483647"), "+", i("1"), "ERROR 22003: integer out of range"],
    [[INT2, "32767"], "+", [INT2, "1"], "ERROR 22003: smallint out of range"],
    [[INT8, "9223372036854775807"], "+", i("1"), "ERROR 22003: bigint out of range"],
    [[INT8, "9007199254740993"], "*", i("3"), "27021597764222979"],
    [[INT8, "9007199254740993"], "%", [INT8, "10"], "3"],
    [[INT8, "9223372036854775807"], "-", [INT8, "9223372036854775806"], "1"],
    [i("-2147483648"), "/", i("-1"), "ERROR 22003: integer out of range"],
    [i("-7"), "/", i("2"), "-3"],
    [i("-7"), "%", i("3"), "-1"],
    [i("1"), "/", i("0"), "ERROR 22012: division by zero"],
    [f("1"), "/", f("0"), "ERROR 22012: division by zero"],
    [n("1"), "%", n("0"), "ERROR 22012: division by zero"],
    [f("1e308"), "*", f("10"), "ERROR 22003: value out of range: overflow"],
    [f("1e-300"), "*", f("1e-300"), "ERROR 22003: value out of range: underflow"],
    [n("2.5"), "*", n("2.50"), "6.250"],
    [i("12"), "&", i("10"), "8"],
    [i("12"), "#", i("10"), "6"],
    [i("-16"), ">>", i("2"), "-4"],
    [i("2"), "^", i("10"), "1024"],
    [u("5"), "*", i("2"), "10"],
  ]);
});

t.test("mathematics", async (t) => {
  functions(t, [
    ["round", [n("2.5")], "3"],
    ["round", [f("2.5")], "2"],
    ["round", [n("1234.567"), i("-2")], "1200"],
    ["abs", [i("-2147483648")], "ERROR 22003: integer out of range"],
    ["gcd", [i("12"), i("18")], "6"],
    ["lcm", [i("4"), i("6")], "12"],
    ["factorial", [[INT8, "20"]], "2432902008176640000"],
    ["width_bucket", [n("5.35"), n("0.024"), n("10.06"), i("5")], "3"],
    ["sind", [f("30")], "0.5"],
    ["sqrt", [f("-1")], "ERROR 2201F: cannot take square root of a negative number"],
    ["ln", [f("0")], "ERROR 2201E: cannot take logarithm of zero"],
    ["log", [f("100")], "2"],
    ["trim_scale", [n("1.200")], "1.2"],
    ["asin", [f("2")], "ERROR 22003: input is out of range"],
  ]);
});

t.test("text", async (t) => {
  functions(t, [
    ["length", [s("héllo😀")], "6"],
    ["substring", [s("hello"), i("-1"), i("3")], "h"],
    ["substring", [s("hello"), i("2"), i("-1")], "ERROR 22011: negative substring length not allowed"],
    ["substring", [s("😀bc😀"), i("1"), i("2")], "😀b"],
    ["substring", [s("abc😀"), i("1"), i("2")], "ab"],
    ["substring", [s("a😀c"), i("2"), i("2")], "😀c"],
    ["substring", [s("foobar"), u("o(.)b")], "o"],
    ["strpos", [s("hello"), s("lo")], "4"],
    ["overlay", [s("Txxxxas"), s("hom"), i("2"), i("4")], "Thomas"],
    ["btrim", [s("xyxtrimyyx"), s("xyz")], "trim"],
    ["lpad", [s("hi"), i("5"), s("xy")], "xyxhi"],
    ["split_part", [s("a,b,c"), s(","), i("-1")], "c"],
    ["split_part", [s("a"), s(","), i("0")], "ERROR 22023: field position must not be zero"],
    ["initcap", [s("hello wORLD foo_bar")], "Hello World Foo_Bar"],
    ["concat_ws", [s(","), s("a"), s(null), s("b")], "a,b"],
    ["format", [s("%2$s %1$s|%-5s|%I %L"), s("a"), s("b"), s("c D"), s("it's")], "b a|b    |\"c D\" 'it''s'"],
    ["replace", [s("abcabc"), s("b"), s("$&")], "a$&ca$&c"],
    ["translate", [s("12345"), s("143"), s("ax")], "a2x5"],
    ["to_hex", [i("-1")], "ffffffff"],
    ["md5", [s("abc")], "900150983cd24fb0d6963f7d28e17f72"],
    ["chr", [i("0")], "ERROR 54000: null character not permitted"],
    ["quote_ident", [s("Foo")], '"Foo"'],
    ["encode", [[BYTEA, "\\x0102ff"], s("hex")], "0102ff"],
    ["repeat", [s("ab"), i("3")], "ababab"],
    ["string_to_array", [s("a,b,,c"), s(","), s("")], "{a,b,NULL,c}"],
    ["upper", [s(null)], null],
  ]);
});

t.test("LIKE", async (t) => {
  operators(t, [
    [s("abc"), "~~", s("a%"), "t"],
    [s("abc"), "~~", s("_b_"), "t"],
    [s("a😀c"), "~~", s("a_c"), "t"],
    [s("abcde"), "~~", s("%b%d%"), "t"],
    [s("abcde"), "~~", s("%d%b%"), "f"],
    [s("a%c"), "~~", s("a\\%c"), "t"],
    [s("abc"), "~~", s("a\\%c"), "f"],
    [s("ABC"), "~~*", s("a%"), "t"],
    [s("abc"), "!~~", s("%z%"), "t"],
    [s("a\nb"), "~~", s("a%b"), "t"],
    [s(""), "~~", s("%"), "t"],
    [s("abc"), "~~", s("abc\\"), "f"],
    [s("abcd"), "~~", s("abc\\"), "ERROR 22025: LIKE pattern must not end with escape character"],
  ]);
  functions(t, [
    ["like_escape", [s("a#%b\\"), s("#")], "a\\%b\\\\"],
    ["like_escape", [s("a"), s("##")], "ERROR 22019: invalid escape string"],
  ]);
  const started = process.cpuUsage().user;
  operators(t, [[s("a".repeat(5000)), "~~", s(`${"%a".repeat(50)}%b`), "f"]]);
  t.ok(process.cpuUsage().user - started < 2_000_000, "many wildcards do not explode");
});

t.test("regular expressions", async (t) => {
  operators(t, [
    [s("foo bar"), "~", s("\\mbar\\M"), "t"],
    [s("a1"), "~", s("^[[:alpha:]][[:digit:]]$"), "t"],
    [s("ABC"), "~*", s("b"), "t"],
    [s("abc"), "!~", s("z"), "t"],
    [s("a{b"), "~", s("a{b"), "t"],
    [s("a-b"), "~", s("[\\w-]-b"), "t"],
    [s("abc"), "~", s("("), "ERROR 2201B: invalid regular expression: parentheses () not balanced"],
  ]);
  functions(t, [
    ["regexp_replace", [s("foobarbaz"), s("b(..)"), s("X\\1Y"), s("g")], "fooXarYXazY"],
    ["regexp_match", [s("foobarbequebaz"), s("(bar)(beque)")], "{bar,beque}"],
    ["regexp_split_to_array", [s("hello"), s("")], "{h,e,l,l,o}"],
    ["regexp_count", [s("123123"), s("\\d")], "6"],
    ["regexp_instr", [s("abcabc"), s("b"), i("3")], "5"],
    ["similar_to_escape", [s("%(b|d)%")], "^(?:.*(?:b|d).*)$"],
  ]);
});

t.test("dates and intervals", async (t) => {
  const d = (text: string): Operand => [DATE, text];
  const ts = (text: string): Operand => [TIMESTAMP, text];
  const iv = (text: string): Operand => [INTERVAL, text];
  operators(t, [
    [d("2024-02-28"), "+", i("2"), "2024-03-01"],
    [d("2023-02-28"), "+", i("1"), "2023-03-01"],
    [d("2024-03-01"), "-", d("2024-02-01"), "29"],
    [d("2024-01-31"), "+", iv("1 month"), "2024-02-29 00:00:00"],
    [d("2024-02-29"), "+", iv("1 year"), "2025-02-28 00:00:00"],
    [d("2024-03-31"), "-", iv("1 month"), "2024-02-29 00:00:00"],
    [ts("2024-02-01 12:00"), "-", ts("2024-03-01"), "-28 days -12:00:00"],
    [iv("1 month"), "/", f("3"), "10 days"],
    [iv("1 month"), "=", iv("30 days"), "t"],
    [d("2024-01-01"), "<", [TIMESTAMPTZ, "2024-01-02 00:00+00"], "t"],
  ]);
  functions(t, [
    ["extract", [u("epoch"), iv("1 year 2 days")], "31730400.000000"],
    ["extract", [u("week"), d("2024-12-31")], "1"],
    ["extract", [u("century"), d("0001-12-31 BC")], "-1"],
    ["extract", [u("second"), ts("2024-05-06 01:02:03.5")], "3.500000"],
    ["extract", [u("hour"), d("2024-01-01")], 'ERROR 0A000: unit "hour" not supported for type date'],
    ["extract", [u("foo"), d("2024-01-01")], 'ERROR 22023: unit "foo" not recognized for type date'],
    ["date_part", [u("dow"), d("2024-05-05")], "0"],
    ["date_trunc", [u("week"), ts("2024-05-05 01:02:03")], "2024-04-29 00:00:00"],
    ["date_trunc", [u("century"), ts("2000-05-06")], "1901-01-01 00:00:00"],
    ["date_bin", [iv("15 minutes"), ts("2020-02-11 15:44:17"), ts("2001-01-01")], "2020-02-11 15:30:00"],
    ["age", [ts("2001-04-10"), ts("1957-06-13")], "43 years 9 mons 27 days"],
    ["make_date", [i("2023"), i("2"), i("29")], "ERROR 22008: date field value out of range: 2023-02-29"],
    ["justify_interval", [iv("1 mon -1 hour")], "29 days 23:00:00"],
    ["timezone", [s("America/New_York"), ts("2024-07-01 12:00")], "2024-07-01 16:00:00+00"],
    ["now", [], "2024-02-29 13:05:00+00"],
    ["date", [u("now"), u("-90 days")], "2023-12-01"],
    [
      "to_char",
      [ts("2024-05-06 17:08:09.123456"), s("FMDay, DDth Mon YYYY HH12:MI:SS.US AM")],
      "Monday, 06th May 2024 05:08:09.123456 PM",
    ],
    ["to_char", [n("-1234.5"), s("9,999.99")], "-1,234.50"],
    ["to_char", [i("12345"), s("999")], " ###"],
    ["to_char", [i("485"), s("FMRN")], "CDLXXXV"],
    ["to_number", [s("12,454.8-"), s("99G999D9S")], "-12454.8"],
    ["to_date", [s("05 Dec 2000"), s("DD Mon YYYY")], "2000-12-05"],
    ["to_timestamp", [s("2024-01-02 03:04 PM"), s("YYYY-MM-DD HH12:MI PM")], "2024-01-02 15:04:00+00"],
  ]);
});

t.test("json", async (t) => {
  operators(t, [
    [j('{"a":{"b":5}}'), "->", s("a"), '{"b": 5}'],
    [j("[1,2,3]"), "->", i("-1"), "3"],
    [j("[1,2,3]"), "->", i("5"), null],
    [j('{"a":null}'), "->>", s("a"), null],
    [j('{"a":{"b":[5]}}'), "#>>", [arrayOf(TEXT), "{a,b,0}"], "5"],
    [j('{"a":1,"b":[1,2]}'), "@>", j('{"b":[2]}'), "t"],
    [j("[1,2]"), "@>", j("1"), "t"],
    [j('{"a":1}'), "?", s("b"), "f"],
    [j('{"a":1}'), "||", j('{"b":2}'), '{"a": 1, "b": 2}'],
    [j('{"a":1,"b":2}'), "-", s("a"), '{"b": 2}'],
    [[JSON_TYPE, '{"a":"x"}'], "->>", s("a"), "x"],
  ]);
  functions(t, [
    ["jsonb_build_object", [u("a"), i("1"), u("b"), [arrayOf(INT4), "{1,2}"]], '{"a": 1, "b": [1, 2]}'],
    ["json_build_object", [u("a"), i("1"), u("b"), s("x")], '{"a" : 1, "b" : "x"}'],
    ["jsonb_build_object", [u("a")], "ERROR 22023: argument list must have even number of elements"],
    ["jsonb_set", [j('{"a":{"b":1}}'), [arrayOf(TEXT), "{a,b}"], j("2")], '{"a": {"b": 2}}'],
    ["jsonb_insert", [j('{"a":[1,2]}'), [arrayOf(TEXT), "{a,1}"], j("9")], '{"a": [1, 9, 2]}'],
    ["jsonb_typeof", [j("[]")], "array"],
    ["jsonb_array_length", [j("{}")], "ERROR 22023: cannot get array length of a non-array"],
    ["to_jsonb", [n("1.50")], "1.50"],
    ["jsonb_strip_nulls", [j('{"a":null,"b":1}')], '{"b": 1}'],
  ]);
});

t.test("arrays", async (t) => {
  const a = (text: string): Operand => [arrayOf(INT4), text];
  operators(t, [
    [a("{1,2}"), "||", a("{3}"), "{1,2,3}"],
    [a("{1,2}"), "||", i("3"), "{1,2,3}"],
    [i("0"), "||", a("{1}"), "{0,1}"],
    [a("{1,2}"), "@>", a("{2}"), "t"],
    [a("{1,2}"), "&&", a("{3}"), "f"],
    [a("{1,2}"), "<", a("{1,3}"), "t"],
    [a("{{1,2}}"), "||", a("{3,4}"), "{{1,2},{3,4}}"],
  ]);
  functions(t, [
    ["array_length", [a("{1,2}"), i("1")], "2"],
    ["array_length", [a("{}"), i("1")], null],
    ["array_position", [a("{5,6}"), i("6")], "2"],
    ["array_remove", [a("{1,2,1}"), i("1")], "{2}"],
    ["array_to_string", [a("{1,NULL,3}"), s(","), s("*")], "1,*,3"],
    ["array_fill", [i("7"), a("{2,2}")], "{{7,7},{7,7}}"],
    ["array_dims", [a("{{1,2},{3,4}}")], "[1:2][1:2]"],
    ["trim_array", [a("{1,2,3}"), i("1")], "{1,2}"],
  ]);
});

t.test("vectors", async (t) => {
  const v = (text: string): Operand => [VECTOR, text];
  operators(t, [
    [v("[1,2]"), "<->", v("[4,6]"), "5"],
    [v("[1,0]"), "<=>", v("[0,1]"), "1"],
    [v("[1,2]"), "<#>", v("[3,4]"), "-11"],
    [v("[1,2]"), "<->", v("[1]"), "ERROR 22000: different vector dimensions 2 and 1"],
    [v("[1,2]"), "<->", [arrayOf(NUMERIC), "{1,2.0}"], "0"],
    [v("[0,0]"), "<+>", v("[3,-4]"), "7"],
    [v("[1,2]"), "<=>", v("[0,0]"), "NaN"],
    [v("[1,1]"), "<=>", v("[-1,-1]"), "2"],
    [v("[1,2,3,4,5,6,7,8,9]"), "<=>", v("[1,2,3,4,5,6,7,8,9]"), "0"],
    [v("[1,1,1,1,1,1,1,1,1]"), "<->", v("[1,1,1,1,1,1,1,4,5]"), "5"],
    [v("[1,1,1,1,1,1,1,1,1]"), "<#>", v("[1,2,3,4,5,6,7,8,9]"), "-45"],
    [v("[1,2]"), "+", v("[3,4]"), "[4,6]"],
    [v("[1,2]"), "-", u("[3,5]"), "[-2,-3]"],
    [v("[1,2]"), "*", v("[3,-4]"), "[3,-8]"],
    [v("[3e38]"), "+", v("[3e38]"), "ERROR 22003: value out of range: overflow"],
    [v("[1e-37]"), "*", v("[1e-37]"), "ERROR 22003: value out of range: underflow"],
    [v("[1,2]"), "+", v("[3]"), "ERROR 22000: different vector dimensions 2 and 1"],
    [v("[1,2]"), "||", u("[3]"), "[1,2,3]"],
    [v("[1,2]"), "<", v("[1,2,3]"), "t"],
    [v("[1,2,3]"), ">=", v("[1,2,4]"), "f"],
    [v("[1,2]"), "=", v("[1,2]"), "t"],
    [v("[1,2]"), "<>", v("[2,3]"), "t"],
  ]);
  functions(t, [
    ["cosine_similarity", [v("[1,1]"), u("[2,2]")], "1"],
    ["euclidean_distance", [v("[1,2]"), v("[4,6]")], "5"],
    ["dot_product", [v("[1,2]"), v("[3,4]")], "11"],
    ["vector_dims", [v("[1,2]")], "2"],
    ["l1_distance", [v("[0,0]"), v("[3,4]")], "7"],
    ["cosine_distance", [v("[1,0]"), v("[0,2]")], "1"],
    ["inner_product", [v("[1,2]"), v("[3]")], "ERROR 22000: different vector dimensions 2 and 1"],
    ["vector_norm", [v("[3,4]")], "5"],
    ["l2_norm", [v("[0,1]")], "1"],
    ["l2_normalize", [v("[3,4]")], "[0.6,0.8]"],
    ["l2_normalize", [v("[0,0]")], "[0,0]"],
    ["l2_normalize", [v("[3e38]")], "[1]"],
    ["subvector", [v("[1,2,3,4,5]"), i("3"), i("2")], "[3,4]"],
    ["subvector", [v("[1,2,3,4,5]"), i("-1"), i("3")], "[1]"],
    ["subvector", [v("[1,2,3,4,5]"), i("3"), i("2147483647")], "[3,4,5]"],
    ["subvector", [v("[1,2,3,4,5]"), i("-2147483644"), i("2147483647")], "[1,2]"],
    ["subvector", [v("[1,2,3,4,5]"), i("1"), i("0")], "ERROR 22000: vector must have at least 1 dimension"],
    ["subvector", [v("[1,2,3,4,5]"), i("2147483647"), i("10")], "ERROR 22000: vector must have at least 1 dimension"],
    ["binary_quantize", [v("[1,0,-1,0.5]")], "1001"],
  ]);
});

t.test("aggregates of vectors", async (t) => {
  const of = (...members: number[]) => Float32Array.from(members);
  t.equal(aggregated("avg", [VECTOR], [[of(1, 2, 3)], [null], [of(3, 5, 7)]]), "[2,3.5,5]");
  t.equal(aggregated("avg", [VECTOR], [[of(3e38)], [of(3e38)]]), "[3e+38]");
  t.equal(aggregated("sum", [VECTOR], [[of(1, 2)], [of(0.5, -2)]]), "[1.5,0]");
  t.equal(aggregated("sum", [VECTOR], [[null]]), null);
  t.throws(() => aggregated("avg", [VECTOR], [[of(1, 2)], [of(1)]]), /expected 2 dimensions, not 1/);
  t.throws(() => aggregated("sum", [VECTOR], [[of(1, 2)], [of(1)]]), /different vector dimensions 2 and 1/);
  t.throws(() => aggregated("sum", [VECTOR], [[of(3e38)], [of(3e38)]]), /value out of range: overflow/);
});

t.test("aggregates", async (t) => {
  const rows = (...values: (number | null)[]) => values.map((value) => [value]);
  t.equal(aggregated("count", [], [[], []]), "2");
  t.equal(aggregated("count", [INT4], rows(1, null, 2)), "2");
  t.equal(aggregated("sum", [INT4], rows(2147483647, 1, null)), "2147483648");
  t.equal(aggregated("sum", [INT4], rows(null)), null);
  t.equal(aggregated("avg", [INT4], rows(1, 2)), "1.5000000000000000");
  t.equal(aggregated("sum", [INT8], [[9223372036854775807n], [1]]), "9223372036854775808");
  t.equal(aggregated("min", [TEXT], [["b"], ["a"], [null]]), "a");
  t.equal(aggregated("max", [FLOAT8], rows(1, Number.NaN, 2)), "NaN");
  t.equal(aggregated("bool_and", [BOOL], [[true], [null], [false]]), "f");
  t.equal(
    aggregated(
      "string_agg",
      [TEXT, TEXT],
      [
        ["a", ","],
        [null, ","],
        ["b", "-"],
      ],
    ),
    "a-b",
  );
  t.equal(aggregated("group_concat", [TEXT], [["a"], ["b"]]), "a,b");
  t.equal(aggregated("array_agg", [INT4], rows(1, null)), "{1,NULL}");
  t.equal(aggregated("stddev", [INT4], rows(1, 2, 3, 4)), "1.2909944487358056");
  t.equal(aggregated("var_pop", [FLOAT8], rows(1, 2, 3, 4)), "1.25");
  t.equal(aggregated("variance", [INT4], rows(1)), null);
  t.equal(
    aggregated(
      "corr",
      [FLOAT8, FLOAT8],
      [
        [1, 2],
        [2, 4],
        [3, 6],
      ],
    ),
    "1",
  );
  t.equal(
    aggregated(
      "regr_slope",
      [FLOAT8, FLOAT8],
      [
        [1, 2],
        [2, 4],
        [3, 6],
      ],
    ),
    "0.5",
  );
  t.equal(aggregated("bit_or", [INT4], rows(1, 6)), "7");
  t.equal(aggregated("jsonb_agg", [INT4], rows(1, null)), "[1, null]");
});
