/**
 * What a search that may take turns has measured of vectors that were read (long-search.ts). Each time that the search
 * is run it reads some more, and the rest is left to another turn. What came into a slot meanwhile is read again.
 */
import type { AddedSlots } from "./added-slots.js";
import type { Reads } from "./rank-originals.js";

/** Of one turn: so many vectors, or fewer of many numbers; some at least. */
const ONCE_READ = 512;
const ONCE_NUMBERS = 262_144;
const ONCE_MIN = 8;

export class ReadDistances implements Reads {
  private readonly distances = new Map<number, number>();
  private readonly once: number;
  private left: number;
  private from: number;

  constructor(
    private readonly graph: { readonly dimensions: number; readonly added: AddedSlots },
    private readonly giveUp: () => never,
  ) {
    this.once = Math.max(ONCE_MIN, Math.min(ONCE_READ, Math.floor(ONCE_NUMBERS / graph.dimensions)));
    this.left = this.once;
    this.from = graph.added.count;
  }

  /** Of the slots added, those from this number on are to be asked for. */
  get addedFrom(): number {
    return this.distances.size === 0 ? this.graph.added.count : this.from;
  }

  /** A turn begins. */
  begin(): void {
    const { added } = this.graph;
    if (this.distances.size > 0) for (const slot of added.since(this.from)) this.distances.delete(slot);
    this.from = added.count;
    this.left = this.once;
  }

  of(slot: number): number | undefined {
    return this.distances.get(slot);
  }

  /** How many of so many may be read; it ends the turn where none may. */
  allow(count: number): number {
    if (this.left === 0) this.giveUp();
    const allowed = Math.min(count, this.left);
    this.left -= allowed;
    return allowed;
  }

  note(slot: number, distance: number): void {
    this.distances.set(slot, distance);
  }
}
