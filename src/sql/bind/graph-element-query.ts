/**
 * A table of a property graph as a subquery: its properties under their names, and the columns by which edges meet
 * vertices. Made for GRAPH_TABLE (graph-table-query.ts) and to find the types of properties (bind-property-graph.ts).
 */
import type { CatalogView } from "../../catalog/catalog-view.js";
import type { ViewRelation } from "../../catalog/kept-query.js";
import type { ElementTable } from "../../catalog/property-graph.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { ExprNode, FromTable, QueryNode, TargetNode } from "../parse/ast-query.js";
import { plainSelect } from "../parse/plain-query.js";

/** What a subquery calls the column with an id; no property can have that name. */
export const keyName = (columnId: number): string => `\u0001key ${columnId}`;

export const columnNode = (...path: string[]): ExprNode => ({ kind: "column", path, star: false, position: 0 });

/**
 * `SELECT targets, keys FROM the table`. `relations`: what its columns were called when the graph was made; the
 * definition's expressions name them so.
 */
export function elementQuery(
  { tableId, alias }: Pick<ElementTable, "tableId" | "alias">,
  targets: readonly TargetNode[],
  keys: ReadonlySet<number>,
  relations: readonly ViewRelation[],
  catalog: CatalogView,
): QueryNode {
  const table = catalog.tableById(tableId);
  if (table === null) throw sqlError("42P01", `the table of graph element "${alias}" does not exist`);
  const names = columnNames(table, relations);
  const keyTargets = [...keys].map((id): TargetNode => {
    return { expr: columnNode(names.get(id)!), name: keyName(id), position: 0 };
  });
  const from: FromTable = {
    kind: "table",
    name: { path: [table.schema, table.name], tableId, position: 0 },
    alias: { name: alias, columns: table.columns.map(({ id }) => names.get(id)!) },
    sample: null,
    position: 0,
  };
  return plainSelect([...targets, ...keyTargets], [from], null);
}

/** By column id; a column that came later has a name that nothing uses. */
function columnNames({ id: tableId, columns }: TableDef, relations: readonly ViewRelation[]): Map<number, string> {
  const then = relations.find((relation) => relation.kind === "table" && relation.id === tableId)?.columns ?? [];
  return new Map(columns.map(({ id }) => [id, then.find((column) => column.id === id)?.name ?? `\u0001later ${id}`]));
}
