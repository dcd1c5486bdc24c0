/** Fits a softmax regression: Newton's method with a penalty, on standardized traits. Used by `fit-claims.ts`. */
import { solve } from "./confidence-fit.js";

export interface Row {
  readonly traits: readonly number[];
  /** 0 to classes − 1; the last class is the one that the others are weighed against. */
  readonly class: number;
  readonly weight: number;
}

/** Of each class but the last one, a constant and a weight for each plain trait. */
export interface Fitted {
  readonly constants: readonly number[];
  readonly weights: readonly (readonly number[])[];
}

const PENALTY = 3;
const STEPS = 8;

export function fitSoftmax(rows: readonly Row[], classes: number): Fitted {
  const size = rows[0]!.traits.length;
  const columns = Array.from({ length: size }, (_, i) => rows.map(({ traits }) => traits[i]!));
  const means = columns.map((column) => column.reduce((sum, value) => sum + value, 0) / column.length);
  const scales = columns.map((column, i) =>
    Math.max(1e-6, Math.sqrt(column.reduce((sum, value) => sum + (value - means[i]!) ** 2, 0) / column.length)),
  );
  const inputs = rows.map(({ traits }) => [1, ...traits.map((value, i) => (value - means[i]!) / scales[i]!)]);
  const width = size + 1;
  const all = (classes - 1) * width;
  let weights = new Float64Array(all);
  for (let step = 0; step < STEPS; step++) {
    const slope = Array.from({ length: all }, (_, i) => (i % width === 0 ? 0 : -PENALTY * weights[i]!));
    const curve = Array.from({ length: all }, (_, i) => {
      const line = new Array<number>(all).fill(0);
      line[i] = i % width === 0 ? 1e-6 : PENALTY;
      return line;
    });
    for (const [r, { class: own, weight }] of rows.entries()) {
      const input = inputs[r]!;
      const p = shares([...sumsOf(weights, input), 0]);
      for (let a = 0; a < classes - 1; a++) {
        const error = weight * (Number(own === a) - p[a]!);
        for (let i = 0; i < width; i++) slope[a * width + i]! += error * input[i]!;
        for (let b = 0; b < classes - 1; b++) {
          const factor = weight * p[a]! * (Number(a === b) - p[b]!);
          for (let i = 0; i < width; i++) {
            const line = curve[a * width + i]!;
            for (let j = 0; j < width; j++) line[b * width + j]! += factor * input[i]! * input[j]!;
          }
        }
      }
    }
    const change = solve(curve, slope);
    weights = weights.map((value, i) => value + change[i]!);
  }
  const plain = Array.from({ length: classes - 1 }, (_, a) =>
    scales.map((scale, i) => weights[a * width + i + 1]! / scale),
  );
  return {
    weights: plain,
    constants: plain.map((own, a) => weights[a * width]! - own.reduce((sum, value, i) => sum + value * means[i]!, 0)),
  };
}

const sumsOf = (weights: Float64Array, input: readonly number[]): number[] =>
  Array.from({ length: weights.length / input.length }, (_, a) =>
    input.reduce((sum, value, i) => sum + value * weights[a * input.length + i]!, 0),
  );

/** Probabilities of the classes. */
export function probabilities({ constants, weights }: Fitted, traits: readonly number[]): number[] {
  return shares([
    ...constants.map((constant, a) => traits.reduce((sum, value, i) => sum + value * weights[a]![i]!, constant)),
    0,
  ]);
}

function shares(sums: readonly number[]): number[] {
  const largest = Math.max(...sums);
  const powers = sums.map((sum) => Math.exp(sum - largest));
  const all = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / all);
}
