/**
 * A request to an endpoint, worked out from its declaration: the endpoint's path and example, with a tenant's own
 * objects where these name some. authorization-cases.ts and leak-hunt.test.ts send it where they have no case of their
 * own. Pure.
 */
import type { EndpointSpec } from "../../src/protocol/endpoint.js";

/** The object that a path names by its last variable, by the path up to there. */
const NAMED_BY_PATHS = {
  "/v1/schema/tables/{}": "table",
  "/v1/collections/{}": "collection",
  "/v1/collections/{}/documents/{}": "document",
  "/v1/vectors/collections/{}": "vectors",
  "/v1/vectors/collections/{}/vectors/{}": "vector",
  "/v1/graph/nodes/{}": "node",
  "/v1/graph/edges/{}": "edge",
  "/v1/graph/graphs/{}": "graph",
  "/v1/graph/indexes/{}": "index",
  "/v1/transactions/{}": "transaction",
  "/v1/ai/memory/{}": "namespace",
  "/v1/ai/memory/{}/{}": "memory",
  "/v1/recipes/{}": "recipe",
  "/v1/recipes/{}/executions/{}": "execution",
} as const;

/** The same of query parameters and members of bodies. */
const NAMED_BY_FIELDS = { table: "table", collection: "collection" } as const;

type Named = (typeof NAMED_BY_PATHS)[keyof typeof NAMED_BY_PATHS];

/** What a tenant has, by kind. */
export type Objects = Readonly<Partial<Record<Named, string | number>>>;

/** To see whether a request can be worked out at all. */
const ANY_OBJECTS: Objects = Object.fromEntries(Object.values(NAMED_BY_PATHS).map((kind) => [kind, "any"]));

export interface DerivedRequest {
  readonly path: string;
  readonly body?: unknown;
  /** Of a body that is not JSON. */
  readonly type?: string;
  readonly namesObjects: boolean;
}

/**
 * Null: its declaration does not tell how to ask it, so that it needs a case. One that deletes an object always does.
 */
export function derivedRequest(endpoint: EndpointSpec, objects = ANY_OBJECTS): DerivedRequest | null {
  const { method, path, example, streamedBody } = endpoint;
  if (method === "MESSAGE" || method === "WIRE") return null;
  let named = 0;
  let isComplete = true;
  const objectFor = (kind: Named | undefined, otherwise: unknown): unknown => {
    const object = kind === undefined ? undefined : objects[kind];
    if (object !== undefined) named++;
    return object ?? otherwise;
  };
  const filled = path.replaceAll(/\{(\w+)\}/g, (variable, name: string, at: number) => {
    const upTo = path.slice(0, at + variable.length).replaceAll(/\{\w+\}/g, "{}");
    const value = objectFor(NAMED_BY_PATHS[upTo as keyof typeof NAMED_BY_PATHS], example?.params?.[name]);
    if (value === undefined) isComplete = false;
    return encodeURIComponent(String(value));
  });
  const fieldsOf = (given: object): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        name,
        name in NAMED_BY_FIELDS ? objectFor(NAMED_BY_FIELDS[name as keyof typeof NAMED_BY_FIELDS], value) : value,
      ]),
    );
  const query = new URLSearchParams(fieldsOf(example?.query ?? {}) as Record<string, string>).toString();
  const body = typeof example?.body === "object" ? fieldsOf(example.body) : example?.body;
  const needsBody = endpoint.body !== undefined && endpoint.bodyOptional === undefined;
  if (!isComplete || (needsBody && body === undefined) || (method === "DELETE" && named > 0)) return null;
  return {
    path: query === "" ? filled : `${filled}?${query}`,
    ...(body !== undefined && { body }),
    ...(streamedBody !== undefined && { type: streamedBody[0]! }),
    namesObjects: named > 0,
  };
}
