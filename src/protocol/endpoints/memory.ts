/** Memories of agents, by namespace: the routes beside MEMORY_STORE, MEMORY_RECALL and MEMORY_FORGET of SQL. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import {
  LIST_PAGE_MAX,
  MEMORY_CHARACTERS_MAX,
  MEMORY_ID_CHARACTERS_MAX,
  MEMORY_MESSAGE_CHARACTERS_MAX,
  MEMORY_MESSAGES_MAX,
  MEMORY_RECALL_MAX,
} from "../limits.js";
import { limits, Nullable, PageQuery, Strict, Timestamp } from "./schemas.js";

const namespace = Type.String({
  pattern: "^[A-Za-z0-9_][A-Za-z0-9_-]{0,54}$",
  description: "Case does not matter.",
});
const id = Type.String({ minLength: 1, maxLength: MEMORY_ID_CHARACTERS_MAX });
const content = Type.String({ minLength: 1, maxLength: MEMORY_CHARACTERS_MAX });
const metadata = Type.Optional(Nullable(Type.Record(Type.String(), Type.Unknown())));
const ofNamespace = Type.Object({ namespace });
const ofMemory = Type.Object({ namespace, id });

const memory = {
  id: Type.String(),
  content: Type.String(),
  metadata: Nullable(Type.Record(Type.String(), Type.Unknown())),
  created_at: Timestamp,
  valid_from: { ...Timestamp, description: "Since when it holds." },
  valid_until: Nullable({ ...Timestamp, description: "Until when it held. Null: it holds." }),
  superseded_by: Nullable(Type.String({ description: "The memory that took its place." })),
};
const validFrom = Type.Optional(
  Type.String({ description: "Since when it holds: a date, or a time in UTC unless it has a zone. Default: now." }),
);
const supersede = (usual: string) =>
  Type.Optional(
    Type.Boolean({
      description: `Compare it with the nearest memories: those that it contradicts are superseded, and what is known already is not stored again. Default: ${usual}.`,
    }),
  );
const stored = {
  id: Type.String({ description: "Of a duplicate: the memory that says the same." }),
  superseded: Type.Array(Type.String(), { description: "Memories that no longer hold." }),
  duplicate_of: Nullable(Type.String({ description: "The memory that says the same. Nothing was stored." })),
  judged_by: Type.Array(Type.Enum(["rules", "nli"]), { description: "What compared it with other memories." }),
};
const asOf = Type.Optional(Type.String({ description: "Memories that held at that time: a date or a time." }));
const superseded = "Also those that others superseded.";
const share = (description: string) => Type.Optional(Type.Number({ minimum: 0, maximum: 1, description }));

export const memoryEndpoints = [
  {
    name: "memory.list",
    door: "statements",
    method: "GET",
    path: "/v1/ai/memory",
    summary: "The tenant's memory namespaces.",
    tag: "ai",
    access: "member",
    home: "tenant",
    response: Type.Object({
      namespaces: Type.Array(Type.Object({ namespace: Type.String(), table: Type.String(), count: Type.Integer() })),
    }),
  },
  {
    name: "memory.store",
    door: "statements",
    method: "POST",
    path: "/v1/ai/memory/{namespace}",
    summary: "Store a memory. The first memory creates the namespace and its table _memory_<namespace>.",
    tag: "ai",
    access: "writer",
    home: "tenant",
    params: ofNamespace,
    body: Strict({ content, metadata, valid_from: validFrom, supersede: supersede("false") }),
    example: { params: { namespace: "notes" }, body: { content: "Ann likes boats.", metadata: { from: "chat" } } },
    response: Type.Object(stored),
    status: 201,
  },
  {
    name: "memory.get",
    door: "statements",
    method: "GET",
    path: "/v1/ai/memory/{namespace}",
    summary: "The memories of a namespace that hold, newest first.",
    tag: "ai",
    access: "member",
    home: "tenant",
    params: ofNamespace,
    pages: { items: "memories", total: "total", most: LIST_PAGE_MAX },
    query: Strict({
      ...PageQuery,
      as_of: asOf,
      include_superseded: Type.Optional(Type.Enum(["true", "false"], { description: superseded })),
    }),
    response: Type.Object({ memories: Type.Array(Type.Object(memory)), total: Type.Integer() }),
  },
  {
    name: "memory.drop",
    door: "statements",
    method: "DELETE",
    path: "/v1/ai/memory/{namespace}",
    summary: "Delete a namespace with all its memories.",
    tag: "ai",
    access: "writer",
    home: "tenant",
    params: ofNamespace,
    status: 204,
  },
  {
    name: "memory.recall",
    door: "statements",
    method: "POST",
    path: "/v1/ai/memory/{namespace}/recall",
    summary: "The memories most similar to a query. An unknown namespace has none.",
    tag: "ai",
    access: "member",
    home: "tenant",
    params: ofNamespace,
    body: Strict({
      query: Type.String({ minLength: 1, maxLength: MEMORY_CHARACTERS_MAX }),
      k: Type.Optional(Type.Integer({ minimum: 0, maximum: MEMORY_RECALL_MAX })),
      limit: Type.Optional(Type.Integer({ minimum: 0, maximum: MEMORY_RECALL_MAX })),
      recency: share("The weight of age beside similarity. Default: 0.1. 0 ignores age."),
      words: share("The weight of words that the query and the memory share, beside similarity. Default: 0.2."),
      half_life_days: Type.Optional(Type.Number({ minimum: 0.001, maximum: 36_500 })),
      min_similarity: Type.Optional(Type.Number({ minimum: -1, maximum: 1 })),
      as_of: asOf,
      include_superseded: Type.Optional(Type.Boolean({ description: superseded })),
    }),
    example: { params: { namespace: "notes" }, body: { query: "What does Ann like?", k: 3 } },
    response: Type.Object({
      memories: Type.Array(
        Type.Object({ ...memory, similarity: Type.Number({ description: "Cosine of the embeddings, -1 to 1." }) }),
      ),
    }),
  },
  {
    name: "memory.put",
    door: "statements",
    method: "PUT",
    path: "/v1/ai/memory/{namespace}/{id}",
    summary: "Store a memory under an id. An existing one is superseded and goes on under another id.",
    tag: "ai",
    access: "writer",
    home: "tenant",
    params: ofMemory,
    body: Strict({ content, metadata, valid_from: validFrom }),
    example: { params: { namespace: "notes", id: "ann-likes" }, body: { content: "Ann likes boats and soup." } },
    response: Type.Object({ id: Type.String(), superseded: stored.superseded }),
  },
  {
    name: "memory.history",
    door: "statements",
    method: "GET",
    path: "/v1/ai/memory/{namespace}/{id}/history",
    summary: "A memory with those that it superseded and that superseded it, the oldest first.",
    tag: "ai",
    access: "member",
    home: "tenant",
    params: ofMemory,
    response: Type.Object({ memories: Type.Array(Type.Object(memory)) }),
  },
  {
    name: "memory.extract",
    door: "statements",
    method: "POST",
    path: "/v1/ai/memory/{namespace}/extract",
    summary: "Store what a conversation says of its user, as sentences of the third person.",
    tag: "ai",
    access: "writer",
    home: "tenant",
    params: ofNamespace,
    body: Strict({
      messages: Type.Array(
        Strict({
          role: Type.Enum(["user", "assistant", "system", "tool"], {
            description: "Rules read only what the user says.",
          }),
          content: Type.String({ maxLength: MEMORY_MESSAGE_CHARACTERS_MAX }),
          at: Type.Optional(Type.String({ description: "When it was said. The facts hold from then on." })),
        }),
        { minItems: 1, maxItems: MEMORY_MESSAGES_MAX },
      ),
      method: Type.Optional(
        Type.Enum(["auto", "rules", "provider"], {
          description: "auto: the configured AI provider if there is one, otherwise rules.",
        }),
      ),
      supersede: supersede("true"),
      dry_run: Type.Optional(Type.Boolean({ description: "Only show the facts." })),
      timeout_secs: limits.timeout_secs,
    }),
    example: {
      params: { namespace: "notes" },
      body: {
        messages: [{ role: "user", content: "My name is Ann and I live in Rome.", at: "2026-11-20T10:00:00Z" }],
        method: "rules",
      },
    },
    response: Type.Object({
      facts: Type.Array(
        Type.Object({
          content: Type.String(),
          message: Type.Integer({ description: "The place of the message, from 0." }),
          evidence: Type.String({ description: "The words that say it." }),
          valid_from: Nullable(Timestamp),
          id: Type.Optional(stored.id),
          superseded: Type.Optional(stored.superseded),
          duplicate_of: Type.Optional(stored.duplicate_of),
          judged_by: Type.Optional(stored.judged_by),
        }),
      ),
      extractor: Type.Enum(["rules", "provider"]),
      stored: Type.Boolean(),
      provider: Type.Optional(Type.String()),
      model: Type.Optional(Type.String()),
      usage: Type.Optional(
        Type.Object({
          input_tokens: Type.Integer(),
          output_tokens: Type.Integer(),
          total_tokens: Type.Integer(),
        }),
      ),
      warnings: Type.Optional(Type.Array(Type.String())),
    }),
  },
  {
    name: "memory.forget",
    door: "statements",
    method: "DELETE",
    path: "/v1/ai/memory/{namespace}/{id}",
    summary: "Forget one memory with its history.",
    tag: "ai",
    access: "writer",
    home: "tenant",
    params: ofMemory,
    status: 204,
  },
] as const satisfies readonly EndpointSpec[];
