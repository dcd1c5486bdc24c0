/** /v1/recipes: recipes as they are brought in, looked at, executed and exported. */

import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { usualPageOf } from "../../bodies/paging.js";
import type { Input, InputOf } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { RECIPE_BYTES_MAX, RECIPE_FETCH_SECONDS_MAX } from "../../protocol/limits.js";
import { signerOf } from "../../recipe/canonical.js";
import type { ReadRecipe } from "../../recipe/recipe.js";
import type { Answer, TextAnswer } from "../../session/answer.js";
import { ownTogether } from "../statements/run-together.js";
import { certify, requireEngine } from "./certify-recipe.js";
import { exportRecipe } from "./export-recipe.js";
import { findRecipe, listRecipes, readSource, versionsOf } from "./find-recipe.js";
import {
  type Certificate,
  deleteRecipe,
  findExecution,
  listExecutions,
  noRecipe,
  putRecipe,
  type RecipeEntry,
  type StoredRecipe,
} from "./recipe-store.js";
import { runRecipe } from "./run-recipe.js";

export const recipeHandlers = {
  "recipes.list": list,
  "recipes.schema": schema,
  "recipes.import": (request, input) => bring(request, input, null),
  "recipes.export": exportTables,
  "recipes.get": async (request, { params, query }) => ({
    plain: shownWhole(await findRecipe(request, params.id!, query.version)),
  }),
  "recipes.put": (request, input) => bring(request, input, input.params.id!),
  "recipes.delete": remove,
  "recipes.versions": async (request, { params }) => {
    const versions = await versionsOf(request, params.id!);
    if (versions.length === 0) throw noRecipe(params.id!);
    return { plain: { versions: versions.map(shownEntry), total: versions.length } };
  },
  "recipes.certify": certifyAgain,
  "recipes.execute": (request, { params, body }) => runRecipe(request, params.id, body),
  "recipes.executions": async (request, { params, query }) => {
    await requireKnown(request, params.id!);
    const { limit, offset } = usualPageOf(query);
    return { plain: await listExecutions(request, params.id!, limit, offset) };
  },
  "recipes.execution": async (request, { params }) => ({
    plain: await findExecution(request, params.id!, params.execution_id!),
  }),
} satisfies Handlers;

type Listed = ResponseOf<"recipes.list">;
type Entry = Listed["recipes"][number];
type Whole = ResponseOf<"recipes.get">;
type Certified = ResponseOf<"recipes.certify">;

async function list(request: Request, { query }: InputOf<"recipes.list">): Promise<Answer<Listed>> {
  const { limit, offset } = usualPageOf(query);
  const { category, tag } = query;
  const found = (await listRecipes(request)).filter(
    (entry) =>
      (category === undefined || entry.category === category) && (tag === undefined || entry.tags.includes(tag)),
  );
  const page = found.slice(offset, offset + limit);
  return { plain: { recipes: page.map(shownEntry), total: found.length } };
}

async function schema(): Promise<Answer<ResponseOf<"recipes.schema">>> {
  const { RecipeSchema } = await import("../../recipe/recipe-schema.js");
  const head = { $schema: "https://json-schema.org/draft/2020-12/schema", $id: "/v1/recipes/schema" };
  return { plain: { ...head, title: "Recipe", ...RecipeSchema } };
}

function shownEntry(entry: RecipeEntry): Entry {
  const { id, version, name, description, category, tags, digest, builtIn, certificate } = entry;
  const { signedBy, sourceUrl, createdAt } = entry;
  return {
    id,
    version,
    name,
    description,
    category,
    tags,
    digest,
    built_in: builtIn,
    certificate,
    signed_by: signedBy,
    source_url: sourceUrl,
    created_at: createdAt,
  };
}

const shownWhole = (stored: StoredRecipe): Whole => ({
  ...shownEntry(stored),
  parameters: stored.recipe.parameters,
  recipe: stored.document,
});

interface Brought {
  readonly url?: string;
  readonly recipe?: unknown;
  readonly source?: string;
}

/** POST /import, and PUT, which says the id. */
async function bring(request: Request, { body, query }: Input, id: string | null): Promise<Answer<Whole>> {
  const read = await readBrought(request, body);
  const { recipe, document, digest } = read;
  if (id !== null && recipe.id !== id) {
    throw new DbError("invalid_recipe", `id: the recipe is "${recipe.id}", the path says "${id}"`, { field: "id" });
  }
  const signedBy = requireSignature(request, read);
  requireEngine(recipe);
  const versions = await versionsOf(request, recipe.id);
  if (id !== null && versions.length === 0) throw noRecipe(id);
  const same = versions.find(({ version }) => version === recipe.version);
  if (same !== undefined && same.digest !== digest) {
    throw new DbError(
      "conflict",
      `The recipe "${recipe.id}" version ${recipe.version} already exists with different content (${same.digest}).`,
      { field: "version", hint: "A version never changes. Use a higher version." },
    );
  }
  const certificate = await certify(request, read);
  const { name, description, category, tags, version } = recipe;
  const stored: StoredRecipe = {
    id: recipe.id,
    version,
    name,
    description,
    category,
    tags,
    digest,
    builtIn: false,
    signedBy,
    sourceUrl: (body as Brought).url ?? null,
    certificate,
    createdAt: same?.createdAt ?? certificate.certified_at,
    document,
    recipe,
  };
  const answer: Answer<Whole> = {
    plain: shownWhole(stored),
    status: query.dry_run === "true" || same !== undefined || id !== null ? 200 : 201,
  };
  if (query.dry_run === "true") return answer;
  await ownTogether(
    request,
    request,
    (run) => putRecipe(run, stored, request.head.userId),
    (tx) => request.commit(tx, answer),
  );
  return answer;
}

async function readBrought(request: Request, body: Brought): Promise<ReadRecipe> {
  const given = (["url", "recipe", "source"] as const).filter((name) => body[name] !== undefined);
  if (given.length > 1) {
    throw new DbError("invalid_request", `Send one of ${given.join(" and ")}.`, { field: given[1]! });
  }
  const { url, recipe, source } = body;
  if (url !== undefined) return readSource(request, { text: await fetched(request, url) });
  if (source !== undefined) return readSource(request, { text: source });
  if (recipe === undefined && Object.keys(body).length === 0) {
    throw new DbError("invalid_recipe", 'The body is empty. Send the recipe itself, or its address as "url".', {
      field: "url",
      hint: 'The recipe itself is the body, or its field "recipe" as JSON, or its field "source" as YAML or JSON text.',
    });
  }
  return readSource(request, { value: recipe ?? body });
}

/** The text at an address. */
async function fetched(request: Request, url: string): Promise<string> {
  const { fetchBounded } = await import("../../net/fetch-bounded.js");
  const { importSchemes, importHosts, importPrivateHosts } = request.partition.config.recipes;
  const { bytes } = await fetchBounded(url, {
    field: "url",
    schemes: importSchemes,
    hostsAllowed: importHosts,
    privateAllowed: importPrivateHosts,
    bytesMax: RECIPE_BYTES_MAX,
    timeoutMs: RECIPE_FETCH_SECONDS_MAX * 1000,
    signal: request.signal(),
  });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new DbError("invalid_recipe", "The recipe is not UTF-8 text.", { field: "url" });
  }
}

/** The key that signed it; null where no key is configured. */
function requireSignature(request: Request, { recipe, digest }: ReadRecipe): string | null {
  const { signingKeys } = request.partition.config.recipes;
  if (signingKeys.length === 0) return null;
  const details = {
    field: "signature",
    digest,
    hint: "Sign the text of the digest with Ed25519 and put the base64 of that into signature.value; docs/guide/recipes.md shows how.",
  };
  if (recipe.signature === undefined)
    throw new DbError("invalid_recipe", "signature: this server takes signed recipes only", details);
  const signer = signerOf(digest, recipe.signature, signingKeys);
  if (signer !== null) return signer;
  throw new DbError(
    "invalid_recipe",
    "signature: it is by none of the keys that are configured, or of other content",
    details,
  );
}

async function remove(request: Request, { params, query }: Input): Promise<TextAnswer> {
  const versions = await versionsOf(request, params.id!);
  const own = versions.filter(({ builtIn, version }) => !builtIn && (query.version ?? version) === version);
  if (own.length === 0) {
    if (versions.some(({ version }) => (query.version ?? version) === version)) {
      throw new DbError("conflict", `The recipe "${params.id}" comes with the server and cannot be deleted.`, {
        field: "id",
      });
    }
    throw noRecipe(params.id!, query.version);
  }
  await ownTogether(
    request,
    request,
    (run) => deleteRecipe(run, params.id!, query.version),
    (tx) => request.commit(tx, {}),
  );
  return {};
}

async function certifyAgain(
  request: Request,
  { params, body }: InputOf<"recipes.certify">,
): Promise<Answer<Certified>> {
  const stored = await findRecipe(request, params.id!, body.version);
  const certificate: Certificate = await certify(request, { places: {}, ...stored });
  const answer: Answer<Certified> = { plain: certificate };
  if (stored.builtIn) return answer;
  await ownTogether(
    request,
    request,
    (run) => putRecipe(run, { ...stored, certificate }, request.head.userId),
    (tx) => request.commit(tx, answer),
  );
  return answer;
}

async function exportTables(
  request: Request,
  { body }: InputOf<"recipes.export">,
): Promise<Answer<ResponseOf<"recipes.export">>> {
  const { document, notes } = await exportRecipe(request, body);
  const wantsText = body.format === "yaml";
  const { digest, text } = await readSource(request, { value: document, wantsText });
  return { plain: { recipe: document, digest, notes, ...(wantsText && { source: text }) } };
}

/** Deleted recipes have a history, too. */
async function requireKnown(request: Request, id: string): Promise<void> {
  if ((await versionsOf(request, id)).length > 0) return;
  if ((await listExecutions(request, id, 1, 0)).total === 0) throw noRecipe(id);
}
