/**
 * Whether a condition is never true when certain columns are NULL: then an outer join that makes those NULLs may be a
 * stricter join (Galindo-Legaria and Rosenthal, "Outerjoin Simplification and Reordering", TODS 1997).
 */
import type { SqlArray } from "../../values/values.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import { TEXT_SCORE } from "../expr/functions/text-search.js";
import type { JoinType } from "../plan/plan.js";

type Columns = ReadonlySet<ColumnId>;

/** The weakest join that gives the same rows under conditions that are applied after it. */
export function simplifiedJoin(type: JoinType, left: Columns, right: Columns, conditions: readonly Expr[]): JoinType {
  const rejects = (columns: Columns) => conditions.some((condition) => rejectsNull(condition, columns));
  switch (type) {
    case "left":
      return rejects(right) ? "inner" : type;
    case "right":
      return rejects(left) ? "inner" : type;
    case "full": {
      const withoutRightRows = rejects(left);
      const withoutLeftRows = rejects(right);
      if (withoutRightRows && withoutLeftRows) return "inner";
      return withoutRightRows ? "left" : withoutLeftRows ? "right" : type;
    }
    default:
      return type;
  }
}

/** True when the condition is false or NULL in every row in which all these columns are NULL. */
function rejectsNull(condition: Expr, columns: Columns): boolean {
  switch (condition.kind) {
    case "and":
      return condition.args.some((arg) => rejectsNull(arg, columns));
    case "or":
      return condition.args.every((arg) => rejectsNull(arg, columns));
    case "isnull":
      return condition.negated && isNullWith(condition.input, columns);
    default:
      return isNullWith(condition, columns) || isMatchOf(condition, columns);
  }
}

/** MATCH … > 0: there is nothing to be found in NULL. */
function isMatchOf(condition: Expr, columns: Columns): boolean {
  if (condition.kind !== "call" || condition.fn.operator !== ">") return false;
  const [left] = condition.args as readonly [Expr];
  if (left.kind !== "call" || left.fn !== TEXT_SCORE) return false;
  return left.args.slice(0, -2).every((arg) => isNullWith(arg, columns));
}

/** True when the expression is NULL whenever all these columns are. */
function isNullWith(expr: Expr, columns: Columns): boolean {
  switch (expr.kind) {
    case "column":
      return columns.has(expr.id);
    case "call":
      if (isListed(expr)) return isNullWith(expr.args[0]!, columns);
      return expr.fn.strict && expr.args.some((arg) => isNullWith(arg, columns));
    case "cast":
    case "not":
      return isNullWith(expr.input, columns);
    case "in":
      return expr.items.length > 0 && isNullWith(expr.input, columns);
    default:
      return false;
  }
}

/** `= ANY` of a constant array with elements, as long lists are. */
function isListed({ fn, args }: Extract<Expr, { kind: "call" }>): boolean {
  const array = args[1];
  if (fn.anyOf === undefined || array?.kind !== "const" || array.value === null) return false;
  return fn.anyOf.strict && (array.value as SqlArray).elements.length > 0;
}
