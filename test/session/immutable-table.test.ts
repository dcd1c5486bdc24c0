/** CREATE IMMUTABLE TABLE and VERIFY TABLE: rows are only added, and the chain tells when storage was tampered with. */
import t from "tap";
import { prefixRange, rowPrefix } from "../../src/storage/keys.js";
import { open } from "../conformance/sql-adapter.js";
import { script } from "./sql-script.js";

t.test("rows are only added", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create immutable table if not exists log (id int primary key, what text unique)",
    "insert into log values (1, 'a'), (2, 'b')",
    "begin",
    "insert into log values (3, 'c')",
    "rollback",
    "insert into log values (3, 'd') on conflict do nothing",
  );
  for (const sql of [
    "update log set what = 'x'",
    "delete from log",
    "truncate log",
    "insert into log values (1, 'z') on conflict (id) do update set what = 'z'",
    "merge into log using (select 1 as x) s on id = x when matched then delete",
  ]) {
    t.match(await fails(sql), /^42809 /, sql);
  }
  t.match(await fails("alter table log alter what type varchar(10) using what || ''"), /^0A000/);
  await run("alter table log add column more int default 5", "insert into log values (4, 'e')");
  const [verified] = await rows("verify table log");
  t.match(verified, /^log\|4\|t(rue)?\|∅\|[0-9a-f]{64}$/);
  await run("create table plain (a int)");
  t.match(await fails("verify table plain"), /^42809/);
  await run("drop table log", "create immutable table log (a int) with (fillfactor = 70)");
  t.match(await rows("verify table log"), [/^log\|0\|t(rue)?\|∅\|∅$/]);
});

t.test("tampering shows", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("create immutable table log (id int primary key, what text)");
  await database.exec("insert into log select g, 'row ' || g from generate_series(1, 5) g");
  const tamper = (change: (keys: readonly Buffer[], values: readonly Buffer[]) => readonly [Buffer, Buffer | null]) => {
    const tx = database.shard.begin({ readOnly: false });
    const cursor = tx.scan(prefixRange(rowPrefix(database.tenantNumber, 1)));
    const { keys, values } = cursor.next(10);
    const [key, value] = change(
      keys.map((key) => Buffer.from(key)),
      values.map((value) => Buffer.from(value)),
    );
    cursor.close();
    if (value === null) tx.delete(key);
    else tx.put(key, value);
    tx.commit();
    database.shard.flush();
    return [key, value] as const;
  };
  const verify = async () => (await database.exec("verify table log")).rows[0]!.slice(1, 4);
  const record = async (text: string) => (await database.exec(`verify record ${text}`)).rows[0]!.slice(0, 5);
  t.same(await verify(), ["5", "true", null]);
  t.same(await record("3 in log"), ["log", "3", "true", "true", "3"]);
  tamper((keys, values) => [keys[2]!, values[3]!]);
  t.same(await verify(), ["5", "false", "3"], "a changed row");
  t.same(await record("3 in log"), ["log", "3", "true", "false", "3"]);
  t.same(await record("4 in log"), ["log", "4", "true", "true", "4"], "the others are as they were");
  tamper((keys) => [keys[1]!, null]);
  t.same(await verify(), ["5", "false", "2"], "a removed row");
  t.same(await record("2 in log"), ["log", "2", "true", "false", "2"]);
  t.same(await record("9 in log"), ["log", "9", "false", "false", null], "one that was never there");
});

t.test("a record is named by its primary key", async (t) => {
  const { run, rows, fails } = await script(t);
  await run("create immutable table log (day date, n int, what text, primary key (day, n))");
  await run("insert into log values ('2024-01-01', 1, 'a'), ('2024-01-01', 2, 'b')");
  for (const text of [
    "('2024-01-01', 2) in log",
    "'2024-01-01', 2 from table log",
    "in public.log where n = 2 and day = '2024-01-01'",
    "log ('2024-01-01', 2)",
  ]) {
    t.match(await rows(`verify record ${text}`), [/^log\|2024-01-01, 2\|true\|true\|2\|[0-9a-f]{64}$/], text);
  }
  await run("create table plain (id int primary key)", "create immutable table keyless (a int)");
  t.match(await fails("verify record 1 in plain"), /^42809 table "plain" is not immutable/);
  t.match(await fails("verify record 1 in keyless"), /^42809 table "keyless" has no primary key/);
  t.match(await fails("verify record 1 in log"), /^42601 .* primary key: day, n/);
  t.match(await fails("verify record in log where n = 1 and what = 'a'"), /^42601/);
  t.match(await fails("verify record ('x', 1) in log"), /^22007/);
  t.match(await fails("verify record 1 in"), /^42601/);
});
