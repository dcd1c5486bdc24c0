/**
 * Transcribes a sound by the installed model of speech. Called by the work of /v1/multimodal and of filesystem
 * collections.
 */

import type { Partition } from "../../actor/partition.js";
import type { SpokenSegment } from "../../ai/inference-messages.js";
import type { Manifest } from "../../ai/manifest.js";
import type { ModelUser } from "../../ai/model-budget.js";
import type { SpeechSound } from "../../ingest/audio/speech-sound.js";
import { DbError } from "../../protocol/errors.js";

/** Of ai/library/known-models.ts. */
export const SPEECH_PULL = "whisper-tiny";

export interface SpeechModel {
  readonly name: string;
  readonly manifest: Manifest;
}

export interface Transcript {
  readonly text: string;
  readonly segments: readonly SpokenSegment[];
  /** As the model's manifest names it; null: the model knows one alone, or nothing is said. */
  readonly language: string | null;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The configured model, or the first one that is installed, or null. Throws if the configured one is unusable. */
export function installedSpeechModel({ models, config }: Partition): SpeechModel | null {
  const { speechModel: configured } = config.multimodal;
  if (configured === "") return models.firstOf("speech");
  return { name: configured, manifest: models.describeKind(configured, "speech") };
}

/** Throws `model_unavailable` that says how to get one, when none is installed. `name` null: the usual one. */
export function speechModel(partition: Partition, name: string | null): SpeechModel {
  if (name !== null) return { name, manifest: partition.models.describeKind(name, "speech") };
  const found = installedSpeechModel(partition);
  if (found !== null) return found;
  throw new DbError("model_unavailable", "No speech model is installed.", {
    hint: `An administrator can pull one: POST /v1/ai/models/pull {"model": "${SPEECH_PULL}"}, or SELECT PULL_MODEL('${SPEECH_PULL}').`,
    pull: SPEECH_PULL,
  });
}

/** `language`: one that the model's manifest names; null: the model finds out. Rejects with the signal's reason. */
export async function transcribe(
  { models }: Partition,
  { name }: SpeechModel,
  { parts, samples }: SpeechSound,
  language: string | null,
  user: ModelUser,
  signal: AbortSignal,
): Promise<Transcript> {
  const sound = { parts, samples, language };
  // What is said of how a text is generated is of no account for a sound.
  const asked = { messages: [], sound, tokensMax: 1, temperature: 0, topP: 1, seed: null, stop: [] };
  const written = models.generate(name, asked, user, signal);
  let text = "";
  for await (const piece of written) text += piece;
  const { reason, segments = [], language: heard = null, inputTokens, outputTokens } = await written.ended;
  if (reason === "cancelled") {
    signal.throwIfAborted();
    throw new DbError("overloaded", "The transcription was interrupted; retry.", { retry_after_seconds: 1 });
  }
  return { text, segments, language: segments.length === 0 ? null : heard, model: name, inputTokens, outputTokens };
}
