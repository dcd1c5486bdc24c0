/** /v1/ai/models/…: the library of models, for administrators of the installation. */

import type { Handlers } from "../../actor/handler.js";
import { packedMessage } from "../../actor/reply.js";
import type { Request } from "../../actor/request.js";
import { isLibraryAdmin, requireLibraryAdmin } from "../../ai/library/library-admin.js";
import type { LibraryClient } from "../../ai/library/library-client.js";
import type { ModelFacts } from "../../ai/models.js";
import type { Input } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { PullFacts } from "../../protocol/model-library.js";
import type { SharedView } from "../../protocol/shared-models.js";
import { type Answer, STREAMED } from "../../session/answer.js";

export const modelHandlers = {
  "ai.models.list": async (request) => {
    const library = libraryOf(request);
    const { sources, freeBytes, available, shared } = await library.facts();
    const models = request.partition.models.list().map(modelOf);
    const wanted = shared === undefined ? {} : { wanted: wantedOf(shared) };
    return { plain: { models, count: models.length, sources, free_bytes: freeBytes, available, ...wanted } };
  },
  "ai.models.get": (request, { params }) => {
    libraryOf(request);
    return { plain: modelOf(request.partition.models.factsOf(params.name!)) };
  },
  "ai.models.pull": async (request, { body }) => {
    const library = libraryOf(request);
    const model = modelNameOf(body);
    if (body.wait !== true) return { plain: pullOf(await library.startPull(model)) };
    return { plain: pullOf(await library.pull(model, { signal: request.signal() })), status: 200 };
  },
  "ai.models.pulls.list": async (request) => {
    const pulls = (await libraryOf(request).pulls()).map(pullOf);
    return { plain: { pulls, total: pulls.length } };
  },
  "ai.models.pulls.get": async (request, { params }) => ({
    plain: pullOf(await libraryOf(request).findPull(params.id!)),
  }),
  "ai.models.pulls.cancel": async (request, { params }) => ({
    plain: pullOf(await libraryOf(request).cancelPull(params.id!)),
  }),
  "ai.models.delete": async (request, { params }) => {
    await libraryOf(request).delete(params.name!);
    return { plain: null };
  },
  "socket.models.pull": pullWithProgress,
} satisfies Handlers;

/** The message `model.pull`: how the pull gets on, as messages. The client's `cancel` ends these, not the pull. */
async function pullWithProgress(request: Request, { body }: Input): Promise<Answer> {
  const library = libraryOf(request);
  const model = modelNameOf(body);
  const [id] = request.head.params;
  const sink = await request.openReply("application/json", []);
  const written = (json: string) => (request.wantsMsgpack ? packedMessage(json) : Buffer.from(json));
  sink.errorText = written;
  const send = (type: string, facts: PullFacts) =>
    sink.write(written(`{"type":"${type}","id":${id},${JSON.stringify(pullMessageOf(facts)).slice(1)}`));
  let blocked = false;
  const report = (facts: PullFacts): void => {
    // A client that does not read misses reports; later ones follow.
    if (blocked) return;
    const room = send("model.progress", facts);
    if (room === undefined) return;
    blocked = true;
    const free = (): void => {
      blocked = false;
    };
    room.then(free, free);
  };
  const ended = await library.pull(model, { signal: request.signal(), report });
  await send("model.complete", ended);
  sink.end();
  return STREAMED;
}

function libraryOf(request: Request): LibraryClient {
  requireLibraryAdmin(isLibraryAdmin(request.head) && !request.readOnly);
  const { library } = request.partition.models;
  if (library === null) throw new DbError("not_supported", "Models cannot be pulled or deleted here.");
  return library;
}

function modelNameOf({ model, name }: { readonly model?: string; readonly name?: string }): string {
  const given = model ?? name;
  if (given !== undefined && (model === undefined || name === undefined || model === name)) return given;
  throw new DbError("invalid_request", 'Send the field "model" as name or name:tag.', { field: "model" });
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function modelOf(model: ModelFacts): ResponseOf<"ai.models.get"> {
  const { name, alias, kind, runtime, bytes, digest, pulled, lastUsedMs, dimensions, tokensMax } = model;
  const { revision, licence, state, problem, restartRequired } = model;
  return {
    name,
    alias,
    kind,
    architecture: runtime,
    size_bytes: bytes,
    digest,
    pulled_at: timeOf(pulled?.atMs ?? null),
    last_used_at: timeOf(lastUsedMs),
    dimensions,
    max_length: tokensMax,
    revision,
    licence,
    state,
    problem,
    tag: pulled?.tag ?? null,
    source: pulled?.source ?? null,
    restart_required: restartRequired,
  };
}

function wantedOf({ wishes, nodes }: SharedView): NonNullable<ResponseOf<"ai.models.list">["wanted"]> {
  return byName(wishes)
    .flatMap(([name, wish]) => (wish.state === "wanted" ? [{ name, ...wish }] : []))
    .map(({ name, model, digest, sinceMs }) => ({
      ...{ name, model, digest, since: new Date(sinceMs).toISOString() },
      nodes: byName(nodes).map(([node, told]) => ({
        ...{ node, installed: told.has[name] === digest, problem: told.problems[name] ?? null },
      })),
    }));
}

function byName<T>(entries: ReadonlyMap<string, T>): [string, T][] {
  return [...entries].sort(([one], [other]) => (one < other ? -1 : 1));
}

type Pull = ResponseOf<"ai.models.pulls.get">;

function pullOf({ id, ...facts }: PullFacts): Pull {
  return { id, ...pullMessageOf({ id, ...facts }) };
}

/** Without `id`, which in a message is the client's own. */
function pullMessageOf(facts: PullFacts): Omit<Pull, "id"> {
  const { id, model, name, status, phase, bytesDone, bytesTotal, source, passedOver } = facts;
  const { error, restartRequired, startedMs, endedMs } = facts;
  return {
    job_id: id,
    model,
    name,
    status,
    phase,
    progress: progressOf(facts),
    bytes_done: bytesDone,
    bytes_total: bytesTotal,
    source,
    passed_over: passedOver,
    error: error === null ? null : { code: error.code, message: error.message },
    restart_required: restartRequired,
    started_at: new Date(startedMs).toISOString(),
    completed_at: timeOf(endedMs),
  };
}

function progressOf({ status, bytesDone, bytesTotal }: PullFacts): number {
  if (status === "completed") return 1;
  // It is there only once it is installed.
  return bytesTotal === null || bytesTotal === 0
    ? 0
    : Math.floor(Math.min(0.999, bytesDone / bytesTotal) * 1000) / 1000;
}
