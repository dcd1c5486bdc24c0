/**
 * Computations over data that an actor hands to task threads (workers/task.ts), so that its loop does not wait for
 * them.
 */

import type { ModelTasks } from "../automl/model-tasks.js";
import type { AlgorithmResult } from "../graph/algorithms/algorithm.js";
import type { AlgorithmJob } from "../graph/algorithms/run-algorithm.js";
import type { ExtractedGraph } from "../graph/extract/extract-graph.js";
import type { SpeechSound } from "../ingest/audio/speech-sound.js";
import type { ColumnarTasks } from "../ingest/columnar/contract.js";
import type { FileTasks } from "../ingest/file-tasks.js";
import type { SeenVideo, SoundJob, VideoJob } from "../ingest/media/listen-and-watch.js";
import type { ImageJob, SeenImage } from "../ingest/media/look-at-image.js";
import type { CandidateSentence, Span } from "../language/answer-span.js";
import type { Entity } from "../language/entities.js";
import type { IndexThreads } from "../query/exec/index-threads.js";
import type { BuildColumns } from "../query/exec/segments/stored/table-builds.js";
import type { ReadThreads } from "../query/exec/threads/read-threads.js";
import type { Computed, ComputeJob } from "../query/expr/compute-elsewhere.js";
import type { RecipeSource } from "../recipe/read-recipe.js";
import type { ReadRecipe } from "../recipe/recipe.js";
import type { MapJob, VectorMap } from "../vector/map/map-vectors.js";

/** Each rejects with `overloaded` when too many wait. */
export interface LongTasks {
  /** Of models that tenants train; absent: there are no threads for that. */
  readonly models?: ModelTasks;
  /** The graph's arrays go to the other thread. Rejects with the algorithm's own DbError, too. */
  runAlgorithm(job: AlgorithmJob): Promise<AlgorithmResult>;
  /** The vectors go to the other thread, which ends when the signal fires. Absent: there is no thread for it. */
  readonly mapVectors?: (job: MapJob, signal: AbortSignal) => Promise<VectorMap>;
  /**
   * A call of a function over large values, in another process. It ends when the signal fires. Rejects with 53200 when
   * the call needs more memory than such a process has.
   */
  compute(job: ComputeJob, signal: AbortSignal): Promise<Computed>;
  /** Absent: there is no thread for it. */
  readonly buildColumns?: BuildColumns;
  /** Absent: there is one core, or there are no threads. */
  readonly indexThreads?: IndexThreads;
  /** Absent: there is one core, or there are no threads. */
  readonly readThreads?: ReadThreads;
  extractGraph(text: string): Promise<ExtractedGraph>;
  entitiesOf(text: string): Promise<readonly Entity[]>;
  answerSpan(job: {
    readonly question: string;
    readonly candidates: readonly CandidateSentence[];
  }): Promise<Span | null>;
  /** Of filesystem collections; null: files are not read here. */
  readonly files: FileTasks | null;
  /** These four reject with `invalid_request` for what is no such thing, and `program_not_installed`. */
  lookAtImage(job: ImageJob): Promise<SeenImage>;
  /** The classical feature. */
  listenTo(job: SoundJob): Promise<Float32Array>;
  /** As models of speech want it. */
  hearSound(job: SoundJob): Promise<SpeechSound>;
  watchVideo(job: VideoJob): Promise<SeenVideo>;
  /** Rejects with the reader's own DbError. */
  readRecipe(source: RecipeSource): Promise<ReadRecipe>;
  builtInRecipes(): Promise<readonly ReadRecipe[]>;
  readonly columnar: ColumnarTasks;
}
