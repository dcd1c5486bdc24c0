/**
 * An INSERT whose rows are read apart from the grammar stores what it stores when the grammar reads it. A comment
 * behind the rows makes a text long.
 */
import fc from "fast-check";
import t from "tap";
import { LONG_SQL_CHARACTERS, SQL_BYTES_MAX } from "../../src/protocol/limits.js";
import { readLongInsert } from "../../src/session/long-insert.js";
import { open } from "../conformance/sql-adapter.js";
import { tries } from "../lengths.js";

const PADDING = `/*${" ".repeat(LONG_SQL_CHARACTERS)}*/`;
const request = { checkpoint: () => undefined, shouldYield: () => false, yieldTurn: () => Promise.resolve() };

t.test("what is read apart from the grammar", async (t) => {
  const read = async (text: string) => {
    const long = await readLongInsert(text, request);
    if (long === null) return null;
    const { text: whole, starts, ends, columns } = long.rows;
    const cells = [...starts].map((start, i) => whole.slice(start, ends[i]!));
    return [long.sql, columns.map(({ kind }) => kind).join(), cells.join(" ")];
  };
  t.same(await read("INSERT INTO t VALUES (1, 'it''s')\n, ( -2 ,NULL) RETURNING a"), [
    "INSERT INTO t VALUES ($1, $2) RETURNING a",
    "int4,text",
    "1 'it''s' -2 NULL",
  ]);
  t.same(await read("insert into s.t as x (a, b, c) values(true,default,$1),(NULL,DEFAULT,$3)"), [
    "insert into s.t as x (a, b, c) values($1, $2, $3)",
    "bool,default,parameter",
    "true default $1 NULL DEFAULT $3",
  ]);
  const numbers = await read("INSERT INTO t VALUES (1, 3000000000, 1e3, 'a', NULL), (2, 1, 1, NULL, NULL)");
  t.equal(numbers?.[1], "int4,int8,numeric,text,text");
  for (const text of [
    "SELECT 1",
    "INSERT INTO t SELECT 1",
    "INSERT INTO t SELECT * FROM (VALUES (1)) v",
    "INSERT INTO t VALUES (now())",
    "INSERT INTO t VALUES ('a'::text)",
    "INSERT INTO t VALUES (E'a')",
    "INSERT INTO t VALUES (1 + 1)",
    "INSERT INTO t VALUES (1, /* one */ 2)",
    "INSERT INTO t VALUES (1, 2), (1)",
    "INSERT INTO t VALUES (1), (1, 2)",
    "INSERT INTO t VALUES (1",
    "INSERT INTO t VALUES ('a",
    "INSERT INTO t VALUES ()",
    "INSERT INTO t VALUES (1),",
    "INSERT INTO t VALUES (true), (1)",
    "INSERT INTO t VALUES (1), (DEFAULT)",
    "INSERT INTO t VALUES (1), ($1)",
    "INSERT INTO t VALUES ($1), ($2), ($4)",
    "INSERT INTO t VALUES (DEFAULT)",
    "INSERT INTO t VALUES (1_000)",
    "INSERT INTO t VALUES (0x10)",
    "WITH a AS (SELECT 1) INSERT INTO t VALUES (1)",
  ]) {
    t.equal(await readLongInsert(text, request), null, text);
  }
});

t.test("as the grammar reads it", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const execute = async (sql: string, params: readonly unknown[] = []) => (await database.exec(sql, params)).rows;
  const outcome = (sql: string): Promise<unknown> => execute(sql).catch((error: { code: string }) => error.code);
  await execute("CREATE TYPE mood AS ENUM ('sad', 'glad')");
  await execute("CREATE DOMAIN few AS int CHECK (VALUE < 100)");

  const CELLS = ["NULL", "0", "1", "-7", "007", "99.5", "1e2", "3000000000", "12345678901234567890", "true", "FALSE"];
  CELLS.push("'1'", "'it''s'", "'sad'", "'2024-02-29'", "'{1,2}'", "''", "'99'", "' 5 '", "'{\"a\": 1}'", "+3", "- 4");
  const TYPES = [
    "int",
    "smallint",
    "bigint",
    "numeric(6,1)",
    "float8",
    "text",
    "varchar(3)",
    "boolean",
    "date",
    "jsonb",
  ];
  TYPES.push("mood", "few", "int[]", "bytea", "timestamptz", "uuid", "regclass", "real", "char(4)");

  await t.test("values of every type", async (t) => {
    for (const type of TYPES) {
      await execute("DROP TABLE IF EXISTS one");
      await execute(`CREATE TABLE one (v ${type})`);
      for (const cell of CELLS) {
        const text = `INSERT INTO one VALUES (${cell}) RETURNING v`;
        t.same(await outcome(text + PADDING), await outcome(text), `${cell} as ${type}`);
      }
    }
  });

  await t.test("several rows and columns", async (t) => {
    const column = fc.record({
      type: fc.constantFrom(...TYPES),
      cells: fc.array(fc.constantFrom(...CELLS), { minLength: 3, maxLength: 3 }),
    });
    const lists = fc.array(column, { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(lists, async (columns) => {
        await execute("DROP TABLE IF EXISTS many");
        await execute(`CREATE TABLE many (${columns.map(({ type }, i) => `c${i} ${type}`).join(", ")})`);
        const rows = [0, 1, 2].map((row) => `(${columns.map(({ cells }) => cells[row]).join(", ")})`);
        const text = `INSERT INTO many VALUES ${rows.join(",\n")} RETURNING *`;
        // Of several errors another one may come first.
        const [long, short] = [await outcome(text + PADDING), await outcome(text)];
        if (Array.isArray(short)) t.same(long, short, text);
        else t.type(long, "string", text);
      }),
      { numRuns: tries(20) },
    );
  });

  /** An empty table. */
  const newItem = async () => {
    await execute("DROP TABLE IF EXISTS item");
    const columns = "id int PRIMARY KEY, name varchar(40) DEFAULT 'none', n int GENERATED ALWAYS AS (id * 2) STORED";
    await execute(`CREATE TABLE item (${columns})`);
  };
  const rows = (count: number, row: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => row(i)).join(", ");

  await t.test("more than the grammar takes", async (t) => {
    const list = rows(3000, (i) => `(${i}, 'item ${i}, of which there are several')`);
    t.ok(list.length > SQL_BYTES_MAX);
    await newItem();
    await execute(`INSERT INTO item (id, name) VALUES ${list};`);
    t.same(await execute("SELECT count(*), sum(n), max(name) FROM item"), [
      ["3000", "8997000", "item 999, of which there are several"],
    ]);
    const again = `INSERT INTO item (id, name) VALUES ${list}, (3000, 'new') ON CONFLICT (id)
      DO UPDATE SET name = upper(excluded.name) WHERE excluded.id < 3 RETURNING id, name`;
    t.same(await execute(again), [
      ["0", "ITEM 0, OF WHICH THERE ARE SEVERAL"],
      ["1", "ITEM 1, OF WHICH THERE ARE SEVERAL"],
      ["2", "ITEM 2, OF WHICH THERE ARE SEVERAL"],
      ["3000", "new"],
    ]);
    await t.rejects(execute(`INSERT INTO item (id, name) VALUES ${list}`), { code: "23505" });
    await newItem();
    const twice = `INSERT INTO item (id) VALUES ${rows(5000, (i) => `(${i % 2500})`)} ON CONFLICT (id) DO UPDATE SET name = 'x'`;
    await t.rejects(execute(twice), { code: "21000" });
    await execute(`INSERT INTO item (id, name) VALUES ${rows(2000, (i) => `(${i}, DEFAULT)`)}`);
    t.same(await execute("SELECT count(*), min(name) FROM item"), [["2000", "none"]]);
    await newItem();
  });

  await t.test("parameters", async (t) => {
    const text = `INSERT INTO item (id, name) VALUES ${rows(12_000, (i) => `($${2 * i + 1},$${2 * i + 2})`)}`;
    const params = Array.from({ length: 24_000 }, (_, i) => (i % 2 === 0 ? i / 2 : `p ${(i - 1) / 2}`));
    await execute(text, params);
    t.same(await execute("SELECT count(*), min(name), max(name) FROM item"), [["12000", "p 0", "p 9999"]]);
    await t.rejects(execute(text, params.slice(1)), { code: "08P01" });
    await newItem();
    await execute(`INSERT INTO item VALUES ($2, $1), ($4, $3)${PADDING}`, ["a", 1, "b", 2]);
    t.same(await execute("SELECT id, name FROM item"), [
      ["1", "a"],
      ["2", "b"],
    ]);
    const twice = `INSERT INTO item VALUES ($1, $1)${PADDING}`;
    await t.rejects(execute(twice, [1]), { code: "42P08" });
  });

  await t.test("errors", async (t) => {
    const list = rows(10_000, (i) => `(${i}, '😀')`);
    const place = async (text: string, word: string) => {
      const { position } = (await execute(text).catch((error: unknown) => error)) as { position: number };
      t.equal([...text].slice(position - 1, position - 1 + word.length).join(""), word);
    };
    await place(`INSERT INTO item (id, name) VALUES ${list} RETURNING missing`, "missing");
    await place(`INSERT INTO item (id, nix) VALUES ${list} RETURNING id`, "nix");
    await place(`INSERT INTO item (id, name) VALUES ${list} RETURNING id FROM`, "FROM");
    const others = rows(8000, (i) => `(${i + 20_000}, 'row ${i}')`);
    t.same(await execute(`INSERT INTO item (id, name) VALUES ${others}, (90000, upper('a')) RETURNING id`), [
      ...Array.from({ length: 8000 }, (_, i) => [String(i + 20_000)]),
      ["90000"],
    ]);
    t.same(await execute(`INSERT INTO item (id) VALUES ${rows(9000, (i) => `(${i + 30_000})`)} LIMIT 2 RETURNING id`), [
      ["30000"],
      ["30001"],
    ]);
    const tooLong = `INSERT INTO item (id) VALUES ${rows(9000, (i) => `(length('${i}'))`)}`;
    await t.rejects(execute(tooLong), { code: "query_too_long", hint: /parameters/ });
  });
});
