/** The cluster: its nodes, who owns which partition, and how far copies are; on one machine, how to make one. */
import { countText } from "../../lib/format.js";
import { useEvery, useGet } from "../../lib/load.js";
import { Badge } from "../../ui/button.js";
import { ListPanel } from "../../ui/list-table.js";
import { Failure, Waiting } from "../../ui/notice.js";
import { Facts, Panel } from "../../ui/panel.js";

interface ClusterNode {
  readonly node: string;
  readonly address: string | null;
  readonly fenced: boolean;
  /** Of its program; null: it has not said so. */
  readonly release: string | null;
  /** Why it shall own nothing; null: it may. */
  readonly draining_because: "ordered" | "ending" | "disk full" | null;
}

interface OwnedPartition {
  readonly partition: number;
  readonly owner: string | null;
  readonly epoch: number;
  /** Where it is to go; null: it stays. */
  readonly wanted: string | null;
  /** By node: up to which commit its disk has the log. */
  readonly durable: Readonly<Record<string, number>>;
}

type ClusterState =
  | { readonly enabled: false }
  | {
      readonly enabled: true;
      readonly node: string;
      readonly lease_left_ms: number;
      /** Of the data: the newest that nodes write. */
      readonly format: number;
      readonly nodes: readonly ClusterNode[];
      readonly partitions: readonly OwnedPartition[];
    };

const EVERY_MS = 3_000;

export function Cluster() {
  const { data, error, renew } = useGet<ClusterState>("/admin/cluster");
  useEvery(EVERY_MS, renew);
  if (data === undefined) return <Waiting error={error} />;
  if (!data.enabled) {
    return (
      <Panel title="Cluster">
        <p>
          This server runs alone. To make it a node of a cluster, give it the address of etcd and a name under{" "}
          <code>[cluster]</code>, as{" "}
          <a href="/docs/guide/cluster" target="_blank" rel="noreferrer">
            the guide
          </a>{" "}
          shows. <code>make cluster</code> tries one on one machine.
        </p>
      </Panel>
    );
  }
  const owned = (node: string): number => data.partitions.filter(({ owner }) => owner === node).length;
  return (
    <>
      <Failure error={error} />
      <Panel title="Cluster">
        <Facts
          facts={[
            ["This node", data.node],
            ["Lease ends in", `${countText(data.lease_left_ms)} ms`],
            ["Nodes", data.nodes.length],
            ["Format of the data", data.format],
            ["Partitions without an owner", data.partitions.filter(({ owner }) => owner === null).length],
          ]}
        />
      </Panel>
      <ListPanel
        title="Nodes"
        rows={data.nodes}
        keyOf={({ node }) => node}
        none="There are none."
        columns={[
          { name: "Node", cell: ({ node }) => <strong>{node}</strong> },
          { name: "Address", cell: ({ address }) => <code>{address ?? ""}</code> },
          { name: "State", cell: (node) => <NodeState node={node} /> },
          { name: "Release", cell: ({ release }) => release ?? "" },
          { name: "Partitions", cell: ({ node }) => owned(node), isNumber: true },
        ]}
      />
      <ListPanel
        title="Partitions"
        rows={data.partitions}
        keyOf={({ partition }) => String(partition)}
        none="There are none."
        columns={[
          { name: "Partition", cell: ({ partition }) => partition, isNumber: true },
          { name: "Owner", cell: ({ owner }) => (owner === null ? <Badge tone="bad">none</Badge> : owner) },
          { name: "Epoch", cell: ({ epoch }) => epoch, isNumber: true },
          { name: "Goes to", cell: ({ wanted }) => wanted ?? "" },
          { name: "Commits on disk", cell: ({ durable }) => <Copies durable={durable} />, isWide: true },
        ]}
      />
    </>
  );
}

function NodeState({ node: { address, fenced, draining_because: why } }: { readonly node: ClusterNode }) {
  if (fenced) return <Badge tone="bad">fenced</Badge>;
  if (address === null) return <Badge tone="bad">down</Badge>;
  if (why === null) return <Badge tone="good">up</Badge>;
  return <Badge tone="warn">{why === "ordered" ? "draining" : why}</Badge>;
}

/** A copy that is behind stands out. */
function Copies({ durable }: Pick<OwnedPartition, "durable">) {
  const most = Math.max(...Object.values(durable), 0);
  return (
    <span class="row">
      {Object.entries(durable).map(([node, upTo]) => (
        <Badge key={node} tone={upTo < most ? "warn" : "neutral"}>
          {node} {countText(upTo)}
          {upTo < most && `, ${countText(most - upTo)} behind`}
        </Badge>
      ))}
    </span>
  );
}
