/** The rows of a training as numbers; what does not depend on the fold is made once. Owned by one training. */
import type { EncodedCategory } from "../features/encode.js";
import { encodeForFit, targetColumns } from "../features/target-encoding.js";
import type { Random } from "../random.js";
import { type BinnedColumn, binColumn } from "../tree/bins.js";
import type { Inputs } from "./learner.js";

/** Classes that a target encoding makes a column for. */
export const ENCODED_CLASSES_MAX = 10;

export class PreparedRows {
  private readonly bins: BinnedColumn[] = [];
  private readonly targets: readonly Float64Array[];

  constructor(
    readonly columns: readonly Float32Array[],
    private readonly categories: readonly EncodedCategory[],
    target: Float64Array,
    classes: number,
  ) {
    this.targets = targetColumns(target, classes, ENCODED_CLASSES_MAX);
  }

  /** The columns for a fit on `train`: target encodings know the targets of these rows only. */
  inputsFor(train: Int32Array, random: Random): Inputs {
    const encoded = this.categories.flatMap(({ codes, categories }) =>
      encodeForFit(codes, categories, this.targets, train, random),
    );
    let binned: readonly BinnedColumn[] | null = null;
    return {
      columns: [...this.columns, ...encoded],
      binned: () => {
        binned ??= [...this.baseBins(), ...encoded.map(binColumn)];
        return binned;
      },
    };
  }

  private baseBins(): readonly BinnedColumn[] {
    while (this.bins.length < this.columns.length) this.bins.push(binColumn(this.columns[this.bins.length]!));
    return this.bins;
  }
}
