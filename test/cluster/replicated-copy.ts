/** A node with a shard on the replicated log, for tests. */
import type { Test } from "tap";
import { readAppend } from "../../src/cluster/log-append.js";
import type { LogService } from "../../src/cluster/log-service.js";
import { ReplicatedCommitLog, type ReplicatedCommitLogOptions } from "../../src/cluster/replicated-commit-log.js";
import type { CommitLog } from "../../src/storage/commit-log.js";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { appliedBy } from "../../src/storage/recovery.js";
import { Shard } from "../../src/storage/shard.js";
import type { ShardOptions } from "../../src/storage/shard-options.js";
import { SimulatedDisk } from "../storage/simulated-disk.js";

export const PARTITION = 3;
export const settle = () => new Promise((resolve) => setImmediate(resolve));

/** One node's copy of the partition. */
export class Copy {
  engine = new MemoryEngine();
  disk = new SimulatedDisk();
  readonly durable: number[] = [];
  log!: ReplicatedCommitLog;
  local!: CommitLog;

  constructor(readonly service: LogService) {}

  async claim(): Promise<number> {
    const before = await this.service.owner(PARTITION);
    const epoch = before?.epoch ?? 0;
    const claimed = await this.service.claim({ partition: PARTITION, node: "n", tenure: `t${epoch}`, epoch });
    if (claimed === null) throw new Error("the claim was refused");
    return claimed;
  }

  async open(
    t: Test,
    options: Partial<ShardOptions> = {},
    sizes: Partial<ReplicatedCommitLogOptions> = {},
  ): Promise<Shard> {
    const { service, disk } = this;
    const epoch = await this.claim();
    this.local = await FileCommitLog.open({ directory: "/log", disk, segmentBytes: 2000, retentionBytes: 0 });
    this.log = await ReplicatedCommitLog.open({ service, partition: PARTITION, epoch, local: this.local, ...sizes });
    const onDurable = (sequence: number) => this.durable.push(sequence);
    const shard = await Shard.open({ engine: this.engine, log: this.log, applyWhen: "durable", onDurable, ...options });
    t.teardown(() => shard.close().catch(() => undefined));
    return shard;
  }

  /** As after a power cut that took what was not synced. */
  cutPower(): void {
    this.disk = this.disk.afterPowerCut(() => false);
    this.engine = new MemoryEngine();
  }
}

/** Which commit the engine has, by its own record. */
export const inEngine = appliedBy;

export async function appendsOf(service: LogService) {
  const found = await service.tail(PARTITION, { sequence: 0, part: 0 }, 1000);
  return found.map(({ bytes }) => readAppend(bytes));
}
