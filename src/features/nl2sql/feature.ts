/** Questions as SQL. */
import type { Feature } from "../feature.js";
import { nl2sqlHandlers } from "./nl2sql-routes.js";

export const nl2sqlFeature = {
  name: "nl2sql",
  handlers: nl2sqlHandlers,
} satisfies Feature;
