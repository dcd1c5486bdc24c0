/** The property graph: Cypher, nodes and relationships, algorithms, extraction from text. */
import { graphNamesOf } from "../../catalog/graph.js";
import { GRAPH_NAMES } from "../../query/expr/cypher/graph-functions.js";
import { provideCapability } from "../../session/capabilities.js";
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
  provide: () => provideCapability(GRAPH_NAMES, (statement) => graphNamesOf(statement.catalogView())),
  procedures: ALGORITHM_PROCEDURES,
} satisfies Feature;
