/**
 * An operator around another, which it asks for everything: measure-operators.ts and operator-marks.ts look at its
 * calls.
 */
import type { Operator, Pulled, SegmentBound } from "./operator.js";
import type { WantedKeys } from "./segments/key-set.js";
import type { ThreadWork } from "./threads/read-threads.js";

export abstract class AroundOperator implements Operator {
  constructor(protected readonly operator: Operator) {}

  abstract next(): Pulled;

  acceptChunks(): void {
    this.operator.acceptChunks?.();
  }

  expectRows(rows: number): void {
    this.operator.expectRows?.(rows);
  }

  passOver(rows: number): boolean {
    return this.operator.passOver?.(rows) === true;
  }

  acceptBound(bound: SegmentBound): void {
    this.operator.acceptBound?.(bound);
  }

  acceptKeys(keys: WantedKeys): void {
    this.operator.acceptKeys?.(keys);
  }

  acceptExtremes(): void {
    this.operator.acceptExtremes?.();
  }

  leaveOutKeys(): readonly number[] | null {
    return this.operator.leaveOutKeys?.() ?? null;
  }

  acceptThreads(work: ThreadWork): void {
    this.operator.acceptThreads?.(work);
  }

  get threadsUsed(): number {
    return this.operator.threadsUsed ?? 0;
  }

  close(): void {
    this.operator.close();
  }
}
