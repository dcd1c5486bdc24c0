/** Recipes: a schema, data, a workflow and tests in one document. */
import type { Feature } from "../feature.js";
import { recipeHandlers } from "./recipe-routes.js";
import { OWN_EXECUTIONS } from "./recipe-store.js";

export const recipesFeature = {
  name: "recipes",
  ownRelations: [OWN_EXECUTIONS],
  handlers: recipeHandlers,
} satisfies Feature;
