/** System catalogs are for reading; what RESET answers. As in PostgreSQL 15. */
import t from "tap";
import { checkStatements } from "./run-sql.js";

const refused = (name: string) => `42501 permission denied: "${name}" is a system catalog`;

t.test("no statement changes a system catalog", (t) =>
  checkStatements(t, [
    ["insert into pg_class (relname) values ('x')", refused("pg_class")],
    ["update pg_authid set rolname = 'x'", refused("pg_authid")],
    ["delete from pg_catalog.pg_proc", refused("pg_proc")],
    ["truncate pg_class", refused("pg_class")],
    ["drop table pg_class", refused("pg_class")],
    ["alter table pg_class add column x int", refused("pg_class")],
    ["create index on pg_class (relname)", refused("pg_class")],
    ["create table pg_index (i int)"],
    ["insert into public.pg_index values (1)"],
    ["drop table public.pg_index"],
    ["update nothing set x = 1", '42P01 relation "nothing" does not exist'],
    ["drop table nothing", '42P01 table "nothing" does not exist'],
  ]),
);

t.test("RESET says so, SET … TO DEFAULT does not", (t) =>
  checkStatements(t, [
    ["reset role", ["RESET"]],
    ["reset session authorization", ["RESET"]],
    ["reset all", ["RESET"]],
    ["reset time zone", ["RESET"]],
    ["set time zone default", ["SET"]],
    ["set role none", ["SET"]],
    ["set session authorization default", ["SET"]],
  ]),
);
