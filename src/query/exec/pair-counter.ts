/**
 * Counts walks of two steps that begin anywhere, without walking: through each node in the middle there are as many as
 * the first step has relationships that end there, times those that the second one begins with. Those that would use
 * one relationship twice are taken off. Owned by count-walks.ts; walk-counter.ts does all others.
 */
import { lowerBound, PAGE_MASK, PAGE_NODES, type Page, type Pages } from "../../graph/adjacency-pages.js";
import type { ExecContext } from "./context.js";
import { AdjacencyEdges } from "./expand-adjacency.js";
import { openEdgeSource } from "./expand-edges.js";
import type { CountedStep } from "./walk-counter.js";

/** Which of the pairs at a node in the middle use one relationship twice. */
type Twice = "none" | "each" | "loops";

export class PairCounter {
  total = 0;
  /** The page that comes next. */
  private page = 0;

  private constructor(
    /** By the node in the middle: the first step from its other end, and the second one. */
    private readonly ending: AdjacencyEdges,
    private readonly beginning: AdjacencyEdges,
    private readonly twice: Twice,
    private readonly context: ExecContext,
  ) {}

  /** Null: the steps are others, or they are not in one list each. */
  static of(steps: readonly CountedStep[], context: ExecContext): PairCounter | null {
    const [first, second] = steps;
    if (steps.length !== 2 || first!.into !== -1 || second!.into !== -1 || second!.from !== first!.other) return null;
    if (second!.earlier.some(({ isSureOfType }) => !isSureOfType)) return null;
    const ending = openEdgeSource(first!.backward, context);
    const beginning = openEdgeSource(second!.source, context);
    if (!(ending instanceof AdjacencyEdges) || !(beginning instanceof AdjacencyEdges)) return null;
    if (ending.only === null || beginning.only === null) return null;
    // Against the arrow back, the relationship itself is always there; along it, where it is a loop.
    const isBack = ending.isOut === beginning.isOut;
    return new PairCounter(
      ending,
      beginning,
      second!.earlier.length === 0 ? "none" : isBack ? "each" : "loops",
      context,
    );
  }

  /** Counts on; false: its turn is over. */
  run(): boolean {
    const [endings, beginnings] = [this.ending.only!, this.beginning.only!];
    while (this.page < endings.length) {
      this.countPage(endings, beginnings, this.page++);
      this.context.checkpoint();
      if (this.context.shouldYield()) return false;
    }
    return true;
  }

  private countPage(endings: Pages, beginnings: Pages, number: number): void {
    const [ending, beginning] = [endings[number], beginnings[number]];
    if (ending === undefined) return;
    const { twice } = this;
    for (let at = 0; at < PAGE_NODES; at++) {
      const count = ending.offsets[at + 1]! - ending.offsets[at]!;
      if (count === 0) continue;
      const node = number * PAGE_NODES + at;
      this.ending.read(node);
      this.beginning.read(node);
      if (beginning === undefined) continue;
      const others = beginning.offsets[at + 1]! - beginning.offsets[at]!;
      this.total += count * (twice === "each" ? others - 1 : others);
      if (twice === "loops" && others > 0) this.total -= loopsAt(ending, node);
    }
  }
}

function loopsAt({ offsets, others }: Page, node: number): number {
  const to = offsets[(node & PAGE_MASK) + 1]!;
  const from = lowerBound(others, offsets[node & PAGE_MASK]!, to, node);
  return from === to || others[from] !== node ? 0 : lowerBound(others, from, to, node + 1) - from;
}
