/** Memories of agents, by namespace: the routes beside MEMORY_STORE, MEMORY_RECALL and MEMORY_FORGET of SQL. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { LIST_PAGE_MAX, MEMORY_CHARACTERS_MAX, MEMORY_ID_CHARACTERS_MAX, MEMORY_RECALL_MAX } from "../limits.js";
import { Nullable, PageQuery, Strict, Timestamp } from "./schemas.js";

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
};
const share = (description: string) => Type.Optional(Type.Number({ minimum: 0, maximum: 1, description }));

export const memoryEndpoints = [
  {
    name: "memory.list",
    door: "whole",
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
    door: "whole",
    method: "POST",
    path: "/v1/ai/memory/{namespace}",
    summary: "Store a memory. The first memory creates the namespace and its table _memory_<namespace>.",
    tag: "ai",
    access: "writer",
    home: "tenant",
    params: ofNamespace,
    body: Strict({ content, metadata }),
    example: { params: { namespace: "notes" }, body: { content: "Ann likes boats.", metadata: { from: "chat" } } },
    response: Type.Object({ id: Type.String() }),
    status: 201,
  },
  {
    name: "memory.get",
    door: "whole",
    method: "GET",
    path: "/v1/ai/memory/{namespace}",
    summary: "The memories of a namespace, newest first.",
    tag: "ai",
    access: "member",
    home: "tenant",
    params: ofNamespace,
    pages: { items: "memories", total: "total", most: LIST_PAGE_MAX },
    query: Strict({ ...PageQuery }),
    response: Type.Object({ memories: Type.Array(Type.Object(memory)), total: Type.Integer() }),
  },
  {
    name: "memory.drop",
    door: "whole",
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
    door: "whole",
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
      half_life_days: Type.Optional(Type.Number({ minimum: 0.001, maximum: 36_500 })),
      min_similarity: Type.Optional(Type.Number({ minimum: -1, maximum: 1 })),
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
    door: "whole",
    method: "PUT",
    path: "/v1/ai/memory/{namespace}/{id}",
    summary: "Store a memory under an id. It replaces an existing one.",
    tag: "ai",
    access: "writer",
    home: "tenant",
    params: ofMemory,
    body: Strict({ content, metadata }),
    example: { params: { namespace: "notes", id: "ann-likes" }, body: { content: "Ann likes boats and soup." } },
    response: Type.Object({ id: Type.String() }),
  },
  {
    name: "memory.forget",
    door: "whole",
    method: "DELETE",
    path: "/v1/ai/memory/{namespace}/{id}",
    summary: "Forget one memory.",
    tag: "ai",
    access: "writer",
    home: "tenant",
    params: ofMemory,
    status: 204,
  },
] as const satisfies readonly EndpointSpec[];
