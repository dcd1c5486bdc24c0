/** Where clients of Bolt find a partition, as a node's gateway sees the cluster (cluster-routes.ts). State: none. */
import type { BoltRoutes } from "../protocol/bolt/bolt-routes.js";
import type { ClusterView } from "./cluster-map.js";

/** Null: the owner is not known, or nobody reaches it by Bolt. */
export function boltRoutesOf(view: ClusterView | null, partition: number): BoltRoutes | null {
  const owner = view?.owners.get(partition);
  const serves = owner === undefined ? undefined : view!.members.get(owner.node)?.bolt;
  if (serves === undefined) return null;
  const nodes = [...view!.members.values()].filter(({ isFenced }) => !isFenced);
  return { owner: serves, nodes: nodes.flatMap(({ bolt }) => bolt ?? []) };
}
