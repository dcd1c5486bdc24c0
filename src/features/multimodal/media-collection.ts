/**
 * Collections that hold images: document collections like others, made by the first image that is put into one. An image
 * is one document, its words (caption, words in it, EXIF) a text that is embedded, what it looks like a vector, and where a
 * dual encoder is installed when the collection is made, its vector by that another. The file itself is not kept.
 */
import type { Collection, Field } from "../../document/collection.js";
import type { ExifFacts } from "../../ingest/image/read-exif.js";
import { VISUAL_DIMENSIONS } from "../../ingest/image/visual-feature.js";
import type { DualEncoderFacts } from "./media-models.js";

export const IMAGES_COLLECTION = "images";
/** Says what a document is: also of passages of files, in the collections of folders. */
export const KIND_FIELD = "kind";
export const VISUAL_FIELD = "visual";

/** The field with a model's vectors. */
export function vectorFieldOf(model: string): string {
  return `vector_${model.replaceAll(/[^a-z0-9]+/g, "_")}`;
}

/** As POST /v1/collections takes it. */
export function imageSchema(dual: DualEncoderFacts | null): object {
  const vectors = [{ name: VISUAL_FIELD, dimensions: VISUAL_DIMENSIONS }];
  if (dual !== null) vectors.push({ name: vectorFieldOf(dual.name), dimensions: dual.dimensions });
  return {
    fields: [
      { name: KIND_FIELD, type: "string", required: true, index: true },
      { name: "text", type: "string", embed: true },
      { name: "caption", type: "string" },
      { name: "media_type", type: "string" },
      { name: "width", type: "integer" },
      { name: "height", type: "integer" },
      { name: "bytes", type: "integer" },
      { name: "sha256", type: "string", index: true },
      { name: "exif", type: "object" },
      { name: "metadata", type: "object" },
      ...vectors.map(({ name, dimensions }) => ({ name, type: "vector", dimensions })),
    ],
    indexes: [
      { name: "words", type: "text", fields: ["text"] },
      ...vectors.map(({ name }) => ({ name: `near_${name}`, type: "vector", field: name, metric: "cosine" })),
    ],
  };
}

/** The collection's field for vectors of that many numbers; null: it has none. */
export function vectorField(collection: Collection, name: string, dimensions: number): Field | null {
  const field = collection.columns.get(name);
  return field?.type === "vector" && field.dimensions === dimensions ? field : null;
}

/** What words find an image by. */
export function wordsOf(caption: string, words: string, exif: ExifFacts, metadata: object): string {
  const { description, keywords = [], camera, lens, taken, artist } = exif;
  const ofCamera = [description, ...keywords, camera, lens, taken, artist].filter((part) => part !== undefined);
  const given = Object.values(metadata)
    .flat()
    .filter((value) => typeof value === "string");
  return [caption, words, ofCamera.join("\n"), given.join("\n")].filter((part) => part.trim() !== "").join("\n\n");
}
