/** What binding a query tells about the nodes of its tree, for those who print it as PostgreSQL does. */
import type { Expr } from "../../../query/expr/expr.js";

export interface NotedColumn {
  readonly name: string;
  readonly expr: Expr;
}

/** A relation in FROM as a scope has it. */
export interface NotedItem {
  /** The alias; null for a join without one. */
  readonly name: string | null;
  readonly unqualified: boolean;
  readonly qualifiable: boolean;
  readonly columns: readonly NotedColumn[];
}

export interface BindingNotes {
  /** What each node of an expression was bound to, before its place gave it another type. */
  readonly exprs: Map<object, Expr>;
  /** Of nodes that name a column: which one. */
  readonly columns: Map<object, NotedColumn & { readonly item: Pick<NotedItem, "name"> }>;
  /** Of nodes that name a relation's whole row: the relation. */
  readonly rows: Map<object, NotedItem>;
  /** Of nodes of FROM: the relations that they make. */
  readonly items: Map<object, readonly NotedItem[]>;
}

export function newNotes(): BindingNotes {
  return { exprs: new Map(), columns: new Map(), rows: new Map(), items: new Map() };
}
