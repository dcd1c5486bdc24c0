/** /v1/automl/…: trainings, data sets, models and predictions; and `automl.follow` on the WebSocket. */

import type { Handlers } from "../../actor/handler.js";
import { messageErrorJson, packedMessage } from "../../actor/reply.js";
import type { Request } from "../../actor/request.js";
import { usualPageOf } from "../../bodies/paging.js";
import type { Input, InputOf } from "../../bodies/validate.js";
import { TRAIN_OPTIONS } from "../../protocol/endpoints/automl.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { sentName } from "../../protocol/sent-name.js";
import { type Answer, STREAMED } from "../../session/answer.js";
import { isAdministrator } from "../../session/owner.js";
import { CHANGE_FORMS } from "../feed/change-form.js";
import { JOBS } from "../jobs/jobs.js";
import { ownTogether } from "../statements/run-together.js";
import { createDataset, datasetView, deleteDataset, findDataset, listDatasets } from "./dataset-store.js";
import { topicOf } from "./end-training.js";
import { findJob, followedView, isOver, jobView, listJobs } from "./job-store.js";
import { forgetName, requireToTrain } from "./model-rights.js";
import { deleteModels, findModel, listModels, modelView, noModel } from "./model-store.js";
import { evaluateRows, forecast, type PredictedRow, predictRows } from "./predict.js";
import { readRows } from "./read-rows.js";
import { startTraining, stopTraining, waitForTraining } from "./start-training.js";
import { checkNamed, sourceOf, specOf } from "./train-spec.js";
import { checkCallback, webhookSecret } from "./webhook.js";

export const automlHandlers = {
  "automl.train": train,
  "automl.jobs": async (request, { query }) => {
    const { limit, offset } = usualPageOf(query);
    const where = query.status === undefined ? "true" : `status = '${query.status}'`;
    const userId = isAdministrator(request) ? null : request.head.userId;
    const jobs = await listJobs(request, where, limit, offset, userId);
    return { plain: { jobs: jobs.map(jobView), count: jobs.length } };
  },
  "automl.job": async (request, { params }) => ({ plain: jobView(await findJob(request, params.id!)) }),
  "automl.stop": async (request, { params }) => {
    await findJob(request, params.id!);
    await stopTraining(request, params.id!);
    return { plain: jobView(await findJob(request, params.id!)) };
  },
  "automl.datasets.create": async (request, { body }) => {
    if (body.source !== undefined) await checkNamed(request, body.source);
    let answer: Answer<ResponseOf<"automl.datasets.create">> = {};
    await createDataset(request, body, (tx, dataset) => {
      answer = { plain: datasetView(dataset) };
      request.commit(tx, answer);
    });
    return answer;
  },
  "automl.datasets": async (request, { query }) => {
    const { datasets, count } = await listDatasets(request, usualPageOf(query));
    return { plain: { datasets: datasets.map(datasetView), count } };
  },
  "automl.dataset": async (request, { params }) => ({ plain: datasetView(await findDataset(request, params.id!)) }),
  "automl.dataset.delete": async (request, { params }) => {
    await deleteDataset(request, params.id!, (tx) => request.commit(tx, {}));
    return {};
  },
  "automl.models": async (request, { query }) => {
    const { limit, offset } = usualPageOf(query);
    const models = await listModels(request, {
      task: query.task ?? null,
      limit,
      offset,
    });
    return { plain: models.map((model) => modelView(model, false)) };
  },
  "automl.model": async (request, { params }) => ({ plain: modelView(await findModel(request, params.id!), true) }),
  "automl.model.delete": deleteModel,
  "automl.predict": predict,
  "automl.evaluate": evaluate,
  "automl.webhook_secret": (request) => ({
    plain: { secret: webhookSecret(request), header: "X-Tessera-Signature" },
  }),
  "socket.automl.follow": follow,
} satisfies Handlers;

async function train(request: Request, { body }: InputOf<"automl.train">): Promise<Answer<ResponseOf<"automl.train">>> {
  const { async_mode: isAsync = true, callback_url, webhook_url, name, model_name, config = {}, ...beside } = body;
  const rest = { ...optionsIn(request, config), ...beside };
  if (callback_url !== undefined && webhook_url !== undefined && callback_url !== webhook_url) {
    throw new DbError("invalid_request", 'Send "callback_url" or "webhook_url", not both.', { field: "webhook_url" });
  }
  const callbackUrl = callback_url ?? webhook_url;
  if (callbackUrl !== undefined) {
    checkCallback(callbackUrl, request.partition.config, sentName(body, ["callback_url", "webhook_url"]));
  }
  const spec = await specOf(request, rest);
  const order = {
    spec,
    name: name ?? model_name ?? `${spec.target ?? "clusters"}_model`.replace(/[^A-Za-z0-9_.-]/g, "_").slice(0, 100),
    ...(callbackUrl !== undefined && { callbackUrl }),
  };
  let answer: Answer<ResponseOf<"automl.train">> = {};
  const job = await startTraining(request, order, (tx, made) => {
    if (!isAsync) return request.commitPart(tx);
    answer = { plain: jobView(made) };
    request.commit(tx, answer);
  });
  if (isAsync) return answer;
  const { modelId } = await waitForTraining(request, job.id);
  return { status: 200, plain: modelView(await findModel(request, modelId!), true) };
}

/** The options of `config` that there are; the others are noted. */
function optionsIn(request: Request, config: object): object {
  const others = Object.keys(config).filter((name) => !TRAIN_OPTIONS.has(name));
  const known = [...TRAIN_OPTIONS].join(", ");
  const notes = others.map((name) => `The field "config.${name}" is not used. Known: ${known}.`);
  request.warnings = [...request.warnings, ...notes];
  return Object.fromEntries(Object.entries(config).filter(([name]) => TRAIN_OPTIONS.has(name)));
}

async function deleteModel(request: Request, { params }: Input): Promise<Answer> {
  const { name } = await findModel(request, params.id!);
  requireToTrain(request, name);
  await ownTogether(
    request,
    request,
    async (run) => {
      const { count, isLast } = await deleteModels(run, { id: params.id!, name });
      if (count === 0) throw noModel(params.id!);
      return isLast;
    },
    (tx, isLast) => {
      if (isLast) forgetName(request, tx, name);
      request.commit(tx, {});
    },
  );
  return {};
}

/** Both spellings; one row may stand alone. Null: none was sent. */
function rowsIn(body: Input["body"]): readonly PredictedRow[] | null {
  const sent = ["rows", "inputs", "features"].filter((field) => body[field] !== undefined);
  if (sent.length > 1) {
    throw new DbError("invalid_request", `Send "${sent[0]}" or "${sent[1]}", not both.`, { field: sent[1]! });
  }
  if (sent.length === 0) return null;
  const rows = body[sent[0]!];
  return Array.isArray(rows) ? rows : [rows];
}

async function predict(
  request: Request,
  { params, body }: InputOf<"automl.predict">,
): Promise<Answer<ResponseOf<"automl.predict">>> {
  const model = await findModel(request, params.id!);
  const about = { model_id: model.id, model: model.name, version: model.version, task: model.task };
  if (model.task === "forecasting") {
    if (rowsIn(body) !== null) {
      const why = `The model "${model.name}" forecasts a series. Send "steps", the number of steps to look ahead, instead of rows.`;
      throw new DbError("invalid_request", why, { field: sentName(body, ["rows", "inputs", "features"]) });
    }
    return { plain: { ...(await forecast(request, model, body.steps)), ...about } };
  }
  const rows = rowsIn(body);
  if (rows === null) {
    throw new DbError("invalid_request", "rows: a list of objects by feature is missing", { field: "rows" });
  }
  const { predictions, probabilities, explanations, explanationMethod } = await predictRows(
    request,
    model,
    rows,
    body.explain === true,
  );
  return {
    plain: {
      predictions,
      ...(body.probabilities === true && probabilities !== null && { probabilities }),
      ...(explanations !== null && { explanations, explanation_method: explanationMethod }),
      ...about,
    },
  };
}

async function evaluate(
  request: Request,
  { params, body }: InputOf<"automl.evaluate">,
): Promise<Answer<ResponseOf<"automl.evaluate">>> {
  const model = await findModel(request, params.id!);
  const { rows: given, ...source } = body;
  if (given !== undefined && Object.keys(source).length > 0) {
    throw new DbError("invalid_request", `Send one of "rows" and "${Object.keys(source)[0]}".`, { field: "rows" });
  }
  const rows = given ?? (await readRows(request, await sourceOf(request, source)));
  return { plain: { metrics: await evaluateRows(request, model, rows), rows: rows.length, model_id: model.id } };
}

async function follow(request: Request, { body }: Input): Promise<Answer> {
  const id = request.head.params[0]!;
  const { wantsMsgpack, requestId } = request;
  const text = (json: string): Uint8Array => (wantsMsgpack ? packedMessage(json) : Buffer.from(json));
  await findJob(request, body.job_id);
  const way = {
    form: CHANGE_FORMS[wantsMsgpack ? "msgpack" : "json"],
    id,
    errorMessage: (error: DbError) => text(messageErrorJson(error, id, requestId)),
    errorText: text,
  } as const;
  const read = async () => {
    const job = await findJob(request, body.job_id);
    return {
      message: { type: isOver(job) ? "automl.finished" : "automl.progress", ...followedView(job) },
      isOver: isOver(job),
    };
  };
  await request.partition.part(JOBS).progress.follow(request, topicOf(body.job_id), way, read);
  return STREAMED;
}
