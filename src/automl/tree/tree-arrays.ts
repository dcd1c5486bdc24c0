/** Writing, reading and explaining sets of trees; for boosting.ts and forest.ts. No state. */
import type { ArraySink, ColumnContributions, StoredArray } from "../model/learner.js";
import type { TreeArrays } from "./tree.js";

/** The numbers of the arrays in the sink. */
export function saveTrees(trees: TreeArrays, sink: ArraySink): number[] {
  const { roots, feature, threshold, missingLeft, left, right, values } = trees;
  return [roots, feature, threshold, missingLeft, left, right, values].map((array) => sink.add(array));
}

export function loadTrees(numbers: readonly number[], arrays: readonly StoredArray[]): TreeArrays {
  const [roots, feature, threshold, missingLeft, left, right, values] = numbers.map((number) => arrays[number]!);
  return { roots, feature, threshold, missingLeft, left, right, values } as TreeArrays;
}

/**
 * Contributions along the path of each tree: what the expected value changes by at each node belongs to the column
 * asked there (Saabas 2014, "Interpreting random forests"). Base and contributions add up to the sum of the trees'
 * values.
 */
export function explainTrees(
  trees: TreeArrays,
  roots: readonly number[],
  columns: readonly Float32Array[],
  row: number,
  outputs: number,
  output: number,
): ColumnContributions {
  const contributions = new Float64Array(columns.length);
  let base = 0;
  for (const root of roots) {
    let at = root;
    let value = trees.values[root * outputs + output]!;
    base += value;
    for (let asked = trees.feature[at]!; asked >= 0; asked = trees.feature[at]!) {
      at = nextNode(trees, at, columns[asked]![row]!);
      const next = trees.values[at * outputs + output]!;
      contributions[asked]! += next - value;
      value = next;
    }
  }
  return { base, contributions };
}

function nextNode(trees: TreeArrays, node: number, value: number): number {
  const left = Number.isNaN(value) ? trees.missingLeft[node] === 1 : value <= trees.threshold[node]!;
  return left ? trees.left[node]! : trees.right[node]!;
}
