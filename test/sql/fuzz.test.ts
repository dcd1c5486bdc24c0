/**
 * Random and mutated statements: whatever comes, the answer is statements or a DbError, and the parser stays usable.
 */
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import t from "tap";
import type { CatalogView } from "../../src/catalog/catalog-view.js";
import { DbError } from "../../src/protocol/errors.js";
import { loadParser, parseSql } from "../../src/sql/parse/parse.js";
import { tokenize } from "../../src/sql/parse/tokens.js";
import { tries } from "../lengths.js";
import { openShard } from "../storage/shards.js";
import { bindAll, catalogOf } from "./tables.js";

await loadParser();
const catalog = catalogOf((await openShard(t)).begin());

/** Of grammar that the golden scripts have little of. */
const MORE = [
  "create table m (a int, b text) partition by range (a, lower(b))",
  "create table m1 partition of m for values from (1, minvalue) to (10, maxvalue) partition by hash (b)",
  "create table m2 partition of m default",
  "create table l1 partition of l for values in ('a', null, 'b')",
  "alter table m attach partition m3 for values with (modulus 4, remainder 1)",
  "alter table m detach partition m1 concurrently",
  "create table kid (c int default 3, check (c > 0)) inherits (users, m)",
  "alter table only users no inherit m",
  "create or replace function f(a int, inout b text default 'x', variadic c int[]) returns setof record language sql stable as $$ select a, b from users where id = any (c) $$",
  "create function g() returns table (x int, y text) begin atomic select id, name from users; end",
  "create function h(i int) returns users language plpgsql as $$ declare r users%rowtype; c cursor (k int) for select * from users where id > k; begin open c(i); fetch c into r; close c; for r in select * from users loop if r.id = i then return next r; elsif found then exit; end if; end loop; begin perform 1/0; exception when division_by_zero or others then raise notice '% %', sqlerrm, i using errcode = 'P0001'; end; return r; end $$",
  "create procedure p(in a int, out b int) language plpgsql as $$ begin <<o>> while a < 9 loop a := a + 1; continue o when a = 3; case a when 1, 2 then b := a; else null; end case; end loop; execute format('select %L', a) into strict b using a; get diagnostics b = row_count; end $$",
  "do $$ declare x int[] := '{1}'; begin foreach x slice 1 in array array[[1],[2]] loop x[1] := 2; end loop; return; end $$",
  "call p(1, null)",
  "drop routine if exists f(int, text), g cascade",
  "declare c scroll cursor with hold for select * from users order by id for update",
  "fetch backward all in c",
  "move absolute -3 from c",
  "close all",
  "create view v as select id, name from users where id > 3 with cascaded check option",
  "with recursive t(a) as (select 1 union all select id from users, t where id = a) search depth first by a set o cycle a set k to 'y' default 'n' using w select * from t",
  "merge into users u using (values (1)) s(i) on u.id = s.i when matched and s.i > 1 then delete when not matched by source then update set name = default when not matched then insert (id) values (s.i) returning merge_action(), old.id, new.*",
  "update users set name = upper(old.name) where current of c returning old.*, new.id as n",
];

/** The inputs of the golden scripts. */
const directory = new URL("../../../test/golden/sql/", import.meta.url);
const seeds = readdirSync(directory)
  .flatMap((file) => readFileSync(new URL(file, directory), "utf8").split("\n\n"))
  .map((text) => [...text.matchAll(/^> (.*)$/gm)].map(([, line]) => line).join("\n"))
  .filter((sql) => sql !== "")
  .concat(MORE);

const words = seeds.flatMap((sql) => tokenize(sql).map(({ start, end }) => sql.slice(start, end)));

const token = fc.constantFrom(
  ...words,
  "(",
  ")",
  ",",
  "'",
  '"',
  "`",
  "[",
  "]",
  "$1",
  "$",
  "/*",
  "--",
  "\0",
  "é",
  "😀",
  ";",
);

/** A seed with some tokens replaced, dropped, doubled or swapped. */
const mutated = fc
  .tuple(
    fc.oneof(fc.constantFrom(...seeds), fc.constantFrom(...MORE)),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom("replace", "drop", "insert", "swap"), token), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map(([seed, changes]) => {
    const parts = tokenize(seed).map(({ start, end }) => seed.slice(start, end));
    for (const [place, change, other] of changes) {
      const at = place % (parts.length + 1);
      if (change === "replace") parts.splice(at, 1, other);
      else if (change === "drop") parts.splice(at, 1);
      else if (change === "insert") parts.splice(at, 0, other);
      else parts.splice(at, 2, ...parts.slice(at, at + 2).reverse());
    }
    return parts.join(" ");
  });

/** Throws anything but a DbError with a position inside the text. */
function attempt(sql: string, view: CatalogView): void {
  try {
    bindAll(sql, view);
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    const position = error.details?.position;
    if (position !== undefined && !(position >= 1 && position <= [...sql].length + 1)) {
      throw new Error(`position ${position} lies outside of the statement: ${error.message}`);
    }
    if (error.code === "internal_error") throw error;
  }
}

const runs = { numRuns: tries(800), seed: 20_240_601 };

t.test("mutated statements", async () => {
  fc.assert(
    fc.property(mutated, (sql) => attempt(sql, catalog)),
    runs,
  );
});

t.test("rows of random tokens", async () => {
  const rows = fc.array(token, { maxLength: 25 }).map((parts) => parts.join(" "));
  fc.assert(
    fc.property(rows, (sql) => attempt(sql, catalog)),
    runs,
  );
});

t.test("random text, also inside of a statement", async () => {
  const text = fc.string({ unit: "binary", maxLength: 60 });
  fc.assert(
    fc.property(text, (part) => {
      attempt(part, catalog);
      attempt(`select '${part}' from users where ${part}`, catalog);
    }),
    { ...runs, numRuns: tries(400) },
  );
});

t.test("the parser works on after all that", async (t) => {
  t.equal(parseSql("select 1").length, 1);
});
