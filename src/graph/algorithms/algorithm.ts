/**
 * The interface of a graph algorithm: its options, and a computation over arrays that runs in a task thread.
 * `run-algorithm.ts` checks options and runs it; definitions are networkx's unless an algorithm's file says otherwise.
 */

/** A graph as arrays: node i has the id `nodes[i]`; relationship j goes from node `src[j]` to node `dst[j]`. */
export interface AlgorithmGraph {
  /** Ids, ascending. */
  readonly nodes: Float64Array;
  readonly src: Uint32Array;
  readonly dst: Uint32Array;
  /** One per relationship; null: all count alike. */
  readonly weights: Float64Array | null;
}

export type OptionValue = number | string | boolean | null;
export type Options = Readonly<Record<string, OptionValue>>;

export interface OptionDef {
  /** In snake case; written with capitals instead it is the same. */
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly type: "integer" | "float" | "boolean" | "text" | "node";
  /** Undefined: it has to be given. */
  readonly default?: OptionValue;
  readonly min?: number;
  readonly max?: number;
  /** The bound itself is too much. */
  readonly isBelowMax?: true;
  readonly values?: readonly string[];
}

export type ResultColumn =
  /** Indexes of nodes. */
  | { readonly name: string; readonly kind: "node"; readonly values: ArrayLike<number> }
  | { readonly name: string; readonly kind: "integer" | "float"; readonly values: ArrayLike<number> }
  /** Indexes of nodes each. */
  | { readonly name: string; readonly kind: "nodes"; readonly values: readonly ArrayLike<number>[] };

export interface AlgorithmResult {
  readonly columns: readonly ResultColumn[];
  readonly rows: number;
  /** Facts about the whole result: iterations, modularity, number of communities. */
  readonly summary: Readonly<Record<string, number | boolean>>;
}

/** Tells how far the work is, 0 to 1. Throws when it is not wanted any more. */
export type Progress = (done: number) => void;

export interface Algorithm {
  /** As CALL writes it, after `algo.`. */
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly options: readonly OptionDef[];
  /** It reads weights where a property is named for them. */
  readonly isWeighted: boolean;
  /** Columns of its rows, as `run` gives them; the first of the others is what is written back to nodes. */
  readonly columns: readonly { readonly name: string; readonly kind: ResultColumn["kind"] }[];
  run(graph: AlgorithmGraph, options: Options, progress: Progress): AlgorithmResult;
}

export const SEED: OptionDef = {
  name: "seed",
  aliases: ["random_seed"],
  type: "integer",
  default: 42,
  min: 0,
  max: 2 ** 32 - 1,
};

/** 0 … count − 1 in an order that follows from the numbers (Fisher and Yates). */
export function shuffled(count: number, random: () => number): Uint32Array {
  const order = indexes(count);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}

export function indexes(count: number): Uint32Array {
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  return order;
}

/** Groups numbered from 0 in the order of their first nodes, and how many there are. */
export function numbered(groups: ArrayLike<number>): { readonly of: Uint32Array; readonly count: number } {
  const numbers = new Map<number, number>();
  const of = new Uint32Array(groups.length);
  for (let i = 0; i < groups.length; i++) {
    let number = numbers.get(groups[i]!);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(groups[i]!, number);
    }
    of[i] = number;
  }
  return { of, count: numbers.size };
}
