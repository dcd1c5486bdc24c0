/**
 * The table of what an actor answers: per endpoint its handler and the validator that is compiled of its schemas. Made
 * once, when the actor opens.
 */

import { automlHandlers } from "../features/automl/automl-routes.js";
import { chatHandlers } from "../features/chat/chat-routes.js";
import { nliHandlers } from "../features/claims/claim-routes.js";
import { collectionHandlers } from "../features/documents/collection-routes.js";
import { documentHandlers } from "../features/documents/document-routes.js";
import { documentSearchHandlers } from "../features/documents/search-routes.js";
import { fileHandlers } from "../features/files/file-routes.js";
import { providerHandlers } from "../features/generation/provider-routes.js";
import { graphAlgorithmHandlers } from "../features/graph/algorithm-routes.js";
import { graphEntityHandlers } from "../features/graph/entity-routes.js";
import { graphExtractHandlers } from "../features/graph/extract-routes.js";
import { graphHandlers } from "../features/graph/graph-routes.js";
import { graphIndexHandlers } from "../features/graph/index-routes.js";
import { dataHandlers } from "../features/import/data-routes.js";
import { languageHandlers } from "../features/language/language-routes.js";
import { mcpHandlers } from "../features/mcp/mcp-routes.js";
import { memoryHandlers } from "../features/memory/memory-routes.js";
import { aiHandlers } from "../features/models/embedding-routes.js";
import { modelHandlers } from "../features/models/model-routes.js";
import { multimodalHandlers } from "../features/multimodal/multimodal-routes.js";
import { nl2sqlHandlers } from "../features/nl2sql/nl2sql-routes.js";
import { recipeHandlers } from "../features/recipes/recipe-routes.js";
import { queryHandlers } from "../features/statements/query-routes.js";
import { schemaHandlers } from "../features/statements/schema-routes.js";
import { serverHandlers } from "../features/statements/server-routes.js";
import { socketHandlers } from "../features/statements/socket-routes.js";
import { transactionHandlers } from "../features/statements/transaction-routes.js";
import { vectorCollectionHandlers } from "../features/vectors/collection-routes.js";
import { vectorSearchHandlers } from "../features/vectors/search-routes.js";
import { vectorHandlers } from "../features/vectors/vector-routes.js";
import type { Endpoint } from "../protocol/endpoint.js";
import { ENDPOINTS, MESSAGES } from "../protocol/endpoints.js";
import type { Handler } from "./handler.js";
import { compileValidator, type Validate } from "./validate.js";

export interface Route {
  readonly endpoint: Endpoint;
  readonly validate: Validate;
  readonly handle: Handler;
}

const HANDLERS: Readonly<Record<string, Handler>> = {
  ...queryHandlers,
  ...recipeHandlers,
  ...transactionHandlers,
  ...dataHandlers,
  ...collectionHandlers,
  ...documentHandlers,
  ...documentSearchHandlers,
  ...fileHandlers,
  ...graphHandlers,
  ...graphEntityHandlers,
  ...graphIndexHandlers,
  ...graphAlgorithmHandlers,
  ...graphExtractHandlers,
  ...aiHandlers,
  ...providerHandlers,
  ...chatHandlers,
  ...automlHandlers,
  ...mcpHandlers,
  ...nl2sqlHandlers,
  ...memoryHandlers,
  ...languageHandlers,
  ...nliHandlers,
  ...modelHandlers,
  ...multimodalHandlers,
  ...schemaHandlers,
  ...vectorCollectionHandlers,
  ...vectorHandlers,
  ...vectorSearchHandlers,
  ...serverHandlers,
  ...socketHandlers,
};

/** `own`: handlers that need the actor, or that only some actors have. An endpoint without a handler has no route here. */
export function compileRoutes(own: Readonly<Record<string, Handler>>): Route[] {
  const handlers: Readonly<Record<string, Handler>> = { ...HANDLERS, ...own };
  const routes: Route[] = [];
  for (const endpoint of [...ENDPOINTS, ...MESSAGES]) {
    const handle = handlers[endpoint.name];
    if (handle !== undefined) routes.push({ endpoint, handle, validate: compileValidator(endpoint) });
  }
  return routes;
}
