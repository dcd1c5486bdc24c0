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
  description: 'name or name:tag. Default tag: "latest".',
});

/** Both spellings are in use. */
export const pulledModel = { model: Type.Optional(Name), name: Type.Optional(Name) };

const Model = Type.Object({
  name: Type.String(),
  alias: Nullable(Type.String()),
  kind: Nullable(Type.String({ description: "embedding, nli or generation; null when its manifest cannot be read." })),
  architecture: Nullable(Type.String({ description: "The architecture: static or onnx." })),
  size_bytes: Type.Integer(),
  digest: Type.String({ description: "SHA-256 of its manifest, which has the hashes of its files." }),
  pulled_at: Nullable(Timestamp),
  last_used_at: Nullable(Timestamp),
  dimensions: Nullable(Type.Integer()),
  max_length: Nullable(Type.Integer()),
  revision: Nullable(Type.String()),
  licence: Nullable(Type.String()),
  state: Type.Enum(["installed", "ready", "failed"]),
  problem: Nullable(Type.String({ description: "Why it failed." })),
  tag: Nullable(Type.String()),
  source: Nullable(Type.String({ description: "Where it was pulled from. null: it was not pulled." })),
  restart_required: Type.Boolean({ description: "True: it is available after a restart of the server." }),
});

const Pull = Type.Object({
  id: Type.String(),
  job_id: Type.String({ description: "The same." }),
  model: Type.String({ description: "name:tag" }),
  name: Nullable(Type.String({ description: "Id of the installed model." })),
  status: Type.Enum(["pending", "running", "completed", "failed", "cancelled"]),
  phase: Type.Enum(["waiting", "resolving", "downloading", "installing", "done"]),
  progress: Type.Number({ description: "0 to 1." }),
  bytes_done: Type.Integer(),
  bytes_total: Nullable(Type.Integer()),
  source: Nullable(Type.String()),
  passed_over: Type.Array(Type.Object({ source: Type.String(), message: Type.String() }), {
    description: "Sources that failed.",
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

const Wanted = Type.Object({
  name: Type.String(),
  model: Type.String({ description: "As it was pulled: name:tag." }),
  digest: Type.String({ description: "SHA-256 of the manifest of the bundle that all nodes shall have." }),
  since: Timestamp,
  nodes: Type.Array(
    Type.Object({
      node: Type.String(),
      installed: Type.Boolean({ description: "The node has this bundle." }),
      problem: Nullable(Type.String({ description: "Why it does not. null: it has it, or has not tried yet." })),
    }),
  ),
});

const nameParam = Type.Object({ name: Name });
const pullParam = Type.Object({ id: Type.String() });

export const modelEndpoints = [
  {
    name: "ai.models.list",
    door: "none",
    method: "GET",
    path: "/v1/ai/models",
    summary: "The installed models, the sources of others, and which of those are known.",
    tag: "ai",
    access: "system",
    home: "tenant",
    response: Type.Object({
      models: Type.Array(Model),
      count: Type.Integer(),
      sources: Type.Array(Type.String()),
      free_bytes: Type.Integer({ description: "Of the disk that models are stored on." }),
      available: Type.Array(Available, { description: "Models that the configured hubs offer." }),
      wanted: Type.Optional(
        Type.Array(Wanted, {
          description: "In a cluster: the models that all nodes shall have, and which of them do.",
        }),
      ),
    }),
  },
  {
    name: "ai.models.pull",
    door: "none",
    method: "POST",
    path: "/v1/ai/models/pull",
    summary:
      "Pull a model from the first source that has it. Answers 202 when the pull begins, or with wait 200 when the model is installed; in a cluster, on the node that answers, while the others follow. A second request for the same model joins the running pull. The pull continues if the client disconnects.",
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
    door: "none",
    method: "GET",
    path: "/v1/ai/models/pulls",
    summary: "Running and recent pulls, newest first.",
    tag: "ai",
    access: "system",
    home: "tenant",
    response: Type.Object({ pulls: Type.Array(Pull), total: Type.Integer() }),
  },
  {
    name: "ai.models.pulls.get",
    door: "none",
    method: "GET",
    path: "/v1/ai/models/pulls/{id}",
    summary: "The progress or outcome of a pull.",
    tag: "ai",
    access: "system",
    home: "tenant",
    params: pullParam,
    response: Pull,
  },
  {
    name: "ai.models.pulls.cancel",
    door: "none",
    method: "DELETE",
    path: "/v1/ai/models/pulls/{id}",
    summary: "Cancel a pull and remove what it has downloaded. A finished pull does not change.",
    tag: "ai",
    access: "system",
    home: "tenant",
    params: pullParam,
    response: Pull,
  },
  {
    name: "ai.models.get",
    door: "none",
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
    door: "none",
    method: "DELETE",
    path: "/v1/ai/models/{name}",
    summary:
      "Delete an installed model after the requests that use it have ended, in a cluster from all nodes. Models that come with the program and the model in ai.embedding_model cannot be deleted.",
    tag: "ai",
    access: "system",
    home: "tenant",
    params: nameParam,
    status: 204,
  },
] as const satisfies readonly EndpointSpec[];
