/**
 * The library of models: what is installed, pulls, deletions. All tenants share it, so only the installation's
 * administrators may use it.
 */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { Nullable, Strict, Timestamp } from "./schemas.js";

const Name = Type.String({
  minLength: 1,
  maxLength: 201,
  description: 'name or name:tag; the tag is "latest" unless said.',
});

/** Both spellings are in use. */
export const pulledModel = { model: Type.Optional(Name), name: Type.Optional(Name) };

const Model = Type.Object({
  name: Type.String(),
  alias: Nullable(Type.String()),
  kind: Nullable(Type.String({ description: "embedding, nli or generation; null when its manifest cannot be read." })),
  architecture: Nullable(Type.String({ description: "What runs it: static or onnx." })),
  size_bytes: Type.Integer(),
  digest: Type.String({ description: "SHA-256 of its manifest, which has those of its files." }),
  pulled_at: Nullable(Timestamp),
  last_used_at: Nullable(Timestamp),
  dimensions: Nullable(Type.Integer()),
  max_length: Nullable(Type.Integer()),
  revision: Nullable(Type.String()),
  licence: Nullable(Type.String()),
  state: Type.Enum(["installed", "ready", "failed"]),
  problem: Nullable(Type.String({ description: "Why it failed." })),
  tag: Nullable(Type.String()),
  source: Nullable(Type.String({ description: "Where it was pulled from; null: it was not pulled." })),
  restart_required: Type.Boolean({ description: "It serves once the server has been started again." }),
});

const Pull = Type.Object({
  id: Type.String(),
  job_id: Type.String({ description: "The same." }),
  model: Type.String({ description: "name:tag" }),
  name: Nullable(Type.String({ description: "Of the model that is installed." })),
  status: Type.Enum(["pending", "running", "completed", "failed", "cancelled"]),
  phase: Type.Enum(["waiting", "resolving", "downloading", "installing", "done"]),
  progress: Type.Number({ description: "0 to 1." }),
  bytes_done: Type.Integer(),
  bytes_total: Nullable(Type.Integer()),
  source: Nullable(Type.String()),
  passed_over: Type.Array(Type.Object({ source: Type.String(), message: Type.String() }), {
    description: "Sources that did not answer as they should.",
  }),
  error: Nullable(Type.Object({ code: Type.String(), message: Type.String() })),
  restart_required: Type.Boolean(),
  started_at: Timestamp,
  completed_at: Nullable(Timestamp),
});

const Available = Type.Object({
  name: Type.String(),
  alias: Nullable(Type.String()),
  kind: Type.String(),
  licence: Type.String(),
  tags: Type.Array(Type.String()),
});

const nameParam = Type.Object({ name: Name });
const pullParam = Type.Object({ id: Type.String() });

export const modelEndpoints = [
  {
    name: "ai.models.list",
    method: "GET",
    path: "/v1/ai/models",
    summary: "The models that are installed, where others come from, and which of them are known.",
    tag: "ai",
    access: "system",
    home: "tenant",
    response: Type.Object({
      models: Type.Array(Model),
      count: Type.Integer(),
      sources: Type.Array(Type.String()),
      free_bytes: Type.Integer({ description: "Of the disk that models are pulled to." }),
      available: Type.Array(Available, { description: "What a hub among the sources can give." }),
    }),
  },
  {
    name: "ai.models.pull",
    method: "POST",
    path: "/v1/ai/models/pull",
    summary:
      "Pull a model from the first source that has it. 202 with the pull as it begins, or, with wait, 200 when the model is installed. Whoever asks for a model that is being pulled joins that pull; the pull goes on when the client has gone.",
    tag: "ai",
    access: "system",
    home: "tenant",
    failures: [422, 502],
    body: Strict({ ...pulledModel, wait: Type.Optional(Type.Boolean()) }),
    example: { body: { model: "all-minilm-l6-v2", wait: false } },
    response: Pull,
    status: 202,
    slow: true,
  },
  {
    name: "ai.models.pulls.list",
    method: "GET",
    path: "/v1/ai/models/pulls",
    summary: "Pulls that are under way and those that ended lately, newest first.",
    tag: "ai",
    access: "system",
    home: "tenant",
    response: Type.Object({ pulls: Type.Array(Pull), total: Type.Integer() }),
  },
  {
    name: "ai.models.pulls.get",
    method: "GET",
    path: "/v1/ai/models/pulls/{id}",
    summary: "How a pull is getting on, or how it ended.",
    tag: "ai",
    access: "system",
    home: "tenant",
    params: pullParam,
    response: Pull,
  },
  {
    name: "ai.models.pulls.cancel",
    method: "DELETE",
    path: "/v1/ai/models/pulls/{id}",
    summary: "Cancel a pull; what it has loaded is removed. One that has ended stays as it is.",
    tag: "ai",
    access: "system",
    home: "tenant",
    params: pullParam,
    response: Pull,
  },
  {
    name: "ai.models.get",
    method: "GET",
    path: "/v1/ai/models/{name}",
    summary: "One installed model, by name, alias or name:tag.",
    tag: "ai",
    access: "system",
    home: "tenant",
    params: nameParam,
    response: Model,
  },
  {
    name: "ai.models.delete",
    method: "DELETE",
    path: "/v1/ai/models/{name}",
    summary:
      "Delete an installed model, once the requests that use it have ended. Models that come with the program cannot be deleted, nor can the one that ai.embedding_model names.",
    tag: "ai",
    access: "system",
    home: "tenant",
    params: nameParam,
    status: 204,
  },
] as const satisfies readonly EndpointSpec[];
