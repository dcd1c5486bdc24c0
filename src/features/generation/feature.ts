/** Texts that models write, and who writes them for a tenant. */

import { GENERATION } from "../../query/expr/functions/generation.js";
import { provideCapability } from "../../session/capabilities.js";
import type { Feature } from "../feature.js";
import { statementGeneration } from "./generate-texts.js";
import { providerHandlers } from "./provider-routes.js";

export const generationFeature = {
  name: "generation",
  handlers: providerHandlers,
  provide: () => provideCapability(GENERATION, statementGeneration),
} satisfies Feature;
