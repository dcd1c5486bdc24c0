/** /v1/multimodal: images, sounds and videos beside texts. The work is in the files beside. */

import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import type { InputOf } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { Answer } from "../../session/answer.js";
import { elapsedSince } from "../../session/sql-result.js";
import { vectorToJson } from "../../values/vector-text.js";
import { addImage, type ImageBody } from "./add-image.js";
import { type DescribeBody, describeImage } from "./describe-image.js";
import { embedMedia } from "./embed-media.js";
import { sourceOf } from "./media-source.js";
import { type MediaSearchBody, searchMedia } from "./search-media.js";
import { type TranscribeBody, transcribeSound } from "./transcribe-sound.js";

export const multimodalHandlers = {
  "multimodal.describe": async (request, { body }) => ({ plain: await describeImage(request, body as DescribeBody) }),
  "multimodal.transcribe": async (request, { body }) => ({
    plain: await transcribeSound(request, body as TranscribeBody),
  }),
  "multimodal.search": async (request, { body }) => {
    const started = performance.now();
    const found = await searchMedia(request, body as MediaSearchBody);
    return { plain: { ...found, took_ms: elapsedSince(started) } };
  },
  "multimodal.embed": embed,
  "multimodal.addImage": (request, { body }) => addImage(request, body as ImageBody),
} satisfies Handlers;

async function embed(
  request: Request,
  { body }: InputOf<"multimodal.embed">,
): Promise<Answer<ResponseOf<"multimodal.embed">>> {
  const { input, model = null, ...bare } = body;
  const [sentBeside] = Object.keys(bare);
  if (input !== undefined && sentBeside !== undefined) {
    throw new DbError("invalid_request", `Send "input" or "${sentBeside}", not both.`, { field: sentBeside });
  }
  const members = ["text", "image", "image_url", "audio", "video"] as const;
  const source = await (input === undefined && sentBeside !== undefined
    ? sourceOf(request, bare, members)
    : sourceOf(request, input ?? {}, members, "input."));
  const { vector, model: name, method } = await embedMedia(request, source, model);
  const { modality } = source;
  // In single precision, as vectors are written everywhere.
  const embedding = JSON.parse(vectorToJson(vector)) as number[];
  return { plain: { embedding, model: name, dimensions: vector.length, modality, method } };
}
