/** Reads the fitted models that a model file holds. Called by load-model.ts; no state. */
import { loadLinear } from "../linear/linear-model.js";
import { loadNetwork } from "../network/network.js";
import { loadBoosting } from "../tree/boosting.js";
import { loadForest } from "../tree/forest.js";
import type { FittedModel, SavedModel, StoredArray } from "./learner.js";

const LOADERS = { boosting: loadBoosting, forest: loadForest, linear: loadLinear, network: loadNetwork } as const;

export function loadFitted(saved: SavedModel, arrays: readonly StoredArray[]): FittedModel {
  return LOADERS[saved.kind](saved, arrays);
}
