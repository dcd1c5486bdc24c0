/**
 * The printers of views' queries and of kept expressions (sql/bind/shown). They bind what they print, so they stand
 * above the system's relations, which ask for the texts, and are registered here.
 */
import type { CatalogView } from "../../../catalog/catalog-view.js";
import type { ViewQuery } from "../../../catalog/kept-query.js";
import type { TableDef } from "../../../catalog/table.js";
import type { DomainDef } from "../../../catalog/type.js";

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

export interface ExpressionPrinting {
  /** As it is kept. */
  readonly sql: string;
  /** Whose columns it reads; null: it reads none. */
  readonly table: TableDef | null;
  /** Whose VALUE it reads; absent: it is none of a domain. */
  readonly domain?: DomainDef;
  readonly catalog: CatalogView;
  readonly searchPath: readonly string[];
  readonly timeZone: string;
  readonly isPretty: boolean;
}

let expressionPrinter: ((printing: ExpressionPrinting) => string | null) | null = null;

export function registerExpressionPrinter(print: (printing: ExpressionPrinting) => string | null): void {
  expressionPrinter = print;
}

const keptExpressions = new WeakMap<CatalogView, WeakMap<object, Map<string, string>>>();
const NO_TABLE = {};

/** As PostgreSQL prints it, or as it is kept. */
export function printedExpression(printing: ExpressionPrinting): string {
  const { catalog, table, domain, sql, searchPath, isPretty, timeZone } = printing;
  const byTable = keptExpressions.get(catalog) ?? new WeakMap<object, Map<string, string>>();
  keptExpressions.set(catalog, byTable);
  const texts = byTable.get(table ?? domain ?? NO_TABLE) ?? new Map<string, string>();
  byTable.set(table ?? domain ?? NO_TABLE, texts);
  const key = JSON.stringify([sql, searchPath, isPretty, timeZone]);
  let text = texts.get(key);
  if (text === undefined) {
    text = expressionPrinter?.(printing) ?? sql;
    texts.set(key, text);
  }
  return text;
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
