/** The property graph: Cypher, nodes and relationships, algorithms, extraction from text. */
import type { Feature } from "../feature.js";
import { ALGORITHM_PROCEDURES } from "./algorithm-procedures.js";
import { graphAlgorithmHandlers } from "./algorithm-routes.js";
import { graphEntityHandlers } from "./entity-routes.js";
import { graphExtractHandlers } from "./extract-routes.js";
import { graphHandlers } from "./graph-routes.js";
import { graphIndexHandlers } from "./index-routes.js";

export const graphFeature = {
  name: "graph",
  handlers: {
    ...graphHandlers,
    ...graphEntityHandlers,
    ...graphIndexHandlers,
    ...graphAlgorithmHandlers,
    ...graphExtractHandlers,
  },
  procedures: ALGORITHM_PROCEDURES,
} satisfies Feature;
