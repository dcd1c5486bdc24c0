/**
 * Whether other nodes still renew, as this node sees it by its own clock. Used before a partition is taken from one
 * (lease.ts).
 */
import { type NodeClock, TTL_MS } from "./lease.js";
import type { Claim, LogService, Member, Revision } from "./log-service.js";

/** Of the time for which a node may believe; it renews five times in it. */
const SILENT = 0.4;

export class NodeWatch {
  /** The newest revision of each node that was watched, and since when it has stood. */
  private readonly seen = new Map<string, { readonly revision: Revision; readonly sinceMs: number }>();

  constructor(
    private readonly service: Pick<LogService, "member">,
    private readonly clock: NodeClock,
    private readonly ttlMs = TTL_MS,
  ) {}

  /**
   * What a claim has to name to take a partition from that node: it has not renewed for as long as it may believe, or
   * it is fenced. Null: it may be alive; ask again soon.
   */
  async unseen(node: string): Promise<NonNullable<Claim["unseen"]> | null> {
    return this.saw(node, await this.service.member(node));
  }

  /** A node has not renewed for a while, and may soon be found to be gone. */
  get hasSilent(): boolean {
    const now = this.clock.monotonicMs();
    for (const { sinceMs } of this.seen.values())
      if (now - sinceMs >= this.ttlMs * SILENT && now - sinceMs < this.ttlMs) return true;
    return false;
  }

  /** The same of a record that was read just now, linearizably. */
  saw(node: string, member: Member | null): NonNullable<Claim["unseen"]> | null {
    const revision = member?.revision ?? 0;
    if (member?.isFenced) return { node, revision };
    // The time after the answer: a renewal that is seen here began earlier.
    const now = this.clock.monotonicMs();
    const seen = this.seen.get(node);
    if (seen?.revision !== revision) {
      this.seen.set(node, { revision, sinceMs: now });
      return null;
    }
    return now - seen.sinceMs >= this.ttlMs ? { node, revision } : null;
  }
}
