/** Slots that were added while long searches go on (long-search.ts), in their order, counted from the first of all. */

/** Fewer are not worth looking for those that nobody needs. */
const LONG_MIN = 4096;

export class AddedSlots {
  private kept: number[] = [];
  private forgotten = 0;
  private longFrom = LONG_MIN;

  /** Also of those that are forgotten. */
  get count(): number {
    return this.forgotten + this.kept.length;
  }

  get keptCount(): number {
    return this.kept.length;
  }

  /** There are many more than were needed when some were last forgotten. */
  get isLong(): boolean {
    return this.kept.length >= this.longFrom;
  }

  add(slot: number): void {
    this.kept.push(slot);
  }

  /** Those from this number on. */
  since(from: number): number[] {
    return this.kept.slice(from - this.forgotten);
  }

  /** Nobody asks for those before any more. */
  forgetBefore(from: number): void {
    if (from > this.forgotten) this.kept = this.since(from);
    this.forgotten = Math.max(this.forgotten, from);
    this.longFrom = Math.max(LONG_MIN, 2 * this.kept.length);
  }
}
