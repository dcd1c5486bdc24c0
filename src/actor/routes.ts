/**
 * The table of what an actor answers: per endpoint its handler and the validator that is compiled of its schemas. Made
 * once, when the actor opens.
 */
import type { Endpoint } from "../protocol/endpoint.js";
import { ENDPOINTS, MESSAGES } from "../protocol/endpoints.js";
import { aiHandlers } from "./handlers/ai.js";
import { automlHandlers } from "./handlers/automl.js";
import { chatHandlers } from "./handlers/chat.js";
import { collectionHandlers } from "./handlers/collections.js";
import { dataHandlers } from "./handlers/data.js";
import { documentSearchHandlers } from "./handlers/document-search.js";
import { documentHandlers } from "./handlers/documents.js";
import { fileHandlers } from "./handlers/files.js";
import { graphHandlers } from "./handlers/graph.js";
import { graphAlgorithmHandlers } from "./handlers/graph-algorithms.js";
import { graphEntityHandlers } from "./handlers/graph-entities.js";
import { graphExtractHandlers } from "./handlers/graph-extract.js";
import { graphIndexHandlers } from "./handlers/graph-indexes.js";
import type { Handler } from "./handlers/handler.js";
import { languageHandlers } from "./handlers/language.js";
import { mcpHandlers } from "./handlers/mcp.js";
import { memoryHandlers } from "./handlers/memory.js";
import { modelHandlers } from "./handlers/models.js";
import { multimodalHandlers } from "./handlers/multimodal.js";
import { nl2sqlHandlers } from "./handlers/nl2sql.js";
import { nliHandlers } from "./handlers/nli.js";
import { providerHandlers } from "./handlers/providers.js";
import { queryHandlers } from "./handlers/query.js";
import { recipeHandlers } from "./handlers/recipes.js";
import { schemaHandlers } from "./handlers/schema.js";
import { serverHandlers } from "./handlers/server.js";
import { socketHandlers } from "./handlers/socket.js";
import { transactionHandlers } from "./handlers/transactions.js";
import { vectorCollectionHandlers } from "./handlers/vector-collections.js";
import { vectorSearchHandlers } from "./handlers/vector-search.js";
import { vectorHandlers } from "./handlers/vectors.js";
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
