/**
 * Models as they are stored: what is known of each in one row, its bytes in another. Training a name again makes its
 * next version; the newest is the one that the name means. Called by the handlers, train-job.ts and SQL; holds no
 * state.
 */

import { createHash, randomUUID } from "node:crypto";
import type { Request } from "../../actor/request.js";
import type { Feature, ModelCard, TrainedModel, TrialRecord } from "../../automl/contract.js";
import { requireModel, usableModels } from "../../catalog/model-access.js";
import type { Rights } from "../../catalog/rights.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { AUTOML_MODEL_BYTES_MAX } from "../../protocol/limits.js";
import { ownRowsOf, timeOf } from "../statements/run-alone.js";
import type { Run } from "../statements/run-together.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { callersRights } from "./model-rights.js";
import { MODEL_BYTES, MODELS, MODELS_NAME } from "./tables.js";

/** How it was made, beside what the training itself tells. */
export interface ModelConfig {
  /** Columns whose texts are embedded before they are learnt from. */
  readonly embedded: readonly string[];
  /** The model that embeds; null: none was needed. */
  readonly embedding_model: string | null;
  /** Of a model of a series: its times are moments, not numbers. */
  readonly has_moments: boolean;
  readonly [name: string]: unknown;
}

export interface StoredModel {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly experiment: string | null;
  readonly task: TrainedModel["task"];
  readonly algorithm: string;
  readonly metric: string;
  readonly score: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly card: ModelCard;
  readonly features: readonly Feature[];
  readonly classes: readonly string[] | null;
  readonly config: ModelConfig;
  readonly trials: readonly TrialRecord[];
  readonly trainingTimeMs: number;
  readonly sizeBytes: number;
  readonly digest: string;
  readonly createdAt: string;
}

const COLUMNS =
  "id, name, version, experiment, task, algorithm, metric, score, metrics, card, features, classes, config, trials, training_time_ms, size_bytes, digest, created_at";

export interface NewModel {
  readonly name: string;
  readonly jobId: string;
  readonly experiment: string | null;
  readonly userId: string;
  readonly config: ModelConfig;
  readonly trainingTimeMs: number;
}

/** Throws payload_too_large and rate_limited; answers its id. */
export async function insertModel(run: Run, trained: TrainedModel, made: NewModel, modelsMax: number): Promise<string> {
  const { bytes, task, algorithm, metric, score, metrics, card, features, classes, trials } = trained;
  if (bytes.length > AUTOML_MODEL_BYTES_MAX) {
    const why = `The model has ${bytes.length} bytes; at most ${AUTOML_MODEL_BYTES_MAX} can be stored. Train on fewer rows, or without random_forest.`;
    throw new DbError("payload_too_large", why);
  }
  await requireRoom(run, modelsMax);
  const id = `model_${randomUUID()}`;
  const { name, jobId, experiment, userId, config, trainingTimeMs } = made;
  await run(
    `INSERT INTO ${MODELS} (id, name, version, job_id, experiment, user_id, task, algorithm, metric, score, metrics, card,
       features, classes, config, trials, training_time_ms, size_bytes, digest, created_at)
     VALUES ($1, $2, (SELECT coalesce(max(version), 0) + 1 FROM ${MODELS} WHERE name = $2::text), $3, $4, $5, $6, $7, $8,
       $9::float8, $10::jsonb, $11::jsonb, $12::jsonb, $13::jsonb, $14::jsonb, $15::jsonb, $16::float8, $17::int8, $18,
       $19::timestamptz)`,
    [
      ...[id, name, jobId, experiment, userId, task, algorithm, metric],
      Number.isFinite(score) ? score : null,
      ...[metrics, card, features, classes, config, trials].map((value) =>
        value === null ? null : JSON.stringify(value),
      ),
      trainingTimeMs,
      bytes.length,
      createHash("sha256").update(bytes).digest("hex"),
      new Date().toISOString(),
    ],
  );
  await run(`INSERT INTO ${MODEL_BYTES} VALUES ($1, $2::bytea)`, [id, bytes]);
  return id;
}

async function requireRoom(run: Run, modelsMax: number): Promise<void> {
  const [counted] = (await run(`SELECT count(*) FROM ${MODELS}`, [])).rows;
  if (Number(counted![0]) < modelsMax) return;
  throw new DbError("rate_limited", `The tenant already has ${modelsMax} models, which is the limit. Delete some.`);
}

/** The model under another name, as that name's next version. */
export async function copyModel(run: Run, id: string, name: string, modelsMax: number): Promise<string> {
  await requireRoom(run, modelsMax);
  const copy = `model_${randomUUID()}`;
  await run(
    `INSERT INTO ${MODELS} (id, name, version, job_id, experiment, user_id, task, algorithm, metric, score, metrics, card,
       features, classes, config, trials, training_time_ms, size_bytes, digest, created_at)
     SELECT $2::text, $3::text, (SELECT coalesce(max(version), 0) + 1 FROM ${MODELS} WHERE name = $3::text), job_id, NULL,
       user_id, task, algorithm, metric, score, metrics, card, features, classes, config, trials, training_time_ms,
       size_bytes, digest, $4::timestamptz FROM ${MODELS} WHERE id = $1::text`,
    [id, copy, name, new Date().toISOString()],
  );
  await run(`INSERT INTO ${MODEL_BYTES} SELECT $2::text, bytes FROM ${MODEL_BYTES} WHERE model_id = $1::text`, [
    id,
    copy,
  ]);
  return copy;
}

export function hasModels(request: Request): boolean {
  return withDefinitions(request, (catalog) => catalog.table(null, MODELS_NAME)) !== null;
}

/** Of the table of models, which may not be there yet. */
const NAMED = `SELECT 1 FROM ${MODELS} WHERE name = $1::text LIMIT 1`;

/** Whether the first model of the name would be the next one. */
export async function isNewName(request: Request, name: string): Promise<boolean> {
  return !hasModels(request) || (await ownRowsOf(request, { sql: NAMED, params: [name] })).length === 0;
}

/** The same, as a transaction sees it. */
export async function isNewNameIn(run: Run, name: string): Promise<boolean> {
  return (await run(NAMED, [name])).rows.length === 0;
}

/** By id, or by name the newest version. Throws not_found, and 42501 unless `rights` (the caller's) are enough. */
export async function findModel(
  request: Request,
  idOrName: string,
  rights: Rights = callersRights(request),
): Promise<StoredModel> {
  const [row] = hasModels(request)
    ? await ownRowsOf(request, {
        sql: `SELECT ${COLUMNS} FROM ${MODELS} WHERE id = $1::text
              UNION ALL (SELECT ${COLUMNS} FROM ${MODELS} WHERE name = $1::text ORDER BY version DESC LIMIT 1) LIMIT 1`,
        params: [idOrName],
      })
    : [];
  if (row === undefined) throw noModel(idOrName);
  const model = modelOf(row);
  requireModel(rights, model.name);
  return model;
}

export function noModel(idOrName: string): DbError {
  return new DbError("model_not_found", `The model "${idOrName.slice(0, 100)}" does not exist.`, {
    field: "model",
    hint: "GET /v1/automl/models lists the tenant's models. POST /v1/automl/train trains one.",
  });
}

/** Newest first; without those that the caller may not use. */
export async function listModels(
  request: Request,
  { task = null, limit, offset }: { readonly task?: string | null; readonly limit: number; readonly offset: number },
): Promise<StoredModel[]> {
  if (!hasModels(request)) return [];
  const { only, except } = usableModels(callersRights(request));
  const rows = await ownRowsOf(request, {
    sql: `SELECT ${COLUMNS} FROM ${MODELS}
          WHERE ($1::text IS NULL OR task = $1::text OR ($1::text = 'classification' AND task LIKE '%classification'))
            AND ($4::text[] IS NULL OR name = ANY ($4::text[])) AND name <> ALL ($5::text[])
          ORDER BY created_at DESC, id DESC LIMIT $2::int8 OFFSET $3::int8`,
    params: [task, limit, offset, only, except],
  });
  return rows.map(modelOf);
}

/** Null: it has been deleted. */
export async function bytesOfModel(request: Request, id: string): Promise<Uint8Array | null> {
  const [row] = await ownRowsOf(request, {
    sql: `SELECT bytes FROM ${MODEL_BYTES} WHERE model_id = $1::text`,
    params: [id],
  });
  return (row?.[0] as Uint8Array | undefined) ?? null;
}

/** One version by its id, or all of a name. `isLast`: there is no other of the name. */
export async function deleteModels(
  run: Run,
  { id: idOrName, name }: { readonly id: string; readonly name: string },
): Promise<{ readonly count: number; readonly isLast: boolean }> {
  await run(
    `DELETE FROM ${MODEL_BYTES} WHERE model_id IN (SELECT id FROM ${MODELS} WHERE id = $1::text OR name = $1::text)`,
    [idOrName],
  );
  const { affected } = await run(`DELETE FROM ${MODELS} WHERE id = $1::text OR name = $1::text`, [idOrName]);
  return { count: affected, isLast: await isNewNameIn(run, name) };
}

/** As clients read it; the whole of it has the card, the features and the trials, too. */
export function modelView(model: StoredModel, isWhole: boolean): ResponseOf<"automl.model"> {
  const { id, name, version, task, algorithm, metric, score, metrics, config, createdAt, classes } = model;
  return {
    id,
    model_id: id,
    name,
    version,
    task,
    task_type: task,
    status: "ready",
    algorithm,
    metric,
    best_score: score,
    metrics,
    classes,
    training_time_ms: model.trainingTimeMs,
    size_bytes: model.sizeBytes,
    digest: model.digest,
    created_at: createdAt,
    config,
    ...(isWhole && {
      features: model.features.map(({ name: feature, kind, dimensions }) =>
        config.embedded.includes(feature)
          ? { name: feature, kind: "text", embedded: true }
          : { name: feature, kind, ...(dimensions !== undefined && { dimensions }) },
      ),
      feature_importance: model.card.importance,
      card: model.card,
      trials: model.trials,
    }),
  };
}

function modelOf(row: readonly unknown[]): StoredModel {
  const [id, name, version, experiment, task, algorithm, metric, score, metrics] = row;
  const [card, features, classes, config, trials, trainingTimeMs, sizeBytes, digest, createdAt] = row.slice(9);
  return {
    id: id as string,
    name: name as string,
    version: Number(version),
    experiment: experiment as string | null,
    task: task as StoredModel["task"],
    algorithm: algorithm as string,
    metric: metric as string,
    score: score as number,
    metrics: metrics as StoredModel["metrics"],
    card: card as ModelCard,
    features: features as readonly Feature[],
    classes: classes as readonly string[] | null,
    config: config as ModelConfig,
    trials: trials as readonly TrialRecord[],
    trainingTimeMs: trainingTimeMs as number,
    sizeBytes: Number(sizeBytes),
    digest: digest as string,
    createdAt: timeOf(createdAt),
  };
}
