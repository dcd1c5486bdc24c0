/**
 * The tables of a tenant's trainings, models and data sets, made with the first of them. Those of data sets belong to
 * the tenant, like any other; the others are kept (catalog/kept-tables.ts). The stores beside explain the columns.
 */
import { FLOAT8, INT8, JSONB, TEXT, TIMESTAMPTZ } from "../../values/values.js";
import { rowsOfUser } from "../statements/own-relation.js";

export const JOBS = `"_automl_jobs"`;
export const CHECKPOINTS = `"_automl_checkpoints"`;
export const MODELS = `"_automl_models"`;
/** Apart, so that lists of models read none of it. */
export const MODEL_BYTES = `"_automl_model_bytes"`;
export const DATASETS = `"_automl_datasets"`;
export const DATASET_ROWS = `"_automl_dataset_rows"`;
/** As the catalog knows them. */
export const JOBS_NAME = "_automl_jobs";
export const MODELS_NAME = "_automl_models";
export const DATASETS_NAME = "_automl_datasets";

/** tessera_automl_jobs: a user's own trainings in SQL, without the secret of their callbacks. */
export const OWN_JOBS = rowsOfUser(JOBS_NAME, {
  id: TEXT,
  name: TEXT,
  experiment: TEXT,
  status: TEXT,
  phase: TEXT,
  progress: FLOAT8,
  current_trial: INT8,
  total_trials: INT8,
  best_score: FLOAT8,
  eta_ms: FLOAT8,
  spec: JSONB,
  error: JSONB,
  model_id: TEXT,
  created_at: TIMESTAMPTZ,
  started_at: TIMESTAMPTZ,
  completed_at: TIMESTAMPTZ,
});

export const CREATE_TABLES: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS ${JOBS} (
    id text PRIMARY KEY, user_id text NOT NULL, name text NOT NULL, experiment text UNIQUE, status text NOT NULL,
    phase text, progress float8 NOT NULL, current_trial bigint NOT NULL, total_trials bigint NOT NULL,
    best_score float8, eta_ms float8, spec jsonb NOT NULL, data_digest text, error jsonb, model_id text,
    created_at timestamptz NOT NULL, started_at timestamptz, completed_at timestamptz, callback jsonb)`,
  `CREATE TABLE IF NOT EXISTS ${CHECKPOINTS} (
    job_id text NOT NULL, seq bigint NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (job_id, seq))`,
  `CREATE TABLE IF NOT EXISTS ${MODELS} (
    id text PRIMARY KEY, name text NOT NULL, version bigint NOT NULL, job_id text, experiment text, user_id text NOT NULL,
    task text NOT NULL, algorithm text NOT NULL, metric text NOT NULL, score float8, metrics jsonb NOT NULL,
    card jsonb NOT NULL, features jsonb NOT NULL, classes jsonb, config jsonb NOT NULL, trials jsonb NOT NULL,
    training_time_ms float8 NOT NULL, size_bytes bigint NOT NULL, digest text NOT NULL, created_at timestamptz NOT NULL,
    UNIQUE (name, version))`,
  `CREATE TABLE IF NOT EXISTS ${MODEL_BYTES} (model_id text PRIMARY KEY, bytes bytea NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS ${DATASETS} (
    id text PRIMARY KEY, name text NOT NULL UNIQUE, user_id text NOT NULL, source jsonb, schema jsonb,
    row_count bigint, size_bytes bigint, created_at timestamptz NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS ${DATASET_ROWS} (
    dataset_id text NOT NULL, seq bigint NOT NULL, rows jsonb NOT NULL, PRIMARY KEY (dataset_id, seq))`,
];
