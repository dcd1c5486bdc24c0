/**
 * Collects everything that is wanted about one image of a request, in one call. Run in a task thread
 * (workers/task.ts).
 */
import { createHash } from "node:crypto";
import { OCR_MS_MAX } from "../../protocol/limits.js";
import { type DecodedImage, thumbnailOf } from "../image/decode-image.js";
import { type Fit, fitImage, plainImage } from "../image/fit-image.js";
import { coloursOf, type ImageColour } from "../image/image-colours.js";
import { inspectImage } from "../image/inspect-image.js";
import { type ExifFacts, readExif } from "../image/read-exif.js";
import { readImageText } from "../image/read-text.js";
import { VISUAL_SIDE, visualFeature } from "../image/visual-feature.js";
import { blamingRequest, bytesOf, type MediaBytes } from "./media-bytes.js";

export interface ImageJob {
  readonly image: MediaBytes;
  /** The classical feature. */
  readonly feature?: boolean;
  /** Thumbnail and EXIF. */
  readonly record?: boolean;
  readonly colours?: boolean;
  /** The words in it. */
  readonly words?: boolean;
  /** As a service is shown it. */
  readonly shownSideMax?: number;
  /** As a model reads it. */
  readonly pixels?: { readonly side: number; readonly fit: Fit };
}

export interface SeenImage {
  readonly mediaType: string;
  /** As stored. */
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
  /** Of the bytes, hexadecimal. */
  readonly sha256: string;
  readonly feature?: Float32Array;
  readonly thumbnail?: string;
  readonly exif?: ExifFacts;
  readonly colours?: readonly ImageColour[];
  readonly words?: string;
  readonly shown?: { readonly base64: string; readonly mediaType: "image/png" | "image/jpeg" };
  readonly pixels?: DecodedImage;
  /** What was not done and why. */
  readonly notes: readonly string[];
}

/** Throws invalid_request for what is no image, broken, cut off or too large. */
export function lookAtImage(job: ImageJob): Promise<SeenImage> {
  return blamingRequest(job.image.field, async () => {
    const bytes = bytesOf(job.image);
    const { mediaType, width, height } = await inspectImage(bytes);
    // A file that is cut off within its pixels is found out by decoding alone, so this is always done.
    const small = await fitImage(bytes, VISUAL_SIDE, "stretch");
    const notes: string[] = [];
    const shown = job.shownSideMax === undefined ? null : await plainImage(bytes, job.shownSideMax);
    return {
      mediaType,
      width,
      height,
      bytes: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      ...(job.feature === true && { feature: visualFeature(small) }),
      ...(job.colours === true && { colours: coloursOf(small) }),
      ...(job.record === true && {
        thumbnail: Buffer.from(await thumbnailOf(bytes)).toString("base64"),
        exif: await readExif(bytes),
      }),
      ...(job.words === true && { words: await wordsIn(bytes, notes) }),
      ...(shown !== null && {
        shown: { base64: Buffer.from(shown.bytes).toString("base64"), mediaType: shown.mediaType },
      }),
      ...(job.pixels !== undefined && { pixels: await fitImage(bytes, job.pixels.side, job.pixels.fit) }),
      notes,
    };
  });
}

/** An image whose words take too long to read is an image all the same. */
async function wordsIn(bytes: Uint8Array, notes: string[]): Promise<string> {
  try {
    return (await readImageText(bytes, { timeoutMs: OCR_MS_MAX })).text;
  } catch (error) {
    if ((error as { code?: string }).code !== "file_timeout") throw error;
    notes.push(`ocr: reading the words took longer than ${OCR_MS_MAX / 1000} s, so the image is not found by them`);
    return "";
  }
}
