/** A log service in memory whose appends fail as a test says: unanswered although done, not done, or done late. */
import type { AppendOutcome, LogAppend, Owner, Position, Settled } from "../../src/cluster/log-service.js";
import { MemoryLogService } from "../../src/cluster/memory-log-service.js";
import { DbError } from "../../src/protocol/errors.js";

/** `lost`: never arrives. `unanswered`: done, and nobody is told. `late`: done at `deliver`, and nobody is told. */
export type AppendFault = "lost" | "unanswered" | "late";

export class FaultyLogService extends MemoryLogService {
  /** Of the next appends, in turn; null: none. */
  readonly faults: (AppendFault | null)[] = [];
  /** Appends wait for `release`. */
  isSlow = false;
  /** Nothing is answered. */
  isSilent = false;
  appends = 0;
  readonly sizes: number[] = [];
  private readonly waiting: (() => void)[] = [];
  private readonly late: (() => Promise<unknown>)[] = [];

  override async append(partition: number, epoch: number, append: LogAppend): Promise<AppendOutcome> {
    this.appends++;
    this.sizes.push(append.bytes.length);
    if (this.isSlow) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.answers();
    const fault = this.faults.shift() ?? null;
    if (fault === "late") this.late.push(() => super.append(partition, epoch, append));
    if (fault === "unanswered") await super.append(partition, epoch, append);
    if (fault !== null) throw new DbError("log_unavailable", "No answer.");
    return super.append(partition, epoch, append);
  }

  override async settle(partition: number, position: Position): Promise<Settled> {
    this.answers();
    return super.settle(partition, position);
  }

  override async owner(partition: number): Promise<Owner | null> {
    this.answers();
    return super.owner(partition);
  }

  private answers(): void {
    if (this.isSilent) throw new DbError("log_unavailable", "No answer.");
  }

  get waitingAppends(): number {
    return this.waiting.length;
  }

  release(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** What was late arrives. */
  async deliver(): Promise<unknown[]> {
    return Promise.all(this.late.splice(0).map((run) => run()));
  }
}
