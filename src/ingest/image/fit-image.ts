/**
 * An image in the size or form that somebody else wants: pixels for models and features, files for services. In task
 * threads.
 */
import type { Sharp } from "sharp";
import { IMAGE_PIXELS_MAX } from "../../protocol/limits.js";
import type { DecodedImage } from "./decode-image.js";
import { corruptImage, type ImageFacts, inspectImage } from "./inspect-image.js";
import { loadSharp } from "./load-sharp.js";

/** How an image of another shape is fitted: its edges are cropped, or it is stretched. */
export type Fit = "crop" | "stretch";

/** The first frame, upright, on white, as a square with the given side in pixels. Throws as `decodeImage`. */
export async function fitImage(bytes: Uint8Array, side: number, fit: Fit): Promise<DecodedImage> {
  const { image, facts } = await upright(bytes);
  const square = image
    .flatten({ background: "#ffffff" })
    .toColourspace("srgb")
    .removeAlpha()
    .resize(side, side, { fit: fit === "crop" ? "cover" : "fill", kernel: "cubic" });
  const { data } = await orCorrupt(facts, () => square.raw().toBuffer({ resolveWithObject: true }));
  return { width: side, height: side, rgb: data };
}

export interface PlainImage {
  readonly bytes: Uint8Array;
  readonly mediaType: "image/png" | "image/jpeg";
}

/** As a file that any service reads, without what else was in it (places, names), no side longer than `sideMax`. */
export async function plainImage(bytes: Uint8Array, sideMax: number): Promise<PlainImage> {
  const { image, facts } = await upright(bytes);
  const sized = image.resize({ width: sideMax, height: sideMax, fit: "inside", withoutEnlargement: true });
  const isPhoto = facts.format === "jpeg" || facts.format === "avif";
  const encoded = isPhoto ? sized.flatten({ background: "#ffffff" }).jpeg({ quality: 90 }) : sized.png();
  return {
    bytes: await orCorrupt(facts, () => encoded.toBuffer()),
    mediaType: isPhoto ? "image/jpeg" : "image/png",
  };
}

async function upright(bytes: Uint8Array): Promise<{ readonly image: Sharp; readonly facts: ImageFacts }> {
  const facts = await inspectImage(bytes);
  const sharp = await loadSharp();
  return { image: sharp(bytes, { limitInputPixels: IMAGE_PIXELS_MAX, failOn: "truncated" }).autoOrient(), facts };
}

async function orCorrupt<T>(facts: ImageFacts, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw corruptImage(facts.format, error);
  }
}
