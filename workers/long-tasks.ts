/** An actor's long computations, on task threads. Called by actor.ts, and by benches that have no actor. */
import { close } from "node:fs";
import type { ModelTasks } from "../src/automl/model-tasks.js";
import type { ColumnarBatch, ColumnarData, ColumnarTasks } from "../src/ingest/columnar/contract.js";
import type { FileTasks } from "../src/ingest/file-tasks.js";
import type { MediaBytes } from "../src/ingest/media/media-bytes.js";
import type { ParseAnswer } from "../src/ingest/parse/contract.js";
import { DbError } from "../src/protocol/errors.js";
import type { LongTasks } from "../src/session/long-tasks.js";
import type { RunReader } from "./file-tasks.js";
import type { TaskPool } from "./task-pool.js";

/**
 * `models`: absent where nothing is trained. `reader` reads files of rows; else `tasks` does, without a bound of
 * memory.
 */
export function longTasks(
  tasks: TaskPool,
  computing: Pick<LongTasks, "compute">,
  files: FileTasks | null = null,
  models?: ModelTasks,
  reader: RunReader = (name, job, signal) => tasks.run(name, job, [], signal),
): LongTasks {
  return {
    compute: (job, signal) => computing.compute(job, signal),
    ...(models !== undefined && { models }),
    async runAlgorithm(job) {
      const { nodes, src, dst, weights } = job.graph;
      const buffers = [nodes, src, dst, weights].flatMap((array) =>
        array === null ? [] : (array.buffer as ArrayBuffer),
      );
      const { result, error } = await tasks.run("runAlgorithm", job, buffers);
      if (result !== null) return result;
      // Errors lose their class on the way.
      throw new DbError(error!.code, error!.message);
    },
    extractGraph: (text) => tasks.run("extractGraph", text),
    entitiesOf: (text) => tasks.run("entitiesOf", text),
    answerSpan: (job) => tasks.run("answerSpan", job),
    files,
    lookAtImage: async (job) => resultOf(await tasks.run("lookAtImage", job), job.image),
    listenTo: async (job) => resultOf(await tasks.run("listenTo", job), job.audio),
    hearSound: async (job) => resultOf(await tasks.run("hearSound", job), job.audio),
    watchVideo: async (job) => resultOf(await tasks.run("watchVideo", job), job.video),
    async readRecipe(source) {
      const { read, error } = await tasks.run("readRecipe", source);
      if (read !== null) return read;
      throw new DbError(error!.code, error!.message, error!.details);
    },
    builtInRecipes: () => tasks.run("builtInRecipes", undefined),
    columnar: columnarTasks(tasks, reader),
  };
}

/** Of columns only what they are made of goes to the thread; their buffers are moved. */
function columnarTasks(tasks: TaskPool, run: RunReader): ColumnarTasks {
  return {
    arrow: (job) => tasks.run("arrowPart", job, buffersOf(job.batches)),
    parquet: (job) => tasks.run("parquetPart", job, buffersOf(job.batches)),
    describe: async (file, signal) => fileResult(await run("describeRows", file, signal)),
    open: async (job, signal) => {
      const file = fileResult(await tasks.run("openRows", job));
      try {
        const shape = fileResult(await run("describeRows", file, signal));
        return { file: file.text ? { ...file, text: { ...file.text, shape: shape.columns } } : file, shape };
      } catch (error) {
        // Here, since the thread that reads it may have been ended.
        close(file.descriptor);
        throw error;
      }
    },
    rows: async (job, signal) => fileResult(await run("readRows", job, signal)),
  };
}

function buffersOf(batches: readonly ColumnarBatch[] | null): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  const add = ({ nulls, data, offsets, children = [] }: ColumnarData): void => {
    for (const array of [nulls, data, offsets]) if (array) buffers.add(array.buffer as ArrayBuffer);
    for (const child of children) add(child);
  };
  for (const { columns } of batches ?? []) for (const column of columns) add(column);
  return [...buffers];
}

function fileResult<T>({ result, error }: ParseAnswer<T>): T {
  if (error !== null) throw new DbError(error.code, error.message, error.details);
  return result!;
}

/** Errors lose their class on the way. */
function resultOf<T>({ result, error }: ParseAnswer<T>, { field }: MediaBytes): T {
  if (error !== null) throw new DbError(error.code, error.message, { field });
  return result!;
}
