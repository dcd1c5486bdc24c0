/** Clocks of a simulated node: they go wrong, stand still and are set. */
import type { NodeClock } from "../../../src/cluster/lease.js";
import type { VirtualLoop } from "../virtual-loop.js";

export class SimulatedClock implements NodeClock {
  /** What a suspended machine's clock has missed, and by how much somebody has set the other. */
  missedMs = 0;
  setMs = 0;

  constructor(
    private readonly loop: VirtualLoop,
    readonly rate: number,
  ) {}

  monotonicMs(): number {
    return (this.loop.now - this.missedMs) * this.rate;
  }

  wallMs(): number {
    return this.loop.epochMs + this.loop.now * this.rate + this.setMs;
  }
}
