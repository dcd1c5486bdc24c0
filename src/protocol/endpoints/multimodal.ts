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
      "The image's address: a scheme and a host that the configuration allows, at a public address. Or the image itself, as data:image/png;base64,….",
  }),
);
const model = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));
const SOUNDS = "A WAV, MP3, FLAC, Ogg Vorbis or Opus file, or with ffmpeg any other sound";
const MODALITIES = ["text", "image", "audio", "video"] as const;
const mediumType = Type.Optional(
  Type.Enum(["text", "image", "image_url", "audio", "video"], {
    description: "The kind of the other member. Optional.",
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

/** Of what is embedded exactly one member says it. */
const embedded = {
  type: mediumType,
  text: Type.Optional(Type.String({ minLength: 1, maxLength: EMBEDDING_CHARACTERS_MAX })),
  image,
  image_url,
  audio: base64(SOUNDS),
  video: base64("With ffmpeg: a video"),
};

export const multimodalEndpoints = [
  {
    name: "multimodal.describe",
    door: "none",
    method: "POST",
    path: "/v1/multimodal/describe",
    summary:
      "Describe an image with the installed vision model or a provider. Without either, by its size, colours, EXIF and the words in it. Send image or image_url.",
    tag: "multimodal",
    access: "member",
    home: "tenant",
    body: Strict({
      prompt: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: CHAT_CHARACTERS_MAX,
          description: "The question about the image, for models that read prompts. Default: a description.",
        }),
      ),
      image,
      image_url,
      model,
      provider: Type.Optional(
        Type.Enum([...WRITER_KINDS], {
          description: "native, or the configured provider. Default: the installed vision model.",
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
            words: Type.String({ description: "The words in the image (OCR for English)." }),
            exif: Type.Record(Type.String(), Type.Unknown()),
          },
          { description: "What can be told without a model. Absent if a model described the image." },
        ),
      ),
      notes: Type.Optional(Type.Array(Type.String({ description: "What was not done, and how to enable it." }))),
    }),
    failures: [502, 503],
  },
  {
    name: "multimodal.search",
    door: "statements",
    method: "POST",
    path: "/v1/multimodal/search",
    summary:
      "Find what is most similar to a text, an image or the words in a sound, in collections of texts, images and other media.",
    tag: "multimodal",
    access: "member",
    home: "tenant",
    body: Strict({
      query: Strict({
        type: mediumType,
        text: Type.Optional(Type.String({ minLength: 1, maxLength: EMBEDDING_CHARACTERS_MAX })),
        image,
        image_url,
        audio: base64(`${SOUNDS}, searched by the words spoken in it`),
      }),
      modalities: Type.Optional(
        Type.Array(Type.Enum([...MODALITIES]), { minItems: 1, description: "The kinds of results. Default: all." }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MEDIA_RESULTS_MAX, description: "10 unless said." })),
      collections: Type.Optional(
        Type.Array(CollectionName, {
          minItems: 1,
          maxItems: MEDIA_COLLECTIONS_MAX,
          description: "Default: all collections whose documents have a field kind.",
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
          score: Type.Number({ description: "0 to 1. Larger is more similar. Comparable within one answer." }),
          method,
          document: Type.Record(Type.String(), Type.Unknown()),
        }),
      ),
      total: Type.Integer({ description: "Number of results in this answer." }),
      methods: Type.Array(method, { description: "All ways that were used." }),
      transcript: Type.Optional(Type.String({ description: "For a sound: its words, which were searched." })),
      model: Nullable(Type.String({ description: "The model that embedded the query, if any." })),
      took_ms: Type.Number(),
    }),
    failures: [502, 503],
  },
  {
    name: "multimodal.embed",
    door: "none",
    method: "POST",
    path: "/v1/multimodal/embed",
    summary: "Embed one text, image, sound or video: {input: {text: …}}, or its members without input.",
    tag: "multimodal",
    access: "member",
    home: "tenant",
    body: Strict({
      input: Type.Optional(Strict(embedded)),
      ...embedded,
      model: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description:
            "An installed model, tessera-visual-1 (images, videos) or tessera-audio-1. Default: the dual encoder if one is installed, else these, and for texts the default model. For sounds, the default model embeds the transcript if a speech model is installed.",
        }),
      ),
    }),
    example: { body: { input: { type: "image", image: RED_SQUARE } } },
    response: Type.Object({
      embedding: Type.Array(Type.Number(), { description: "A vector of length 1, in single precision." }),
      model: Type.String(),
      dimensions: Type.Integer(),
      modality: Type.Enum([...MODALITIES]),
      method: Type.String({
        description: "dual_encoder, text_embedding, transcript, visual_feature or audio_feature.",
      }),
    }),
    failures: [502, 503],
  },
  {
    name: "multimodal.addImage",
    door: "statements",
    method: "POST",
    path: "/v1/multimodal/images",
    summary:
      "Add an image to a collection: its thumbnail, words, EXIF and vectors, but not the file. The first image creates the collection.",
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
        Type.Boolean({ description: "Read the words in it, which takes about a second. Default: true." }),
      ),
    }),
    example: { body: { collection: "picture", id: "red", image: RED_SQUARE, caption: "A red square" } },
    response: Type.Object({
      id: Type.String(),
      collection: Type.String(),
      ...SeenFacts,
      text: Type.String({ description: "The text by which words find it: caption, words in the image, EXIF." }),
      models: Type.Array(Type.String(), { description: "The models that made its vectors." }),
      notes: Type.Array(Type.String()),
    }),
    status: 201,
    failures: [502, 503],
  },
  {
    name: "multimodal.transcribe",
    door: "none",
    method: "POST",
    path: "/v1/multimodal/transcribe",
    summary: "Transcribe a sound, with times, by the installed speech model.",
    tag: "multimodal",
    access: "member",
    home: "tenant",
    body: Strict({
      audio: base64(`${SOUNDS}; at most ${AUDIO_SECONDS_MAX} s`),
      language: Type.Optional(
        Type.String({ minLength: 2, maxLength: 8, description: "A code such as en. Default: the model detects it." }),
      ),
      model,
    }),
    example: { body: { audio: SILENCE } },
    response: Type.Object({
      text: Type.String(),
      language: Nullable(
        Type.String({ description: "Null if the model knows only one language, or if there is no speech." }),
      ),
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
