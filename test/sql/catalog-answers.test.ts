/** What the catalog's functions and views answer about the session, its time zone, views and indexes. */
import t from "tap";
import { loadParser } from "../../src/sql/parse/parse.js";
import { checkStatements } from "./run-sql.js";

t.before(loadParser);

t.test("current_schema is pg_catalog where the search path says so", (t) =>
  checkStatements(t, [
    ["select current_schema(), current_schemas(true), current_schemas(false)", ["public|{pg_catalog,public}|{public}"]],
    ["set search_path = pg_catalog"],
    [
      "select current_schema(), current_schemas(true), current_schemas(false)",
      ["pg_catalog|{pg_catalog}|{pg_catalog}"],
    ],
    ["set search_path = public, pg_catalog"],
    ["select current_schema(), current_schemas(false)", ["public|{public,pg_catalog}"]],
  ]),
);

const winter = "select to_char('2024-01-15 12:00Z'::timestamptz, 'TZ tz OF')";
const summer = "select to_char('2024-07-15 12:00Z'::timestamptz, 'TZ')";

t.test("abbreviations of time zones", (t) =>
  checkStatements(t, [
    ["set timezone = 'America/New_York'"],
    [winter, ["EST est -05"]],
    [summer, ["EDT"]],
    ["set timezone = 'Europe/Paris'"],
    [winter, ["CET cet +01"]],
    [summer, ["CEST"]],
    ["set timezone = 'Asia/Tokyo'"],
    [winter, ["JST jst +09"]],
    ["set timezone = 'Asia/Seoul'"],
    [winter, ["KST kst +09"]],
    ["set timezone = 'Asia/Jerusalem'"],
    [winter, ["IST ist +02"]],
    [summer, ["IDT"]],
    ["set timezone = 'America/Sao_Paulo'"],
    [winter, ["-03 -03 -03"]],
    ["set timezone = 'Asia/Dubai'"],
    [winter, ["+04 +04 +04"]],
    ["set timezone = '<+05>-05'"],
    [winter, ["+05 +05 +05"]],
    ["set timezone = 'EST5EDT'"],
    [summer, ["EDT"]],
    ["set timezone = 'UTC'"],
    [winter, ["UTC utc +00"]],
    ["select abbrev from pg_timezone_names where name = 'Asia/Tokyo'", ["JST"]],
  ]),
);

const changes =
  "select is_updatable, is_insertable_into, pg_relation_is_updatable('v'::regclass, false) from information_schema.views where table_name = 'v'";

t.test("views that rules change", (t) =>
  checkStatements(t, [
    ["create view v as select 1 as a"],
    [changes, ["NO|NO|0"]],
    ["create rule i as on insert to v where new.a > 1 do instead nothing"],
    [changes, ["NO|NO|0"]],
    ["create rule j as on insert to v do instead nothing"],
    [changes, ["NO|YES|8"]],
    ["create rule u as on update to v do instead nothing"],
    [changes, ["NO|YES|12"]],
    ["select is_updatable from information_schema.columns where table_name = 'v'", ["NO"]],
    ["create rule d as on delete to v do instead nothing"],
    [changes, ["YES|YES|28"]],
    ["select is_updatable from information_schema.columns where table_name = 'v'", ["YES"]],
    ["select is_insertable_into from information_schema.tables where table_name = 'v'", ["YES"]],
  ]),
);

t.test("an index of a partitioned table has heirs", (t) =>
  checkStatements(t, [
    ["create table whole (a int) partition by range (a)"],
    ["create index on whole (a)"],
    ["select relhassubclass from pg_class where relname = 'whole_a_idx'", ["false"]],
    ["create table part partition of whole for values from (0) to (10)"],
    ["select relhassubclass from pg_class where relname = 'whole_a_idx'", ["true"]],
  ]),
);
