/** Pages of the manual about triggers and rules. Part of statement-pages.ts. */
import type { RuleStatement } from "../parse/ast.js";
import type { TriggerStatement } from "../parse/ast-triggers.js";
import type { StatementPage } from "./statement-page.js";

export const TRIGGER_PAGES: Readonly<Record<(TriggerStatement | RuleStatement)["kind"], StatementPage>> = {
  "create trigger": {
    titles: ["CREATE TRIGGER", "CREATE CONSTRAINT TRIGGER"],
    syntax: `CREATE [OR REPLACE] TRIGGER name {BEFORE | AFTER | INSTEAD OF} {INSERT | UPDATE [OF column, …] | DELETE | TRUNCATE} [OR …]
  ON table [REFERENCING {OLD | NEW} TABLE AS name …] [FOR EACH {ROW | STATEMENT}] [WHEN (condition)]
  EXECUTE FUNCTION function (argument, …)
CREATE CONSTRAINT TRIGGER name AFTER event [OR …] ON table [FROM table] [DEFERRABLE [INITIALLY DEFERRED]]
  FOR EACH ROW [WHEN (condition)] EXECUTE FUNCTION function (argument, …)`,
    description:
      "Calls a function whenever rows of a table change. The function is in LANGUAGE plpgsql, has no parameters and RETURNS trigger. It reads the row from NEW and OLD, and the rest from TG_OP, TG_NAME, TG_WHEN, TG_LEVEL, TG_TABLE_NAME, TG_TABLE_SCHEMA, TG_RELID, TG_NARGS and TG_ARGV. A BEFORE row trigger returns the row to store, or NULL to skip the row. AFTER triggers run at the end of the statement, those of a DEFERRABLE constraint trigger at the end of the transaction; REFERENCING names tables of all rows that the statement changed. Several triggers of one kind fire in the order of their names. Row triggers of a partitioned table fire for rows of all its partitions. INSTEAD OF row triggers make a view changeable. What triggers write belongs to the statement's transaction, and an error in one undoes the statement.",
    example: `CREATE TABLE book_log (at timestamptz DEFAULT now(), what text, title text);
CREATE FUNCTION log_book() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO book_log (what, title) VALUES (TG_OP, NEW.title);
  RETURN NEW;
END $$;
CREATE TRIGGER book_price AFTER UPDATE OF price ON book
  FOR EACH ROW WHEN (OLD.price IS DISTINCT FROM NEW.price) EXECUTE FUNCTION log_book();
UPDATE book SET price = price + 1 WHERE title = 'Solaris';
SELECT what, title FROM book_log`,
  },
  "rename trigger": {
    titles: ["ALTER TRIGGER"],
    syntax: "ALTER TRIGGER name ON table RENAME TO name",
    description:
      "Renames a trigger. ALTER TABLE table {ENABLE | DISABLE} TRIGGER {name | ALL | USER} switches triggers on and off.",
    example: "ALTER TRIGGER book_price ON book RENAME TO log_price; ALTER TABLE book DISABLE TRIGGER log_price",
  },
  "comment on trigger": {
    titles: ["COMMENT ON TRIGGER"],
    syntax: "COMMENT ON TRIGGER name ON table IS {'text' | NULL}",
    description: "Stores a comment on a trigger.",
    example: "COMMENT ON TRIGGER log_price ON book IS 'Who changes prices?'",
  },
  "drop trigger": {
    titles: ["DROP TRIGGER"],
    syntax: "DROP TRIGGER [IF EXISTS] name ON table [CASCADE | RESTRICT]",
    description: "Removes a trigger, on a partitioned table from all partitions. The function remains.",
    example: "DROP TRIGGER log_price ON book; DROP FUNCTION log_book(); DROP TABLE book_log",
  },
  "create rule": {
    titles: ["CREATE RULE"],
    syntax: `CREATE [OR REPLACE] RULE name AS ON {INSERT | UPDATE | DELETE} TO table [WHERE condition]
  DO [ALSO | INSTEAD] { NOTHING | statement | (statement; …) }`,
    description:
      "Runs statements when rows of a table or view change: INSTEAD replaces the change, ALSO runs after it. The statements read the row from NEW and OLD and run once per row, or only once if they use neither. RETURNING in an INSTEAD rule provides the rows for the RETURNING of the statement. Rules of views are unconditional INSTEAD rules; triggers do more.",
    example: `CREATE VIEW title AS SELECT title FROM book;
CREATE RULE keep_titles AS ON DELETE TO title DO INSTEAD NOTHING;
DELETE FROM title`,
  },
  "rename rule": {
    titles: ["ALTER RULE"],
    syntax: "ALTER RULE name ON table RENAME TO name",
    description: "Renames a rule.",
    example: "ALTER RULE keep_titles ON title RENAME TO keep_all",
  },
  "drop rule": {
    titles: ["DROP RULE"],
    syntax: "DROP RULE [IF EXISTS] name ON table [CASCADE | RESTRICT]",
    description: "Removes a rule.",
    example: "DROP RULE keep_all ON title; DROP VIEW title",
  },
};
