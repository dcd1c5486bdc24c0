/**
 * The port to the service that holds what nodes must agree on: who owns a partition, the log of its commits, and which
 * nodes are alive. etcd-log-service.ts implements it on etcd; memory-log-service.ts is the model that tests compare it
 * with.
 *
 * Every decision is one atomic step of the service, and every answer here is linearizable. A call that rejects with
 * `log_unavailable` has an unknown outcome: what it asked for was done, or not, or will be done when it arrives late.
 *
 * An epoch is the revision at which a partition got its owner. Revisions only grow, so a later owner has a greater
 * epoch, and an append of an earlier owner is refused, whenever it arrives.
 */

/** Of the service: every change has a greater one than all changes before. 0: never changed. */
export type Revision = number;

export interface Owner {
  readonly node: string;
  /** A name that its claim made up, so that a claim of unknown outcome can be recognized. */
  readonly tenure: string;
  readonly epoch: Revision;
}

/**
 * Where an append stands in the log of its partition: positions are in order of `sequence`, then of `part`. `sequence`
 * is that of the first commit in the append, or, if it has none, of the commit to come. `part` counts the appends
 * before it with the same one.
 */
export interface Position {
  readonly sequence: number;
  readonly part: number;
}

export interface LogAppend {
  readonly position: Position;
  readonly bytes: Uint8Array;
}

/**
 * `appended`: the service holds it durably. `fenced`: the epoch is not the newest. `taken`: the epoch is, but something
 * stands there already, or behind it: a request that arrives late, when its place has been trimmed, adds nothing.
 * `full`: the service has no room. Except after `appended` nothing was changed.
 */
export type AppendOutcome = "appended" | "fenced" | "taken" | "full";

/** What stands at a position, and who owned the partition at that moment. */
export interface Settled {
  readonly owner: Owner | null;
  readonly bytes: Uint8Array | null;
}

export interface Claim {
  readonly partition: number;
  readonly node: string;
  readonly tenure: string;
  /** Of the owner that it replaces; 0: it has had none. */
  readonly epoch: Revision;
  /** That owner's node, which counts as dead if it has not renewed since: it is fenced in the same step. */
  readonly unseen?: { readonly node: string; readonly revision: Revision };
}

export interface MemberState {
  /** A name for one life of the node's process. */
  readonly incarnation: string;
  /** Grows with each renewal. */
  readonly counter: number;
  /** Somebody has taken a partition from it: all that it owns may be taken. */
  readonly isFenced: boolean;
  /** Where other nodes reach it, host:port. */
  readonly address?: string;
  /** Where clients of Bolt reach it, host:port; absent: it does not speak Bolt. */
  readonly bolt?: string;
  /** Which of its actors are ready (actor-readiness.ts): a character for each. */
  readonly actors?: string;
}

export interface Member extends MemberState {
  readonly revision: Revision;
}

/** The nodes that keep a copy of a partition, its owner among them. Only the owner changes that. */
export interface CopySet {
  readonly nodes: readonly string[];
  readonly revision: Revision;
}

export interface CopySetChange {
  readonly partition: number;
  /** Of the owner that says so. */
  readonly epoch: Revision;
  /** Of the set that it replaces; 0: there was none, and each node kept a copy. */
  readonly revision: Revision;
  readonly nodes: readonly string[];
  /** Nodes whose reports are dropped in the same step: they keep nothing any more. */
  readonly forgotten: readonly string[];
}

/** A partition's files outside of all nodes (stored-checkpoint.ts): all of them are there before it is recorded. */
export interface StoredCheckpoint {
  /** Under which they are found. */
  readonly id: string;
  /** The newest commit that they have. */
  readonly sequence: number;
  /** When it was begun, by the clock of the node that made it; 0: a release made it that did not say so. */
  readonly madeMs: number;
  readonly revision: Revision;
}

export interface CheckpointChange {
  readonly partition: number;
  /** Of the owner that has made it. */
  readonly epoch: Revision;
  /** Of the one that it replaces; 0: there was none. */
  readonly revision: Revision;
  readonly id: string;
  readonly sequence: number;
  readonly madeMs: number;
}

export interface LogUsage {
  /** That its data take. */
  readonly bytes: number;
  /** It refuses all appends until somebody makes room. */
  readonly isFull: boolean;
}

export interface LogService {
  owner(partition: number): Promise<Owner | null>;
  /** The new epoch; null: the partition has another owner than it says, or the node has renewed. */
  claim(claim: Claim): Promise<Revision | null>;

  append(partition: number, epoch: Revision, append: LogAppend): Promise<AppendOutcome>;
  settle(partition: number, position: Position): Promise<Settled>;
  /**
   * From the last append at or before the position on, or from the first, in order; empty when the log is. Fewer than
   * `appendsMax`: there are no more.
   */
  tail(partition: number, from: Position, appendsMax: number): Promise<readonly LogAppend[]>;
  /** Drops what stands before the position. */
  trim(partition: number, before: Position): Promise<void>;

  /** Null: there is none, and each node keeps a copy. */
  copySet(partition: number): Promise<CopySet | null>;
  /** The new revision; null: the partition has another owner or another set than it says. */
  setCopies(change: CopySetChange): Promise<Revision | null>;

  /** Null: there is none. */
  checkpoint(partition: number): Promise<StoredCheckpoint | null>;
  /** The new revision; null: the partition has another owner or another checkpoint than it says. */
  setCheckpoint(change: CheckpointChange): Promise<Revision | null>;

  /**
   * What the node has on its disk of some partitions: sequences by partition. Where `sets` names the revision of a
   * partition's set, the report is taken only while that is the set (0: none). So what a node said before it was left
   * out never arrives afterwards, when it may have deleted its copy. Answers the partitions whose report was taken.
   */
  report(
    node: string,
    durable: ReadonlyMap<number, number>,
    sets?: ReadonlyMap<number, Revision>,
  ): Promise<ReadonlySet<number>>;
  /** By node. */
  reports(partition: number): Promise<ReadonlyMap<string, number>>;

  member(node: string): Promise<Member | null>;
  /** The new revision; null: its revision was another (0: it has none). */
  renew(node: string, revision: Revision, state: MemberState): Promise<Revision | null>;

  usage(): Promise<LogUsage>;
  /** Gives up the space of what was trimmed, and takes appends again if there is room now. */
  makeRoom(): Promise<void>;
  close(): Promise<void>;
}

export function comparePositions(a: Position, b: Position): number {
  return a.sequence - b.sequence || a.part - b.part;
}
