/** A log service that dies with the process: the model for tests of what uses the port, and for simulations. */
import {
  type AppendOutcome,
  type CheckpointChange,
  type Claim,
  type CopySet,
  type CopySetChange,
  comparePositions,
  type LogAppend,
  type LogService,
  type LogUsage,
  type Member,
  type MemberState,
  type Owner,
  type Position,
  type Revision,
  type Settled,
  type StoredCheckpoint,
} from "./log-service.js";

export class MemoryLogService implements LogService {
  private revision: Revision = 0;
  protected readonly owners = new Map<number, Owner>();
  /** In order of their positions. */
  private readonly logs = new Map<number, LogAppend[]>();
  /** By partition and node. */
  protected readonly durable = new Map<number, Map<string, number>>();
  protected readonly copySets = new Map<number, CopySet>();
  protected readonly checkpoints = new Map<number, StoredCheckpoint>();
  protected readonly members = new Map<string, Member>();
  /** Of appends that were trimmed, until `makeRoom`. */
  private trimmedBytes = 0;
  private isFull = false;

  constructor(private readonly bytesMax = Number.POSITIVE_INFINITY) {}

  async owner(partition: number): Promise<Owner | null> {
    return this.owners.get(partition) ?? null;
  }

  async claim({ partition, node, tenure, epoch, unseen }: Claim): Promise<Revision | null> {
    const holds = () =>
      this.epochOf(partition) === epoch && (unseen === undefined || this.revisionOf(unseen.node) === unseen.revision);
    return this.step(holds, (revision) => {
      this.owners.set(partition, { node, tenure, epoch: revision });
      const other = unseen === undefined ? undefined : this.members.get(unseen.node);
      if (other !== undefined) this.members.set(unseen!.node, { ...other, isFenced: true, revision });
    });
  }

  async append(partition: number, epoch: Revision, { position, bytes }: LogAppend): Promise<AppendOutcome> {
    let outcome: AppendOutcome = "appended";
    const holds = () => {
      if (!this.ownsLog(partition, epoch)) outcome = "fenced";
      else if (this.logOf(partition).some((one) => comparePositions(one.position, position) >= 0)) outcome = "taken";
      else if (this.isFull || this.bytes + bytes.length > this.bytesMax) outcome = "full";
      return outcome === "appended";
    };
    await this.step(holds, () => {
      this.logOf(partition).push({ position, bytes: Uint8Array.from(bytes) });
    });
    if ((outcome as AppendOutcome) === "full") this.isFull = true;
    return outcome;
  }

  /** Whether an owner of that epoch may append. */
  protected ownsLog(partition: number, epoch: Revision): boolean {
    return this.epochOf(partition) === epoch;
  }

  async settle(partition: number, position: Position): Promise<Settled> {
    return {
      owner: this.owners.get(partition) ?? null,
      bytes: this.find(partition, position)?.bytes ?? null,
    };
  }

  async tail(partition: number, from: Position, appendsMax: number): Promise<readonly LogAppend[]> {
    const log = this.logOf(partition);
    const at = log.findLastIndex((one) => comparePositions(one.position, from) <= 0);
    return log.slice(Math.max(at, 0)).slice(0, appendsMax);
  }

  async trim(partition: number, before: Position): Promise<void> {
    const log = this.logOf(partition);
    while (log.length > 0 && comparePositions(log[0]!.position, before) < 0) {
      this.trimmedBytes += log.shift()!.bytes.length;
    }
  }

  async copySet(partition: number): Promise<CopySet | null> {
    return this.copySets.get(partition) ?? null;
  }

  async setCopies({ partition, epoch, revision, nodes, forgotten }: CopySetChange): Promise<Revision | null> {
    const holds = () => this.epochOf(partition) === epoch && (this.copySets.get(partition)?.revision ?? 0) === revision;
    return this.step(holds, (next) => {
      this.copySets.set(partition, { nodes, revision: next });
      for (const node of forgotten) this.durable.get(partition)?.delete(node);
    });
  }

  async checkpoint(partition: number): Promise<StoredCheckpoint | null> {
    return this.checkpoints.get(partition) ?? null;
  }

  async setCheckpoint({ partition, epoch, revision, ...kept }: CheckpointChange): Promise<Revision | null> {
    return this.step(
      () => this.epochOf(partition) === epoch && (this.checkpoints.get(partition)?.revision ?? 0) === revision,
      (next) => this.checkpoints.set(partition, { ...kept, revision: next }),
    );
  }

  async report(
    node: string,
    durable: ReadonlyMap<number, number>,
    sets: ReadonlyMap<number, Revision> = new Map(),
  ): Promise<ReadonlySet<number>> {
    const taken = [...durable].filter(([partition]) => this.takesReport(partition, sets.get(partition)));
    for (const [partition, sequence] of taken) {
      const known = this.durable.get(partition) ?? new Map<string, number>();
      this.durable.set(partition, known.set(node, sequence));
    }
    return new Set(taken.map(([partition]) => partition));
  }

  private takesReport(partition: number, set: Revision | undefined): boolean {
    return set === undefined || (this.copySets.get(partition)?.revision ?? 0) === set;
  }

  async reports(partition: number): Promise<ReadonlyMap<string, number>> {
    return new Map(this.durable.get(partition));
  }

  async member(node: string): Promise<Member | null> {
    return this.members.get(node) ?? null;
  }

  async renew(node: string, revision: Revision, state: MemberState): Promise<Revision | null> {
    return this.step(
      () => this.mayRenew(node, revision),
      (next) => this.members.set(node, { ...state, revision: next }),
    );
  }

  protected mayRenew(node: string, revision: Revision): boolean {
    return this.revisionOf(node) === revision;
  }

  async usage(): Promise<LogUsage> {
    return { bytes: this.bytes, isFull: this.isFull };
  }

  async makeRoom(): Promise<void> {
    this.trimmedBytes = 0;
    this.isFull = false;
  }

  async close(): Promise<void> {}

  /**
   * Writes if the conditions hold, with nothing of anybody else's in between. The revision of the change, if it was
   * made.
   */
  protected async step(holds: () => boolean, write: (revision: Revision) => void): Promise<Revision | null> {
    if (!holds()) return null;
    return this.change(write);
  }

  protected change(write: (revision: Revision) => void): Revision {
    const revision = ++this.revision;
    write(revision);
    return revision;
  }

  protected remove(partition: number, position: Position): void {
    const log = this.logOf(partition);
    log.splice(
      log.findIndex((one) => comparePositions(one.position, position) === 0),
      1,
    );
  }

  private get bytes(): number {
    let bytes = this.trimmedBytes;
    for (const log of this.logs.values()) for (const one of log) bytes += one.bytes.length;
    return bytes;
  }

  private epochOf(partition: number): Revision {
    return this.owners.get(partition)?.epoch ?? 0;
  }

  private revisionOf(node: string): Revision {
    return this.members.get(node)?.revision ?? 0;
  }

  private logOf(partition: number): LogAppend[] {
    const log = this.logs.get(partition) ?? [];
    this.logs.set(partition, log);
    return log;
  }

  private find(partition: number, position: Position): LogAppend | undefined {
    return this.logOf(partition).find((one) => comparePositions(one.position, position) === 0);
  }
}
