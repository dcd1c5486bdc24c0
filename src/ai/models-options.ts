/** Where an actor's models come from, as the configuration says. Called by the actor, and by partitions without one. */
import { fileURLToPath } from "node:url";
import type { Config } from "../protocol/config.js";
import type { ToLibrary } from "../protocol/model-library.js";
import { PROJECT } from "../protocol/places.js";
import type { StartInference } from "./inference-messages.js";
import type { ModelsOptions } from "./models.js";

/** The bundles that come with the program. */
export const BUNDLED_MODELS = fileURLToPath(new URL("models/", PROJECT));

/** What the thread gives the actor's models. */
export interface ModelSurroundings {
  readonly warn: ModelsOptions["warn"];
  readonly startInference: StartInference;
  readonly toLibrary: (message: ToLibrary) => void;
}

/** Folders with bundles, as ModelsOptions has them. */
export const modelRoots = ({ ai }: Config): readonly string[] => [ai.modelRoot, BUNDLED_MODELS];

/** Without surroundings, models that need an inference thread cannot be used. */
export function modelsOptions(config: Config, around?: ModelSurroundings): ModelsOptions {
  const { ai } = config;
  const start = around?.startInference;
  const lane = {
    runThreads: ai.inferenceThreadsPerRun,
    idleMs: ai.modelIdleSeconds * 1000,
    sessionsMax: ai.modelsLoadedMax,
    bytesMax: ai.modelMemoryBytes,
    waitingMax: ai.waitingTextsMax,
    generationsMax: ai.generationsMax,
  };
  return {
    roots: modelRoots(config),
    embeddingModel: ai.embeddingModel,
    warn: around?.warn ?? (() => undefined),
    inference: start === undefined ? null : { start, ...lane },
    ...(around === undefined ? {} : { toLibrary: around.toLibrary }),
  };
}
