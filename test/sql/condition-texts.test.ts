/** Conditions of policies and triggers as texts, as PostgreSQL prints them. */
import t from "tap";
import { loadParser } from "../../src/sql/parse/parse.js";
import { checkStatements } from "./run-sql.js";

t.before(loadParser);

const tables = [
  `create table doc (id int primary key, owner name, team int, title varchar(20), pub bool, "Mixed Col" int)`,
  "create table member (team int, who text, doc int)",
];
const policies = "select policyname, coalesce(qual, with_check) from pg_policies order by length(policyname), 1";

t.test("policies", (t) =>
  checkStatements(t, [
    ...tables.map((sql): [string] => [sql]),
    ["create policy p1 on doc using (pub or owner = current_user and title <> 'x')"],
    [
      "create policy p2 on doc for insert with check (exists (select 1 from member m where m.team = doc.team and who = current_user))",
    ],
    ["create policy p3 on doc using (team in (select team from member where who = current_user))"],
    ["create policy p4 on doc as restrictive for delete using (id in (1,2,3) and not pub)"],
    ["create policy p5 on member using (doc in (select id from doc where doc.owner = who))"],
    [`create policy p6 on doc using ("Mixed Col" between 1 and 3 and doc.id is not null)`],
    ["create policy p7 on doc using (current_setting('app.x', true)::int = id)"],
    ["create policy p8 on doc using (doc is not null)"],
    ["create policy p9 on doc using (id in (select d.id from doc d, doc where d.team = doc.team))"],
    [
      policies,
      [
        "p1|(pub OR ((owner = CURRENT_USER) AND ((title)::text <> 'x'::text)))",
        "p2|(EXISTS ( SELECT 1\n   FROM member m\n  WHERE ((m.team = doc.team) AND (m.who = CURRENT_USER))))",
        "p3|(team IN ( SELECT member.team\n   FROM member\n  WHERE (member.who = CURRENT_USER)))",
        "p4|((id = ANY (ARRAY[1, 2, 3])) AND (NOT pub))",
        "p5|(doc IN ( SELECT doc.id\n   FROM doc\n  WHERE (doc.owner = member.who)))",
        `p6|((("Mixed Col" >= 1) AND ("Mixed Col" <= 3)) AND (id IS NOT NULL))`,
        "p7|((current_setting('app.x'::text, true))::integer = id)",
        "p8|(doc.* IS NOT NULL)",
        "p9|(id IN ( SELECT d.id\n   FROM doc d,\n    doc doc_1\n  WHERE (d.team = doc_1.team)))",
      ],
    ],
    [
      "select pg_get_expr(polqual, polrelid), pg_get_expr(polqual, polrelid, true) from pg_policy where polname in ('p3', 'p6')",
      [
        "(team IN ( SELECT member.team\n   FROM member\n  WHERE (member.who = CURRENT_USER)))|(team IN ( SELECT member.team\n   FROM member\n  WHERE member.who = CURRENT_USER))",
        `((("Mixed Col" >= 1) AND ("Mixed Col" <= 3)) AND (id IS NOT NULL))|"Mixed Col" >= 1 AND "Mixed Col" <= 3 AND id IS NOT NULL`,
      ],
    ],
    ["alter table doc rename title to heading"],
    ["alter table doc rename to paper"],
    [
      `${policies} limit 2`,
      [
        "p1|(pub OR ((owner = CURRENT_USER) AND ((heading)::text <> 'x'::text)))",
        "p2|(EXISTS ( SELECT 1\n   FROM member m\n  WHERE ((m.team = paper.team) AND (m.who = CURRENT_USER))))",
      ],
    ],
    ["set search_path = ''"],
    [
      "select qual from pg_policies where policyname = 'p3'",
      ["(team IN ( SELECT member.team\n   FROM public.member\n  WHERE (member.who = CURRENT_USER)))"],
    ],
  ]),
);

const definitions = "select pg_get_triggerdef(oid), pg_get_triggerdef(oid, true) from pg_trigger order by tgname";
const named = (when: string, pretty: string, table = "doc") =>
  [`public.${table} FOR EACH ROW WHEN (${when})`, `${table} FOR EACH ROW WHEN (${pretty})`]
    .map((text) => `CREATE TRIGGER t AFTER UPDATE ON ${text} EXECUTE FUNCTION f()`)
    .join("|");

t.test("WHEN of triggers", async (t) => {
  const trigger = (when: string): [string] => [
    `create or replace trigger t after update on doc for each row when (${when}) execute function f()`,
  ];
  await checkStatements(t, [
    ...tables.map((sql): [string] => [sql]),
    ["create function f() returns trigger language plpgsql as 'begin return null; end'"],
    trigger("old.title is distinct from new.title and new.id > 3"),
    [
      definitions,
      [
        named(
          "(((old.title)::text IS DISTINCT FROM (new.title)::text) AND (new.id > 3))",
          "old.title::text IS DISTINCT FROM new.title::text AND new.id > 3",
        ),
      ],
    ],
    [
      "select action_condition from information_schema.triggers",
      ["(((old.title)::text IS DISTINCT FROM (new.title)::text) AND (new.id > 3))"],
    ],
    trigger("old is distinct from new"),
    [definitions, [named("(old.* IS DISTINCT FROM new.*)", "old.* IS DISTINCT FROM new.*")]],
    trigger("new.pub"),
    [definitions, [named("new.pub", "new.pub")]],
    ["select action_condition from information_schema.triggers", ["new.pub"]],
    trigger(`pg_trigger_depth() = 0 and new."Mixed Col" in (1, 2)`),
    ["alter table doc rename to paper"],
    [`alter table paper rename "Mixed Col" to plain`],
    [
      definitions,
      [
        named(
          "((pg_trigger_depth() = 0) AND (new.plain = ANY (ARRAY[1, 2])))",
          "pg_trigger_depth() = 0 AND (new.plain = ANY (ARRAY[1, 2]))",
          "paper",
        ),
      ],
    ],
  ]);
});
