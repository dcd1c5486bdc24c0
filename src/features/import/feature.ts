/** Files of rows and scripts, in and out. */
import type { Feature } from "../feature.js";
import { dataHandlers } from "./data-routes.js";
import { graphImportHandlers } from "./graph/graph-routes.js";
import { LOAD_CSV } from "./load-csv.js";
import { READ_FUNCTIONS } from "./read-functions.js";

export const importingFeature = {
  name: "import",
  handlers: { ...dataHandlers, ...graphImportHandlers },
  tableFunctions: READ_FUNCTIONS,
  procedures: [LOAD_CSV],
} satisfies Feature;
