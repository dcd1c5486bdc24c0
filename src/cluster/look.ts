/** What an actor's look at etcd found, and what follows from it for one partition. Used by tenures.ts. */
import { isReadyFor } from "./actor-readiness.js";
import type { ClusterView } from "./cluster-map.js";
import type { Claim } from "./log-service.js";
import type { OrderOf } from "./placement.js";

export interface Look {
  readonly view: ClusterView;
  readonly orderOf: OrderOf;
  /** Of nodes that have renewed: null. */
  readonly unseen: ReadonlyMap<string, NonNullable<Claim["unseen"]> | null>;
}

/** Who shall own the partition instead of the node that does; null: nobody who could serve it now. */
export function successorOf(owner: string, partition: number, { view, orderOf }: Look): string | null {
  const { members, draining } = view;
  const order = orderOf(partition);
  const [first] = order;
  if (first === undefined || first === owner) return null;
  const isReady = (name: string): boolean => isReadyFor(members.get(name), partition);
  if (isReady(first)) return first;
  // An owner that ends does not wait for the first. Others do: the partition would move twice.
  return draining.has(owner) ? (order.find((name) => isReady(name) && !draining.has(name)) ?? null) : null;
}

/** How many nodes come before this one when the partition is free; -1: it shall not have it. */
export function rankOf(node: string, partition: number, { view, orderOf }: Look): number {
  const isThere = (name: string): boolean => name === node || isReadyFor(view.members.get(name), partition);
  return orderOf(partition).filter(isThere).indexOf(node);
}

/** Who has most of the partition, of those that have more than the node and could serve it. */
export function richerThan(node: string, has: number, partition: number, view: ClusterView): string | null {
  const { members, durable } = view;
  const isThere = (name: string): boolean =>
    members.get(name)?.isFenced === false && isReadyFor(members.get(name), partition);
  const [richest] = [...(durable.get(partition) ?? [])]
    .filter(([name, sequence]) => name !== node && sequence > has && isThere(name))
    .sort(([, a], [, b]) => b - a);
  return richest?.[0] ?? null;
}

/** That any node has on its disk. */
export function newestIn(reports: ReadonlyMap<string, number> = new Map()): number {
  let newest = 0;
  for (const sequence of reports.values()) if (sequence > newest) newest = sequence;
  return newest;
}

/** All partitions are gone through this often, even if nothing has changed. */
const SCAN_MS = 1000;

/** Whether all of a node's partitions must be gone through after a look, or only those that it owns. */
export class Scans {
  private owners: unknown = null;
  private orderOf: unknown = null;
  private unseen = "";
  private scannedMs = Number.NEGATIVE_INFINITY;

  /** `isWaiting`: something of the last scan is under way. */
  isDue({ view, orderOf, unseen }: Look, isWaiting: boolean): boolean {
    const silent = [...unseen].flatMap(([node, since]) => (since === null ? [] : [node])).join();
    const isSame = view.owners === this.owners && orderOf === this.orderOf && silent === this.unseen;
    const now = performance.now();
    if (isSame && !isWaiting && now - this.scannedMs < SCAN_MS) return false;
    [this.owners, this.orderOf, this.unseen, this.scannedMs] = [view.owners, orderOf, silent, now];
    return true;
  }
}
