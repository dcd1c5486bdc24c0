/** All paths from a node, depth first. Made by expand-path.ts. */
import type { Span } from "./edge-source.js";
import type { PathRow, PathSearch } from "./path-search.js";

/** Steps between two looks at the clock. */
const STEPS_PER_TURN_CHECK = 256;

/** Depth first. A level of the stack is a node on the way and how far its relationships have been tried. */
export class AllPaths implements PathSearch {
  private into = -1;
  private readonly nodes: number[] = [];
  private readonly spans: (readonly Span[])[] = [];
  private readonly spanAt: number[] = [];
  private readonly position: number[] = [];
  private readonly path: number[] = [];
  private depth = -1;
  private isFresh = false;
  private steps = 0;

  constructor(private readonly row: PathRow) {}

  start(node: number, into: number): void {
    this.into = into;
    this.path.length = 0;
    this.depth = -1;
    this.push(node);
    this.isFresh = true;
  }

  next(): boolean | undefined {
    const { min, max, steps } = this.row.program;
    for (;;) {
      if (this.isFresh) {
        this.isFresh = false;
        const isWhole = this.depth >= min && this.depth % steps.length === 0;
        if (isWhole && (this.into === -1 || this.end() === this.into)) return true;
      }
      if (this.depth < 0) return false;
      if (++this.steps % STEPS_PER_TURN_CHECK === 0) {
        this.row.context.checkpoint();
        if (this.row.context.shouldYield()) return undefined;
      }
      if (this.depth >= max || !this.deeper()) this.pop();
    }
  }

  edges(): readonly number[] {
    return this.path.slice(0, this.depth);
  }

  end(): number {
    return this.nodes[this.depth]!;
  }

  /** One relationship further from the last node; false: all have been tried. */
  private deeper(): boolean {
    const { depth, row } = this;
    const step = depth % row.sources.length;
    const node = this.nodes[depth]!;
    let spans = this.spans[depth]!;
    if (this.spanAt[depth]! < 0) {
      spans = row.sources[step]!.of(node);
      this.spans[depth] = spans;
      this.spanAt[depth] = 0;
      this.position[depth] = spans[0]?.from ?? 0;
    }
    while (this.spanAt[depth]! < spans.length) {
      const span = spans[this.spanAt[depth]!]!;
      const at = this.position[depth]!++;
      if (at >= span.to) {
        this.spanAt[depth]!++;
        this.position[depth] = spans[this.spanAt[depth]!]?.from ?? 0;
        continue;
      }
      const [other, edge] = [span.others[at]!, span.edges[at]!];
      if ((span.skipsLoops && other === node) || this.isOnPath(edge, other) || !row.allows(edge, step)) continue;
      this.path[depth] = edge;
      this.push(other);
      this.isFresh = true;
      return true;
    }
    return false;
  }

  private isOnPath(edge: number, node: number): boolean {
    const { avoids } = this.row.program;
    if (avoids === "nothing") return false;
    if (avoids === "nodes") {
      for (let i = this.depth; i >= 0; i--) if (this.nodes[i] === node) return true;
      return false;
    }
    for (let i = this.depth - 1; i >= 0; i--) if (this.path[i] === edge) return true;
    return false;
  }

  private push(node: number): void {
    this.depth++;
    this.nodes[this.depth] = node;
    this.spanAt[this.depth] = -1;
  }

  private pop(): void {
    this.depth--;
  }
}
