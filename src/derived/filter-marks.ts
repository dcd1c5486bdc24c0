/** The marks of an index's filters (slot-marks.ts): those used last are kept, and all that searches are using. */
import { SlotMarks } from "./slot-marks.js";

/** Filters whose marks are kept. */
const MARKS_MAX = 64;

export class FilterMarks {
  /** By filter, those used last at the end. */
  private readonly named = new Map<string, SlotMarks>();
  /** By how many searches they are used; some have left the map of those with names meanwhile. */
  private readonly inUse = new Map<SlotMarks, number>();

  /**
   * Marks of a filter, kept as rows change, to be released; `name` must tell it from all others, its values included.
   * Null: for one use.
   */
  of(name: string | null): SlotMarks {
    const found = name === null ? new SlotMarks() : this.withName(name);
    this.inUse.set(found, (this.inUse.get(found) ?? 0) + 1);
    return found;
  }

  private withName(name: string): SlotMarks {
    const found = this.named.get(name) ?? new SlotMarks();
    this.named.delete(name);
    this.named.set(name, found);
    for (const oldest of this.named.keys()) {
      if (this.named.size <= MARKS_MAX) break;
      this.named.delete(oldest);
    }
    return found;
  }

  /** One of those who use the marks has done so. */
  release(marks: SlotMarks): void {
    const others = this.inUse.get(marks)! - 1;
    if (others === 0) this.inUse.delete(marks);
    else this.inUse.set(marks, others);
  }

  /** The slot's row has changed. */
  forget(slot: number): void {
    for (const marks of this.named.values()) marks.forget(slot);
    for (const marks of this.inUse.keys()) marks.forget(slot);
  }
}
