/** How a feature is treated, to JSON and arrays and back. No state. */
import type { Treatment } from "../features/plan.js";
import type { ArraySink, StoredArray } from "./learner.js";

export function saveTreatment(treatment: Treatment, sink: ArraySink): object {
  if (treatment.kind !== "vector" || treatment.axes === null) return treatment;
  return { kind: "vector", axes: [sink.add(treatment.axes.mean), sink.add(treatment.axes.axes)] };
}

export function loadTreatment(saved: { readonly kind: string }, arrays: readonly StoredArray[]): Treatment {
  const { axes } = saved as { axes?: readonly [number, number] | null };
  if (saved.kind !== "vector" || !axes) return saved as Treatment;
  return { kind: "vector", axes: { mean: arrays[axes[0]] as Float32Array, axes: arrays[axes[1]] as Float32Array } };
}
