/** POST /v1/vectors/collections/{name}/search */
import type { Handlers } from "../../actor/handler.js";
import { searchVectors, type VectorSearch } from "./search-vectors.js";

export const vectorSearchHandlers = {
  "vectors.search": (request, { params, body }) => searchVectors(request, params.name, body as VectorSearch),
} satisfies Handlers;
