/**
 * CPU time between two looks at whether the actor's loop comes round: what is longer than a look apart is one turn,
 * whatever the system ran besides. Looks are taken only while there are requests, so that an idle thread sleeps. Owned
 * by the actor.
 */
import type { Histogram } from "../protocol/messages.js";
import { threadCpuMs } from "../session/thread-cpu.js";
import { Counts } from "./slice-statistics.js";

/** Milliseconds between two looks. With fewer looks, short turns of a busy loop would count as one long turn. */
const LOOK_MS = 2;

export class TurnCpu {
  private readonly counts = new Counts();
  private longestMs = 0;
  private timer: NodeJS.Timeout | null = null;
  private lastMs = 0;
  private isUsed = false;

  /** Something arrived. */
  begin(): void {
    this.isUsed = true;
    if (this.timer !== null) return;
    const now = threadCpuMs();
    if (now === null) return;
    this.lastMs = now;
    this.timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  get metrics(): { readonly turnCpu: Histogram; readonly longestTurnCpuSeconds: number } {
    return { turnCpu: this.counts.histogram, longestTurnCpuSeconds: this.longestMs / 1000 };
  }

  close(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }

  private look(): void {
    const now = threadCpuMs()!;
    const tookMs = now - this.lastMs;
    this.lastMs = now;
    this.counts.add(tookMs);
    if (tookMs > this.longestMs) this.longestMs = tookMs;
    // What a request left running goes on to use the thread.
    if (!this.isUsed && tookMs < 1) this.close();
    this.isUsed = false;
  }
}
