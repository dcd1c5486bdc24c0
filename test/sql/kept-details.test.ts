/** What PostgreSQL says about how tables are stored: kept for the catalog, as dumps and programs look there. */
import t from "tap";
import { loadParser } from "../../src/sql/parse/parse.js";
import { checkStatements } from "./run-sql.js";

t.before(loadParser);

const persistence = "select relname, relpersistence from pg_class where relname like 'log%' order by 1";

t.test("UNLOGGED", (t) =>
  checkStatements(t, [
    ["create unlogged table log (id serial primary key, line text)"],
    [persistence, ["log|u", "log_id_seq|u", "log_pkey|u"]],
    ["alter table log set logged"],
    [persistence, ["log|p", "log_id_seq|p", "log_pkey|p"]],
    ["alter table log set unlogged"],
    ["create unlogged table log_copy as select * from log"],
    [persistence, ["log|u", "log_copy|u", "log_id_seq|u", "log_pkey|u"]],
  ]),
);

const columns =
  "select attname, attstorage, attcompression, attstattarget, attcollation::regcollation from pg_attribute where attrelid = 'doc'::regclass and attnum > 0 order by attnum";

t.test("STORAGE, COMPRESSION, STATISTICS and COLLATE of columns", (t) =>
  checkStatements(t, [
    [`create table doc (id integer, title text collate "C", body text collate "default")`],
    [columns, ["id|p||-1|-", `title|x||-1|"C"`, `body|x||-1|"default"`]],
    ["alter table doc alter body set storage external, alter title set compression lz4, alter id set statistics 500"],
    [columns, ["id|p||500|-", `title|x|l|-1|"C"`, `body|e||-1|"default"`]],
    [
      "alter table doc alter body set storage extended, alter title set compression default, alter id set statistics -1",
    ],
    [columns, ["id|p||-1|-", `title|x||-1|"C"`, `body|x||-1|"default"`]],
    [
      "select column_name, collation_name from information_schema.columns where table_name = 'doc' order by 1",
      ["body|∅", "id|∅", "title|C"],
    ],
    ["alter table doc alter body set storage main"],
    ["create table son () inherits (doc)"],
    ["alter table doc alter title set storage plain"],
    ["select attstorage from pg_attribute where attrelid = 'son'::regclass and attname = 'title'", ["p"]],
    ["alter table doc alter title set storage extended"],
    ["create table copy (like doc)"],
    ["create table whole (like doc including all)"],
    ["create table heir () inherits (doc)"],
    [
      "select attrelid::regclass, attname, attstorage, attcollation from pg_attribute where attrelid in ('copy'::regclass, 'whole'::regclass, 'heir'::regclass) and attname in ('title', 'body') order by attrelid, attnum",
      [
        "copy|title|x|950",
        "copy|body|x|100",
        "whole|title|x|950",
        "whole|body|m|100",
        "heir|title|x|950",
        "heir|body|m|100",
      ],
    ],
    ["alter table copy alter title set statistics 7, alter title set storage external"],
    ["alter table copy alter title type varchar(9)"],
    [`alter table copy alter body type varchar(9) collate "POSIX"`],
    [
      "select attname, attstorage, attstattarget, attcollation from pg_attribute where attrelid = 'copy'::regclass and attnum > 1 order by attnum",
      ["title|x|7|100", "body|x|-1|951"],
    ],
    ["alter table doc alter id set storage main", "0A000 column data type integer can only have storage PLAIN"],
    ["alter table doc alter body set storage wide", `22023 invalid storage type "wide"`],
    ["alter table doc alter id set compression pglz", "0A000 column data type integer does not support compression"],
    ["alter table doc alter body set compression zip", `22023 invalid compression method "zip"`],
    ["alter table doc alter body set statistics -2", "22023 statistics target -2 is too low"],
    ["alter table doc alter gone set statistics 1", `42703 column "gone" of relation "doc" does not exist`],
    [`create table wrong (id integer collate "C")`, "42804 collations are not supported by type integer"],
  ]),
);

t.test("indexes say how they order texts, and on which the table is clustered", (t) =>
  checkStatements(t, [
    [`create table tab (id integer primary key, a text, b text collate "C")`],
    [`create index tab_a on tab (a collate "POSIX", b collate "C")`],
    [`create index tab_lower on tab (lower(a) collate "C")`],
    [
      "select pg_get_indexdef(indexrelid), indcollation from pg_index where indrelid = 'tab'::regclass order by 1",
      [
        `CREATE INDEX tab_a ON public.tab USING btree (a COLLATE "POSIX", b)|951 950`,
        `CREATE INDEX tab_lower ON public.tab USING btree (lower(a) COLLATE "C")|950`,
        "CREATE UNIQUE INDEX tab_pkey ON public.tab USING btree (id)|0",
      ],
    ],
    ["alter table tab cluster on tab_a"],
    ["select indexrelid::regclass from pg_index where indisclustered", ["tab_a"]],
    ["cluster tab using tab_pkey"],
    ["select indexrelid::regclass from pg_index where indisclustered", ["tab_pkey"]],
    ["alter table tab set without cluster"],
    ["select count(*) from pg_index where indisclustered", ["0"]],
    ["alter table tab cluster on other", `42704 index "other" for table "tab" does not exist`],
  ]),
);
