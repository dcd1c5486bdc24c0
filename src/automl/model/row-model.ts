/**
 * A model of rows: the plan of its features, its members' votes, the calibration. Made by training or read from bytes;
 * predicts from read columns. Immutable.
 */
import { applyCalibration, type Calibration } from "../calibration.js";
import type { Contribution, Explanation, ModelCard, Predictions } from "../contract.js";
import { type Encoded, encode } from "../features/encode.js";
import type { PlannedFeature } from "../features/plan.js";
import type { ReadColumn } from "../features/read-column.js";
import type { SupervisedTask } from "../features/read-target.js";
import { type CategoryStatistics, encodeRows } from "../features/target-encoding.js";
import { highestOf } from "../metrics.js";
import { indices } from "../random.js";
import { mix } from "../search/ensemble.js";
import { sharpened } from "../search/sharpen.js";
import type { FittedModel } from "./learner.js";

export interface Member {
  readonly weight: number;
  readonly fitted: FittedModel;
  /** Of its probabilities (search/sharpen.ts); models of earlier versions have none and vote as they are. */
  readonly sharpness?: number;
}

export interface RowModel {
  readonly task: SupervisedTask;
  readonly target: string;
  readonly classes: readonly string[] | null;
  readonly labelKind: "text" | "number" | "boolean";
  readonly planned: readonly PlannedFeature[];
  /** Of each feature with a target encoding, in the order of the plan. */
  readonly statistics: readonly CategoryStatistics[];
  readonly members: readonly Member[];
  readonly calibration: Calibration;
  /** Of each prepared column: its median, which it takes when a feature is left out to explain. */
  readonly usual: Float32Array;
  readonly card: ModelCard;
}

export function outputsOfModel({ classes }: Pick<RowModel, "classes">): number {
  return classes === null || classes.length === 2 ? 1 : classes.length;
}

interface ModelInputs {
  readonly columns: readonly Float32Array[];
  /** Of each column: the number of its feature. */
  readonly sources: readonly number[];
}

/** All columns that the members read, those of target encodings last. */
export function modelInputs(
  { columns, sources, categories }: Encoded,
  statistics: readonly CategoryStatistics[],
): ModelInputs {
  const encoded = categories.map(({ codes }, i) => encodeRows(codes, statistics[i]!));
  return {
    columns: [...columns, ...encoded.flat()],
    sources: [...sources, ...categories.flatMap(({ feature }, i) => encoded[i]!.map(() => feature))],
  };
}

/** Rows × outputs, calibrated; `columns` in the order of the plan. */
export function probabilitiesOf(model: RowModel, inputs: ModelInputs, rows: number): Float64Array {
  const all = indices(rows);
  const predictions = model.members.map((member) => predictedBy(member, inputs.columns, all, outputsOfModel(model)));
  const mixed = mix(
    predictions,
    model.members.map(({ weight }) => weight),
  );
  const calibrated = applyCalibration(model.calibration, mixed, outputsOfModel(model));
  return model.classes === null ? calibrated : withinBounds(calibrated);
}

/** What a member says when it votes: rows × outputs. */
export function predictedBy(
  { fitted, sharpness = 1 }: Member,
  columns: readonly Float32Array[],
  rows: Int32Array,
  outputs: number,
): Float64Array {
  return sharpened(fitted.predict(columns, rows), outputs, sharpness);
}

/** Sums of weighted shares may be a rounding error below 0 or above 1. */
function withinBounds(probabilities: Float64Array): Float64Array {
  return probabilities.map((probability) => Math.min(1, Math.max(0, probability)));
}

export function readInputs(model: RowModel, columns: readonly ReadColumn[]): ModelInputs {
  return modelInputs(encode(model.planned, columns), model.statistics);
}

export function predictRows(
  model: RowModel,
  columns: readonly ReadColumn[],
  rows: number,
  explain: boolean,
): Predictions {
  const inputs = readInputs(model, columns);
  const predicted = probabilitiesOf(model, inputs, rows);
  const explained = explain ? explainRows(model, inputs, predicted, rows) : null;
  const { classes } = model;
  const told = { explanations: explained?.explanations ?? null, explanationMethod: explained?.method ?? null };
  if (classes === null) return { predictions: [...predicted], probabilities: null, ...told };
  const probabilities = exactShares(classes.length === 2 ? bothClasses(predicted) : predicted, classes.length);
  const labels = classes.map((label) => valueOfLabel(label, model.labelKind));
  const predictions = Array.from({ length: rows }, (_, row) => labels[predictedClass(model, predicted, row)]!);
  return { predictions, probabilities, ...told };
}

function valueOfLabel(label: string, kind: RowModel["labelKind"]): string | number | boolean {
  if (kind === "number") return Number(label);
  return kind === "boolean" ? label === "true" : label;
}

const PARTS = 2 ** 50;

/** Whole numbers of parts of 1, which add up to exactly 1 in whatever order they are added. */
function exactShares(probabilities: Float64Array, classes: number): Float64Array {
  const shares = new Float64Array(probabilities.length);
  for (let at = 0; at < probabilities.length; at += classes) {
    const row = probabilities.subarray(at, at + classes);
    const sum = row.reduce((total, probability) => total + probability, 0);
    const parts = row.map((probability) => Math.round(sum > 0 ? (probability / sum) * PARTS : PARTS / classes));
    const rest = PARTS - parts.reduce((total, part) => total + part, 0);
    parts[parts.indexOf(Math.max(...parts))]! += rest;
    shares.set(
      parts.map((part) => part / PARTS),
      at,
    );
  }
  return shares;
}

function bothClasses(predicted: Float64Array): Float64Array {
  const both = new Float64Array(predicted.length * 2);
  predicted.forEach((probability, row) => {
    both[2 * row] = 1 - probability;
    both[2 * row + 1] = probability;
  });
  return both;
}

function predictedClass({ classes }: RowModel, predicted: Float64Array, row: number): number {
  const count = classes!.length;
  return count === 2 ? (predicted[row]! >= 0.5 ? 1 : 0) : highestOf(predicted, row * count, count);
}

function explainRows(
  model: RowModel,
  inputs: ModelInputs,
  predicted: Float64Array,
  rows: number,
): { explanations: Explanation[]; method: "tree_path" | "linear" | "ablation" } {
  const alone = model.members.length === 1 ? model.members[0]!.fitted : null;
  const saved = alone?.save({ add: () => 0 });
  const method = saved?.kind === "committee" ? saved.of : saved?.kind;
  if (alone === null || method === "network")
    return { explanations: ablate(model, inputs, predicted, rows), method: "ablation" };
  const explanations = Array.from({ length: rows }, (_, row) => {
    const named = model.classes === null ? 0 : predictedClass(model, predicted, row);
    // With two classes there is one output, for the second: the first has the same parts with the other sign.
    const sign = model.classes?.length === 2 && named === 0 ? -1 : 1;
    const { base, contributions } = alone.explain(inputs.columns, row, outputsOfModel(model) === 1 ? 0 : named)!;
    return {
      base: sign * base,
      contributions: byFeature(
        model,
        inputs.sources,
        contributions.map((part) => sign * part),
      ),
    };
  });
  return { explanations, method: method === "linear" ? "linear" : "tree_path" };
}

/** The greatest first. */
function byFeature(model: RowModel, sources: readonly number[], parts: Float64Array): Contribution[] {
  const sums = new Float64Array(model.planned.length);
  parts.forEach((part, column) => {
    sums[sources[column]!]! += part;
  });
  return model.planned
    .map(({ feature }, i) => ({ feature: feature.name, contribution: sums[i]! }))
    .sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
}

function ablate(model: RowModel, inputs: ModelInputs, predicted: Float64Array, rows: number): Explanation[] {
  const outputs = outputsOfModel(model);
  const told = (values: Float64Array, row: number) => {
    if (model.classes === null) return values[row]!;
    const named = predictedClass(model, predicted, row);
    if (outputs > 1) return values[row * outputs + named]!;
    return named === 1 ? values[row]! : 1 - values[row]!;
  };
  const changes = model.planned.map((_, feature) => {
    const columns = inputs.columns.map((column, i) =>
      inputs.sources[i] === feature ? new Float32Array(rows).fill(model.usual[i]!) : column,
    );
    const without = probabilitiesOf(model, { ...inputs, columns }, rows);
    return Float64Array.from({ length: rows }, (_, row) => told(predicted, row) - told(without, row));
  });
  return Array.from({ length: rows }, (_, row) => ({
    base: null,
    contributions: model.planned
      .map(({ feature }, i) => ({ feature: feature.name, contribution: changes[i]![row]! }))
      .sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution)),
  }));
}
