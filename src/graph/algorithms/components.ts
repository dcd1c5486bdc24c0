/**
 * Connected components: weak ones by union and find (Tarjan, 1975), strong ones by depth-first search (Tarjan, 1972).
 * Components are numbered in the order of their first nodes.
 */
import {
  type Algorithm,
  type AlgorithmGraph,
  type AlgorithmResult,
  indexes,
  numbered,
  type Progress,
} from "./algorithm.js";
import { outgoing } from "./csr.js";

const COLUMNS = [
  { name: "node", kind: "node" },
  { name: "component", kind: "integer" },
] as const;

export const weaklyConnectedComponents: Algorithm = {
  name: "wcc",
  aliases: ["weaklyConnectedComponents", "connectedComponents", "weakComponents"],
  options: [],
  isWeighted: false,
  columns: COLUMNS,
  run: ({ nodes, src, dst }) => {
    const parent = indexes(nodes.length);
    const rootOf = (node: number): number => {
      let root = node;
      while (parent[root] !== root) root = parent[root]!;
      for (let at = node; at !== root; ) {
        const next = parent[at]!;
        parent[at] = root;
        at = next;
      }
      return root;
    };
    for (let i = 0; i < src.length; i++) {
      const [a, b] = [rootOf(src[i]!), rootOf(dst[i]!)];
      if (a < b) parent[b] = a;
      else parent[a] = b;
    }
    return resultOf(parent.map((_, node) => rootOf(node)));
  },
};

export const stronglyConnectedComponents: Algorithm = {
  name: "scc",
  aliases: ["stronglyConnectedComponents", "strongComponents"],
  options: [],
  isWeighted: false,
  columns: COLUMNS,
  run: (graph, _options, progress) => resultOf(strong(graph, progress)),
};

/** With a stack of its own, so that long paths do not overflow the thread's. */
function strong(graph: AlgorithmGraph, progress: Progress): Uint32Array {
  const { count, offsets, targets } = outgoing(graph);
  const order = new Int32Array(count).fill(-1);
  const low = new Int32Array(count);
  const component = new Uint32Array(count);
  const isOpen = new Uint8Array(count);
  const open: number[] = [];
  const path: number[] = [];
  const next = offsets.slice(0, count);
  let visited = 0;
  for (let start = 0; start < count; start++) {
    if (order[start] !== -1) continue;
    path.push(start);
    while (path.length > 0) {
      const node = path.at(-1)!;
      if (order[node] === -1) {
        order[node] = visited;
        low[node] = visited++;
        open.push(node);
        isOpen[node] = 1;
        if (visited % 65_536 === 0) progress(visited / count);
      }
      let deeper = -1;
      while (deeper === -1 && next[node]! < offsets[node + 1]!) {
        const target = targets[next[node]!++]!;
        if (order[target] === -1) deeper = target;
        else if (isOpen[target] === 1) low[node] = Math.min(low[node]!, order[target]!);
      }
      if (deeper !== -1) {
        path.push(deeper);
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) low[parent] = Math.min(low[parent]!, low[node]!);
      if (low[node] !== order[node]) continue;
      for (let member = -1; member !== node; ) {
        member = open.pop()!;
        isOpen[member] = 0;
        component[member] = node;
      }
    }
  }
  return component;
}

function resultOf(groups: Uint32Array): AlgorithmResult {
  const { of, count } = numbered(groups);
  return {
    columns: [
      { name: "node", kind: "node", values: indexes(of.length) },
      { name: "component", kind: "integer", values: of },
    ],
    rows: of.length,
    summary: { components: count },
  };
}
