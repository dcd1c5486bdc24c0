/** EXCLUDE constraints over values, networks and figures. Expectations are PostgreSQL 15's. */
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
      ["x|EXCLUDE USING btree (id WITH =, day WITH =) WHERE ((note IS NULL))"],
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
    [
      "create table c (a int, exclude (a with <>))",
      '42809 operator <>(integer,integer) is not a member of operator family "int4_ops"',
    ],
    [
      "create table c (a box, exclude using gist (a with =))",
      '42704 data type box has no default operator class for access method "btree"',
    ],
    ["create table c (a int, exclude using gist (a with <))", "42809 operator <(integer,integer) is not commutative"],
    ["create table c (a text, exclude using gist (a with &&))", "42883 operator does not exist: text && text"],
    [
      "create table c (a int4range, b int4range, exclude using gist (a with &&, b with &&))",
      '0A000 EXCLUDE with several operators other than "=" is not supported yet',
    ],
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

const violates = (name: string) => `23P01 conflicting key value violates exclusion constraint "${name}"`;

t.test("EXCLUDE with <>: one kind for each cage", (t) =>
  checkStatements(t, [
    ["create table zoo (cage int, animal text, exclude using gist (cage with =, animal with <>))"],
    ["insert into zoo values (1, 'zebra'), (1, 'zebra'), (2, 'lion'), (3, 'empty')"],
    ["insert into zoo values (1, 'ant')", violates("zoo_cage_animal_excl")],
    ["insert into zoo values (1, 'zulu')", violates("zoo_cage_animal_excl")],
    ["insert into zoo values (3, 'ant')", violates("zoo_cage_animal_excl")],
    ["insert into zoo values (2, 'lion'), (2, null)"],
    ["insert into zoo values (4, 'a'), (4, 'b')", violates("zoo_cage_animal_excl")],
    ["insert into zoo values (1, 'lion') on conflict do nothing"],
    ["select count(*) from zoo", ["6"]],
  ]),
);

t.test("EXCLUDE with && over networks", (t) =>
  checkStatements(t, [
    ["create table nets (n inet, exclude using gist (n inet_ops with &&))"],
    ["insert into nets values ('10.0.0.0/8'), ('11.0.0.0/16'), ('11.1.0.0/16'), ('::/64')"],
    ["insert into nets values ('10.1.2.3')", violates("nets_n_excl")],
    ["insert into nets values ('11.0.0.0/8')", violates("nets_n_excl")],
    ["insert into nets values ('::5')", violates("nets_n_excl")],
    ["insert into nets values ('11.2.0.0/16'), ('9.255.255.255')"],
    [
      "select pg_get_constraintdef(oid) from pg_constraint where conname = 'nets_n_excl'",
      ["EXCLUDE USING gist (n inet_ops WITH &&)"],
    ],
  ]),
);

t.test("EXCLUDE with && and ~= over figures", (t) =>
  checkStatements(t, [
    ["create table c (id int, c circle, exclude using gist (c with &&) where (id > 0))"],
    ["insert into c values (1, '<(0,0),1>'), (2, '<(5,5),1>'), (-1, '<(0,0),1>'), (3, null), (4, null)"],
    ["insert into c values (5, '<(1,1),1>')", violates("c_c_excl")],
    ["insert into c values (5, '<(2,0),1>')", violates("c_c_excl")],
    ["insert into c values (5, '<(3,3),100>')", violates("c_c_excl")],
    ["insert into c values (5, '<(0.1,0.1),0.001>')", violates("c_c_excl")],
    ["insert into c values (5, '<(Infinity,0),1>'), (6, '<(2.1,0),1>')"],
    ["insert into c values (7, '<(0,0),Infinity>')", violates("c_c_excl")],
    ["select id from c where c = '<(9,9),1>' order by id", ["-1", "1", "2", "5", "6"]],
    ["update c set c = c + point '(1,0)' where id in (1, 6)"],
    ["insert into c values (8, '<(-0.5,0),1>')", violates("c_c_excl")],
    ["alter table c drop constraint c_c_excl", ["ALTER TABLE"]],
    [
      "alter table c add constraint again exclude using gist (c with &&)",
      '23P01 could not create exclusion constraint "again"',
    ],
    ["create table p (p point, exclude using gist (p with ~=))"],
    ["insert into p values ('(0,0)'), ('(0.000002,0)')"],
    ["insert into p values ('(0.0000005,0)')", violates("p_p_excl")],
    ["create table g (g polygon, exclude using gist (g with &&))"],
    ["insert into g values ('((0,0),(4,0),(0,4))'), ('((4,4),(4,3),(3,4))')"],
    ["insert into g values ('((1,1),(2,2),(3,1))')", violates("g_g_excl")],
    ["create table b (b box, exclude using gist (b box_ops with &&) deferrable initially deferred)"],
    ["insert into b values ('(0,0),(1,1)')"],
    ["begin"],
    ["insert into b values ('(1,1),(9,9)')"],
    ["delete from b where b ~= '(0,0),(1,1)'"],
    ["commit"],
    ["select b from b", ["(9,9),(1,1)"]],
    ["insert into b values ('(-5,-5),(1,1)')", violates("b_b_excl")],
  ]),
);
