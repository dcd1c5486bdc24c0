/**
 * How much each feature matters: by how much the metric worsens when its values are shuffled (Breiman 2001; Fisher et
 * al. 2019). No state.
 */
import type { FittedModel } from "./model/learner.js";
import { indices, type Random } from "./random.js";
import { mix } from "./search/ensemble.js";

export interface ImportanceSetting {
  /** Members that did not learn from the rows, each with the columns it reads. */
  readonly members: readonly {
    readonly fitted: FittedModel;
    readonly weight: number;
    readonly columns: readonly Float32Array[];
  }[];
  /** Of each column: the number of its feature. */
  readonly sources: readonly number[];
  readonly features: number;
  readonly rows: Int32Array;
  readonly target: Float64Array;
  /** Lower is better. */
  readonly loss: (target: Float64Array, predicted: Float64Array) => number;
  readonly random: Random;
  readonly checkStop: () => void;
}

const REPEATS = 3;

/** Of each feature: the mean worsening over three shuffles; below 0 where shuffling did good by chance. */
export function permutationImportance(setting: ImportanceSetting): number[] {
  const { members, sources, rows, random } = setting;
  const all = indices(rows.length);
  const wanted = Float64Array.from(rows, (row) => setting.target[row]!);
  const gathered = members.map(({ columns }) =>
    columns.map((column) => Float32Array.from(rows, (row) => column[row]!)),
  );
  const lossWith = (columnsOf: (member: number) => readonly Float32Array[]) => {
    const predictions = members.map(({ fitted }, member) => fitted.predict(columnsOf(member), all));
    return setting.loss(
      wanted,
      mix(
        predictions,
        members.map(({ weight }) => weight),
      ),
    );
  };
  const base = lossWith((member) => gathered[member]!);
  return Array.from({ length: setting.features }, (_, feature) => {
    let worse = 0;
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      setting.checkStop();
      const order = random.shuffle(indices(rows.length));
      worse += lossWith((member) =>
        gathered[member]!.map((column, i) =>
          sources[i] === feature ? Float32Array.from(order, (at) => column[at]!) : column,
        ),
      );
    }
    return worse / REPEATS - base;
  });
}
