/** Embeddings, and the models that are installed. */

import { EMBEDDING, MODEL_LIBRARY } from "../../query/expr/functions/models.js";
import { provideCapability } from "../../session/capabilities.js";
import type { Feature } from "../feature.js";
import { StatementEmbedding } from "./embedding.js";
import { aiHandlers } from "./embedding-routes.js";
import { modelHandlers } from "./model-routes.js";
import { statementLibrary } from "./statement-library.js";

export const modelsFeature = {
  name: "models",
  handlers: { ...aiHandlers, ...modelHandlers },
  provide: () => {
    provideCapability(EMBEDDING, (statement) => new StatementEmbedding(statement));
    provideCapability(MODEL_LIBRARY, statementLibrary);
  },
} satisfies Feature;
