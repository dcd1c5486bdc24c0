/** Reads the fitted models that a model file holds. Called by load-model.ts; no state. */
import { loadLinear } from "../linear/linear-model.js";
import { loadNetwork } from "../network/network.js";
import { loadBoosting } from "../tree/boosting.js";
import { loadForest } from "../tree/forest.js";
import { Committee } from "./committee.js";
import type { FittedModel, SavedModel, StoredArray } from "./learner.js";

const LOADERS = { boosting: loadBoosting, forest: loadForest, linear: loadLinear, network: loadNetwork } as const;

export function loadFitted(saved: SavedModel, arrays: readonly StoredArray[]): FittedModel {
  if (saved.kind !== "committee") return LOADERS[saved.kind](saved, arrays);
  return new Committee((saved.members as SavedModel[]).map((member) => loadFitted(member, arrays)));
}
