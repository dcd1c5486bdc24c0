import t from "tap";
import { DbError } from "../../src/protocol/errors.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { FLOAT8, INT4, INT8, type SqlType, TEXT, typeOf } from "../../src/values/values.js";
import { openShard } from "../storage/shards.js";
import { runGolden } from "./golden.js";
import { showError, showPlan, showTypes } from "./show.js";
import { bindAll, catalogOf } from "./tables.js";

await loadParser();
const shard = await openShard(t);
const catalog = catalogOf(shard.begin());

function show(sql: string): string {
  return bindAll(sql, catalog)
    .map((bound) => {
      if (bound.kind === "explain") return `explain\n${showPlan(bound.statement.plan, "  ")}`;
      if (bound.kind !== "query") return JSON.stringify(bound);
      const outputs = bound.columns.map(
        (column) => `${column.name} ${showTypes([column.type])}${column.nullable ? "" : " not null"}`,
      );
      const parameters = bound.parameterTypes.length === 0 ? "" : ` [${showTypes(bound.parameterTypes)}]`;
      return `(${outputs.join(", ")})${parameters}${bound.readOnly ? "" : " writes"}\n${showPlan(bound.plan)}`;
    })
    .join("\n");
}

function failure(sql: string): string {
  try {
    bindAll(sql, catalog);
  } catch (error) {
    if (error instanceof DbError) return showError(error);
    throw error;
  }
  return "no error";
}

for (const file of ["select", "join", "group", "window", "subquery", "types", "modify", "define"]) {
  t.test(`${file}: names, types and plans`, async (t) => runGolden(t, `bind-${file}.txt`, show));
}

t.test("errors, with the place in the statement", async (t) => runGolden(t, "bind-errors.txt", failure));

t.test("parameters take their types from the statement", async (t) => {
  const cases: [sql: string, types: string, suggested?: (SqlType | null)[]][] = [
    ["select * from users where id = $1 and name like $2", "integer, text"],
    ["select * from users where $1 < score and age in ($2, $3)", "numeric, smallint, smallint"],
    [
      "insert into users (id, name, score) values ($1, $2, $3), ($4, 'x', 1)",
      "integer, character varying, numeric, integer",
    ],
    ["insert into notes (vec, doc) values ($1, $2)", "vector, jsonb"],
    ["update orders set total = total + $1, tags = $2 where id = $3", "numeric, text[], bigint"],
    ["select 1 limit $1 offset $2", "bigint, bigint"],
    ["select $1::int, $2::timestamptz", "integer, timestamp with time zone"],
    ["select * from users where id between $1 and $2 or age = any ($3)", "integer, integer, smallint[]"],
    ["select case when $1 then id else $2 end from users", "boolean, integer"],
    ["select id from users union select $1", "integer"],
    ["select * from (values (1, 'a'), ($1, $2)) v", "integer, text"],
    ["select vec <=> $1 from notes", "vector"],
    ["insert into users (id, name) select $1, $2", "integer, character varying"],
    ["select * from users where id = $1 or $1 = 5", "integer"],
    ["select $2 from users where id = $1", "integer, text"],
    // Left open by the statement: text, unless the value says more.
    ["select $1", "text"],
    ["select $1, $2", "double precision, text", [FLOAT8, null]],
    ["select $1 + $2", "integer, integer", [INT4, INT4]],
    ["select $1 = $2", "bigint, bigint", [INT8, INT8]],
    ["select coalesce($1, $2)", "integer, integer", [INT4, INT4]],
    ["select $1 is null", "boolean", [typeOf("bool")]],
    // The statement wins over the value.
    ["select * from users where name = $1", "text", [INT4]],
    ["select * from users where id = $1", "integer", [TEXT]],
  ];
  for (const [sql, types, suggested] of cases) {
    const bound = bindAll(sql, catalog, suggested)[0]!;
    t.equal(bound.kind === "query" && showTypes(bound.parameterTypes), types, sql);
  }
});

t.test("what writes is told from what only reads", async (t) => {
  const reads = (sql: string) => {
    const bound = bindAll(sql, catalog)[0]!;
    return bound.kind === "query" && bound.readOnly;
  };
  t.ok(reads("select * from users for update"));
  t.ok(reads("values (1)"));
  t.ok(reads("describe users"));
  t.notOk(reads("insert into users (id, name) values (1, 'x') returning id"));
  t.notOk(reads("update users set age = 1"));
  t.notOk(reads("delete from users"));
  t.notOk(reads("select nextval('orders_id_seq')"));
  t.notOk(reads("select (select nextval('orders_id_seq'))"));
});

t.test("a target list has 1664 entries at most, counted before they are bound", (t) => {
  const list = (length: number, entry: string) => Array.from({ length }, () => entry).join(", ");
  t.equal(failure(`select ${list(1664, "1")}`), "no error");
  t.match(failure(`select ${list(1665, "1")}`), /^54011.*target lists can have at most 1664 entries/);
  t.match(failure(`select ${list(9000, "nowhere")} from users`), /^54011.*at most 1664/);
  t.match(failure(`insert into users (id) values (1) returning ${list(1665, "id")}`), /^54011.*at most 1664/);
  t.end();
});

t.test("WITH tables cannot make a statement explode", async (t) => {
  const doubling = Array.from({ length: 40 }, (_, i) => `c${i + 1} as (select * from c${i} a, c${i} b)`);
  t.match(failure(`with c0 as (select 1), ${doubling.join(", ")} select 1 from c40`), /^54011.*at most 1664/);
  const chain = Array.from({ length: 1500 }, (_, i) => `c${i + 1} as (select * from c${i})`);
  t.match(failure(`with c0 as (select 1), ${chain.join(", ")} select 1 from c1500`), /^54001.*too complex/);
  const short = Array.from({ length: 50 }, (_, i) => `c${i + 1} as (select * from c${i})`);
  t.equal(failure(`with c0 as (select 1), ${short.join(", ")} select 1 from c50`), "no error");
});
