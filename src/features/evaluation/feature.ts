/** Evaluation: how good searches, answers and models are on the tenant's own data. */
import type { Feature } from "../feature.js";
import { EVALUATION_FUNCTIONS } from "./evaluation-functions.js";
import { evaluationHandlers } from "./evaluation-routes.js";
import { OWN_EVALUATIONS } from "./own-evaluations.js";

export const evaluationFeature = {
  name: "evaluation",
  ownRelations: OWN_EVALUATIONS,
  handlers: evaluationHandlers,
  functions: EVALUATION_FUNCTIONS,
} satisfies Feature;
