/** Privileges and policies in statements that write by what they find, ON CONFLICT and MERGE; what refuses policies. */
import t from "tap";
import { checkStatements } from "../sql/run-sql.js";

t.test("ON CONFLICT DO UPDATE changes a row only that may be seen and updated, and tells nothing of others", (t) =>
  checkStatements(t, [
    ["create role ann; create table s (id int primary key, owner text, n int)"],
    ["insert into s values (1, 'ann', 1), (2, 'bob', 2), (3, 'ann', 3)"],
    ["create policy see on s for select using (owner = 'ann')"],
    ["create policy add on s for insert with check (owner = 'ann' and n < 100)"],
    ["create policy change on s for update using (n < 3) with check (owner = 'ann' and n < 10)"],
    ["alter table s enable row level security"],
    ["set role ann"],
    ["insert into s values (1, 'ann', 5) on conflict (id) do update set n = excluded.n returning n", ["5"]],
    [
      "insert into s values (1, 'ann', 6) on conflict (id) do update set n = 6",
      '42501 new row violates row-level security policy (USING expression) for table "s"',
    ],
    [
      "insert into s values (2, 'ann', 1) on conflict (id) do update set n = 0",
      '42501 new row violates row-level security policy (USING expression) for table "s"',
    ],
    [
      "insert into s values (2, 'ann', 1) on conflict (id) do update set n = 0 where s.n = 77",
      '42501 new row violates row-level security policy (USING expression) for table "s"',
    ],
    [
      "insert into s values (2, 'ann', 1) on conflict (id) do update set n = 1 / (s.n - 2)",
      '42501 new row violates row-level security policy (USING expression) for table "s"',
    ],
    [
      "insert into s values (1, 'bob', 1) on conflict (id) do update set n = 0",
      '42501 new row violates row-level security policy for table "s"',
    ],
    ["insert into s values (2, 'ann', 1) on conflict (id) do nothing", []],
    ["reset role"],
    ["update s set n = 1 where id = 1"],
    ["set role ann"],
    [
      "insert into s values (1, 'ann', 1) on conflict (id) do update set n = 50",
      '42501 new row violates row-level security policy for table "s"',
    ],
    [
      "insert into s values (1, 'ann', 1) on conflict (id) do update set owner = 'bob'",
      '42501 new row violates row-level security policy for table "s"',
    ],
    ["insert into s values (1, 'ann', 50) on conflict (id) do update set n = 9"],
    ["reset role"],
    ["select * from s order by id", ["1|ann|9", "2|bob|2", "3|ann|3"]],
  ]),
);

t.test("MERGE matches rows that the role sees, and asks the policies of what it does", (t) =>
  checkStatements(t, [
    ["create role ann; create role bob; create table t (id int primary key, who text, n int)"],
    ["insert into t values (1, 'ann', 1), (2, 'bob', 2), (3, 'ann', 30), (4, 'ann', 4)"],
    ["revoke all on t from member; grant select, insert, update, delete on t to ann; grant update (n) on t to bob"],
    ["grant select (id) on t to bob; alter table t enable row level security"],
    ["create policy sees on t for select using (who = current_user)"],
    ["create policy adds on t for insert with check (n < 100)"],
    ["create policy changes on t for update using (n < 10) with check (n < 50)"],
    ["create policy removes on t for delete using (n = 4)"],
    ["set role ann"],
    ["merge into t using (values (1)) s (id) on t.id = s.id when matched then update set n = n + 1"],
    ["select id, n from t order by id", ["1|2", "3|30", "4|4"]],
    [
      "merge into t using (values (3)) s (id) on t.id = s.id when matched then update set n = 1",
      '42501 target row violates row-level security policy (USING expression) for table "t"',
    ],
    ["merge into t using (values (3)) s (id) on t.id = s.id when matched and n < 10 then update set n = 1"],
    ["merge into t using (values (3)) s (id) on t.id = s.id when matched then do nothing"],
    [
      "merge into t using (values (1)) s (id) on t.id = s.id when matched then update set n = 60",
      '42501 new row violates row-level security policy for table "t"',
    ],
    [
      "merge into t using (values (1)) s (id) on t.id = s.id when matched then update set who = 'bob'",
      '42501 new row violates row-level security policy for table "t"',
    ],
    [
      "merge into t using (values (1)) s (id) on t.id = s.id when matched then delete",
      '42501 target row violates row-level security policy (USING expression) for table "t"',
    ],
    ["merge into t using (values (4)) s (id) on t.id = s.id when matched then delete returning t.id", ["4"]],
    // A hidden row is not matched, and its key is taken all the same.
    ["merge into t using (values (2)) s (id) on t.id = s.id when matched then delete"],
    [
      "merge into t using (values (2)) s (id) on t.id = s.id when not matched then insert values (2, 'ann', 1)",
      '23505 duplicate key value violates unique constraint "t_pkey"',
    ],
    [
      "merge into t using (values (9)) s (id) on t.id = s.id when not matched then insert values (9, 'ann', 200)",
      '42501 new row violates row-level security policy for table "t"',
    ],
    // Whether the row can be seen is asked only where it is shown.
    ["merge into t using (values (8)) s (id) on t.id = s.id when not matched then insert values (8, 'bob', 1)"],
    [
      "merge into t using (values (7)) s (id) on t.id = s.id when not matched then insert values (7, 'bob', 1) returning n",
      '42501 new row violates row-level security policy for table "t"',
    ],
    ["merge into t using (values (1)) s (id) on t.id = s.id when not matched by source and n < 10 then delete"],
    [
      "merge into t using (values (1)) s (id) on t.id = s.id when not matched by source then update set n = 30",
      '42501 target row violates row-level security policy (USING expression) for table "t"',
    ],
    ["reset role"],
    ["select id, who, n from t order by id", ["1|ann|2", "2|bob|2", "3|ann|30", "8|bob|1"]],
    ["set role bob"],
    ["merge into t using (values (2)) s (id) on t.id = s.id when matched then update set n = 3"],
    [
      "merge into t using (values (2)) s (id) on t.id = s.id when matched then update set n = t.n + 1",
      "42501 permission denied for table t",
    ],
    [
      "merge into t using (values (2)) s (id) on t.id = s.id when matched then update set who = 'x'",
      "42501 permission denied for table t",
    ],
    [
      "merge into t using (values (2)) s (id) on t.id = s.id when matched then delete",
      "42501 permission denied for table t",
    ],
    [
      "merge into t using (values (2)) s (id) on t.who = 'bob' when matched then update set n = 1",
      "42501 permission denied for table t",
    ],
    ["reset role"],
    ["select n from t where id = 2", ["3"]],
  ]),
);

t.test("MERGE reads of its source what it names", (t) => {
  const denied = "42501 permission denied for table s";
  const merge = (rest: string) => `merge into t using s on ${rest}`;
  return checkStatements(t, [
    ["create role ann; create table t (id int primary key, v int); create table s (id int, v int, hid int)"],
    ["insert into t values (1, 1), (2, 2); insert into s values (1, 10, 5), (3, 30, 7)"],
    ["revoke all on t, s from member; grant all on t to ann; grant select (id, v) on s to ann; set role ann"],
    [merge("t.id = s.id when matched then update set v = s.v")],
    [merge("t.id = s.id when not matched then insert values (s.id, s.v) returning t.id, s.v"), ["3|30"]],
    [merge("t.id = s.id when not matched by source then delete")],
    ["select id, v from t order by id", ["1|10", "3|30"]],
    [merge("t.id = s.hid when matched then update set v = 0"), denied],
    [merge("t.id = s.id when matched and s.hid = 5 then update set v = 0"), denied],
    [merge("t.id = s.id when matched then update set v = s.hid"), denied],
    [merge("t.id = s.id when matched then update set v = (select s.hid)"), denied],
    [merge("t.id = s.id when not matched then insert values (9, s.hid)"), denied],
    [merge("t.id = s.id when matched then update set v = 0 returning s.hid"), denied],
    [merge("t.id = s.id when matched then update set v = 0 returning *"), denied],
    [merge("t.id = s.id when matched then update set v = 0 returning s"), denied],
    [merge("s is not null when matched then update set v = 0"), denied],
    ["select id, v from t order by id", ["1|10", "3|30"]],
  ]);
});

t.test("MERGE asks the policies of a table with heirs, partitions or triggers", (t) => {
  const refused = (table: string) => `42501 new row violates row-level security policy for table "${table}"`;
  return checkStatements(t, [
    ["create role ann; create table p (id int primary key, n int); create table c () inherits (p)"],
    ["create table q (id int primary key, n int, seen text)"],
    ["create function f() returns trigger language plpgsql as 'begin new.n = new.n * 2; return new; end'"],
    ["create trigger g before insert or update on q for each row execute function f()"],
    ["create table r (id int, n int not null) partition by range (id)"],
    ["create table r1 partition of r for values from (0) to (10)"],
    ["create table r2 partition of r for values from (10) to (20)"],
    ["insert into p values (1, 1); insert into c values (2, 2), (3, 9)"],
    ["insert into r values (1, 1), (2, 9); insert into q values (1, 1), (2, 4)"],
    ["grant select, insert, update, delete on p, q, r to ann"],
    ...["p", "q", "r"].map((table): [string] => [
      `alter table ${table} enable row level security; create policy few on ${table} using (n < 8)`,
    ]),
    ["set role ann"],
    ["merge into p using (values (2), (3)) s (i) on id = i when matched then update set n = n + 1"],
    ["merge into p using (values (2)) s (i) on id = i when matched then update set n = 8", refused("p")],
    ["select id, n from p order by id", ["1|1", "2|3"]],
    ["merge into r using (values (1), (2)) s (i) on id = i when matched then update set id = 11"],
    ["merge into r using (values (11)) s (i) on id = i when matched then update set id = 4, n = 8", refused("r")],
    ["merge into r using (values (11)) s (i) on id = i when matched then update set n = 8", refused("r")],
    ["merge into r using (values (5)) s (i) on id = i when not matched then insert values (5, 8)", refused("r")],
    ["merge into r using (values (5)) s (i) on id = i when not matched then insert values (5, 7)"],
    ["select id, n from r order by id", ["5|7", "11|1"]],
    // What a trigger makes of the row counts.
    ["merge into q using (values (1), (2)) s (i) on id = i when matched then update set n = 3"],
    ["merge into q using (values (1)) s (i) on id = i when matched then update set n = 4", refused("q")],
    ["merge into q using (values (5)) s (i) on id = i when not matched then insert values (5, 7)", refused("q")],
    ["select id, n from q order by id", ["1|6"]],
    ["create policy stays on q as restrictive for delete using (n < 2)", "42501 must be owner of table q"],
    ["reset role"],
    ["create policy stays on q as restrictive for delete using (n < 2)"],
    ["set role ann"],
    [
      "merge into q using (values (1)) s (i) on id = i when matched then delete",
      '42501 target row violates row-level security policy "stays" (USING expression) for table "q"',
    ],
    ["reset role"],
    ["select id, n from q order by id", ["1|6", "2|8"]],
    ["select id, n from r order by id", ["2|9", "5|7", "11|1"]],
  ]);
});

t.test("MERGE is refused for the first row that cannot be, and asks what all policies read", (t) =>
  checkStatements(t, [
    ["create role ann; create table t (id int primary key, n int); create table o (n int, m int)"],
    ["insert into t values (1, 1); insert into o values (1, 1)"],
    ["grant select, insert, update on t to ann; revoke all on o from member; grant select (m) on o to ann"],
    ["alter table t enable row level security; create policy adds on t for insert with check (n < 5)"],
    ["set role ann"],
    [
      "merge into t using (values (1, 1), (9, 9)) s (i, k) on id = i when not matched then insert values (i, k)",
      '23505 duplicate key value violates unique constraint "t_pkey"',
    ],
    [
      "merge into t using (values (9, 9), (1, 1)) s (i, k) on id = i when not matched then insert values (i, k)",
      '42501 new row violates row-level security policy for table "t"',
    ],
    ["reset role"],
    ["create policy changes on t for update using (true) with check (id in (select n from o))"],
    ["set role ann"],
    [
      "merge into t using (values (1)) s (i) on id = i when not matched then do nothing",
      "42501 permission denied for table o",
    ],
    ["reset role"],
    ["create rule also as on delete to t do also insert into o values (old.n, 0)"],
    [
      "merge into t using (values (1)) s (i) on id = i when not matched then do nothing",
      '0A000 cannot execute MERGE on relation "t"',
    ],
  ]),
);

t.test("rules act with the rights of who owns their relation", (t) =>
  checkStatements(t, [
    [
      "create role ann; create role eve; create table t (id int primary key, n int); create table log (who text, n int)",
    ],
    ["create table bin (n int); insert into t values (1, 1), (2, 2); revoke all on t, log, bin from member"],
    ["grant select, update, insert on t to eve; alter table t owner to ann; grant insert on log to eve"],
    ["create rule also as on update to t do also insert into log values (current_user, new.n)"],
    ["set role eve"],
    ["update t set n = 3 where id = 1", "42501 permission denied for table log"],
    ["reset role"],
    ["revoke insert on log from eve; grant insert on log to ann"],
    ["set role eve"],
    ["update t set n = 3 where id = 1"],
    ["insert into log values ('x', 1)", "42501 permission denied for table log"],
    ["reset role"],
    ["update t set n = 4 where id = 1"],
    ["select who, n from log order by n", ["eve|3", "tester|4"]],
    ["revoke insert on log from ann"],
    // An administrator's own rights are no use to an owner's rule.
    ["update t set n = 5 where id = 1", "42501 permission denied for table log"],
    ["alter table log enable row level security; create policy few on log using (n < 8)"],
    [
      "grant insert on log to ann; create view v as select n from t; alter view v owner to ann; grant insert on v to eve",
    ],
    ["create rule instead as on insert to v do instead insert into log values (current_user, new.n)"],
    ["set role eve"],
    ["insert into v values (7)"],
    ["insert into v values (8)", '42501 new row violates row-level security policy for table "log"'],
    ["reset role"],
    ["select who, n from log order by n", ["eve|3", "tester|4", "eve|7"]],
  ]),
);

t.test("a rule that does nothing instead asks for nothing, and nothing of the statement runs", (t) =>
  checkStatements(t, [
    ["create role ann; create table s (id int primary key, n int); insert into s values (1, 0)"],
    ["create view v as select id, n from s; revoke all on s, v from member"],
    ["create rule gone as on delete to v do instead nothing"],
    ["create rule kept as on update to v do instead insert into s values (new.id + 1, 0)"],
    ["set role ann"],
    ["delete from v where id = 1"],
    ["delete from v using s where 1 / s.n = 1 and v.id in (select 1 / n from s)"],
    ["update v set n = 1 where id = 1", "42501 permission denied for view v"],
    ["delete from s where id = 1", "42501 permission denied for table s"],
    ["reset role"],
    ["delete from v where id in (select 1 / n from s)"],
    ["alter table s add column m int; create rule added as on insert to v do instead nothing"],
    ["insert into v values (1, 1 / 0)", []],
    ["select id, n from s", ["1|0"]],
  ]),
);

t.test("REVOKE and COMMENT of who may not are refused, also where they change nothing", (t) =>
  checkStatements(t, [
    ["create role ann; create role bob; create role own noinherit; create role col"],
    ["create table s (id int primary key, n int); create view v as select id, n from s"],
    ["revoke all on s, v from member; alter table s owner to own"],
    ["grant own to ann; grant delete on s, v to ann; grant select (id) on s, v to col; grant insert on s, v to bob"],
    ["comment on table s is 'x'"],
    ["set role bob"],
    ["comment on table s is 'x'", "42501 must be owner of table s"],
    ["revoke select on s from ann"],
    ["revoke delete on s from ann"],
    ["revoke select (n) on s from col"],
    ["reset role"],
    ["set role col"],
    ["revoke select (id) on s from ann"],
    ["revoke select (n) on s from ann", '42501 permission denied for column "n" of relation "s"'],
    ["revoke select on s from ann", "42501 permission denied for table s"],
    ["reset role; revoke own from ann"],
    ["set role ann"],
    ["revoke delete on s from bob"],
    ["revoke select on s from bob", '42501 permission denied for column "tableoid" of relation "s"'],
    ["revoke insert on v from bob", '42501 permission denied for column "id" of relation "v"'],
    ["grant select on s to bob"],
    ["grant select (n) on s to bob", '42501 permission denied for column "n" of relation "s"'],
  ]),
);

t.test("members of a role set its default privileges, whether or not they inherit", (t) =>
  checkStatements(t, [
    ["create role ann; create role eve noinherit; create role bob; grant ann to eve"],
    ["grant create on schema public to ann; set role eve"],
    ["alter default privileges for role ann grant select on tables to bob"],
    [
      "alter default privileges for role bob grant select on tables to eve",
      "42501 permission denied to change default privileges",
    ],
    ["reset role; set role ann"],
    ["create table made (id int)"],
    ["select has_table_privilege('bob', 'made', 'select')", ["true"]],
  ]),
);

t.test("a prepared statement is refused as often as a role executes it that may not", (t) =>
  checkStatements(t, [
    ["create role ann; create table t (id int primary key); insert into t values (1); revoke all on t from member"],
    ["prepare q as select id from t"],
    ["execute q", ["1"]],
    ["set role ann"],
    ["execute q", "42501 permission denied for table t"],
    ["execute q", "42501 permission denied for table t"],
    ["explain execute q", "42501 permission denied for table t"],
    ["create table copied as execute q", "42501 permission denied for table t"],
    ["prepare r as select id from t", "42501 permission denied for table t"],
    ["reset role"],
    ["execute q", ["1"]],
  ]),
);

t.test("with row_security off, what policies would filter or check is refused", (t) => {
  const refused = '42501 query would be affected by row-level security policy for table "s"';
  return checkStatements(t, [
    ["create role ann; create role bob; create table s (id int primary key, owner text); create table u (id int)"],
    ["insert into s values (1, 'ann'), (2, 'bob')"],
    ["create policy own on s using (owner = current_user); alter table s enable row level security"],
    ["create view v as select id from s; alter view v owner to bob"],
    ["set role ann"],
    ["select id from s", ["1"]],
    ["set row_security = off"],
    ["show row_security", ["off"]],
    ["select id from s", refused],
    ["select id from v", refused],
    ["select count(*) from u where id in (select id from s)", refused],
    ["insert into s values (3, 'ann')", refused],
    ["update s set id = 4", refused],
    ["delete from s", refused],
    ["select count(*) from u", ["0"]],
    ["select row_security_active('s'::regclass)", ["true"]],
    ["reset role"],
    ["select id from s order by id", ["1", "2"]],
    ["set role ann"],
    ["set row_security = on"],
    ["select id from s", ["1"]],
    ["set row_security = maybe", '22023 parameter "row_security" requires a Boolean value'],
  ]);
});
