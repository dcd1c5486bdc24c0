/** Pages of the manual about functions and procedures. Part of statement-pages.ts. */
import type { FunctionStatement } from "../parse/ast-functions.js";
import type { StatementPage } from "./statement-page.js";

export const ROUTINE_PAGES: Readonly<Record<FunctionStatement["kind"], StatementPage>> = {
  "create function": {
    titles: ["CREATE FUNCTION", "CREATE PROCEDURE"],
    syntax: `CREATE [OR REPLACE] FUNCTION name ([[mode] [name] type [{DEFAULT | =} expr], …])
  [RETURNS [SETOF] type | RETURNS TABLE (name type, …)]
  { LANGUAGE {sql | plpgsql} | IMMUTABLE | STABLE | VOLATILE | STRICT | RETURNS NULL ON NULL INPUT
  | CALLED ON NULL INPUT | SET setting {TO | =} value | COST n | ROWS n | AS 'body' } …
CREATE [OR REPLACE] FUNCTION … RETURN expr
CREATE [OR REPLACE] FUNCTION … BEGIN ATOMIC statement; … END
CREATE [OR REPLACE] PROCEDURE name (…) LANGUAGE {sql | plpgsql} AS 'body'
mode: IN | OUT | INOUT | VARIADIC`,
    description:
      "Makes a function or a procedure. Several of one name differ in the types of what they take; anyelement, anyarray and the like take any. A body in LANGUAGE sql is statements, of which the last one gives the result; one that is a single expression takes the place of the call, so indexes serve it. A function runs in the transaction of the statement that calls it.",
    example: `CREATE FUNCTION plus_tax(price numeric, rate numeric DEFAULT 0.2) RETURNS numeric
  LANGUAGE sql IMMUTABLE AS 'SELECT price * (1 + rate)';
SELECT plus_tax(10), plus_tax(price => 10, rate => 0.1);
CREATE PROCEDURE double_it(INOUT x int) LANGUAGE sql AS 'SELECT x * 2'`,
  },
  "create aggregate": {
    titles: ["CREATE AGGREGATE"],
    syntax: `CREATE [OR REPLACE] AGGREGATE name ({* | [VARIADIC] [name] type, …}) (SFUNC = function, STYPE = type
  [, FINALFUNC = function] [, FINALFUNC_EXTRA] [, INITCOND = 'value']
  [, MSFUNC = function, MINVFUNC = function, MSTYPE = type [, MFINALFUNC = function] [, MINITCOND = 'value']] …)`,
    description:
      "Makes an aggregate function. SFUNC takes the state and the arguments of a row and gives the next state; FINALFUNC makes the result of the last one. With a strict SFUNC rows with a NULL are passed over, and without INITCOND the first value is the first state. MSFUNC and MINVFUNC add and take back rows of sliding window frames. The aggregate takes DISTINCT, ORDER BY, FILTER and OVER.",
    example: `CREATE FUNCTION times(a numeric, b numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT AS 'SELECT a * b';
CREATE AGGREGATE product(numeric) (SFUNC = times, STYPE = numeric, INITCOND = '1');
SELECT product(x) FROM (VALUES (2), (3), (7)) t(x)`,
  },
  "drop function": {
    titles: ["DROP FUNCTION", "DROP PROCEDURE", "DROP ROUTINE", "DROP AGGREGATE"],
    syntax:
      "DROP {FUNCTION | PROCEDURE | ROUTINE | AGGREGATE} [IF EXISTS] name [([mode] [name] type, …)], … [CASCADE | RESTRICT]",
    description:
      "Removes functions. Without types the name must be that of one function only. CASCADE also removes views that call it.",
    example: "DROP FUNCTION IF EXISTS no_such_function(int)",
  },
  "alter function": {
    titles: ["ALTER FUNCTION", "ALTER PROCEDURE", "ALTER ROUTINE", "ALTER AGGREGATE", "COMMENT ON FUNCTION"],
    syntax: `ALTER {FUNCTION | PROCEDURE | ROUTINE | AGGREGATE} name [(types)] { RENAME TO name | SET SCHEMA schema }
ALTER FUNCTION name [(types)] { IMMUTABLE | STABLE | VOLATILE | STRICT | SET setting TO value | RESET setting } …
COMMENT ON {FUNCTION | PROCEDURE | AGGREGATE} name [(types)] IS 'text'`,
    description: "Changes what is declared of a function; its body is replaced by CREATE OR REPLACE FUNCTION.",
    example: "ALTER FUNCTION plus_tax(numeric, numeric) STRICT",
  },
  "call procedure": {
    titles: ["CALL"],
    syntax: "CALL name (expr, …)",
    description: "Runs a procedure. The values of its OUT and INOUT parameters are the result's only row.",
    example: "CALL double_it(21)",
  },
  do: {
    titles: ["DO"],
    syntax: "DO [LANGUAGE plpgsql] 'body'",
    description: "Runs a block of PL/pgSQL once.",
    example: "DO 'BEGIN END'",
  },
};
