/**
 * Expressions that tables keep (checks, keys and predicates of indexes, defaults) as pg_get_expr prints them. As with
 * queries, the print is bound and printed again, and what does not settle stays as it is kept.
 */
import { DEFAULT_SCHEMA } from "../../../catalog/catalog-view.js";
import { DbError } from "../../../protocol/errors.js";
import { withMadeCasts } from "../../../query/expr/coercion.js";
import type { ExprNode } from "../../parse/ast-query.js";
import { contextOf } from "../bind-context.js";
import { bindData } from "../bind-data.js";
import { bindExpr } from "../bind-expr.js";
import { bindQuery } from "../bind-query.js";
import { Binding } from "../binding.js";
import type { BindEnvironment } from "../bound-statement.js";
import { valueScope } from "../domain-checks.js";
import { Scope } from "../scope.js";
import { rowContext } from "../stored-expression.js";
import { parseStored } from "../stored-names.js";
import type { ExpressionPrinting } from "../system/query-printing.js";
import { Layout, laidOut } from "./layout.js";
import { NamesOfNow } from "./names-of-now.js";
import { newNotes } from "./notes.js";
import { Level, NotPrinted, PrintContext } from "./print-context.js";
import { ExpressionPrinter } from "./print-expression.js";

interface Printed {
  readonly text: string;
  readonly type: string;
}

/** null: it is not printed. */
export function printExpression(printing: ExpressionPrinting): string | null {
  const { sql, table, domain } = printing;
  try {
    const schema = table?.schema ?? domain?.schema ?? DEFAULT_SCHEMA;
    const printed = print(parseStored(sql, schema), printing);
    const again = print(parseStored(printed.text, schema), printing);
    const isStable =
      again.text === printed.text || print(parseStored(again.text, schema), printing).text === again.text;
    return isStable && again.type === printed.type ? printed.text : null;
  } catch (error) {
    if (error instanceof NotPrinted || error instanceof DbError) return null;
    throw error;
  }
}

function print(node: ReturnType<typeof parseStored>, printing: ExpressionPrinting): Printed {
  const { catalog, searchPath, timeZone, table, domain, isPretty } = printing;
  const printed = newNotes();
  const named = new WeakMap<object, number>();
  const noted = { named, changed: new Map(), own: new WeakMap(), stars: new WeakMap(), printed };
  const env: BindEnvironment = { catalog, searchPath, parameterTypes: [], noted, timeZone };
  const binding = new Binding(env, bindQuery, bindData);
  const value = domain === undefined ? null : valueScope(domain.base, binding);
  const place =
    table === null
      ? { ...contextOf(binding, value?.scope ?? new Scope(null), "an expression"), subqueries: false }
      : rowContext(table, "an expression", binding);
  const bound = withMadeCasts(null, () => bindExpr(node, place));
  const names = new NamesOfNow(catalog, searchPath, timeZone, null);
  const refuse = () => {
    throw new NotPrinted("a subquery in a stored expression");
  };
  const context = new PrintContext(printed, named, names, new Layout(isPretty, true), refuse);
  const level = new Level();
  for (const item of place.scope.items) level.addBare(item);
  if (value !== null) level.addValue(value.id);
  context.levels.push(level);
  const inner: ExprNode = node.input;
  const text = laidOut(new ExpressionPrinter(context, binding).text(inner, null, false));
  return { text, type: names.type(bound.type) };
}
