/**
 * Shortest paths, breadth first. If both ends are known, the search goes from both, always on the side with fewer
 * nodes (Pohl, "Bi-directional Search", Machine Intelligence 6, 1971). Made by expand-path.ts.
 */
import type { EdgeSource } from "./edge-source.js";
import type { PathRow, PathSearch } from "./path-search.js";

/** Nodes gone on from between two looks at the clock. */
const NODES_PER_TURN_CHECK = 64;

/** True: a path is there; undefined: the turn is over. */
type Steps = Generator<true | undefined, void>;

export class ShortestPaths implements PathSearch {
  private steps: Steps | null = null;
  private readonly fromStart = new Reached();
  private readonly fromEnd = new Reached();
  private path: readonly number[] = [];
  private last = -1;
  private worked = 0;
  /** Bytes reserved for what both sides have reached. */
  private held = 0;

  /** A relationship that follows the arrows has led back to the beginning. */
  closes = false;

  constructor(
    private readonly row: PathRow,
    private readonly search: "shortest" | "all-shortest",
  ) {}

  start(node: number, into: number): void {
    this.fromStart.reset(node);
    this.fromEnd.clear();
    this.count();
    this.closes = false;
    if (into === -1) this.steps = this.toAll();
    else if (into === node) this.steps = this.toItself(node);
    else {
      this.fromEnd.reset(into);
      this.steps = this.between(into);
    }
  }

  next(): boolean | undefined {
    const step = this.steps!.next();
    return step.done === true ? false : step.value;
  }

  edges(): readonly number[] {
    return this.path;
  }

  end(): number {
    return this.last;
  }

  close(): void {
    this.fromStart.release();
    this.fromEnd.release();
    this.count();
  }

  /** Throws 53200 when the statement's memory does not suffice. */
  private count(): void {
    const { statement } = this.row.context;
    const bytes = this.fromStart.bytes + this.fromEnd.bytes;
    const more = bytes - this.held;
    this.held = bytes;
    if (more > 0) statement.reserve(more);
    else statement.release(-more);
  }

  /** The way from a node to itself is no way at all. */
  private *toItself(node: number): Steps {
    if (this.row.program.min > 0) return;
    this.path = [];
    this.last = node;
    yield true;
  }

  private *toAll(): Steps {
    const { min, max } = this.row.program;
    const { fromStart } = this;
    if (min === 0) yield* this.toItself(fromStart.nodes[0]!);
    for (let begin = 0; fromStart.level < max; ) {
      const end = fromStart.nodes.length;
      yield* this.advance(fromStart, this.row.source, begin);
      if (fromStart.nodes.length === end) return;
      for (let slot = end; slot < fromStart.nodes.length; slot++) {
        this.last = fromStart.nodes[slot]!;
        if (!this.row.program.givesList && this.search === "shortest") {
          yield true;
          continue;
        }
        for (const way of this.waysTo(fromStart, slot)) {
          this.path = way.toReversed();
          yield true;
        }
      }
      begin = end;
    }
  }

  private *between(into: number): Steps {
    const { max } = this.row.program;
    const { fromStart, fromEnd } = this;
    this.last = into;
    let [startAt, endAt] = [0, 0];
    while (fromStart.level + fromEnd.level < max) {
      const isForward = fromStart.nodes.length - startAt <= fromEnd.nodes.length - endAt;
      const [side, other] = isForward ? [fromStart, fromEnd] : [fromEnd, fromStart];
      const before = side.nodes.length;
      yield* this.advance(side, isForward ? this.row.source : this.row.backward(), isForward ? startAt : endAt);
      if (side.nodes.length === before) return;
      if (isForward) startAt = before;
      else endAt = before;
      let isMet = false;
      for (let slot = before; slot < side.nodes.length; slot++) {
        const met = other.slotOf(side.nodes[slot]!);
        if (met === -1) continue;
        isMet = true;
        yield* this.through(isForward ? slot : met, isForward ? met : slot);
        if (this.search === "shortest") return;
      }
      if (isMet) return;
    }
  }

  /** Paths by a node that both sides have reached, by its slots there. */
  private *through(startSlot: number, endSlot: number): Steps {
    for (const head of this.waysTo(this.fromStart, startSlot)) {
      for (const tail of this.waysTo(this.fromEnd, endSlot)) {
        this.path = [...head.toReversed(), ...tail];
        yield true;
        if (this.search === "shortest") return;
      }
    }
  }

  /** Relationships back to where a side began: one way, or all. */
  private *waysTo(side: Reached, slot: number): Generator<readonly number[]> {
    if (this.search === "all-shortest") yield* side.ways(slot, []);
    else yield side.firstWay(slot);
  }

  /** Goes one level further from the nodes in slots from `begin` on. */
  private *advance(side: Reached, source: EdgeSource, begin: number): Steps {
    const { row } = this;
    const end = side.nodes.length;
    const isDirected = row.program.steps[0]!.source.direction !== "either";
    side.level++;
    for (let slot = begin; slot < end; slot++) {
      const node = side.nodes[slot]!;
      for (const { others, edges, from, to } of source.of(node)) {
        for (let i = from; i < to; i++) {
          const known = side.slotOf(others[i]!);
          if (known === 0 && isDirected && row.allows(edges[i]!)) this.closes = true;
          if (known !== -1 && known < end) continue;
          if (row.allows(edges[i]!)) side.reach(others[i]!, known, slot, edges[i]!);
        }
      }
      if (++this.worked % NODES_PER_TURN_CHECK !== 0) continue;
      this.count();
      row.context.checkpoint();
      if (row.context.shouldYield()) yield undefined;
    }
  }
}

/** In lists of numbers that grow. */
const BYTES_PER_NODE = 24;
const BYTES_PER_STEP = 36;
const PAGE_BITS = 12;
const PAGE = 1 << PAGE_BITS;
/** Pages of zeros that searches have left for the next ones. */
const spare: Int32Array[] = [];
const SPARE_MAX = 256;

/** Nodes that one side has reached, by slots in the order in which they were, and how they were reached. */
class Reached {
  level = 0;
  readonly nodes: number[] = [];
  /** By slot: the first of its steps; −1: it is where the side began. */
  private readonly steps: number[] = [];
  /** Of a step: the slot before it, its relationship, and the next step to the same node. */
  private readonly stepFrom: number[] = [];
  private readonly stepEdge: number[] = [];
  private readonly stepNext: number[] = [];
  /** Slots plus one, by node. */
  private readonly pages: (Int32Array | undefined)[] = [];
  private pageCount = 0;

  get bytes(): number {
    return this.nodes.length * BYTES_PER_NODE + this.stepFrom.length * BYTES_PER_STEP + this.pageCount * PAGE * 4;
  }

  reset(node: number): void {
    this.clear();
    this.add(node, -1);
  }

  /** Gives its pages back; it may be used again. */
  release(): void {
    this.clear();
    for (const page of this.pages) if (page !== undefined && spare.length < SPARE_MAX) spare.push(page);
    this.pages.length = 0;
    this.pageCount = 0;
  }

  clear(): void {
    for (const reached of this.nodes) this.pages[reached >>> PAGE_BITS]![reached & (PAGE - 1)] = 0;
    for (const list of [this.nodes, this.steps, this.stepFrom, this.stepEdge, this.stepNext]) list.length = 0;
    this.level = 0;
  }

  /** −1: it has not been reached. */
  slotOf(node: number): number {
    const page = this.pages[node >>> PAGE_BITS];
    return page === undefined ? -1 : page[node & (PAGE - 1)]! - 1;
  }

  /** Notes a step to a node; `known` is its slot. */
  reach(node: number, known: number, from: number, edge: number): void {
    const step = this.stepFrom.length;
    this.stepFrom.push(from);
    this.stepEdge.push(edge);
    if (known === -1) {
      this.stepNext.push(-1);
      this.add(node, step);
    } else {
      // Behind the first, which stays the one way for those that want one.
      const first = this.steps[known]!;
      this.stepNext.push(this.stepNext[first]!);
      this.stepNext[first] = step;
    }
  }

  private add(node: number, step: number): void {
    let page = this.pages[node >>> PAGE_BITS];
    if (page === undefined) {
      page = spare.pop() ?? new Int32Array(PAGE);
      this.pages[node >>> PAGE_BITS] = page;
      this.pageCount++;
    }
    this.nodes.push(node);
    this.steps.push(step);
    page[node & (PAGE - 1)] = this.nodes.length;
  }

  /** Relationships from the slot's node back to the beginning. */
  firstWay(slot: number): readonly number[] {
    const way: number[] = [];
    for (let step = this.steps[slot]!; step !== -1; step = this.steps[this.stepFrom[step]!]!) {
      way.push(this.stepEdge[step]!);
    }
    return way;
  }

  *ways(slot: number, behind: readonly number[]): Generator<readonly number[]> {
    let step = this.steps[slot]!;
    if (step === -1) yield behind;
    for (; step !== -1; step = this.stepNext[step]!) {
      yield* this.ways(this.stepFrom[step]!, [...behind, this.stepEdge[step]!]);
    }
  }
}
