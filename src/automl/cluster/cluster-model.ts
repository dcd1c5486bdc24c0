/** A clustering that was trained: assigns rows to the nearest centre. Immutable. */
import type { ModelCard, Predictions } from "../contract.js";
import { encode } from "../features/encode.js";
import type { PlannedFeature } from "../features/plan.js";
import type { ReadColumn } from "../features/read-column.js";
import { type Scaling, standardised } from "../linear/standardise.js";
import type { ArraySink, StoredArray } from "../model/learner.js";
import { loadTreatment, saveTreatment } from "../model/save-treatment.js";
import { indices, Random } from "../random.js";
import { nearestCentre, silhouette } from "./k-means.js";

export interface ClusterModel {
  readonly planned: readonly PlannedFeature[];
  readonly scaling: Scaling;
  readonly centres: Float32Array;
  readonly card: ModelCard;
}

export function saveClusterModel({ planned, scaling, centres, card }: ClusterModel, sink: ArraySink): object {
  return {
    kind: "clusters",
    planned: planned.map(({ treatment, ...rest }) => ({ ...rest, treatment: saveTreatment(treatment, sink) })),
    arrays: [scaling.means, scaling.factors, centres].map((array) => sink.add(array)),
    card,
  };
}

export function loadClusterModel(content: Record<string, unknown>, arrays: readonly StoredArray[]): ClusterModel {
  const saved = content as unknown as { planned: PlannedFeature[]; arrays: [number, number, number]; card: ModelCard };
  const [means, factors, centres] = saved.arrays.map((number) => arrays[number]!);
  return {
    planned: saved.planned.map(({ treatment, ...rest }) => ({ ...rest, treatment: loadTreatment(treatment, arrays) })),
    scaling: { means: means as Float64Array, factors: factors as Float64Array },
    centres: centres as Float32Array,
    card: saved.card,
  };
}

function matrixOf({ planned, scaling }: ClusterModel, columns: readonly ReadColumn[], rows: number): Float32Array {
  return standardised(encode(planned, columns).columns, indices(rows), scaling);
}

function labelsOf(model: ClusterModel, matrix: Float32Array): Int32Array {
  const width = model.scaling.means.length;
  return Int32Array.from(
    { length: matrix.length / width },
    (_, row) => nearestCentre(matrix, row * width, model.centres, width).cluster,
  );
}

export function predictClusters(model: ClusterModel, columns: readonly ReadColumn[], rows: number): Predictions {
  const labels = labelsOf(model, matrixOf(model, columns, rows));
  return { predictions: [...labels], probabilities: null, explanations: null, explanationMethod: null };
}

export function evaluateClusters(
  model: ClusterModel,
  columns: readonly ReadColumn[],
  rows: number,
): { silhouette: number } {
  const matrix = matrixOf(model, columns, rows);
  return {
    silhouette: silhouette(
      matrix,
      model.scaling.means.length,
      labelsOf(model, matrix),
      new Random(model.card.seed, "silhouette"),
    ),
  };
}
