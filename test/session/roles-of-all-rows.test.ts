/** pg_read_all_data and pg_write_all_data, as in PostgreSQL 15; but only administrators give them. */
import t from "tap";
import { checkStatements } from "../sql/run-sql.js";

const denied = (what: string) => `42501 permission denied for ${what}`;

t.test("a member of pg_read_all_data reads all relations, and changes none", (t) =>
  checkStatements(t, [
    ["create role maker; create role reader; create role other; create schema hidden"],
    ["revoke all on schema hidden from member; grant create, usage on schema hidden to maker"],
    ["set session authorization maker"],
    ["create table hidden.t (id int primary key, note text); insert into hidden.t values (1, 'a')"],
    ["create view hidden.v as select note from hidden.t; create sequence hidden.s"],
    ["reset session authorization"],
    ["grant pg_read_all_data to reader"],
    ["set session authorization reader"],
    ["select * from hidden.t", ["1|a"]],
    ["select * from hidden.v", ["a"]],
    ["select last_value from hidden.s", ["1"]],
    ["select has_table_privilege('hidden.t', 'select'), has_table_privilege('hidden.t', 'insert')", ["true|false"]],
    ["select has_schema_privilege('hidden', 'usage'), has_schema_privilege('hidden', 'create')", ["true|false"]],
    ["select pg_has_role('pg_read_all_data', 'member')", ["true"]],
    ["insert into hidden.t values (2, 'b')", denied("table t")],
    ["update hidden.t set note = 'b'", denied("table t")],
    ["delete from hidden.t", denied("table t")],
    ["truncate hidden.t", denied("table t")],
    ["select nextval('hidden.s')", denied("sequence s")],
    ["create table hidden.u (a int)", denied("schema hidden")],
    ["drop table hidden.t cascade", "42501 must be owner of table t"],
    ["grant select on hidden.t to other"],
    ["reset session authorization"],
    ["select has_table_privilege('other', 'hidden.t', 'select')", ["false"]],
    ["set session authorization reader"],
    ["reset session authorization"],
    ["revoke pg_read_all_data from reader"],
    ["set session authorization reader"],
    ["select * from hidden.t", denied("schema hidden")],
  ]),
);

t.test("a member of pg_write_all_data changes rows of all relations, and reads none", (t) =>
  checkStatements(t, [
    ["create role maker; create role writer; create table t (id int primary key, note text)"],
    [
      "create sequence s; alter table t owner to maker; alter sequence s owner to maker; revoke all on t, s from member",
    ],
    ["grant pg_write_all_data to writer"],
    ["set session authorization writer"],
    ["insert into t values (1, 'a'), (2, 'b')"],
    ["update t set note = 'c'"],
    ["delete from t"],
    ["select nextval('s')", ["1"]],
    ["select * from t", denied("table t")],
    ["update t set note = 'c' where id = 1", denied("table t")],
    ["insert into t values (1, 'a') returning id", denied("table t")],
    ["truncate t", denied("table t")],
  ]),
);

t.test("policies say which rows, and a role with CREATEROLE gives neither", (t) =>
  checkStatements(t, [
    ["create role maker createrole; create role reader; create role upper; create table t (id int)"],
    ["insert into t values (1), (2)"],
    ["alter table t owner to maker; revoke all on t from member"],
    ["alter table t enable row level security; create policy p on t using (id = 1)"],
    ["grant pg_read_all_data to upper; grant upper to reader"],
    ["set session authorization reader"],
    ["select * from t", ["1"]],
    ["reset session authorization"],
    ["set session authorization maker"],
    ["grant pg_read_all_data to maker", '42501 must have admin option on role "pg_read_all_data"'],
    ["reset session authorization"],
    ["drop role pg_read_all_data", '42501 role "pg_read_all_data" is built in and stays as it is'],
    ["alter role pg_write_all_data superuser", '42501 role "pg_write_all_data" is built in and stays as it is'],
    ["grant maker to pg_read_all_data", '42501 role "pg_read_all_data" is built in and stays as it is'],
    ["create role pg_write_all_data", '42939 role name "pg_write_all_data" is reserved'],
    [
      "select oid, rolname from pg_roles where rolname like 'pg\\_%all%' order by 1",
      ["3374|pg_read_all_settings", "3375|pg_read_all_stats", "6181|pg_read_all_data", "6182|pg_write_all_data"],
    ],
    [
      "select roleid::regrole from pg_auth_members where member = 'pg_monitor'::regrole order by 1",
      ["pg_read_all_settings", "pg_read_all_stats", "pg_stat_scan_tables"],
    ],
    ["select member::regrole from pg_auth_members where roleid = 'pg_read_all_data'::regrole", ["upper"]],
  ]),
);
