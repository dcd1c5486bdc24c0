/**
 * A partition's disk and engine with faults, for a simulated node. The disk outlives the threads that use it; a power
 * cut leaves what was synced and some pages of what was not. The engine behaves as RocksDB does here: batches are
 * atomic, a killed process loses none of them, a power cut all but a prefix.
 */
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import type { Operation } from "../../src/storage/operation.js";
import type { KeyRange } from "../../src/storage/store.js";
import { SimulatedDisk } from "../storage/simulated-disk.js";
import type { SeededRandom } from "./seeded-random.js";
import type { VirtualLoop } from "./virtual-loop.js";

export class FaultyDisk extends SimulatedDisk {
  /** Longest time that a sync takes. */
  syncMsMax = 2;

  constructor(
    private readonly loop: VirtualLoop,
    private readonly random: SeededRandom,
    private readonly lies = false,
  ) {
    super();
  }

  override sync(descriptor: number): Promise<void> {
    return this.lies ? this.device() : super.sync(descriptor);
  }

  protected override device(): Promise<void> {
    return this.loop.sleep(this.random.next() * this.syncMsMax);
  }

  /** The disk as the node finds it when the power is back. */
  rebooted(): FaultyDisk {
    // All or nothing of what was not synced, or any part of it.
    const share = this.random.pick([0, 0.5, 0.9, 1]);
    const disk = new FaultyDisk(this.loop, this.random, this.lies);
    this.afterPowerCut(() => this.random.chance(share), disk);
    return disk;
  }
}

/** Operations in memory after which they go to files, roughly. */
const FLUSH_OPERATIONS = 600;

export class FaultyEngine extends MemoryEngine {
  /** What is in files. */
  private files: MemoryEngine;
  /** Batches that are in RocksDB's own log only, which is not synced. */
  private batches: Operation[][] = [];
  private inMemory = 0;
  /** What the next write fails with; the batch may have been written nevertheless. */
  writeError: string | null = null;

  constructor(
    private readonly random: SeededRandom,
    from = new MemoryEngine(),
  ) {
    super();
    this.files = from;
    this.takeFrom(from);
  }

  override write(operations: readonly Operation[], persisted = false): void {
    const { writeError } = this;
    this.writeError = null;
    const batch = operations.map(({ key, value }) => ({ key: Buffer.from(key), value: value && Buffer.from(value) }));
    if (writeError === null || this.random.chance(0.5)) {
      super.write(batch);
      this.batches.push(batch);
      this.inMemory += batch.length;
    }
    if (writeError !== null) throw new Error(`IO error: ${writeError}`);
    if (persisted || (this.inMemory > FLUSH_OPERATIONS && this.random.chance(0.3))) this.flush();
  }

  override clear(range: Pick<KeyRange, "gte" | "lt">): void {
    const cursor = this.cursor(range);
    const { keys } = cursor.next(Number.MAX_SAFE_INTEGER);
    cursor.close();
    super.clear(range);
    this.batches.push(keys.map((key) => ({ key, value: null })));
  }

  private flush(): void {
    this.files = this.clone();
    this.batches = [];
    this.inMemory = 0;
  }

  override entriesInMemory(): number {
    return this.inMemory;
  }

  /** As the next process finds it after this one was killed. */
  reopened(): FaultyEngine {
    const engine = new FaultyEngine(this.random, this.files.clone());
    for (const batch of this.batches) engine.write(batch);
    return engine;
  }

  /** After a power cut. */
  rebooted(): FaultyEngine {
    const engine = new FaultyEngine(this.random, this.files.clone());
    const kept = this.random.between(0, this.batches.length);
    for (const batch of this.batches.slice(0, kept)) engine.write(batch);
    return engine;
  }
}
