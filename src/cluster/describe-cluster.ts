/** What GET /admin/cluster tells of a cluster, whichever node is asked. */
import type { ClusterMap, ClusterView } from "./cluster-map.js";
import type { NodeRelease } from "./releases.js";

export async function describeCluster(
  map: Pick<ClusterMap, "view" | "meta" | "releases">,
  partitions: number,
): Promise<object> {
  const [view, releases, found] = await Promise.all([map.view(), map.releases(), map.meta()]);
  return {
    format: found?.meta.format ?? null,
    nodes: describeNodes(view, releases.nodes),
    partitions: Array.from({ length: partitions }, (_, partition) => describePartition(view, partition)),
  };
}

function describeNodes(
  { members, draining }: ClusterView,
  releases: ReadonlyMap<string, NodeRelease>,
): readonly object[] {
  return [...members].map(([node, { address, isFenced }]) => {
    const why = draining.get(node) ?? null;
    const { release = null, formats = null } = releases.get(node) ?? {};
    return {
      ...{ node, address: address ?? null, fenced: isFenced, draining: why !== null, draining_because: why },
      ...{ release, formats },
    };
  });
}

function describePartition(view: ClusterView, partition: number): object {
  const owner = view.owners.get(partition);
  return {
    ...{ partition, owner: owner?.node ?? null, epoch: owner?.epoch ?? 0 },
    ...{ wanted: view.wants.get(partition) ?? null, kept_by: view.copySets.get(partition)?.nodes ?? null },
    checkpoint: view.checkpoints.get(partition)?.sequence ?? null,
    durable: Object.fromEntries(view.durable.get(partition) ?? []),
  };
}
