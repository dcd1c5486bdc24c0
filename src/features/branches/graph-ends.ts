/**
 * Relationships and their nodes in merges: a row of one of a graph's two tables may be merged, and what it needs of the
 * other may not be there. Collects what a merge is to write, and finds relationships that would lose an end. Made by
 * branch-merge.ts, for one merge.
 */
import { EDGE_COLUMN, type GraphTables, graphDefOf, graphOf, NODE_COLUMN } from "../../catalog/graph.js";
import type { GraphDef, TableDef } from "../../catalog/table.js";
import type { ExecContext } from "../../query/exec/context.js";
import { EdgeFinder } from "../../query/exec/edge-finder.js";
import { layoutOf } from "../../query/exec/table-layout.js";
import { encodeKey } from "../../storage/key-codec.js";
import type { Row } from "./row-changes.js";

/** Rows that are looked at in a turn. */
const ROWS_AT_ONCE = 8;

/** What is to be written of a graph, by ids. */
interface Written {
  readonly madeNodes: Set<number>;
  readonly goneNodes: Set<number>;
  readonly edges: Map<number, Row>;
  readonly goneEdges: Set<number>;
}

/** A relationship that would be without a node, as it is (`ours`) and is to be (`theirs`). */
export interface LooseEdge {
  readonly table: TableDef;
  readonly ours: Row | null;
  readonly theirs: Row | null;
}

export class GraphEnds {
  private readonly graphs = new Map<string, Written>();

  /** The row is to be written so; null: it is to go. */
  note(table: TableDef, before: Row | null, after: Row | null): void {
    const graph = graphDefOf(table);
    if (graph === null) return;
    const written = this.writtenOf(graph);
    const id = (after ?? before)![NODE_COLUMN.id] as number;
    if (graph.of === "nodes") (after === null ? written.goneNodes : written.madeNodes).add(id);
    else if (after === null) written.goneEdges.add(id);
    else written.edges.set(id, after);
  }

  /** To be asked before anything is written. */
  async *loose(context: ExecContext, yieldTurn: () => Promise<void>): AsyncIterable<LooseEdge> {
    const view = context.services.catalogView();
    let count = 0;
    for (const [name, written] of this.graphs) {
      const tables = graphOf(view, name);
      if (tables === null) continue;
      const { nodes, edges: table } = tables;
      const finder = new EdgeFinder(table, context);
      for (const theirs of written.edges.values()) {
        const ends = [theirs[EDGE_COLUMN.src], theirs[EDGE_COLUMN.dst]] as number[];
        if (!ends.every((id) => isThere(id, nodes, written, context))) yield { table, ours: null, theirs };
        if (++count % ROWS_AT_ONCE === 0) await yieldTurn();
      }
      for (const id of written.goneNodes) {
        const left: Row[] = [];
        finder.each(id, (edge) => {
          const edgeId = edge[EDGE_COLUMN.id] as number;
          if (!written.goneEdges.has(edgeId) && !written.edges.has(edgeId)) left.push(edge);
        });
        for (const ours of left) yield { table, ours, theirs: null };
        if (++count % ROWS_AT_ONCE === 0) await yieldTurn();
      }
    }
  }

  private writtenOf({ graph }: GraphDef): Written {
    let written = this.graphs.get(graph);
    if (written === undefined) {
      written = { madeNodes: new Set(), goneNodes: new Set(), edges: new Map(), goneEdges: new Set() };
      this.graphs.set(graph, written);
    }
    return written;
  }
}

/** Whether the node will be there. Who deletes it meanwhile and the merge cannot both commit. */
function isThere(id: number, nodes: GraphTables["nodes"], written: Written, context: ExecContext): boolean {
  if (written.madeNodes.has(id)) return true;
  if (written.goneNodes.has(id)) return false;
  const layout = layoutOf(nodes);
  const key = encodeKey(layout.rowPrefixOf(context.tenantNumber), layout.primaryKey!.columns, [id]);
  return context.tx.get(key) !== undefined;
}

/** A graph's other table, where a merge of `names` would leave it out; null: none is left out. */
export function leftOut(table: TableDef, tables: Iterable<TableDef>, isNamed: (table: TableDef) => boolean) {
  const graph = graphDefOf(table);
  if (graph === null) return null;
  for (const other of tables) {
    if (graphDefOf(other)?.graph === graph.graph && !isNamed(other)) return other;
  }
  return null;
}
