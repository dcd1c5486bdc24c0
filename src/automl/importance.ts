/**
 * How much each feature matters: by how much the metric worsens when its values are shuffled (Breiman 2001; Fisher et
 * al. 2019). No state.
 */
import { type Member, predictedBy } from "./model/row-model.js";
import { indices, type Random } from "./random.js";
import { mix } from "./search/ensemble.js";

export interface ImportanceSetting {
  /** Members that did not learn from the rows, each with the columns it reads. */
  readonly members: readonly (Member & { readonly columns: readonly Float32Array[] })[];
  /** Of each column: the number of its feature. */
  readonly sources: readonly number[];
  readonly features: number;
  readonly outputs: number;
  readonly rows: Int32Array;
  readonly target: Float64Array;
  /** Lower is better. */
  readonly loss: (target: Float64Array, predicted: Float64Array) => number;
  readonly random: Random;
  readonly checkStop: () => void;
}

const REPEATS_MAX = 3;
/** Shuffles of all features together: of many, each is shuffled once. */
const SHUFFLES = 60;

/** Of each feature: the mean worsening over its shuffles; below 0 where shuffling did good by chance. */
export function permutationImportance(setting: ImportanceSetting): number[] {
  const { members, sources, rows, random, outputs } = setting;
  const all = indices(rows.length);
  const wanted = Float64Array.from(rows, (row) => setting.target[row]!);
  const gathered = members.map(({ columns }) =>
    columns.map((column) => Float32Array.from(rows, (row) => column[row]!)),
  );
  const lossWith = (columnsOf: (member: number) => readonly Float32Array[]) => {
    const predictions = members.map((each, member) => predictedBy(each, columnsOf(member), all, outputs));
    return setting.loss(
      wanted,
      mix(
        predictions,
        members.map(({ weight }) => weight),
      ),
    );
  };
  const repeats = Math.max(1, Math.min(REPEATS_MAX, Math.floor(SHUFFLES / setting.features)));
  const base = lossWith((member) => gathered[member]!);
  return Array.from({ length: setting.features }, (_, feature) => {
    let worse = 0;
    for (let repeat = 0; repeat < repeats; repeat++) {
      setting.checkStop();
      const order = random.shuffle(indices(rows.length));
      worse += lossWith((member) =>
        gathered[member]!.map((column, i) =>
          sources[i] === feature ? Float32Array.from(order, (at) => column[at]!) : column,
        ),
      );
    }
    return worse / repeats - base;
  });
}
