/**
 * The table of all endpoints. An endpoint's position is its code in frames, so both sides must run the same build.
 */
import type { Endpoint, EndpointSpec } from "./endpoint.js";
import { adminEndpoints } from "./endpoints/admin.js";
import { aiEndpoints } from "./endpoints/ai.js";
import { authEndpoints } from "./endpoints/auth.js";
import { automlEndpoints } from "./endpoints/automl.js";
import { backupEndpoints } from "./endpoints/backups.js";
import { chatEndpoints } from "./endpoints/chat.js";
import { collectionEndpoints } from "./endpoints/collections.js";
import { dataEndpoints } from "./endpoints/data.js";
import { fileEndpoints } from "./endpoints/files.js";
import { graphEndpoints } from "./endpoints/graph.js";
import { languageEndpoints } from "./endpoints/language.js";
import { mcpEndpoints } from "./endpoints/mcp.js";
import { memoryEndpoints } from "./endpoints/memory.js";
import { modelEndpoints } from "./endpoints/models.js";
import { multimodalEndpoints } from "./endpoints/multimodal.js";
import { nl2sqlEndpoints } from "./endpoints/nl2sql.js";
import { nliEndpoints } from "./endpoints/nli.js";
import { providerEndpoints } from "./endpoints/providers.js";
import { queryEndpoints } from "./endpoints/query.js";
import { recipeEndpoints } from "./endpoints/recipes.js";
import { serverEndpoints } from "./endpoints/server.js";
import { socketEndpoints } from "./endpoints/socket.js";
import { vectorEndpoints } from "./endpoints/vectors.js";

const specs = [
  ...serverEndpoints,
  ...authEndpoints,
  ...queryEndpoints,
  ...dataEndpoints,
  ...collectionEndpoints,
  ...vectorEndpoints,
  ...fileEndpoints,
  ...graphEndpoints,
  ...aiEndpoints,
  ...providerEndpoints,
  ...chatEndpoints,
  ...mcpEndpoints,
  ...nl2sqlEndpoints,
  ...memoryEndpoints,
  ...languageEndpoints,
  ...nliEndpoints,
  ...modelEndpoints,
  ...multimodalEndpoints,
  ...recipeEndpoints,
  ...adminEndpoints,
  ...backupEndpoints,
  ...socketEndpoints,
  ...automlEndpoints,
] as const;

export type EndpointName = (typeof specs)[number]["name"];

const all: readonly Endpoint[] = (specs as readonly EndpointSpec[]).map((spec, code) =>
  Object.freeze({ ...spec, code, isAudited: isAudited(spec) }),
);

function isAudited({ audited, access, method }: EndpointSpec): boolean {
  return audited === true || ((access === "admin" || access === "system") && method !== "GET");
}

/** Those with a route. */
export const ENDPOINTS = all.filter(({ method }) => method !== "MESSAGE");
/** The kinds of messages on the WebSocket that actors answer. */
export const MESSAGES = all.filter(({ method }) => method === "MESSAGE");
