/** Recipes: a schema, data, a workflow and tests in one document. */
import type { Feature } from "../feature.js";
import { recipeHandlers } from "./recipe-routes.js";

export const recipesFeature = {
  name: "recipes",
  handlers: recipeHandlers,
} satisfies Feature;
