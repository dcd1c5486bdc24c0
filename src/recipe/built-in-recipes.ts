/**
 * The recipes that come with the server: the folder `recipes` beside it. Read in a task thread when one is first asked
 * for.
 */
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { PROJECT } from "../protocol/places.js";
import { readRecipe } from "./read-recipe.js";
import type { ReadRecipe } from "./recipe.js";

const FOLDER = fileURLToPath(new URL("recipes/", PROJECT));

/** By their ids. Throws for one that cannot be read, which its file names. */
export async function builtInRecipes(): Promise<readonly ReadRecipe[]> {
  const files = (await readdir(FOLDER)).filter((name) => name.endsWith(".yaml")).sort();
  const recipes: ReadRecipe[] = [];
  for (const file of files) {
    try {
      recipes.push(await readRecipe({ text: await readFile(FOLDER + file, "utf8") }));
    } catch (error) {
      throw new Error(`the built-in recipe ${file}: ${(error as Error).message}`);
    }
  }
  return recipes;
}
