/** An actor's long computations, on task threads. Called by actor.ts, and by benches that have no actor. */
import type { ModelTasks } from "../src/automl/model-tasks.js";
import type { FileTasks } from "../src/ingest/file-tasks.js";
import type { MediaBytes } from "../src/ingest/media/media-bytes.js";
import type { ParseAnswer } from "../src/ingest/parse/contract.js";
import { DbError } from "../src/protocol/errors.js";
import type { LongTasks } from "../src/session/long-tasks.js";
import type { TaskPool } from "./task-pool.js";

/** `models`: absent where nothing is trained. */
export function longTasks(
  tasks: TaskPool,
  computing: Pick<LongTasks, "compute">,
  files: FileTasks | null = null,
  models?: ModelTasks,
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
  };
}

/** Errors lose their class on the way. */
function resultOf<T>({ result, error }: ParseAnswer<T>, { field }: MediaBytes): T {
  if (error !== null) throw new DbError(error.code, error.message, { field });
  return result!;
}
