/** A graph's adjacency as an index in memory, by the definition of its table of relationships. */
import { EDGE_COLUMN } from "../../catalog/graph.js";
import { storageOf, type TableDef } from "../../catalog/table.js";
import type { DerivedIndex, IndexPlace } from "../../derived/derived-index.js";
import type { IndexKind } from "../../derived/index-body.js";
import type { AdjacencyBody, EdgeItem } from "../../graph/adjacency-body.js";
import { adjacencyKind } from "../../graph/adjacency-kind.js";
import { decodeKey } from "../../storage/key-codec.js";
import type { Value } from "../../values/values.js";
import type { ExecContext } from "./context.js";
import { decoderOf, layoutOf } from "./table-layout.js";

/** Ids of nodes and relationships that typed arrays hold. */
const ID_MAX = 2 ** 32 - 2;

export type AdjacencyIndex = DerivedIndex<EdgeItem, AdjacencyBody>;

/** Of the tenant's table; its index id is the table's, which no index has. */
export function adjacencyPlace(tenantNumber: number, edges: TableDef): IndexPlace {
  const rowPrefix = layoutOf(edges).rowPrefixOf(tenantNumber);
  return { tenantNumber, storageId: storageOf(edges), indexId: edges.id, rowPrefix };
}

const kinds = new WeakMap<TableDef, IndexKind<EdgeItem, AdjacencyBody>>();

export function adjacencyKindOf(edges: TableDef): IndexKind<EdgeItem, AdjacencyBody> {
  let kind = kinds.get(edges);
  if (kind === undefined) {
    const { primaryKey } = layoutOf(edges);
    const slotOf = (key: Uint8Array, at: number) => decodeKey(key, at, primaryKey!.columns)[0] as number;
    kind = adjacencyKind(edgeReader(edges), slotOf);
    kinds.set(edges, kind);
  }
  return kind;
}

/** Null while it is not ready. Asking begins to make it. */
export function findAdjacency({ derived, tenantNumber }: ExecContext, edges: TableDef): AdjacencyIndex | null {
  if (derived === null) return null;
  const index = derived.find(adjacencyPlace(tenantNumber, edges), adjacencyKindOf(edges));
  return index === null || index.restCount > 0 ? null : index;
}

/** Reads a relationship's id, type and ends out of its record; null: they are not what typed arrays hold. */
export function edgeReader(edges: TableDef): (record: Uint8Array) => EdgeItem | null {
  const decode = decoderOf(layoutOf(edges), [EDGE_COLUMN.id, EDGE_COLUMN.type, EDGE_COLUMN.src, EDGE_COLUMN.dst]);
  const fields: Value[][] = [[], [], [], []];
  return (record) => {
    decode(record, fields, 0);
    const [id, type, src, dst] = fields.map(([value]) => value);
    return isId(id) && isId(src) && isId(dst) && typeof type === "string" ? { id, type, src, dst } : null;
  };
}

function isId(value: Value | undefined): value is number {
  return typeof value === "number" && value >= 0 && value <= ID_MAX;
}
