/**
 * The models of OpenAI's interface: installed models, those of the provider, collections and agents. Called by the
 * routes; no state.
 */
import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { agentNames } from "../agent/named-agents.js";
import { withDefinitions } from "../statements/with-definitions.js";

/** Before the name of a collection, and of an agent. */
export const COLLECTION = "collection:";
export const AGENT = "agent:";

export interface ModelEntry {
  readonly id: string;
  readonly object: "model";
  /** Seconds since 1970; 0 where it is not known. */
  readonly created: number;
  readonly owned_by: string;
  readonly kind: "embedding" | "generation" | "collection" | "agent";
}

const OWN = "tessera";

export async function listModels(request: Request): Promise<readonly ModelEntry[]> {
  const collections = collectionNames(request).map((name) => entry(`${COLLECTION}${name}`, "collection"));
  const agents = (await agentNames(request)).map((name) => entry(`${AGENT}${name}`, "agent"));
  return [...ofProvider(request), ...installed(request), ...collections, ...agents];
}

/** By its id, or by the alias of an installed model. Throws model_not_found. */
export async function findModel(request: Request, id: string): Promise<ModelEntry> {
  const all = await listModels(request);
  const found = all.find((one) => one.id === id) ?? byAlias(request, all, id);
  if (found !== undefined) return { ...found, id };
  throw new DbError("model_not_found", `There is no model "${id}". GET /v1/models lists the models.`);
}

/** The collection in a model's name. Throws model_not_found. */
export function collectionNamed(request: Request, model: string): string {
  const name = model.slice(COLLECTION.length);
  if (collectionNames(request).includes(name)) return name;
  throw new DbError("model_not_found", `There is no collection "${name}". GET /v1/models lists the models.`);
}

/** Those that the caller may read. */
function collectionNames(request: Request): readonly string[] {
  return withDefinitions(request, (catalog) => {
    const rights = rightsOfCaller(request.head)(catalog);
    const tables = catalog.tables().filter((table) => table.collection !== undefined && rights.mayName(table));
    return tables.map(({ name }) => name);
  });
}

/** The default of the provider; its other models can be named, too. */
function ofProvider({ partition, tenant }: Request): ModelEntry[] {
  const provider = partition.providers.forTenant(tenant, null);
  if (provider === null || provider.name === "native") return [];
  return [{ ...entry(provider.model, "generation"), owned_by: provider.name }];
}

function installed({ partition }: Request): ModelEntry[] {
  return partition.models.list().flatMap(({ name, kind, state, pulled, restartRequired }) => {
    if ((kind !== "embedding" && kind !== "generation") || state === "failed" || restartRequired) return [];
    return [{ ...entry(name, kind), created: pulled === null ? 0 : Math.floor(pulled.atMs / 1000) }];
  });
}

function byAlias({ partition }: Request, all: readonly ModelEntry[], id: string): ModelEntry | undefined {
  const known = partition.models.list().find(({ alias }) => alias === id);
  return known === undefined ? undefined : all.find((one) => one.id === known.name);
}

function entry(id: string, kind: ModelEntry["kind"]): ModelEntry {
  return { id, object: "model", created: 0, owned_by: OWN, kind };
}
