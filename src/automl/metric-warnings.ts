/** Scores that say less than they seem to: told as warnings of the model's card. Called by train-rows.ts; pure. */
import { highestOf, type Scores } from "./metrics.js";

interface Scored {
  /** Null: values, not classes. */
  readonly classes: readonly string[] | null;
  /** Class numbers or values, and what was predicted of the same rows: rows × outputs. */
  readonly wanted: Float64Array;
  readonly predicted: Float64Array;
  readonly metrics: Scores;
}

/** Below this, values are predicted hardly better than by their mean. */
const R2_MIN = 0.02;
/** Below this, classes are predicted hardly better than by chance. */
const AUC_MIN = 0.52;

export function metricWarnings({ classes, wanted, predicted, metrics }: Scored): string[] {
  if (classes === null) {
    const { r2 = 1 } = metrics;
    return r2 < R2_MIN
      ? [`An R² of ${r2.toFixed(2)} means that the features predict hardly better than the target's mean.`]
      : [];
  }
  const warnings = neverPredicted(classes, wanted, predicted);
  const { auc = 1 } = metrics;
  if (auc < AUC_MIN)
    warnings.push(
      `An AUC of ${auc.toFixed(2)} means that the features separate the classes hardly better than chance.`,
    );
  return warnings;
}

function neverPredicted(classes: readonly string[], wanted: Float64Array, predicted: Float64Array): string[] {
  const outputs = classes.length > 2 ? classes.length : 1;
  const isCalled = classes.map(() => false);
  for (let row = 0; row < wanted.length; row++) {
    const is = outputs === 1 ? (predicted[row]! >= 0.5 ? 1 : 0) : highestOf(predicted, row * outputs, outputs);
    isCalled[is] = true;
  }
  const never = classes.filter((_, number) => !isCalled[number]);
  if (never.length === 0) return [];
  const named = never.map((label) => `"${label}"`).join(", ");
  const remedy = "Use the probabilities (auc and log_loss score them), or add more rows of it.";
  if (never.length < classes.length - 1) {
    return [`No validated row was predicted as ${named}: accuracy and F1 say little about it. ${remedy}`];
  }
  const [only] = classes.filter((label) => !never.includes(label));
  const f1 = classes.length === 2 && only === classes[0] ? ", so F1 is 0" : "";
  return [`Every validated row was predicted as "${only}"${f1}: accuracy equals its share of the rows. ${remedy}`];
}
