/** Definitions as texts: under which search path they name tables how, and their parentheses in the pretty form. */
import t from "tap";
import { loadParser } from "../../src/sql/parse/parse.js";
import { checkStatements } from "./run-sql.js";

t.before(loadParser);

t.test("a foreign key names its table as the search path needs it", (t) => {
  const definition = "select pg_get_constraintdef(oid, true) from pg_constraint where contype = 'f'";
  return checkStatements(t, [
    ["create schema s"],
    ["create table s.a (id int primary key)"],
    ["create table s.b (a int references s.a)"],
    [definition, ["FOREIGN KEY (a) REFERENCES s.a(id)"]],
    ["set search_path = s"],
    [definition, ["FOREIGN KEY (a) REFERENCES a(id)"]],
    ["drop table b"],
    ["create table public.a (id int primary key)"],
    ["create table public.b (a int references public.a)"],
    [definition, ["FOREIGN KEY (a) REFERENCES public.a(id)"]],
    ["set search_path = public, s"],
    [definition, ["FOREIGN KEY (a) REFERENCES a(id)"]],
    // As dumps do.
    ["set search_path = ''"],
    [definition, ["FOREIGN KEY (a) REFERENCES public.a(id)"]],
  ]);
});

t.test("the pretty form has one pair of parentheses less", (t) =>
  checkStatements(t, [
    ["create table t (a text, b text)"],
    ["create index i on t ((a || b), lower(a), (b || ',(') desc) where a > b"],
    [
      "select pg_get_indexdef('i'::regclass)",
      ["CREATE INDEX i ON public.t USING btree (((a || b)), lower(a), ((b || ',('::text)) DESC) WHERE (a > b)"],
    ],
    [
      "select pg_get_indexdef('i'::regclass, 0, true)",
      ["CREATE INDEX i ON t USING btree ((a || b), lower(a), (b || ',('::text) DESC) WHERE a > b"],
    ],
    ["create function f() returns trigger language plpgsql as 'begin return null; end'"],
    ["create trigger g after update on t for each row when (old.a <> new.a) execute function f()"],
    [
      "select pg_get_triggerdef(oid, true) from pg_trigger",
      ["CREATE TRIGGER g AFTER UPDATE ON t FOR EACH ROW WHEN (old.a <> new.a) EXECUTE FUNCTION f()"],
    ],
  ]),
);

t.test("expressions of tables and domains have the form that PostgreSQL prints", (t) =>
  checkStatements(t, [
    [
      `create table k (id int, name varchar(20) check (name <> 'x' and length(name) > 2), area numeric default 0,
      flag bool, x real check (x between 0 and 1), y int check (y in (1, 2, 3)), z char(3) default 'abc', d date)`,
    ],
    [
      "alter table k add constraint more check (extract(year from d) > 2000 or case when id > 1 then true else flag end)",
    ],
    ["create index on k (lower(name)) where area > 5 and name is not null"],
    ["create domain dd as text check (value ~ '^a' and length(value) > 1)"],
    [
      "select pg_get_constraintdef(oid) from pg_constraint where conrelid = 'k'::regclass order by conname",
      [
        "CHECK ((((name)::text <> 'x'::text) AND (length((name)::text) > 2)))",
        "CHECK (((x >= (0)::double precision) AND (x <= (1)::double precision)))",
        "CHECK ((y = ANY (ARRAY[1, 2, 3])))",
        `CHECK (((EXTRACT(year FROM d) > (2000)::numeric) OR
CASE
    WHEN (id > 1) THEN true
    ELSE flag
END))`,
      ],
    ],
    [
      "select pg_get_constraintdef(oid, true) from pg_constraint where conname in ('k_x_check', 'dd_check') order by 1",
      [
        "CHECK (VALUE ~ '^a'::text AND length(VALUE) > 1)",
        "CHECK (x >= 0::double precision AND x <= 1::double precision)",
      ],
    ],
    [
      "select indexdef from pg_indexes where tablename = 'k'",
      [
        "CREATE INDEX k_lower_idx ON public.k USING btree (lower((name)::text)) WHERE ((area > (5)::numeric) AND (name IS NOT NULL))",
      ],
    ],
    // "character" would be a single one.
    [
      "select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = 'k'::regclass order by adnum",
      ["0", "'abc'::bpchar"],
    ],
    [
      "select check_clause from information_schema.check_constraints where constraint_name in ('dd_check', 'k_y_check') order by 1",
      ["(((VALUE ~ '^a'::text) AND (length(VALUE) > 1)))", "((y = ANY (ARRAY[1, 2, 3])))"],
    ],
  ]),
);
