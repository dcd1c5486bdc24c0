/** AutoML: training models on a tenant's data, and predicting with them. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import {
  AUTOML_EVALUATE_ROWS_MAX,
  AUTOML_FORECAST_STEPS_MAX,
  AUTOML_PREDICT_ROWS_MAX,
  AUTOML_TRIALS_MAX,
  LIST_PAGE_MAX,
} from "../limits.js";
import { bound, MessageId, Nullable, PageQuery, Strict, Timestamp, Unused } from "./schemas.js";

const InAll = Type.Integer({ description: "Of all pages." });
const Name = Type.String({ pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$" });
const column = Type.String({ minLength: 1, maxLength: 255 });
const Row = Type.Record(Type.String(), Type.Unknown());
const ofId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 200 }) });

/** Where rows come from: one of these. */
export const rowSource = {
  dataset_id: Type.Optional(Type.String({ maxLength: 200, description: "The data set's id or name." })),
  dataset: Type.Optional(Type.String({ maxLength: 200 })),
  collection: Type.Optional(Type.String({ maxLength: 200, description: "A collection or table." })),
  table: Type.Optional(Type.String({ maxLength: 200 })),
  query: Type.Optional(Type.String({ minLength: 1, description: "A SELECT." })),
  sql: Type.Optional(Type.String({ minLength: 1 })),
  ...bound,
};

/** What is to be learnt, and how. */
export const experimentFields = {
  task: Type.Optional(
    Type.String({
      description:
        "auto (the default), classification, binary_classification, multiclass_classification, regression, forecasting or clustering.",
    }),
  ),
  task_type: Type.Optional(Type.String()),
  target: Type.Optional(column),
  target_column: Type.Optional(column),
  features: Type.Optional(Type.Array(column, { minItems: 1, maxItems: 2000 })),
  time_column: Type.Optional(column),
  max_trials: Type.Optional(Type.Integer({ minimum: 1, maximum: AUTOML_TRIALS_MAX })),
  time_budget_secs: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 86_400 })),
  time_budget_seconds: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 86_400, description: "Another name for `time_budget_secs`." }),
  ),
  algorithms: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 10,
      description:
        "random_forest, xgboost, neural_network, linear; logistic_regression, gradient_boosting and other names for these.",
    }),
  ),
  metric: Type.Optional(Type.String()),
  optimization_metric: Type.Optional(Type.String()),
  seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 4_294_967_295 })),
  folds: Type.Optional(Type.Integer({ minimum: 2, maximum: 10 })),
  horizon: Type.Optional(Type.Integer({ minimum: 1, maximum: AUTOML_FORECAST_STEPS_MAX })),
  clusters: Type.Optional(Type.Integer({ minimum: 2, maximum: 50 })),
};

const trainOptions = {
  ...experimentFields,
  timeout_minutes: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 1440, description: "Like time_budget_secs, in minutes." }),
  ),
  validation_split: Unused("models are compared by cross-validation with `folds` parts."),
};

export const trainFields = {
  ...rowSource,
  ...trainOptions,
  name: Type.Optional(Name),
  model_name: Type.Optional(Name),
  config: Type.Optional(
    Type.Object(trainOptions, {
      additionalProperties: true,
      description: "The same options as beside it, which take precedence. Other options are reported and not used.",
    }),
  ),
};

/** What `config` may hold. */
export const TRAIN_OPTIONS: ReadonlySet<string> = new Set(Object.keys(trainOptions));

/** How far a training is: of its job, and of the messages to those who follow it. */
export const trainingProgress = {
  status: Type.Enum(["pending", "running", "completed", "failed", "cancelled"]),
  progress: Type.Number({ description: "0 to 1." }),
  phase: Nullable(Type.String()),
  current_trial: Type.Integer(),
  total_trials: Type.Integer(),
  best_score: Nullable(Type.Number()),
  eta_ms: Nullable(Type.Number()),
};

const Job = Type.Object({
  job_id: Type.String(),
  id: Type.String(),
  name: Type.String(),
  ...trainingProgress,
  error: Nullable(Type.Object({ code: Type.String(), message: Type.String() })),
  created_at: Timestamp,
  started_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
  model_id: Nullable(Type.String()),
});

const Model = Type.Object({
  id: Type.String(),
  model_id: Type.String({ description: "The same as `id`." }),
  name: Type.String(),
  version: Type.Integer(),
  task: Type.String(),
  task_type: Type.String({ description: "The same as `task`." }),
  status: Type.String(),
  algorithm: Type.String(),
  metric: Type.String(),
  best_score: Nullable(Type.Number()),
  metrics: Type.Record(Type.String(), Type.Number()),
  classes: Nullable(Type.Array(Type.String())),
  training_time_ms: Type.Number(),
  size_bytes: Type.Integer(),
  digest: Type.String(),
  created_at: Timestamp,
  config: Type.Record(Type.String(), Type.Unknown()),
  features: Type.Optional(Type.Array(Type.Unknown(), { description: "Left out in lists, as the fields below." })),
  feature_importance: Type.Optional(Type.Unknown()),
  card: Type.Optional(Type.Unknown()),
  trials: Type.Optional(Type.Array(Type.Unknown())),
});

const relation = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));
const DatasetSource = Strict({
  type: Type.Enum(["table", "collection", "query"], { description: "Which of the three fields names the source." }),
  table: relation,
  collection: relation,
  query: Type.Optional(Type.String({ minLength: 1, description: "A SELECT. Each training runs it again." })),
  parameters: Type.Optional(Type.Array(Type.Unknown())),
  columns: Type.Optional(Type.Array(column, { minItems: 1, maxItems: 2000, description: "All unless said." })),
});
const Dataset = Type.Object({
  id: Type.String(),
  name: Type.String(),
  source: Nullable(DatasetSource),
  schema: Type.Unknown(),
  row_count: Nullable(Type.Integer({ description: "Of uploaded rows." })),
  size_bytes: Nullable(Type.Integer()),
  created_at: Timestamp,
});

/** Both spellings of a body's rows; one row may stand alone. */
const rowsOf = (max: number) => ({
  rows: Type.Optional(Type.Union([Type.Array(Row, { maxItems: max }), Row])),
  inputs: Type.Optional(Type.Union([Type.Array(Row, { maxItems: max }), Row])),
  features: Type.Optional(Type.Union([Type.Array(Row, { maxItems: max }), Row])),
});

export const automlEndpoints = [
  {
    name: "automl.train",
    door: "statements",
    method: "POST",
    path: "/v1/automl/train",
    summary:
      "Train a model on a table, collection, query or data set. The answer is a job, or with async_mode false the model.",
    tag: "automl",
    access: "writer",
    home: "tenant",
    slow: true,
    body: Strict({
      ...trainFields,
      async_mode: Type.Optional(Type.Boolean({ description: "Default: true; the answer is the job." })),
      callback_url: Type.Optional(
        Type.String({ maxLength: 2000, description: "Address that gets a signed POST when the training ends." }),
      ),
      webhook_url: Type.Optional(Type.String({ maxLength: 2000 })),
    }),
    example: {
      body: {
        dataset_id: "orders_data",
        target: "region",
        features: ["customer", "total"],
        name: "region",
        max_trials: 2,
        async_mode: false,
      },
    },
    response: Type.Union([Job, Model]),
    status: 202,
  },
  {
    name: "automl.jobs",
    door: "statements",
    method: "GET",
    path: "/v1/automl/jobs",
    summary: "The tenant's trainings, newest first.",
    tag: "automl",
    access: "member",
    home: "tenant",
    pages: { items: "jobs", most: LIST_PAGE_MAX },
    query: Strict({ ...PageQuery, status: Type.Optional(Type.String({ pattern: "^[a-z]{1,20}$" })) }),
    response: Type.Object({ jobs: Type.Array(Job), count: Type.Integer() }),
  },
  {
    name: "automl.job",
    door: "statements",
    method: "GET",
    path: "/v1/automl/jobs/{id}",
    summary: "One training and its progress.",
    tag: "automl",
    access: "member",
    home: "tenant",
    params: ofId,
    response: Job,
  },
  {
    name: "automl.stop",
    door: "statements",
    method: "POST",
    path: "/v1/automl/jobs/{id}/stop",
    summary: "Stop a training. A finished training does not change.",
    tag: "automl",
    access: "writer",
    home: "tenant",
    params: ofId,
    body: Strict({}),
    bodyOptional: true,
    example: { params: { id: "job_0123456789abcdef" } },
    response: Job,
  },
  {
    name: "automl.datasets.create",
    door: "statements",
    method: "POST",
    path: "/v1/automl/datasets",
    summary: "Create a data set from a table, collection or query, or by uploading rows.",
    tag: "automl",
    access: "writer",
    home: "tenant",
    slow: true,
    body: Strict({
      name: Name,
      source: Type.Optional(DatasetSource),
      rows: Type.Optional(Type.Array(Row, { minItems: 1 })),
      schema: Type.Optional(Type.Unknown()),
    }),
    example: { body: { name: "orders_data", source: { type: "table", table: "orders" } } },
    response: Dataset,
    status: 201,
  },
  {
    name: "automl.datasets",
    door: "statements",
    method: "GET",
    path: "/v1/automl/datasets",
    summary: "The tenant's data sets, oldest first.",
    tag: "automl",
    access: "member",
    home: "tenant",
    pages: { items: "datasets", total: "count", most: LIST_PAGE_MAX },
    query: Strict(PageQuery),
    response: Type.Object({ datasets: Type.Array(Dataset), count: InAll }),
  },
  {
    name: "automl.dataset",
    door: "statements",
    method: "GET",
    path: "/v1/automl/datasets/{id}",
    summary: "A data set, by id or name.",
    tag: "automl",
    access: "member",
    home: "tenant",
    params: ofId,
    response: Dataset,
  },
  {
    name: "automl.dataset.delete",
    door: "statements",
    method: "DELETE",
    path: "/v1/automl/datasets/{id}",
    summary: "Delete a data set, including uploaded rows.",
    tag: "automl",
    access: "writer",
    home: "tenant",
    params: ofId,
    status: 204,
  },
  {
    name: "automl.models",
    door: "parts",
    method: "GET",
    path: "/v1/automl/models",
    summary: "The tenant's models, newest first.",
    tag: "automl",
    access: "member",
    home: "tenant",
    pages: { items: null, most: LIST_PAGE_MAX },
    query: Strict({ ...PageQuery, task: Type.Optional(Type.String({ pattern: "^[a-z_]{1,40}$" })) }),
    response: Type.Array(Model),
  },
  {
    name: "automl.model",
    door: "parts",
    method: "GET",
    path: "/v1/automl/models/{id}",
    summary: "One model with its card, features and trials, by id, or by name for the newest version.",
    tag: "automl",
    access: "member",
    home: "tenant",
    params: ofId,
    response: Model,
  },
  {
    name: "automl.model.delete",
    door: "statements",
    method: "DELETE",
    path: "/v1/automl/models/{id}",
    summary: "Delete a model by id, or all versions of a name.",
    tag: "automl",
    access: "writer",
    home: "tenant",
    params: ofId,
    status: 204,
  },
  {
    name: "automl.predict",
    door: "parts",
    method: "POST",
    path: "/v1/automl/models/{id}/predict",
    summary: "Predict rows, or the next steps of a series.",
    tag: "automl",
    access: "member",
    home: "tenant",
    slow: true,
    flat: true,
    params: ofId,
    body: Strict({
      ...rowsOf(AUTOML_PREDICT_ROWS_MAX),
      probabilities: Type.Optional(
        Type.Boolean({ description: "Adds the calibrated probability of each class. Default: false." }),
      ),
      explain: Type.Optional(Type.Boolean({ description: "Adds the contribution of each feature. Default: false." })),
      steps: Type.Optional(Type.Integer({ minimum: 1, maximum: AUTOML_FORECAST_STEPS_MAX })),
    }),
    example: { params: { id: "region" }, body: { rows: [{ customer: "c3", total: 12 }], probabilities: true } },
    response: Type.Object({
      predictions: Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
      model_id: Type.String(),
      model: Type.String({ description: "The model's name." }),
      version: Type.Integer(),
      task: Type.String(),
      probabilities: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Number()))),
      explanations: Type.Optional(Type.Array(Type.Unknown())),
      explanation_method: Type.Optional(Nullable(Type.String())),
      forecast: Type.Optional(Type.Array(Type.Unknown())),
      coverage: Type.Optional(Type.Number({ description: "The share of steps between `lower` and `upper`." })),
    }),
  },
  {
    name: "automl.evaluate",
    door: "statements",
    method: "POST",
    path: "/v1/automl/models/{id}/evaluate",
    summary: "Compute a model's metrics on rows, a table, collection, query or data set with known targets.",
    tag: "automl",
    access: "member",
    home: "tenant",
    slow: true,
    params: ofId,
    body: Strict({ ...rowSource, rows: Type.Optional(Type.Array(Row, { maxItems: AUTOML_EVALUATE_ROWS_MAX })) }),
    example: { params: { id: "region" }, body: { table: "orders" } },
    response: Type.Object({
      metrics: Type.Record(Type.String(), Type.Number()),
      rows: Type.Integer(),
      model_id: Type.String(),
    }),
  },
  {
    name: "automl.webhook_secret",
    door: "none",
    method: "GET",
    path: "/v1/automl/webhook-secret",
    summary: "The secret that signs posts to callback_url.",
    tag: "automl",
    access: "writer",
    home: "tenant",
    response: Type.Object({ secret: Type.String(), header: Type.String() }),
  },
  {
    name: "socket.automl.follow",
    door: "statements",
    method: "MESSAGE",
    path: "/ws",
    messages: ["automl.follow"],
    summary: "Follow a training: automl.progress …, automl.finished; or error. unsubscribe stops it.",
    tag: "websocket",
    access: "member",
    home: "tenant",
    live: true,
    body: Strict({ type: Type.String(), id: Type.Optional(MessageId), job_id: Type.String({ maxLength: 200 }) }),
  },
] as const satisfies readonly EndpointSpec[];
