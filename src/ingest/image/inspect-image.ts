/**
 * Reads facts about an image from its header alone: nothing is decoded before its pixels are known to be within
 * bounds. The other functions of this room call it first; so does every caller that takes an image from a client.
 */
import { DbError } from "../../protocol/errors.js";
import { IMAGE_PIXELS_MAX } from "../../protocol/limits.js";
import { loadSharp } from "./load-sharp.js";

export interface ImageFacts {
  readonly format: ImageFormat;
  readonly mediaType: string;
  /** As stored: before its orientation is applied. */
  readonly width: number;
  readonly height: number;
  /** Frames of an animation, pages of a TIFF. */
  readonly frames: number;
}

export type ImageFormat = "png" | "jpeg" | "gif" | "webp" | "tiff" | "avif";

/**
 * Starts of the formats that are decoded: offset, bytes in Latin-1. SVG is not among them: it is a program, not pixels.
 */
const STARTS: readonly (readonly [ImageFormat, number, string])[] = [
  ["png", 0, "\x89PNG\r\n\x1a\n"],
  ["jpeg", 0, "\xff\xd8\xff"],
  ["gif", 0, "GIF87a"],
  ["gif", 0, "GIF89a"],
  ["webp", 8, "WEBP"],
  ["tiff", 0, "II*\0"],
  ["tiff", 0, "MM\0*"],
  ["avif", 4, "ftypavif"],
  ["avif", 4, "ftypavis"],
];
const UNSUPPORTED_STARTS: readonly (readonly [string, number, string])[] = [
  ["HEIC", 4, "ftypheic"],
  ["HEIC", 4, "ftypheix"],
  ["HEIC", 4, "ftypmif1"],
  ["BMP", 0, "BM"],
];

/**
 * Throws DbError `file_unsupported` (no format that is decoded), `file_too_large` (more pixels than `pixelsMax`) or
 * `file_corrupt` (a header that cannot be read).
 */
export async function inspectImage(bytes: Uint8Array, { pixelsMax = IMAGE_PIXELS_MAX } = {}): Promise<ImageFacts> {
  const format = formatOf(bytes);
  const sharp = await loadSharp();
  let header: { width?: number; height?: number; pages?: number };
  try {
    // The bound is checked here, where it can be said in words.
    header = await sharp(bytes, { limitInputPixels: false }).metadata();
  } catch (error) {
    throw corruptImage(format, error);
  }
  const { width = 0, height = 0, pages = 1 } = header;
  if (width < 1 || height < 1) throw corruptImage(format, new Error("it has no size"));
  if (width * height > pixelsMax) {
    throw new DbError("file_too_large", `The image has ${width} × ${height} pixels; at most ${pixelsMax} are decoded.`);
  }
  return { format, mediaType: `image/${format}`, width, height, frames: pages };
}

export function corruptImage(format: string, error: unknown): DbError {
  const reason = (error as Error).message.split("\n")[0];
  return new DbError("file_corrupt", `The ${format.toUpperCase()} image is broken or cut off: ${reason}.`);
}

function formatOf(bytes: Uint8Array): ImageFormat {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 32)).toString("latin1");
  const found = STARTS.find(([, offset, magic]) => start.startsWith(magic, offset));
  if (found !== undefined) return found[0];
  const other = UNSUPPORTED_STARTS.find(([, offset, magic]) => start.startsWith(magic, offset));
  throw new DbError(
    "file_unsupported",
    `${other === undefined ? "The content is no image" : `${other[0]} images are not decoded`}; use PNG, JPEG, WebP, GIF, TIFF or AVIF.`,
  );
}
