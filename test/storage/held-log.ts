/** For tests: a log whose disk answers when it is told to. */
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";

export class HeldLog extends MemoryCommitLog {
  private waiting: (() => void)[] = [];
  private isOpen = true;

  override sync(): Promise<void> {
    if (this.isOpen) {
      // Opening a shard waits for the disk once.
      this.isOpen = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => void this.waiting.push(resolve));
  }

  /** Everything is on disk. */
  async onDisk(): Promise<void> {
    while (this.waiting.length > 0) {
      for (const resolve of this.waiting.splice(0)) resolve();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  override async close(): Promise<void> {
    this.isOpen = true;
    await this.onDisk();
    await super.close();
  }
}
