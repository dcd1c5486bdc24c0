/**
 * Training and prediction as tasks of a thread: columns come packed, what is wrong with them goes back as data, and
 * models that were used lately stay loaded. Exported by task.ts.
 */
import { on } from "node:events";
import type { MessagePort } from "node:worker_threads";
import type { ColumnData, Forecast, LoadedModel, Predictions, TrainedModel } from "../src/automl/contract.js";
import type { ModelBytes, Told, Training } from "../src/automl/model-tasks.js";
import { type PackedColumn, unpackColumns } from "../src/automl/packed-columns.js";
import { DbError } from "../src/protocol/errors.js";

/** Models that a thread keeps loaded. */
const LOADED_MAX = 16;
/** By digest, the least recently used first. */
const loaded = new Map<string, LoadedModel>();

export interface PackedTraining extends Pick<Training, "spec" | "checkpoints"> {
  /** How many; they come on the port, a message each. */
  readonly columns: number;
  readonly stopped: SharedArrayBuffer;
  readonly port: MessagePort;
}

export function trainPacked({
  spec,
  columns,
  checkpoints,
  stopped,
  port,
}: PackedTraining): Promise<Told<TrainedModel>> {
  return told(async () => {
    const received = await receive(port, columns);
    const { train } = await import("../src/automl/train.js");
    return train({ job: { ...spec, columns: received }, port, stopped, checkpoints });
  });
}

async function receive(port: MessagePort, count: number): Promise<ColumnData[]> {
  const columns: ColumnData[] = [];
  if (count === 0) return columns;
  for await (const [column] of on(port, "message")) {
    columns.push(...unpackColumns([column as PackedColumn]));
    if (columns.length === count) break;
  }
  return columns;
}

interface PackedRows {
  readonly model: ModelBytes;
  readonly columns: readonly PackedColumn[];
}

export function predictPacked({ model, columns, explain }: PackedRows & { readonly explain: boolean }) {
  return told<Predictions>(async () => (await modelOf(model)).predict(unpackColumns(columns), { explain }));
}

export function evaluatePacked({ model, columns }: PackedRows) {
  return told<Readonly<Record<string, number>>>(
    async () => (await modelOf(model)).evaluate(unpackColumns(columns)) as Readonly<Record<string, number>>,
  );
}

export function forecastPacked({ model, steps }: { readonly model: ModelBytes; readonly steps: number | null }) {
  return told<Forecast>(async () => (await modelOf(model)).forecast(steps ?? undefined));
}

async function modelOf({ digest, bytes }: ModelBytes): Promise<LoadedModel> {
  let model = loaded.get(digest);
  if (model === undefined) {
    const { loadModel } = await import("../src/automl/load-model.js");
    model = loadModel(bytes);
  } else loaded.delete(digest);
  loaded.set(digest, model);
  if (loaded.size > LOADED_MAX) loaded.delete(loaded.keys().next().value!);
  return model;
}

async function told<T>(work: () => Promise<T>): Promise<Told<T>> {
  try {
    return { result: await work(), error: null };
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    const { code, message, details = {} } = error;
    return { result: null, error: { code, message, details } };
  }
}
