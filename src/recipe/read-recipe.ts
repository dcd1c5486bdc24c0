/**
 * Reads a recipe: text or value → checked document, its digest, and the places of its statements. Everything that can
 * be known without a database is checked here: form, names, versions, the syntax of each statement. It takes as long
 * as the text is long, so it runs in a task thread (workers/task.ts). Throws DbError `invalid_recipe` that names field
 * and place.
 */

import type { TProperties, TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { stringify } from "yaml";
import { loadParser } from "../sql/parse/parse.js";
import { digestOf } from "./canonical.js";
import { checkRecipe } from "./check-recipe.js";
import { invalidRecipe, type Path, pathText, readText, readValue, type SourceDocument } from "./document.js";
import { type Place, type ReadRecipe, recipeOf } from "./recipe.js";
import { RecipeForm, StatementForm, seedForm } from "./recipe-schema.js";

/** One of the two. */
export interface RecipeSource {
  /** YAML or JSON. */
  readonly text?: string;
  readonly value?: unknown;
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
  const document = source.text === undefined ? readValue(source.value) : readText(source.text);
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

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Record<string, unknown>;
  readonly message: string;
}

/** Of several faults the first that says most: an unknown member, a missing one, then any. */
function requireForm(schema: TSchema, value: unknown, at: Path, document: SourceDocument): void {
  const check = checkOf(schema);
  if (check.Check(value)) return;
  const errors = check.Errors(value) as SchemaError[];
  const unknown = errors.find(({ keyword }) => keyword === "additionalProperties");
  const missing = errors.find(({ keyword }) => keyword === "required");
  const error = unknown ?? missing ?? errors.find(({ message }) => message !== "schema is false") ?? errors[0]!;
  const path = [...at, ...pathOf(error.instancePath)];
  const [name = ""] = ((error.params.additionalProperties ?? error.params.requiredProperties) as string[]) ?? [];
  const member = name === "" ? path : [...path, name];
  const { allowedValues } = error.params as { allowedValues?: readonly unknown[] };
  const fault =
    error === unknown
      ? "no such member; see GET /v1/recipes/schema"
      : error === missing
        ? "is missing"
        : allowedValues === undefined
          ? error.message
          : `must be one of ${allowedValues.join(", ")}`;
  throw invalidRecipe(fault, pathText(member), document.placeOf(member));
}

/** "/workflow/3/sql" */
function pathOf(pointer: string): Path {
  const parts = pointer.split("/").slice(1);
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll("~1", "/").replaceAll("~0", "~")));
}
