/** The one path, at most, whose relationships are a list that the row gives: no search, each step is compared. */
import { GraphRelationship, type Variant } from "../../values/variant.js";
import type { PathRow, PathSearch } from "./path-search.js";

export class FollowedList implements PathSearch {
  private path: number[] | null = null;
  private node = -1;

  constructor(private readonly row: PathRow) {}

  start(node: number, into: number): void {
    this.path = this.follow(node);
    if (into !== -1 && this.node !== into) this.path = null;
  }

  next(): boolean {
    const isFound = this.path !== null && this.node !== -1;
    this.found = this.path ?? [];
    this.path = null;
    return isFound;
  }

  private found: readonly number[] = [];

  edges(): readonly number[] {
    return this.found;
  }

  end(): number {
    return this.node;
  }

  private follow(from: number): number[] | null {
    const { program } = this.row;
    const list = this.row.list();
    if (list === null || list.length < program.min || list.length > program.max) return null;
    const items: readonly Variant[] = program.reversed ? list.toReversed() : list;
    const { direction, types } = program.steps[0]!.source;
    const path: number[] = [];
    this.node = from;
    for (const item of items) {
      if (!(item instanceof GraphRelationship)) return null;
      const { id, type, src, dst } = item;
      if (types.length > 0 && !types.includes(type)) return null;
      const isOut = src === this.node && direction !== "in";
      if (!isOut && (dst !== this.node || direction === "out")) return null;
      if ((program.avoids !== "nothing" && path.includes(id)) || !this.row.allows(id)) return null;
      path.push(id);
      this.node = isOut ? dst : src;
    }
    return path;
  }
}
