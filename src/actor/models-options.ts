/** Where an actor's models come from, as the configuration says. Called by the actor, and by partitions without one. */
import { fileURLToPath } from "node:url";
import type { ModelsOptions } from "../ai/models.js";
import type { Config } from "../protocol/config.js";

/** The bundles that come with the program: its folder models, seen from dist/src/actor. */
const BUNDLED = fileURLToPath(new URL("../../../models/", import.meta.url));

export function modelsOptions({ ai }: Config, warn: ModelsOptions["warn"] = () => undefined): ModelsOptions {
  return {
    roots: ai.modelRoot === "" ? [BUNDLED] : [ai.modelRoot, BUNDLED],
    embeddingModel: ai.embeddingModel,
    warn,
  };
}
