/** What programs for PostgreSQL rely on in small: rounding of seconds, statements that run alone, tsvector triggers. */
import t from "tap";
import { SEND_FUNCTIONS } from "../../src/features/postgres/send-functions.js";
import type { EvalContext } from "../../src/query/expr/expr.js";
import { loadParser } from "../../src/sql/parse/parse.js";
import { checkStatements } from "./run-sql.js";

t.before(loadParser);

t.test("seconds become whole microseconds by rounding halves to even", (t) =>
  checkStatements(t, [
    ["select '00:00:00.0000005'::time, '12:00:00.0000015'::time", ["00:00:00|12:00:00.000002"]],
    [
      "select '2000-01-01 00:00:00.0000005'::timestamp, '2000-01-01 00:00:00.0000015'::timestamp",
      ["2000-01-01 00:00:00|2000-01-01 00:00:00.000002"],
    ],
    [
      "select extract(epoch from to_timestamp(0.0000005)), extract(epoch from to_timestamp(1.1234565))",
      ["0.000000|1.123456"],
    ],
  ]),
);

t.test("settings that are sizes and durations are shown with their largest whole unit", (t) =>
  checkStatements(t, [
    ["set work_mem = 65536"],
    ["show work_mem", ["64MB"]],
    ["set work_mem = '1500kB'"],
    ["show work_mem", ["1500kB"]],
    ["set maintenance_work_mem = '2048MB'"],
    ["show maintenance_work_mem", ["2GB"]],
    ["set effective_cache_size = 524288"],
    ["show effective_cache_size", ["4GB"]],
    ["set log_min_duration_statement = 250"],
    ["show log_min_duration_statement", ["250ms"]],
    ["set log_min_duration_statement = -1"],
    ["show log_min_duration_statement", ["-1"]],
    ["set vacuum_cost_delay = 80.1"],
    ["show vacuum_cost_delay", ["80100us"]],
    ["set deadlock_timeout = '120s'"],
    ["show deadlock_timeout", ["2min"]],
    ["set enable_seqscan = 0"],
    ["show enable_seqscan", ["off"]],
    ["set synchronous_commit = local"],
    ["show synchronous_commit", ["local"]],
    ["set work_mem = '5 mb'", '22023 invalid value for parameter "work_mem": "5 mb"'],
    ["set enable_sort = 'perhaps'", '22023 parameter "enable_sort" requires a Boolean value'],
    [
      "set statement_timeout = -1",
      '22023 -1 ms is outside the valid range for parameter "statement_timeout" (0 .. 2147483647)',
    ],
    [
      "select setting, unit from pg_settings where name in ('effective_cache_size', 'maintenance_work_mem') order by name",
      ["524288|8kB", "2097152|kB"],
    ],
  ]),
);

t.test("a composite type is a relation, too: \\d and regclass find it by its name", (t) =>
  checkStatements(t, [
    ["create type pair as (a int, b text)"],
    ["select pg_table_is_visible(oid), relkind from pg_class where relname = 'pair'", ["true|c"]],
    ["select 'pair'::regclass, 'pair'::regclass::oid = typrelid from pg_type where typname = 'pair'", ["pair|true"]],
  ]),
);

t.test("USING may read a column that the same ALTER TABLE drops", (t) =>
  checkStatements(t, [
    ["create table n (a int, b text)"],
    ["insert into n values (1, 'x')"],
    ["alter table n drop column b, alter a type text using a || b"],
    ["select * from n", ["1x"]],
  ]),
);

t.test("the system's trigger functions are functions of the catalog", (t) =>
  checkStatements(t, [
    ["create table n (x int)"],
    ["create trigger g before update on n for each row execute function suppress_redundant_updates_trigger()"],
    [
      "select p.proname, p.prorettype::regtype from pg_trigger join pg_proc p on p.oid = tgfoid",
      ["suppress_redundant_updates_trigger|trigger"],
    ],
  ]),
);

t.test("indexes of partitions are a tree, too", (t) =>
  checkStatements(t, [
    ["create table p (a int, b int) partition by range (a)"],
    ["create table p1 partition of p for values from (0) to (10) partition by list (b)"],
    ["create table p11 partition of p1 for values in (1)"],
    ["create index i on p (a)"],
    [
      "select relid, parentrelid, isleaf, level from pg_partition_tree('i')",
      ["i|∅|false|0", "p1_a_idx|i|false|1", "p11_a_idx|p1_a_idx|true|2"],
    ],
    ["select * from pg_partition_ancestors('p11_a_idx')", ["p11_a_idx", "p1_a_idx", "i"]],
    ["select pg_partition_root('p11_a_idx'), pg_partition_root('p11')", ["i|p"]],
    ["create table alone (a int primary key)"],
    ["select count(*) from pg_partition_tree('alone_pkey')", ["0"]],
    ["select pg_partition_root('alone_pkey')", ["∅"]],
  ]),
);

t.test("CREATE SCHEMA AUTHORIZATION CURRENT_USER has the user's name", (t) =>
  checkStatements(t, [
    ["create schema authorization current_user"],
    ["select count(*) from pg_namespace where nspname = current_user", ["1"]],
  ]),
);

t.test("a body without statements", (t) =>
  checkStatements(t, [
    ["create procedure nothing(x int) begin atomic end"],
    ["call nothing(1)"],
    ["create function empty() returns void begin atomic end"],
    ["select empty() is null", ["true"]],
  ]),
);

t.test("CLUSTER and CHECKPOINT have nothing to do", (t) =>
  checkStatements(t, [
    ["create table n (x int primary key)"],
    ["cluster n using n_pkey"],
    ["cluster n using other", '42704 index "other" for table "n" does not exist'],
    ["cluster missing", '42P01 relation "missing" does not exist'],
    ["cluster"],
    ["checkpoint"],
  ]),
);

t.test("monitoring finds PostgreSQL's counts of the background, and extensions by functions", (t) =>
  checkStatements(t, [
    ["select checkpoints_timed, buffers_alloc from pg_stat_bgwriter", ["0|0"]],
    ["select archived_count from pg_stat_archiver", ["0"]],
    [
      "select e.default_version from pg_available_extensions() as e(name, default_version, comment) where name = 'plpgsql'",
      ["1.0"],
    ],
    ["select schema from pg_available_extension_versions() where name = 'plpgsql'", ["pg_catalog"]],
  ]),
);

t.test("a role is made without the password that a script gives it, and none is changed", (t) =>
  checkStatements(t, [
    ["create role app login password 'secret'"],
    ["create user other with encrypted password 'secret' valid until 'infinity'"],
    [
      "select rolname, rolcanlogin from pg_roles where rolname in ('app', 'other') order by 1",
      ["app|true", "other|true"],
    ],
    ["alter role app password 'new'", "0A000 roles have no passwords here"],
    ["alter role app password null"],
  ]),
);

t.test("statements that run alone", (t) =>
  checkStatements(t, [
    ["create table n (x int)"],
    ["begin"],
    ["vacuum n", "25001 VACUUM cannot run inside a transaction block"],
    ["rollback"],
    ["begin"],
    ["create index concurrently i on n (x)", "25001 CREATE INDEX CONCURRENTLY cannot run inside a transaction block"],
    ["rollback"],
    ["create index concurrently i on n (x)"],
    ["begin"],
    ["drop index concurrently i", "25001 DROP INDEX CONCURRENTLY cannot run inside a transaction block"],
    ["rollback"],
    ["vacuum n"],
    ["begin"],
    ["analyze n"],
    ["commit"],
  ]),
);

t.test("a prepared statement keeps its columns", (t) =>
  checkStatements(t, [
    ["create table n (x int)"],
    ["prepare p as select * from n"],
    ["execute p", []],
    ["alter table n add y int"],
    ["execute p", "0A000 cached plan must not change result type"],
    ["alter table n drop y"],
    ["insert into n values (1)"],
    ["execute p", ["1"]],
    ["alter table n alter x type bigint"],
    ["execute p", "0A000 cached plan must not change result type"],
  ]),
);

t.test("tsvector_update_trigger", (t) =>
  checkStatements(t, [
    ["create table m (title text, body varchar, words tsvector, conf regconfig)"],
    [
      "create trigger a before insert or update on m for each row execute function tsvector_update_trigger(words, 'pg_catalog.english', title, body)",
    ],
    ["insert into m values ('Rats', 'the cats sat'), (null, 'dogs')"],
    ["select words from m order by body", ["'dog':1", "'cat':3 'rat':1 'sat':4"]],
    ["update m set body = 'a fish' where title = 'Rats'"],
    ["select words from m where title = 'Rats'", ["'fish':3 'rat':1"]],
    ["drop trigger a on m"],
    [
      "create trigger a before insert on m for each row execute function tsvector_update_trigger_column(words, conf, title)",
    ],
    ["insert into m values ('The rats', '', null, 'simple')"],
    ["select words from m where body = ''", ["'rats':2 'the':1"]],
    ["insert into m values ('The rats')", '22004 configuration column "conf" must not be null'],
    ["drop trigger a on m"],
    [
      "create trigger a before insert on m for each row execute function tsvector_update_trigger(words, english, title)",
    ],
    ["insert into m values ('x')", '22023 text search configuration name "english" must be schema-qualified'],
    ["drop trigger a on m"],
    [
      "create trigger a before insert on m for each row execute function tsvector_update_trigger(title, 'pg_catalog.english', body)",
    ],
    ["insert into m values ('x')", '42804 column "title" is not of tsvector type'],
    ["drop trigger a on m"],
    [
      "create trigger a after insert on m for each row execute function tsvector_update_trigger(words, 'pg_catalog.english', body)",
    ],
    ["insert into m values ('x')", "39P01 tsvector_update_trigger: must be called before event"],
  ]),
);

t.test("constants of bits, and halves of surrogate pairs in jsonb", (t) =>
  checkStatements(t, [
    ["select bit '101', '101'::bit, bit(2) '101', bit '101' || bit '1', bit 'x1f'", ["101|1|10|1011|00011111"]],
    ["select bit '12'", '22P02 "2" is not a valid binary digit'],
    ["create table b (a bit(3) default bit '101', c bit(4) default '1001')"],
    ["select '1001'::\"bit\", pg_get_expr(adbin, adrelid) from pg_attrdef where adnum = 2", ["1001|'1001'::\"bit\""]],
    ["insert into b default values"],
    ["select a from b", ["101"]],
    ["select textcat('a', 'b')", ["ab"]],
    [String.raw`select jsonb '"\ud83d\ude04"' #>> '{}'`, ["😄"]],
    [String.raw`select jsonb '"\ud83d\ud83d"'`, "22P02 invalid input syntax for type json"],
    [String.raw`select jsonb '{"\ude04": 1}'`, "22P02 invalid input syntax for type json"],
    [String.raw`select jsonb '"\\ud83d"' #>> '{}'`, [String.raw`\ud83d`]],
  ]),
);

t.test("send functions", (t) => {
  const sent = (name: string, value: unknown): string => {
    const { apply } = SEND_FUNCTIONS.find((fn) => fn.name === name)!;
    const bytes = (apply as (...args: unknown[]) => Uint8Array)(value, undefined as unknown as EvalContext);
    return Buffer.from(bytes).toString("hex");
  };
  t.equal(sent("int4send", 258), "00000102");
  t.equal(sent("int8send", 258), "0000000000000102");
  t.equal(sent("float8send", 1.5), "3ff8000000000000");
  t.equal(sent("textsend", "äb"), "c3a462");
  t.equal(sent("uuid_send", "00112233-4455-6677-8899-aabbccddeeff"), "00112233445566778899aabbccddeeff");
  t.equal(sent("boolsend", true), "01");
  t.end();
});
