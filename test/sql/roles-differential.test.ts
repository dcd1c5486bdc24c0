/**
 * Random roles, grants and policies × random statements, here and in PostgreSQL: the same rows and the same refusals.
 */
import pg from "pg";
import t from "tap";
import { type Oracle, startPostgres } from "../conformance/postgres.js";
import { open } from "../conformance/sql-adapter.js";
import { tries } from "../lengths.js";

const SCHEMAS = tries(6);
const STATEMENTS = 40;
const ROLES = ["r0", "r1", "r2", "r3"];
const TABLES = ["t0", "t1", "t2"];
/** MERGE of a table with policies and triggers is not supported here (0A000). */
const TRIGGERED = "t2";
const COLUMNS = ["id", "who", "grp", "n"];

/** A small generator of its own, so that a seed repeats a run (Numerical Recipes' LCG). */
class Chance {
  constructor(private state: number) {}

  below(n: number): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.state / 2 ** 32) * n);
  }

  one<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  some<T>(items: readonly T[]): T[] {
    const chosen = items.filter(() => this.below(2) === 0);
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
    `exists (select from ${c.one(others)} o where o.grp = grp)`,
    `id in (select n from ${c.one(others)})`,
  ]);

function* definitions(c: Chance): Iterable<string> {
  for (const [i, role] of ROLES.entries()) {
    yield `create role ${role} ${c.one(["", "", "noinherit", c.below(3) === 0 ? "bypassrls" : ""])}`;
    if (i > 0 && c.below(2) === 0) yield `grant ${ROLES[c.below(i)]} to ${role}`;
  }
  for (const table of TABLES) {
    yield `create table ${table} (id int primary key, who text, grp int, n int check (n < 1000))`;
    yield `revoke all on ${table} from member`;
    for (let id = 0; id < 8; id++) {
      yield `insert into ${table} values (${id}, '${c.one(ROLES)}', ${c.below(3)}, ${c.below(8)})`;
    }
    if (c.below(2) === 0) yield `alter table ${table} owner to ${c.one(ROLES)}`;
  }
  for (const [i, table] of TABLES.entries()) {
    yield `create view v${i} as select id, who, n from ${table} where n > 1`;
    yield `revoke all on v${i} from member`;
    if (c.below(2) === 0) yield `alter view v${i} owner to ${c.one(ROLES)}`;
    if (c.below(3) === 0) yield `alter view v${i} set (security_invoker = true)`;
    for (const role of ROLES) {
      if (c.below(4) > 0)
        yield `grant ${c.some(["select", "insert", "update", "delete"]).join(", ")} on ${table} to ${role}`;
      if (c.below(3) === 0)
        yield `grant ${c.one(["select", "update", "insert"])} (${c.some(COLUMNS)}) on ${table} to ${role}`;
      if (c.below(2) === 0)
        yield `grant ${c.some(["select", "insert", "update", "delete"]).join(", ")} on v${i} to ${role}`;
      if (c.below(8) === 0) yield `revoke ${c.one(["select", "all"])} on ${table} from ${role}`;
    }
    if (c.below(4) === 0) continue;
    yield `alter table ${table} enable row level security`;
    if (c.below(3) === 0) yield `alter table ${table} force row level security`;
    // A policy that reads its own table, or one that reads it, would never end: they read later tables alone.
    const later = TABLES.slice(i + 1);
    for (let p = 0; p < 1 + c.below(4); p++) {
      const command = c.one(["all", "all", "select", "insert", "update", "delete"]);
      const made = () =>
        later.length === 0 ? condition(c, ["t2"]).replace(/^exists.*|^id in.*/, "true") : condition(c, later);
      const using = command === "insert" ? "" : ` using (${made()})`;
      const check = command === "select" || command === "delete" || c.below(2) === 0 ? "" : ` with check (${made()})`;
      const kind = p > 0 && c.below(4) === 0 ? "as restrictive " : "";
      yield `create policy p${p} on ${table} ${kind}for ${command} to ${c.below(3) === 0 ? "public" : c.some(ROLES)}${using}${check}`;
    }
  }
}

/** Functions, triggers and rules, which read and write with the rights of their owners, or of who calls them. */
function* routines(c: Chance): Iterable<string> {
  yield "create table noted (what text)";
  yield "revoke all on noted from member";
  if (c.below(2) === 0) yield `alter table noted owner to ${c.one(ROLES)}`;
  for (const role of ROLES) if (c.below(2) === 0) yield `grant insert, select on noted to ${role}`;
  for (const [i, table] of TABLES.entries()) {
    const secure = () => c.one(["security definer", "security invoker"]);
    const select = `select count(*) from ${table} where n > ${c.below(4)}`;
    yield `create function f${i}() returns bigint language sql ${secure()} ${c.one([`begin atomic ${select}; end`, `as '${select}'`])}`;
    yield `create function g${i}(int) returns int language sql ${secure()} begin atomic update ${table} set n = n + 1 where id = $1 returning n; end`;
    for (const name of [`f${i}()`, `g${i}(int)`]) {
      if (c.below(3) > 0) yield `alter function ${name} owner to ${c.one(ROLES)}`;
      yield `revoke all on function ${name} from member`;
      if (c.below(3) > 0) yield `grant execute on function ${name} to public`;
      else yield `revoke execute on function ${name} from public`;
      if (c.below(3) === 0) yield `grant execute on function ${name} to ${c.one(ROLES)}`;
    }
    if (table === TRIGGERED && c.below(2) === 0) {
      yield `create function h${i}() returns trigger language plpgsql ${secure()} as $$ begin insert into noted values ('${table}'); return new; end $$`;
      if (c.below(2) === 0) yield `alter function h${i}() owner to ${c.one(ROLES)}`;
      yield `create trigger h after ${c.one(["insert", "update", "insert or update"])} on ${table} for each row execute function h${i}()`;
    }
  }
}

function routineCall(c: Chance): string {
  const i = c.below(TABLES.length);
  return c.one([
    ...[`select f${i}()`, `select g${i}(${c.below(9)})`, "select what from noted", `select f${i}() from v${i} limit 1`],
    `with x as (delete from t${i} where id = ${c.below(10)} returning id) select * from x`,
    `with x as (update t${i} set n = 1 where id = ${c.below(10)} returning id, n) select x.id from x join v${i} y using (id)`,
    `select id from t${i} where n = ${c.below(6)} order by id for update`,
  ]);
}

function merge(c: Chance, at: string): string {
  const source = `(values (${c.below(10)}, ${c.below(8)}), (${10 + c.below(500)}, 1)) s (id, n)`;
  const when = c.one(["", "", ` and t.n > ${c.below(6)}`, " and s.n > 3"]);
  const matched = c.one([
    ...["update set n = s.n", "update set n = t.n + 1, who = current_user", `update set who = '${c.one(ROLES)}'`],
    ...["delete", "do nothing"],
  ]);
  const inserted = c.one([
    ...[`insert values (s.id, '${c.one(ROLES)}', ${c.below(3)}, s.n)`, "insert (id, n) values (s.id, s.n)"],
    ...["insert (id, who) values (s.id, current_user)", "do nothing"],
  ]);
  const parts = [`when matched${when} then ${matched}`, `when not matched then ${inserted}`];
  return `merge into ${at} t using ${source} on t.id = s.id ${c.some(parts).join(" ")}`;
}

function statement(c: Chance): string {
  const at = c.one([...TABLES, ...TABLES, "v0", "v1", "v2"]);
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
    case 5: {
      const values = { id: `${10 + c.below(500)}`, who: `'${c.one(ROLES)}'`, grp: `${c.below(3)}`, n: `${c.below(8)}` };
      const given = ["id", ...columns.filter((column) => column !== "id" && c.below(3) > 0)] as (keyof typeof values)[];
      const returning = c.one(["", "", " returning id", " returning *"]);
      // Of rows that are there, too. A view's policies are its owner's.
      if (c.below(2) === 0 && !at.startsWith("v")) values.id = `${c.below(10)}`;
      const set = c.one(["n = 3", `n = ${at}.n + 1`, "who = excluded.who", `grp = ${c.below(3)}`]);
      const conflict = at.startsWith("v")
        ? ""
        : c.one([
            "",
            " on conflict do nothing",
            " on conflict (id) do nothing",
            ...Array(3).fill(` on conflict (id) do update set ${set}`),
          ]);
      return `insert into ${at} (${given}) values (${given.map((name) => values[name])})${conflict}${returning}`;
    }
    case 6:
    case 7: {
      const set = c.one([
        "n = 3",
        "n = n + 1",
        `who = '${c.one(ROLES)}'`,
        at.startsWith("v") ? "n = 2" : "grp = 1",
        "n = 5, who = 'r1'",
      ]);
      return `update ${at} set ${set}${where}${c.one(["", "", " returning id", " returning *"])}`;
    }
    case 8:
    case 9:
      return merge(c, c.one(TABLES.filter((table) => table !== TRIGGERED)));
    default:
      return `delete from ${at} where id = ${c.below(10)}${c.one(["", " returning id"])}`;
  }
}

interface Answering {
  exec(sql: string): Promise<{ readonly rows: readonly (readonly (string | null)[])[] }>;
}

async function answer(database: Answering, sql: string): Promise<string> {
  try {
    const { rows } = await database.exec(sql);
    return rows
      .map((row) => row.map((value) => value ?? "∅").join("|"))
      .sort()
      .join("\n");
  } catch (error) {
    return `${(error as { code: string }).code}`;
  }
}

async function postgres({ directory }: Oracle): Promise<Answering & { end(): Promise<void> }> {
  const client = new pg.Client({ host: directory, user: "tester", database: "postgres" });
  await client.connect();
  const types = { getTypeParser: () => (text: string) => text };
  return {
    async exec(sql) {
      const result = await client.query({ text: sql, rowMode: "array", types } as pg.QueryArrayConfig);
      return { rows: result.fields.length === 0 ? [] : (result.rows as (string | null)[][]) };
    },
    end: () => client.end(),
  };
}

const REFUSAL = /^\d\w{4}$/;

const oracle = await startPostgres();

t.test("the same rows and refusals as in PostgreSQL", { skip: oracle === null, timeout: 3_000_000 }, async (t) => {
  t.teardown(() => oracle!.stop());
  const first = Number(process.env.SEED ?? 1);
  let refused = 0;
  let answered = 0;
  for (let seed = first; seed < first + SCHEMAS; seed++) {
    const c = new Chance(seed * 7919);
    const theirs = await postgres(oracle!);
    const ours = await open();
    for (const sql of [
      "drop schema public cascade",
      "create schema public",
      "grant usage on schema public to public",
    ]) {
      await theirs.exec(sql);
    }
    for (const role of [...ROLES, "member"]) {
      await theirs.exec(
        `do $$ begin if exists (select from pg_roles where rolname = '${role}') then drop owned by ${role}; drop role ${role}; end if; end $$`,
      );
    }
    await theirs.exec("create role member");
    const said: string[] = [];
    for (const sql of [...definitions(c), ...routines(c)]) {
      said.push(sql);
      // What a definition answers is its tag.
      const [expected, found] = [await answer(theirs, sql), await answer(ours, sql)].map(
        (text) => REFUSAL.exec(text)?.[0],
      );
      if (found !== expected) t.equal(found, expected, `seed ${seed}: ${sql}`);
    }
    for (let i = 0; i < STATEMENTS; i++) {
      const role = c.one(ROLES);
      const sql = c.below(6) === 0 ? routineCall(c) : statement(c);
      for (const database of [theirs, ours]) await database.exec(`set session authorization ${role}`);
      const [expected, found] = [await answer(theirs, sql), await answer(ours, sql)];
      if (REFUSAL.test(expected)) refused++;
      else answered++;
      for (const database of [theirs, ours]) await database.exec("reset session authorization");
      if (found !== expected) {
        t.equal(
          found,
          expected,
          `seed ${seed}, ${role}: ${sql}\n${said.filter((one) => !one.startsWith("insert")).join(";\n")}`,
        );
        break;
      }
    }
    await theirs.end();
    await ours.close();
  }
  t.ok(refused > SCHEMAS && answered > SCHEMAS, `${refused} refused, ${answered} answered`);
});
