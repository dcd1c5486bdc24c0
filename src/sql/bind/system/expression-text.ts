/**
 * Expressions of definitions as PostgreSQL shows them: pg_get_expr, information_schema and the texts of constraints.
 */
import { referenceTo } from "../../../catalog/object-reference.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import { castName, typeOfModifier } from "../../../query/expr/types.js";
import type { SqlType } from "../../../values/values.js";
import { relationNamed, relationText, shownNames } from "./object-names.js";
import { withoutParentheses } from "./sql-parentheses.js";
import type { SystemView } from "./system-view.js";

const LITERAL = /^'(?:[^']|'')*'$/;
const NEXT_VALUE = /\bnextval\('((?:[^']|'')*)'(?:::regclass)?\)/g;
const PLAIN_NUMBER = /^'\s*(-?\d+(?:\.\d+)?)\s*'$/;

/** A DEFAULT as pg_attrdef has it: literals have the column's type behind them, sequences are regclass. */
export function defaultText(sql: string, type: SqlType): string {
  if (LITERAL.test(sql)) {
    const number = PLAIN_NUMBER.exec(sql);
    if (number !== null && type.name === "int4" && type.user === undefined) return number[1]!;
    if (type.name === "bool" && type.user === undefined) return /^'\s*(?:t|y|on|1)/i.test(sql) ? "true" : "false";
    return `${sql}::${exactName(typeOfModifier(withoutModifier(type), -1))}`;
  }
  if (/^null$/i.test(sql)) return `NULL::${exactName(withoutModifier(type))}`;
  return sql.replace(NEXT_VALUE, (_all, name: string) => `nextval('${name}'::regclass)`);
}

/** Types that statements made by their ids, as in all that is kept. */
function exactName(type: SqlType): string {
  const user = type.user ?? type.element?.user;
  // "character" is one character.
  if (user === undefined) return castName(type).replace(/^character(?=$|\[)/, "bpchar");
  return `${referenceTo(user.id)}.${quoteIdentifier(user.name)}${type.user === undefined ? "[]" : ""}`;
}

const withoutModifier = (type: SqlType): SqlType =>
  type.modifier === null || type.user !== undefined ? type : { ...type, modifier: null };

/** As pg_get_expr shows it: sequences by the names that the search path needs. */
export function shownExpression(view: SystemView, text: string, pretty: boolean): string {
  const named = shownNames(view, text).replace(NEXT_VALUE, (all, name: string) => {
    const oid = relationNamed(view, name.replaceAll("''", "'"));
    return oid === null ? all : `nextval('${relationText(view, oid).replaceAll("'", "''")}'::regclass)`;
  });
  return pretty ? withoutParentheses(named) : named;
}
