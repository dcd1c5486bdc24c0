/**
 * The meaning of names at one place of a statement: the relations of a query's FROM, and through `parent` those of the
 * enclosing queries. Made by the binders of queries and of data-modifying statements; expressions look names up here.
 */

import { meant } from "../../catalog/did-you-mean.js";
import type { TableDef } from "../../catalog/table.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import type { ColumnId, Expr } from "../../query/expr/expr.js";
import type { OutputColumn, Plan, CommonTable as PlanTable } from "../../query/plan/plan.js";
import type { ColumnNode, CommonTableNode, NameNode } from "../parse/ast-query.js";
import type { AggregateCollector } from "./aggregate-collector.js";
import type { FoundVariable, Variables } from "./bound-statement.js";
import type { BoundCommonTable } from "./common-table-registry.js";
import type { LockedRows } from "./locked-rows.js";
import { fieldSelector } from "./record-functions.js";
import type { WindowCollector } from "./window-collector.js";

/** A column under the name that it has here. Usually a plain column; USING may merge two into an expression. */
export interface ScopeColumn {
  readonly name: string;
  readonly expr: Expr;
}

/** Like a map of expressions by name (system-columns.ts). */
export interface SystemColumns {
  /** The row's storage key, once somebody has named ctid, which is made of it. */
  readonly key?: Expr | null;
  has(name: string): boolean;
  get(name: string): Expr | undefined;
}

/** A relation in FROM, or what a join makes of two. */
export interface ScopeItem {
  /** The alias; null for a join without one, whose columns have no qualifier. */
  readonly name: string | null;
  readonly schema: string | null;
  readonly columns: readonly ScopeColumn[];
  /** Set for a table as it is stored: primary keys make other columns depend on them. */
  readonly table: TableDef | null;
  /** Set for a table: the OID of the one that the row is stored in. Found by its name, but no part of `*`. */
  readonly tableOid?: Expr;
  /** ctid, xmin and the like, likewise. */
  readonly hidden?: SystemColumns;
  /** OLD or NEW: ctid and the like alone are those of the row itself. */
  readonly isVersion?: true;
  /** Whether its columns may be named without a qualifier, and come with `*`. */
  readonly unqualified: boolean;
  /** Whether it may be named as a qualifier. */
  readonly qualifiable: boolean;
  /** Set for a row that has the names of its relation, and can be given no others: the id of that. */
  readonly own?: number;
  /** A function that returns one value: the whole of its row is that value. */
  readonly scalar?: boolean;
}

export interface FoundColumn extends ScopeColumn {
  readonly item: ScopeItem;
  /** Belongs to an enclosing query. */
  readonly outer: boolean;
}

/** A WITH table that is visible here. */
export interface CommonTable {
  readonly node: CommonTableNode;
  /** Where its own query looks names up. */
  readonly scope: Scope;
  readonly recursive: boolean;
  /** Its rows; null while it is being bound. */
  source: { readonly plan: Plan; readonly columns: readonly OutputColumn[] } | null;
  definition: BoundCommonTable | null;
  /** Of a recursive table, once its first query is bound: the rows of the last step. */
  working: { readonly table: PlanTable; readonly columns: readonly OutputColumn[] } | null;
}

/** The system column that has a table's OID. */
export const TABLE_OID = "tableoid";

export class Scope {
  items: readonly ScopeItem[] = [];
  /** Only the expression of a query inside it is used, so nothing may be lifted out of that expression. */
  expressionsOnly = false;
  readonly commonTables = new Map<string, CommonTable>();
  /** Collects this query's aggregates while its target list, HAVING and ORDER BY are bound. */
  aggregates: AggregateCollector | null = null;
  /** Collects this query's windows while its target list and ORDER BY are bound. */
  windows: WindowCollector | null = null;

  /** In a query whose expressions are told apart: its subqueries by what is written; else null. */
  alikeSubqueries: Map<string, object> | null = null;

  /** FOR UPDATE and the like of this query, and the keys of the rows that it names. */
  locks: LockedRows | null = null;

  /** Its FROM has one item, which is no join. */
  isOfOneItem = false;

  /** Which of its targets are columns of tables. */
  origins: readonly (OutputColumn["origin"] | null)[] = [];

  /** In RETURNING of MERGE: what was done with the row. */
  mergeAction: Expr | null = null;

  constructor(
    readonly parent: Scope | null,
    private readonly functionVariables: Variables | null = null,
  ) {}

  /** It is around a statement inside a function, whose variables it has. */
  get isOfVariables(): boolean {
    return this.functionVariables !== null;
  }

  /** It is of the statement itself, and of no query inside it. */
  get isOutermost(): boolean {
    return this.parent === null || this.parent.isOfVariables;
  }

  /** MERGE_ACTION(), here or in a subquery of the list. */
  mergeActionHere(): Expr | null {
    return this.mergeAction ?? this.parent?.mergeActionHere() ?? null;
  }

  commonTable(name: string): CommonTable | null {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      const found = scope.commonTables.get(name);
      if (found !== undefined) return found;
    }
    return null;
  }

  /** Those that a relation of FROM may name. */
  commonTableNames(): string[] {
    return [...this.commonTables.keys(), ...(this.parent?.commonTableNames() ?? [])];
  }

  /** The column that a reference means, innermost query first. Throws 42703, 42702 or 42P01. */
  resolve(node: ColumnNode): FoundColumn {
    const variables = this.variables();
    if (variables === null) return this.resolveColumn(node);
    const variable = variables.find(node.path, node.position);
    if (variable === null) return this.resolveColumn(node);
    const found = { ...variable, item: VARIABLES, outer: true };
    if (variables.conflict === "variable") return found;
    const column = this.columnOrNull(node);
    if (column === null) return found;
    if (variables.conflict === "column") return column;
    throw sqlError("42702", `column reference "${node.path.join(".")}" is ambiguous`, {
      position: node.position,
      detail: "It could refer to either a PL/pgSQL variable or a table column.",
    });
  }

  /** `$n` of the function that contains the statement; null outside of a function. Throws 42P02. */
  functionParameter(index: number, position: number): Expr | null {
    const variables = this.variables();
    if (variables === null) return null;
    const expr = variables.parameter(index);
    if (expr === null) throw sqlError("42P02", `there is no parameter $${index + 1}`, { position });
    return expr;
  }

  /** Of the function that contains the statement. */
  private variables(): Variables | null {
    let scope: Scope = this;
    while (scope.parent !== null) scope = scope.parent;
    return scope.functionVariables;
  }

  private columnOrNull(node: ColumnNode): FoundColumn | null {
    try {
      return this.resolveColumn(node);
    } catch (error) {
      const state = error instanceof DbError ? error.details?.sqlstate : null;
      if (state === "42703" || state === "42P01") return null;
      throw error;
    }
  }

  private resolveColumn(node: ColumnNode): FoundColumn {
    const name = node.path[node.path.length - 1]!;
    const qualifier = node.path.slice(0, -1);
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      const found =
        qualifier.length === 0 ? scope.unqualified(name, node) : scope.qualified(qualifier, name, node.position);
      if (found !== null) return { ...found, outer: scope !== this };
    }
    if (qualifier.length > 0) throw this.missingFrom(qualifier.join("."), node.position);
    throw sqlError("42703", `column "${name}" does not exist`, { position: node.position, ...this.suggest(name) });
  }

  private unqualified(name: string, node: ColumnNode) {
    let found: (ScopeColumn & { item: ScopeItem }) | null = null;
    for (const item of this.items) {
      if (!item.unqualified) continue;
      for (const column of item.columns) {
        if (column.name !== name) continue;
        if (found !== null) {
          throw sqlError("42702", `column reference "${name}" is ambiguous`, { position: node.position });
        }
        found = { ...column, item };
      }
    }
    return found ?? (name === TABLE_OID ? this.systemColumn(node) : this.hiddenColumn(name, node));
  }

  private hiddenColumn(name: string, { position }: ColumnNode) {
    const items = this.items.filter((item) => item.qualifiable && !item.isVersion && item.hidden?.has(name));
    if (items.length > 1) throw sqlError("42702", `column reference "${name}" is ambiguous`, { position });
    const [item] = items;
    return item === undefined ? null : { name, expr: item.hidden!.get(name)!, item };
  }

  /** `tableoid` of the one table in this query. */
  private systemColumn({ position }: ColumnNode) {
    const items = this.items.filter((item) => item.tableOid !== undefined && item.qualifiable);
    if (items.length > 1) throw sqlError("42702", `column reference "${TABLE_OID}" is ambiguous`, { position });
    const [item] = items;
    return item === undefined ? null : { name: TABLE_OID, expr: item.tableOid!, item };
  }

  private qualified(qualifier: readonly string[], name: string, position: number) {
    const item = this.item(qualifier, position);
    if (item === null) return null;
    const columns = item.columns.filter((column) => column.name === name);
    if (columns.length > 1) throw sqlError("42702", `column reference "${name}" is ambiguous`, { position });
    const column = columns[0];
    if (column === undefined && name === TABLE_OID && item.tableOid !== undefined) {
      return { name, expr: item.tableOid, item };
    }
    const hidden = item.hidden?.get(name);
    if (column === undefined && hidden !== undefined) return { name, expr: hidden, item };
    if (column === undefined) {
      const names = item.columns.map((other) => other.name);
      throw sqlError("42703", `column ${item.name}.${name} does not exist`, { position, ...meant(name, names) });
    }
    return { ...column, item };
  }

  /** The relation that a qualifier names, in this query only. */
  private item(qualifier: readonly string[], position: number): ScopeItem | null {
    const name = qualifier[qualifier.length - 1]!;
    const schema = qualifier.length > 1 ? qualifier[qualifier.length - 2]! : null;
    const found = this.items.filter(
      (item) => item.qualifiable && item.name === name && (schema === null || item.schema === schema),
    );
    if (found.length > 1) throw sqlError("42P09", `table reference "${name}" is ambiguous`, { position });
    return found[0] ?? null;
  }

  /** The relation of `t.*`, in this or an enclosing query. Throws 42P01. */
  starItem(qualifier: readonly string[], position: number): ScopeItem {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      const item = scope.item(qualifier, position);
      if (item !== null) return item;
    }
    const variable = this.variables()?.find(qualifier, position) ?? null;
    if (variable?.expr.type.fields !== undefined) return itemOfVariable(variable);
    throw this.missingFrom(qualifier.join("."), position);
  }

  private missingFrom(name: string, position: number): Error {
    const names: string[] = [];
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      for (const item of scope.items) if (item.qualifiable && item.name !== null) names.push(item.name);
    }
    return sqlError("42P01", `missing FROM-clause entry for table "${name}"`, { position, ...meant(name, names) });
  }

  /** Whether a name is that of a relation rather than of a column. */
  isRelation(name: string): boolean {
    return (
      this.items.some((item) => item.qualifiable && item.name === name) || (this.parent?.isRelation(name) ?? false)
    );
  }

  /** The relation of this very query that has the column, for messages about grouping. */
  ownerOf(id: ColumnId): (ScopeColumn & { readonly item: ScopeItem }) | null {
    // A join's merged columns come after the relations they stem from, which have the better names.
    for (const item of this.items) {
      for (const { name, expr } of item.columns) {
        if (expr.kind === "column" && expr.id === id) return { item, name, expr };
      }
      const key = item.hidden?.key ?? null;
      if (key?.kind === "column" && key.id === id) return { item, name: "ctid", expr: key };
    }
    return null;
  }

  /** Whether the column is one of this very query's relations, or one of its aggregates. */
  owns(id: ColumnId): boolean {
    return this.ownerOf(id) !== null || (this.aggregates?.columnIds().includes(id) ?? false);
  }

  private suggest(name: string): { hint?: string } {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      for (const item of scope.items) {
        const close = item.columns.find((column) => column.name.toLowerCase() === name.toLowerCase());
        if (close !== undefined && item.name !== null) {
          return { hint: `Perhaps you meant to reference the column "${item.name}.${close.name}".` };
        }
      }
    }
    const names: string[] = [];
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      for (const item of scope.items) if (item.unqualified) names.push(...item.columns.map((column) => column.name));
    }
    return meant(name, names);
  }
}

/** Where variables of functions are found. */
export const VARIABLES: ScopeItem = {
  name: null,
  schema: null,
  columns: [],
  table: null,
  unqualified: false,
  qualifiable: false,
};

/** A variable that holds a row, as a relation of that one row. */
function itemOfVariable({ name, expr }: FoundVariable): ScopeItem {
  const columns = expr.type.fields!.map((field, i) => {
    const fn = fieldSelector(expr.type, i);
    return { name: field.name, expr: Object.freeze({ kind: "call", type: fn.returns, fn, args: [expr] } as const) };
  });
  return { name, schema: null, columns, table: null, unqualified: false, qualifiable: true };
}

/** Throws 42712 when two relations of one FROM have the same name. */
export function checkAliases(items: readonly ScopeItem[]): void {
  const seen = new Map<string, ScopeItem>();
  for (const item of items) {
    if (item.name === null || !item.qualifiable) continue;
    const other = seen.get(item.name);
    // Two tables of one name in different schemas can still be told apart.
    if (other !== undefined && !(item.schema !== null && other.schema !== null && item.schema !== other.schema)) {
      throw sqlError("42712", `table name "${item.name}" specified more than once`);
    }
    seen.set(item.name, item);
  }
}

/** Schema and name of a possibly qualified relation. Throws 0A000 for another database, 42601 for too many parts. */
export function relationOf(name: NameNode): { readonly schema: string | null; readonly name: string } {
  const { path, position } = name;
  const at = position > 0 ? { position } : undefined;
  if (path.length > 3)
    throw sqlError("42601", `improper qualified name (too many dotted names): ${path.join(".")}`, at);
  if (path.length === 3) {
    throw sqlError("0A000", `cross-database references are not implemented: "${path.join(".")}"`, at);
  }
  return { schema: path.length === 2 ? path[0]! : null, name: path[path.length - 1]! };
}
