/** Random roles, relations, grants, policies, functions and rules, and statements that meet them. */

export const ROLES = ["r0", "r1", "r2", "r3"];
/** `tp` is partitioned by grp; its partitions have names of their own. */
const PLAIN = ["t0", "t1", "t2"];
const TRIGGERED = "t2";
const PARTITIONED = "tp";
const PARTITIONS = ["tp0", "tp1", "tpx"];
/** Later tables: policies read only those that stand after their own, so that they end. */
const TABLES = ["t0", "t1", PARTITIONED, "t2"];
/** Made by a role while default privileges hold. */
const LATE = ["d0", "d1"];
const COLUMNS = ["id", "who", "grp", "n"];
const VIEWS = ["v0", "v1", "v2", "vp"];
const behind = (view: string): string => view.replace("v", "t");

/** A small generator of its own, so that a seed repeats a run (Numerical Recipes' LCG). */
export class Chance {
  constructor(private state: number) {}

  below(n: number): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.state / 2 ** 32) * n);
  }

  /** Once in n times. */
  in(n: number): boolean {
    return this.below(n) === 0;
  }

  one<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  some<T>(items: readonly T[]): T[] {
    const chosen = items.filter(() => this.in(2));
    return chosen.length > 0 ? chosen : [this.one(items)];
  }
}

const condition = (c: Chance, others: readonly string[]): string =>
  c.one([
    "true",
    "who = current_user",
    `grp = ${c.below(3)}`,
    `n > ${c.below(6)}`,
    "who <> current_user and n < 5",
    ...(others.length === 0
      ? []
      : [`exists (select from ${c.one(others)} o where o.grp = grp)`, `id in (select n from ${c.one(others)})`]),
  ]);

const row = (c: Chance, id: number): string => `${id}, '${c.one(ROLES)}', ${c.below(3)}, ${c.below(8)}`;

export function* definitions(c: Chance): Iterable<string> {
  for (const [i, role] of ROLES.entries()) {
    yield `create role ${role} ${c.one(["", "", "noinherit", c.in(3) ? "bypassrls" : ""])}`;
    if (i > 0 && c.in(2)) yield `grant ${ROLES[c.below(i)]} to ${role}${c.in(4) ? " with admin option" : ""}`;
  }
  yield "revoke create on schema public from member";
  yield* tables(c);
  for (const table of TABLES) yield* grantsAndPolicies(c, table);
  for (const table of PARTITIONS) {
    if (c.in(3)) yield `grant ${c.some(["select", "insert", "update"])} on ${table} to ${c.one(ROLES)}`;
    if (c.in(4)) yield `alter table ${table} enable row level security`;
  }
  yield* routines(c);
  yield* rules(c);
  yield* late(c);
}

function* tables(c: Chance): Iterable<string> {
  for (const table of PLAIN)
    yield `create table ${table} (id int primary key, who text, grp int, n int check (n < 1000))`;
  yield `create table ${PARTITIONED} (id int, who text, grp int, n int check (n < 1000), primary key (id, grp)) partition by list (grp)`;
  for (const [i, name] of PARTITIONS.entries()) {
    yield `create table ${name} partition of ${PARTITIONED} ${name === "tpx" ? "default" : `for values in (${i})`}`;
    yield `revoke all on ${name} from member`;
  }
  for (const table of TABLES) {
    yield `revoke all on ${table} from member`;
    for (let id = 0; id < 8; id++) yield `insert into ${table} values (${row(c, id)})`;
    if (c.in(2)) yield `alter table ${table} owner to ${c.one(ROLES)}`;
  }
  for (const view of VIEWS) {
    yield `create view ${view} as select id, who, n from ${behind(view)} where n > 1`;
    yield `revoke all on ${view} from member`;
    if (c.in(2)) yield `alter view ${view} owner to ${c.one(ROLES)}`;
    if (c.in(3)) yield `alter view ${view} set (security_invoker = true)`;
  }
}

function* grantsAndPolicies(c: Chance, table: string): Iterable<string> {
  const view = table.replace("t", "v");
  for (const role of ROLES) {
    if (!c.in(4))
      yield `grant ${c.some(["select", "insert", "update", "delete"])} on ${table} to ${role}${c.in(8) ? " with grant option" : ""}`;
    if (c.in(3)) yield `grant ${c.one(["select", "update", "insert"])} (${c.some(COLUMNS)}) on ${table} to ${role}`;
    if (c.in(2)) yield `grant ${c.some(["select", "insert", "update", "delete"])} on ${view} to ${role}`;
    if (c.in(8)) yield `grant truncate on ${table} to ${role}`;
    if (c.in(8)) yield `revoke ${c.one(["select", "all"])} on ${table} from ${role}`;
  }
  if (c.in(4)) return;
  yield `alter table ${table} enable row level security`;
  if (c.in(3)) yield `alter table ${table} force row level security`;
  // A policy that reads its own table, or one that reads it, would never end: they read later tables alone.
  const later = TABLES.slice(TABLES.indexOf(table) + 1);
  for (let p = 0; p < 1 + c.below(4); p++) {
    const command = c.one(["all", "all", "select", "insert", "update", "delete"]);
    const using = command === "insert" ? "" : ` using (${condition(c, later)})`;
    const checks = command !== "select" && command !== "delete" && c.in(2);
    const check = checks ? ` with check (${condition(c, later)})` : "";
    const kind = p > 0 && c.in(4) ? "as restrictive " : "";
    yield `create policy p${p} on ${table} ${kind}for ${command} to ${c.in(3) ? "public" : c.some(ROLES)}${using}${check}`;
  }
}

/** Functions and triggers, which read and write with the rights of their owners, or of who calls them. */
function* routines(c: Chance): Iterable<string> {
  yield "create table noted (what text)";
  yield "revoke all on noted from member";
  if (c.in(2)) yield `alter table noted owner to ${c.one(ROLES)}`;
  for (const role of ROLES) if (c.in(2)) yield `grant insert, select on noted to ${role}`;
  const secure = () => c.one(["security definer", "security invoker"]);
  for (const [i, table] of PLAIN.entries()) {
    const select = `select count(*) from ${table} where n > ${c.below(4)}`;
    yield `create function f${i}() returns bigint language sql ${secure()} ${c.one([`begin atomic ${select}; end`, `as '${select}'`])}`;
    yield `create function g${i}(int) returns int language sql ${secure()} begin atomic update ${table} set n = n + 1 where id = $1 returning n; end`;
    for (const name of [`f${i}()`, `g${i}(int)`]) {
      // Here triggers of others do not get a superuser's rights.
      const isOthers = name.startsWith("g") && table === TRIGGERED;
      if (isOthers || !c.in(3)) yield `alter function ${name} owner to ${c.one(ROLES)}`;
      yield `revoke all on function ${name} from member`;
      yield c.in(3) ? `revoke execute on function ${name} from public` : `grant execute on function ${name} to public`;
      if (c.in(3)) yield `grant execute on function ${name} to ${c.one(ROLES)}`;
    }
  }
  if (c.in(2)) {
    yield `create function h() returns trigger language plpgsql ${secure()} as $$ begin insert into noted values ('${TRIGGERED}'); return new; end $$`;
    if (c.in(2)) yield `alter function h() owner to ${c.one(ROLES)}`;
    yield `create trigger h after ${c.one(["insert", "update", "insert or update"])} on ${TRIGGERED} for each row execute function h()`;
  }
  yield "create sequence s";
  yield "revoke all on sequence s from member";
  for (const role of ROLES) if (c.in(3)) yield `grant ${c.one(["usage", "select", "update"])} on sequence s to ${role}`;
}

/** They act with the rights of who owns the relation that has them. */
function* rules(c: Chance): Iterable<string> {
  if (c.in(3)) {
    const event = c.one(["insert", "update", "delete"]);
    const part = event === "insert" ? "new" : "old";
    // Who may not is told here when a row comes.
    yield `grant insert on noted to ${ROLES}`;
    yield `create rule also as on ${event} to t1 do also insert into noted values (${part}.who)`;
  }
  if (c.in(3)) {
    const instead = c.one([
      "insert to v1 do instead insert into t0 values (new.id, new.who, 0, new.n)",
      "delete to v1 do instead nothing",
    ]);
    yield `create rule instead as on ${instead}`;
  }
}

/** What default privileges give on tables that a role makes afterwards. */
function* late(c: Chance): Iterable<string> {
  yield `grant create on schema public to ${c.some(ROLES)}`;
  for (let i = 0; i < c.below(4); i++) {
    const maker = c.in(3) ? "" : ` for role ${c.one(ROLES)}`;
    const within = c.in(2) ? " in schema public" : "";
    const what = c.one([
      `grant ${c.some(["select", "insert", "update", "delete"])} on tables`,
      "grant select on tables",
      "grant execute on functions",
    ]);
    yield `alter default privileges${maker}${within} ${what} to ${c.in(4) ? "public" : c.one(ROLES)}`;
  }
  for (const table of LATE) {
    yield `set session authorization ${c.one(ROLES)}`;
    yield `create table ${table} as select * from (values (${row(c, 0)}), (${row(c, 1)})) x (id, who, grp, n)`;
    yield "reset session authorization";
  }
}

/** What a statement sends, and for COPY FROM the rows. */
export interface Step {
  readonly sql: string;
  readonly rows?: string;
}

/** Statements that belong together, one after the other. */
export function steps(c: Chance): readonly Step[] {
  switch (c.below(12)) {
    case 0:
    case 1:
      return [{ sql: routineCall(c) }];
    case 2:
      return [{ sql: administration(c) }];
    case 3:
      return [copy(c)];
    case 4:
      return cursor(c).map((sql) => ({ sql }));
    case 5:
      return switched(c).map((sql) => ({ sql }));
    default:
      return [{ sql: statement(c) }];
  }
}

function routineCall(c: Chance): string {
  const i = c.below(PLAIN.length);
  // PostgreSQL has no rules for what WITH does; t1 may have some.
  const plain = c.one([0, 2]);
  const numbered = (start: string) => `${start} select max(id) + 600, 'r1', 1, 1 from t${i}`;
  return c.one([
    ...[`select f${i}()`, `select g${i}(${c.below(9)})`, "select what from noted", `select f${i}() from v${i} limit 1`],
    `with x as (delete from t${plain} where id = ${c.below(10)} returning id) select * from x`,
    `with x as (update t${plain} set n = 1 where id = ${c.below(10)} returning id, n) select x.id from x join v${plain} y using (id)`,
    `select id from t${i} where n = ${c.below(6)} order by id for update`,
    ...["select nextval('s')", "select last_value from s", "select setval('s', 5)", "select currval('s')"],
    numbered(`insert into ${c.one(PLAIN)}`),
    `truncate ${c.one([...TABLES, "d0"])}`,
    `select table_name from information_schema.tables where table_schema = 'public'`,
    `select column_name from information_schema.columns where table_name = 't${i}'`,
    "select relname from pg_stat_user_tables where has_table_privilege(relid, 'select')",
  ]);
}

/** Who may give what, and what the catalog says about it. */
function administration(c: Chance): string {
  const at = c.one([...TABLES, ...VIEWS, ...LATE, ...PARTITIONS]);
  const role = c.one(ROLES);
  const privilege = c.one(["select", "insert", "update", "delete", "truncate", "select with grant option"]);
  const column = c.one(COLUMNS);
  return c.one([
    `select has_table_privilege('${role}', '${at}', '${privilege}')`,
    `select has_column_privilege('${role}', '${c.one(TABLES)}', '${column}', '${c.one(["select", "update", "insert"])}')`,
    `select has_any_column_privilege('${role}', '${at}', 'select'), pg_has_role('${role}', '${c.one(ROLES)}', '${c.one(["member", "usage"])}')`,
    `select has_function_privilege('${role}', 'f0()', 'execute'), has_sequence_privilege('${role}', 's', 'usage')`,
    `select row_security_active('${at}')`,
    `grant ${c.some(["select", "insert"])} on ${at} to ${role}`,
    // Of tables with grants on columns, PostgreSQL asks about each column.
    `revoke ${c.some(["select", "insert"])} on ${c.one([...VIEWS, ...LATE])} from ${role}`,
    `grant ${c.one(ROLES)} to ${role}`,
    `alter table ${at} ${c.one(["enable", "disable", "force", "no force"])} row level security`,
    `create policy px on ${c.one(TABLES)} for select to ${role} using (true)`,
    `drop policy if exists p0 on ${c.one(TABLES)}`,
    `alter table ${at} owner to ${role}`,
    `set role ${role}`,
    `comment on table ${c.one(TABLES)} is 'x'`,
    `create table made_${c.below(1e6)} (like ${c.one(TABLES)})`,
    `create view made_${c.below(1e6)}v as select id from ${c.one(TABLES)}`,
    `select grantee, privilege_type from information_schema.table_privileges where table_name = '${at}' and grantee like 'r_'`,
    `select policyname, cmd, roles from pg_policies where tablename = '${at}'`,
    `drop table ${c.one(LATE)}`,
    `alter default privileges for role ${role} revoke all on tables from ${c.one(ROLES)}`,
  ]);
}

function copy(c: Chance): Step {
  const at = c.one([...TABLES, ...TABLES, ...PARTITIONS, ...VIEWS]);
  const columns = at.startsWith("v") ? ["id", "who", "n"] : COLUMNS;
  const some = ["id", ...c.some(columns.slice(1))];
  const list = c.in(2) ? "" : ` (${some})`;
  if (c.in(2)) {
    // PostgreSQL takes no view and no table with partitions, and wants a query instead.
    return c.in(2) && !at.startsWith("v") && at !== PARTITIONED
      ? { sql: `copy ${at}${list} to stdout` }
      : { sql: `copy (select ${c.some(columns)} from ${at}) to stdout` };
  }
  // Here COPY knows rules, and triggers fire row by row.
  if (at === "t1" || at === TRIGGERED)
    return { sql: `copy (select count(*) from ${at}${list === "" ? " where n > 2" : ""}) to stdout` };
  const values: Record<string, string> = { who: c.one(ROLES), grp: `${c.below(3)}`, n: `${c.below(8)}` };
  const lines = [10 + c.below(500), c.below(10) + (c.in(3) ? 0 : 600)].map((id) =>
    (list === "" ? columns : some).map((name) => (name === "id" ? `${id}` : values[name])).join("\t"),
  );
  return { sql: `copy ${at}${list} from stdin`, rows: `${lines.join("\n")}\n` };
}

function cursor(c: Chance): string[] {
  const at = c.one([...TABLES, ...VIEWS]);
  return [
    "begin",
    ...(c.in(4) && at.startsWith("t")
      ? [`lock table ${at} in ${c.one(["access share", "row exclusive", "share"])} mode`]
      : []),
    `declare c cursor for select id, n from ${at} where n > ${c.below(4)} and id = ${c.below(9)}`,
    "fetch 1 from c",
    "fetch all from c",
    c.one(["commit", "rollback"]),
  ];
}

/** A plan that an administrator made is run by a role, and then by another. */
function switched(c: Chance): string[] {
  // Who may read what is behind a view is asked here when it is prepared.
  const at = c.one(TABLES);
  const sql = c.one([
    `select id from ${at} where id < ${c.below(9)}`,
    `select count(*) from ${at}`,
    `update ${at} set n = 2 where id = ${c.below(9)} returning id`,
    "select current_user, session_user",
  ]);
  const change = c.one([
    ["set row_security = off"],
    [`set role ${c.one(ROLES)}`, "select current_user"],
    [`set session authorization ${c.one(ROLES)}`],
  ]);
  const run = ["execute q", ...change, "execute q", "set row_security = on", "deallocate q"];
  return ["reset session authorization", `prepare q as ${sql}`, `set session authorization ${c.one(ROLES)}`, ...run];
}

function merge(c: Chance, at: string): string {
  const source = `(values (${c.below(10)}, ${c.below(8)}), (${10 + c.below(500)}, 1)) s (id, n)`;
  const when = c.one(["", "", ` and t.n > ${c.below(6)}`, " and s.n > 3"]);
  const matched = c.one([
    ...["update set n = s.n", "update set n = t.n + 1, who = current_user", `update set who = '${c.one(ROLES)}'`],
    ...["delete", "do nothing"],
  ]);
  const grp = at === PARTITIONED ? `, ${c.below(3)}` : "";
  const inserted = c.one([
    ...[`insert values (s.id, '${c.one(ROLES)}', ${c.below(3)}, s.n)`],
    ...(grp === ""
      ? ["insert (id, n) values (s.id, s.n)", "insert (id, who) values (s.id, current_user)"]
      : [`insert (id, n, grp) values (s.id, s.n${grp})`]),
    "do nothing",
  ]);
  const parts = [`when matched${when} then ${matched}`, `when not matched then ${inserted}`];
  return `merge into ${at} t using ${source} on t.id = s.id ${c.some(parts).join(" ")}`;
}

function statement(c: Chance): string {
  const at = c.one([...TABLES, ...TABLES, ...VIEWS, c.one(PARTITIONS), c.one(LATE)]);
  const columns = at.startsWith("v") ? ["id", "who", "n"] : COLUMNS;
  const where = c.one(["", ` where id < ${c.below(8)}`, ` where n > ${c.below(6)}`, " where who = current_user"]);
  switch (c.below(11)) {
    case 0:
      return `select ${c.some(columns)} from ${at}${where}`;
    case 1:
      return `select * from ${at}${where}`;
    case 2:
      return `select count(*)${c.one(["", ", max(n)", ", min(id)"])} from ${at}${where}`;
    case 3:
      return `select a.id, b.id from ${at} a ${c.one(["join", "left join"])} ${c.one(TABLES)} b on a.${c.one(["id", "n"])} = b.id`;
    case 4:
      return `select id from ${at} where ${c.one(["exists (select from", "n in (select id from"])} ${c.one(TABLES)} where n > 2)`;
    case 5:
      return insert(c, at, columns);
    case 6:
    case 7: {
      const set = c.one([
        ...["n = 3", "n = n + 1", `who = '${c.one(ROLES)}'`, at.startsWith("v") ? "n = 2" : `grp = ${c.below(3)}`],
        "n = 5, who = 'r1'",
      ]);
      return `update ${at} set ${set}${where}${c.one(["", "", " returning id", " returning *"])}`;
    }
    case 8:
    case 9:
      return merge(c, c.one(TABLES));
    default:
      return `delete from ${at} where id = ${c.below(10)}${c.one(["", " returning id"])}`;
  }
}

function insert(c: Chance, at: string, columns: readonly string[]): string {
  const values = { id: `${10 + c.below(500)}`, who: `'${c.one(ROLES)}'`, grp: `${c.below(3)}`, n: `${c.below(8)}` };
  const given = ["id", ...columns.filter((column) => column !== "id" && !c.in(3))] as (keyof typeof values)[];
  const returning = c.one(["", "", " returning id", " returning *"]);
  // Of rows that are there, too. A view's policies are its owner's.
  const keyed = !at.startsWith("v") && !at.startsWith("d");
  if (c.in(2) && keyed) values.id = `${c.below(10)}`;
  const key = at.startsWith(PARTITIONED) ? "id, grp" : "id";
  const set = c.one(["n = 3", `n = ${at}.n + 1`, "who = excluded.who"]);
  const conflict = c.one([
    ...["", " on conflict do nothing", ` on conflict (${key}) do nothing`],
    ...Array(3).fill(` on conflict (${key}) do update set ${set}`),
  ]);
  return `insert into ${at} (${given}) values (${given.map((name) => values[name])})${keyed ? conflict : ""}${returning}`;
}
