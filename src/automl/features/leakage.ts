/**
 * Features that know the target: equal to it, one to one with it, or telling it nearly perfectly alone. Such features
 * are seldom there when a prediction is wanted. Called by training; no state.
 */
import { areaUnderCurve, regressionScores } from "../metrics.js";
import { binColumn } from "../tree/bins.js";
import type { ReadColumn } from "./read-column.js";

const ROWS_MAX = 20_000;
const ROWS_MIN = 40;
const NEARLY_PERFECT = 0.995;

/** True when every row has the same in both, missing values aside; `label`: the target as text. */
export function equalsTarget(column: ReadColumn, target: Float64Array, labels: readonly string[] | null): boolean {
  if (column.kind === "vector") return false;
  if (column.kind === "category") {
    if (labels === null) return false;
    return column.codes.every((code, row) => code >= 0 && column.labels[code] === labels[target[row]!]);
  }
  if (labels === null) return column.values.every((value, row) => value === target[row]);
  const numbers = labels.map((label) => (label === "true" ? 1 : label === "false" ? 0 : Number(label)));
  return column.values.every((value, row) => value === numbers[target[row]!]);
}

/** A sentence about the feature, or null when nothing is suspicious. `classes` 0: values are predicted. */
export function leakageWarning(column: ReadColumn, target: Float64Array, classes: number): string | null {
  if (column.kind === "vector" || target.length < ROWS_MIN) return null;
  if (classes > 0 && isOneToOne(column, target, classes)) {
    return `"${column.name}" corresponds one to one to the target. Leave it out if it is not known before the target.`;
  }
  const score = Math.max(scoreAlone(codesOf(column), target, classes), classes === 0 ? scoreOfLine(column, target) : 0);
  if (score < NEARLY_PERFECT) return null;
  return `"${column.name}" predicts the target almost perfectly by itself (${score.toFixed(3)}). Leave it out if it is not known before the target.`;
}

/** Ten rows and more to a bin of numbers, so that a bin says something about rows it has not seen. */
function codesOf(column: Exclude<ReadColumn, { kind: "vector" }>): Int32Array {
  if (column.kind === "category") return column.codes;
  const { bins, cuts } = binColumn(Float32Array.from(column.values));
  const wanted = Math.max(4, Math.floor(bins.length / 10));
  const perCode = Math.max(1, Math.ceil((cuts.length + 2) / wanted));
  return Int32Array.from(bins, (bin) => Math.floor(bin / perCode));
}

/** R2 of the straight line through feature and target. */
function scoreOfLine(column: Exclude<ReadColumn, { kind: "vector" }>, target: Float64Array): number {
  if (column.kind === "category") return 0;
  const { values } = column;
  let [count, x, y] = [0, 0, 0];
  values.forEach((value, row) => {
    if (Number.isNaN(value)) return;
    count++;
    x += value;
    y += target[row]!;
  });
  if (count < target.length / 2) return 0;
  let [both, left, right] = [0, 0, 0];
  values.forEach((value, row) => {
    if (Number.isNaN(value)) return;
    both += (value - x / count) * (target[row]! - y / count);
    left += (value - x / count) ** 2;
    right += (target[row]! - y / count) ** 2;
  });
  return left > 0 && right > 0 ? (both * both) / (left * right) : 0;
}

function isOneToOne(column: Exclude<ReadColumn, { kind: "vector" }>, target: Float64Array, classes: number): boolean {
  const classOf = new Map<number, number>();
  const values: ArrayLike<number> = column.kind === "category" ? column.codes : column.values;
  for (let row = 0; row < target.length; row++) {
    const value = values[row]!;
    if (Number.isNaN(value)) return false;
    const known = classOf.get(value);
    if (known === undefined) classOf.set(value, target[row]!);
    else if (known !== target[row]) return false;
    if (classOf.size > classes) return false;
  }
  return classOf.size === classes;
}

/** AUC, accuracy or R2 of even rows' means by bin, on odd rows. */
function scoreAlone(codes: Int32Array, target: Float64Array, classes: number): number {
  const step = Math.max(1, Math.floor(target.length / ROWS_MAX));
  const outputs = classes > 2 ? classes : 1;
  const size = codes.reduce((most, code) => Math.max(most, code), 0) + 2;
  const sums = new Float64Array(size * outputs);
  const counts = new Float64Array(size);
  let total = 0;
  let seen = 0;
  for (let row = 0; row < target.length; row += 2 * step) {
    const code = codes[row]! + 1;
    counts[code]! += 1;
    if (outputs === 1) sums[code]! += target[row]!;
    else sums[code * outputs + target[row]!]! += 1;
    total += target[row]!;
    seen++;
  }
  const wanted: number[] = [];
  const told: number[] = [];
  for (let row = 1; row < target.length; row += 2 * step) {
    const code = codes[row]! + 1;
    wanted.push(target[row]!);
    if (outputs === 1) told.push(counts[code]! > 0 ? sums[code]! / counts[code]! : total / seen);
    else {
      let best = 0;
      for (let k = 1; k < outputs; k++) if (sums[code * outputs + k]! > sums[code * outputs + best]!) best = k;
      told.push(best);
    }
  }
  const truth = Float64Array.from(wanted);
  const guess = Float64Array.from(told);
  if (classes === 0) return regressionScores(truth, guess).r2!;
  if (classes === 2) return areaUnderCurve(guess, truth);
  return truth.reduce((hits, is, i) => hits + (is === guess[i] ? 1 : 0), 0) / truth.length;
}
