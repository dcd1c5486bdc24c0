/** Row models to bytes and back (model-file.ts has the form). No state. */
import type { PlannedFeature } from "../features/plan.js";
import type { ArraySink, SavedModel, StoredArray } from "./learner.js";
import { loadFitted } from "./load-fitted.js";
import type { Member, RowModel } from "./row-model.js";
import { loadTreatment, saveTreatment } from "./save-treatment.js";

export function saveRowModel(model: RowModel, sink: ArraySink): object {
  const { planned, statistics, members, usual, ...plain } = model;
  return {
    kind: "rows",
    ...plain,
    planned: planned.map(({ treatment, ...rest }) => ({ ...rest, treatment: saveTreatment(treatment, sink) })),
    statistics: statistics.map(({ means, prior }) => [sink.add(means), sink.add(prior)]),
    members: members.map(({ fitted, ...rest }) => ({ ...rest, fitted: fitted.save(sink) })),
    usual: sink.add(usual),
  };
}

type SavedRowModel = Omit<RowModel, "planned" | "statistics" | "members" | "usual"> & {
  readonly planned: readonly (Omit<PlannedFeature, "treatment"> & { readonly treatment: { readonly kind: string } })[];
  readonly statistics: readonly (readonly [number, number])[];
  readonly members: readonly (Omit<Member, "fitted"> & { readonly fitted: SavedModel })[];
  readonly usual: number;
};

export function loadRowModel(content: Record<string, unknown>, arrays: readonly StoredArray[]): RowModel {
  const { planned, statistics, members, usual, ...plain } = content as unknown as SavedRowModel;
  const floats = (number: number) => arrays[number] as Float32Array;
  return {
    ...plain,
    planned: planned.map(({ treatment, ...rest }) => ({ ...rest, treatment: loadTreatment(treatment, arrays) })),
    statistics: statistics.map(([means, prior]) => ({ means: floats(means), prior: floats(prior) })),
    members: members.map(({ fitted, ...rest }) => ({ ...rest, fitted: loadFitted(fitted, arrays) })),
    usual: floats(usual),
  };
}
