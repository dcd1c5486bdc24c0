/**
 * A page of the manual per statement. The record has an entry for every kind that the parser makes, which the type
 * checker holds: a new statement cannot come without its page. The examples run in order as one script
 * (test/sql/manual.test.ts).
 */
import type { StatementNode } from "../parse/ast.js";
import { ACCESS_PAGES } from "./access-pages.js";
import { OPERATOR_PAGES } from "./operator-pages.js";
import { ROUTINE_PAGES } from "./routine-pages.js";
import type { StatementPage } from "./statement-page.js";
import { TRIGGER_PAGES } from "./trigger-pages.js";

export const STATEMENT_PAGES: Readonly<Record<StatementNode["kind"], StatementPage>> = {
  "create table": {
    titles: ["CREATE TABLE", "CREATE IMMUTABLE TABLE", "CREATE TEMPORARY TABLE"],
    syntax: `CREATE [TEMPORARY | IMMUTABLE] TABLE [IF NOT EXISTS] name (
  { column type [NOT NULL] [DEFAULT expr] [PRIMARY KEY] [UNIQUE] [CHECK (expr)] [REFERENCES table [(column)] [actions]]
      [GENERATED ALWAYS AS (expr) STORED | GENERATED {ALWAYS | BY DEFAULT} AS IDENTITY | AUTO_INCREMENT]
      [ON UPDATE CURRENT_TIMESTAMP]
  | [CONSTRAINT name] { PRIMARY KEY (columns) | UNIQUE (columns) | CHECK (expr)
      | FOREIGN KEY (columns) REFERENCES table [(columns)] [actions] }
  | LIKE table [INCLUDING ALL] }, …) [INHERITS (table, …)]
CREATE TABLE name OF composite_type [(column WITH OPTIONS constraints, …)]
actions: [ON DELETE action] [ON UPDATE action] [DEFERRABLE [INITIALLY DEFERRED]]
action: NO ACTION | RESTRICT | CASCADE | SET NULL | SET DEFAULT`,
    description:
      "Creates a table. Rows are stored by their primary key; a table without one has a hidden row number. serial, bigserial and AUTO_INCREMENT make a sequence. A column spelt INTEGER PRIMARY KEY, with nothing else said of its value, counts as AUTO_INCREMENT: what an INSERT does not give, or gives as NULL, is assigned, behind the greatest value that is there; INT PRIMARY KEY, INTEGER NOT NULL PRIMARY KEY and PRIMARY KEY (id) want a value. ON UPDATE CURRENT_TIMESTAMP: an UPDATE that gives the column no value sets it. Rows of an IMMUTABLE table are only ever added and are hash-chained (VERIFY TABLE). A temporary table lives as long as its session. A table that INHERITS has the columns and CHECK constraints of its parents; statements on a parent (without ONLY) read and change its rows, too, and tableoid tells whose a row is.",
    example: `CREATE TABLE author (id bigint PRIMARY KEY, name text NOT NULL, born date);
CREATE TABLE book (
  id serial PRIMARY KEY,
  author_id bigint REFERENCES author (id) ON DELETE CASCADE,
  title text NOT NULL,
  price numeric(8, 2) CHECK (price >= 0),
  tags text[] DEFAULT '{}',
  details jsonb,
  in_print boolean,
  UNIQUE (author_id, title)
);
CREATE IMMUTABLE TABLE ledger (id bigint PRIMARY KEY, entry text)`,
  },
  insert: {
    titles: ["INSERT", "REPLACE INTO", "INSERT IGNORE", "INSERT OR REPLACE", "INSERT OR IGNORE"],
    syntax: `[WITH …] INSERT INTO table [(columns)] { VALUES (expr | DEFAULT, …), … | query | DEFAULT VALUES }
  [ON CONFLICT [(columns) | ON CONSTRAINT name] { DO NOTHING | DO UPDATE SET column = expr, … [WHERE condition] }]
  [RETURNING expr [AS name], …]
also: INSERT [OR] IGNORE INTO …, REPLACE INTO …, INSERT OR REPLACE INTO …, INSERT … ON DUPLICATE KEY UPDATE column = expr`,
    description:
      "Adds rows. In DO UPDATE, the proposed row is called excluded. The statement adds all of its rows or none.",
    example: `INSERT INTO author VALUES (1, 'Ursula', '1929-10-21'), (2, 'Stanislaw', '1921-09-12');
INSERT INTO book (author_id, title, price, details) VALUES
  (1, 'The Dispossessed', 12.50, '{"pages": 387}'),
  (2, 'Solaris', 9.90, '{"pages": 204}');
INSERT INTO author VALUES (1, 'Ursula K.', NULL)
  ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING id, name`,
  },
  select: {
    titles: ["SELECT", "WITH", "VALUES", "TABLE"],
    syntax: `[WITH [RECURSIVE] name [(columns)] AS [[NOT] MATERIALIZED] (statement), …]
SELECT [ALL | DISTINCT [ON (expr, …)]] { * | expr [AS name] }, …
  [FROM item, …]                        item: table | (query) [AS] alias | function(…) | LATERAL … | item JOIN item
  [WHERE condition]
  [GROUP BY expr | ROLLUP (…) | CUBE (…) | GROUPING SETS (…), …]
  [HAVING condition]
  [WINDOW name AS ([PARTITION BY …] [ORDER BY …] [frame]), …]
  [{UNION | INTERSECT | EXCEPT} [ALL] select]
  [ORDER BY expr [ASC | DESC] [NULLS {FIRST | LAST}], …]
  [LIMIT count] [OFFSET start] [FETCH {FIRST | NEXT} count ROWS {ONLY | WITH TIES}]
join: [INNER | {LEFT | RIGHT | FULL} [OUTER] | CROSS] JOIN item [ON condition | USING (columns)], NATURAL JOIN`,
    description:
      "Reads rows. An answer over HTTP has at most 1,000 rows unless max_rows asks for more. If there were more, it says truncated.",
    example: `SELECT a.name, count(*) AS books, sum(b.price) FILTER (WHERE b.price > 10) AS dear
FROM author a LEFT JOIN book b ON b.author_id = a.id GROUP BY a.name ORDER BY books DESC, a.name LIMIT 10;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i, sum(i) OVER (ORDER BY i) FROM n`,
  },
  update: {
    titles: ["UPDATE"],
    syntax: `[WITH …] UPDATE [ONLY] table [[AS] alias] SET { column = expr | DEFAULT, (columns) = (exprs | query) }, …
  [FROM item, …] [WHERE condition] [RETURNING expr, …]`,
    description: "Changes rows. With FROM, each row is changed at most once, by one of the rows that join with it.",
    example: `UPDATE book SET price = price * 0.9, details = jsonb_set(details, '{sale}', 'true') WHERE price > 10 RETURNING id, price`,
  },
  delete: {
    titles: ["DELETE"],
    syntax: "[WITH …] DELETE FROM [ONLY] table [[AS] alias] [USING item, …] [WHERE condition] [RETURNING expr, …]",
    description: "Removes rows.",
    example: "DELETE FROM book USING author WHERE book.author_id = author.id AND author.name = 'Nobody'",
  },
  merge: {
    titles: ["MERGE"],
    syntax: `MERGE INTO table [[AS] alias] USING item ON condition
  { WHEN MATCHED [AND condition] THEN { UPDATE SET … | DELETE | DO NOTHING }
  | WHEN NOT MATCHED [AND condition] THEN { INSERT [(columns)] VALUES (…) | DO NOTHING } } …`,
    description: "Inserts, updates or deletes for each row of a source, by the first clause that matches.",
    example: `MERGE INTO author t USING (VALUES (2, 'Stanisław'), (3, 'Octavia')) AS s (id, name) ON t.id = s.id
  WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, s.name)`,
  },
  explain: {
    titles: ["EXPLAIN", "EXPLAIN ANALYZE"],
    syntax: "EXPLAIN [ANALYZE] [(ANALYZE | VERBOSE | COSTS | FORMAT {TEXT | JSON | XML | YAML}, …)] statement",
    description:
      "Shows the plan of a statement with estimated rows. ANALYZE runs the statement and adds actual rows, time and memory.",
    example: "EXPLAIN SELECT * FROM book WHERE author_id = 1",
  },
  transaction: {
    titles: ["BEGIN", "START TRANSACTION", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "ROLLBACK TO"],
    syntax: `BEGIN | START TRANSACTION [modes]
COMMIT | END [AND CHAIN]
ROLLBACK | ABORT [AND CHAIN]
SAVEPOINT name
RELEASE [SAVEPOINT] name
ROLLBACK TO [SAVEPOINT] name
modes: ISOLATION LEVEL {READ UNCOMMITTED | READ COMMITTED | REPEATABLE READ | SERIALIZABLE}, READ ONLY | READ WRITE, [NOT] DEFERRABLE`,
    description:
      "A transaction within one batch of statements. Over HTTP, POST /v1/transactions begins a transaction of several requests, which name its id. A conflict with another transaction ends with SQLSTATE 40001. Run the transaction again.",
    example: "BEGIN; SAVEPOINT before; DELETE FROM book; ROLLBACK TO before; COMMIT",
  },
  "set constraints": {
    titles: ["SET CONSTRAINTS"],
    syntax: "SET CONSTRAINTS {ALL | name, …} {DEFERRED | IMMEDIATE}",
    description:
      "Sets when DEFERRABLE constraints are checked in this transaction: at its end, or after each statement.",
    example: "BEGIN; SET CONSTRAINTS ALL DEFERRED; COMMIT",
  },
  "declare cursor": {
    titles: ["DECLARE"],
    syntax: "DECLARE name [SCROLL | NO SCROLL] CURSOR [WITH HOLD] FOR query",
    description:
      "Creates a cursor. FETCH reads the query's rows in parts, as the transaction sees them now. The cursor closes with the transaction, or with the session if it was declared WITH HOLD. The cursors of a session share the memory of one statement.",
    example: "BEGIN; DECLARE titles SCROLL CURSOR FOR SELECT title FROM book ORDER BY title",
  },
  fetch: {
    titles: ["FETCH", "MOVE"],
    syntax: `{FETCH | MOVE} [direction] [FROM | IN] cursor
direction: NEXT | PRIOR | FIRST | LAST | ABSOLUTE n | RELATIVE n | n | ALL | FORWARD [n | ALL] | BACKWARD [n | ALL]`,
    description: "FETCH returns rows of a cursor, at most max_rows of them. MOVE skips rows without returning them.",
    example: "FETCH 10 FROM titles; MOVE FIRST FROM titles",
  },
  "close cursor": {
    titles: ["CLOSE"],
    syntax: "CLOSE {cursor | ALL}",
    description: "Closes a cursor before its transaction ends.",
    example: "CLOSE titles; COMMIT",
  },
  set: {
    titles: ["SET", "RESET", "SET TRANSACTION", "SET SESSION CHARACTERISTICS"],
    syntax: `SET [SESSION | LOCAL] name {= | TO} value
SET TRANSACTION modes
SET SESSION CHARACTERISTICS AS TRANSACTION modes
RESET {name | ALL}`,
    description:
      "Changes a setting of the session, or with LOCAL of the transaction. Names with a dot are custom settings with any text.",
    example: "SET app.user_id = '42'; RESET app.user_id",
  },
  show: {
    titles: ["SHOW"],
    syntax: "SHOW {name | ALL}",
    description: "Shows one setting or all of them.",
    example: "SHOW search_path",
  },
  list: {
    titles: ["SHOW TABLES", "SHOW INDEXES", "SHOW DATABASES", "SHOW MODELS", "DESCRIBE", "SUMMARIZE"],
    syntax: `SHOW TABLES
SHOW INDEXES [FROM table]
SHOW DATABASES
SHOW MODELS
DESCRIBE table
SUMMARIZE { table | query }`,
    description:
      "Lists tables, indexes and other objects. SUMMARIZE describes each column: the number of rows, NULLs and distinct values, the least, greatest and quartiles of numbers and times, the mean of numbers, and the most frequent values as examples.",
    example: "SHOW TABLES; DESCRIBE book; SUMMARIZE book",
  },
  verify: {
    titles: ["VERIFY TABLE", "VERIFY RECORD"],
    syntax: `VERIFY TABLE name
VERIFY RECORD key IN table
VERIFY RECORD IN table WHERE column = key [AND …]`,
    description:
      "Recomputes the hash chain of an IMMUTABLE table and reports whether every row is unchanged. VERIFY RECORD checks the row with that primary key and reports its place in the chain.",
    example: "INSERT INTO ledger VALUES (1, 'opened'); VERIFY TABLE ledger; VERIFY RECORD 1 IN ledger",
  },
  "create table as": {
    titles: ["CREATE TABLE AS", "SELECT INTO", "CREATE MATERIALIZED VIEW"],
    syntax: `CREATE [TEMPORARY] TABLE [IF NOT EXISTS] name [(columns)] AS query [WITH [NO] DATA]
CREATE MATERIALIZED VIEW [IF NOT EXISTS] name [(columns)] AS query [WITH [NO] DATA]
SELECT … INTO name FROM …`,
    description: "Stores the rows of a query in a new table, or in a materialized view that REFRESH computes again.",
    example: `CREATE TABLE cheap AS SELECT * FROM book WHERE price < 10;
CREATE MATERIALIZED VIEW prices AS SELECT author_id, avg(price) AS price FROM book GROUP BY author_id`,
  },
  "create table as execute": {
    titles: ["CREATE TABLE AS EXECUTE"],
    syntax:
      "CREATE [TEMPORARY] TABLE [IF NOT EXISTS] name [(columns)] AS EXECUTE statement [(arguments)] [WITH [NO] DATA]",
    description: "Stores the rows of a prepared SELECT in a new table.",
    example: "PREPARE dear AS SELECT * FROM book WHERE price > $1; CREATE TABLE dear_books AS EXECUTE dear (20)",
  },
  reindex: {
    titles: ["REINDEX"],
    syntax: `REINDEX [(VERBOSE, CONCURRENTLY)] { INDEX | TABLE } [CONCURRENTLY] name
REINDEX { SCHEMA | DATABASE | SYSTEM } [CONCURRENTLY] [name]`,
    description:
      "Makes the entries of indexes anew from the rows. Rows are stored by their primary key, so that a primary key has none.",
    example: "REINDEX TABLE book",
  },
  refresh: {
    titles: ["REFRESH MATERIALIZED VIEW"],
    syntax: "REFRESH MATERIALIZED VIEW name [WITH [NO] DATA]",
    description: "Runs the query of a materialized view again.",
    example: "REFRESH MATERIALIZED VIEW prices",
  },
  "create index": {
    titles: ["CREATE INDEX", "CREATE UNIQUE INDEX"],
    syntax: `CREATE [UNIQUE] INDEX [IF NOT EXISTS] [name] ON table [USING btree]
  ({ column | (expr) } [ASC | DESC] [NULLS {FIRST | LAST}], …) [INCLUDE (columns)] [NULLS NOT DISTINCT] [WHERE condition]
CREATE INDEX [IF NOT EXISTS] [name] ON table USING hnsw
  (column [vector_cosine_ops | vector_l2_ops | vector_ip_ops | vector_l1_ops]) [WITH (m = 16, ef_construction = 64, ef_search = 64, metric = 'cosine', storage = 'f32')]
CREATE INDEX [IF NOT EXISTS] [name] ON table USING text (column, …) [WITH (language = 'english')]
CREATE INDEX [IF NOT EXISTS] [name] ON table USING gin (column gin_trgm_ops, …)`,
    description:
      "Creates an index. A partial index has entries only for rows that match its condition. EXPLAIN shows which index a query uses. An hnsw index finds near vectors of a vector(n), halfvec(n) or bit(n) column (halfvec_cosine_ops and so on, bit_hamming_ops, bit_jaccard_ops) by the distance of its operator class or metric (cosine, l2, dot or l1; the default is cosine). Storage 'int8' or 'binary' makes it smaller. A text index finds words of text columns; gin (to_tsvector('english', column)) is another spelling of it. An index with gin_trgm_ops (or gist_trgm_ops) finds rows for LIKE and ILIKE patterns with three letters side by side, and for the operators of pg_trgm (%, <%, <<%).",
    example: `CREATE INDEX book_price ON book (price DESC, id);
CREATE UNIQUE INDEX author_name ON author (lower(name)) WHERE born IS NOT NULL;
CREATE INDEX ON author USING text (name) WITH (language = 'simple')`,
  },
  "create extension": {
    titles: ["CREATE EXTENSION"],
    syntax: "CREATE EXTENSION [IF NOT EXISTS] name",
    description:
      "Lists a built-in extension in pg_extension. SELECT name FROM pg_available_extensions lists those that are built in; there are no others. Their types and functions also work without the statement. DROP EXTENSION [IF EXISTS] name removes the extension from the list unless columns have its types.",
    example: "CREATE EXTENSION IF NOT EXISTS vector",
  },
  "create view": {
    titles: ["CREATE VIEW"],
    syntax:
      "CREATE [OR REPLACE] [TEMPORARY] VIEW name [(columns)] [WITH (security_invoker, security_barrier)] AS query [WITH [CASCADED | LOCAL] CHECK OPTION]",
    description:
      "Creates a view: a named query that runs in every statement that reads the view. Rows can be changed through a view of one table without aggregates, DISTINCT, set operations, WITH or LIMIT; CHECK OPTION rejects rows that the view would not show.",
    example: "CREATE VIEW titles AS SELECT b.title, a.name FROM book b JOIN author a ON a.id = b.author_id",
  },
  "create property graph": {
    titles: ["CREATE PROPERTY GRAPH"],
    syntax: `CREATE PROPERTY GRAPH [IF NOT EXISTS] name
  VERTEX TABLES (table [AS alias] [KEY (columns)] [{LABEL name | DEFAULT LABEL} [properties]]…, …)
  [EDGE TABLES (table [AS alias] [KEY (columns)] SOURCE end DESTINATION end [LABEL name [properties]]…, …)]
  end: [KEY (columns) REFERENCES] vertex [(columns)]
  properties: NO PROPERTIES | PROPERTIES ALL COLUMNS [EXCEPT (columns)] | PROPERTIES (expression [AS name], …)`,
    description:
      "Names the tables that GRAPH_TABLE reads as vertices and edges. Defaults: primary keys for keys, foreign keys for the ends of edges, the tables' names for labels, and all columns for properties.",
    example:
      "CREATE PROPERTY GRAPH library VERTEX TABLES (author PROPERTIES (name), book PROPERTIES (title)) EDGE TABLES (book AS wrote SOURCE KEY (author_id) REFERENCES author (id) DESTINATION KEY (id) REFERENCES book (id) NO PROPERTIES)",
  },
  "drop property graph": {
    titles: ["DROP PROPERTY GRAPH"],
    syntax: "DROP PROPERTY GRAPH [IF EXISTS] name, … [CASCADE | RESTRICT]",
    description: "Removes property graphs; their tables stay.",
    example: "DROP PROPERTY GRAPH library",
  },
  "create schema": {
    titles: ["CREATE SCHEMA"],
    syntax: "CREATE SCHEMA [IF NOT EXISTS] name",
    description:
      "Creates a namespace for tables, views, types and sequences. SET search_path sets where names are looked up.",
    example: "CREATE SCHEMA archive",
  },
  "create sequence": {
    titles: ["CREATE SEQUENCE"],
    syntax: `CREATE [TEMPORARY] SEQUENCE [IF NOT EXISTS] name [AS type] [INCREMENT [BY] n] [MINVALUE n | NO MINVALUE]
  [MAXVALUE n | NO MAXVALUE] [START [WITH] n] [CACHE n] [[NO] CYCLE] [OWNED BY {table.column | NONE}]`,
    description:
      "Creates a generator of numbers for nextval, currval, setval and lastval. Numbers used by rolled-back work are not reused.",
    example: "CREATE SEQUENCE ticket START 100; SELECT nextval('ticket')",
  },
  "alter sequence": {
    titles: ["ALTER SEQUENCE"],
    syntax:
      "ALTER SEQUENCE [IF EXISTS] name { options of CREATE SEQUENCE | RESTART [WITH n] | RENAME TO name | SET SCHEMA name }",
    description: "Changes a sequence.",
    example: "ALTER SEQUENCE ticket RESTART WITH 500",
  },
  ...OPERATOR_PAGES,
  ...ROUTINE_PAGES,
  ...TRIGGER_PAGES,
  ...ACCESS_PAGES,
  "create type": {
    titles: ["CREATE TYPE"],
    syntax: `CREATE TYPE name AS ENUM ('label', …)
CREATE TYPE name AS (field type, …)
CREATE TYPE name AS RANGE (subtype = type [, multirange_type_name = name] [, subtype_diff = function] [, collation = name] [, subtype_opclass = name])`,
    description:
      "Creates an enumerated type, whose labels compare in the order given; a composite type; or a range type and its multirange, with functions of their names that make values.",
    example: "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
  },
  "alter enum": {
    titles: ["ALTER TYPE"],
    syntax: `ALTER TYPE name ADD VALUE [IF NOT EXISTS] 'label' [{BEFORE | AFTER} 'label']
ALTER TYPE name RENAME VALUE 'label' TO 'label'`,
    description: "Changes an enumerated type.",
    example: "ALTER TYPE mood ADD VALUE 'ecstatic' AFTER 'happy'",
  },
  "alter composite": {
    titles: ["ALTER TYPE … ATTRIBUTE"],
    syntax: `ALTER TYPE name { ADD ATTRIBUTE name type | DROP ATTRIBUTE [IF EXISTS] name | ALTER ATTRIBUTE name TYPE type } [CASCADE], …
ALTER TYPE name RENAME ATTRIBUTE name TO name [CASCADE]`,
    description: "Changes the fields of a composite type. Typed tables follow with CASCADE.",
    example: "CREATE TYPE address AS (street text, city text); ALTER TYPE address ADD ATTRIBUTE country text",
  },
  "create domain": {
    titles: ["CREATE DOMAIN"],
    syntax: "CREATE DOMAIN name [AS] type [DEFAULT expr] [NOT NULL] [[CONSTRAINT name] CHECK (expr over VALUE)] …",
    description: "Creates a type with conditions that all its values must meet.",
    example: "CREATE DOMAIN percentage AS int CHECK (VALUE BETWEEN 0 AND 100)",
  },
  "alter domain": {
    titles: ["ALTER DOMAIN"],
    syntax:
      "ALTER DOMAIN name { SET DEFAULT expr | DROP DEFAULT | {SET | DROP} NOT NULL | ADD [CONSTRAINT name] CHECK (expr) [NOT VALID] | DROP CONSTRAINT name | VALIDATE CONSTRAINT name }",
    description: "Changes a domain. New conditions are checked against stored rows unless NOT VALID is given.",
    example: "ALTER DOMAIN percentage SET DEFAULT 50",
  },
  "set schema": {
    titles: ["ALTER … SET SCHEMA"],
    syntax: "ALTER {TABLE | VIEW | MATERIALIZED VIEW | SEQUENCE | TYPE | DOMAIN} name SET SCHEMA schema",
    description: "Moves an object to another schema.",
    example: "ALTER TABLE cheap SET SCHEMA archive",
  },
  "alter table": {
    titles: ["ALTER TABLE"],
    syntax: `ALTER TABLE [IF EXISTS] [ONLY] name action, …
action: ADD [COLUMN] [IF NOT EXISTS] column type [constraints]
  | DROP [COLUMN] [IF EXISTS] column [CASCADE]
  | ALTER [COLUMN] column { TYPE type [USING expr] | SET DEFAULT expr | DROP DEFAULT | {SET | DROP} NOT NULL
      | ADD GENERATED {ALWAYS | BY DEFAULT} AS IDENTITY | DROP IDENTITY | DROP EXPRESSION }
  | ADD [CONSTRAINT name] constraint [NOT VALID] | DROP CONSTRAINT [IF EXISTS] name [CASCADE]
  | VALIDATE CONSTRAINT name | ALTER CONSTRAINT name [NOT] DEFERRABLE
  | [NO] INHERIT table | OF composite_type | NOT OF`,
    description:
      "Changes a table and, without ONLY, the tables that inherit from it. Either all actions take effect or none. Adding a column has no cost per row.",
    example: "ALTER TABLE book ADD COLUMN stock int NOT NULL DEFAULT 0, ALTER COLUMN in_print SET DEFAULT true",
  },
  rename: {
    titles: ["ALTER … RENAME"],
    syntax: `ALTER {TABLE | VIEW | INDEX | SEQUENCE | SCHEMA | TYPE | DOMAIN} name RENAME TO name
ALTER TABLE name RENAME {[COLUMN] column | CONSTRAINT name} TO name`,
    description: "Gives another name.",
    example: "ALTER TABLE book RENAME COLUMN stock TO in_stock",
  },
  comment: {
    titles: ["COMMENT ON"],
    syntax:
      "COMMENT ON {TABLE name | COLUMN table.column | INDEX name | CONSTRAINT name ON table | …} IS {'text' | NULL}",
    description: "Stores a comment on an object. obj_description and col_description read it.",
    example: "COMMENT ON TABLE book IS 'What we sell'",
  },
  "create statistics": {
    titles: ["CREATE STATISTICS"],
    syntax: "CREATE STATISTICS [[IF NOT EXISTS] name] [(kind, …)] ON {column | (expr)}, … FROM table",
    description:
      "Declares that columns are related. The declaration is stored (pg_statistic_ext) and can be changed and dropped, but plans use only the statistics of single columns.",
    example: "CREATE STATISTICS book_stat (ndistinct) ON author_id, price FROM book",
  },
  "alter statistics": {
    titles: ["ALTER STATISTICS", "COMMENT ON STATISTICS"],
    syntax: `ALTER STATISTICS name { RENAME TO name | SET SCHEMA schema | SET STATISTICS n }
COMMENT ON STATISTICS name IS {'text' | NULL}`,
    description: "Changes a declaration of statistics.",
    example: "ALTER STATISTICS book_stat RENAME TO book_facts",
  },
  "drop statistics": {
    titles: ["DROP STATISTICS"],
    syntax: "DROP STATISTICS [IF EXISTS] name, …",
    description: "Removes declared statistics.",
    example: "DROP STATISTICS book_facts",
  },
  analyze: {
    titles: ["ANALYZE"],
    syntax: "ANALYZE [table [(columns)], …]",
    description:
      "Renews the statistics that the optimizer uses. This also happens automatically after enough rows have changed.",
    example: "ANALYZE book",
  },
  vacuum: {
    titles: ["VACUUM"],
    syntax: "VACUUM [FULL] [ANALYZE] [table]",
    description:
      "There is nothing to vacuum: the space of old rows is reclaimed automatically. The statement is accepted for clients that send it.",
    example: "VACUUM",
  },
  cluster: {
    titles: ["CLUSTER"],
    syntax: "CLUSTER [table [USING index]]",
    description:
      "Rows are stored in the order of their primary key. The statement is accepted for clients that send it, and a notice says that it has no effect.",
    example: "CLUSTER book",
  },
  checkpoint: {
    titles: ["CHECKPOINT"],
    syntax: "CHECKPOINT",
    description: "A commit is on disk before it is answered, so there is nothing to do. Superusers may send it.",
    example: "CHECKPOINT",
  },
  lock: {
    titles: ["LOCK TABLE"],
    syntax: "LOCK [TABLE] name, … [IN mode MODE] [NOWAIT]",
    description:
      "Holds the tables, and those that inherit from them, until the transaction ends, at read committed over PostgreSQL's protocol: writers, locked rows and other LOCK TABLE wait as PostgreSQL's table of conflicts says. Reading waits for nobody. Transactions of other levels and of HTTP are validated when they commit, and hold nothing.",
    example: "BEGIN; LOCK TABLE book IN SHARE MODE; COMMIT",
  },
  prepare: {
    titles: ["PREPARE"],
    syntax: "PREPARE name [(types)] AS statement",
    description: "Stores a statement with parameters $1, $2 … for EXECUTE in the same session.",
    example: "PREPARE by_author (bigint) AS SELECT title FROM book WHERE author_id = $1",
  },
  execute: {
    titles: ["EXECUTE"],
    syntax: "EXECUTE name [(expr, …)]",
    description: "Runs a prepared statement.",
    example: "EXECUTE by_author (1)",
  },
  deallocate: {
    titles: ["DEALLOCATE"],
    syntax: "DEALLOCATE [PREPARE] {name | ALL}",
    description: "Forgets prepared statements.",
    example: "DEALLOCATE by_author",
  },
  discard: {
    titles: ["DISCARD"],
    syntax: "DISCARD {ALL | PLANS | SEQUENCES | TEMP}",
    description: "Resets the session to its initial state.",
    example: "DISCARD PLANS",
  },
  database: {
    titles: ["CREATE DATABASE", "ALTER DATABASE", "DROP DATABASE"],
    syntax: `CREATE DATABASE name [[WITH] [TEMPLATE [=] database] [ENCODING [=] 'UTF8'] [OWNER [=] role] …]
ALTER DATABASE name RENAME TO new_name
DROP DATABASE [IF EXISTS] name [[WITH] (FORCE)]`,
    description:
      "Makes a branch of the tenant, which clients of PostgreSQL's protocol connect to by its name and others name as their branch. It begins empty, or as a fork of its TEMPLATE: the tenant, or a branch. Only administrators of the tenant make, rename and drop databases, and not in a transaction. RENAME and DROP wait up to 5 seconds for sessions in the database to end, and are refused where they stay; FORCE ends them. ALTER DATABASE … OWNER TO changes nothing and says so, and options that would restrict a database are refused.",
    // They need a client's request.
    example: "",
  },
  truncate: {
    titles: ["TRUNCATE"],
    syntax: "TRUNCATE [TABLE] [ONLY] name, … [RESTART IDENTITY | CONTINUE IDENTITY] [CASCADE | RESTRICT]",
    description: "Removes all rows, without reading them.",
    example: "TRUNCATE archive.cheap",
  },
  drop: {
    titles: [
      "DROP",
      "DROP TABLE",
      "DROP INDEX",
      "DROP VIEW",
      "DROP SCHEMA",
      "DROP SEQUENCE",
      "DROP TYPE",
      "DROP DOMAIN",
    ],
    syntax:
      "DROP {TABLE | INDEX | VIEW | MATERIALIZED VIEW | SEQUENCE | SCHEMA | TYPE | DOMAIN} [IF EXISTS] name, … [CASCADE | RESTRICT]",
    description:
      "Removes objects. RESTRICT, the default, fails if other objects depend on them. CASCADE removes those too.",
    example: "DROP VIEW IF EXISTS titles; DROP SCHEMA archive CASCADE",
  },
};
