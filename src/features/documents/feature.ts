/** Collections of documents. */
import type { Feature } from "../feature.js";
import { collectionHandlers } from "./collection-routes.js";
import { documentHandlers } from "./document-routes.js";
import { documentSearchHandlers } from "./search-routes.js";

export const documentsFeature = {
  name: "documents",
  handlers: { ...collectionHandlers, ...documentHandlers, ...documentSearchHandlers },
} satisfies Feature;
