/** Facts about an image that need no model: its size, colours, words and EXIF, as data and as sentences. */
import type { ImageColour } from "../../ingest/image/image-colours.js";
import type { SeenImage } from "../../ingest/media/look-at-image.js";

/** In place of a model's name. */
export const FACTS_MODEL = "tessera-image-facts-1";

export interface ImageFactsAnswer {
  readonly media_type: string;
  /** As stored. */
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
  readonly colors: readonly ImageColour[];
  /** What is written in it, as far as it was read; "": nothing. */
  readonly words: string;
  readonly exif: Readonly<Record<string, unknown>>;
}

export function factsOf({ mediaType, width, height, bytes, colours, words, exif }: SeenImage): ImageFactsAnswer {
  return { media_type: mediaType, width, height, bytes, colors: colours!, words: words!.trim(), exif: { ...exif! } };
}

export function sentencesOf({ media_type, width, height, colors, words, exif }: ImageFactsAnswer): string {
  const form = width === height ? "square" : width > height ? "landscape" : "portrait";
  const format = media_type.replace("image/", "").toUpperCase();
  const shades = colors.map(({ name, share }) => `${name} (${Math.round(share * 100)} %)`);
  const { taken, camera, latitude, longitude, description } = exif;
  return [
    `A ${format} image of ${width} × ${height} pixels (${form}).`,
    shades.length > 0 && `Colours: ${shades.join(", ")}.`,
    words !== "" && `Words in it: "${words.replaceAll(/\s+/g, " ")}".`,
    description !== undefined && `Its file says: "${description}".`,
    taken !== undefined && `Taken ${taken}${camera === undefined ? "" : ` with ${camera}`}.`,
    taken === undefined && camera !== undefined && `Taken with ${camera}.`,
    latitude !== undefined && longitude !== undefined && `Place: ${latitude}, ${longitude}.`,
  ]
    .filter((sentence) => sentence !== false)
    .join(" ");
}
