/** The nodes that paths end at, each once. Made by expand-path.ts for plans whose paths are `distinct`. */
import { AllPaths } from "./all-paths.js";
import type { PathRow, PathSearch } from "./path-search.js";
import { ShortestPaths } from "./shortest-path.js";

export class DistinctEnds implements PathSearch {
  private readonly shortest: ShortestPaths;
  private readonly around: AllPaths;
  private node = -1;
  private phase: "others" | "itself" | "over" = "over";
  private last = -1;

  constructor(private readonly row: PathRow) {
    this.shortest = new ShortestPaths(row, "shortest");
    this.around = new AllPaths(row);
  }

  start(node: number, into: number): void {
    this.node = node;
    this.phase = into === node && this.row.program.min > 0 ? "itself" : "others";
    if (this.phase === "others") this.shortest.start(node, into);
    if (into === -1 || into === node) this.around.start(node, node);
    this.isOpen = into === -1;
  }

  private isOpen = false;

  next(): boolean | undefined {
    if (this.phase === "others") {
      const found = this.shortest.next();
      if (found === undefined) return undefined;
      if (found) {
        this.last = this.shortest.end();
        return true;
      }
      // With paths of no relationship, the beginning was the first of all.
      this.phase = this.isOpen && this.row.program.min > 0 ? "itself" : "over";
    }
    if (this.phase === "over") return false;
    // Where it is asked for alone, the search for the others has not begun.
    const found = this.isOpen && this.shortest.closes ? true : this.isDirected ? false : this.around.next();
    if (found === undefined) return undefined;
    this.phase = "over";
    this.last = this.node;
    return found;
  }

  /** A way back to the beginning that follows the arrows uses none twice, so the search for the others has met it. */
  private get isDirected(): boolean {
    return this.isOpen && this.row.program.steps[0]!.source.direction !== "either";
  }

  close(): void {
    this.shortest.close();
  }

  edges(): readonly number[] {
    return [];
  }

  end(): number {
    return this.last;
  }
}
