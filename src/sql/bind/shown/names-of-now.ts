/** The names of relations and types as a session's search path needs them, for texts that are printed now. */
import type { CatalogView } from "../../../catalog/catalog-view.js";
import type { ViewQuery, ViewRelation } from "../../../catalog/kept-query.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import { oidOfId } from "../../../query/expr/types.js";
import type { SqlType } from "../../../values/values.js";
import type { NameNode } from "../../parse/ast-query.js";
import { catalogIndex } from "../system/catalog-index.js";
import { shownType } from "../system/object-names.js";
import { qualified } from "../system/relation-facts.js";
import { findSystemRelation } from "../system/system-relations.js";
import { NotPrinted, type RelationOfNow } from "./print-context.js";

export class NamesOfNow {
  constructor(
    readonly catalog: CatalogView,
    private readonly searchPath: readonly string[],
    readonly timeZone: string,
    /** Whose names are printed; null: a text with the names of now. */
    private readonly query: ViewQuery | null,
  ) {}

  type(type: SqlType): string {
    const text = shownType({ catalog: this.catalog, searchPath: this.searchPath }, type);
    // "character" is one character, and bit one bit.
    return text.replace(/^character(?=$|\[)/, "bpchar").replace(/^bit(?=$|\[)/, '"bit"');
  }

  relation(name: NameNode): RelationOfNow {
    const then = this.query === null ? null : this.meant(name, this.query);
    if (then !== null) return this.relationById(then);
    const own = name.path.at(-1)!;
    const schema = name.path.length > 1 ? name.path.at(-2)! : null;
    const isSeen = schema === null || this.schemaOf(own) === schema;
    return { name: own, text: isSeen ? quoteIdentifier(own) : qualified({ schema, name: own }), columns: null };
  }

  /** The relation of the view's text. */
  private meant({ path }: NameNode, { relations, searchPath }: ViewQuery): ViewRelation | null {
    const own = path.at(-1)!;
    for (const schema of path.length > 1 ? [path.at(-2)!] : searchPath) {
      const found = relations.find((relation) => relation.name === own && relation.schema === schema);
      if (found !== undefined) return found;
    }
    return null;
  }

  private relationById(then: ViewRelation): RelationOfNow {
    const oid = oidOfId(then.id);
    const now = oid === undefined ? undefined : catalogIndex(this.catalog).relations.get(oid);
    if (now === undefined) throw new NotPrinted("a relation that is gone");
    const { schema, name } = now;
    const text = this.schemaOf(name) === schema ? quoteIdentifier(name) : qualified({ schema, name });
    return { name, text, columns: this.columnsOf(then) };
  }

  /** Names of now by those of then; null: they are the same. */
  private columnsOf(then: ViewRelation): ReadonlyMap<string, string> | null {
    const table = this.catalog.tableById(then.id);
    const view = table === null ? this.catalog.views().find(({ id }) => id === then.id) : undefined;
    const names = new Map<number, string>(
      table?.columns.map(({ id, name }) => [id, name]) ?? view?.columns.map(({ name }, id) => [id, name]) ?? [],
    );
    const isSame = then.columns.every(({ id, name }) => (names.get(id) ?? name) === name);
    return isSame ? null : new Map(then.columns.map(({ id, name }) => [name, names.get(id) ?? name]));
  }

  /** The schema in which a name without one is found. */
  private schemaOf(name: string): string | null {
    const { catalog } = this;
    const isThere = (schema: string) =>
      (catalog.table(schema, name) ?? catalog.view(schema, name) ?? catalog.sequence(schema, name)) !== null ||
      findSystemRelation(schema, name) !== null;
    const found = this.searchPath.find(isThere);
    return found ?? (isThere("pg_catalog") ? "pg_catalog" : null);
  }
}
