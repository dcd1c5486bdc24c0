/**
 * Makes an adjacency from the definition of a table of relationships, for the life of indexes in memory (src/derived).
 */
import type { IndexKind } from "../derived/index-body.js";
import { AdjacencyBody, type EdgeItem } from "./adjacency-body.js";

/** Grows when what is saved changes. */
const VERSION = 1;

/**
 * `itemOf` reads a relationship out of a record; null: ids do not fit, and the index is of no use. `slotOf` reads its
 * id out of its key.
 */
export function adjacencyKind(
  itemOf: (record: Uint8Array) => EdgeItem | null,
  slotOf: (key: Uint8Array, at: number) => number,
): IndexKind<EdgeItem, AdjacencyBody> {
  return {
    definition: `adjacency ${VERSION}`,
    create: () => new AdjacencyBody(),
    load: (bytes) => AdjacencyBody.load(bytes),
    isBody: (body) => body instanceof AdjacencyBody,
    itemOf,
    slotOf,
  };
}
