/** libvips through sharp, loaded with the first image, keeping no decoded image and starting no threads beyond one. */
import type { Sharp, SharpOptions } from "sharp";

type MakeSharp = (input: Uint8Array, options?: SharpOptions) => Sharp;

let loaded: Promise<MakeSharp> | null = null;

export function loadSharp(): Promise<MakeSharp> {
  loaded ??= import("sharp").then(({ default: sharp }) => {
    sharp.cache(false);
    sharp.concurrency(1);
    return sharp;
  });
  return loaded;
}
