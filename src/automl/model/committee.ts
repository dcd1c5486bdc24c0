/**
 * The models of a validation's folds together, which answer with their mean (Parmanto et al. 1996, "Improving committee
 * diagnosis with resampling techniques"). Called by search/ and load-fitted.ts; immutable.
 */
import type { ArraySink, ColumnContributions, FittedModel, SavedModel } from "./learner.js";

export class Committee implements FittedModel {
  constructor(private readonly members: readonly FittedModel[]) {}

  predict(columns: readonly Float32Array[], rows: Int32Array): Float64Array {
    return meanOfEach(this.members.map((member) => member.predict(columns, rows)));
  }

  explain(columns: readonly Float32Array[], row: number, output: number): ColumnContributions | null {
    const parts = this.members.map((member) => member.explain(columns, row, output));
    if (!parts.every((part) => part !== null)) return null;
    const base = parts.reduce((sum, part) => sum + part.base, 0) / parts.length;
    return { base, contributions: meanOfEach(parts.map(({ contributions }) => contributions)) };
  }

  save(sink: ArraySink): SavedModel {
    const members = this.members.map((member) => member.save(sink));
    return { kind: "committee", of: members[0]!.kind, members };
  }
}

function meanOfEach(lists: readonly Float64Array[]): Float64Array {
  const mean = new Float64Array(lists[0]!.length);
  for (const list of lists) for (let i = 0; i < mean.length; i++) mean[i]! += list[i]! / lists.length;
  return mean;
}
