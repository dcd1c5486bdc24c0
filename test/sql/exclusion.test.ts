/** EXCLUDE constraints whose operators are all "=". Expectations are PostgreSQL 15's. */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test("EXCLUDE with =", (t) =>
  checkStatements(t, [
    [
      "create table room (id int, day date, note text, exclude using btree (id with =, day with =) where (note is null))",
    ],
    [
      "insert into room values (1, '2020-01-01', null), (1, '2020-01-01', 'x'), (1, '2020-01-02', null), (null, null, null)",
    ],
    [
      "insert into room values (1, '2020-01-01', null)",
      '23P01 conflicting key value violates exclusion constraint "room_id_day_excl"',
    ],
    ["update room set note = null", '23P01 conflicting key value violates exclusion constraint "room_id_day_excl"'],
    ["insert into room values (1, '2020-01-01', null) on conflict do nothing", []],
    [
      "insert into room values (1, '2020-01-01') on conflict (id, day) do nothing",
      "42P10 there is no unique or exclusion constraint matching the ON CONFLICT specification",
    ],
    [
      "insert into room values (1, '2020-01-01') on conflict on constraint room_id_day_excl do update set note = 'y'",
      "42809 ON CONFLICT DO UPDATE not supported with exclusion constraints",
    ],
    [
      "select contype, pg_get_constraintdef(oid) from pg_constraint where conname = 'room_id_day_excl'",
      ["x|EXCLUDE USING btree (id WITH =, day WITH =) WHERE (note IS NULL)"],
    ],
    ["create table copied (like room including all)"],
    [
      "insert into copied values (1, '2020-01-01'), (1, '2020-01-01')",
      '23P01 conflicting key value violates exclusion constraint "copied_id_day_excl"',
    ],
    ["alter table room drop constraint room_id_day_excl", ["ALTER TABLE"]],
    ["insert into room values (1, '2020-01-01', null)", []],
    [
      "alter table room add constraint only_one exclude ((id + 1) with =)",
      '23P01 could not create exclusion constraint "only_one"',
    ],
    ["create table c (a int, exclude (a with <>))", "0A000 EXCLUDE WITH <> is not supported yet"],
    ["create table c (a int, exclude using spgist (a with =))", "0A000 EXCLUDE USING spgist is not supported yet"],
    [
      "create table c (a int, exclude (a with =)) partition by list (a)",
      "0A000 exclusion constraints are not supported on partitioned tables",
    ],
  ]),
);

t.test("a deferred EXCLUDE is checked when the transaction ends", (t) =>
  checkStatements(t, [
    ["create table d (a int, exclude (a with =) deferrable initially deferred)"],
    ["insert into d values (1), (2)"],
    ["begin"],
    ["insert into d values (1)"],
    ["delete from d where a = 1"],
    ["commit"],
    ["insert into d values (2)", '23P01 conflicting key value violates exclusion constraint "d_a_excl"'],
    ["select a from d", ["2"]],
  ]),
);
