/**
 * The printers of views' queries and of kept expressions (sql/bind/shown). They bind what they print, so they stand
 * above the system's relations, which ask for the texts, and are registered here.
 */
import type { CatalogView } from "../../../catalog/catalog-view.js";
import type { ViewQuery } from "../../../catalog/kept-query.js";
import type { TableDef } from "../../../catalog/table.js";
import type { DomainDef } from "../../../catalog/type.js";
import type { SqlType } from "../../../values/values.js";
import type { ExprNode } from "../../parse/ast-query.js";
import { KeptTexts } from "./kept-texts.js";

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

/** A row that a condition is about. */
export interface ConditionRow {
  /** What the text calls it, and what it is called now. */
  readonly name: string;
  readonly now: string;
  /** Null: its columns are named with it. */
  readonly schema: string | null;
  readonly columns: readonly { readonly name: string; readonly now: string; readonly type: SqlType }[];
}

export interface ConditionPrinting {
  readonly node: () => ExprNode;
  /** What its names mean; null: what they mean now, or what a stored node says. */
  readonly query: ViewQuery | null;
  readonly rows: readonly ConditionRow[];
  readonly catalog: CatalogView;
  readonly searchPath: readonly string[];
  readonly timeZone: string;
  readonly isPretty: boolean;
}

let conditionPrinter: ((printing: ConditionPrinting) => string | null) | null = null;

export function registerConditionPrinter(print: (printing: ConditionPrinting) => string | null): void {
  conditionPrinter = print;
}

let expressionPrinter: ((printing: ExpressionPrinting) => string | null) | null = null;

export function registerExpressionPrinter(print: (printing: ExpressionPrinting) => string | null): void {
  expressionPrinter = print;
}

/** A table may have a default for each of its columns. */
const EXPRESSIONS_MAX = 1_024;
const QUERIES_MAX = 8;

const expressions = new KeptTexts<object, string>(EXPRESSIONS_MAX);
/** In whose place expressions are kept that read no row. */
const ownersOfNone = new WeakMap<CatalogView, object>();

function ownerOf({ table, domain, catalog }: ExpressionPrinting): object {
  if (table !== null) return table;
  if (domain !== undefined) return domain;
  const owner = ownersOfNone.get(catalog) ?? {};
  ownersOfNone.set(catalog, owner);
  return owner;
}

/** As PostgreSQL prints it, or as it is kept. */
export function printedExpression(printing: ExpressionPrinting): string {
  const { catalog, sql, searchPath, isPretty, timeZone } = printing;
  const key = JSON.stringify([sql, searchPath, isPretty, timeZone]);
  const make = () => expressionPrinter?.(printing) ?? sql;
  return expressions.get(ownerOf(printing), key, null, catalog, searchPath, make);
}

const conditions = new KeptTexts<object, string | null>(EXPRESSIONS_MAX);

/**
 * As PostgreSQL prints it; null: it is not printed yet. `owner`: the definition that the condition changes with, `key`:
 * which of its conditions.
 */
export function printedCondition(owner: object, key: string, printing: ConditionPrinting): string | null {
  const { catalog, query, searchPath, rows, isPretty, timeZone } = printing;
  const names = rows.map(({ now, columns }) => [now, ...columns.map((column) => column.now)]);
  const whole = JSON.stringify([key, searchPath, names, isPretty, timeZone]);
  return conditions.get(owner, whole, query, catalog, searchPath, () => conditionPrinter?.(printing) ?? null);
}

let printer: ((printing: QueryPrinting) => string | null) | null = null;

export function registerQueryPrinter(print: (printing: QueryPrinting) => string | null): void {
  printer = print;
}

const queries = new KeptTexts<ViewQuery, string | null>(QUERIES_MAX);

/** As PostgreSQL prints it; null: it is not printed yet. */
export function printedQuery(printing: QueryPrinting): string | null {
  const { catalog, query, searchPath, columns, isPretty, timeZone } = printing;
  const key = JSON.stringify([searchPath, columns, isPretty, timeZone]);
  return queries.get(query, key, query, catalog, searchPath, () => printer?.(printing) ?? null);
}
