/**
 * Random forests (Breiman 2001): trees grown deep on rows drawn with replacement, with few features by chance at each
 * node; they vote by averaging class shares or means. With random cuts (Geurts et al. 2006) each tree has all rows.
 * Called by model/learners.ts; no state.
 */
import type { ArraySink, ColumnContributions, FittedModel, Sample, SavedModel, StoredArray } from "../model/learner.js";
import { outputsOf } from "../model/learner.js";
import type { Statistics } from "./best-split.js";
import { TreeGrower } from "./grow-tree.js";
import { joinTrees, leafOf, type Tree, type TreeArrays, TreeBuilder } from "./tree.js";
import { explainTrees, loadTrees, saveTrees } from "./tree-arrays.js";

export interface ForestParameters {
  readonly trees: number;
  /** Share of the features that a node looks at; 0: the square root of their number. */
  readonly featureShare: number;
  readonly minLeafRows: number;
  readonly depth: number;
  readonly cuts: "best" | "random";
  /** Rows drawn for a tree, at most. */
  readonly rowsMax: number;
}

export function fitForest(sample: Sample, parameters: ForestParameters): FittedModel {
  const { train, classes, random } = sample;
  const columns = sample.inputs.binned();
  const { featureShare } = parameters;
  const perNode = featureShare === 0 ? Math.sqrt(columns.length) : featureShare * columns.length;
  const drawn = new Int32Array(Math.min(train.length, parameters.rowsMax));
  const statistics = statisticsOf(sample);
  const options = {
    leavesMax: Number.POSITIVE_INFINITY,
    depthMax: parameters.depth,
    minChildWeight: Math.max(parameters.minLeafRows, leafRowsMin(drawn.length, outputsOf(classes))),
    lambda: 0,
    gainMin: 1e-12,
    featuresPerNode: Math.max(1, Math.round(perNode)),
    cuts: parameters.cuts,
  };
  const grower = new TreeGrower(columns, statistics, options, random, drawn.length);
  const features = Int32Array.from({ length: columns.length }, (_, i) => i);
  const trees: Tree[] = [];
  for (let tree = 0; tree < parameters.trees; tree++) {
    sample.checkStop();
    draw(drawn, sample, parameters.cuts === "best");
    trees.push(grower.grow(drawn, features, 1));
  }
  if (classes > 0) trees.push(treeOfShares(sample));
  return new Forest(classes, outputsOf(classes), joinTrees(trees));
}

/** Bytes of a tree as stored, where its leaves hold some rows more than they must. */
const TREE_BYTES = 100_000;

/** So few rows a leaf may have that the model is not too large to be stored. */
function leafRowsMin(rows: number, outputs: number): number {
  return Math.ceil((rows * (21 + 4 * outputs)) / TREE_BYTES);
}

function draw(drawn: Int32Array, { train, random }: Sample, withReplacement: boolean): void {
  if (withReplacement) for (let i = 0; i < drawn.length; i++) drawn[i] = train[random.below(train.length)]!;
  else if (drawn.length === train.length) drawn.set(train);
  else drawn.set(random.shuffle(train.slice(), drawn.length).subarray(0, drawn.length));
  drawn.sort();
}

/** A tree that votes for each class as often as it is there: no class is impossible because no leaf has it. */
function treeOfShares({ target, classes, train }: Sample): Tree {
  const shares = new Float64Array(classes);
  for (const row of train) shares[target[row]!]! += 1 / train.length;
  const outputs = outputsOf(classes);
  const builder = new TreeBuilder(outputs);
  builder.add(outputs === 1 ? shares.subarray(1) : shares, 1);
  return builder.finish();
}

/** Two classes are grown as values 0 and 1: halving their variance is halving Gini's impurity. */
function statisticsOf({ target, classes }: Sample): Statistics {
  if (classes > 2) return { kind: "classes", labels: Uint8Array.from(target), classes };
  return {
    kind: "gradient",
    gradients: target.map((value) => -value),
    hessians: new Float64Array(target.length).fill(1),
  };
}

class Forest implements FittedModel {
  constructor(
    private readonly classes: number,
    private readonly outputs: number,
    private readonly arrays: TreeArrays,
  ) {}

  predict(columns: readonly Float32Array[], rows: Int32Array): Float64Array {
    const { outputs, arrays } = this;
    const result = new Float64Array(rows.length * outputs);
    const share = 1 / arrays.roots.length;
    for (const root of arrays.roots) {
      for (let i = 0; i < rows.length; i++) {
        const leaf = leafOf(arrays, root, columns, rows[i]!) * outputs;
        for (let k = 0; k < outputs; k++) result[i * outputs + k]! += share * arrays.values[leaf + k]!;
      }
    }
    return result;
  }

  explain(columns: readonly Float32Array[], row: number, output: number): ColumnContributions {
    const share = 1 / this.arrays.roots.length;
    const { base, contributions } = explainTrees(
      this.arrays,
      [...this.arrays.roots],
      columns,
      row,
      this.outputs,
      output,
    );
    return { base: base * share, contributions: contributions.map((part) => part * share) };
  }

  save(sink: ArraySink): SavedModel {
    return { kind: "forest", classes: this.classes, trees: saveTrees(this.arrays, sink) };
  }
}

export function loadForest(saved: SavedModel, arrays: readonly StoredArray[]): FittedModel {
  const { classes, trees } = saved as unknown as { classes: number; trees: number[] };
  return new Forest(classes, outputsOf(classes), loadTrees(trees, arrays));
}
