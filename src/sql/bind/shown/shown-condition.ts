/**
 * Conditions over rows (USING and WITH CHECK of policies, WHEN of triggers, WHERE of rules) as pg_get_expr prints them.
 * As with queries, the print is bound and printed again, and what does not settle stays as it is kept.
 */
import { DbError } from "../../../protocol/errors.js";
import { withMadeCasts } from "../../../query/expr/coercion.js";
import { columnExpr } from "../../../query/plan/column-expr.js";
import { BOOL } from "../../../values/values.js";
import type { ExprNode } from "../../parse/ast-query.js";
import { parseExpression } from "../../parse/parse.js";
import { contextOf } from "../bind-context.js";
import { bindData } from "../bind-data.js";
import { bindBoolean } from "../bind-expr.js";
import { bindQuery } from "../bind-query.js";
import { viewEnvironment } from "../bind-view.js";
import { Binding } from "../binding.js";
import type { BindEnvironment } from "../bound-statement.js";
import { Scope, type ScopeItem } from "../scope.js";
import { shownNames } from "../system/object-names.js";
import type { ConditionPrinting, ConditionRow } from "../system/query-printing.js";
import { Layout, laidOut } from "./layout.js";
import { NamesOfNow } from "./names-of-now.js";
import { newNotes } from "./notes.js";
import { Level, NotPrinted } from "./print-context.js";
import { QueryPrinter } from "./print-query.js";

/** null: it is not printed. */
export function printCondition(printing: ConditionPrinting): string | null {
  try {
    const printed = print(printing.node(), printing);
    const now = { ...printing, query: null, rows: printing.rows.map(asNow) };
    const again = print(parseExpression(printed), now);
    return again === printed || print(parseExpression(again), now) === again ? printed : null;
  } catch (error) {
    if (error instanceof NotPrinted || error instanceof DbError) return null;
    throw error;
  }
}

const asNow = (row: ConditionRow): ConditionRow => ({
  ...row,
  name: row.now,
  columns: row.columns.map((column) => ({ ...column, name: column.now })),
});

function print(node: ExprNode, printing: ConditionPrinting): string {
  const { catalog, searchPath, timeZone, query, rows, isPretty } = printing;
  const printed = newNotes();
  const named = new WeakMap<object, number>();
  const noted = { named, changed: new Map(), own: new WeakMap(), stars: new WeakMap(), printed };
  const env: BindEnvironment = { catalog, searchPath, parameterTypes: [], noted, timeZone };
  const binding = new Binding(env, bindQuery, bindData);
  const items = rows.map((row) => itemOf(row, binding));
  return binding.within(query === null ? env : viewEnvironment(query, env), () => {
    const scope = new Scope(null);
    scope.items = items;
    const context = contextOf(binding, scope, "a condition");
    withMadeCasts(catalog.madeCasts, () => bindBoolean(node, "a condition", context));
    const names = new NamesOfNow(catalog, searchPath, timeZone, query);
    const printer = new QueryPrinter(printed, named, names, new Layout(isPretty, true), binding);
    const level = new Level();
    rows.forEach(({ now, columns }, i) => {
      level.taken.add(now);
      const renamed = new Map(columns.map(({ name, now: own }) => [name, own]));
      if (rows.length === 1) level.addOwn(items[i]!, now, renamed);
      else level.add(items[i]!, now, renamed);
    });
    const inner = node.kind === "stored" ? node.input : node;
    return shownNames({ catalog, searchPath }, laidOut(printer.condition(inner, BOOL, level)));
  });
}

function itemOf({ name, schema, columns }: ConditionRow, binding: Binding): ScopeItem {
  const named = columns.map((column) => ({
    name: column.name,
    expr: columnExpr(binding.newColumn(column.name, column.type, true)),
  }));
  return { name, schema, columns: named, table: null, unqualified: schema !== null, qualifiable: true };
}
