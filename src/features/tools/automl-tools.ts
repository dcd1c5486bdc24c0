/** Tools that train models and use them. */

import Type from "typebox";
import { trainFields } from "../../protocol/endpoints/automl.js";
import { Strict } from "../../protocol/endpoints/schemas.js";
import { DbError } from "../../protocol/errors.js";
import { AUTOML_PREDICT_ROWS_MAX, LIST_PAGE_MAX } from "../../protocol/limits.js";
import { topicOf } from "../automl/end-training.js";
import { findModel, listModels, modelView } from "../automl/model-store.js";
import { forecast, predictRows } from "../automl/predict.js";
import { plannedTraining, startTraining, waitForTraining } from "../automl/start-training.js";
import { specOf } from "../automl/train-spec.js";
import { JOBS } from "../jobs/jobs.js";
import { READS, type Tool } from "./tool.js";

const { collection, target, task_type, max_trials, algorithms, metric, features, time_column, seed, query } =
  trainFields;

const trainModel: Tool = {
  name: "train_model",
  door: "statements",
  title: "Train a model",
  description:
    "Trains a model on a collection, table or query, and waits for it. Reports progress. The result has best_score, algorithm and training_time_ms.",
  input: Strict({
    ...{ collection, query, task_type, max_trials, algorithms, metric, features, time_column, seed },
    target: target,
    model_name: trainFields.model_name,
    dry_run: Type.Optional(
      Type.Boolean({ description: "Nothing is trained; the answer says with which rows and columns it would be." }),
    ),
  }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  forReaders: false,
  call: async ({ request, readOnly, progress }, { model_name, dry_run, ...body }) => {
    if (readOnly) throw new DbError("forbidden", "Training is not allowed here: this connection is read-only.");
    const spec = await specOf(request, body);
    const name = model_name ?? `${spec.target ?? "clusters"}_model`.replace(/[^A-Za-z0-9_.-]/g, "_").slice(0, 100);
    if (dry_run === true) {
      return JSON.stringify({ dry_run, plan: await plannedTraining(request, { spec, name }) });
    }
    request.hasActed = true;
    const job = await startTraining(request, { spec, name });
    const { partition, tenant } = request;
    const unlisten = partition.part(JOBS).progress.listen(tenant.number, topicOf(job.id), (message) => {
      progress(Number(message.current_trial), Number(message.total_trials), String(message.phase ?? message.status));
    });
    try {
      const { modelId } = await waitForTraining(request, job.id);
      return JSON.stringify(modelView(await findModel(request, modelId!), false));
    } finally {
      unlisten();
    }
  },
};

const predictTool: Tool = {
  name: "predict",
  door: "parts",
  title: "Predict with a model",
  description: "Predicts rows with a trained model. For classes, it adds calibrated probabilities.",
  input: Strict({
    model_name: Type.String({ minLength: 1, maxLength: 200 }),
    inputs: Type.Optional(
      Type.Array(Type.Record(Type.String(), Type.Unknown()), { maxItems: AUTOML_PREDICT_ROWS_MAX }),
    ),
    explain: Type.Optional(Type.Boolean()),
  }),
  ...READS,
  call: async ({ request }, { model_name, inputs, explain }) => {
    const model = await findModel(request, model_name);
    const about = { model_id: model.id, model: model.name, task: model.task };
    if (model.task === "forecasting") {
      return JSON.stringify({ ...(await forecast(request, model, undefined)), ...about });
    }
    if (inputs === undefined) throw new DbError("invalid_request", "inputs: a list of objects by feature is missing");
    const { predictions, probabilities, explanations } = await predictRows(request, model, inputs, explain === true);
    return JSON.stringify({
      predictions,
      ...(probabilities !== null && { probabilities }),
      ...(explanations !== null && { explanations }),
      ...about,
    });
  },
};

const listModelsTool: Tool = {
  name: "list_models",
  door: "parts",
  title: "List trained models",
  description: "Lists the models that this tenant has trained, newest first. task_type limits the list to one task.",
  input: Strict({ task_type: Type.Optional(Type.String({ maxLength: 40 })) }),
  ...READS,
  call: async ({ request }, { task_type }) => {
    const models = await listModels(request, { task: task_type ?? null, limit: LIST_PAGE_MAX, offset: 0 });
    return JSON.stringify({ models: models.map((model) => modelView(model, false)), count: models.length });
  },
};

const describeModel: Tool = {
  name: "describe_model",
  door: "parts",
  title: "Describe a model",
  description: "Describes a trained model: its algorithm, metrics, features with their importance, and its card.",
  input: Strict({ model_name: Type.String({ minLength: 1, maxLength: 200 }) }),
  ...READS,
  call: async ({ request }, { model_name }) => JSON.stringify(modelView(await findModel(request, model_name), true)),
};

export const AUTOML_TOOLS: readonly Tool[] = [trainModel, predictTool, listModelsTool, describeModel];
