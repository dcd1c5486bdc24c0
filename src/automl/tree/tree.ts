/**
 * Decision trees as flat arrays: made by grow-tree.ts, kept together in a TreeSet, which predicts and is written to
 * models.
 */

/** One tree. Node 0 is its root; a node's children come after it. */
export interface Tree {
  /** Nodes: the column that is asked, or -1 for a leaf. */
  readonly feature: Int32Array;
  /** Values up to and including it go left. */
  readonly threshold: Float32Array;
  readonly missingLeft: Uint8Array;
  readonly left: Int32Array;
  readonly right: Int32Array;
  /** Nodes × outputs; inner nodes have one too, for explanations. */
  readonly values: Float32Array;
  readonly outputs: number;
  /** Leaves: where each one's rows stand in the array that was grown from. */
  readonly leaves: readonly { readonly node: number; readonly start: number; readonly end: number }[];
}

export class TreeBuilder {
  private readonly feature: number[] = [];
  private readonly threshold: number[] = [];
  private readonly missingLeft: number[] = [];
  private readonly left: number[] = [];
  private readonly right: number[] = [];
  private readonly values: number[] = [];
  private readonly leaves: { node: number; start: number; end: number }[] = [];

  constructor(private readonly outputs: number) {}

  /** A leaf, so far; its values are the first of `sums`, times the factor. */
  add(sums: Float64Array, factor: number): number {
    this.feature.push(-1);
    this.threshold.push(0);
    this.missingLeft.push(0);
    this.left.push(-1);
    this.right.push(-1);
    for (let i = 0; i < this.outputs; i++) this.values.push(sums[i]! * factor);
    return this.feature.length - 1;
  }

  split(node: number, feature: number, threshold: number, missingLeft: boolean, left: number, right: number): void {
    this.feature[node] = feature;
    this.threshold[node] = threshold;
    this.missingLeft[node] = missingLeft ? 1 : 0;
    this.left[node] = left;
    this.right[node] = right;
  }

  closeLeaf(node: number, start: number, end: number): void {
    this.leaves.push({ node, start, end });
  }

  finish(): Tree {
    return {
      feature: new Int32Array(this.feature),
      threshold: new Float32Array(this.threshold),
      missingLeft: new Uint8Array(this.missingLeft),
      left: new Int32Array(this.left),
      right: new Int32Array(this.right),
      values: new Float32Array(this.values),
      outputs: this.outputs,
      leaves: this.leaves,
    };
  }
}

/** Many trees one after the other; children are numbered over all of them. */
export interface TreeArrays {
  readonly roots: Int32Array;
  readonly feature: Int32Array;
  readonly threshold: Float32Array;
  readonly missingLeft: Uint8Array;
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly values: Float32Array;
}

export function joinTrees(trees: readonly Tree[]): TreeArrays {
  const nodes = trees.reduce((sum, { feature }) => sum + feature.length, 0);
  const outputs = trees[0]?.outputs ?? 1;
  const joined = {
    roots: new Int32Array(trees.length),
    feature: new Int32Array(nodes),
    threshold: new Float32Array(nodes),
    missingLeft: new Uint8Array(nodes),
    left: new Int32Array(nodes),
    right: new Int32Array(nodes),
    values: new Float32Array(nodes * outputs),
  };
  let at = 0;
  trees.forEach((tree, index) => {
    const moved = (child: number) => (child < 0 ? -1 : child + at);
    joined.roots[index] = at;
    joined.feature.set(tree.feature, at);
    joined.threshold.set(tree.threshold, at);
    joined.missingLeft.set(tree.missingLeft, at);
    joined.left.set(tree.left.map(moved), at);
    joined.right.set(tree.right.map(moved), at);
    joined.values.set(tree.values, at * outputs);
    at += tree.feature.length;
  });
  return joined;
}

/** The leaf that a row of `columns` reaches from `node`. */
export function leafOf(
  trees: Omit<TreeArrays, "roots">,
  node: number,
  columns: readonly Float32Array[],
  row: number,
): number {
  const { feature, threshold, missingLeft, left, right } = trees;
  let at = node;
  for (let asked = feature[at]!; asked >= 0; asked = feature[at]!) {
    const value = columns[asked]![row]!;
    // A comparison with NaN is false, so that missing values are asked for only on that way.
    if (value <= threshold[at]!) at = left[at]!;
    else if (value > threshold[at]!) at = right[at]!;
    else at = missingLeft[at] === 1 ? left[at]! : right[at]!;
  }
  return at;
}
