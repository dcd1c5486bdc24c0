/** Models that tenants train, and their predictions. */

import { TRAINED_MODELS } from "../../query/expr/functions/models.js";
import { provideCapability } from "../../session/capabilities.js";
import type { Feature } from "../feature.js";
import { automlHandlers } from "./automl-routes.js";
import { AUTOML_FUNCTIONS, EXPERIMENTS, statementModels } from "./sql-functions.js";
import { OWN_JOBS } from "./tables.js";
import { trainingJobs } from "./train-job.js";
import { webhookJobs } from "./webhook.js";

export const automlFeature = {
  name: "automl",
  handlers: automlHandlers,
  functions: AUTOML_FUNCTIONS,
  tableFunctions: [EXPERIMENTS],
  ownRelations: [OWN_JOBS],
  provide: () => provideCapability(TRAINED_MODELS, statementModels),
  jobs: [trainingJobs, webhookJobs],
} satisfies Feature;
