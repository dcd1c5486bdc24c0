/** Models that the server trains on a tenant's data: training with its progress, predictions, evaluations. */
import { pause } from "./backoff.js";
import { errorOf } from "./errors.js";
import type { CallOptions, WriteOptions } from "./options.js";
import { type AnswerOf, callRoute, type SentTo } from "./routes.js";
import type { Transport } from "./transport.js";

/** What is trained: a table, collection, query or data set, its target, and how long the search may take. */
export type TrainOptions = Omit<SentTo<"POST /v1/automl/train">["body"], "async_mode">;

/** A training: its status, how far it is, and the model when there is one. */
export type Training = AnswerOf<"GET /v1/automl/jobs/{id}">;

/** A trained model. */
export type TrainedModel = AnswerOf<"GET /v1/automl/models/{id}">;

/** How rows are predicted. */
export type PredictOptions = Omit<
  SentTo<"POST /v1/automl/models/{id}/predict">["body"],
  "rows" | "inputs" | "features"
> &
  CallOptions;

/** Predictions in the order of the rows. */
export type Predictions = AnswerOf<"POST /v1/automl/models/{id}/predict">;

/** Rows with known targets: a table, a query, a data set or the rows themselves. */
export type EvaluationSource = SentTo<"POST /v1/automl/models/{id}/evaluate">["body"];

/** A model's metrics on other rows. */
export type Evaluation = AnswerOf<"POST /v1/automl/models/{id}/evaluate">;

/** Of a training that is followed. */
export interface FollowOptions extends CallOptions {
  /** Milliseconds between two looks; 500 unless said. */
  readonly everyMs?: number;
}

const EVERY_MS = 500;
const ENDED: readonly string[] = ["completed", "failed", "cancelled"];

/** `db.automl`. */
export class AutoMl {
  /** @internal */
  constructor(private readonly transport: Transport) {}

  /** Begins a training. `follow` tells how far it is; `fit` waits for the model. */
  async train(options: TrainOptions, { signal, idempotencyKey }: WriteOptions = {}): Promise<Training> {
    const body = { ...options, async_mode: true };
    return (await callRoute(this.transport, "POST /v1/automl/train", { body, signal, idempotencyKey })) as Training;
  }

  /** A training whenever something about it has changed, until it has ended. It goes on after interruptions. */
  async *follow(job: string, { everyMs = EVERY_MS, signal }: FollowOptions = {}): AsyncGenerator<Training, void> {
    for (let told = ""; ; await pause(everyMs, signal)) {
      const training = await this.job(job, { signal });
      const now = JSON.stringify({ ...training, eta_ms: null });
      if (now !== told) yield training;
      told = now;
      if (ENDED.includes(training.status)) return;
    }
  }

  /**
   * Trains, and gives the model. `onProgress` hears of each change. Throws what the training failed with. A signal that
   * fires stops the training, too.
   */
  async fit(
    options: TrainOptions,
    { onProgress, ...rest }: FollowOptions & { readonly onProgress?: (training: Training) => void } = {},
  ): Promise<TrainedModel> {
    const begun = await this.train(options, rest);
    let last = begun;
    try {
      for await (last of this.follow(begun.job_id, rest)) onProgress?.(last);
    } catch (error) {
      // The first error is the one to tell.
      if (rest.signal?.aborted) await this.stop(begun.job_id).catch(() => undefined);
      throw error;
    }
    const { status, error, model_id: model } = last;
    if (model === null) {
      const { code, message } = error ?? { code: "cancelled", message: `The training is ${status} and has no model.` };
      throw errorOf(message, { code, status: 409 });
    }
    return this.model(model, rest);
  }

  /** One training, by its id. Throws NotFoundError. */
  job(id: string, { signal }: CallOptions = {}): Promise<Training> {
    return callRoute(this.transport, "GET /v1/automl/jobs/{id}", { params: { id }, signal });
  }

  /** Stops a training; one that has ended stays as it is. */
  stop(id: string, { signal }: CallOptions = {}): Promise<Training> {
    return callRoute(this.transport, "POST /v1/automl/jobs/{id}/stop", { params: { id }, signal });
  }

  /** The newest models. */
  models({ signal }: CallOptions = {}): Promise<readonly TrainedModel[]> {
    return callRoute(this.transport, "GET /v1/automl/models", { signal });
  }

  /** A model, by its id, or by its name for the newest version. Throws NotFoundError. */
  model(id: string, { signal }: CallOptions = {}): Promise<TrainedModel> {
    return callRoute(this.transport, "GET /v1/automl/models/{id}", { params: { id }, signal });
  }

  /** Removes a model, or all versions of a name. */
  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await callRoute(this.transport, "DELETE /v1/automl/models/{id}", { params: { id }, signal });
  }

  /** Predicts rows by a model's id or name; of a series the next `steps`, without rows. */
  predict(
    model: string,
    rows: readonly Readonly<Record<string, unknown>>[] = [],
    { signal, ...options }: PredictOptions = {},
  ): Promise<Predictions> {
    const body = { ...options, ...(rows.length > 0 && { rows }) };
    const sent = { params: { id: model }, body, signal, reads: true };
    return callRoute(this.transport, "POST /v1/automl/models/{id}/predict", sent);
  }

  /** A model's metrics on rows whose targets are known. */
  evaluate(model: string, source: EvaluationSource, { signal }: CallOptions = {}): Promise<Evaluation> {
    const sent = { params: { id: model }, body: source, signal, reads: true };
    return callRoute(this.transport, "POST /v1/automl/models/{id}/evaluate", sent);
  }
}
