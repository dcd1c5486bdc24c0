/** FOREIGN KEY: checks, actions, timing, and a random history against a model. */
import fc from "fast-check";
import t from "tap";
import { script } from "./sql-script.js";

t.test("checks of both ends", async (t) => {
  const { rows, fails, run } = await script(t);
  await run(
    "create table p (id int primary key, code text unique)",
    "create table c (id int primary key, p_id int references p, code text references p (code))",
    "insert into p values (1, 'a'), (2, 'b')",
    "insert into c values (10, 1, 'b'), (11, null, null)",
  );
  t.equal(
    await fails("insert into c values (12, 3, null)"),
    '23503 insert or update on table "c" violates foreign key constraint "c_p_id_fkey"',
  );
  t.equal(
    await fails("update c set code = 'x' where id = 10"),
    '23503 insert or update on table "c" violates foreign key constraint "c_code_fkey"',
  );
  t.equal(
    await fails("delete from p where id = 1"),
    '23503 update or delete on table "p" violates foreign key constraint "c_p_id_fkey" on table "c"',
  );
  await run("update p set id = id where id = 1", "delete from c where id = 10", "delete from p where id = 1");
  t.same(await rows("select id from p"), ["2"]);
  t.match(await fails("drop table p"), /^2BP01 cannot drop table p because other objects depend on it/);
  t.match(await fails("truncate p"), /^0A000 cannot truncate a table referenced in a foreign key constraint/);
  await run("drop table p cascade", "insert into c values (13, 99, 'zzz')");
});

t.test("rows of one statement may refer to each other", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create table tree (id int primary key, parent int references tree on delete cascade)",
    "insert into tree values (3, 2), (2, 1), (1, null), (9, 9)",
    "delete from tree where id = 1",
  );
  t.same(await rows("select id from tree"), ["9"]);
  await run("delete from tree");
  t.match(await fails("insert into tree values (1, 2)"), /^23503/);
});

t.test("actions", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create table p (a int, b int, primary key (a, b))",
    "create table cascades (x int, y int, foreign key (x, y) references p on delete cascade on update cascade)",
    "create table nulls (x int, y int, z int, foreign key (x, y) references p on delete set null (y) on update set null)",
    "create table defaults (x int default 7, y int default 7, foreign key (x, y) references p on delete set default)",
    "insert into p values (1, 1), (2, 2), (7, 7)",
    "insert into cascades values (1, 1), (2, 2)",
    "insert into nulls values (1, 1, 1), (2, 2, 2)",
    "insert into defaults values (1, 1)",
    "update p set b = 20 where a = 2",
    "delete from p where a = 1",
  );
  t.same(await rows("select * from cascades"), ["2|20"]);
  t.same(await rows("select * from nulls order by z"), ["1|∅|1", "∅|∅|2"]);
  t.same(await rows("select * from defaults"), ["7|7"]);
  t.match(await fails("delete from p where a = 7"), /^23503 update or delete on table "p"/);
});

t.test("match full takes no half key", async (t) => {
  const { run, fails } = await script(t);
  await run(
    "create table p (a int, b int, primary key (a, b))",
    "create table c (a int, b int, foreign key (a, b) references p match full)",
    "insert into c values (null, null)",
  );
  t.match(await fails("insert into c values (1, null)"), /^23503/);
});

t.test("deferred checks wait for the end, immediate ones for the statement's", async (t) => {
  const { run, fails, rows } = await script(t);
  await run(
    "create table p (id int primary key)",
    "create table c (p int constraint to_p references p deferrable initially deferred)",
    "begin",
    "insert into c values (1)",
    "insert into p values (1)",
    "commit",
    "begin",
    "insert into c values (2)",
  );
  t.match(await fails("commit"), /^23503/);
  t.same(await rows("select * from c"), ["1"]);
  await run("begin", "insert into c values (2)");
  t.match(await fails("set constraints to_p immediate"), /^23503/);
  await run("rollback", "begin", "savepoint s", "insert into c values (5)", "rollback to s", "commit");
  await run("begin", "set constraints all immediate");
  t.match(await fails("insert into c values (3)"), /^23503/);
  await run("rollback");
});

t.test("definitions", async (t) => {
  const { run, fails, rows } = await script(t);
  await run("create table p (id bigint primary key, x text)", "create table c (p int)", "insert into c values (5)");
  t.match(await fails("alter table c add foreign key (p) references p"), /^23503/);
  await run("alter table c add constraint k foreign key (p) references p not valid");
  t.match(await fails("alter table c validate constraint k"), /^23503/);
  await run("insert into p values (5)", "alter table c validate constraint k");
  t.match(await fails("alter table p drop constraint p_pkey"), /^2BP01/);
  t.match(await fails("alter table p drop column id"), /^2BP01/);
  t.match(await fails("create table d (x text references p)"), /^42804/);
  t.match(await fails("create table d (x text references p (x))"), /^42830/);
  await run("alter table p rename to q", "alter table q rename id to key", "alter table c rename p to q_key");
  t.match(await fails("insert into c values (6)"), /^23503/);
  await run("alter table q drop column key cascade", "insert into c values (6)");
  t.same(await rows("select * from c order by 1"), ["5", "6"]);
});

type Step =
  | { readonly kind: "insert parent" | "delete parent" | "delete child"; readonly id: number }
  | { readonly kind: "insert child"; readonly id: number; readonly parent: number | null }
  | { readonly kind: "move parent" | "move child"; readonly id: number; readonly to: number };

const small = fc.integer({ min: 1, max: 6 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom("insert parent", "delete parent", "delete child"), id: small }),
  fc.record({ kind: fc.constant("insert child"), id: small, parent: fc.option(small) }),
  fc.record({ kind: fc.constantFrom("move parent", "move child"), id: small, to: small }),
) as fc.Arbitrary<Step>;

/** What the step does to the two tables; false: it must be refused. */
function model(parents: Set<number>, children: Map<number, number | null>, step: Step): boolean {
  switch (step.kind) {
    case "insert parent":
      if (parents.has(step.id)) return false;
      parents.add(step.id);
      return true;
    case "delete parent":
      parents.delete(step.id);
      for (const [id, parent] of children) if (parent === step.id) children.delete(id);
      return true;
    case "delete child":
      children.delete(step.id);
      return true;
    case "insert child":
      if (children.has(step.id) || (step.parent !== null && !parents.has(step.parent))) return false;
      children.set(step.id, step.parent);
      return true;
    case "move parent":
      if (!parents.has(step.id) || step.id === step.to) return true;
      if (parents.has(step.to)) return false;
      parents.delete(step.id);
      parents.add(step.to);
      for (const [id, parent] of children) if (parent === step.id) children.set(id, null);
      return true;
    case "move child":
      if (!children.has(step.id)) return true;
      if (!parents.has(step.to)) return false;
      children.set(step.id, step.to);
      return true;
  }
}

const SQL: Record<Step["kind"], (step: never) => string> = {
  "insert parent": ({ id }: { id: number }) => `insert into p values (${id})`,
  "delete parent": ({ id }: { id: number }) => `delete from p where id = ${id}`,
  "delete child": ({ id }: { id: number }) => `delete from c where id = ${id}`,
  "insert child": ({ id, parent }: { id: number; parent: number | null }) => `insert into c values (${id}, ${parent})`,
  "move parent": ({ id, to }: { id: number; to: number }) => `update p set id = ${to} where id = ${id}`,
  "move child": ({ id, to }: { id: number; to: number }) => `update c set p = ${to} where id = ${id}`,
};

t.test("a random history", async (t) => {
  const { run, rows } = await script(t);
  let number = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.boolean(), async (steps, indexed) => {
      await run(
        `drop table if exists c, p`,
        "create table p (id int primary key)",
        "create table c (id int primary key, p int references p on delete cascade on update set null)",
      );
      if (indexed) await run(`create index i${number++} on c (p)`);
      const parents = new Set<number>();
      const children = new Map<number, number | null>();
      for (const step of steps) {
        const before = [new Set(parents), new Map(children)] as const;
        const accepted = model(parents, children, step);
        if (!accepted) {
          parents.clear();
          for (const id of before[0]) parents.add(id);
          children.clear();
          for (const [id, parent] of before[1]) children.set(id, parent);
        }
        let done = true;
        try {
          await run(SQL[step.kind](step as never));
        } catch {
          done = false;
        }
        if (done !== accepted) throw new Error(`${JSON.stringify(step)}: ${done ? "done" : "refused"}`);
      }
      const expected = [...children].sort(([a], [b]) => a - b).map(([id, parent]) => `${id}|${parent ?? "∅"}`);
      t.same(await rows("select * from c order by id"), expected);
      t.same(await rows("select id from p order by id"), [...parents].sort((a, b) => a - b).map(String));
    }),
    { numRuns: 60 },
  );
});

t.test("many rows at once are what they are one after the other", async (t) => {
  const [many, single] = [await script(t), await script(t)];
  const actions = ["cascade", "set null", "set default"];
  const children = actions.flatMap((action, n) => [
    `create table one${n} (x bigint default 5, n int, foreign key (x) references p (id) on delete ${action} on update ${action})`,
    `create table two${n} (a int default 5, b text default 'b5', n int,
       foreign key (a, b) references p (id, name) on delete ${action} on update ${action})`,
    `create table three${n} (b text, a int, n int, foreign key (a, b) references p (id, name)
       on delete ${action === "set default" ? "set null (b)" : action})`,
  ]);
  const tables = actions.flatMap((_, n) => [`one${n}`, `two${n}`, `three${n}`]);
  for (const { run } of [many, single]) {
    await run(
      "create table p (id int primary key, name text, unique (id, name))",
      ...children,
      "create index on two1 (b, a)",
      "insert into p select g, 'b' || g from generate_series(1, 60) g",
      ...tables.map((table) => {
        const columns = table.startsWith("one") ? "x, n" : "a, b, n";
        const values = table.startsWith("one") ? "g % 55 + 1, g" : "g % 55 + 1, 'b' || (g % 55 + 1), g";
        return `insert into ${table} (${columns}) select ${values} from generate_series(1, 200) g`;
      }),
    );
  }
  await many.run("delete from p where id between 6 and 30");
  await many.run("update three0 set b = null, a = null", "update three1 set a = null", "update three2 set a = null");
  await many.run("update p set id = id + 100 where id > 30");
  for (let id = 6; id <= 30; id++) await single.run(`delete from p where id = ${id}`);
  await single.run("update three0 set b = null, a = null", "update three1 set a = null", "update three2 set a = null");
  for (let id = 31; id <= 60; id++) await single.run(`update p set id = id + 100 where id = ${id}`);
  for (const table of ["p", ...tables]) {
    const sql = `select * from ${table} order by ${table}::text`;
    const expected = await single.rows(sql);
    t.not(expected.length, 0);
    t.same(await many.rows(sql), expected, table);
  }
});

t.test("the first of many rows that may not go is named; deferred checks, chains, trees and partitions", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create table p (id int primary key)",
    "create table c (id int primary key, p int references p deferrable)",
    "insert into p select g from generate_series(1, 100) g",
    "insert into c values (1, 77), (2, 33), (3, 55)",
  );
  const refused = '23503 update or delete on table "p" violates foreign key constraint "c_p_fkey" on table "c"';
  t.equal(await fails("delete from p"), refused);
  t.equal(await fails("update p set id = id + 1000"), refused);
  await run("begin", "set constraints all deferred", "delete from p where id > 20", "delete from c", "commit");
  t.same(await rows("select count(*) from p"), ["20"]);
  await run("insert into c select g, g from generate_series(1, 20) g");
  // Keys that change hands: each of the old ones is somebody's new one.
  await run("update p set id = id % 20 + 1");
  t.same(await rows("select count(*) from c join p on c.p = p.id"), ["20"]);
  await run(
    "create table tree (id int primary key, parent int references tree on delete cascade)",
    "insert into tree select g, nullif(g / 3, 0) from generate_series(1, 3000) g",
    "delete from tree where id between 1 and 1",
  );
  t.same(await rows("select count(*), min(id) from tree where parent is not null"), ["1092|6"]);
  await run(
    "create table root (id int primary key) partition by range (id)",
    "create table low partition of root for values from (0) to (50)",
    "create table high partition of root for values from (50) to (200)",
    "create table leaf (id int references root on update cascade on delete cascade)",
    "insert into root select g from generate_series(0, 79) g",
    "insert into leaf select g from generate_series(0, 79) g",
    "update root set id = id + 100 where id between 40 and 49",
    "delete from root where id between 0 and 19 or id between 60 and 69",
  );
  t.same(await rows("select count(*), min(id), max(id) from leaf"), ["50|20|149"]);
});
