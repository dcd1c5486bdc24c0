/** ALTER TABLE over a family of tables: what follows, what may not be left behind, and what the catalog counts. */
import { test } from "tap";
import { checkStatements } from "./run-sql.js";

const FAMILY = [
  ["CREATE TABLE p (a int, b text)"],
  ["CREATE TABLE c (x int) INHERITS (p)"],
  ["CREATE TABLE g (y int) INHERITS (c)"],
  ["INSERT INTO p VALUES (1, 'p')"],
  ["INSERT INTO c VALUES (2, 'c', 20)"],
  ["INSERT INTO g VALUES (3, 'g', 30, 300)"],
] as const;

const COLUMNS = `SELECT attrelid::regclass::text, attname, attinhcount, attislocal FROM pg_attribute
  WHERE NOT attisdropped AND attrelid IN ('p'::regclass, 'c'::regclass, 'g'::regclass) ORDER BY 1, 2`;
const CONSTRAINTS = `SELECT conrelid::regclass::text, conname, coninhcount, conislocal, connoinherit FROM pg_constraint
  WHERE contype = 'c' ORDER BY 1, 2`;

test("columns are added, renamed, retyped and dropped in all tables", async (t) => {
  await checkStatements(t, [
    ...FAMILY,
    ["ALTER TABLE p ADD COLUMN n int DEFAULT 7"],
    ["ALTER TABLE p ADD COLUMN s serial"],
    ["SELECT tableoid::regclass::text, * FROM p", ["p|1|p|7|1", "c|2|c|7|2", "g|3|g|7|3"]],
    ["ALTER TABLE ONLY p ADD COLUMN z int", "42P16 column must be added to child tables too"],
    [
      "ALTER TABLE p ADD COLUMN i int GENERATED ALWAYS AS IDENTITY",
      "42P16 cannot recursively add identity column to table that has child tables",
    ],
    ["ALTER TABLE p RENAME b TO bb"],
    ["ALTER TABLE ONLY p RENAME a TO aa", '42P16 inherited column "a" must be renamed in child tables too'],
    ["ALTER TABLE c RENAME a TO aa", '42P16 cannot rename inherited column "a"'],
    ["ALTER TABLE p ALTER a TYPE numeric(5, 1) USING a * 1.5"],
    ["SELECT * FROM g", ["4.5|g|30|300|7|3"]],
    ["ALTER TABLE c ALTER a TYPE text", '42P16 cannot alter inherited column "a"'],
    ["ALTER TABLE ONLY p ALTER a TYPE text", '42P16 type of inherited column "a" must be changed in child tables too'],
    ["ALTER TABLE p ALTER bb SET NOT NULL, ALTER a SET DEFAULT 9"],
    ["INSERT INTO g (y) VALUES (1)", '23502 null value in column "bb" of relation "g" violates not-null constraint'],
    ["INSERT INTO g (bb) VALUES ('new')"],
    ["SELECT a, bb FROM g", ["4.5|g", "9.0|new"]],
    ["ALTER TABLE c DROP COLUMN n", '42P16 cannot drop inherited column "n"'],
    ["ALTER TABLE ONLY p DROP COLUMN s", "2BP01 cannot drop column s of table p because other objects depend on it"],
    ["ALTER TABLE p DROP COLUMN n, DROP COLUMN s"],
    ["SELECT * FROM g WHERE bb = 'g'", ["4.5|g|30|300"]],
    ["ALTER TABLE ONLY p DROP COLUMN bb"],
    [
      COLUMNS,
      [
        "c|a|1|false",
        "c|bb|0|true",
        "c|x|0|true",
        "g|a|1|false",
        "g|bb|1|false",
        "g|x|1|false",
        "g|y|0|true",
        "p|a|0|true",
      ],
    ],
  ]);
});

test("a column that a child has already is merged", async (t) => {
  await checkStatements(t, [
    ...FAMILY,
    ["ALTER TABLE p ADD COLUMN x text", '42804 child table "c" has different type for column "x"'],
    ["ALTER TABLE p ADD COLUMN x int DEFAULT 5"],
    ["SELECT x, tableoid::regclass::text FROM p", ["5|p", "20|c", "30|g"]],
    ["ALTER TABLE p DROP COLUMN x"],
    ["SELECT x FROM c", ["20", "30"]],
    [
      COLUMNS,
      [
        "c|a|1|false",
        "c|b|1|false",
        "c|x|0|true",
        "g|a|1|false",
        "g|b|1|false",
        "g|x|1|false",
        "g|y|0|true",
        "p|a|0|true",
        "p|b|0|true",
      ],
    ],
  ]);
});

test("CHECK constraints follow, and are counted", async (t) => {
  await checkStatements(t, [
    ...FAMILY,
    ["ALTER TABLE p ADD CHECK (a > 2)", '23514 check constraint "p_a_check" of relation "p" is violated by some row'],
    [
      "ALTER TABLE p ADD CONSTRAINT k CHECK (a < 3)",
      '23514 check constraint "k" of relation "g" is violated by some row',
    ],
    ["ALTER TABLE p ADD CONSTRAINT k CHECK (a > 0)"],
    ["ALTER TABLE ONLY p ADD CHECK (a > 0)", "42P16 constraint must be added to child tables too"],
    ["ALTER TABLE p ADD CONSTRAINT own CHECK (a = 1) NO INHERIT"],
    ["ALTER TABLE g ADD CONSTRAINT x_check CHECK (x > 0)"],
    [
      "ALTER TABLE c ADD CONSTRAINT x_check CHECK (x > 1)",
      '42710 constraint "x_check" for relation "g" already exists',
    ],
    ["ALTER TABLE c ADD CONSTRAINT x_check CHECK (x > 0)"],
    ["ALTER TABLE c DROP CONSTRAINT k", '42P16 cannot drop inherited constraint "k" of relation "c"'],
    [
      "ALTER TABLE ONLY p RENAME CONSTRAINT k TO kk",
      '42P16 inherited constraint "k" must be renamed in child tables too',
    ],
    ["ALTER TABLE p RENAME CONSTRAINT k TO kk"],
    [
      CONSTRAINTS,
      [
        "c|kk|1|false|false",
        "c|x_check|0|true|false",
        "g|kk|1|false|false",
        "g|x_check|1|true|false",
        "p|kk|0|true|false",
        "p|own|0|true|true",
      ],
    ],
    ["INSERT INTO g VALUES (0)", '23514 new row for relation "g" violates check constraint "kk"'],
    ["ALTER TABLE ONLY p DROP CONSTRAINT kk"],
    ["ALTER TABLE c DROP CONSTRAINT kk, DROP CONSTRAINT x_check"],
    [CONSTRAINTS, ["g|x_check|0|true|false", "p|own|0|true|true"]],
  ]);
});

test("tables are linked and parted", async (t) => {
  await checkStatements(t, [
    ...FAMILY,
    ["ALTER TABLE p ADD CONSTRAINT k CHECK (a > 0)"],
    [
      "SELECT inhrelid::regclass::text, inhparent::regclass::text, inhseqno FROM pg_inherits ORDER BY 1",
      ["c|p|1", "g|c|1"],
    ],
    ["ALTER TABLE p INHERIT g", "42P07 circular inheritance not allowed"],
    ["ALTER TABLE c INHERIT p", '42P07 relation "p" would be inherited from more than once'],
    ["ALTER TABLE g NO INHERIT p", '42P01 relation "p" is not a parent of relation "g"'],
    ["ALTER TABLE c NO INHERIT p"],
    ["SELECT * FROM p", ["1|p"]],
    ["ALTER TABLE c DROP COLUMN b, DROP CONSTRAINT k"],
    ["ALTER TABLE c INHERIT p", '42804 child table is missing column "b"'],
    ["ALTER TABLE c ADD COLUMN b varchar"],
    ["ALTER TABLE c INHERIT p", '42804 child table "c" has different type for column "b"'],
    ["ALTER TABLE c ALTER b TYPE text"],
    ["ALTER TABLE c INHERIT p", '42804 child table is missing constraint "k"'],
    ["ALTER TABLE c ADD CONSTRAINT k CHECK (a > 1)"],
    ["ALTER TABLE c INHERIT p", '42804 child table "c" has different definition for check constraint "k"'],
    ["ALTER TABLE c DROP CONSTRAINT k, ADD CONSTRAINT k CHECK (a > 0)"],
    ["ALTER TABLE c INHERIT p"],
    ["SELECT * FROM p", ["1|p", "2|∅", "3|∅"]],
    ["CREATE TABLE other (y int NOT NULL)"],
    ["ALTER TABLE g INHERIT other", '42804 column "y" in child table must be marked NOT NULL'],
    ["ALTER TABLE g ALTER y SET NOT NULL, INHERIT other"],
    ["ALTER TABLE p RENAME a TO aa"],
    ["ALTER TABLE other RENAME y TO yy"],
    ["SELECT * FROM other", ["300"]],
    ["DROP TABLE p, other", "2BP01 cannot drop desired object(s) because other objects depend on them"],
    ["DROP TABLE p, other CASCADE"],
  ]);
});

test("typed tables have their type's columns", async (t) => {
  await checkStatements(t, [
    ["CREATE TYPE ty AS (a int, b varchar(5))"],
    ["CREATE TABLE t1 OF ty (a WITH OPTIONS PRIMARY KEY, b DEFAULT 'bb', CHECK (a > 0))"],
    ["INSERT INTO t1 (a) VALUES (1)"],
    ["SELECT * FROM t1", ["1|bb"]],
    ["INSERT INTO t1 (a) VALUES (-1)", '23514 new row for relation "t1" violates check constraint "t1_a_check"'],
    ["ALTER TABLE t1 ADD COLUMN c int", "42809 cannot add column to typed table"],
    ["ALTER TABLE t1 DROP COLUMN b", "42809 cannot drop column from typed table"],
    ["ALTER TABLE t1 RENAME a TO x", "42809 cannot rename column of typed table"],
    ["CREATE TABLE t2 OF ty (c WITH OPTIONS NOT NULL)", '42703 column "c" does not exist'],
    ["CREATE TABLE t2 (a int, b text)"],
    ["ALTER TABLE t2 OF ty", '42804 table "t2" has different type for column "b"'],
    ["ALTER TABLE t2 ALTER b TYPE varchar(5)"],
    ["ALTER TABLE t2 OF ty"],
    ["ALTER TABLE t2 NOT OF"],
    ["DROP TYPE ty", "2BP01 cannot drop type ty because other objects depend on it"],
    ["DROP TYPE ty CASCADE"],
    ["SELECT relname FROM pg_class WHERE relname IN ('t1', 't2')", ["t2"]],
    ["ALTER TABLE t2 RENAME a TO xmin", '42701 column name "xmin" conflicts with a system column name'],
  ]);
});
