/** What an actor's look at etcd found, and what follows from it for one partition. Used by tenures.ts. */
import { isReadyFor } from "./actor-readiness.js";
import type { ClusterView } from "./cluster-map.js";
import type { Claim } from "./log-service.js";
import type { OrderOf } from "./placement.js";

/** Commits that a copy may lack when it is to become the owner's. */
export const LAG_MAX = 1000;

export interface Look {
  readonly view: ClusterView;
  readonly orderOf: OrderOf;
  /** Of nodes that have renewed: null. */
  readonly unseen: ReadonlyMap<string, NonNullable<Claim["unseen"]> | null>;
}

/** Who shall own the partition instead of the node that does; null: nobody who could serve it now. */
export function successorOf(owner: string, partition: number, { view, orderOf }: Look): string | null {
  const { members, draining, durable } = view;
  const order = orderOf(partition);
  const [first] = order;
  if (first === undefined || first === owner) return null;
  const isReady = (name: string): boolean => isReadyFor(members.get(name), partition);
  if (!draining.has(owner)) return isReady(first) ? first : null;
  // An owner that ends waits neither for the first nor for a copy. Others do: the partition would move twice.
  const copies = durable.get(partition);
  return order.find((name) => isReady(name) && !draining.has(name) && copies?.has(name)) ?? null;
}

/** Behind that many others, a node that keeps no copy tries last: it may have all there is, if that is little. */
const OUTSIDER_RANK = 10;

/**
 * How many nodes come before this one when the partition is free; -1: it shall not have it. Those come first whose
 * copies are up to date, so that nobody waits until another has caught up.
 */
export function rankOf(node: string, partition: number, { view, orderOf }: Look): number {
  const isThere = (name: string): boolean => name === node || isReadyFor(view.members.get(name), partition);
  const reports = view.durable.get(partition) ?? new Map<string, number>();
  const newest = newestIn(reports);
  const set = view.copySets.get(partition)?.nodes ?? null;
  const isOutside = (name: string): boolean => set !== null && !set.includes(name);
  const groupOf = (name: string): number => {
    if (isOutside(name)) return 2;
    return (reports.get(name) ?? 0) >= newest - LAG_MAX ? 0 : 1;
  };
  const there = orderOf(partition).filter(isThere);
  const rank = there.sort((a, b) => groupOf(a) - groupOf(b)).indexOf(node);
  return rank >= 0 && isOutside(node) ? rank + OUTSIDER_RANK : rank;
}

/** Who has most of the partition, of the nodes that renew, have more than that and could serve it. */
export function richerThan(
  { node, has, partition }: { readonly node: string; readonly has: number; readonly partition: number },
  { members, durable }: ClusterView,
  renewing: readonly string[],
): string | null {
  const isThere = (name: string): boolean => renewing.includes(name) && isReadyFor(members.get(name), partition);
  const [richest] = [...(durable.get(partition) ?? [])]
    .filter(([name, sequence]) => name !== node && sequence > has && isThere(name))
    .sort(([, a], [, b]) => b - a);
  return richest?.[0] ?? null;
}

/** To whom an owner that ends leaves the partition: of those that have a copy and could serve it, who has most. */
export function heirOf(partition: number, others: readonly string[], { members, durable }: ClusterView): string | null {
  const reports = durable.get(partition) ?? new Map<string, number>();
  const heirs = others.filter((name) => reports.has(name) && isReadyFor(members.get(name), partition));
  const isUpToDate = (name: string): boolean => reports.get(name)! >= newestIn(reports) - LAG_MAX;
  return heirs.find(isUpToDate) ?? heirs[0] ?? null;
}

/** That any node has on its disk. */
export function newestIn(reports: ReadonlyMap<string, number> = new Map()): number {
  let newest = 0;
  for (const sequence of reports.values()) if (sequence > newest) newest = sequence;
  return newest;
}

/** Between two nodes that could take the same partition. */
const RANK_MS = 300;

/** Partitions that are free, as an actor sees it, until it is its turn to take them. */
export class WaitingTurns {
  private readonly since = new Map<number, number>();

  get partitions(): Iterable<number> {
    return this.since.keys();
  }

  /** Negative: never. */
  isTurn(partition: number, rank: number): boolean {
    const now = performance.now();
    if (!this.since.has(partition)) this.since.set(partition, now);
    return rank >= 0 && now - this.since.get(partition)! >= rank * RANK_MS;
  }

  delete(partition: number): void {
    this.since.delete(partition);
  }

  clear(): void {
    this.since.clear();
  }
}

/** All partitions are gone through this often, even if nothing has changed. */
const SCAN_MS = 1000;

/**
 * Which of its partitions an actor goes through after a look. Nodes and partitions may be many, and while some change
 * their owners all of the nodes look: so it is those that have changed, as long as the nodes are the same.
 */
export class Scans {
  private owners: ClusterView["owners"] = new Map();
  private copySets: ClusterView["copySets"] = new Map();
  private orderOf: unknown = null;
  private unseen = "";
  private scannedMs = Number.NEGATIVE_INFINITY;

  /** `mine`: all of them. They are given back as they are when all are due. */
  due({ view, orderOf, unseen }: Look, mine: readonly number[]): readonly number[] {
    const silent = [...unseen].flatMap(([node, since]) => (since === null ? [] : [node])).join();
    const { owners, copySets } = this;
    const areSame = orderOf === this.orderOf && silent === this.unseen;
    [this.owners, this.copySets, this.orderOf, this.unseen] = [view.owners, view.copySets, orderOf, silent];
    const now = performance.now();
    if (!areSame || now - this.scannedMs >= SCAN_MS) {
      this.scannedMs = now;
      return mine;
    }
    if (owners === view.owners && copySets === view.copySets) return [];
    return mine.filter(
      (one) => view.owners.get(one) !== owners.get(one) || view.copySets.get(one) !== copySets.get(one),
    );
  }
}
