/** POST /v1/multimodal/transcribe: transcribes a sound. */

import type { Request } from "../../actor/request.js";
import { SPEECH_RATE } from "../../ingest/audio/speech-sound.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { type MediaMembers, sourceOf, tasksOf } from "./media-source.js";
import { type SpeechModel, speechModel, type Transcript, transcribe } from "./speech.js";

export interface TranscribeBody extends MediaMembers {
  readonly language?: string;
  readonly model?: string;
}

/** Throws invalid_request for the sound before anything is said of models. */
type Transcribed = ResponseOf<"multimodal.transcribe">;

export async function transcribeSound(request: Request, body: TranscribeBody): Promise<Transcribed> {
  const source = await sourceOf(request, body, ["audio"]);
  if (source.modality === "text") throw new Error("a sound was asked for");
  const { partition } = request;
  const sound = await tasksOf(request).hearSound({
    audio: source.media,
    ffmpeg: partition.config.multimodal.ffmpeg,
  });
  request.checkpoint();
  const model = speechModel(partition, body.model ?? null);
  const language = languageOf(model, body.language);
  const transcript = await transcribe(partition, model, sound, language, request.modelUser, request.signal());
  return { ...shown(transcript), duration_seconds: Math.round((sound.samples / SPEECH_RATE) * 100) / 100 };
}

function shown({
  text,
  segments,
  language,
  model,
  inputTokens,
  outputTokens,
}: Transcript): Omit<Transcribed, "duration_seconds"> {
  const usage = {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
  return { text, language, model, provider: "native", segments, usage };
}

function languageOf({ name, manifest }: SpeechModel, language: string | undefined): string | null {
  if (language === undefined) return null;
  const known = manifest.speech?.languages;
  if (known !== undefined && Object.hasOwn(known, language)) return language;
  const what =
    known === undefined ? "knows one language, which is not to be named" : `knows ${Object.keys(known).join(", ")}`;
  throw new DbError("invalid_request", `language: the model "${name}" ${what}`, { field: "language" });
}
