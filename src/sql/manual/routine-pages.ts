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
      "Makes a function or a procedure. Functions of one name differ in their argument types; anyelement, anyarray and similar types accept any type. A body in LANGUAGE sql is a list of statements; the last one gives the result. If it is a single expression, it replaces the call, so indexes can be used. A function runs in the transaction of the statement that calls it.",
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
      "Makes an aggregate function. SFUNC takes the state and a row's arguments and returns the next state. FINALFUNC makes the result from the last state. A strict SFUNC skips rows with a NULL, and without INITCOND the first value is the first state. MSFUNC and MINVFUNC add and remove rows of sliding window frames. The aggregate takes DISTINCT, ORDER BY, FILTER and OVER.",
    example: `CREATE FUNCTION times(a numeric, b numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT AS 'SELECT a * b';
CREATE AGGREGATE product(numeric) (SFUNC = times, STYPE = numeric, INITCOND = '1');
SELECT product(x) FROM (VALUES (2), (3), (7)) t(x)`,
  },
  "drop function": {
    titles: ["DROP FUNCTION", "DROP PROCEDURE", "DROP ROUTINE", "DROP AGGREGATE"],
    syntax:
      "DROP {FUNCTION | PROCEDURE | ROUTINE | AGGREGATE} [IF EXISTS] name [([mode] [name] type, …)], … [CASCADE | RESTRICT]",
    description:
      "Removes functions. Without types, only one function may have the name. CASCADE also removes views that call it.",
    example: "DROP FUNCTION IF EXISTS no_such_function(int)",
  },
  "alter function": {
    titles: ["ALTER FUNCTION", "ALTER PROCEDURE", "ALTER ROUTINE", "ALTER AGGREGATE", "COMMENT ON FUNCTION"],
    syntax: `ALTER {FUNCTION | PROCEDURE | ROUTINE | AGGREGATE} name [(types)] { RENAME TO name | SET SCHEMA schema }
ALTER FUNCTION name [(types)] { IMMUTABLE | STABLE | VOLATILE | STRICT | SET setting TO value | RESET setting } …
COMMENT ON {FUNCTION | PROCEDURE | AGGREGATE} name [(types)] IS 'text'`,
    description: "Changes a function's declaration. CREATE OR REPLACE FUNCTION replaces its body.",
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
