/**
 * The printer of views' queries. It binds them, so it stands above the system's relations, which ask for their texts
 * (sql/bind/shown), and is registered here.
 */
import type { CatalogView } from "../../../catalog/catalog-view.js";
import type { ViewQuery } from "../../../catalog/kept-query.js";

export interface QueryPrinting {
  readonly query: ViewQuery;
  readonly catalog: CatalogView;
  readonly searchPath: readonly string[];
  readonly timeZone: string;
  /** The names of the view's columns. */
  readonly columns: readonly string[];
  /** Without parentheses that nothing needs. */
  readonly isPretty: boolean;
}

let printer: ((printing: QueryPrinting) => string | null) | null = null;

export function registerQueryPrinter(print: (printing: QueryPrinting) => string | null): void {
  printer = print;
}

/** Texts by what they depend on: definitions never change, and a catalog is that of one moment. */
const kept = new WeakMap<CatalogView, WeakMap<ViewQuery, Map<string, string | null>>>();

/** As PostgreSQL prints it; null: it is not printed yet. */
export function printedQuery(printing: QueryPrinting): string | null {
  const { catalog, query, searchPath, columns, isPretty, timeZone } = printing;
  const byQuery = kept.get(catalog) ?? new WeakMap<ViewQuery, Map<string, string | null>>();
  kept.set(catalog, byQuery);
  const texts = byQuery.get(query) ?? new Map<string, string | null>();
  byQuery.set(query, texts);
  const key = JSON.stringify([searchPath, columns, isPretty, timeZone]);
  let text = texts.get(key);
  if (text === undefined) {
    text = printer === null ? null : printer(printing);
    texts.set(key, text);
  }
  return text;
}
