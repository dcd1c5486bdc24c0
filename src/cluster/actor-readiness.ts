/**
 * Whether the actors of other nodes are ready, as the nodes' records tell. A node's lease is renewed by a thread of its
 * own, so it says nothing of the actors: one that has crashed may take long to start. A partition is given only to a
 * node whose actor for it is ready, and is taken from a node whose actor for it has been down for as long as a node may
 * be silent. Such a partition has no owner that could answer: an actor that starts opens it in a new epoch, so one
 * compare of the epoch decides, and the node is not fenced.
 */
import { type NodeClock, TTL_MS } from "./lease.js";

import type { Member, MemberState } from "./log-service.js";

/** In a record: one for each actor. */
export const ACTOR_READY = "1";
export const ACTOR_DOWN = "0";

/** Whether the node's actor for that partition is ready. A record of an earlier release does not tell, and counts. */
export function isReadyFor(member: Pick<MemberState, "actors"> | undefined, partition: number): boolean {
  if (member === undefined) return false;
  const { actors = "" } = member;
  return actors === "" || actors[partition % actors.length] === ACTOR_READY;
}

interface Seen {
  readonly actors: string;
  /** By actor: since when it has been down; null: it is ready. */
  readonly downSinceMs: readonly (number | null)[];
}

export class ReadinessWatch {
  private readonly seen = new Map<string, Seen>();

  constructor(
    private readonly clock: Pick<NodeClock, "monotonicMs">,
    private readonly ttlMs = TTL_MS,
  ) {}

  /** Call it with each record that is read. */
  saw(node: string, { actors = "" }: Member): void {
    const before = this.seen.get(node);
    if (before?.actors === actors) return;
    const now = this.clock.monotonicMs();
    const isSame = before?.actors.length === actors.length;
    const downSinceMs = [...actors].map((state, actor) =>
      state === ACTOR_READY ? null : ((isSame ? before.downSinceMs[actor] : null) ?? now),
    );
    this.seen.set(node, { actors, downSinceMs });
  }

  /** The node's actor for that partition has been down for so long that another node may take it. */
  isDown(node: string, partition: number): boolean {
    const seen = this.seen.get(node);
    if (seen === undefined || seen.actors === "") return false;
    const since = seen.downSinceMs[partition % seen.actors.length] ?? null;
    return since !== null && this.clock.monotonicMs() - since >= this.ttlMs;
  }
}
