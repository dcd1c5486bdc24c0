/** Executes a recipe that is stored, or came with the program. */
import type { Request } from "../../actor/request.js";
import type { BodyOf, ResponseOf } from "../../protocol/endpoints.js";
import type { Answer } from "../../session/answer.js";
import { requireEngine } from "./certify-recipe.js";
import { executeRecipe } from "./execute-recipe.js";
import { findRecipe } from "./find-recipe.js";

/** Throws not_found. */
export async function runRecipe(
  request: Request,
  id: string,
  asked: BodyOf<"recipes.execute">,
): Promise<Answer<ResponseOf<"recipes.execute">>> {
  const { parameters = {}, dry_run: dryRun = false, version, setup = "auto" } = asked;
  const { recipe } = await findRecipe(request, id, version);
  requireEngine(recipe);
  return executeRecipe(request, { recipe, parameters, setup, dryRun });
}
