/**
 * The statements that were stopped lately, without expired entries. Actors refuse similar ones by it. Made and owned
 * by the pool.
 */
import type { AtWork } from "../protocol/actor-marks.js";
import { shapeOf } from "../protocol/statement-shape.js";
import type { StoppedStatement } from "../protocol/stopped-statement.js";
import type { Clock } from "./clock.js";

/** More are not kept: the oldest go first. */
const ENTRIES_MAX = 1_000;

export class StoppedList {
  private entries: StoppedStatement[] = [];

  constructor(
    private readonly clock: Clock,
    /** 0: nothing is refused. */
    private readonly refusedSeconds: number,
  ) {}

  get size(): number {
    return this.list().length;
  }

  list(): readonly StoppedStatement[] {
    const now = this.clock.wall();
    this.entries = this.entries.filter(({ untilMs }) => untilMs > now);
    return this.entries;
  }

  /** `frame`: of the request, where it had begun no statement; null: it is not known. */
  add({ tenant, statement, language }: AtWork, frame: Uint8Array | null): void {
    if (this.refusedSeconds === 0) return;
    const untilMs = this.clock.wall() + this.refusedSeconds * 1000;
    if (statement !== "") this.addEntry({ tenant, untilMs, what: { shape: shapeOf(statement, language), language } });
    else if (frame !== null) this.addEntry({ tenant, untilMs, what: { frame } });
  }

  private addEntry(entry: StoppedStatement): void {
    this.entries = [...this.list(), entry].slice(-ENTRIES_MAX);
  }
}
