/**
 * Reads a recipe: text or value → checked document, its digest, and the places of its statements. Everything that can
 * be known without a database is checked here: form, names, versions, the syntax of each statement. It takes as long
 * as the text is long, so it runs in a task thread (workers/task.ts). Throws DbError `invalid_recipe` that names field
 * and place.
 */

import type { TProperties, TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { stringify } from "yaml";
import { faultOf } from "../protocol/schema-fault.js";
import { loadParser } from "../sql/parse/parse.js";
import { digestOf } from "./canonical.js";
import { checkRecipe } from "./check-recipe.js";
import { invalidRecipe, type Path, pathText, readJson, readText, type SourceDocument } from "./document.js";
import { type Place, type ReadRecipe, recipeOf } from "./recipe.js";
import { RecipeForm, StatementForm, seedForm } from "./recipe-schema.js";

/** One of the two. */
export interface RecipeSource {
  /** YAML or JSON. */
  readonly text?: string;
  /** Of a value that came as JSON: it has no lines and columns to tell. */
  readonly json?: string;
  /** The answer has it as YAML, too. */
  readonly wantsText?: boolean;
}

type Check = Validator<TProperties, TSchema>;

const checks = new Map<TSchema, Check>();

function checkOf(schema: TSchema): Check {
  let check = checks.get(schema);
  if (check === undefined) {
    check = Compile(schema);
    checks.set(schema, check);
  }
  return check;
}

export async function readRecipe(source: RecipeSource): Promise<ReadRecipe> {
  await loadParser();
  const document = source.text === undefined ? readJson(source.json!) : readText(source.text);
  const { value } = document;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidRecipe("A recipe is an object with id, version, engine, name and workflow.", "", document.placeOf([]));
  }
  requireForm(RecipeForm, value, [], document);
  const recipe = recipeOf(value);
  recipe.schema.forEach((item, i) => {
    if (typeof item !== "string") requireForm(StatementForm, item, ["schema", i], document);
  });
  recipe.seed.forEach((item, i) => {
    const form = seedForm(item);
    if (form === null) {
      const fault = "expected {table, columns, rows}, {nodes, edges}, {sql} or {cypher}";
      throw invalidRecipe(fault, `seed[${i}]`, document.placeOf(["seed", i]));
    }
    requireForm(form, item, ["seed", i], document);
  });
  const places: Record<string, Place> = {};
  checkRecipe(recipe, document, (path) => {
    const place = document.placeOf(path);
    if (place !== null) places[pathText(path)] = place;
  });
  const text = source.wantsText ? { text: stringify(value, { lineWidth: 0 }) } : {};
  return { document: value, recipe, digest: digestOf(value), places, ...text };
}

/** Of several faults the first that says most: an unknown member, a missing one, then any. */
function requireForm(schema: TSchema, value: unknown, at: Path, document: SourceDocument): void {
  const check = checkOf(schema);
  if (check.Check(value)) return;
  const { kind, path, names, says, hint } = faultOf(schema, value, check.Errors(value));
  const member = [...at, ...path, ...names.slice(0, 1)];
  const meant = hint?.startsWith("Did") ? `; ${hint[0]!.toLowerCase()}${hint.slice(1)}` : "";
  const fault = kind === "unknown" ? `no such member; see GET /v1/recipes/schema${meant}` : says;
  throw invalidRecipe(fault, pathText(member), document.placeOf(member));
}
