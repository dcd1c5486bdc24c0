/** Parts of the rows to learn from and to validate with. No state. */
import { indices, type Random } from "../random.js";

export interface Fold {
  readonly train: Int32Array;
  readonly valid: Int32Array;
}

/** Each row is validated once. Classes are dealt evenly over the folds (Kohavi 1995); `classes` 0: values. */
export function stratifiedFolds(target: Float64Array, classes: number, count: number, random: Random): Fold[] {
  const rows = random.shuffle(indices(target.length));
  const place = new Uint8Array(target.length);
  if (classes === 0) for (let i = 0; i < rows.length; i++) place[rows[i]!] = i % count;
  else {
    // One class goes on where the last one ended, so that the folds differ by at most a row.
    let next = 0;
    for (let k = 0; k < classes; k++) for (const row of rows) if (target[row] === k) place[row] = next++ % count;
  }
  return Array.from({ length: count }, (_, fold) => ({
    train: indices(target.length).filter((row) => place[row] !== fold),
    valid: indices(target.length).filter((row) => place[row] === fold),
  }));
}

/**
 * Forward chaining: the rows in the order of time are cut into one part more than there are folds, and each fold is
 * validated on the part after those it learns from. The first part is never validated.
 */
export function timeOrderedFolds(times: Float64Array, count: number): Fold[] {
  const order = indices(times.length).sort((a, b) => times[a]! - times[b]! || a - b);
  const edge = (part: number) => Math.round((part * times.length) / (count + 1));
  return Array.from({ length: count }, (_, fold) => ({
    train: order.slice(0, edge(fold + 1)).sort(),
    valid: order.slice(edge(fold + 1), edge(fold + 2)).sort(),
  }));
}
