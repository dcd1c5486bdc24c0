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
