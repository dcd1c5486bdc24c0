/**
 * Which nodes keep copies of partitions. The owner of a partition says so (copy-sets.ts), and has etcd forget what
 * enough of them have on their disks. Other nodes report what they have, and delete what they shall not keep. Owned by
 * tenures.ts.
 */
import type { CellRoom } from "./cell-room.js";
import { type ClusterView, keepsCopy } from "./cluster-map.js";
import { planCopies, trimmableTo } from "./copy-sets.js";
import type { LogService, Revision } from "./log-service.js";
import { type Look, newestIn } from "./look.js";
import type { OwnerCopiesOptions } from "./owner-copies.js";
import type { PartitionCopy } from "./partition-copy.js";
import type { ReplicatedCommitLog } from "./replicated-commit-log.js";
import { Turns } from "./turns.js";

export interface CopyKeeperOptions {
  readonly node: string;
  readonly service: Pick<LogService, "setCopies" | "copySet" | "report" | "reports">;
  /** Nodes that keep each partition, its owner among them. */
  readonly copies: number;
  /** Absent: nothing is kept outside of all nodes (owner-copies.ts). */
  readonly restore?: OwnerCopiesOptions["restore"];
  /** Another node takes the place of one that has been silent for so long. */
  readonly replaceAfterMs?: number;
  /** A copy that this node shall not keep any more is deleted after that. */
  readonly dropAfterMs?: number;
  readonly log: (level: "error" | "warn" | "info", message: string, fields: object) => void;
}

/** What the keeper has to know of a partition that this actor owns. */
export interface Kept {
  readonly epoch: number;
  readonly log: Pick<ReplicatedCommitLog, "durableHere" | "trimReplicated">;
}

const REPLACE_AFTER_MS = 10 * 60_000;
const DROP_AFTER_MS = 30_000;
const NONE: ReadonlyMap<string, number> = new Map();

export class CopyKeeper {
  /** Nodes that do not renew, and since when. */
  private readonly silentSince = new Map<string, number>();
  /** Partitions of which this node keeps no copy, and since when. */
  private readonly unkeptSince = new Map<number, number>();
  /** Of those, such as this node has no files of. */
  private readonly dropped = new Set<number>();
  /** Owned partitions whose set may yet be changed by a call that had no answer. */
  private readonly unsettled = new Set<number>();
  /** By partition: what was reported last. */
  private reported = new Map<number, string>();

  constructor(
    private readonly options: CopyKeeperOptions,
    private readonly room: CellRoom,
  ) {}

  saw(unseen: Look["unseen"]): void {
    const now = performance.now();
    for (const [node, since] of unseen) {
      if (since === null) this.silentSince.delete(node);
      else if (!this.silentSince.has(node)) this.silentSince.set(node, now);
    }
    for (const node of this.silentSince.keys()) if (!unseen.has(node)) this.silentSince.delete(node);
  }

  /** Whether this node keeps a copy of the partition. */
  isKept(partition: number, view: Pick<ClusterView, "copySets">): boolean {
    return keepsCopy(view, this.options.node, partition);
  }

  /** A copy has not been to be kept for a while. */
  isDropDue(partition: number): boolean {
    const { replaceAfterMs = REPLACE_AFTER_MS } = this.options;
    const { dropAfterMs = Math.min(DROP_AFTER_MS, replaceAfterMs) } = this.options;
    if (this.dropped.has(partition)) return false;
    const now = performance.now();
    const since = this.unkeptSince.get(partition) ?? now;
    this.unkeptSince.set(partition, since);
    return now - since >= dropAfterMs;
  }

  /** The node is to keep a copy, or tries whether it has all there is. */
  keepsAgain(partition: number): void {
    this.unkeptSince.delete(partition);
    this.dropped.delete(partition);
  }

  /**
   * Deletes a copy, of which nothing is reported any more, if as many nodes as shall keep the partition have all of
   * it.
   */
  async drop(partition: number, copy: PartitionCopy): Promise<void> {
    const { node, service, copies, log } = this.options;
    this.unkeptSince.delete(partition);
    const isDropped = await copy.drop(async (durable) => {
      // After the last report was made: none of those that are under way is taken if this says that the node is out.
      const set = await service.copySet(partition);
      if (set === null || set.nodes.includes(node)) return false;
      const reports = await service.reports(partition);
      const alike = set.nodes.filter((other) => (reports.get(other) ?? -1) >= durable);
      if (alike.length < Math.min(copies, set.nodes.length)) return false;
      log("info", "other nodes keep the partition, so the copy is deleted", { partition, nodes: alike, upTo: durable });
      return true;
    });
    if (isDropped) this.dropped.add(partition);
  }

  /** Reports what has changed on this node's disk. */
  async report(durable: ReadonlyMap<number, number>, view: ClusterView): Promise<void> {
    const { service, node } = this.options;
    const revisionOf = (partition: number): Revision => view.copySets.get(partition)?.revision ?? 0;
    const textOf = (partition: number): string => `${durable.get(partition)} ${revisionOf(partition)}`;
    const changed = [...durable.keys()].filter((partition) => this.reported.get(partition) !== textOf(partition));
    if (changed.length === 0) return;
    const taken = await service.report(
      node,
      new Map(changed.map((partition) => [partition, durable.get(partition)!])),
      new Map(changed.map((partition) => [partition, revisionOf(partition)])),
    );
    for (const partition of taken) this.reported.set(partition, textOf(partition));
  }

  /** In the node's next life all is reported anew. */
  reportsAnew(): void {
    this.reported = new Map();
  }

  /**
   * `view` was read after all of these partitions were claimed, and its reports are fresh: those of nodes that were
   * left out before are gone from it.
   */
  async tend(owned: ReadonlyMap<number, Kept>, view: ClusterView, look: Look | null): Promise<void> {
    const members = new Set(view.members.keys());
    const turns = new Turns();
    for (const [partition, kept] of owned) {
      await turns.next();
      if (!this.unsettled.has(partition)) await this.trim(partition, kept, members, view);
      if (look !== null) await this.arrange(partition, kept, members, view, look);
    }
  }

  private async trim(
    partition: number,
    { log }: Kept,
    members: ReadonlySet<string>,
    { durable, copySets, checkpoints }: ClusterView,
  ): Promise<void> {
    const { node: owner, copies, restore } = this.options;
    const upTo = trimmableTo({
      ...{ owner, copies, members, durableHere: log.durableHere, isFilling: this.room.isFilling },
      reports: durable.get(partition) ?? NONE,
      kept: copySets.get(partition)?.nodes ?? null,
      stored: restore === undefined ? null : (checkpoints.get(partition)?.sequence ?? 0),
    });
    if (upTo > 0 && (await log.trimReplicated(upTo))) this.room.trimmed();
  }

  private async arrange(
    partition: number,
    { epoch, log }: Kept,
    members: ReadonlySet<string>,
    { durable, copySets }: ClusterView,
    look: Look,
  ): Promise<void> {
    const { node: owner, copies, service, replaceAfterMs = REPLACE_AFTER_MS } = this.options;
    const set = copySets.get(partition);
    const now = performance.now();
    const reports = durable.get(partition) ?? NONE;
    const plan = planCopies({
      ...{ owner, copies, members, reports, order: look.orderOf(partition), durableHere: log.durableHere },
      kept: set?.nodes ?? null,
      isReplaced: (node) => now - (this.silentSince.get(node) ?? now) >= replaceAfterMs,
    });
    // A change that had no answer could still be made: the same set anew prevents it.
    const next = plan ?? (this.unsettled.has(partition) ? { nodes: set?.nodes ?? [], forgotten: [] } : null);
    if (next === null) return;
    this.unsettled.add(partition);
    const revision = await service.setCopies({ partition, epoch, revision: set?.revision ?? 0, ...next });
    this.unsettled.delete(partition);
    if (revision === null) return;
    const { nodes } = next;
    this.options.log("info", "other nodes keep the partition now", { partition, nodes, upTo: newestIn(reports) });
  }
}
