/**
 * Shortest paths from one node: breadth first, or by weights (Dijkstra, 1959) with a binary heap. A row per node that
 * is reached, the target alone when one is named. Of several shortest paths the one found first.
 */
import { DbError } from "../../protocol/errors.js";
import type { Algorithm, AlgorithmGraph, OptionDef, Options, Progress } from "./algorithm.js";
import { type Csr, incoming, outgoing, undirected } from "./csr.js";

const OPTIONS: readonly OptionDef[] = [
  { name: "source", aliases: ["source_node", "start"], type: "node" },
  { name: "target", aliases: ["target_node", "end"], type: "node", default: null },
  { name: "direction", type: "text", default: "out", values: ["out", "in", "both"] },
];
const COLUMNS = [
  { name: "node", kind: "node" },
  { name: "distance", kind: "float" },
  { name: "path", kind: "nodes" },
] as const;

export const bfs: Algorithm = {
  name: "bfs",
  aliases: ["breadthFirstSearch", "shortestPath"],
  options: OPTIONS,
  isWeighted: false,
  columns: COLUMNS,
  run: (graph, options, progress) => reached({ ...graph, weights: null }, options, progress),
};

export const dijkstra: Algorithm = {
  name: "dijkstra",
  aliases: ["shortestPathDijkstra", "sssp"],
  options: OPTIONS,
  isWeighted: true,
  columns: COLUMNS,
  run(graph, options, progress) {
    if (graph.weights?.some((weight) => !(weight >= 0)) === true) {
      throw new DbError("invalid_request", "shortest paths need weights that are not negative");
    }
    return reached(graph, options, progress);
  },
};

function reached(graph: AlgorithmGraph, options: Options, progress: Progress) {
  const { direction } = options;
  const csr = direction === "in" ? incoming(graph) : direction === "both" ? undirected(graph) : outgoing(graph);
  const source = options.source as number;
  const target = options.target as number | null;
  const distance = new Float64Array(csr.count).fill(Number.POSITIVE_INFINITY);
  const before = new Int32Array(csr.count).fill(-1);
  const order =
    csr.weights === null
      ? levels(csr, source, target, distance, before)
      : nearest(csr, source, target, distance, before, progress);
  const nodes = target === null ? order : order.filter((node) => node === target);
  return {
    columns: [
      { name: "node", kind: "node", values: nodes },
      { name: "distance", kind: "float", values: nodes.map((node) => distance[node]!) },
      { name: "path", kind: "nodes", values: nodes.map((node) => pathTo(node, before)) },
    ] as const,
    rows: nodes.length,
    summary: { reached: order.length },
  };
}

function pathTo(node: number, before: Int32Array): number[] {
  const path: number[] = [];
  for (let at = node; at !== -1; at = before[at]!) path.push(at);
  return path.reverse();
}

function levels(
  { offsets, targets }: Csr,
  source: number,
  target: number | null,
  distance: Float64Array,
  before: Int32Array,
): number[] {
  const queue = [source];
  distance[source] = 0;
  for (let at = 0; at < queue.length; at++) {
    const node = queue[at]!;
    if (node === target) break;
    for (let i = offsets[node]!; i < offsets[node + 1]!; i++) {
      const other = targets[i]!;
      if (distance[other] !== Number.POSITIVE_INFINITY) continue;
      distance[other] = distance[node]! + 1;
      before[other] = node;
      queue.push(other);
    }
  }
  return queue;
}

/** Nodes whose distance is settled, nearest first. */
function nearest(
  { offsets, targets, weights }: Csr,
  source: number,
  target: number | null,
  distance: Float64Array,
  before: Int32Array,
  progress: Progress,
): number[] {
  const settled: number[] = [];
  const isSettled = new Uint8Array(distance.length);
  const heap = new Heap();
  distance[source] = 0;
  heap.push(0, source);
  for (let node = heap.pop(); node !== -1; node = heap.pop()) {
    if (isSettled[node] === 1) continue;
    isSettled[node] = 1;
    settled.push(node);
    if (node === target) break;
    if (settled.length % 4096 === 0) progress(settled.length / distance.length);
    for (let i = offsets[node]!; i < offsets[node + 1]!; i++) {
      const other = targets[i]!;
      const length = distance[node]! + weights![i]!;
      if (length >= distance[other]!) continue;
      distance[other] = length;
      before[other] = node;
      heap.push(length, other);
    }
  }
  return settled;
}

/** Least key first; a node may be in it several times. */
class Heap {
  private readonly keys: number[] = [];
  private readonly nodes: number[] = [];

  push(key: number, node: number): void {
    let at = this.keys.length;
    this.keys.push(key);
    this.nodes.push(node);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.keys[parent]! <= key) break;
      this.keys[at] = this.keys[parent]!;
      this.nodes[at] = this.nodes[parent]!;
      at = parent;
    }
    this.keys[at] = key;
    this.nodes[at] = node;
  }

  /** −1: it is empty. */
  pop(): number {
    const { keys, nodes } = this;
    if (keys.length === 0) return -1;
    const first = nodes[0]!;
    const [key, node] = [keys.pop()!, nodes.pop()!];
    const { length } = keys;
    if (length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      if (child + 1 < length && keys[child + 1]! < keys[child]!) child++;
      if (keys[child]! >= key) break;
      keys[at] = keys[child]!;
      nodes[at] = nodes[child]!;
      at = child;
    }
    keys[at] = key;
    nodes[at] = node;
    return first;
  }
}
