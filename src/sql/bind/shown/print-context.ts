/** What printing one query needs to know: what binding found, the names of now, and the layout. */
import type { CatalogView } from "../../../catalog/catalog-view.js";
import type { ColumnId, Expr } from "../../../query/expr/expr.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import type { SqlType } from "../../../values/values.js";
import type { FromNode, NameNode, QueryNode } from "../../parse/ast-query.js";
import type { Layout } from "./layout.js";
import type { BindingNotes, NotedColumn, NotedItem } from "./notes.js";

/** Thrown for what is not printed: the text stays as it was written. */
export class NotPrinted extends Error {}

/** A relation as it is called now. */
export interface RelationOfNow {
  readonly name: string;
  /** With its schema where the search path needs it. */
  readonly text: string;
  /** Names of its columns by those that the text has; null: they are the same. */
  readonly columns: ReadonlyMap<string, string> | null;
}

/** What names are now. */
export interface Names {
  readonly catalog: CatalogView;
  readonly timeZone: string;
  type(type: SqlType): string;
  relation(name: NameNode): RelationOfNow;
}

/** Names at one level of queries inside each other. */
export class Level {
  private readonly columns = new Map<ColumnId, string>();
  /** As they are named here, and not in queries inside. */
  private readonly own = new Map<ColumnId, string>();
  private readonly rows = new Map<NotedItem, string>();
  /** Of relations, here. */
  readonly taken = new Set<string>();

  /** `renamed`: names of now by those of the item's columns. */
  add(item: NotedItem, alias: string, renamed: ReadonlyMap<string, string> | null = null): void {
    this.rows.set(item, alias);
    for (const { name, expr } of item.columns) {
      if (expr.kind !== "column") continue;
      this.columns.set(expr.id, `${quoteIdentifier(alias)}.${quoteIdentifier(renamed?.get(name) ?? name)}`);
    }
  }

  /** The only relation, whose columns need a name before theirs in queries inside alone. */
  addOwn(item: NotedItem, alias: string, renamed: ReadonlyMap<string, string>): void {
    this.add(item, alias, renamed);
    for (const { name, expr } of item.columns) {
      if (expr.kind === "column") this.own.set(expr.id, quoteIdentifier(renamed.get(name) ?? name));
    }
  }

  /** The only relation, whose columns need no name before theirs. */
  addBare(item: NotedItem): void {
    for (const { name, expr } of item.columns) {
      if (expr.kind === "column") this.columns.set(expr.id, quoteIdentifier(name));
    }
  }

  /** Of a domain's condition. */
  addValue(id: ColumnId): void {
    this.columns.set(id, "VALUE");
  }

  /** `isHere`: the name stands in no query inside. */
  column(id: ColumnId, isHere = false): string | undefined {
    return (isHere ? this.own.get(id) : undefined) ?? this.columns.get(id);
  }

  row(item: NotedItem): string | undefined {
    const known = this.rows.get(item);
    if (known !== undefined) return known;
    const same = [...this.rows].find(([other]) => other.columns === item.columns || other.name === item.name);
    return same?.[1];
  }
}

/** Of one query and those inside it. */
export class PrintContext {
  readonly levels: Level[] = [];
  readonly withs: string[] = [];

  constructor(
    readonly notes: BindingNotes,
    /** Ids of the functions that statements made, by the nodes that call them. */
    readonly functionIds: Pick<WeakMap<object, number>, "get">,
    readonly names: Names,
    readonly layout: Layout,
    /** The query in parentheses, as an expression or relation has it. */
    readonly query: (query: QueryNode, isNamed: boolean) => string,
  ) {}

  bound(node: object): Expr {
    const expr = this.notes.exprs.get(node);
    if (expr === undefined) throw new NotPrinted("a part of the query was not bound");
    return expr;
  }

  items(node: FromNode): readonly NotedItem[] {
    const items = this.notes.items.get(node);
    if (items === undefined) throw new NotPrinted("a relation of the query was not bound");
    return items;
  }

  /** A name for a relation that no query around this one has. */
  aliasFor(wanted: string): string {
    const isTaken = (name: string) => this.levels.some(({ taken }) => taken.has(name));
    let name = wanted;
    for (let n = 1; isTaken(name); n++) name = `${wanted}_${n}`;
    this.levels.at(-1)!.taken.add(name);
    return name;
  }

  column({ expr, name, item }: NonNullable<ReturnType<BindingNotes["columns"]["get"]>>): string {
    const { id } = expr as { readonly id?: ColumnId };
    for (let i = this.levels.length - 1; i >= 0 && expr.kind === "column"; i--) {
      const found = this.levels[i]!.column(id!, i === this.levels.length - 1);
      if (found !== undefined) return found;
    }
    return item.name === null ? quoteIdentifier(name) : `${this.alias(item.name)}.${quoteIdentifier(name)}`;
  }

  /** Of a column that `*` means, or of a merged one. */
  listed(column: NotedColumn, item: NotedItem): string {
    return this.column({ ...column, item });
  }

  row(item: NotedItem): string {
    for (let i = this.levels.length - 1; i >= 0; i--) {
      const found = this.levels[i]!.row(item);
      if (found !== undefined) return quoteIdentifier(found);
    }
    throw new NotPrinted("a relation that is not in the query");
  }

  /** The name of a relation that is known by its own alone. */
  private alias(name: string): string {
    if (this.levels.filter(({ taken }) => taken.has(name)).length !== 1) throw new NotPrinted(`which ${name} is meant`);
    return quoteIdentifier(name);
  }
}
