/**
 * Tracks the appends that the log service holds for a partition, as the owner knows them, and how far they may be
 * trimmed.
 */
import { comparePositions, type Position } from "./log-service.js";

interface OpenParts {
  readonly began: Position;
  /** Of their commit; infinite: not yet. */
  commit: number;
}

export class TrimPoints {
  /** Of appends, in order; the last is the newest. */
  private positions: Position[] = [];
  private readonly parts = new Map<number, OpenParts>();

  add(position: Position): void {
    this.positions.push(position);
  }

  /** Of the commits that the appends hold, as far as the owner knows them. */
  get firstSequence(): number {
    return this.positions[0]?.sequence ?? 0;
  }

  /** A part of a large commit stands there; the first place counts. */
  began(partsId: number, position: Position): void {
    if (!this.parts.has(partsId)) this.parts.set(partsId, { began: position, commit: Number.POSITIVE_INFINITY });
  }

  /** The commit that the parts belong to. */
  completed(partsId: number, commit: number): void {
    const parts = this.parts.get(partsId);
    if (parts !== undefined) parts.commit = commit;
  }

  /** There will be no such commit. */
  dropped(partsId: number): void {
    this.parts.delete(partsId);
  }

  /** The first append that is needed when commits up to `sequence` are not; null: nothing can be trimmed. */
  before(sequence: number): Position | null {
    // What stands before an append of a greater sequence ends with the commit before that sequence. Several can have
    // it.
    const next = this.positions.findLast((position) => position.sequence <= sequence + 1)?.sequence;
    let index = this.positions.findIndex((position) => position.sequence === next);
    for (const [id, { began, commit }] of this.parts) {
      if (commit <= sequence) this.parts.delete(id);
      else
        index = Math.min(
          index,
          this.positions.findIndex((position) => comparePositions(position, began) === 0),
        );
    }
    return index <= 0 ? null : this.positions[index]!;
  }

  trimmed(before: Position): void {
    this.positions = this.positions.filter((position) => comparePositions(position, before) >= 0);
  }
}
