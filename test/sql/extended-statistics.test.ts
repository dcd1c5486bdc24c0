/** CREATE STATISTICS and what changes, copies and drops it. */
import t from "tap";
import { checkStatements } from "./run-sql.js";

const SHOWN = "select stxname, stxkeys, stxkind, stxexprs from pg_statistic_ext order by stxname";

t.test("declared statistics", (t) =>
  checkStatements(t, [
    ["create table t (a int, b int, c text, d int)"],
    ["create statistics s (mcv, ndistinct) on a, b from t"],
    ["create statistics on (a + b), c from t"],
    [SHOWN, ["s|1 2|{d,m}|∅", "t_expr_c_stat|3|{d,f,m,e}|(a + b)"]],
    ["create statistics s on a, c from t", '42710 statistics object "s" already exists'],
    ["create statistics if not exists s on a, c from t"],
    ["create statistics x on a from t", "42P17 extended statistics require at least 2 columns"],
    ["create statistics x on a, a from t", "42701 duplicate column name in statistics definition"],
    ["create statistics x on a, nosuch from t", '42703 column "nosuch" does not exist'],
    ["create statistics x (nosuch) on a, b from t", '42601 unrecognized statistics kind "nosuch"'],
    ["create statistics x on a, b from t, t u", "0A000 only a single relation is allowed in CREATE STATISTICS"],
    ["create schema other"],
    ["alter statistics s rename to r"],
    ["alter statistics r set schema other"],
    ["alter statistics other.r set statistics 100"],
    ["comment on statistics other.r is 'both'"],
    ["alter table t rename a to k"],
    ["create table u (like t including all)"],
    [
      SHOWN,
      [
        "r|1 2|{d,m}|∅",
        "t_expr_c_stat|3|{d,f,m,e}|(k + b)",
        "u_expr_c_stat|3|{d,f,m,e}|(k + b)",
        "u_k_b_stat|1 2|{d,m}|∅",
      ],
    ],
    ["alter table t drop column k"],
    [SHOWN, ["u_expr_c_stat|3|{d,f,m,e}|(k + b)", "u_k_b_stat|1 2|{d,m}|∅"]],
    ["drop statistics u_k_b_stat"],
    ["drop statistics u_k_b_stat", '42704 statistics object "u_k_b_stat" does not exist'],
    ["drop statistics if exists u_k_b_stat"],
    ["drop table u"],
    [SHOWN, []],
  ]),
);
