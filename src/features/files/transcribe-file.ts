/**
 * Transcribes a file, if a model of speech is installed; the passages follow those of its tags. Called by
 * file-reader.ts. A long sound takes memory and time, so of a partition's files one at a time is transcribed.
 */

import type { Partition } from "../../actor/partition.js";
import { chunkTranscript } from "../../ingest/chunk/chunk-transcript.js";
import type { ParsedFile, ParseJob, SpeechWish } from "../../ingest/parse/contract.js";
import { kindByName } from "../../ingest/parse/kind-of.js";
import { DbError, type ErrorCode } from "../../protocol/errors.js";
import { TRANSCRIPT_SECONDS_MAX, TRANSCRIPTION_MS_MAX } from "../../protocol/limits.js";
import { installedSpeechModel, SPEECH_PULL, transcribe } from "../multimodal/speech.js";

/** The end of the running and waiting work, by partition. */
const turns = new WeakMap<Partition, Promise<unknown>>();

/** The model's, not the file's: the file is stored with its tags. */
const NOT_THE_FILES: ReadonlySet<ErrorCode> = new Set(["model_unavailable", "model_not_found", "internal_error"]);

/** How the sound of a file of that name is wanted; a text says, as a note of the file, why it is not. */
export function speechWish(partition: Partition, path: string): SpeechWish | string {
  const kind = kindByName(path);
  if (kind !== "audio" && kind !== "video") {
    return "transcription: not made: the file's name is not that of a sound or a video";
  }
  try {
    if (installedSpeechModel(partition) === null) {
      return `transcription: not made: no speech model is installed; the file is found by its name and tags. An administrator can pull one (POST /v1/ai/models/pull {"model": "${SPEECH_PULL}"}); then process the file again (POST /v1/filesystem-collections/{id}/reprocess)`;
    }
  } catch (error) {
    return notMade(error);
  }
  return { ffmpeg: partition.config.multimodal.ffmpeg, secondsMax: TRANSCRIPT_SECONDS_MAX };
}

/** Rejects as `parse` does, with `file_timeout` when transcribing takes too long, and with the signal's reason. */
export function transcribed(
  partition: Partition,
  parse: () => Promise<ParsedFile>,
  sizes: Pick<ParseJob, "chunkCharacters" | "overlapCharacters">,
  tenant: string,
  signal: AbortSignal,
): Promise<ParsedFile> {
  const before = turns.get(partition) ?? Promise.resolve();
  const mine = before.then(async () => {
    signal.throwIfAborted();
    return withTranscript(partition, await parse(), sizes, tenant, signal);
  });
  turns.set(
    partition,
    mine.catch(() => undefined),
  );
  return mine;
}

async function withTranscript(
  partition: Partition,
  { sound, ...file }: ParsedFile,
  { chunkCharacters: characters, overlapCharacters: overlap }: Pick<ParseJob, "chunkCharacters" | "overlapCharacters">,
  tenant: string,
  signal: AbortSignal,
): Promise<ParsedFile> {
  if (sound === undefined) return file;
  const late = AbortSignal.timeout(TRANSCRIPTION_MS_MAX);
  try {
    const model = installedSpeechModel(partition);
    if (model === null) throw new DbError("model_unavailable", "the speech model was deleted meanwhile");
    const until = AbortSignal.any([signal, late]);
    const { text, segments, language } = await transcribe(partition, model, sound, null, tenant, until);
    if (text === "") return { ...file, notes: [...file.notes, "transcription: no speech was found in it"] };
    // As if the transcript stood below the tags.
    const from = file.characters === 0 ? 0 : file.characters + 2;
    const chunks = [...file.chunks, ...chunkTranscript(segments, { characters, overlap }, from)];
    const metadata = {
      ...file.metadata,
      transcript_model: model.name,
      ...(language !== null && { spoken_language: language }),
    };
    return { ...file, chunks, metadata, characters: from + text.length };
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) {
      const message = `Transcribing the file took longer than ${TRANSCRIPTION_MS_MAX / 1000} s and was stopped.`;
      throw new DbError("file_timeout", message);
    }
    if (!(error instanceof DbError && NOT_THE_FILES.has(error.code))) throw error;
    return { ...file, notes: [...file.notes, notMade(error)] };
  }
}

function notMade(error: unknown): string {
  if (!(error instanceof DbError)) throw error;
  return `transcription: not made: ${error.message}`;
}
