/**
 * Which nodes keep a copy of a partition: its owner decides (copy-keeper.ts), and writes it into etcd. A node comes in
 * as soon as it is wanted. It goes only when enough of those that stay have on their disks all that it has reported.
 * So what etcd was told to forget because that node had it is never left to fewer nodes.
 */

export interface CopyPlanInput {
  /** The owner. */
  readonly owner: string;
  /** The nodes that are alive, in the order in which they shall own the partition. */
  readonly order: readonly string[];
  /** All that belong to the cluster. */
  readonly members: ReadonlySet<string>;
  /** That keep a copy now; null: all members. */
  readonly kept: readonly string[] | null;
  readonly reports: ReadonlyMap<string, number>;
  /** On the owner's disk. */
  readonly durableHere: number;
  /** Nodes that shall keep one, the owner among them. */
  readonly copies: number;
  /** A node that is not alive has been silent for so long that another takes its place. */
  isReplaced(node: string): boolean;
}

export interface CopyPlan {
  readonly nodes: readonly string[];
  /** Those whose reports count no more. */
  readonly forgotten: readonly string[];
}

/** Null: it is well as it is. */
export function planCopies(input: CopyPlanInput): CopyPlan | null {
  const { members, kept, reports } = input;
  const before = kept ?? [...members];
  const wanted = wantedOf(input, before);
  const nodes = new Set(wanted);
  for (const node of before) if (!nodes.has(node) && !mayGo(node, wanted, input)) nodes.add(node);
  const forgotten = [...reports.keys()].filter((node) => !nodes.has(node) && mayGo(node, wanted, input));
  const isSame = kept !== null && kept.length === nodes.size && kept.every((node) => nodes.has(node));
  return isSame && forgotten.length === 0 ? null : { nodes: [...nodes].sort(), forgotten };
}

function wantedOf({ owner, order, members, copies, isReplaced }: CopyPlanInput, before: readonly string[]): string[] {
  const alive = new Set(order);
  // They have what they have, and are likely to be back.
  const silent = before.filter((node) => members.has(node) && !alive.has(node) && node !== owner && !isReplaced(node));
  const wanted = new Set([owner, ...order.slice(0, 1), ...silent]);
  for (const node of order) if (wanted.size < copies) wanted.add(node);
  return [...wanted];
}

function mayGo(node: string, wanted: readonly string[], input: CopyPlanInput): boolean {
  const { owner, order, members, reports, durableHere, copies } = input;
  // The operator has said so, and was asked whether others have all of it (`tessera cluster remove`).
  if (!members.has(node)) return true;
  // The partition is on its way to another node. Then it is seen who shall keep it.
  if (order[0] !== undefined && order[0] !== owner) return false;
  const has = reports.get(node) ?? 0;
  const alike = wanted.filter((other) => (other === owner ? durableHere : (reports.get(other) ?? -1)) >= has);
  return alike.length >= copies;
}

/** Up to which commit etcd may forget the partition's log; 0: nothing. */
export interface TrimInput {
  readonly owner: string;
  readonly members: ReadonlySet<string>;
  readonly kept: readonly string[] | null;
  readonly reports: ReadonlyMap<string, number>;
  readonly durableHere: number;
  readonly copies: number;
  /** Etcd needs room: as few as may be have to have it. */
  readonly isFilling: boolean;
  /** What is kept outside of all nodes has; null: nothing is to be kept there. */
  readonly stored: number | null;
}

/** Nodes that have a commit on disk before etcd forgets it, unless there are fewer, or shall be fewer copies. */
const TRIM_COPIES = 2;

/**
 * What all have that keep a copy; in need of room, what two of them have. Where there are fewer nodes, all do. What is
 * kept outside of all nodes has it, too, as long as there is room: so that and etcd suffice if all nodes are lost. In
 * need of room it counts like a second copy.
 */
export function trimmableTo(input: TrimInput): number {
  const { owner, members, kept, reports, durableHere, copies, isFilling, stored } = input;
  const keeping = (kept ?? [...members]).filter((node) => node !== owner && members.has(node));
  const others = keeping.map((node) => reports.get(node) ?? 0).sort((a, b) => b - a);
  const least = Math.min(copies, TRIM_COPIES, members.size) - 1;
  const wanted = isFilling ? least : Math.max(least, others.length);
  const copied = wanted > 0 ? (others[wanted - 1] ?? 0) : (stored ?? Number.POSITIVE_INFINITY);
  if (stored === null) return Math.min(durableHere, copied);
  return Math.min(durableHere, isFilling ? Math.max(copied, stored) : Math.min(copied, stored));
}
