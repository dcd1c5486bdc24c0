/** Entry of a task thread: each export is a task, run by name through a piscina pool (task-pool.ts). */
import { move, transferableSymbol, valueSymbol } from "piscina";
import type { DeriveKeyJob } from "../src/directory/derive-key.js";
import type { AlgorithmResult } from "../src/graph/algorithms/algorithm.js";
import { type AlgorithmJob, runAlgorithm as run } from "../src/graph/algorithms/run-algorithm.js";
import type { ExtractedGraph } from "../src/graph/extract/extract-graph.js";
import type { SpeechSound } from "../src/ingest/audio/speech-sound.js";
import type {
  ArrowJob,
  FileShape,
  OpenJob,
  ParquetJob,
  ParquetPart,
  RowFile,
  RowPiece,
  RowPieceJob,
} from "../src/ingest/columnar/contract.js";
import type { SeenVideo, SoundJob, VideoJob } from "../src/ingest/media/listen-and-watch.js";
import type { ImageJob, SeenImage } from "../src/ingest/media/look-at-image.js";
import type { FileFacts, FilePlace, ParseAnswer, ParsedFile, ParseJob } from "../src/ingest/parse/contract.js";
import type { FoundFile } from "../src/ingest/watch/found-file.js";
import type { LookJob, ScanJob, ScanPage } from "../src/ingest/watch/scan-folder.js";
import type { CandidateSentence, Span } from "../src/language/answer-span.js";
import type { Entity } from "../src/language/entities.js";
import { DbError } from "../src/protocol/errors.js";
import type { IndexMergeJob, IndexRunAnswer, IndexRunJob } from "../src/query/exec/index-threads.js";
import type { BuildAnswer, BuildJob } from "../src/query/exec/segments/stored/build-columns.js";
import type { ReadAnswer, ReadJob } from "../src/query/exec/threads/read-threads.js";
import type { RecipeSource } from "../src/recipe/read-recipe.js";
import type { ReadRecipe } from "../src/recipe/recipe.js";
import type { PackedRun } from "../src/storage/packed-run.js";
import type { MapJob, VectorMap } from "../src/vector/map/map-vectors.js";

export { linkGraph } from "../src/vector/link-graph.js";
export { evaluatePacked, forecastPacked, predictPacked, trainPacked } from "./model-task.js";

/** Its tables of characters are loaded with the first password. */
export async function deriveKey(job: DeriveKeyJob): Promise<Uint8Array> {
  const { deriveKey: derive } = await import("../src/directory/derive-key.js");
  return derive(job);
}

/** `error` is what the caller is to be told: errors lose their class on the way. */
export function runAlgorithm(job: AlgorithmJob): {
  readonly result: AlgorithmResult | null;
  readonly error: Pick<DbError, "code" | "message"> | null;
} {
  try {
    return { result: run(job), error: null };
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    const { code, message } = error;
    return { result: null, error: { code, message } };
  }
}

/** Its library is loaded with the first map. */
export async function mapVectors(job: MapJob): Promise<VectorMap> {
  const { mapVectors: map } = await import("../src/vector/map/map-vectors.js");
  return map(job);
}

/** Writes column files; null: it was stopped. */
export async function buildColumns(job: BuildJob): Promise<BuildAnswer | null> {
  const { buildColumns: build } = await import("../src/query/exec/segments/stored/build-columns.js");
  return build(job);
}

/** Entries of an index; the answer is moved, not copied. */
export async function indexRun(job: IndexRunJob): Promise<IndexRunAnswer> {
  const { buffersOf, makeIndexRun } = await import("../src/query/exec/index-run.js");
  const answer = await makeIndexRun(job);
  return moved(answer, buffersOf(answer.run));
}

/** Reads segments for a statement; the answer is moved, what it shares is not. */
export async function readSegments(job: ReadJob): Promise<ReadAnswer> {
  const { buffersOfAnswer, readInThread } = await import("../src/query/exec/threads/read-in-thread.js");
  const answer = await readInThread(job);
  return moved(answer, buffersOfAnswer(answer));
}

/** Loads the program of `readSegments`. */
export async function prepareReads(): Promise<void> {
  await import("../src/query/exec/threads/read-in-thread.js");
}

export async function mergeIndexRuns(job: IndexMergeJob): Promise<PackedRun | null> {
  const { buffersOf, mergeIndexRuns: merge } = await import("../src/query/exec/index-run.js");
  const run = merge(job);
  return run === null ? null : moved(run, buffersOf(run));
}

function moved<T extends object>(value: T, buffers: readonly ArrayBuffer[]): T {
  return move({ [transferableSymbol]: buffers, [valueSymbol]: value }) as unknown as T;
}

/** Its library takes a while to load, which other tasks need not wait for. Throws DbError `invalid_request`. */
export async function extractGraph(text: string): Promise<ExtractedGraph> {
  const { extractGraph: extract } = await import("../src/graph/extract/extract-graph.js");
  return extract(text);
}

/** As `extractGraph`: the library is loaded with the first text. */
export async function entitiesOf(text: string): Promise<readonly Entity[]> {
  const { entitiesOf: find } = await import("../src/language/entities.js");
  return find(text);
}

export async function answerSpan(job: {
  readonly question: string;
  readonly candidates: readonly CandidateSentence[];
}): Promise<Span | null> {
  const { answerSpan: find } = await import("../src/language/answer-span.js");
  return find(job.question, job.candidates);
}

/** What the caller owes this task: src/ingest/parse/contract.ts. */
export async function parseFile(job: ParseJob): Promise<ParseAnswer<ParsedFile>> {
  const { parseFile: parse } = await import("../src/ingest/parse/parse-file.js");
  return answer(() => parse(job));
}

/** A file's digest, size and time, to see whether it has to be parsed at all. */
export async function digestFile(place: FilePlace): Promise<ParseAnswer<FileFacts>> {
  const { digestFile: digest } = await import("../src/ingest/parse/read-file.js");
  return answer(async () => digest(place));
}

/** Rejects when the folder cannot be read. */
export async function scanFolder(job: ScanJob): Promise<ScanPage> {
  const { scanFolder: scan } = await import("../src/ingest/watch/scan-folder.js");
  return scan(job);
}

export async function lookAtFiles(job: LookJob): Promise<readonly FoundFile[]> {
  const { lookAtFiles: look } = await import("../src/ingest/watch/scan-folder.js");
  return look(job);
}

export async function lookAtImage(job: ImageJob): Promise<ParseAnswer<SeenImage>> {
  const { lookAtImage: look } = await import("../src/ingest/media/look-at-image.js");
  return answer(() => look(job));
}

export async function listenTo(job: SoundJob): Promise<ParseAnswer<Float32Array>> {
  const { listen } = await import("../src/ingest/media/listen-and-watch.js");
  return answer(() => listen(job));
}

export async function hearSound(job: SoundJob): Promise<ParseAnswer<SpeechSound>> {
  const { hear } = await import("../src/ingest/media/listen-and-watch.js");
  return answer(() => hear(job));
}

export async function watchVideo(job: VideoJob): Promise<ParseAnswer<SeenVideo>> {
  const { watch } = await import("../src/ingest/media/listen-and-watch.js");
  return answer(() => watch(job));
}

/** The packages for Arrow and Parquet are loaded with the first rows. */
export async function arrowPart(job: ArrowJob): Promise<Uint8Array> {
  const { arrowPart: part } = await import("../src/ingest/columnar/write-arrow.js");
  return move(part(job)) as unknown as Uint8Array;
}

export async function parquetPart(job: ParquetJob): Promise<ParquetPart> {
  const { parquetPart: part } = await import("../src/ingest/columnar/write-parquet.js");
  return part(job);
}

export function describeRows(file: RowFile): Promise<ParseAnswer<FileShape>> {
  return answer(() => shapeOf(file));
}

async function shapeOf(file: RowFile): Promise<FileShape> {
  if (file.text !== undefined) return (await import("../src/features/import/read-text.js")).describeText(file);
  if (file.format === "arrow") return (await import("../src/ingest/columnar/read-arrow.js")).describeArrow(file);
  return (await import("../src/ingest/columnar/read-parquet.js")).describeParquet(file);
}

/** The receiver closes the descriptor. */
export function openRows({ id, place, format, text }: OpenJob): Promise<ParseAnswer<RowFile>> {
  return answer(async () => {
    const { openFile } = await import("../src/ingest/parse/read-file.js");
    const { descriptor, bytes } = openFile(place);
    return { id, descriptor, bytes, format, ...(text !== undefined && { text: { ...text, shape: [] } }) };
  });
}

export function readRows(job: RowPieceJob): Promise<ParseAnswer<RowPiece>> {
  return answer(async () => {
    if (job.file.text !== undefined) return (await import("../src/features/import/read-text.js")).textRows(job);
    if (job.file.format === "arrow") return (await import("../src/ingest/columnar/read-arrow.js")).arrowRows(job);
    return (await import("../src/ingest/columnar/read-parquet.js")).parquetRows(job);
  });
}

async function answer<T>(work: () => Promise<T>): Promise<ParseAnswer<T>> {
  try {
    return { result: await work(), error: null };
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    const { code, message, details } = error;
    return { result: null, error: { code, message, ...(details !== undefined && { details }) } };
  }
}
/** The parsers are loaded with the first recipe. */
export async function readRecipe(source: RecipeSource): Promise<{
  readonly read: ReadRecipe | null;
  readonly error: Pick<DbError, "code" | "message" | "details"> | null;
}> {
  const { readRecipe: read } = await import("../src/recipe/read-recipe.js");
  try {
    return { read: await read(source), error: null };
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    const { code, message, details } = error;
    return { read: null, error: { code, message, details } };
  }
}

export async function builtInRecipes(): Promise<readonly ReadRecipe[]> {
  const { builtInRecipes: read } = await import("../src/recipe/built-in-recipes.js");
  return read();
}
