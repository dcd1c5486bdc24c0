/** The Model Context Protocol. */
import type { Feature } from "../feature.js";
import { mcpHandlers } from "./mcp-routes.js";

export const mcpFeature = {
  name: "mcp",
  handlers: mcpHandlers,
} satisfies Feature;
