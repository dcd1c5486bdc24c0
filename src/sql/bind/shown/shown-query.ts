/**
 * The query of a view as pg_get_viewdef prints it: bound as the view is, and printed by what that says, with the names
 * of now. Then the print is bound as if somebody sent it, and printed again: it has columns of the same types, and does
 * not change any more, or the text stays as it was written.
 */
import type { ViewQuery } from "../../../catalog/kept-query.js";
import { DbError } from "../../../protocol/errors.js";
import { withMadeCasts } from "../../../query/expr/coercion.js";
import type { QueryNode } from "../../parse/ast-query.js";
import { parseSql } from "../../parse/parse.js";
import { bindData } from "../bind-data.js";
import { bindQuery } from "../bind-query.js";
import { parsedQuery, viewEnvironment } from "../bind-view.js";
import { Binding, PLAIN_QUERY } from "../binding.js";
import type { BindEnvironment } from "../bound-statement.js";
import { shownNames } from "../system/object-names.js";
import type { QueryPrinting } from "../system/query-printing.js";
import { RowKeyNeeded } from "../system-columns.js";
import { Layout, laidOut } from "./layout.js";
import { NamesOfNow } from "./names-of-now.js";
import { newNotes } from "./notes.js";
import { NotPrinted } from "./print-context.js";
import { QueryPrinter } from "./print-query.js";

interface Printed {
  readonly text: string;
  readonly types: readonly string[];
}

/** null: it is not printed. */
export function printQuery(printing: QueryPrinting): string | null {
  try {
    const printed = print(parsedQuery(printing.query), printing.query, printing);
    const again = printText(printed.text, printing);
    // Casts of arrays move into their elements when they are read again, as they do in PostgreSQL.
    const isStable = again.text === printed.text || printText(again.text, printing).text === again.text;
    return isStable && again.types.join() === printed.types.join() ? printed.text : null;
  } catch (error) {
    if (error instanceof NotPrinted || error instanceof DbError) return null;
    throw error;
  }
}

function printText(sql: string, printing: QueryPrinting): Printed {
  const { node } = parseSql(sql)[0]!;
  if (node.kind !== "select") throw new NotPrinted("no query");
  return print(node.query, null, printing);
}

/** `query`: the view's; null: a text of now. Rows whose ctid it names come with their keys. */
function print(
  node: QueryNode,
  query: ViewQuery | null,
  printing: QueryPrinting,
  keyedTables: ReadonlySet<number> = new Set(),
): Printed {
  try {
    return printOnce(node, query, printing, keyedTables);
  } catch (error) {
    if (!(error instanceof RowKeyNeeded) || keyedTables.has(error.tableId)) throw error;
    return print(node, query, printing, new Set([...keyedTables, error.tableId]));
  }
}

function printOnce(
  node: QueryNode,
  query: ViewQuery | null,
  { catalog, searchPath, columns, isPretty, timeZone }: QueryPrinting,
  keyedTables: ReadonlySet<number>,
): Printed {
  const printed = newNotes();
  const named = new WeakMap<object, number>();
  const noted = { named, changed: new Map(), own: new WeakMap(), stars: new WeakMap(), printed };
  const env: BindEnvironment = { catalog, searchPath, parameterTypes: [], noted, timeZone, keyedTables };
  const binding = new Binding(env, bindQuery, bindData);
  return binding.within(query === null ? env : viewEnvironment(query, env), () => {
    const source = withMadeCasts(catalog.madeCasts, () => binding.query(node, null, PLAIN_QUERY));
    const names = new NamesOfNow(catalog, searchPath, timeZone, query);
    const printer = new QueryPrinter(printed, named, names, new Layout(isPretty, true), binding);
    const text = laidOut(printer.view(node, columns));
    const types = source.columns.map(({ type }) => names.type(type));
    return { text: shownNames({ catalog, searchPath }, text), types };
  });
}
