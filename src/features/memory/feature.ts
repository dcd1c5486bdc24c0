/** Memories of agents. */
import type { Feature } from "../feature.js";
import { MEMORY_FUNCTIONS } from "./memory-functions.js";
import { MEMORY_HISTORY } from "./memory-history.js";
import { memoryHandlers } from "./memory-routes.js";
import { MEMORY_RECALL } from "./recall.js";

export const memoryFeature = {
  name: "memory",
  handlers: memoryHandlers,
  functions: MEMORY_FUNCTIONS,
  tableFunctions: [...MEMORY_RECALL, MEMORY_HISTORY],
} satisfies Feature;
