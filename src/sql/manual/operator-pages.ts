/** Pages of the manual about operators and casts. Part of statement-pages.ts. */
import type { OperatorStatement } from "../parse/ast-operators.js";
import type { StatementPage } from "./statement-page.js";

export const OPERATOR_PAGES: Readonly<Record<OperatorStatement["kind"], StatementPage>> = {
  "create operator": {
    titles: ["CREATE OPERATOR"],
    syntax: `CREATE OPERATOR [schema.]symbols ({FUNCTION | PROCEDURE} = function [, LEFTARG = type], RIGHTARG = type
  [, COMMUTATOR = operator] [, NEGATOR = operator] [, RESTRICT = function] [, JOIN = function] [, HASHES] [, MERGES])`,
    description:
      "Makes an operator that calls a function of one or two arguments. Operators of the system compete with it by the types of the operands; OPERATOR(schema.symbols) says which is meant. The optimizer sees the function of LANGUAGE sql, and makes no other use of the clauses after RIGHTARG. IN, BETWEEN, IS DISTINCT FROM and CASE x WHEN are made of the system's operators. A view names an operator of the symbols + - * / % ^ < > = <= >= <> as OPERATOR(schema.+).",
    example: `CREATE FUNCTION near(a int, b int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT abs(a - b) < 3';
CREATE OPERATOR ~~= (FUNCTION = near, LEFTARG = int, RIGHTARG = int, COMMUTATOR = ~~=);
SELECT 5 ~~= 7`,
  },
  "alter operator": {
    titles: ["ALTER OPERATOR", "COMMENT ON OPERATOR"],
    syntax: `ALTER OPERATOR symbols ({type | NONE}, type) { SET SCHEMA schema | SET (RESTRICT = {function | NONE}, JOIN = …) }
COMMENT ON OPERATOR symbols ({type | NONE}, type) IS {'text' | NULL}`,
    description: "Changes an operator. It belongs to the owner of its function; OWNER TO is ignored with a notice.",
    example: `CREATE FUNCTION is_far(a int, b int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT abs(a - b) > 9';
CREATE OPERATOR <<->> (FUNCTION = is_far, LEFTARG = int, RIGHTARG = int);
COMMENT ON OPERATOR <<->> (int, int) IS 'far apart'`,
  },
  "drop operator": {
    titles: ["DROP OPERATOR"],
    syntax: "DROP OPERATOR [IF EXISTS] symbols ({type | NONE}, type), … [CASCADE | RESTRICT]",
    description: "Removes operators. CASCADE also removes views, checks, indexes and defaults that use them.",
    example: "DROP OPERATOR IF EXISTS <<<->>> (int, int)",
  },
  "create cast": {
    titles: ["CREATE CAST"],
    syntax: `CREATE CAST (source AS target) {WITH FUNCTION function [(types)] | WITHOUT FUNCTION | WITH INOUT}
  [AS ASSIGNMENT | AS IMPLICIT]`,
    description:
      "Makes a conversion between two types: by a function, or through text (INOUT). By itself it happens where it is written; AS ASSIGNMENT also when a value is stored, AS IMPLICIT everywhere. Superusers and owners of one of the types may make one. Expressions that are stored over rows (checks, generated columns, defaults, keys of indexes) do not use it, because it may change.",
    example: `CREATE TYPE shade AS ENUM ('light', 'dark');
CREATE CAST (text AS shade) WITH INOUT AS IMPLICIT;
CREATE TABLE walls (paint shade);
INSERT INTO walls SELECT lower('DARK')`,
  },
  "drop cast": {
    titles: ["DROP CAST"],
    syntax: "DROP CAST [IF EXISTS] (source AS target) [CASCADE | RESTRICT]",
    description: "Removes a conversion that CREATE CAST made.",
    example: "DROP CAST IF EXISTS (int AS date)",
  },
  "comment on cast": {
    titles: ["COMMENT ON CAST"],
    syntax: "COMMENT ON CAST (source AS target) IS {'text' | NULL}",
    description: "Notes what a conversion is for, which \\dC+ of psql shows.",
    example: `CREATE CAST (int AS uuid) WITH INOUT;
COMMENT ON CAST (int AS uuid) IS 'never works'`,
  },
};
