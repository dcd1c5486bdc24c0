/** Tables that inherit from others: what they take over, and what statements on the parent read and change. */
import { test } from "tap";
import { open } from "../conformance/sql-adapter.js";
import { checkStatements } from "./run-sql.js";

const FAMILY = [
  ["CREATE TABLE a (aa text, k int PRIMARY KEY)"],
  ["CREATE TABLE b (bb text) INHERITS (a)"],
  ["CREATE TABLE c (cc text) INHERITS (a)"],
  ["CREATE TABLE d (dd text) INHERITS (b, c, a)"],
  ["INSERT INTO a VALUES ('a', 1), ('aa', 2)"],
  ["INSERT INTO b VALUES ('b', 3, 'x')"],
  ["INSERT INTO c VALUES ('c', 4, 'y')"],
  ["INSERT INTO d (aa, k, dd, cc, bb) VALUES ('d', 5, 'dd', 'cc', 'bb')"],
] as const;

test("a query on the parent reads its descendants, each once", async (t) => {
  await checkStatements(t, [
    ...FAMILY,
    ["SELECT tableoid::regclass::text, * FROM a", ["a|a|1", "a|aa|2", "b|b|3", "c|c|4", "d|d|5"]],
    ["SELECT * FROM ONLY a", ["a|1", "aa|2"]],
    ["SELECT k FROM a* WHERE k > 3", ["4", "5"]],
    ["SELECT * FROM d", ["d|5|bb|cc|dd"]],
    ["SELECT p FROM b p", ["(b,3,x)", "(d,5,bb)"]],
    ["SELECT tableoid::regclass::text, k FROM a WHERE tableoid = 'd'::regclass", ["d|5"]],
    ["SELECT x, a.tableoid::regclass::text FROM (VALUES (4), (9)) v(x) LEFT JOIN a ON k = x", ["4|c", "9|∅"]],
    ["SELECT x, c.tableoid::regclass::text FROM (VALUES (4), (9)) v(x) LEFT JOIN ONLY c ON k = x", ["4|c", "9|∅"]],
    ["SELECT max(k), min(k), count(*) FROM a", ["5|1|5"]],
    ["SELECT d::b::a FROM d", ["(d,5)"]],
    ["SELECT NULL::d::a", ["∅"]],
    ["SELECT a::b FROM ONLY a", "42846 cannot cast type a to b"],
    ["SELECT tableoid FROM a, b", '42702 column reference "tableoid" is ambiguous'],
  ]);
});

test("rows of a family come in the order of their indexes, merged", async (t) => {
  await checkStatements(t, [
    ...FAMILY,
    ...["b", "c", "d"].map((table) => [`CREATE INDEX ON ${table} (k)`] as const),
    ["INSERT INTO c SELECT 'c', n FROM generate_series(10, 3000, 2) n"],
    ["INSERT INTO d (aa, k) SELECT 'd', n FROM generate_series(11, 3000, 2) n"],
    ["SELECT k FROM a ORDER BY k LIMIT 7", ["1", "2", "3", "4", "5", "10", "11"]],
    ["SELECT k, tableoid::regclass::text FROM a ORDER BY k DESC LIMIT 2", ["3000|c", "2999|d"]],
    ["SELECT count(*) FROM (SELECT k, lag(k) OVER (ORDER BY k) AS before FROM a) s WHERE k <= before", ["0"]],
  ]);
});

test("columns of several parents and of the table itself are merged", async (t) => {
  await checkStatements(t, [
    ["CREATE TABLE p1 (a int NOT NULL DEFAULT 1, b text, CHECK (a > 0))"],
    ["CREATE TABLE p2 (c int, b text, a int)"],
    ["CREATE TABLE h (x int, b text DEFAULT 'own', a int) INHERITS (p1, p2)"],
    ["INSERT INTO h (c, x) VALUES (7, 8)"],
    ["SELECT * FROM h", ["1|own|7|8"]],
    ["INSERT INTO h (a) VALUES (0)", '23514 new row for relation "h" violates check constraint "p1_a_check"'],
    ["INSERT INTO h (a) VALUES (NULL)", '23502 null value in column "a" of relation "h" violates not-null constraint'],
    ["CREATE TABLE q (b int) INHERITS (p1)", '42804 column "b" has a type conflict'],
    ["CREATE TABLE p3 (a bigint)"],
    ["CREATE TABLE q () INHERITS (p1, p3)", '42804 inherited column "a" has a type conflict'],
    ["CREATE TABLE p4 (a int DEFAULT 2)"],
    ["CREATE TABLE q () INHERITS (p1, p4)", '42611 column "a" inherits conflicting default values'],
    ["CREATE TABLE q (a int DEFAULT 3) INHERITS (p1, p4)"],
    ["CREATE TABLE r () INHERITS (p1, p1)", '42P07 relation "p1" would be inherited from more than once'],
    [
      "CREATE TABLE s (CONSTRAINT p1_a_check CHECK (a > 1)) INHERITS (p1)",
      '42710 constraint "p1_a_check" for relation "s" already exists',
    ],
    ["CREATE TABLE n (a int, CHECK (a > 5) NO INHERIT)"],
    ["CREATE TABLE o () INHERITS (n)"],
    ["INSERT INTO o VALUES (1)"],
  ]);
});

test("DROP TABLE needs CASCADE for tables that inherit", async (t) => {
  await checkStatements(t, [
    ...FAMILY,
    ["CREATE VIEW v AS SELECT dd FROM d"],
    ["DROP TABLE b", "2BP01 cannot drop table b because other objects depend on it"],
    ["DROP TABLE a CASCADE"],
    ["SELECT count(*) FROM pg_class WHERE relname IN ('a', 'b', 'c', 'd', 'v')", ["0"]],
    ["CREATE TABLE a (x int)"],
    ["CREATE TABLE b () INHERITS (a)"],
    ["DROP TABLE b"],
    ["DROP TABLE a"],
  ]);
});

test("UPDATE and DELETE change descendants as their own tables have them", async (t) => {
  await checkStatements(t, [
    ["CREATE TABLE a (aa text, k int CHECK (k < 100))"],
    ["CREATE TABLE b (bb text, UNIQUE (k)) INHERITS (a)"],
    ["CREATE TABLE c (n int GENERATED ALWAYS AS (length(aa)) STORED, CHECK (length(aa) < 6)) INHERITS (a)"],
    ["CREATE TABLE d (dd text DEFAULT 'D') INHERITS (b, c)"],
    ["INSERT INTO a VALUES ('a', 1)"],
    ["INSERT INTO b VALUES ('b', 2, 'B')"],
    ["INSERT INTO c (aa, k) VALUES ('c', 3)"],
    ["INSERT INTO d (aa, k, bb) VALUES ('d', 4, 'B')"],
    [
      "UPDATE a SET aa = aa || '!', k = k + 1 WHERE k > 1 RETURNING tableoid::regclass::text, *",
      ["b|b!|3", "c|c!|4", "d|d!|5"],
    ],
    ["SELECT * FROM d", ["d!|5|B|2|D"]],
    ["SELECT k FROM b WHERE k = 3", ["3"]],
    ["UPDATE a SET aa = 'longer' WHERE k = 4", '23514 new row for relation "c" violates check constraint "c_aa_check"'],
    ["UPDATE a SET k = 100", '23514 new row for relation "a" violates check constraint "a_k_check"'],
    ["UPDATE ONLY a SET aa = 'only' RETURNING *", ["only|1"]],
    [
      "UPDATE a SET aa = x FROM (VALUES (1, 'one'), (5, 'five')) v(i, x) WHERE i = k RETURNING i, a.*",
      ["1|one|1", "5|five|5"],
    ],
    [
      "WITH u AS (UPDATE a SET k = 50 RETURNING k), z AS (DELETE FROM a RETURNING k) SELECT (SELECT count(*) FROM u), (SELECT count(*) FROM z)",
      ["4|0"],
    ],
    [
      "DELETE FROM a USING (VALUES ('five')) v(x) WHERE aa = x RETURNING a.*, a.tableoid::regclass::text",
      ["five|50|d"],
    ],
    ["DELETE FROM ONLY a"],
    ["SELECT tableoid::regclass::text, * FROM a", ["b|b!|50", "c|c!|50"]],
    ["DELETE FROM a"],
    ["SELECT count(*) FROM a", ["0"]],
  ]);
});

test("MERGE and TRUNCATE reach descendants, foreign keys do not", async (t) => {
  await checkStatements(t, [
    ["CREATE TABLE a (k int PRIMARY KEY, v text)"],
    ["CREATE TABLE b (e int DEFAULT 7) INHERITS (a)"],
    ["CREATE TABLE f (k int REFERENCES a)"],
    ["INSERT INTO a VALUES (1, 'a1'), (2, 'a2')"],
    ["INSERT INTO b VALUES (3, 'b3', 30), (4, 'b4', 40)"],
    ["INSERT INTO f VALUES (3)", '23503 insert or update on table "f" violates foreign key constraint "f_k_fkey"'],
    [
      `MERGE INTO a USING (VALUES (1, 'x'), (3, 'y'), (4, 'z'), (9, 'n')) s (k, v) ON a.k = s.k
       WHEN MATCHED AND a.k = 4 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v
       WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.v)`,
    ],
    ["SELECT tableoid::regclass::text, * FROM a ORDER BY k", ["a|1|x", "a|2|a2", "b|3|y", "a|9|n"]],
    ["SELECT * FROM b", ["3|y|30"]],
    ["DROP TABLE f"],
    ["TRUNCATE ONLY a"],
    ["SELECT * FROM a", ["3|y"]],
    ["TRUNCATE a"],
    ["SELECT count(*) FROM a", ["0"]],
  ]);
});

const INDEXED = [
  ["CREATE TABLE a (k int PRIMARY KEY, v text)"],
  ["CREATE TABLE b (PRIMARY KEY (k)) INHERITS (a)"],
  ["CREATE TABLE c (x int) INHERITS (a)"],
  ["CREATE INDEX ON c (k)"],
  ["INSERT INTO b SELECT n, 'b' || n FROM generate_series(1, 5000) n"],
  ["INSERT INTO c SELECT n, 'c' || n, n FROM generate_series(4000, 9000) n"],
  ["ANALYZE"],
] as const;

test("conditions, joins, orders and extremes use the indexes of each table", async (t) => {
  await checkStatements(t, [
    ...INDEXED,
    [
      "EXPLAIN (COSTS OFF) SELECT v FROM a WHERE k = 4500",
      [
        "Append on a",
        "  ->  Point Get using a_pkey on a",
        "        Index Cond: (k = 4500)",
        "  ->  Point Get using b_pkey on b",
        "        Index Cond: (k = 4500)",
        "  ->  Index Scan using c_k_idx on c",
        "        Index Cond: (k = 4500)",
      ],
    ],
    ["SELECT v FROM a WHERE k = 4500", ["b4500", "c4500"]],
    [
      "EXPLAIN (COSTS OFF) SELECT q.x, v FROM (VALUES (1), (4500)) q (x) LEFT JOIN a ON k = q.x",
      [
        "Lateral Nested Loop Left Join",
        "  ->  Values Scan",
        "        Rows: 2",
        "  ->  Append on a",
        "        ->  Point Get using a_pkey on a",
        "              Index Cond: (k = q.x)",
        "        ->  Point Get using b_pkey on b",
        "              Index Cond: (k = q.x)",
        "        ->  Index Scan using c_k_idx on c",
        "              Index Cond: (k = q.x)",
      ],
    ],
    [
      "SELECT q.x, v FROM (VALUES (0), (1), (4500)) q (x) LEFT JOIN a ON k = q.x",
      ["0|∅", "1|b1", "4500|b4500", "4500|c4500"],
    ],
    [
      "EXPLAIN (COSTS OFF) SELECT max(k) FROM a",
      [
        "Aggregate",
        "  Calls: max(a.k)",
        "  ->  Limit",
        "        Limit: 1",
        "        ->  Merge Append on a",
        "              Sort Key: a.k DESC",
        "              ->  Seq Scan Backward on a",
        "              ->  Seq Scan Backward on b",
        "              ->  Index Only Scan Backward using c_k_idx on c",
      ],
    ],
    ["SELECT max(k) FROM a", ["9000"]],
    ["SELECT min(k) FROM a WHERE k > 4999", ["5000"]],
  ]);
});

test("a family answers as the union of its tables does", async (t) => {
  const union = "(SELECT k, v FROM ONLY a UNION ALL SELECT k, v FROM b UNION ALL SELECT k, v FROM c)";
  const queries = (rows: string) => [
    `SELECT count(*), sum(k), min(v), max(v) FROM ${rows} r`,
    `SELECT k % 7, count(*), max(v) FROM ${rows} r WHERE k BETWEEN 3000 AND 6000 GROUP BY 1 ORDER BY 1`,
    `SELECT k, v FROM ${rows} r WHERE v LIKE '%99' ORDER BY k DESC, v LIMIT 20 OFFSET 3`,
    `SELECT DISTINCT k / 1000 FROM ${rows} r ORDER BY 1`,
    `SELECT r.k, s.v FROM ${rows} r JOIN ${rows} s ON r.k = s.k + 1 WHERE r.k IN (10, 4100, 8999) ORDER BY 1, 2`,
    `SELECT g FROM generate_series(4990, 5010) g WHERE NOT EXISTS (SELECT FROM ${rows} r WHERE r.k = g AND v < 'c') ORDER BY 1`,
    `SELECT k, rank() OVER (ORDER BY k, v) FROM ${rows} r ORDER BY 2 LIMIT 5`,
    `SELECT g, (SELECT max(v) FROM ${rows} r WHERE r.k < g) FROM generate_series(1, 9000, 3000) g`,
  ];
  const database = await open();
  for (const [sql] of INDEXED) await database.exec(sql);
  const [family, tables] = [queries("a"), queries(union)];
  for (const [i, sql] of family.entries()) {
    const [found, expected] = [await database.exec(sql), await database.exec(tables[i]!)];
    t.ok(found.rows.length > 0, `${sql} has rows`);
    t.same(found.rows, expected.rows, sql);
  }
  await database.close();
});
