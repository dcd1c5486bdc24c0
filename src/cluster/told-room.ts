/** Tells the cluster whether this node's disk is full: its partitions are then owned elsewhere, if anywhere. */
import { setTimeout as sleep } from "node:timers/promises";

const PAUSE_MS = 1000;

export class ToldRoom {
  private isFull = false;
  /** Null: nothing has been told yet. */
  private told: boolean | null = null;
  private isTelling = false;
  private isClosed = false;

  constructor(
    private readonly tell: (isFull: boolean) => Promise<void>,
    private readonly warn: (error: unknown) => void,
    private readonly pauseMs = PAUSE_MS,
  ) {}

  /** Of the disk; nobody is told before `begin`. */
  became(isFull: boolean): void {
    this.isFull = isFull;
    if (this.told !== null) void this.tellAll();
  }

  /** What an earlier process of the node has told is put right. */
  async begin(): Promise<void> {
    const { isFull } = this;
    await this.tell(isFull);
    this.told = isFull;
    void this.tellAll();
  }

  close(): void {
    this.isClosed = true;
  }

  private async tellAll(): Promise<void> {
    if (this.isTelling) return;
    this.isTelling = true;
    while (!this.isClosed && this.told !== this.isFull) {
      const { isFull } = this;
      try {
        await this.tell(isFull);
        this.told = isFull;
      } catch (error) {
        this.warn(error);
        await sleep(this.pauseMs, undefined, { ref: false });
      }
    }
    this.isTelling = false;
  }
}
