/** What views ask of views below them: rights to columns, rights of who asks, and checks. As in PostgreSQL 15. */
import t from "tap";
import { checkStatements } from "../sql/run-sql.js";

const denied = (what: string) => `42501 permission denied for ${what}`;

t.test("a view that runs with the rights of who asks does so below another's view, too", (t) =>
  checkStatements(t, [
    ["create role one; create role two; create role three; grant create on schema public to one, two"],
    ["create table base (a int, b text, c float); insert into base values (1, 'row', 1)"],
    ["revoke all on base from member"],
    ["set session authorization one"],
    ["create view inside with (security_invoker) as select b as bb, c as cc, a as aa from base"],
    ["grant select on inside to two; grant update (bb, cc) on inside to two"],
    ["set session authorization two"],
    ["create view outside as select cc as ccc, aa as aaa, bb as bbb from inside"],
    ["grant select, update on outside to three"],
    ["select * from outside", denied("table base")],
    ["reset session authorization"],
    ["grant select on base to two; grant update (a, c) on base to two"],
    ["set session authorization two"],
    ["select * from outside", ["1|1|row"]],
    ["update outside set aaa = aaa", denied("view inside")],
    ["update outside set bbb = bbb", denied("table base")],
    ["update outside set ccc = ccc + 1 returning ccc", ["2"]],
    ["set session authorization three"],
    ["select * from outside", denied("table base")],
    ["update outside set ccc = ccc", denied("table base")],
    ["reset session authorization"],
    ["grant select on base to three; grant update (c) on base to three"],
    ["set session authorization three"],
    ["select * from outside", ["2|1|row"]],
    ["update outside set ccc = ccc + 1 returning ccc", ["3"]],
  ]),
);

t.test("rows that triggers take for a view satisfy the checks of views above it", (t) =>
  checkStatements(t, [
    ["create table base (a int)"],
    ["create view inside as select a from base"],
    [
      `create function write() returns trigger language plpgsql as $$ begin
         if tg_op = 'INSERT' then insert into base values (new.a);
         else update base set a = new.a where a = old.a; end if;
         return new; end $$`,
    ],
    ["create trigger w instead of insert or update on inside for each row execute procedure write()"],
    ["create view positive as select * from inside where a > 0 with local check option"],
    ["insert into positive values (5)"],
    ["insert into positive values (1), (-5)", '44000 new row violates check option for view "positive"'],
    ["update positive set a = a - 10", '44000 new row violates check option for view "positive"'],
    ["create view small as select * from positive where a < 100 with cascaded check option"],
    ["insert into small values (-5)", '44000 new row violates check option for view "positive"'],
    ["insert into small values (500)", '44000 new row violates check option for view "small"'],
    ["insert into small values (50)"],
    ["select a from base order by a", ["5", "50"]],
  ]),
);
