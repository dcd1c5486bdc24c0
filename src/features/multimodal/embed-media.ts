/**
 * Vectors of texts, images, sounds and videos: by a dual encoder where one is installed, else by classical features.
 */

import type { Request } from "../../actor/request.js";
import { RUN_ITEMS_MAX } from "../../ai/inference-lane.js";
import { AUDIO_MODEL } from "../../ingest/audio/audio-feature.js";
import { meanDirection } from "../../ingest/image/mean-direction.js";
import { VISUAL_MODEL } from "../../ingest/image/visual-feature.js";
import type { MediaBytes } from "../../ingest/media/media-bytes.js";
import { DbError } from "../../protocol/errors.js";
import { embedderOf } from "../models/request-embedder.js";
import { type DualEncoderFacts, dualEncoder } from "./media-models.js";
import { type MediaSource, tasksOf } from "./media-source.js";
import { installedSpeechModel, speechModel, transcribe } from "./speech.js";

export interface MediaVector {
  readonly vector: Float32Array;
  readonly model: string;
  readonly method: "dual_encoder" | "text_embedding" | "transcript" | "visual_feature" | "audio_feature";
}

/** `model` null: the usual one. Throws invalid_request, model_not_found, model_unavailable, program_not_installed. */
export function embedMedia(request: Request, source: MediaSource, model: string | null): Promise<MediaVector> {
  switch (source.modality) {
    case "text":
      return embedText(request, source.text, model);
    case "image":
      return embedImage(request, source.media, model);
    case "audio":
      return embedSound(request, source.media, model);
    case "video":
      return embedVideo(request, source.media, model);
  }
}

async function embedText(request: Request, text: string, model: string | null): Promise<MediaVector> {
  const { models } = request.partition;
  const isText = model !== null && models.kindOf(model) === "embedding";
  if (model === VISUAL_MODEL || model === AUDIO_MODEL) throw notFor(model, "texts");
  const dual = isText ? null : dualEncoder(request, model);
  if (dual !== null) return intoSpace(request, [text], dual);
  const [vector] = await embedderOf(request).embed([text], model ?? undefined);
  return { vector: vector!, model: models.describe(model).id, method: "text_embedding" };
}

async function embedImage(request: Request, image: MediaBytes, model: string | null): Promise<MediaVector> {
  if (model === AUDIO_MODEL) throw notFor(model, "images");
  const dual = model === VISUAL_MODEL ? null : dualEncoder(request, model);
  const tasks = tasksOf(request);
  if (dual === null) {
    const { feature } = await tasks.lookAtImage({ image, feature: true });
    return { vector: feature!, model: VISUAL_MODEL, method: "visual_feature" };
  }
  const { pixels } = await tasks.lookAtImage({ image, pixels: dual.pixels });
  return intoSpace(request, [pixels!], dual);
}

/** By its words, if a model of speech is installed and somebody speaks; else by its sound. */
async function embedSound(request: Request, audio: MediaBytes, model: string | null): Promise<MediaVector> {
  const { partition } = request;
  const { ffmpeg } = partition.config.multimodal;
  if (model !== AUDIO_MODEL) {
    if (model !== null && partition.models.kindOf(model) !== "embedding") throw notFor(model, "sounds");
    const isHeard = model !== null || installedSpeechModel(partition) !== null;
    const text = isHeard ? await saidIn(request, audio) : "";
    if (text !== "") {
      const [vector] = await embedderOf(request).embed([text], model ?? undefined);
      return { vector: vector!, model: partition.models.describe(model).id, method: "transcript" };
    }
    if (model !== null) {
      throw new DbError("invalid_request", `${audio.field}: no speech was found in it`, { field: audio.field });
    }
  }
  const vector = await tasksOf(request).listenTo({ audio, ffmpeg });
  return { vector, model: AUDIO_MODEL, method: "audio_feature" };
}

/** Throws invalid_request before anything is said of models; model_unavailable, program_not_installed. */
export async function saidIn(request: Request, audio: MediaBytes): Promise<string> {
  const { partition } = request;
  const sound = await tasksOf(request).hearSound({ audio, ffmpeg: partition.config.multimodal.ffmpeg });
  request.checkpoint();
  return (await transcribe(partition, speechModel(partition, null), sound, null, request.modelUser, request.signal()))
    .text;
}

/** The mean of the vectors of its key frames. */
async function embedVideo(request: Request, video: MediaBytes, model: string | null): Promise<MediaVector> {
  if (model === AUDIO_MODEL) throw notFor(model, "videos");
  const dual = model === VISUAL_MODEL ? null : dualEncoder(request, model);
  const { ffmpeg } = request.partition.config.multimodal;
  const { features, frames } = await tasksOf(request).watchVideo({ video, ffmpeg, pixels: dual?.pixels ?? null });
  if (dual === null) return { vector: meanDirection(features), model: VISUAL_MODEL, method: "visual_feature" };
  return intoSpace(request, frames, dual);
}

/** The mean of the available vectors, normalised to length 1. */
export async function intoSpace(
  request: Request,
  items: Parameters<Request["partition"]["models"]["embedInto"]>[0],
  { name }: DualEncoderFacts,
): Promise<MediaVector> {
  const { models } = request.partition;
  const some = items.slice(0, RUN_ITEMS_MAX);
  const vectors = await models.embedInto(some, name, request.modelUser, request.signal());
  request.checkpoint();
  return { vector: vectors.length === 1 ? vectors[0]! : meanDirection(vectors), model: name, method: "dual_encoder" };
}

function notFor(model: string, what: string): DbError {
  return new DbError("invalid_request", `model: "${model}" makes no vectors of ${what}`, { field: "model" });
}
