/**
 * Which node shall own which partition: a function of the nodes that are alive, the same on each of them. A partition
 * goes to the node that its operator wishes, else to the one that is first in its own order of nodes (rendezvous
 * hashing) and has not its share of partitions yet. So a node that comes or goes moves few of them.
 *
 * An actor asks again and again (tenures.ts). So each partition's order of all nodes that were ever seen is kept, and
 * what the answer rests on; and the work gives way, since partitions and nodes may be many.
 */
import { createHash } from "node:crypto";
import { Turns } from "./turns.js";

export interface PlacementInput {
  /** Those that are alive. */
  readonly nodes: readonly string[];
  /** Of those, such as shall own nothing. */
  readonly draining: ReadonlySet<string>;
  readonly wants: ReadonlyMap<number, string>;
}

/** The nodes in the order in which they shall try to own the partition; empty when none is alive. */
export type OrderOf = (partition: number) => readonly string[];

/** Of a digest that orders nodes; what they leave open the name decides. */
const WEIGHT_BYTES = 6;

interface Weighed {
  readonly node: string;
  readonly weight: number;
}

export class Placement {
  private readonly known = new Set<string>();
  /** By partition: the known nodes in its order. */
  private readonly orders: Weighed[][];
  /** What the last answer rests on. */
  private key = "";
  private answer: OrderOf = () => [];

  constructor(private readonly partitions: number) {
    this.orders = Array.from({ length: partitions }, () => []);
  }

  /** One call at a time. */
  async place(input: PlacementInput): Promise<OrderOf> {
    const { nodes, draining, wants } = input;
    const key = JSON.stringify([[...nodes].sort(), [...draining].sort(), [...wants].sort(([a], [b]) => a - b)]);
    if (key === this.key) return this.answer;
    const turns = new Turns();
    for (const node of nodes) if (!this.known.has(node)) await this.learn(node, turns);
    this.answer = await this.placed(input, turns);
    this.key = key;
    return this.answer;
  }

  private async learn(node: string, turns: Turns): Promise<void> {
    for (let partition = 0; partition < this.partitions; partition++) {
      await turns.next();
      const one = { node, weight: weightOf(partition, node) };
      const order = this.orders[partition]!;
      order.splice(placeIn(order, one), 0, one);
    }
    this.known.add(node);
  }

  private async placed({ nodes, draining, wants }: PlacementInput, turns: Turns): Promise<OrderOf> {
    const staying = new Set(nodes.filter((node) => !draining.has(node)));
    const share = Math.ceil(this.partitions / Math.max(1, staying.size));
    const counts = new Map<string, number>();
    const count = (node: string): void => {
      counts.set(node, (counts.get(node) ?? 0) + 1);
    };
    const firsts = new Map<number, string>();
    for (const [partition, node] of wants) {
      if (partition >= this.partitions || !staying.has(node)) continue;
      firsts.set(partition, node);
      count(node);
    }
    for (let partition = 0; partition < this.partitions; partition++) {
      await turns.next();
      if (firsts.has(partition)) continue;
      const order = this.orders[partition]!;
      const first =
        order.find(({ node }) => staying.has(node) && (counts.get(node) ?? 0) < share) ??
        order.find(({ node }) => staying.has(node));
      if (first === undefined) continue;
      firsts.set(partition, first.node);
      count(first.node);
    }
    const last = [...nodes].filter((node) => draining.has(node));
    const found = new Map<number, readonly string[]>();
    return (partition) => {
      const known = found.get(partition);
      if (known !== undefined) return known;
      const first = firsts.get(partition);
      const order = this.orders[partition]!.map(({ node }) => node).filter((node) => staying.has(node));
      const rest = [...order, ...last].filter((node) => node !== first);
      const all = first === undefined ? rest : [first, ...rest];
      found.set(partition, all);
      return all;
    };
  }
}

/** Where it belongs. */
function placeIn(order: readonly Weighed[], { node, weight }: Weighed): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const there = order[middle]!;
    if (there.weight < weight || (there.weight === weight && there.node < node)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function weightOf(partition: number, node: string): number {
  return createHash("sha256").update(`${partition}/${node}`).digest().readUIntBE(0, WEIGHT_BYTES);
}
