/** Converts pixels into the input of vision models. Called by the runners; pure. */
import { Tensor } from "onnxruntime-node";
import type { ImageItem } from "../inference-messages.js";
import { BundleError, type Manifest } from "../manifest.js";

export type ImageFacts = NonNullable<Manifest["image"]>;

/** Names that exports give that input. */
export const PIXEL_INPUTS = /^(pixel_values|pixels|image|images)$/;

/** float32 [images, 3, size, size], a plane per channel. */
export function pixelTensor(images: readonly ImageItem[], { size, mean, std }: ImageFacts): Tensor {
  const plane = size * size;
  const values = new Float32Array(images.length * 3 * plane);
  for (const [n, { width, height, rgb }] of images.entries()) {
    if (width !== size || height !== size || rgb.length !== plane * 3) {
      throw new Error(`the model reads ${size} × ${size} pixels, not ${width} × ${height}`);
    }
    for (let channel = 0; channel < 3; channel++) {
      const at = (n * 3 + channel) * plane;
      const [off, by] = [mean[channel]!, std[channel]!];
      for (let i = 0; i < plane; i++) values[at + i] = (rgb[i * 3 + channel]! / 255 - off) / by;
    }
  }
  return new Tensor("float32", values, [images.length, 3, size, size]);
}

/** Throws BundleError. */
export function imageFactsOf({ image }: Manifest): ImageFacts {
  if (image === undefined) throw new BundleError("the manifest does not say how images are read");
  if (image.std.some((x) => x === 0)) throw new BundleError("manifest.json: image.std has a 0");
  return image;
}
