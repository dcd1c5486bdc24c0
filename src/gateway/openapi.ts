/**
 * The OpenAPI 3.1 document of everything that is served, generated once, for its first request, from the table of
 * endpoints and the table of errors; typebox schemas are JSON Schema already. Called by gateway.ts; pure.
 */
import type { TObject } from "typebox";
import type { Config } from "../protocol/config.js";
import type { Endpoint } from "../protocol/endpoint.js";
import { BRANCH_NAME } from "../protocol/endpoints/branches.js";
import { ERRORS, type ErrorCode } from "../protocol/errors.js";
import { openAiErrorJson } from "../protocol/openai-error.js";
import { exampleOf } from "./schema-example.js";

type Json = { readonly [key: string]: unknown };

const ref = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` });

const BODY_TYPES = ["application/json", "application/msgpack"] as const;

const TAGS: Readonly<Record<string, string>> = {
  server: "Health, metrics and this description.",
  auth: "Sign-in, the second factor, the caller's own record and API keys.",
  query: "SQL statements, batches and prepared statements.",
  transactions: "Interactive transactions.",
  schema: "Tables, columns and indexes.",
  websocket: "The WebSocket and the tickets that open it.",
  admin: "Tenants and their users, for super administrators.",
  data: "Imports and exports.",
  collections: "Collections of documents.",
  vectors: "Collections of vectors.",
  graph: "The property graph: Cypher, nodes, relationships, algorithms.",
  ai: "Models, embeddings, generation, and helpers for language.",
  chat: "Chats with a language model.",
  memory: "What agents remember.",
  mcp: "The Model Context Protocol.",
  openai: "OpenAI's interface. Answers and errors have its form: JSON without the envelope.",
};

const DESCRIPTION = [
  "Every success body is `{data, meta}`; every error body is `{error, meta}` with a code of the schema Error.",
  "Paths under /v1 are served under /v2 as well.",
  "Bodies and answers are JSON, or MessagePack by Content-Type and Accept.",
  "A POST or PUT with an Idempotency-Key may be repeated safely.",
].join(" ");

/** The document's text. */
export function openApiDocument(endpoints: readonly Endpoint[], version: string, config: Config): string {
  const paths: Record<string, Record<string, Json>> = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] ??= {};
    paths[endpoint.path]![endpoint.method.toLowerCase()] = operation(endpoint, config);
  }
  const tags = [...new Set(endpoints.map(({ tag }) => tag))];
  return JSON.stringify({
    openapi: "3.1.0",
    info: {
      title: "Tessera",
      version,
      summary: "A multi-model AI database gateway.",
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This server." }],
    tags: tags.map((name) => ({ name, description: TAGS[name] ?? `Routes of ${name}.` })),
    security: [{ bearer: [] }, { apiKey: [] }],
    paths,
    components: components(JSON.stringify(paths)),
  });
}

function operation(endpoint: Endpoint, config: Config): Json {
  const { name, summary, tag, access } = endpoint;
  const parameters = parametersOf(endpoint);
  return {
    operationId: name,
    summary,
    tags: [tag],
    ...(access === "public" ? { security: [] } : {}),
    ...(accessNote(access) === null ? {} : { description: accessNote(access) }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(takesBody(endpoint) ? { requestBody: requestBody(endpoint) } : {}),
    responses: { ...success(endpoint), ...failures(endpoint, config) },
  };
}

function accessNote(access: Endpoint["access"]): string | null {
  if (access === "writer") return "A ReadOnly API key gets 403.";
  if (access === "admin") return "Needs the super_admin role.";
  if (access === "system") return "Needs the super_admin role in the system tenant.";
  return null;
}

function parametersOf(endpoint: Endpoint): Json[] {
  const { method, path, params, query } = endpoint;
  const variables = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: params?.properties[name!] ?? { type: "string" },
    ...exampleIn(endpoint.example?.params, name!),
  }));
  const required = new Set(requiredOf(query));
  const queries = Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.has(name),
    schema,
    ...exampleIn(endpoint.example?.query, name),
  }));
  const key = method === "POST" || method === "PUT" ? [ref("parameters", "IdempotencyKey")] : [];
  const branch =
    endpoint.home === "tenant" ? ["Branch", "AsOf", "Consistency"].map((name) => ref("parameters", name)) : [];
  return [...variables, ...queries, ...key, ...branch, ref("parameters", "RequestId")];
}

function exampleIn(examples: Readonly<Record<string, string>> | undefined, name: string): Json {
  const example = examples?.[name];
  return example === undefined ? {} : { example };
}

function requiredOf(schema: TObject | undefined): readonly string[] {
  return (schema as { required?: readonly string[] } | undefined)?.required ?? [];
}

const BYTES: Json = { type: "string", format: "binary" };

const bytesOf = (types: readonly string[], more: Json = {}): Json =>
  Object.fromEntries(types.map((type) => [type, { schema: BYTES, ...more }]));

/** An empty object is as good as no body: a document that asks for one would only puzzle its reader. */
function takesBody({ body, jsonRpc, streamedBody }: Endpoint): boolean {
  if (jsonRpc !== undefined || streamedBody !== undefined) return true;
  if (body === undefined) return false;
  const { properties = {}, additionalProperties } = body as Partial<TObject> & Json;
  return Object.keys(properties).length > 0 || additionalProperties !== false;
}

function requestBody({ example, body, bodyOptional, jsonRpc, streamedBody, textBody }: Endpoint): Json {
  const sent = example?.body === undefined ? {} : { example: example.body };
  if (jsonRpc !== undefined) return { required: true, content: { "application/json": { schema: jsonRpc, ...sent } } };
  if (streamedBody !== undefined) return { required: true, content: bytesOf(streamedBody, sent) };
  const texts = Object.fromEntries((textBody?.types ?? []).map((type) => [type, { schema: { type: "string" } }]));
  const content = { ...contentOf(body as unknown as Json, example?.body ?? exampleOf(body)), ...texts };
  return { required: bodyOptional !== true, content };
}

function contentOf(schema: Json, example: unknown): Json {
  return Object.fromEntries(BODY_TYPES.map((type) => [type, { schema, example }]));
}

const replyHeaders: Json = { "X-Request-Id": ref("headers", "RequestId"), Traceparent: ref("headers", "Traceparent") };
const limitedHeaders: Json = {
  ...replyHeaders,
  "X-RateLimit-Remaining": ref("headers", "RateLimitRemaining"),
  "X-RateLimit-Reset": ref("headers", "RateLimitReset"),
};

function success(endpoint: Endpoint): Json {
  const { name, status = 200, home, pages } = endpoint;
  const usual = home === "gateway" ? replyHeaders : limitedHeaders;
  const headers = pages === undefined ? usual : { ...usual, Link: ref("headers", "Link") };
  // What is no success and no failure of the usual kind has a default beside, as linters want it.
  const otherwise = { default: ref("responses", responseName(500)) };
  if (status === 101) return { 101: { description: "The connection is a WebSocket now." }, ...otherwise };
  if (status === 204) return { 204: { description: "Done.", headers } };
  if (name === "server.docs") return { 302: { description: "Redirects to /v1/api-docs/.", headers }, ...otherwise };
  const { streamedReply = [] } = endpoint;
  if (endpoint.jsonRpc !== undefined) {
    const content = { "application/json": { schema: JSON_RPC_ANSWER }, ...bytesOf(streamedReply) };
    return {
      200: { description: "A JSON-RPC answer.", headers, content },
      202: { description: "Only notifications.", headers },
    };
  }
  if (endpoint.response === undefined && streamedReply.length > 0) {
    return { [status]: { description: "Success.", headers, content: bytesOf(streamedReply) } };
  }
  if (endpoint.response === undefined) {
    const type = name === "server.metrics" ? "text/plain" : "application/json";
    const schema = type === "text/plain" ? { type: "string" } : { type: "object" };
    return { [status]: { description: "Success.", headers, content: { [type]: { schema } } } };
  }
  if (endpoint.form === "openai") return openAiSuccess(endpoint, headers);
  const schema = envelope(endpoint);
  const example = exampleReply(endpoint);
  const content = home === "gateway" ? { "application/json": { schema, example } } : contentOf(schema, example);
  // As content of its own a stream would make generated clients return a union with text.
  const description =
    streamedReply.length === 0 ? "Success." : `Success. As a stream where Accept names ${streamedReply.join(" or ")}.`;
  return { [status]: { description, headers, content } };
}

/** JSON without the envelope. A stream stands in the description only, as for all others. */
function openAiSuccess({ response, streamedReply }: Endpoint, headers: Json): Json {
  const description =
    streamedReply === undefined ? "Success." : "Success. As a stream of events where `stream` is true.";
  const content = { "application/json": { schema: response, example: exampleOf(response) } };
  return { 200: { description, headers, content } };
}

/** `{data, meta}`; where the endpoint is flat, the payload's fields stand beside them too. */
function envelope({ response, flat }: Endpoint): Json {
  const wrapped = {
    type: "object",
    required: ["data", "meta"],
    properties: { data: response, meta: ref("schemas", "Meta") },
  };
  return flat === true ? { allOf: [wrapped, response] } : wrapped;
}

const META = { request_id: "2a3247062e-c", timestamp: "2026-01-02T03:04:05.678Z" };

function exampleError(code: ErrorCode): object {
  return { error: { code, message: ERRORS[code].message }, meta: META };
}

function exampleReply({ response, flat }: Endpoint): object {
  const data = exampleOf(response);
  return flat === true ? { data, meta: META, ...(data as object) } : { data, meta: META };
}

const JSON_RPC_ANSWER: Json = { anyOf: [{ type: "object" }, { type: "array", items: { type: "object" } }] };

/** The errors that the endpoint can answer with, by status. */
function failures(endpoint: Endpoint, config: Config): Json {
  const { home, access, body, streamedBody, params, query, status, live } = endpoint;
  const statuses = new Set<number>([503, ...(endpoint.failures ?? [])]);
  if (status === 101) statuses.add(426);
  else if (home === "gateway") statuses.add(405);
  if (live === true) for (const each of [404, 410, 429]) statuses.add(each);
  if (home !== "gateway") for (const status of [400, 406, 408, 500]) statuses.add(status);
  if (access !== "public") for (const status of [401, 403]) statuses.add(status);
  if (home !== "gateway" && config.rateLimit.perSecond > 0) statuses.add(429);
  if (params !== undefined) statuses.add(404);
  if (query !== undefined || params !== undefined) statuses.add(400);
  if (body !== undefined) for (const status of [409, 413, 415]) statuses.add(status);
  if (streamedBody !== undefined) for (const status of [404, 409, 415, 507]) statuses.add(status);
  // A provider of language models refused, or broke off.
  if (endpoint.tag === "ai" && body !== undefined) statuses.add(502);
  if ((home === "tenant" || home === "named") && body !== undefined)
    for (const status of [404, 501, 507]) statuses.add(status);
  const named = endpoint.form === "openai" ? () => OPENAI_ERROR : responseName;
  return Object.fromEntries([...statuses].sort().map((status) => [status, ref("responses", named(status))]));
}

const OPENAI_ERROR = "OpenAIError";

const responseName = (status: number): string => `Error${status}`;

/** Of the responses those that `paths` names. */
function components(paths: string): Json {
  return {
    securitySchemes: {
      bearer: {
        type: "http",
        scheme: "bearer",
        bearerFormat: "JWT or API key",
        description: "An access token from /v1/auth/login, or an API key.",
      },
      apiKey: {
        type: "apiKey",
        in: "header",
        name: "Authorization",
        description: "An API key as `Authorization: ApiKey <key>`.",
      },
    },
    schemas: { Meta: metaSchema, Error: errorSchema(), [OPENAI_ERROR]: openAiErrorSchema },
    responses: Object.fromEntries(Object.entries(errorResponses()).filter(([name]) => paths.includes(`/${name}"`))),
    parameters: {
      IdempotencyKey: {
        name: "Idempotency-Key",
        in: "header",
        required: false,
        description: "The first answer under this key is kept and given again to a repetition of the same request.",
        schema: { type: "string", minLength: 1, maxLength: 255 },
      },
      ...whatIsRead(),
      RequestId: {
        name: "X-Request-Id",
        in: "header",
        required: false,
        description: "Names the request in the answer and in the log; one is made up when it is absent.",
        schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,64}$" },
      },
    },
    headers: {
      RequestId: { description: "Names the request; quote it in questions.", schema: { type: "string" } },
      Traceparent: {
        description: "The trace and the span of the request (W3C Trace Context); absent where it is not traced.",
        schema: { type: "string", pattern: "^00-[0-9a-f]{32}-[0-9a-f]{16}-01$" },
      },
      Link: {
        description:
          "The first, previous, next and last page (RFC 8288), each as a reference relative to the request's URL; those that there are and that are known.",
        schema: { type: "string" },
        example:
          '<?limit=20&offset=0>; rel="first", <?limit=20&offset=20>; rel="next", <?limit=20&offset=40>; rel="last"',
      },
      RateLimitRemaining: {
        description: "Requests left at this moment; absent where no limit applies.",
        schema: { type: "integer" },
      },
      RateLimitReset: { description: "Seconds until the whole burst is available again.", schema: { type: "integer" } },
      RetryAfter: { description: "Seconds to wait before repeating the request.", schema: { type: "integer" } },
    },
  };
}

/** Headers that say of which data of the tenant a request is. */
function whatIsRead(): Json {
  return {
    Branch: {
      name: "X-Tessera-Branch",
      in: "header",
      required: false,
      description: "The branch of the tenant that the request is about; absent: the tenant itself.",
      schema: { type: "string", pattern: BRANCH_NAME.source },
    },
    AsOf: {
      name: "X-Tessera-As-Of",
      in: "header",
      required: false,
      description: "Read as of that moment: a time (RFC 3339), or the number of a commit. Absent: now.",
      schema: { type: "string" },
    },
    Consistency: {
      name: "X-Tessera-Consistency",
      in: "header",
      required: false,
      description:
        "What is read may be so many milliseconds old, so any node of a cluster with a copy may answer. Absent: it is what there is now.",
      schema: { type: "string", pattern: "^stale *; *max_ms=[0-9]{1,8}$", example: "stale; max_ms=500" },
    },
  };
}

const metaSchema: Json = {
  type: "object",
  required: ["request_id", "timestamp"],
  properties: {
    request_id: { type: "string" },
    timestamp: { type: "string", format: "date-time" },
    warnings: {
      type: "array",
      items: { type: "string" },
      description: "Fields of the request that were accepted but not used.",
    },
  },
};

const openAiErrorSchema: Json = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["message", "type", "param", "code"],
      properties: {
        message: { type: "string" },
        type: { type: "string" },
        param: { type: ["string", "null"], description: "The field that the error is about." },
        code: { type: ["string", "null"] },
      },
    },
  },
};

function errorSchema(): Json {
  return {
    type: "object",
    required: ["error", "meta"],
    properties: {
      error: {
        type: "object",
        required: ["code", "message"],
        properties: {
          code: { type: "string", enum: Object.keys(ERRORS) },
          message: { type: "string" },
          details: {
            type: "object",
            properties: {
              sqlstate: { type: "string", pattern: "^[0-9A-Z]{5}$" },
              position: { type: "integer", minimum: 1, description: "Character in the statement." },
              hint: { type: "string" },
            },
          },
        },
      },
      meta: ref("schemas", "Meta"),
    },
  };
}

/** One response per status of the table of errors, which names its codes. */
function errorResponses(): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const ofTable = Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      responseName(status),
      {
        description: codes.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join(" "),
        headers:
          status === 429 || status === 503
            ? { ...replyHeaders, "Retry-After": ref("headers", "RetryAfter") }
            : replyHeaders,
        content: contentOf(ref("schemas", "Error"), exampleError(codes[0]!)),
      },
    ]),
  );
  const content = { "application/json": { schema: ref("schemas", OPENAI_ERROR), example: OPENAI_EXAMPLE } };
  const description = "An error in the form of OpenAI's interface.";
  return { ...ofTable, [OPENAI_ERROR]: { description, headers: replyHeaders, content } };
}

const OPENAI_EXAMPLE = JSON.parse(openAiErrorJson("model_not_found", ERRORS.model_not_found.message)) as object;
