/**
 * The k shortest paths of each pair of nodes, or all paths of the k least lengths: breadth first over paths in which no
 * relationship occurs twice. A path to a known end only goes where that end can still be reached. Made by
 * expand-path.ts.
 */
import type { EdgeSource } from "./edge-source.js";
import type { PathRow, PathSearch } from "./path-search.js";

/** Paths and relationships looked at between two looks at the clock. */
const STEPS_PER_TURN_CHECK = 256;
/** In lists of numbers that grow, and in maps. */
const BYTES_PER_PATH = 36;
const BYTES_PER_NODE = 96;

/** True: a path is there; undefined: the turn is over. */
type Steps = Generator<true | undefined, void>;

/** What has been found of one end. */
interface Found {
  /** Paths, or lengths. */
  count: number;
  length: number;
}

export class ShortestTrails implements PathSearch {
  private steps: Steps | null = null;
  private into = -1;
  /** Of a path: its last node and relationship, and the path without them (−1: there is none). */
  private readonly nodes: number[] = [];
  private readonly lastEdges: number[] = [];
  private readonly before: number[] = [];
  private readonly found = new Map<number, Found>();
  /** Nodes, and how many relationships lead there: from the known end, or from the beginning if no end is known. */
  private readonly distances = new Map<number, number>();
  /** A relationship leads back to where paths begin. */
  private closes = false;
  /** Nodes that have all that they may have: never the beginning, if nothing leads back there. */
  private full = 0;
  private at = 0;
  private worked = 0;
  private held = 0;

  constructor(
    private readonly row: PathRow,
    private readonly by: "paths" | "groups",
    private readonly wanted: number,
  ) {}

  start(node: number, into: number): void {
    this.clear();
    this.into = into;
    this.nodes.push(node);
    this.lastEdges.push(-1);
    this.before.push(-1);
    this.steps = this.search(node);
  }

  next(): boolean | undefined {
    const step = this.steps!.next();
    return step.done === true ? false : step.value;
  }

  edges(): readonly number[] {
    const way: number[] = [];
    for (let path = this.at; this.before[path] !== -1; path = this.before[path]!) way.push(this.lastEdges[path]!);
    return way.reverse();
  }

  end(): number {
    return this.nodes[this.at]!;
  }

  close(): void {
    this.clear();
  }

  private clear(): void {
    for (const list of [this.nodes, this.lastEdges, this.before]) list.length = 0;
    this.found.clear();
    this.distances.clear();
    this.closes = false;
    this.full = 0;
    this.count();
  }

  /** Throws 53200 when the statement's memory does not suffice. */
  private count(): void {
    const { statement } = this.row.context;
    const bytes = this.nodes.length * BYTES_PER_PATH + (this.found.size + this.distances.size) * BYTES_PER_NODE;
    const more = bytes - this.held;
    this.held = bytes;
    if (more > 0) statement.reserve(more);
    else statement.release(-more);
  }

  private *search(start: number): Steps {
    const { min, max } = this.row.program;
    const isTowards = this.into !== -1;
    yield* this.measure(isTowards ? this.into : start, isTowards ? this.row.backward() : this.row.source);
    for (let [begin, length] = [0, 0]; begin < this.nodes.length; length++) {
      const end = this.nodes.length;
      for (let path = begin; length >= min && path < end; path++) {
        if (this.isTime()) yield undefined;
        if (!this.isWanted(this.nodes[path]!, length)) continue;
        this.at = path;
        yield true;
      }
      if (length >= max || this.isOver()) return;
      for (let path = begin; path < end; path++) yield* this.goOn(path, max - length - 1);
      begin = end;
    }
  }

  /** How far nodes are from one, as far as paths may lead. */
  private *measure(from: number, source: EdgeSource): Steps {
    const { row } = this;
    const { max } = row.program;
    this.distances.set(from, 0);
    // A map gives what is added to it while it is walked.
    for (const [node, distance] of this.distances) {
      if (distance >= max) return;
      for (const { others, edges, from: first, to } of source.of(node)) {
        for (let i = first; i < to; i++) {
          if (this.isTime()) yield undefined;
          const other = others[i]!;
          if (other === from && !this.closes) this.closes = row.allows(edges[i]!);
          else if (!this.distances.has(other) && row.allows(edges[i]!)) this.distances.set(other, distance + 1);
        }
      }
    }
  }

  private isTime(): boolean {
    if (++this.worked % STEPS_PER_TURN_CHECK !== 0) return false;
    const { context } = this.row;
    this.count();
    context.checkpoint();
    return context.shouldYield();
  }

  /** Counts a path of this length to a node, if it is one of those to find. */
  private isWanted(node: number, length: number): boolean {
    if (this.into !== -1 && node !== this.into) return false;
    const found = this.found.get(node);
    if (found === undefined) {
      this.found.set(node, { count: 1, length });
      return true;
    }
    if (this.by === "groups" && found.length === length) return true;
    if (found.count >= this.wanted) return false;
    found.count++;
    found.length = length;
    if (found.count === this.wanted) this.full++;
    return true;
  }

  /** Whether every node at which a path could end has all that it may have. */
  private isOver(): boolean {
    return this.full === (this.into !== -1 ? 1 : this.distances.size - Number(!this.closes));
  }

  /** Adds the paths that are one relationship longer; `left`: relationships that may follow after that one. */
  private *goOn(path: number, left: number): Steps {
    const { row, distances } = this;
    const node = this.nodes[path]!;
    for (const { others, edges, from, to, skipsLoops } of row.source.of(node)) {
      for (let i = from; i < to; i++) {
        if (this.isTime()) yield undefined;
        const [other, edge] = [others[i]!, edges[i]!];
        if (skipsLoops && other === node) continue;
        if (this.into !== -1 && (distances.get(other) ?? Number.POSITIVE_INFINITY) > left) continue;
        if (this.isOn(path, edge) || !row.allows(edge)) continue;
        this.nodes.push(other);
        this.lastEdges.push(edge);
        this.before.push(path);
      }
    }
  }

  private isOn(path: number, edge: number): boolean {
    for (let at = path; at !== -1; at = this.before[at]!) if (this.lastEdges[at] === edge) return true;
    return false;
  }
}
