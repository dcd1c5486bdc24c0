/** Collections of vectors. */
import type { Feature } from "../feature.js";
import { vectorCollectionHandlers } from "./collection-routes.js";
import { vectorMapHandlers } from "./map-routes.js";
import { vectorSearchHandlers } from "./search-routes.js";
import { vectorHandlers } from "./vector-routes.js";

export const vectorsFeature = {
  name: "vectors",
  handlers: { ...vectorCollectionHandlers, ...vectorHandlers, ...vectorSearchHandlers, ...vectorMapHandlers },
} satisfies Feature;
