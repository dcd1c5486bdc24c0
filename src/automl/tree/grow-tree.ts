/**
 * Grows one decision tree from histograms of binned columns. Boosting grows best-first with regularised gains (Chen and
 * Guestrin 2016, equations 5 to 7; leaf-wise as Ke et al. 2017), forests depth-first with few features by chance at
 * each node (Breiman 2001). Called by boosting.ts and forest.ts; a grower owns its buffers and serves one training.
 */
import type { Random } from "../random.js";
import { bestSplit, type Split, type Statistics } from "./best-split.js";
import type { BinnedColumn } from "./bins.js";
import { HistogramPool } from "./histogram-pool.js";
import { randomSplit } from "./random-split.js";
import { type Tree, TreeBuilder } from "./tree.js";

export interface GrowOptions {
  /** Infinity: depth-first, without order. */
  readonly leavesMax: number;
  readonly depthMax: number;
  /** Of hessians, which are 1 a row where the loss is squared: rows. */
  readonly minChildWeight: number;
  readonly lambda: number;
  readonly gainMin: number;
  /** Features looked at in each node, of those whose values differ there; null: all that the tree has. */
  readonly featuresPerNode: number | null;
  /** `random`: one cut by chance in each feature. */
  readonly cuts: "best" | "random";
}

interface Node {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  readonly depth: number;
  /** Sums of the rows: outputs, then the weight. */
  readonly totals: Float64Array;
  /** -1: none is kept. */
  readonly slot: number;
  readonly split: Split | null;
}

export class TreeGrower {
  private readonly scratch: Int32Array;
  private readonly orderedGradients: Float64Array;
  private readonly orderedHessians: Float64Array;
  private readonly offsets: Int32Array;
  private readonly pool: HistogramPool;
  private readonly stride: number;
  private readonly shuffled: Int32Array;

  constructor(
    private readonly columns: readonly BinnedColumn[],
    private readonly statistics: Statistics,
    private readonly options: GrowOptions,
    private readonly random: Random,
    rowsMax: number,
  ) {
    this.stride = statistics.kind === "classes" ? statistics.classes + 1 : 2;
    this.offsets = new Int32Array(columns.length + 1);
    columns.forEach(({ cuts }, feature) => {
      this.offsets[feature + 1] = this.offsets[feature]! + (cuts.length + 2) * this.stride;
    });
    this.scratch = new Int32Array(rowsMax);
    const ordered = statistics.kind === "gradient" ? rowsMax : 0;
    this.orderedGradients = new Float64Array(ordered);
    this.orderedHessians = new Float64Array(ordered);
    this.pool = new HistogramPool(
      this.offsets[columns.length]!,
      options.featuresPerNode === null ? options.leavesMax : 0,
    );
    this.shuffled = new Int32Array(columns.length);
  }

  /**
   * `rows` (row numbers, which may repeat) is permuted: each leaf's rows end up together. `features`: the columns that
   * this tree may use. `shrinkage` multiplies the values of gradient leaves.
   */
  grow(rows: Int32Array, features: Int32Array, shrinkage: number): Tree {
    const outputs = this.stride - 1;
    const builder = new TreeBuilder(outputs);
    const add = (totals: Float64Array) => builder.add(totals, this.leafFactor(totals, shrinkage));
    const totals = this.totalsOf(rows, 0, rows.length);
    const root = this.open(add(totals), rows, 0, rows.length, 0, totals, features, -1);
    const waiting: Node[] = [root];
    let leaves = 1;
    while (waiting.length > 0) {
      const node = this.takeNext(waiting);
      const { split } = node;
      if (split === null || leaves >= this.options.leavesMax) {
        this.pool.release(node.slot);
        builder.closeLeaf(node.id, node.start, node.end);
        continue;
      }
      leaves++;
      const middle = this.partition(rows, node.start, node.end, split);
      const leftTotals = split.left;
      const rightTotals = new Float64Array(this.stride);
      for (let i = 0; i < rightTotals.length; i++) rightTotals[i] = node.totals[i]! - leftTotals[i]!;
      const column = this.columns[split.feature]!;
      const threshold = split.bin < column.cuts.length ? column.cuts[split.bin]! : Number.POSITIVE_INFINITY;
      const left = add(leftTotals);
      const right = add(rightTotals);
      builder.split(node.id, split.feature, threshold, split.missingLeft, left, right);
      this.openChildren(waiting, rows, features, node, middle, [left, right], [leftTotals, rightTotals]);
    }
    return builder.finish();
  }

  /** The smaller child's histogram is summed from its rows, the greater one's is what remains of the parent's. */
  private openChildren(
    waiting: Node[],
    rows: Int32Array,
    features: Int32Array,
    node: Node,
    middle: number,
    [left, right]: readonly [number, number],
    [leftTotals, rightTotals]: readonly [Float64Array, Float64Array],
  ): void {
    const depth = node.depth + 1;
    const openLeft = (parent: number) => this.open(left, rows, node.start, middle, depth, leftTotals, features, parent);
    const openRight = (parent: number) =>
      this.open(right, rows, middle, node.end, depth, rightTotals, features, parent);
    if (middle - node.start <= node.end - middle) {
      const small = openLeft(-1);
      const large = openRight(this.remainder(node.slot, small.slot, features));
      waiting.push(small, large);
    } else {
      const small = openRight(-1);
      const large = openLeft(this.remainder(node.slot, small.slot, features));
      waiting.push(large, small);
    }
  }

  /** The parent's histogram becomes the larger child's; -1 when there is none to take from. */
  private remainder(parent: number, child: number, features: Int32Array): number {
    if (parent < 0) return -1;
    if (child < 0) {
      this.pool.release(parent);
      return -1;
    }
    const whole = this.pool.histogram(parent);
    const part = this.pool.histogram(child);
    for (const feature of features) {
      const end = this.offsets[feature + 1]!;
      for (let i = this.offsets[feature]!; i < end; i++) whole[i]! -= part[i]!;
    }
    return parent;
  }

  private takeNext(waiting: Node[]): Node {
    if (this.options.leavesMax === Number.POSITIVE_INFINITY) return waiting.pop()!;
    let best = 0;
    for (let i = 1; i < waiting.length; i++) {
      if ((waiting[i]!.split?.gain ?? -1) > (waiting[best]!.split?.gain ?? -1)) best = i;
    }
    const node = waiting[best]!;
    waiting[best] = waiting[waiting.length - 1]!;
    waiting.pop();
    return node;
  }

  /** What a leaf's sums are multiplied with. */
  private leafFactor(totals: Float64Array, shrinkage: number): number {
    const divisor = totals[this.stride - 1]! + this.options.lambda;
    if (divisor <= 0) return 0;
    return (this.statistics.kind === "gradient" ? -shrinkage : 1) / divisor;
  }

  private totalsOf(rows: Int32Array, start: number, end: number): Float64Array {
    const totals = new Float64Array(this.stride);
    const { statistics } = this;
    for (let i = start; i < end; i++) {
      const row = rows[i]!;
      if (statistics.kind === "gradient") {
        totals[0]! += statistics.gradients[row]!;
        totals[1]! += statistics.hessians[row]!;
      } else {
        totals[statistics.labels[row]!]! += 1;
        totals[this.stride - 1]! += 1;
      }
    }
    return totals;
  }

  /** A node with its best split; its histogram is `ready` when that is not -1. */
  private open(
    id: number,
    rows: Int32Array,
    start: number,
    end: number,
    depth: number,
    totals: Float64Array,
    features: Int32Array,
    ready: number,
  ): Node {
    const weight = totals[this.stride - 1]!;
    const closed = depth >= this.options.depthMax || end - start < 2 || weight < 2 * this.options.minChildWeight;
    if (closed) {
      this.pool.release(ready);
      return { id, start, end, depth, totals, slot: -1, split: null };
    }
    const chosen = this.featuresOfNode(features, rows, start, end);
    if (this.options.cuts === "random") {
      const { columns, statistics, options, random } = this;
      const split = randomSplit(columns, statistics, { rows, start, end }, chosen, totals, options, random);
      return { id, start, end, depth, totals, slot: -1, split };
    }
    const slot = ready >= 0 ? ready : this.pool.take();
    const histogram = this.pool.histogram(slot);
    if (ready < 0) this.fill(histogram, rows, start, end, chosen);
    const split = bestSplit(
      { histogram, columns: this.columns, offsets: this.offsets, stride: this.stride, totals },
      chosen,
      this.options,
    );
    if (split === null || this.pool.isShared(slot)) {
      this.pool.release(slot);
      return { id, start, end, depth, totals, slot: -1, split };
    }
    return { id, start, end, depth, totals, slot, split };
  }

  /** By chance; a feature that has the same value in all rows of the node is none to choose among. */
  private featuresOfNode(features: Int32Array, rows: Int32Array, start: number, end: number): Int32Array {
    const count = this.options.featuresPerNode;
    if (count === null || count >= features.length) return features;
    const chosen = this.shuffled.subarray(0, features.length);
    chosen.set(features);
    let found = 0;
    for (let i = 0; i < chosen.length && found < count; i++) {
      const other = i + this.random.below(chosen.length - i);
      const feature = chosen[other]!;
      chosen[other] = chosen[i]!;
      if (differs(this.columns[feature]!.bins, rows, start, end)) chosen[found++] = feature;
    }
    return chosen.subarray(0, found);
  }

  private fill(histogram: Float64Array, rows: Int32Array, start: number, end: number, features: Int32Array): void {
    const { statistics, stride } = this;
    for (const feature of features) histogram.fill(0, this.offsets[feature]!, this.offsets[feature + 1]!);
    if (statistics.kind === "classes") {
      const { labels, classes } = statistics;
      for (const feature of features)
        sumClasses(
          histogram,
          this.offsets[feature]!,
          this.columns[feature]!.bins,
          rows,
          start,
          end,
          labels,
          classes,
          stride,
        );
      return;
    }
    const gradients = this.orderedGradients;
    const hessians = this.orderedHessians;
    for (let i = start; i < end; i++) {
      const row = rows[i]!;
      gradients[i] = statistics.gradients[row]!;
      hessians[i] = statistics.hessians[row]!;
    }
    const { offsets, columns } = this;
    const whole = features.length - (features.length % TOGETHER);
    for (let i = 0; i < whole; i += TOGETHER) {
      sumGradientsOfFour(histogram, offsets, columns, features, i, rows, start, end, gradients, hessians);
    }
    for (let i = whole; i < features.length; i++) {
      const { bins } = columns[features[i]!]!;
      sumGradients(histogram, offsets[features[i]!]!, bins, rows, start, end, gradients, hessians);
    }
  }

  /** Rows of the left child first, each side in its former order. Returns where the right side starts. */
  private partition(rows: Int32Array, start: number, end: number, split: Split): number {
    const { bins, cuts } = this.columns[split.feature]!;
    const missing = cuts.length + 1;
    const { scratch } = this;
    let left = start;
    let right = 0;
    for (let i = start; i < end; i++) {
      const row = rows[i]!;
      const bin = bins[row]!;
      const goesLeft = bin === missing ? split.missingLeft : bin <= split.bin;
      if (goesLeft) rows[left++] = row;
      else scratch[right++] = row;
    }
    rows.set(scratch.subarray(0, right), left);
    return left;
  }
}

function differs(bins: Uint8Array, rows: Int32Array, start: number, end: number): boolean {
  const first = bins[rows[start]!]!;
  for (let i = start + 1; i < end; i++) if (bins[rows[i]!] !== first) return true;
  return false;
}

/** Features that are summed up in one pass over the rows. */
const TOGETHER = 4;

/** The loop in which training spends its time: a row's number and derivatives are read once for four features. */
function sumGradientsOfFour(
  histogram: Float64Array,
  offsets: Int32Array,
  columns: readonly BinnedColumn[],
  features: Int32Array,
  from: number,
  rows: Int32Array,
  start: number,
  end: number,
  gradients: Float64Array,
  hessians: Float64Array,
): void {
  const a = features[from]!;
  const b = features[from + 1]!;
  const c = features[from + 2]!;
  const d = features[from + 3]!;
  const [atA, atB, atC, atD] = [offsets[a]!, offsets[b]!, offsets[c]!, offsets[d]!];
  const [binsA, binsB, binsC, binsD] = [columns[a]!.bins, columns[b]!.bins, columns[c]!.bins, columns[d]!.bins];
  for (let i = start; i < end; i++) {
    const row = rows[i]!;
    const gradient = gradients[i]!;
    const hessian = hessians[i]!;
    const placeA = atA + (binsA[row]! << 1);
    const placeB = atB + (binsB[row]! << 1);
    const placeC = atC + (binsC[row]! << 1);
    const placeD = atD + (binsD[row]! << 1);
    histogram[placeA]! += gradient;
    histogram[placeA + 1]! += hessian;
    histogram[placeB]! += gradient;
    histogram[placeB + 1]! += hessian;
    histogram[placeC]! += gradient;
    histogram[placeC + 1]! += hessian;
    histogram[placeD]! += gradient;
    histogram[placeD + 1]! += hessian;
  }
}

function sumGradients(
  histogram: Float64Array,
  offset: number,
  bins: Uint8Array,
  rows: Int32Array,
  start: number,
  end: number,
  gradients: Float64Array,
  hessians: Float64Array,
): void {
  for (let i = start; i < end; i++) {
    const place = offset + (bins[rows[i]!]! << 1);
    histogram[place]! += gradients[i]!;
    histogram[place + 1]! += hessians[i]!;
  }
}

function sumClasses(
  histogram: Float64Array,
  offset: number,
  bins: Uint8Array,
  rows: Int32Array,
  start: number,
  end: number,
  labels: Uint8Array,
  classes: number,
  stride: number,
): void {
  for (let i = start; i < end; i++) {
    const row = rows[i]!;
    const place = offset + bins[row]! * stride;
    histogram[place + labels[row]!]! += 1;
    histogram[place + classes]! += 1;
  }
}
