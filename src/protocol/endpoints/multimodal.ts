/** Images, sounds and videos beside texts: described, stored, searched and embedded. */

import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import {
  AUDIO_SECONDS_MAX,
  CAPTION_CHARACTERS_MAX,
  CHAT_CHARACTERS_MAX,
  EMBEDDING_CHARACTERS_MAX,
  MEDIA_COLLECTIONS_MAX,
  MEDIA_RESULTS_MAX,
} from "../limits.js";
import { WRITER_KINDS } from "../provider-kinds.js";
import { RED_SQUARE, SILENCE } from "./examples.js";
import { CollectionName, Nullable, Strict } from "./schemas.js";

const base64 = (what: string) =>
  Type.Optional(Type.String({ minLength: 1, description: `${what} as base64, without a data: prefix.` }));
const image = base64("A PNG, JPEG, WebP, GIF, TIFF or AVIF image");
const image_url = Type.Optional(
  Type.String({
    minLength: 1,
    description:
      "Where the image is: a scheme and a host that the configuration allows, at a public address. Or the image itself, as data:image/png;base64,….",
  }),
);
const model = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));
const SOUNDS = "A WAV, MP3, FLAC, Ogg Vorbis or Opus file, or with ffmpeg any other sound";
const MODALITIES = ["text", "image", "audio", "video"] as const;
const mediumType = Type.Optional(
  Type.Enum(["text", "image", "image_url", "audio", "video"], {
    description: "What the other member is, if you like.",
  }),
);
const method = Type.String({
  description:
    "How it was compared: dual_encoder (a model that knows images and words), visual_feature (colours and edges, no model), or text (words: captions, words in images, EXIF, documents).",
});
const SeenFacts = {
  media_type: Type.String(),
  width: Type.Integer(),
  height: Type.Integer(),
};

export const multimodalEndpoints = [
  {
    name: "multimodal.describe",
    method: "POST",
    path: "/v1/multimodal/describe",
    summary:
      "An image in words: by the vision model that is installed, or by a provider; without either by its size, colours, EXIF and the words in it. Send image or image_url.",
    tag: "multimodal",
    access: "member",
    home: "tenant",
    body: Strict({
      prompt: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: CHAT_CHARACTERS_MAX,
          description: "What is asked of the image, of models that read it; a description unless said.",
        }),
      ),
      image,
      image_url,
      model,
      provider: Type.Optional(
        Type.Enum([...WRITER_KINDS], {
          description: "native, or the provider that is configured; the installed vision model unless said.",
        }),
      ),
      max_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
      temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    }),
    example: { body: { image: RED_SQUARE } },
    response: Type.Object({
      text: Type.String(),
      model: Type.String(),
      provider: Type.String(),
      finish_reason: Type.String(),
      usage: Type.Object({ input_tokens: Type.Integer(), output_tokens: Type.Integer(), total_tokens: Type.Integer() }),
      facts: Type.Optional(
        Type.Object(
          {
            ...SeenFacts,
            bytes: Type.Integer(),
            colors: Type.Array(
              Type.Object({
                name: Type.String(),
                hex: Type.String({ description: "The mean of its pixels, #rrggbb." }),
                share: Type.Number({ description: "Of all pixels, 0 to 1." }),
              }),
            ),
            words: Type.String({ description: "What is written in it (OCR of English)." }),
            exif: Type.Record(Type.String(), Type.Unknown()),
          },
          { description: "Where no model described it." },
        ),
      ),
      notes: Type.Optional(Type.Array(Type.String({ description: "What was not done, and how it would be." }))),
    }),
    failures: [502, 503],
  },
  {
    name: "multimodal.search",
    method: "POST",
    path: "/v1/multimodal/search",
    summary:
      "What is most like a text, an image or what is said in a sound, in collections of texts, images and other media.",
    tag: "multimodal",
    access: "member",
    home: "tenant",
    body: Strict({
      query: Strict({
        type: mediumType,
        text: Type.Optional(Type.String({ minLength: 1, maxLength: EMBEDDING_CHARACTERS_MAX })),
        image,
        image_url,
        audio: base64(`${SOUNDS}, which is looked for by what is said in it`),
      }),
      modalities: Type.Optional(
        Type.Array(Type.Enum([...MODALITIES]), { minItems: 1, description: "Of what is found; all unless said." }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MEDIA_RESULTS_MAX, description: "10 unless said." })),
      collections: Type.Optional(
        Type.Array(CollectionName, {
          minItems: 1,
          maxItems: MEDIA_COLLECTIONS_MAX,
          description: "All that say of their documents what kind they are (field kind), unless said.",
        }),
      ),
    }),
    example: { body: { query: { text: "a red square" }, limit: 3 } },
    response: Type.Object({
      results: Type.Array(
        Type.Object({
          collection: Type.String(),
          id: Type.String(),
          modality: Type.Enum([...MODALITIES]),
          score: Type.Number({ description: "0 to 1: larger is more alike; comparable within one answer." }),
          method,
          document: Type.Record(Type.String(), Type.Unknown()),
        }),
      ),
      total: Type.Integer({ description: "Results of this answer." }),
      methods: Type.Array(method, { description: "All that were used." }),
      transcript: Type.Optional(Type.String({ description: "Of a sound: what is said in it, and looked for." })),
      model: Nullable(Type.String({ description: "What made the vector of the query, where one was made." })),
      took_ms: Type.Number(),
    }),
    failures: [502, 503],
  },
  {
    name: "multimodal.embed",
    method: "POST",
    path: "/v1/multimodal/embed",
    summary: "The vector of one text, image, sound or video.",
    tag: "multimodal",
    access: "member",
    home: "tenant",
    body: Strict({
      input: Strict({
        type: mediumType,
        text: Type.Optional(Type.String({ minLength: 1, maxLength: EMBEDDING_CHARACTERS_MAX })),
        image,
        image_url,
        audio: base64(SOUNDS),
        video: base64("With ffmpeg: a video"),
      }),
      model: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description:
            "A model that is installed, tessera-visual-1 (images, videos) or tessera-audio-1. Unless said: the dual encoder if one is installed, else these, and for texts the usual model; for sounds the usual model of what is said in them, if a speech model is installed.",
        }),
      ),
    }),
    example: { body: { input: { type: "image", image: RED_SQUARE } } },
    response: Type.Object({
      embedding: Type.Array(Type.Number(), { description: "Of length 1, in single precision." }),
      model: Type.String(),
      dimensions: Type.Integer(),
      modality: Type.Enum([...MODALITIES]),
      method: Type.String({
        description: "dual_encoder, text_embedding, transcript (of what is said), visual_feature or audio_feature.",
      }),
    }),
    failures: [502, 503],
  },
  {
    name: "multimodal.addImage",
    method: "POST",
    path: "/v1/multimodal/images",
    summary:
      "Puts an image into a collection, which is made by the first one: its thumbnail, words, EXIF and vectors, not the file.",
    tag: "multimodal",
    access: "writer",
    home: "tenant",
    body: Strict({
      collection: Type.Optional(CollectionName),
      id: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
      image,
      image_url,
      caption: Type.Optional(Type.String({ maxLength: CAPTION_CHARACTERS_MAX })),
      metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      ocr: Type.Optional(
        Type.Boolean({ description: "Read the words in it; true unless said. Takes about a second." }),
      ),
    }),
    example: { body: { collection: "picture", id: "red", image: RED_SQUARE, caption: "A red square" } },
    response: Type.Object({
      id: Type.String(),
      collection: Type.String(),
      ...SeenFacts,
      text: Type.String({ description: "By which words find it: caption, words in the image, EXIF." }),
      models: Type.Array(Type.String(), { description: "That made its vectors." }),
      notes: Type.Array(Type.String()),
    }),
    status: 201,
    failures: [502, 503],
  },
  {
    name: "multimodal.transcribe",
    method: "POST",
    path: "/v1/multimodal/transcribe",
    summary: "What is said in a sound, in writing and with times: by the speech model that is installed.",
    tag: "multimodal",
    access: "member",
    home: "tenant",
    body: Strict({
      audio: base64(`${SOUNDS}; at most ${AUDIO_SECONDS_MAX} s`),
      language: Type.Optional(
        Type.String({ minLength: 2, maxLength: 8, description: "A code as en; the model finds out unless said." }),
      ),
      model,
    }),
    example: { body: { audio: SILENCE } },
    response: Type.Object({
      text: Type.String(),
      language: Nullable(Type.String({ description: "Null: the model knows one alone, or nothing is said." })),
      duration_seconds: Type.Number(),
      segments: Type.Array(
        Type.Object({
          start: Type.Number({ description: "Seconds from the sound's beginning." }),
          end: Type.Number(),
          text: Type.String(),
        }),
      ),
      model: Type.String(),
      provider: Type.String({ description: "native." }),
      usage: Type.Object({ input_tokens: Type.Integer(), output_tokens: Type.Integer(), total_tokens: Type.Integer() }),
    }),
    failures: [503],
  },
] as const satisfies readonly EndpointSpec[];
