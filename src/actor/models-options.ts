/** Where an actor's models come from, as the configuration says. Called by the actor, and by partitions without one. */
import { fileURLToPath } from "node:url";
import type { StartInference } from "../ai/inference-messages.js";
import type { ModelsOptions } from "../ai/models.js";
import type { Config } from "../protocol/config.js";

/** The bundles that come with the program: its folder models, seen from dist/src/actor. */
const BUNDLED = fileURLToPath(new URL("../../../models/", import.meta.url));

/** What the thread gives the actor's models. */
export interface ModelSurroundings {
  readonly warn: ModelsOptions["warn"];
  readonly startInference: StartInference;
}

/** Without surroundings, models that need an inference thread cannot be used. */
export function modelsOptions({ ai }: Config, around?: ModelSurroundings): ModelsOptions {
  const { inferenceThreadsPerRun: runThreads, modelIdleSeconds, waitingTextsMax: waitingMax } = ai;
  const start = around?.startInference;
  return {
    roots: ai.modelRoot === "" ? [BUNDLED] : [ai.modelRoot, BUNDLED],
    embeddingModel: ai.embeddingModel,
    warn: around?.warn ?? (() => undefined),
    inference: start === undefined ? null : { start, runThreads, idleMs: modelIdleSeconds * 1000, waitingMax },
  };
}
