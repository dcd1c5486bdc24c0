/**
 * Visual features of an image in a folder, or of a video by its key frames: the classical feature, and pixels in the
 * form that an installed model reads. Called by the parsers of images and videos, in task threads.
 */
import type { DecodedImage } from "./decode-image.js";
import { type Fit, fitImage } from "./fit-image.js";
import { meanDirection } from "./mean-direction.js";
import { VISUAL_SIDE, visualFeature } from "./visual-feature.js";

export interface LooksWanted {
  /** As a model reads images; null: no model is there to read them. */
  readonly pixels: { readonly side: number; readonly fit: Fit } | null;
}

export interface ImageLooks {
  /** The classical feature, of length 1; of several pictures their mean. */
  readonly feature: Float32Array;
  /** One per picture; none when no model reads them. */
  readonly pictures: readonly DecodedImage[];
}

/** `images`: at least one. Throws as `decodeImage`, also for an image that is cut off within its pixels. */
export async function looksOf(images: readonly Uint8Array[], { pixels }: LooksWanted): Promise<ImageLooks> {
  const features: Float32Array[] = [];
  const pictures: DecodedImage[] = [];
  for (const image of images) {
    features.push(visualFeature(await fitImage(image, VISUAL_SIDE, "stretch")));
    if (pixels !== null) pictures.push(await fitImage(image, pixels.side, pixels.fit));
  }
  return { feature: features.length === 1 ? features[0]! : meanDirection(features), pictures };
}
