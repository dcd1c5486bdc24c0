/**
 * The log service as nodes of a simulated cluster reach it: one truth in memory behind a network that delays, loses and
 * repeats requests, loses answers, and delivers what a node that has died meanwhile had sent. The truth can be
 * sabotaged, to see that the checker would notice.
 */
import type { MapChanges } from "../../../src/cluster/cluster-map.js";
import type {
  AppendOutcome,
  CheckpointChange,
  Claim,
  CopySet,
  CopySetChange,
  LogAppend,
  LogService,
  LogUsage,
  Member,
  MemberState,
  Owner,
  Position,
  Revision,
  Settled,
  StoredCheckpoint,
} from "../../../src/cluster/log-service.js";
import { MemoryLogService } from "../../../src/cluster/memory-log-service.js";
import { DbError } from "../../../src/protocol/errors.js";
import type { SeededRandom } from "../seeded-random.js";
import type { VirtualLoop } from "../virtual-loop.js";

/** What may be wrong with a cluster: each must be found out. */
export const SABOTAGES = [
  "the log forgets its last append",
  "the log ignores the epoch",
  "renewals do not compare",
  "the bound is looked at only at renewals",
  "clocks are off by half",
  "a suspended machine is not noticed",
  "the engine applies before the acknowledgement",
  "the successor is named before the partition is closed",
  "copies read what a member of the log that is behind has",
  "moves are told before they are recorded",
  "a tenant is answered for where it is not any more",
  "a replay keeps as the past what it finds",
  "a merge does not say up to where",
  "a branch that ends takes writes",
  "a branch ends while it is forked",
  "each owner forgets by itself",
  "what is copied for a long chain is lost",
] as const;

export type Sabotage = (typeof SABOTAGES)[number];

/** By which a member of the log is behind that serves what copies read. */
const BEHIND_MS = 1500;
const HINT_MS_MAX = 100;

export class TrueLog extends MemoryLogService {
  forgotten = 0;
  /** When each append was seen first. */
  private readonly cameMs = new WeakMap<object, number>();

  /** Nodes that want to hear of changes. */
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly sabotage: Sabotage | null,
    private readonly random: SeededRandom,
  ) {
    super();
  }

  /** Changes of owners are told late, or not at all. */
  changes(loop: VirtualLoop, told: () => void): MapChanges {
    const { random, listeners } = this;
    const thread = loop.current;
    let isOnItsWay = false;
    const listener = (): void => {
      if (!thread.alive) listeners.delete(listener);
      if (isOnItsWay || !thread.alive || random.chance(0.2)) return;
      isOnItsWay = true;
      loop.after(
        random.next() * HINT_MS_MAX,
        () => {
          isOnItsWay = false;
          told();
        },
        thread,
      );
    };
    listeners.add(listener);
    return { isLive: random.chance(0.9), close: () => void listeners.delete(listener) };
  }

  override async claim(claim: Claim): Promise<Revision | null> {
    const epoch = await super.claim(claim);
    if (epoch !== null) for (const listener of this.listeners) listener();
    return epoch;
  }

  /** What was there a while ago. */
  async tailBehind(partition: number, from: Position, appendsMax: number, now: number): Promise<readonly LogAppend[]> {
    const found = await this.tail(partition, from, appendsMax);
    for (const one of found) if (!this.cameMs.has(one)) this.cameMs.set(one, now);
    const first = found.findIndex((one) => now - this.cameMs.get(one)! < BEHIND_MS);
    return first < 0 ? found : found.slice(0, first);
  }

  protected override ownsLog(partition: number, epoch: Revision): boolean {
    return this.sabotage === "the log ignores the epoch" || super.ownsLog(partition, epoch);
  }

  protected override mayRenew(node: string, revision: Revision): boolean {
    return this.sabotage === "renewals do not compare" || super.mayRenew(node, revision);
  }

  override async append(partition: number, epoch: Revision, append: LogAppend): Promise<AppendOutcome> {
    const outcome = await super.append(partition, epoch, append);
    const forgets = this.sabotage === "the log forgets its last append" && this.random.chance(0.02);
    if (outcome === "appended" && forgets) {
      this.remove(partition, append.position);
      this.forgotten++;
    }
    return outcome;
  }
}

/** Milliseconds after which a call has no answer. */
const DEADLINE_MS = 1000;

/** What breaks between a node and the service, or clients. */
export class NodeLink {
  requestsLost = false;
  answersLost = false;
  /** Clients that write cannot reach the node; those that only read still do. */
  isOutOfSight = false;
  delayMsMax = 3;
  /** Of requests: they are delivered twice, the second time maybe much later. */
  twice = 0.01;
}

export class SimulatedLog implements LogService {
  constructor(
    private readonly loop: VirtualLoop,
    private readonly random: SeededRandom,
    private readonly truth: TrueLog,
    private readonly link: NodeLink,
    /** No majority of its members can be reached: shared by all nodes. */
    private readonly quorum: { isThere: boolean },
  ) {}

  /** What arrives is done whether or not who asked is still there. */
  private call<T>(run: () => Promise<T>): Promise<T> {
    const { loop, random, link } = this;
    return new Promise((resolve, reject) => {
      const deadline = loop.after(DEADLINE_MS, () => reject(noAnswer()));
      const caller = loop.current;
      const answer = (value: T): void => {
        if (link.answersLost || random.chance(0.005)) return;
        const deliver = () => {
          deadline.cancelled = true;
          resolve(value);
        };
        loop.after(this.delay(), deliver, caller);
      };
      const arrive = (): void => {
        if (!this.quorum.isThere) return;
        run().then(answer, () => undefined);
      };
      if (link.requestsLost || random.chance(0.005)) return;
      loop.after(this.delay(), arrive, loop.world);
      if (random.chance(link.twice)) {
        loop.after(this.delay() + random.next() * 8000, () => run().catch(() => undefined), loop.world);
      }
    });
  }

  /** Something else that is asked of the service. */
  asked<T>(run: () => Promise<T>): Promise<T> {
    return this.call(run);
  }

  private delay(): number {
    const { random, link } = this;
    return random.chance(0.01) ? random.next() * 900 : random.next() * link.delayMsMax;
  }

  owner(partition: number): Promise<Owner | null> {
    return this.call(() => this.truth.owner(partition));
  }

  claim(claim: Claim): Promise<Revision | null> {
    return this.call(() => this.truth.claim(claim));
  }

  append(partition: number, epoch: Revision, append: LogAppend): Promise<AppendOutcome> {
    return this.call(() => this.truth.append(partition, epoch, append));
  }

  settle(partition: number, position: Position): Promise<Settled> {
    return this.call(() => this.truth.settle(partition, position));
  }

  tail(partition: number, from: Position, appendsMax: number): Promise<readonly LogAppend[]> {
    return this.call(() => this.truth.tail(partition, from, appendsMax));
  }

  /** As a member answers that is behind. */
  tailBehind(partition: number, from: Position, appendsMax: number): Promise<readonly LogAppend[]> {
    return this.call(() => this.truth.tailBehind(partition, from, appendsMax, this.loop.now));
  }

  trim(partition: number, before: Position): Promise<void> {
    return this.call(() => this.truth.trim(partition, before));
  }

  copySet(partition: number): Promise<CopySet | null> {
    return this.call(() => this.truth.copySet(partition));
  }

  setCopies(change: CopySetChange): Promise<Revision | null> {
    return this.call(() => this.truth.setCopies(change));
  }

  checkpoint(partition: number): Promise<StoredCheckpoint | null> {
    return this.call(() => this.truth.checkpoint(partition));
  }

  setCheckpoint(change: CheckpointChange): Promise<Revision | null> {
    return this.call(() => this.truth.setCheckpoint(change));
  }

  report(
    node: string,
    durable: ReadonlyMap<number, number>,
    sets?: ReadonlyMap<number, Revision>,
  ): Promise<ReadonlySet<number>> {
    return this.call(() => this.truth.report(node, durable, sets));
  }

  reports(partition: number): Promise<ReadonlyMap<string, number>> {
    return this.call(() => this.truth.reports(partition));
  }

  member(node: string): Promise<Member | null> {
    return this.call(() => this.truth.member(node));
  }

  renew(node: string, revision: Revision, state: MemberState): Promise<Revision | null> {
    return this.call(() => this.truth.renew(node, revision, state));
  }

  usage(): Promise<LogUsage> {
    return this.call(() => this.truth.usage());
  }

  makeRoom(): Promise<void> {
    return this.call(() => this.truth.makeRoom());
  }

  async close(): Promise<void> {}
}

function noAnswer(): DbError {
  return new DbError("log_unavailable", "The simulated log does not answer.");
}
