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
      ["CREATE INDEX i ON public.t USING btree (((a || b)), lower(a), ((b || ',(')) DESC) WHERE (a > b)"],
    ],
    [
      "select pg_get_indexdef('i'::regclass, 0, true)",
      ["CREATE INDEX i ON public.t USING btree ((a || b), lower(a), (b || ',(') DESC) WHERE a > b"],
    ],
    ["create function f() returns trigger language plpgsql as 'begin return null; end'"],
    ["create trigger g after update on t for each row when (old.a <> new.a) execute function f()"],
    [
      "select pg_get_triggerdef(oid, true) from pg_trigger",
      ["CREATE TRIGGER g AFTER UPDATE ON t FOR EACH ROW WHEN (old.a <> new.a) EXECUTE FUNCTION f()"],
    ],
  ]),
);
