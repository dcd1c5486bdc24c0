/**
 * Which node shall own which partition: a function of the nodes that are alive, the same on each of them. A partition goes to the
 * node that its operator wishes, else to the one that is first in its own order of nodes (rendezvous hashing) and has not its share
 * of partitions yet. So a node that comes or goes moves few of them.
 */
import { createHash } from "node:crypto";

export interface PlacementInput {
  readonly partitions: number;
  /** Those that are alive. */
  readonly nodes: readonly string[];
  /** Of those, such as shall own nothing. */
  readonly draining: ReadonlySet<string>;
  readonly wants: ReadonlyMap<number, string>;
}

/** By partition: the nodes in the order in which they shall try to own it; empty when none is alive. */
export function placePartitions({ partitions, nodes, draining, wants }: PlacementInput): readonly string[][] {
  const staying = nodes.filter((node) => !draining.has(node));
  const share = Math.ceil(partitions / Math.max(1, staying.length));
  const counts = new Map<string, number>();
  const numbers = Array.from({ length: partitions }, (_, partition) => partition);
  const wished = (partition: number): string | undefined => staying.find((node) => node === wants.get(partition));
  for (const partition of numbers) {
    const node = wished(partition);
    if (node !== undefined) counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return numbers.map((partition) => {
    const order = inOrder(partition, staying);
    let first = wished(partition);
    if (first === undefined) {
      first = order.find((node) => (counts.get(node) ?? 0) < share) ?? order[0];
      if (first !== undefined) counts.set(first, (counts.get(first) ?? 0) + 1);
    }
    const rest = [...order, ...nodes.filter((node) => draining.has(node))].filter((node) => node !== first);
    return first === undefined ? rest : [first, ...rest];
  });
}

function inOrder(partition: number, nodes: readonly string[]): string[] {
  const weights = new Map(nodes.map((node) => [node, weightOf(`${partition}/${node}`)]));
  return [...nodes].sort((a, b) => weights.get(a)!.compare(weights.get(b)!));
}

function weightOf(name: string): Buffer {
  return createHash("sha256").update(name).digest();
}
