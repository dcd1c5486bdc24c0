/**
 * The table of all endpoints. An endpoint's position is its code in frames. Nodes of a cluster may run different
 * releases: they tell each other the names (cluster/peer-hello.ts). So a name never gets another meaning.
 */
import type { Static, TSchema } from "typebox";
import type { Endpoint, EndpointSpec } from "./endpoint.js";
import { adminEndpoints } from "./endpoints/admin.js";
import { aiEndpoints } from "./endpoints/ai.js";
import { authEndpoints } from "./endpoints/auth.js";
import { automlEndpoints } from "./endpoints/automl.js";
import { backupEndpoints } from "./endpoints/backups.js";
import { boltEndpoints } from "./endpoints/bolt.js";
import { branchEndpoints } from "./endpoints/branches.js";
import { budgetEndpoints } from "./endpoints/budgets.js";
import { chatEndpoints } from "./endpoints/chat.js";
import { collectionEndpoints } from "./endpoints/collections.js";
import { dataEndpoints } from "./endpoints/data.js";
import { evaluationEndpoints } from "./endpoints/evaluation.js";
import { fileEndpoints } from "./endpoints/files.js";
import { graphEndpoints } from "./endpoints/graph.js";
import { graphImportEndpoints } from "./endpoints/graph-import.js";
import { languageEndpoints } from "./endpoints/language.js";
import { mcpEndpoints } from "./endpoints/mcp.js";
import { memoryEndpoints } from "./endpoints/memory.js";
import { modelEndpoints } from "./endpoints/models.js";
import { multimodalEndpoints } from "./endpoints/multimodal.js";
import { nl2sqlEndpoints } from "./endpoints/nl2sql.js";
import { nliEndpoints } from "./endpoints/nli.js";
import { oidcEndpoints } from "./endpoints/oidc.js";
import { openaiEndpoints } from "./endpoints/openai.js";
import { postgresEndpoints } from "./endpoints/postgres.js";
import { providerEndpoints } from "./endpoints/providers.js";
import { queryEndpoints } from "./endpoints/query.js";
import { recipeEndpoints } from "./endpoints/recipes.js";
import { serverEndpoints } from "./endpoints/server.js";
import { socketEndpoints } from "./endpoints/socket.js";
import { vectorEndpoints } from "./endpoints/vectors.js";

const specs = [
  ...serverEndpoints,
  ...authEndpoints,
  ...oidcEndpoints,
  ...queryEndpoints,
  ...dataEndpoints,
  ...collectionEndpoints,
  ...vectorEndpoints,
  ...fileEndpoints,
  ...graphEndpoints,
  ...graphImportEndpoints,
  ...aiEndpoints,
  ...providerEndpoints,
  ...chatEndpoints,
  ...mcpEndpoints,
  ...nl2sqlEndpoints,
  ...memoryEndpoints,
  ...languageEndpoints,
  ...nliEndpoints,
  ...modelEndpoints,
  ...multimodalEndpoints,
  ...recipeEndpoints,
  ...adminEndpoints,
  ...budgetEndpoints,
  ...backupEndpoints,
  ...socketEndpoints,
  ...automlEndpoints,
  ...openaiEndpoints,
  ...postgresEndpoints,
  ...boltEndpoints,
  ...branchEndpoints,
  ...evaluationEndpoints,
] as const;

type Specs = (typeof specs)[number];

export type EndpointName = Specs["name"];

/** Those that the directory's actor answers. */
export type DirectoryEndpointName = Extract<Specs, { readonly home: "directory" }>["name"];
/** Those that every actor answers. */
export type TenantEndpointName = Extract<Specs, { readonly home: "tenant" | "named" }>["name"];

type SpecOf<E extends EndpointName> = Extract<Specs, { readonly name: E }>;

/**
 * The endpoint's body as its schema has it. One that its handler checks by itself is unknown; JSON-RPC comes as bytes.
 */
export type BodyOf<E extends EndpointName> =
  SpecOf<E> extends { readonly checksBody: true }
    ? unknown
    : SpecOf<E> extends { readonly jsonRpc: TSchema } | { readonly bytesBody: true }
      ? Buffer
      : SpecOf<E> extends { readonly body: infer S extends TSchema }
        ? Static<S>
        : undefined;

export type ParamsOf<E extends EndpointName> =
  SpecOf<E> extends { readonly params: infer S extends TSchema } ? Static<S> : Readonly<Record<never, string>>;

export type QueryOf<E extends EndpointName> =
  SpecOf<E> extends { readonly query: infer S extends TSchema } ? Static<S> : Readonly<Record<never, string>>;

/** What the endpoint answers as `data`. */
export type ResponseOf<E extends EndpointName> =
  SpecOf<E> extends { readonly response: infer S extends TSchema } ? DeepReadonly<Static<S>> : undefined;

type DeepReadonly<T> = T extends (infer I)[]
  ? readonly DeepReadonly<I>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

const all: readonly Endpoint[] = (specs as readonly EndpointSpec[]).map((spec, code) =>
  Object.freeze({ ...spec, code, isAudited: isAudited(spec) }),
);

function isAudited({ audited, access, method }: EndpointSpec): boolean {
  return audited === true || ((access === "admin" || access === "system") && method !== "GET");
}

/** By code. */
export const ENDPOINT_NAMES: readonly string[] = all.map(({ name }) => name);

/** Those with a route. */
export const ENDPOINTS = all.filter(({ method }) => method !== "MESSAGE" && method !== "WIRE");
/** The kinds of messages on the WebSocket that actors answer. */
export const MESSAGES = all.filter(({ method }) => method === "MESSAGE");
/** What servers of other protocols ask of actors. */
export const WIRE = all.filter(({ method }) => method === "WIRE");
