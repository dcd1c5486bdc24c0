/** Literals and small functions at their edges. Checked against PostgreSQL 15. */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test("literals and functions at their edges", (t) =>
  checkStatements(t, [
    ["select '1' collate \"C\" > 2", ["false"]],
    ["select ('a' collate \"C\") || 'b', pg_typeof('a' collate \"C\")", ["ab|unknown"]],
    [
      "select pg_typeof(-2147483648), pg_typeof(2147483648), pg_typeof(-2147483649), -2147483648 / -1",
      "22003 integer out of range",
    ],
    [
      "select sign('nan'::float8), sign(-2.5::float8), '-nan'::float8, round(-0.1::real), round(-0.5::float8), round(0.4::float8), round(-1.5::float8)",
      ["0|-1|NaN|-0|-0|0|-2"],
    ],
    ["select decode('王\\\\\\101', 'escape'), decode('a\\\\000b', 'escape')", ["\\xe78e8b5c41|\\x615c30303062"]],
    ["select regexp_count('foobar', 'b..', 1, 'g')", '22023 regexp_count() does not support the "global" option'],
    ["select regexp_count('foobar', 'O', 1, 'i')", ["2"]],
  ]),
);
