/** Evaluation: how good searches, answers and models are on the tenant's own data. */
import type { Feature } from "../feature.js";
import { EVALUATION_FUNCTIONS } from "./evaluation-functions.js";
import { evaluationHandlers } from "./evaluation-routes.js";

export const evaluationFeature = {
  name: "evaluation",
  handlers: evaluationHandlers,
  functions: EVALUATION_FUNCTIONS,
} satisfies Feature;
