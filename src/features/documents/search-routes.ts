/** POST /v1/collections/{name}/search */
import type { Handlers } from "../../actor/handler.js";
import { type DocumentSearch, searchDocuments } from "./search-documents.js";

export const documentSearchHandlers = {
  "documents.search": (request, { params, body }) => searchDocuments(request, params.name, body as DocumentSearch),
} satisfies Handlers;
