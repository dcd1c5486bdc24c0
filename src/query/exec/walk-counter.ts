/**
 * Counts walks: all but the last step are walked, depth first; for the last one only the number of relationships is
 * looked up. If the last step closes a triangle, the nodes in between are those that two sorted lists have in common
 * (the intersection of worst-case optimal joins; Ngo, Ré and Rudra, "Skew Strikes Back", 2013). Owned by
 * count-walks.ts.
 */
import { lowerBound, PAGE_BITS, PAGE_MASK, type Page, type Pages } from "../../graph/adjacency-pages.js";
import type { ExecContext } from "./context.js";
import type { EdgeSource, EdgeSourceProgram, Span } from "./edge-source.js";
import { AdjacencyEdges } from "./expand-adjacency.js";
import { openEdgeSource } from "./expand-edges.js";

export interface CountedStep {
  readonly source: EdgeSourceProgram;
  /** The same from the other ends. */
  readonly backward: EdgeSourceProgram;
  /** Places among the counter's nodes; −1: none. */
  readonly from: number;
  readonly into: number;
  readonly other: number;
  /** Earlier steps whose relationships it may not use; `isSureOfType`: those have its types. */
  readonly earlier: readonly { readonly step: number; readonly isSureOfType: boolean }[];
}

const NO_SPANS: readonly Span[] = [];
const NONE = new Uint32Array(0);
/** Walks between two looks at the clock. */
const STEPS_PER_TURN_CHECK = 4096;
/** Relationships that are gone through without a look at the clock. */
const SWEPT_AT_ONCE = 512;
/** And nodes at the ends of the following relationships. */
const LOOKED_AT_ONCE = 65_536;
/** Nodes for which an array of marks is made. */
const MARKED_MAX = 2 ** 21;
/** How much longer one list may be than the other before values are searched in it one by one. */
const MERGED_RATIO = 16;

/** One level of the walk: how far its relationships have been tried. */
class Level {
  readonly source: EdgeSource;
  /** Of the one type and direction that the step has, if the adjacency is there. */
  readonly pages: Pages | null;
  readonly isOut: boolean;
  spans: readonly Span[] = NO_SPANS;
  span = 0;
  others: ArrayLike<number> = NONE;
  edges: ArrayLike<number> = NONE;
  at = 0;
  to = 0;
  leaves = true;
  skipsLoops = false;
  node = -1;
  /** The relationship that the walk goes along now, and its ends. */
  edge = -1;
  src = -1;
  dst = -1;
  /** Ids that the row forbids. */
  excluded: readonly number[] = [];

  constructor(
    readonly step: CountedStep,
    context: ExecContext,
  ) {
    this.source = openEdgeSource(step.source, context);
    this.pages = this.source instanceof AdjacencyEdges ? this.source.only : null;
    this.isOut = step.source.direction === "out";
  }

  open(node: number): void {
    this.node = node;
    this.span = -1;
    if (this.pages !== null) {
      this.spans = NO_SPANS;
      this.take(this.pages, node);
      return;
    }
    this.spans = this.source.of(node);
    this.at = 0;
    this.to = 0;
  }

  private take(pages: Pages, node: number): void {
    (this.source as AdjacencyEdges).read(node);
    const page = pages[node >>> PAGE_BITS];
    this.leaves = this.isOut;
    if (page === undefined) {
      this.at = 0;
      this.to = 0;
      return;
    }
    this.others = page.others;
    this.edges = page.edges;
    this.at = page.offsets[node & PAGE_MASK]!;
    this.to = page.offsets[(node & PAGE_MASK) + 1]!;
  }

  /** The next list of relationships; false: there is none. */
  nextSpan(): boolean {
    const span = this.spans[++this.span];
    if (span === undefined) return false;
    this.others = span.others;
    this.edges = span.edges;
    this.at = span.from;
    this.to = span.to;
    this.leaves = span.isOut;
    this.skipsLoops = span.skipsLoops;
    return true;
  }
}

export class WalkCounter {
  /** Those that the row gives, then the ends of steps. */
  readonly nodes: number[];
  total = 0;
  private readonly levels: readonly Level[];
  /** The step that is not walked: the last, or the one before it when both are answered together. */
  private readonly leaf: number;
  /** Of the last step, from its other end: what the step before it is intersected with. */
  private readonly closing: AdjacencyEdges | null;
  /** The step whose relationships are gone through together with what comes after it; −1: none. */
  private readonly swept: number;
  private readonly marks: Marks | null = null;
  private depth = -1;
  private steps = 0;

  constructor(
    steps: readonly CountedStep[],
    given: number,
    private readonly context: ExecContext,
  ) {
    this.levels = steps.map((step) => new Level(step, context));
    this.nodes = new Array<number>(given + steps.length + 1).fill(-1);
    this.closing = this.closingOf(steps);
    this.leaf = steps.length - (this.closing === null ? 1 : 2);
    if (this.closing !== null && steps.length === 3 && this.isFirstOfTriangle() && this.nodeCount() < MARKED_MAX) {
      this.marks = new Marks(this.closing, this.nodeCount());
    }
    this.swept = this.marks !== null || (this.closing === null && this.isPlainPair()) ? this.leaf - 1 : -1;
  }

  /** The last two steps: from the end of one all relationships of the other count, but for those used before. */
  private isPlainPair(): boolean {
    const [before, last] = [this.levels.at(-2), this.levels.at(-1)!];
    if (before === undefined || before.pages === null || last.pages === null) return false;
    const isOpen = before.step.into === -1 && last.step.into === -1 && last.step.from === before.step.other;
    return isOpen && last.step.earlier.every(isSure);
  }

  /** (a)-(b), (b)-(c), (c)-(a): the last node stays while the first step goes on. */
  private isFirstOfTriangle(): boolean {
    const [first, second, last] = this.levels as [Level, Level, Level];
    if (first.pages === null || first.step.into !== -1 || second.step.from !== first.step.other) return false;
    return last.step.into === first.step.from;
  }

  /** Both steps have sorted lists, and only the node in between is new. */
  private closingOf(steps: readonly CountedStep[]): AdjacencyEdges | null {
    const [before, last] = [steps.at(-2), steps.at(-1)!];
    if (before === undefined || before.into !== -1 || before.other === -1) return null;
    if (last.from !== before.other || last.into === -1 || last.into === before.other) return null;
    if (this.levels.at(-2)!.pages === null || this.levels.at(-1)!.pages === null) return null;
    const source = openEdgeSource(last.backward, this.context);
    return source instanceof AdjacencyEdges && source.only !== null ? source : null;
  }

  /** Greatest id at which a walk can begin. */
  nodeCount(): number {
    const { source } = this.levels[0]!;
    return source.maxNode();
  }

  get isIdle(): boolean {
    return this.depth === -1;
  }

  exclude(step: number, edges: readonly number[]): void {
    this.levels[step]!.excluded = edges;
  }

  beginAt(place: number, node: number): void {
    this.nodes[place] = node;
    this.begin();
  }

  begin(): void {
    this.total = 0;
    this.depth = 0;
    if (this.leaf > 0) this.levels[0]!.open(this.nodes[this.levels[0]!.step.from]!);
  }

  /** Counts on; false: its turn is over. */
  run(): boolean {
    while (this.depth >= 0) {
      if (this.depth === this.leaf) {
        this.total += this.closing === null ? this.relationships() : this.triangles(this.closing);
        this.depth--;
        continue;
      }
      if (this.depth === this.swept && this.isFree(this.levels[this.depth]!)) {
        if (!this.sweep(this.levels[this.depth]!)) return false;
        continue;
      }
      if (!this.advance(this.levels[this.depth]!)) {
        this.depth--;
        continue;
      }
      this.depth++;
      const next = this.levels[this.depth]!;
      if (this.depth < this.leaf) next.open(this.nodes[next.step.from]!);
      if (++this.steps % STEPS_PER_TURN_CHECK === 0) {
        this.context.checkpoint();
        if (this.context.shouldYield()) return false;
      }
    }
    return true;
  }

  /** To the level's next relationship; false: there is none. */
  private advance(level: Level): boolean {
    const { step } = level;
    for (;;) {
      if (level.at >= level.to) {
        if (!level.nextSpan()) return false;
        continue;
      }
      const i = level.at++;
      const [other, edge] = [level.others[i]!, level.edges[i]!];
      if (step.into !== -1 && other !== this.nodes[step.into]) continue;
      if (level.skipsLoops && other === level.node) continue;
      if (!this.allows(level, edge)) continue;
      level.edge = edge;
      level.src = level.leaves ? level.node : other;
      level.dst = level.leaves ? other : level.node;
      if (step.other !== -1) this.nodes[step.other] = other;
      return true;
    }
  }

  private allows(level: Level, edge: number): boolean {
    const { earlier } = level.step;
    for (let i = 0; i < earlier.length; i++) if (this.levels[earlier[i]!.step]!.edge === edge) return false;
    return level.excluded.length === 0 || !level.excluded.includes(edge);
  }

  // ---- the last steps together ----

  /** The row forbids no relationships from here on. */
  private isFree(level: Level): boolean {
    for (let i = this.swept; i < this.levels.length; i++) if (this.levels[i]!.excluded.length > 0) return false;
    return level.at < level.to;
  }

  /** Some of the level's relationships, each with all that comes after it; false: the turn is over. */
  private sweep(level: Level): boolean {
    const to = Math.min(level.to, level.at + SWEPT_AT_ONCE);
    this.total += this.marks === null ? this.pairs(level, to) : this.closed(level, this.marks, to);
    this.steps += SWEPT_AT_ONCE;
    if (this.steps < STEPS_PER_TURN_CHECK) return true;
    this.steps = 0;
    this.context.checkpoint();
    return !this.context.shouldYield();
  }

  private pairs(level: Level, to: number): number {
    const last = this.levels[this.leaf]!;
    const pages = last.pages!;
    const source = last.source as AdjacencyEdges;
    const { others, edges, node } = level;
    const hasEarlier = level.step.earlier.length > 0;
    const isUsed = last.step.earlier.some(({ step }) => step === this.swept);
    // Against the arrow back: the relationship itself is always there. Along it: where it is a loop.
    const isAlways = isUsed && last.isOut !== level.isOut;
    const isLoops = isUsed && last.isOut === level.isOut;
    const before = last.step.earlier.filter(({ step }) => step !== this.swept).map(({ step }) => this.levels[step]!);
    let count = 0;
    for (let i = level.at; i < to; i++) {
      if (hasEarlier && !this.allows(level, edges[i]!)) continue;
      const other = others[i]!;
      if (source.notes) source.read(other);
      const page = pages[other >>> PAGE_BITS];
      if (page === undefined) continue;
      const at = other & PAGE_MASK;
      count += page.offsets[at + 1]! - page.offsets[at]!;
      if (isAlways || (isLoops && other === node)) count--;
      for (let k = 0; k < before.length; k++) if ((last.isOut ? before[k]!.src : before[k]!.dst) === other) count--;
    }
    level.at = to;
    return count;
  }

  /** Triangles by marks at the nodes from which the last step leads back. */
  private closed(level: Level, marks: Marks, to: number): number {
    const [, second, last] = this.levels as [Level, Level, Level];
    const pages = second.pages!;
    const source = second.source as AdjacencyEdges;
    const { others, edges, node } = level;
    const mark = marks.of(node);
    const { times, mult } = marks;
    let count = 0;
    let looked = 0;
    let i = mark === 0 ? to : level.at;
    for (; i < to && looked < LOOKED_AT_ONCE; i++) {
      const middle = others[i]!;
      if (source.notes) source.read(middle);
      const page = pages[middle >>> PAGE_BITS];
      if (page === undefined) continue;
      const ends = page.others;
      const end = page.offsets[(middle & PAGE_MASK) + 1]!;
      looked += end - page.offsets[middle & PAGE_MASK]!;
      for (let j = page.offsets[middle & PAGE_MASK]!; j < end; j++) {
        const third = ends[j]!;
        if (times[third] !== mark) continue;
        if (third !== node && third !== middle && middle !== node) count += mult[third]!;
        else {
          // Only here can a relationship be one that was used before.
          level.edge = edges[i]!;
          if (!this.allows(second, page.edges[j]!)) continue;
          second.edge = page.edges[j]!;
          count += marks.closing(third, (edge) => this.allows(last, edge));
        }
      }
    }
    level.at = i;
    return count;
  }

  // ---- the last step ----

  /** How many relationships the last step can take. */
  private relationships(): number {
    const level = this.levels[this.leaf]!;
    const node = this.nodes[level.step.from]!;
    level.open(node);
    if (level.pages !== null) return this.inList(level);
    let count = 0;
    while (level.nextSpan()) count += this.inList(level);
    return count;
  }

  /** Of the level's current list, which is not sorted when the transaction's own changes are in it. */
  private inList(level: Level): number {
    const { step, node, others, edges } = level;
    // Where there are several lists, an earlier relationship is in one of them.
    const isPlain =
      level.excluded.length === 0 &&
      !level.skipsLoops &&
      (step.earlier.length === 0 || (level.pages !== null && step.earlier.every(isSure)));
    const isSorted = others instanceof Uint32Array;
    if (isPlain && (step.into === -1 || isSorted)) {
      let [from, to] = [level.at, level.to];
      if (step.into !== -1) {
        const into = this.nodes[step.into]!;
        from = lowerBound(others, from, to, into);
        to = lowerBound(others, from, to, into + 1);
      }
      let count = to - from;
      for (let i = 0; i < step.earlier.length && count > 0; i++) {
        const used = this.levels[step.earlier[i]!.step]!;
        const [near, far] = level.leaves ? [used.src, used.dst] : [used.dst, used.src];
        if (near === node && (step.into === -1 || far === this.nodes[step.into])) count--;
      }
      return count;
    }
    let count = 0;
    for (let i = level.at; i < level.to; i++) {
      const other = others[i]!;
      if (step.into !== -1 && other !== this.nodes[step.into]) continue;
      if (level.skipsLoops && other === node) continue;
      if (this.allows(level, edges[i]!)) count++;
    }
    return count;
  }

  /** How many ways the last two steps have: by the nodes that both lists have. */
  private triangles(closing: AdjacencyEdges): number {
    const first = this.levels[this.leaf]!;
    const last = this.levels[this.leaf + 1]!;
    first.open(this.nodes[first.step.from]!);
    const target = this.nodes[last.step.into]!;
    closing.read(target);
    const page = closing.only![target >>> PAGE_BITS];
    if (page === undefined || first.at === first.to) return 0;
    const from = page.offsets[target & PAGE_MASK]!;
    const to = page.offsets[(target & PAGE_MASK) + 1]!;
    return this.common(first, last, page.others, page.edges, from, to);
  }

  private common(first: Level, last: Level, others: Uint32Array, edges: Uint32Array, from: number, to: number): number {
    const left = first.others as Uint32Array;
    let [a, b] = [first.at, from];
    const [aTo, bTo] = [first.to, to];
    const isLongLeft = aTo - a > MERGED_RATIO * (bTo - b);
    const isLongRight = bTo - b > MERGED_RATIO * (aTo - a);
    let count = 0;
    while (a < aTo && b < bTo) {
      const [x, y] = [left[a]!, others[b]!];
      if (x < y) a = isLongLeft ? lowerBound(left, a + 1, aTo, y) : a + 1;
      else if (x > y) b = isLongRight ? lowerBound(others, b + 1, bTo, x) : b + 1;
      else {
        let bEnd = b + 1;
        while (bEnd < bTo && others[bEnd] === x) bEnd++;
        for (; a < aTo && left[a] === x; a++) {
          if (!this.allows(first, first.edges[a]!)) continue;
          first.edge = first.edges[a]!;
          for (let i = b; i < bEnd; i++) if (this.allows(last, edges[i]!)) count++;
        }
        b = bEnd;
      }
    }
    return count;
  }
}

/** Which nodes the last step of a triangle can come from, for one node that it leads to. */
class Marks {
  /** By node: the mark that it has, and how many relationships lead from it. */
  readonly times: Int32Array;
  readonly mult: Uint32Array;
  private mark = 0;
  private node = -1;
  private from = 0;
  private to = 0;
  private page: Page | undefined;

  constructor(
    private readonly source: AdjacencyEdges,
    nodes: number,
  ) {
    this.times = new Int32Array(nodes + 1);
    this.mult = new Uint32Array(nodes + 1);
  }

  /** Marks what leads to the node; 0: nothing does. */
  of(node: number): number {
    if (this.node === node) return this.from === this.to ? 0 : this.mark;
    this.node = node;
    this.source.read(node);
    this.page = this.source.only![node >>> PAGE_BITS];
    this.from = this.page?.offsets[node & PAGE_MASK] ?? 0;
    this.to = this.page?.offsets[(node & PAGE_MASK) + 1] ?? 0;
    if (this.from === this.to) return 0;
    const mark = ++this.mark;
    const { others } = this.page!;
    for (let i = this.from; i < this.to; i++) {
      const other = others[i]!;
      this.mult[other] = this.times[other] === mark ? this.mult[other]! + 1 : 1;
      this.times[other] = mark;
    }
    return mark;
  }

  /** How many of the relationships between a node and the marked one are allowed. */
  closing(other: number, allows: (edge: number) => boolean): number {
    const { others, edges } = this.page!;
    let count = 0;
    for (let i = lowerBound(others, this.from, this.to, other); i < this.to && others[i] === other; i++) {
      if (allows(edges[i]!)) count++;
    }
    return count;
  }
}

function isSure({ isSureOfType }: { readonly isSureOfType: boolean }): boolean {
  return isSureOfType;
}
