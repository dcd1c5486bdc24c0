/**
 * Triggers and rules. test/golden/oracle/triggers.txt holds scripts with what PostgreSQL 15 answered to each statement:
 * rows with `|` between columns, or the error; each part begins with an empty database.
 */
import { readFileSync } from "node:fs";
import t from "tap";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import { Session } from "../../src/session/session.js";
import { jsonRows } from "../../src/session/sql-result.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";
import { script } from "../session/sql-script.js";

const SAMPLES = new URL("../../../test/golden/oracle/triggers.txt", import.meta.url);

interface Sample {
  readonly sql: string;
  readonly answer: string;
}

function parts(): { readonly title: string; readonly samples: readonly Sample[] }[] {
  return readFileSync(SAMPLES, "utf8")
    .split(/^# /m)
    .slice(1)
    .map((part) => {
      const [head, ...samples] = part.split(/^> /m);
      return {
        title: head!.trim(),
        samples: samples.map((sample) => {
          const [sql, ...lines] = sample.trimEnd().split("\n");
          return { sql: sql!, answer: lines.join("\n") };
        }),
      };
    });
}

for (const { title, samples } of parts()) {
  t.test(`as PostgreSQL 15: ${title}`, async (t) => {
    const { rows, run, fails } = await script(t);
    for (const { sql, answer } of samples) {
      if (/^[0-9A-Z]{5} /.test(answer)) t.equal(await fails(sql), answer, sql);
      else if (/^(select|with)|^(?!create).* returning /i.test(sql)) t.equal((await rows(sql)).join("\n"), answer, sql);
      else await run(sql);
    }
  });
}

const AUDIT = [
  "create table item (id int primary key, price int)",
  "create table audit (item int, what text)",
  `create function audit() returns trigger language plpgsql as $$ begin
     if new.price < 0 then raise exception 'price % of %', new.price, new.id using errcode = '23514'; end if;
     insert into audit values (new.id, tg_op);
     return new;
   end $$`,
  "create trigger audit after insert or update on item for each row execute function audit()",
];

t.test("what triggers write is of the statement's transaction", async (t) => {
  const { run, rows, fails } = await script(t);
  await run(...AUDIT, "insert into item values (1, 10)");
  t.equal(await fails("insert into item values (2, 20), (3, -1)"), "23514 price -1 of 3");
  t.same(await rows("select * from item"), ["1|10"], "an error in a trigger undoes the statement");
  t.same(await rows("select * from audit"), ["1|INSERT"]);
  await run("begin", "update item set price = 11", "savepoint s", "update item set price = 12", "rollback to s");
  t.same(await rows("select * from audit"), ["1|INSERT", "1|UPDATE"]);
  await run("rollback");
  t.same(await rows("select * from audit"), ["1|INSERT"]);
  await run("create table seen (n int)");
  await run("insert into item select n, n from generate_series(100, 3000) n");
  t.same(await rows("select count(*), count(distinct item) from audit"), ["2902|2902"], "many rows at once");
  await run("update item set id = id + 1");
  t.same(await rows("select count(*), min(id), max(id) from item"), ["2902|2|3001"], "unique keys may be shifted");
});

t.test("after a restart, and while others have turns", async (t) => {
  await loadParser();
  const log = new MemoryCommitLog();
  const open = async () => {
    const shard = await Shard.open({ engine: new MemoryEngine(), log });
    const tenant = new Partition(0, shard, loadConfig({ env: {} }), () => undefined).tenant(7);
    let turns = 0;
    const yieldTurn = () => {
      turns++;
      return new Promise<void>((resume) => setImmediate(resume));
    };
    const request = { checkpoint: () => undefined, shouldYield: () => true, yieldTurn };
    const identity = { isolation: null, readOnly: false, user: "u", tenantName: "t", control: "routes" } as const;
    return {
      turns: () => turns,
      execute: async (sql: string) => {
        const outcome = await new Session(tenant, identity).execute(
          { sql, params: [], maxRows: 10, collector: jsonRows, request },
          (tx) => tenant.commit(tx),
        );
        shard.flush();
        return outcome;
      },
    };
  };
  const first = await open();
  for (const sql of AUDIT) await first.execute(sql);
  const entries = log.lastSequence;
  await first.execute("insert into item values (1, 1), (2, 2)");
  t.equal(log.lastSequence, entries + 1, "rows and what triggers wrote are one commit");
  t.ok(first.turns() > 2);
  const second = await open();
  await second.execute("update item set price = 3 where id = 2");
  const { rows } = await second.execute("select item, what from audit");
  t.match(rows.json, /\[1,"INSERT"\].*\[2,"INSERT"\].*\[2,"UPDATE"\]/);
});

t.test("recursion ends, and so do definitions", async (t) => {
  const { run, rows, fails } = await script(t);
  await run(
    "create table r (n int)",
    "create function again() returns trigger language plpgsql as $$ begin insert into r values (new.n + 1); return null; end $$",
    "create trigger again after insert on r for each row execute function again()",
  );
  t.equal(await fails("insert into r values (1)"), "54001 stack depth limit exceeded");
  t.same(await rows("select count(*) from r"), ["0"]);
  t.match(await fails("drop function again()"), /^2BP01 cannot drop function again\(\) because other objects/);
  await run("create schema s");
  await run("create function s.f() returns trigger language plpgsql as $$ begin return null; end $$");
  await run("create trigger gone before insert on r for each row execute function s.f()", "drop schema s cascade");
  await run("drop function again() cascade", "insert into r values (1)");
  t.same(await rows("select n from r"), ["1"]);
  await run(
    "create table w (a int, b int)",
    "create function keep() returns trigger language plpgsql as $$ begin return old; end $$",
    "create trigger keep before update of b on w for each row when (old.a = 1) execute function keep()",
    "alter table w rename a to c",
    "insert into w values (1, 1), (2, 2)",
    "update w set b = 9",
  );
  t.same(await rows("select * from w order by c"), ["1|1", "2|9"], "WHEN follows a renamed column");
  t.match(await fails("alter table w drop column c"), /^2BP01/);
  t.match(
    await fails("alter table w alter column b type bigint"),
    /^0A000 cannot alter type of a column used in a trigger/,
  );
  await run("alter table w drop column c cascade");
  t.same(await rows("select count(*) from pg_trigger"), ["0"]);
});

t.test("a load of many rows, and a table that is made anew", async (t) => {
  const { run, rows } = await script(t);
  await run(...AUDIT, "insert into item select n, n from generate_series(1, 2000) n", "truncate audit");
  await run(
    "alter table item add column note text default clock_timestamp()::text",
    "alter table item drop constraint item_pkey",
  );
  t.same(await rows("select count(*) from audit"), ["0"], "rows that are written anew are not inserted");
  await run("create table copy (like item including all)", "insert into copy select * from item");
  t.same(await rows("select count(*) from audit"), ["0"], "LIKE copies no triggers");
});
