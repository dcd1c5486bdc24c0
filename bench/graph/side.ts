/** What the contest asks of each system. */
import type { Data } from "./data.js";

export const QUESTIONS = [
  "2 hops from one node",
  "all paths of 2 hops",
  "3 hops, distinct nodes",
  "triangles",
  "shortest path",
  "PageRank, 20 iterations",
  "Louvain",
] as const;

export type Question = (typeof QUESTIONS)[number];

/**
 * What is asked of each node or pair (`null`: of the graph): a count, the length of the path, of PageRank the ten best
 * and their ranks, of Louvain the modularity.
 */
export type Answer = readonly number[];

export interface Side {
  readonly name: string;
  readonly version: string;
  load(data: Data): Promise<void>;
  /** Null: it cannot say. `at`: the node, or the pair. */
  ask(question: Question, at: readonly number[]): Promise<Answer | null>;
  stop(): Promise<void>;
}

export const DAMPING = 0.85;
export const ITERATIONS = 20;
/** Steps after which a shortest path is not searched further. */
export const STEPS_MAX = 15;

/** Where the peers' packages are installed: `npm ci --prefix bench/peers/graph`. */
export const GRAPH_PEERS = new URL("../../../bench/peers/graph/package.json", import.meta.url);
