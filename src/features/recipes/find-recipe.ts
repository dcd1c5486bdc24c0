/**
 * Recipes by their ids: the tenant's own and those that come with the server, which every tenant has. Of several
 * versions the newest is meant unless one is named. Called by the handlers of recipes and by the tools.
 */

import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { RECIPE_BYTES_MAX } from "../../protocol/limits.js";
import { recipeTooLarge } from "../../protocol/size-errors.js";
import type { RecipeSource } from "../../recipe/read-recipe.js";
import type { ReadRecipe } from "../../recipe/recipe.js";
import { compareVersions } from "../../recipe/semver.js";
import { flattened, plainPieces } from "../../values/json-value-pieces.js";
import { noRecipe, ownEntries, ownRecipe, type RecipeEntry, type StoredRecipe } from "./recipe-store.js";

/** One per thread: the folder is read once. */
let builtIn: Promise<readonly (StoredRecipe & ReadRecipe)[]> | null = null;

function builtInRecipes(request: Request): Promise<readonly (StoredRecipe & ReadRecipe)[]> {
  builtIn ??= loadBuiltIn(request).catch((error) => {
    builtIn = null;
    throw error;
  });
  return builtIn;
}

async function loadBuiltIn({ tenant }: Request): Promise<readonly (StoredRecipe & ReadRecipe)[]> {
  const { tasks } = tenant.partition;
  const read =
    tasks === null
      ? await (await import("../../recipe/built-in-recipes.js")).builtInRecipes()
      : await tasks.builtInRecipes();
  return read.map((one) => {
    const { id, version, name, description, category, tags } = one.recipe;
    const entry = { id, version, name, description, category, tags, builtIn: true };
    return { ...entry, ...one, signedBy: null, sourceUrl: null, certificate: null, createdAt: null };
  });
}

/** Throws invalid_recipe. */
export async function readSource(
  request: Request,
  given: RecipeSource | { readonly value: unknown; readonly wantsText?: boolean },
): Promise<ReadRecipe> {
  const { tasks } = request.tenant.partition;
  const source =
    "value" in given ? { json: await jsonInTurns(request, given.value), wantsText: given.wantsText === true } : given;
  if (tasks !== null) return tasks.readRecipe(source);
  return (await import("../../recipe/read-recipe.js")).readRecipe(source);
}

/**
 * As text, because a value of many parts takes its thread long when it is sent to another. Throws payload_too_large.
 */
async function jsonInTurns(request: Request, value: unknown): Promise<string> {
  let json = "";
  for (const piece of plainPieces(value)) {
    json += flattened(piece);
    if (json.length > RECIPE_BYTES_MAX) throw recipeTooLarge();
    if (request.shouldYield()) await request.yieldTurn();
  }
  return json;
}

/** By id, the newest version first; a tenant's own version stands before the same one of the server. */
export async function versionsOf(request: Request, id: string): Promise<readonly RecipeEntry[]> {
  const own = await ownEntries(request, id);
  return newestFirst([...own, ...(await builtInRecipes(request)).filter((one) => one.id === id)]);
}

/** The newest version of each recipe, by id. */
export async function listRecipes(request: Request): Promise<readonly RecipeEntry[]> {
  const all = newestFirst([...(await ownEntries(request)), ...(await builtInRecipes(request))]);
  const newest = new Map<string, RecipeEntry>();
  for (const entry of all) if (!newest.has(entry.id)) newest.set(entry.id, entry);
  return [...newest.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function newestFirst<T extends RecipeEntry>(entries: readonly T[]): readonly T[] {
  return [...entries].sort((a, b) => compareVersions(b.version, a.version) || Number(a.builtIn) - Number(b.builtIn));
}

/** Throws not_found. */
export async function findRecipe(
  request: Request,
  id: string,
  version?: string,
): Promise<StoredRecipe & Partial<Pick<ReadRecipe, "places">>> {
  const entry = (await versionsOf(request, id)).find((one) => version === undefined || one.version === version);
  if (entry === undefined) throw noRecipe(id, version);
  if (entry.builtIn) return entry as StoredRecipe & ReadRecipe;
  const own = await ownRecipe(request, id, entry.version);
  if (own === null) throw new DbError("not_found", `The recipe "${id}" was deleted in the meantime.`);
  return own;
}
