/** What algorithms find of nodes, as the colours and sizes of the nodes that are shown. Pure, but for the nodes. */
import { GROUPS_MAX } from "../../ui/graph-drawing.js";
import { captionOf, type GraphNode } from "../../ui/graph-model.js";

/** By id of the node. */
export type Measures = ReadonlyMap<number, number>;

interface Algorithm {
  /** Of the procedure algo.NAME. */
  readonly name: string;
  readonly column: string;
  readonly label: string;
}

export const GROUPINGS: readonly Algorithm[] = [
  { name: "louvain", column: "community", label: "Communities (Louvain)" },
  { name: "labelPropagation", column: "community", label: "Communities (label propagation)" },
  { name: "wcc", column: "component", label: "Connected parts" },
  { name: "scc", column: "component", label: "Strongly connected parts" },
  { name: "kCore", column: "core", label: "Cores" },
];

export const WEIGHTS: readonly Algorithm[] = [
  { name: "pageRank", column: "score", label: "PageRank" },
  { name: "betweenness", column: "score", label: "Betweenness" },
  { name: "closeness", column: "score", label: "Closeness" },
  { name: "degree", column: "score", label: "All relationships" },
  { name: "triangleCount", column: "triangles", label: "Triangles" },
];

export interface Group {
  /** The place of its colour; 0: of all small ones together. */
  readonly place: number;
  readonly label: string;
  readonly count: number;
}

/**
 * The largest groups among those nodes get colours. They are called after the node with the most relationships, where
 * their number says nothing. Null: labels count again.
 */
export function applyGroups(
  nodes: readonly GraphNode[],
  found: Measures | null,
  isNumbered: boolean,
): readonly Group[] {
  const counts = new Map<number, number>();
  for (const { id } of found === null ? [] : nodes) {
    const group = found!.get(id);
    if (group !== undefined) counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  const largest = [...counts].sort((a, b) => b[1] - a[1]).slice(0, GROUPS_MAX);
  const places = new Map(largest.map(([group], i) => [group, i + 1]));
  const leaders: GraphNode[] = [];
  for (const node of nodes) {
    node.group = found === null ? undefined : (places.get(found.get(node.id)!) ?? 0);
    if (node.group !== undefined && node.degree > (leaders[node.group]?.degree ?? -1)) leaders[node.group] = node;
  }
  const groups = largest.map(([group, count], i): Group => {
    const label = isNumbered ? String(group) : captionOf(leaders[i + 1]!);
    return { place: i + 1, label, count };
  });
  const rest = found === null ? 0 : nodes.length - groups.reduce((sum, { count }) => sum + count, 0);
  return rest > 0 ? [...groups, { place: 0, label: "others", count: rest }] : groups;
}

/** The largest value among those nodes is the largest node. Null: what is shown counts again. */
export function applyWeights(nodes: readonly GraphNode[], found: Measures | null): void {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { id } of found === null ? [] : nodes) {
    const value = found!.get(id) ?? 0;
    [least, most] = [Math.min(least, value), Math.max(most, value)];
  }
  const span = most - least || 1;
  for (const node of nodes) {
    node.weight = found === null ? undefined : ((found.get(node.id) ?? least) - least) / span;
  }
}
