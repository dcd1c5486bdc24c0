/** Tools for recipes: what there is to run, and running it. */
import Type from "typebox";
import { Strict } from "../../protocol/endpoints/schemas.js";
import { findRecipe, listRecipes } from "../recipes/find-recipe.js";
import { runRecipe } from "../recipes/run-recipe.js";
import { READS, resultOf, type Tool } from "./tool.js";

const listRecipesTool: Tool = {
  name: "list_recipes",
  door: "statements",
  title: "List recipes",
  description:
    "The recipes that can be run (documents with a schema, data and a workflow), with what they do and the parameters they take.",
  input: Strict({ category: Type.Optional(Type.String({ minLength: 1 })) }),
  ...READS,
  call: async ({ request }, { category }) => {
    const recipes: object[] = [];
    for (const entry of await listRecipes(request)) {
      if (category !== undefined && entry.category !== category) continue;
      const { id, version, name, description, tags } = entry;
      const { parameters } = (await findRecipe(request, id, version)).recipe;
      recipes.push({ id, version, name, description, category: entry.category, tags, parameters });
    }
    return JSON.stringify({ recipes });
  },
};

const runRecipeTool: Tool = {
  name: "run_recipe",
  door: "statements",
  title: "Run a recipe",
  description:
    "Executes a recipe in one transaction and returns the rows of its steps. dry_run rolls everything back. The first execution creates its tables and sample data.",
  input: Strict({
    id: Type.String({ minLength: 1, maxLength: 100, description: "As list_recipes tells it." }),
    parameters: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    dry_run: Type.Optional(Type.Boolean()),
  }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  forReaders: false,
  call: async ({ request }, { id, ...body }) => resultOf(await runRecipe(request, id, body), "execution"),
};

export const RECIPE_TOOLS: readonly Tool[] = [listRecipesTool, runRecipeTool];
