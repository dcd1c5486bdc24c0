/**
 * All features. Importing this file installs them: their functions, capabilities and parts of partitions are there from
 * then on. Their handlers and jobs go to the actor (actor-features.ts).
 */
import { agentFeature } from "./agent/feature.js";
import { automlFeature } from "./automl/feature.js";
import { backupFeature } from "./backup/feature.js";
import { boltFeature } from "./bolt/feature.js";
import { branchesFeature } from "./branches/feature.js";
import { chatFeature } from "./chat/feature.js";
import { claimsFeature } from "./claims/feature.js";
import { documentsFeature } from "./documents/feature.js";
import { evaluationFeature } from "./evaluation/feature.js";
import { type Feature, install } from "./feature.js";
import { feedFeature } from "./feed/feature.js";
import { filesFeature } from "./files/feature.js";
import { generationFeature } from "./generation/feature.js";
import { graphFeature } from "./graph/feature.js";
import { importingFeature } from "./import/feature.js";
import { jobsFeature } from "./jobs/feature.js";
import type { JobKind } from "./jobs/job-kind.js";
import { languageFeature } from "./language/feature.js";
import { mcpFeature } from "./mcp/feature.js";
import { memoryFeature } from "./memory/feature.js";
import { modelsFeature } from "./models/feature.js";
import { multimodalFeature } from "./multimodal/feature.js";
import { nl2sqlFeature } from "./nl2sql/feature.js";
import { openaiFeature } from "./openai/feature.js";
import { postgresFeature } from "./postgres/feature.js";
import { recipesFeature } from "./recipes/feature.js";
import { statementsFeature } from "./statements/feature.js";
import { vectorsFeature } from "./vectors/feature.js";

const FEATURES: readonly Feature[] = [
  statementsFeature,
  importingFeature,
  documentsFeature,
  vectorsFeature,
  graphFeature,
  modelsFeature,
  claimsFeature,
  languageFeature,
  generationFeature,
  nl2sqlFeature,
  chatFeature,
  openaiFeature,
  memoryFeature,
  multimodalFeature,
  filesFeature,
  recipesFeature,
  automlFeature,
  feedFeature,
  jobsFeature,
  agentFeature,
  mcpFeature,
  backupFeature,
  postgresFeature,
  boltFeature,
  branchesFeature,
  evaluationFeature,
];

for (const feature of FEATURES) install(feature);

/** Of the endpoints that every actor answers; those of backups are made with the actor (actor-features.ts). */
export const HANDLERS = {
  ...automlFeature.handlers,
  ...boltFeature.handlers,
  ...branchesFeature.handlers,
  ...chatFeature.handlers,
  ...claimsFeature.handlers,
  ...documentsFeature.handlers,
  ...evaluationFeature.handlers,
  ...feedFeature.handlers,
  ...filesFeature.handlers,
  ...generationFeature.handlers,
  ...graphFeature.handlers,
  ...importingFeature.handlers,
  ...languageFeature.handlers,
  ...mcpFeature.handlers,
  ...memoryFeature.handlers,
  ...modelsFeature.handlers,
  ...multimodalFeature.handlers,
  ...nl2sqlFeature.handlers,
  ...openaiFeature.handlers,
  ...postgresFeature.handlers,
  ...recipesFeature.handlers,
  ...statementsFeature.handlers,
  ...vectorsFeature.handlers,
};

export const JOB_KINDS: readonly JobKind[] = FEATURES.flatMap(({ jobs }) => jobs ?? []);
