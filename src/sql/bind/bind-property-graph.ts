/** CREATE PROPERTY GRAPH and DROP PROPERTY GRAPH of SQL/PGQ: checks the tables, keys, labels and properties. */
import type { CatalogView } from "../../catalog/catalog-view.js";
import type { CreatePropertyGraphCommand, DropPropertyGraphsCommand } from "../../catalog/ddl-command.js";
import type { ViewRelation } from "../../catalog/kept-query.js";
import type { EdgeEnd, EdgeTable, ElementLabel, ElementProperty, ElementTable } from "../../catalog/property-graph.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { displayName } from "../../query/expr/types.js";
import type {
  ColumnNameNode,
  CreatePropertyGraphStatement,
  DropPropertyGraphStatement,
  EdgeEndNode,
  EdgeTableNode,
  ElementLabelNode,
  ElementTableNode,
} from "../parse/ast-property-graph.js";
import type { TargetNode } from "../parse/ast-query.js";
import { lookUpTable } from "./bind-from.js";
import { type Binding, PLAIN_QUERY } from "./binding.js";
import { columnNode, elementQuery } from "./graph-element-query.js";
import { firstFound, newName } from "./names.js";
import { relationOf } from "./scope.js";
import { columnsRead, writtenSql } from "./stored-expression.js";

export function bindCreatePropertyGraph(
  node: CreatePropertyGraphStatement,
  binding: Binding,
): CreatePropertyGraphCommand {
  const { schema, name } = newName(node.name, binding.env);
  const builder = new GraphBuilder(binding);
  const vertices = node.vertices.map((vertex) => builder.vertex(vertex));
  const edges = node.edges.map((edge) => builder.edge(edge));
  const query = { sql: node.text, searchPath: binding.env.searchPath, relations: builder.relations() };
  return {
    kind: "create property graph",
    schema,
    name,
    ifNotExists: node.ifNotExists,
    graph: { vertices, edges },
    query,
  };
}

export function bindDropPropertyGraph(
  { names, ifExists, cascade }: DropPropertyGraphStatement,
  { env }: Binding,
): DropPropertyGraphsCommand {
  const graphs = names.map((given) => {
    const { schema, name } = relationOf(given);
    const has = (path: string) => (isRelation(env.catalog, path, name) ? path : null);
    const found = firstFound({ schema, name }, env, has);
    return { schema: found ?? schema ?? env.searchPath[0]!, name, position: given.position };
  });
  return { kind: "drop property graphs", graphs, ifExists, cascade };
}

const isRelation = (catalog: CatalogView, schema: string, name: string): boolean =>
  catalog.propertyGraph(schema, name) !== null ||
  catalog.table(schema, name) !== null ||
  catalog.view(schema, name) !== null;

/** The tables of one graph while it is made. */
class GraphBuilder {
  private readonly tables = new Map<string, { readonly table: TableDef; readonly element: ElementTable }>();
  /** Column ids that the definition uses, by table. */
  private readonly used = new Map<TableDef, Set<number>>();
  /** Of properties by their name. */
  private readonly types = new Map<string, string>();

  constructor(private readonly binding: Binding) {}

  vertex(node: ElementTableNode): ElementTable {
    const table = this.table(node);
    return this.added(table, this.element(node, table), node.position);
  }

  edge(node: EdgeTableNode): EdgeTable {
    const table = this.table(node);
    const element: EdgeTable = {
      ...this.element(node, table),
      source: this.end(node.source, table, node, "SOURCE"),
      destination: this.end(node.destination, table, node, "DESTINATION"),
    };
    return this.added(table, element, node.position);
  }

  /** What the definition depends on. */
  relations(): ViewRelation[] {
    return [...this.used].map(([{ id, schema, name, columns }, used]): ViewRelation => {
      const all = columns.map((column) => ({ id: column.id, name: column.name, used: used.has(column.id) }));
      return { kind: "table", id, schema, name, columns: all };
    });
  }

  private table({ table: name }: ElementTableNode): TableDef {
    const table = lookUpTable(name, this.binding);
    if (!this.used.has(table)) this.used.set(table, new Set());
    return table;
  }

  private added<T extends ElementTable>(table: TableDef, element: T, position: number): T {
    if (this.tables.has(element.alias)) {
      const message = `alias "${element.alias}" used more than once as element table`;
      throw sqlError("42712", message, { position, hint: "Use AS to give the table another name in the graph." });
    }
    this.tables.set(element.alias, { table, element });
    return element;
  }

  private element({ alias, key, labels, position }: ElementTableNode, table: TableDef): ElementTable {
    const ids = key === null ? table.primaryKey : this.columns(key, table);
    if (ids === null) {
      const message = `no key specified and no suitable primary key exists for definition of element "${alias}"`;
      throw sqlError("42P16", message, { position });
    }
    this.uses(table, ids);
    const nodes: readonly ElementLabelNode[] =
      labels.length > 0 ? labels : [{ name: null, properties: "all", position }];
    const named = new Set<string>();
    const made = nodes.map((node) => {
      const name = node.name ?? alias;
      if (named.has(name)) {
        throw sqlError("42701", `label "${name}" is given twice`, { position: node.position });
      }
      named.add(name);
      return this.label(name, node, { tableId: table.id, alias }, table);
    });
    return { alias, tableId: table.id, key: ids, labels: made };
  }

  private label(
    name: string,
    { properties, position }: ElementLabelNode,
    element: Pick<ElementTable, "tableId" | "alias">,
    table: TableDef,
  ): ElementLabel {
    const targets = this.propertyTargets(properties, table, position);
    for (const { expr } of targets) {
      const read = columnsRead(expr);
      this.uses(
        table,
        table.columns.filter((column) => read.includes(column.name)).map(({ id }) => id),
      );
    }
    if (targets.length === 0) return { name, properties: [] };
    const { env } = this.binding;
    const query = elementQuery(element, targets, new Set(), this.relations(), env.catalog);
    const source = this.binding.query(query, null, PLAIN_QUERY);
    const made = targets.map(({ expr, position: at }, i): ElementProperty => {
      const column = source.columns[i]!;
      return {
        name: column.name,
        sql: writtenSql(expr),
        type: this.propertyType(column.name, displayName(column.type), at),
      };
    });
    return { name, properties: made };
  }

  private propertyTargets(
    properties: ElementLabelNode["properties"],
    table: TableDef,
    position: number,
  ): readonly TargetNode[] {
    if (properties === "none") return [];
    if (Array.isArray(properties)) return properties as readonly TargetNode[];
    const except = properties === "all" ? [] : this.columns((properties as { except: ColumnNameNode[] }).except, table);
    return table.columns
      .filter(({ id }) => !except.includes(id))
      .map(({ name }) => ({ expr: columnNode(name), name, position }));
  }

  /** One property has one type, wherever it is. Throws 42804. */
  private propertyType(name: string, type: string, position: number): string {
    const known = this.types.get(name);
    if (known !== undefined && known !== type) {
      throw sqlError("42804", `property "${name}" data type mismatch: ${known} vs. ${type}`, {
        position,
        detail: "In a property graph, a property of the same name has to have the same data type in each label.",
      });
    }
    this.types.set(name, type);
    return type;
  }

  private end(node: EdgeEndNode, table: TableDef, edge: ElementTableNode, side: "SOURCE" | "DESTINATION"): EdgeEnd {
    const { vertex, position } = node;
    const found = this.tables.get(vertex);
    if (found === undefined) {
      const message = `${side.toLowerCase()} vertex "${vertex}" of edge "${edge.alias}" does not exist`;
      throw sqlError("42P01", message, { position });
    }
    if (node.key === null) return this.endByForeignKey(node, table, edge, side, found.table);
    const columns = this.columns(node.key, table);
    const references = node.references === null ? found.element.key : this.columns(node.references, found.table);
    if (columns.length !== references.length) {
      const message = `number of columns in ${side} key of edge "${edge.alias}" does not match the key it references`;
      throw sqlError("42P16", message, { position });
    }
    this.uses(table, columns);
    this.uses(found.table, references);
    return { columns, vertex, references };
  }

  private endByForeignKey(
    { vertex, position }: EdgeEndNode,
    table: TableDef,
    { alias }: ElementTableNode,
    side: string,
    target: TableDef,
  ): EdgeEnd {
    const keys = (table.foreignKeys ?? []).filter((key) => key.tableId === target.id);
    if (keys.length !== 1) {
      const which = keys.length === 0 ? "no suitable foreign key constraint exists" : "more than one foreign key fits";
      throw sqlError("42P16", `no ${side} key specified and ${which} for definition of edge "${alias}"`, {
        position,
        hint: `${side} KEY (columns) REFERENCES ${vertex} (columns) names the columns.`,
      });
    }
    const { columns, references } = keys[0]!;
    this.uses(table, columns);
    this.uses(target, references);
    return { columns, vertex, references };
  }

  private columns(names: readonly ColumnNameNode[], table: TableDef): number[] {
    return names.map(({ name, position }) => {
      const column = table.columns.find((other) => other.name === name);
      if (column !== undefined) return column.id;
      throw sqlError("42703", `column "${name}" of relation "${table.name}" does not exist`, { position });
    });
  }

  private uses(table: TableDef, ids: readonly number[]): void {
    const used = this.used.get(table);
    if (used === undefined) this.used.set(table, new Set(ids));
    else for (const id of ids) used.add(id);
  }
}
