/**
 * Pixels of an image, upright, within bounds. Used for features of images, for thumbnails and for reading their text.
 */
import type { Sharp } from "sharp";
import { IMAGE_PIXELS_MAX, THUMBNAIL_PIXELS } from "../../protocol/limits.js";
import { corruptImage, type ImageFacts, inspectImage } from "./inspect-image.js";
import { loadSharp } from "./load-sharp.js";

export interface DecodedImage {
  readonly width: number;
  readonly height: number;
  /** width × height × 3 bytes, row by row, sRGB; what is transparent is white. */
  readonly rgb: Uint8Array;
}

export interface DecodeOptions {
  /** Pixels of the stored image, at most. */
  readonly pixelsMax?: number;
  /** Scales the image down until its longer side has no more pixels than this. */
  readonly sideMax?: number;
}

/** The first frame. Throws as `inspectImage`; a truncated image is `file_corrupt`. */
export async function decodeImage(bytes: Uint8Array, options: DecodeOptions = {}): Promise<DecodedImage> {
  const { image, facts } = await openUpright(bytes, options);
  return orCorrupt(facts, async () => {
    const { data, info } = await flat(image).raw().toBuffer({ resolveWithObject: true });
    return { width: info.width, height: info.height, rgb: data };
  });
}

/** WebP, at most `THUMBNAIL_PIXELS` wide and high. Throws as `decodeImage`. */
export async function thumbnailOf(bytes: Uint8Array): Promise<Uint8Array> {
  const { image, facts } = await openUpright(bytes, { sideMax: THUMBNAIL_PIXELS });
  return orCorrupt(facts, () => image.webp({ quality: 75 }).toBuffer());
}

/** Grey PNG for the reader of texts: small letters are enlarged, what is larger than `sideMax` is made smaller. */
export async function greyPng(
  bytes: Uint8Array,
  sides: { readonly min: number; readonly max: number },
): Promise<Uint8Array> {
  const { image, facts } = await openUpright(bytes, {});
  const longer = Math.max(facts.width, facts.height);
  const side = longer > sides.max ? sides.max : longer < sides.min ? Math.min(sides.min, longer * 3) : longer;
  const sized = side === longer ? image : image.resize({ width: side, height: side, fit: "inside" });
  return orCorrupt(facts, () => flat(sized).greyscale().png({ compressionLevel: 1 }).toBuffer());
}

async function openUpright(
  bytes: Uint8Array,
  { pixelsMax = IMAGE_PIXELS_MAX, sideMax }: DecodeOptions,
): Promise<{ image: Sharp; facts: ImageFacts }> {
  const facts = await inspectImage(bytes, { pixelsMax });
  const sharp = await loadSharp();
  const image = sharp(bytes, { limitInputPixels: pixelsMax, failOn: "truncated" }).autoOrient();
  if (sideMax === undefined) return { image, facts };
  return {
    image: image.resize({ width: sideMax, height: sideMax, fit: "inside", withoutEnlargement: true }),
    facts,
  };
}

/** Three channels of one byte, without transparency. */
function flat(image: Sharp): Sharp {
  return image.flatten({ background: "#ffffff" }).toColourspace("srgb").removeAlpha();
}

async function orCorrupt<T>(facts: ImageFacts, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw corruptImage(facts.format, error);
  }
}
