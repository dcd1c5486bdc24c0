/** Rows in MessagePack are the rows of JSON, whatever their types; and bytes that are none are refused. */
import { Packr } from "msgpackr";
import t from "tap";
import { WebSocket } from "undici";
import { connect, type SocketClass } from "../../clients/typescript/src/index.js";
import { columnValues, unpacked } from "../../clients/typescript/src/packed.js";
import { TestServer } from "../e2e/server.js";

const server = await TestServer.start({ TESSERA_ACTORS: "1" });
t.teardown(() => server.stop());
for (const sql of [
  "CREATE DOMAIN price AS numeric",
  "CREATE DOMAIN prices AS numeric[]",
  "CREATE DOMAIN numericish AS text",
  "CREATE TYPE numerics AS ENUM ('1.50', '2.50')",
  'CREATE TYPE inner_parts AS (a numeric, b bigint, c bytea, "__proto__" numeric)',
  "CREATE TYPE parts AS (x inner_parts, y price, z float8, w jsonb, u float4[], v inner_parts[])",
  "CREATE TABLE priced (a numeric, b price, c text)",
  "INSERT INTO priced VALUES (12345678901234567890.5, 12345678901234567890.5, '12345678901234567890.5')",
]) {
  await server.expect(200, "POST", "/v1/query/execute", { sql });
}
const { raw_key: apiKey } = (await server.expect(201, "POST", "/v1/api-keys", { name: "client" })).body.data;

/** Counts what comes as bytes and as text. */
const came = { bytes: 0, texts: 0 };
class Counting extends WebSocket {
  constructor(url: string, protocol?: string) {
    super(url, protocol);
    this.addEventListener("message", ({ data }) => {
      came[typeof data === "string" ? "texts" : "bytes"]++;
    });
  }
}

/** Leaves the protocol aside, as a class of a program's own may. */
class PlainSocket extends Counting {
  constructor(url: string) {
    super(url);
  }
}

const packed = connect({ url: server.url, apiKey, WebSocket: Counting as unknown as SocketClass });
const plain = connect({ url: server.url, apiKey, WebSocket: PlainSocket as unknown as SocketClass });
const over = "websocket" as const;

async function rowsOf<R>(rows: AsyncIterable<R>): Promise<R[]> {
  const all: R[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

const INNER = "ROW(12345678901234567890.5, 9007199254740993, '\\x00ff', 12345678901234567890.5)::inner_parts";

const TYPES = [
  "(n - 2)::int2",
  "(n * 100000 - 200000)::int4",
  "(n::int8 * 9007199254740993 - 20000000000000000)",
  "(n::int8 * 9007199254740991 - 9007199254740991)",
  "(n / 3.0)::float4",
  "(n * 1e30 + 0.1)::float4",
  "(n / 7.0)::float8",
  "CASE n WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' ELSE '1.5' END::float8",
  "CASE n WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' ELSE '0.1' END::float4",
  "n % 2 = 0",
  "(n || '.00000000000000000012345')::numeric",
  "(n || '.5')::numeric",
  "(n || '.00000000000000000012345')::numeric(40, 25)",
  "CASE n WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' ELSE '-1.5' END::numeric",
  "ARRAY[0.1, (n || '.00000000000000000012345')::numeric, NULL]",
  "'text ' || n",
  "repeat('long ', 5 + n)",
  "repeat('longer than that ', 20 * n)",
  "'Grüße ' || n || ' 🐟'",
  "repeat('é', 40 * n)",
  "''",
  "decode('00ff' || lpad(n::text, 2, '0'), 'hex')",
  "ARRAY[decode('00', 'hex'), NULL]",
  "ARRAY[n, NULL, 3]",
  "ARRAY[n / 3.0, 0.1]::float4[]",
  "ARRAY[9007199254740993, n]::int8[]",
  "ARRAY[ARRAY['a', 'b'], ARRAY['c', NULL]]",
  "jsonb_build_object('n', n, 'list', jsonb_build_array(1.5, NULL, true), 'data', 'x', 'columns', jsonb_build_array(n))",
  "('{\"large\": 9007199254740993, \"__proto__\": ' || n || '}')::jsonb",
  "'[0.1, 0.2, 3]'::vector",
  "date '2026-01-02' + n",
  "time '01:02:03.5'",
  "timestamptz '2026-01-02 03:04:05Z' + n * interval '1 day'",
  "timestamp '2026-01-02 03:04:05.678'",
  "interval '1 day 2 hours' * n",
  "gen_random_uuid()::text = ''",
  "'11111111-1111-1111-1111-111111111111'::uuid",
  "ROW(n, 'a', decode('ff', 'hex'))",
  "n::oid",
  "NULL",
  "chr(65279) || 'text ' || n",
  "chr(65279) || repeat('long ', 20)",
  'chr(233)::"char"',
  // Whole numbers beyond 2^53 are text, those with digits behind the point are rounded.
  "(n + 9007199254740990)::numeric",
  "(n + 9007199254740990)::numeric(30, 1)",
  "ARRAY[1e30, 9007199254740992, -9007199254740993, 9007199254740992.0]::numeric[]",
  "(SELECT sum(9007199254740993::bigint + x) FROM generate_series(0, n) x)",
  // A type's name does not say what it is.
  "(n || '2345678901234567890.5')::price",
  "ARRAY[(n || '2345678901234567890.5')::price]",
  "ARRAY[12345678901234567890.5, n]::prices",
  "'1.50'::numericish",
  "'1.50'::numerics",
  "ARRAY['1.50'::numerics]",
  INNER,
  `ARRAY[${INNER}, NULL]`,
  `ROW(${INNER}, 12345678901234567890.5, 'Infinity', '{"y": 1e400, "x": "1.50"}', '{NaN, 1, NULL}', ARRAY[${INNER}])::parts`,
  "ROW(12345678901234567890.5, '12345678901234567890.5', 'NaN'::float8, ROW(1e30, 1.5))",
  "(SELECT priced FROM priced)",
  "(SELECT array_agg(priced) FROM priced)",
  "(SELECT to_jsonb(priced) FROM priced)",
  // Larger than a number can be, in JSON and elsewhere.
  '\'{"list": [1e400, -1e400, "Infinity"]}\'::jsonb',
  "'-1e400'::json",
  "ARRAY['1e400'::jsonb, NULL]",
  "ARRAY['NaN', 'Infinity', -0, n]::float8[]",
  "ARRAY['NaN', '-Infinity', -0, n]::float4[]",
  // The smallest and largest ones of single precision, and those with the most digits.
  "CASE n WHEN 0 THEN '1e-40' WHEN 1 THEN '1e-45' WHEN 2 THEN '9.8765435e-39' WHEN 3 THEN '1.17549435e-38' ELSE '-7e-42' END::float4",
  "CASE n WHEN 0 THEN '16777217' WHEN 1 THEN '3.4028235e38' WHEN 2 THEN '8388608.5' WHEN 3 THEN '1.00000012' ELSE '2.00000024' END::float4",
  "(n * -0.0::float8)::float4",
  "n * '-0'::float8",
  "'[-0, 1]'::vector",
];

/** Also what JSON does not tell apart. */
const exactly = (row: unknown): string =>
  JSON.stringify(row, (_, value) => {
    if (Object.is(value, -0)) return "the number -0";
    return typeof value === "number" && !Number.isFinite(value) ? `the number ${value}` : value;
  });

t.test("a column of every type, with and without NULL", async (t) => {
  for (const type of TYPES) {
    const text = `SELECT ${type} AS value, CASE WHEN n <> 2 THEN ${type} END AS gaps FROM generate_series(0, 4) n`;
    const [json, bytes] = await Promise.all([
      rowsOf(plain.stream(text, [], { over })),
      rowsOf(packed.stream(text, [], { over })),
    ]);
    t.equal(json.length, 5, type);
    t.same(bytes, json, type);
    t.same(bytes.map(exactly), json.map(exactly), `${type}: also in the order of members`);
    t.same(bytes.map(exactly), (await rowsOf(packed.stream(text))).map(exactly), `${type}: as over HTTP`);
  }
  t.ok(came.bytes >= TYPES.length * 3 && came.texts >= TYPES.length * 3, `${came.bytes} of bytes, ${came.texts} texts`);
});

t.test("many rows, many columns, none, and names that objects have", async (t) => {
  const columns = Array.from({ length: 11 }, (_, i) => `n + ${i} AS c${i}`).join(", ");
  for (const text of [
    `SELECT ${columns} FROM generate_series(1, 3000) n`,
    "SELECT n, 'name ' || n AS name FROM generate_series(1, 5000) n",
    "SELECT n FROM generate_series(1, 0) n",
    'SELECT n AS "__proto__", n AS "constructor", n AS n FROM generate_series(1, 3) n',
  ]) {
    const bytes = await rowsOf(packed.stream(text, [], { over }));
    t.same(bytes, await rowsOf(plain.stream(text, [], { over })), text);
    t.same(bytes.map(Object.entries as never), (await rowsOf(packed.stream(text))).map(Object.entries as never), text);
  }
  const parts = await rowsOf(packed.parts("SELECT n, n / 2.0::float8 AS half FROM generate_series(1, 2) n"));
  t.match(parts, [
    { type: "columns", columns: [{ name: "n", data_type: "integer" }, { name: "half" }] },
    {
      type: "rows",
      rows: [
        [1, 0.5],
        [2, 1],
      ],
    },
    { type: "end", truncated: false, notices: [] },
  ]);
});

t.test("values of Cypher", async (t) => {
  const text =
    "UNWIND [1.5, 9007199254740993, 0.0 / 0, 1.0 / 0, [1.0 / 0, {a: -1.0 / 0, b: '1.50'}], null] AS x RETURN x, {x: x} AS y";
  const rows = await rowsOf(packed.stream(text, [], { over }));
  t.equal(rows.length, 6);
  t.same(rows.map(exactly), (await rowsOf(packed.stream(text))).map(exactly));
});

t.test("values that are nested as deeply as a request can have them", async (t) => {
  const depth = 1000;
  const value = "[".repeat(depth) + "]".repeat(depth);
  const [row] = await rowsOf(packed.stream("SELECT $1::jsonb AS x", [value], { over }));
  t.equal(JSON.stringify(row), `{"x":${value}}`);
  const deepest = new Uint8Array(300_000).fill(0x91);
  t.throws(() => unpacked(deepest), { message: "The message is nested deeper than 1100 levels." });
});

t.test("errors come in MessagePack, too", async (t) => {
  await t.rejects(packed.stream("SELECT nme FROM pg_class", [], { over }).next(), {
    name: "QueryError",
    sqlstate: "42703",
    position: 8,
  });
});

t.test("what other programs pack", (t) => {
  const packr = new Packr({ useRecords: false });
  const values = [
    ...[
      0, 127, 128, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, -1, -32, -33, -128, -129, -32_768, -32_769,
    ],
    ...[
      -2_147_483_648,
      -2_147_483_649,
      1.5,
      -0.1,
      true,
      false,
      null,
      "",
      "a".repeat(13),
      "a".repeat(31),
      "a".repeat(32),
    ],
    ...["\ufeffabc", `\ufeff${"a".repeat(100)}`, Number.POSITIVE_INFINITY],
    ...["a".repeat(300), "a".repeat(70_000), "ü".repeat(12), Array.from({ length: 20 }, (_, i) => i)],
    ...[
      Array.from({ length: 70_000 }, () => 1),
      Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, i])),
    ],
  ];
  for (const value of values) t.same(unpacked(packr.pack({ value })), { value });
  t.same(unpacked(packr.pack([2n ** 63n - 1n, -(2n ** 63n), 2n ** 64n - 1n])), [
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
  ]);
  const whole = packr.pack({ text: "a".repeat(40), list: [1, 2, 3], number: 1.5, long: "b".repeat(100) });
  for (let length = 0; length < whole.length; length++) t.throws(() => unpacked(whole.subarray(0, length)));
  t.throws(() => unpacked(Buffer.concat([whole, Buffer.from([0])])), { message: /behind/ });
  t.throws(() => unpacked(Buffer.from([0xc1])), { message: /c1/ });
  t.end();
});

t.test("columns of numbers at any place of a message", (t) => {
  const data = new Uint8Array(17);
  new DataView(data.buffer).setFloat64(1, -1.25, true);
  new DataView(data.buffer).setFloat64(9, Number.NaN, true);
  const nulls = new Uint8Array([0, 1]);
  t.same(columnValues({ dtype: "float64", data: data.subarray(1) }, "float8"), [-1.25, "NaN"]);
  t.same(columnValues({ dtype: "float64", data: data.subarray(1), nulls }, "float8"), [-1.25, null]);
  t.same(columnValues(["a", null], "text"), ["a", null]);
  t.end();
});
