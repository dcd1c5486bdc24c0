/** Vectors of texts, images, sounds and videos: by a dual encoder where one is installed, else by classical features. */
import { RUN_ITEMS_MAX } from "../../ai/inference-lane.js";
import { AUDIO_MODEL } from "../../ingest/audio/audio-feature.js";
import { VISUAL_MODEL } from "../../ingest/image/visual-feature.js";
import type { MediaBytes } from "../../ingest/media/media-bytes.js";
import { DbError } from "../../protocol/errors.js";
import type { Request } from "../request.js";
import { embedderOf } from "../request-embedder.js";
import { type DualEncoderFacts, dualEncoder } from "./media-models.js";
import { type MediaSource, tasksOf } from "./media-source.js";

export interface MediaVector {
  readonly vector: Float32Array;
  readonly model: string;
  readonly method: "dual_encoder" | "text_embedding" | "visual_feature" | "audio_feature";
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

async function embedSound(request: Request, audio: MediaBytes, model: string | null): Promise<MediaVector> {
  if (model !== null && model !== AUDIO_MODEL) throw notFor(model, "sounds");
  const { ffmpeg } = request.partition.config.multimodal;
  const vector = await tasksOf(request).listenTo({ audio, ffmpeg });
  return { vector, model: AUDIO_MODEL, method: "audio_feature" };
}

/** The mean of the vectors of its key frames. */
async function embedVideo(request: Request, video: MediaBytes, model: string | null): Promise<MediaVector> {
  if (model === AUDIO_MODEL) throw notFor(model, "videos");
  const dual = model === VISUAL_MODEL ? null : dualEncoder(request, model);
  const { ffmpeg } = request.partition.config.multimodal;
  const { features, frames } = await tasksOf(request).watchVideo({ video, ffmpeg, pixels: dual?.pixels ?? null });
  if (dual === null) return { vector: meanOf(features), model: VISUAL_MODEL, method: "visual_feature" };
  return intoSpace(request, frames, dual);
}

/** The mean of what there are vectors of, of length 1. */
export async function intoSpace(
  request: Request,
  items: Parameters<Request["partition"]["models"]["embedInto"]>[0],
  { name }: DualEncoderFacts,
): Promise<MediaVector> {
  const { models } = request.partition;
  const some = items.slice(0, RUN_ITEMS_MAX);
  const vectors = await models.embedInto(some, name, request.head.tenantId, request.signal());
  request.checkpoint();
  return { vector: vectors.length === 1 ? vectors[0]! : meanOf(vectors), model: name, method: "dual_encoder" };
}

function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(vectors[0]!.length);
  for (const vector of vectors) for (let i = 0; i < mean.length; i++) mean[i] = mean[i]! + vector[i]!;
  const length = Math.hypot(...mean);
  return length === 0 ? mean : mean.map((x) => x / length);
}

function notFor(model: string, what: string): DbError {
  return new DbError("invalid_request", `model: "${model}" makes no vectors of ${what}`, { field: "model" });
}
