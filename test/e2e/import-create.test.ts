/** Imports that make their table, and files that come zipped. */
import { gzipSync } from "node:zlib";
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const CSV = "/v1/data/import/csv";
const NDJSON = "/v1/data/import/ndjson";
const send = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  server.call("POST", path, body, { headers: { "content-type": "application/octet-stream", ...headers } });
const exists = async (table: string) =>
  (await server.rows("SELECT count(*) FROM information_schema.tables WHERE table_name = $1", [table]))[0]![0] === 1;

const ORDERS = `id,Customer Name,total,paid,on,at,seen,code,note,big
1,"Miller, Ann",12.5,true,2026-05-03,2026-05-03 10:00,2026-05-03T10:00:00Z,007,,1
2,Ben,3,FALSE,2026-05-04,2026-05-04 11:30:01.5,2026-05-04T11:30:00+02:00,12,x,12345678901234567890123
`;

t.test("CSV", async (t) => {
  t.match(await send(`${CSV}?table=orders`, ORDERS), {
    status: 404,
    body: { error: { message: /does not exist/, details: { hint: /create=true/ } } },
  });
  const made = await send(`${CSV}?table=orders&create=true`, ORDERS);
  t.match(made, { status: 200, body: { data: { rows: 2 } } });
  t.same(
    made.body.data.created.map(({ name, type }: { name: string; type: string }) => `${name}: ${type}`),
    [
      ...["id: bigint", "Customer Name: text", "total: double precision", "paid: boolean", "on: date"],
      ...["at: timestamp", "seen: timestamptz", "code: text", "note: text", "big: numeric"],
    ],
  );
  t.same(
    await server.rows(
      `SELECT id, "Customer Name", total, paid, "on"::text, code, note, big::text FROM orders ORDER BY id`,
    ),
    [
      [1, "Miller, Ann", 12.5, true, "2026-05-03", "007", null, "1"],
      [2, "Ben", 3, false, "2026-05-04", "12", "x", "12345678901234567890123"],
    ],
  );
  const again = await send(`${CSV}?table=orders&create=true`, ORDERS);
  t.match(again, { status: 200, body: { data: { rows: 2 } } });
  t.equal(again.body.data.created, undefined, "it was there");
  t.match(await send(`${CSV}?table=bare&create=true&header=false&delimiter=;`, "1;a\n2;b"), {
    body: {
      data: {
        rows: 2,
        created: [
          { name: "column1", type: "bigint" },
          { name: "column2", type: "text" },
        ],
      },
    },
  });
  t.match(await send(`${CSV}?table=named&create=true&columns=x,y`, "a,b\n1,2\n"), {
    body: { data: { created: [{ name: "x" }, { name: "y" }] } },
  });
});

t.test("lines of JSON", async (t) => {
  const lines = [
    { id: 1, name: "a", tags: ["x"], when: "2026-05-03T10:00:00Z" },
    { id: 2, price: 1.5, name: "12", deep: { a: 1 } },
    { id: null, price: 2 },
  ];
  const made = await send(`${NDJSON}?table=event&create=true`, lines.map((line) => JSON.stringify(line)).join("\n"));
  t.match(made, { status: 200, body: { data: { rows: 3 } } });
  t.same(
    made.body.data.created.map(({ name, type }: { name: string; type: string }) => `${name}: ${type}`),
    ["id: bigint", "name: text", "tags: jsonb", "when: timestamptz", "price: double precision", "deep: jsonb"],
  );
  t.same(await server.rows("SELECT id, name, price, deep FROM event ORDER BY id NULLS LAST"), [
    [1, "a", null, null],
    [2, "12", 1.5, { a: 1 }],
    [null, null, 2, null],
  ]);
  t.match(await send(`${NDJSON}?table=pair&create=true`, "[1,true]\n[2,false]\n"), { body: { data: { rows: 2 } } });
});

t.test("large whole numbers of JSON keep their digits", async (t) => {
  const lines = '{"id":9007199254740993,"doc":{"n":[-9007199254740993]},"more":99999999999999999999}\n';
  const made = await send(`${NDJSON}?table=digits&create=true`, lines);
  t.match(made.body.data.created, [{ type: "bigint" }, { type: "jsonb" }, { type: "numeric" }], JSON.stringify(made));
  const exact = [["9007199254740993", '{"n": [-9007199254740993]}', "99999999999999999999"]];
  t.same(await server.rows("SELECT id::text, doc::text, more::text FROM digits"), exact);
  const long = `{"id":9007199254740995,"doc":"${"x".repeat(300_000)}","more":1}\n`;
  t.equal((await send(`${NDJSON}?table=digits`, long)).status, 200);
  t.same(await server.rows("SELECT max(id)::text FROM digits"), [["9007199254740995"]]);
  await server.sql("CREATE TABLE plain_json (doc json)");
  t.equal((await send(`${NDJSON}?table=plain_json`, '[{"n":9007199254740993}]\n')).status, 200);
  t.same(await server.rows("SELECT doc::text FROM plain_json"), [['{"n":9007199254740993}']]);
  const small = await send(`${NDJSON}?table=digits&columns=id`, '{"id":[99999999999999999999]}\n');
  t.match(small, { status: 400, body: { error: { details: { column: "id", value: "[99999999999999999999]" } } } });
});

t.test("what fails leaves no table", async (t) => {
  const late = `n,t\n${Array.from({ length: 40_000 }, (_, i) => `${i},abcdefgh`).join("\n")}\nmany,x\n`;
  const refused = await send(`${CSV}?table=late&create=true`, late);
  t.match(refused, {
    status: 400,
    body: { error: { message: /many/, details: { line: 40_002, column: "n", hint: /n bigint, t text/ } } },
  });
  t.notOk(await exists("late"));
  for (const [path, body, match, status] of [
    [CSV, "", /no rows/, 400],
    [CSV, "a,a\n1,2\n", /more than once/, 409],
    [NDJSON, "7\n", /neither an object/, 400],
    [NDJSON, "{\n", /not valid JSON/, 400],
  ] as const) {
    const reply = await send(`${path}?table=none&create=true`, body);
    t.equal(reply.status, status, JSON.stringify(reply.body));
    t.match(reply.body.error.message, match);
  }
  t.notOk(await exists("none"));
  const key = (await server.expect(201, "POST", "/v1/api-keys", { name: "r", permission: "ReadOnly" })).body.raw_key;
  t.equal((await server.call("POST", `${CSV}?table=none&create=true`, "a\n1\n", { token: key })).status, 403);
});

t.test("many rows, in another schema, zipped", async (t) => {
  await server.rows("CREATE SCHEMA stage");
  const text = `id,v\n${Array.from({ length: 50_000 }, (_, i) => `${i},value ${i}`).join("\n")}\n`;
  t.match(await send(`${CSV}?table=stage.many&create=true`, gzipSync(text)), {
    status: 200,
    body: { data: { rows: 50_000 } },
  });
  t.same(await server.rows("SELECT count(*), max(id) FROM stage.many"), [[50_000, 49_999]]);
  t.match(await send(`${CSV}?table=stage.many`, gzipSync("id,v\n-1,x\n"), { "content-encoding": "gzip" }), {
    body: { data: { rows: 1 } },
  });
  t.match(await send(`${CSV}?table=stage.many`, gzipSync("id,v\n-2,x\n").subarray(0, 20)), { status: 400 });
});

t.test("two at once", async (t) => {
  const replies = await Promise.all(["1", "2", "3"].map((n) => send(`${CSV}?table=race&create=true`, `n\n${n}\n`)));
  for (const { status } of replies) t.ok(status === 200 || status === 409, String(status));
  const stored = replies.filter(({ status }) => status === 200).length;
  t.same(await server.rows("SELECT count(*) FROM race"), [[stored]]);
});
