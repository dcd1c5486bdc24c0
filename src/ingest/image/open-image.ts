/**
 * Images from bytes that nobody vouches for: what they are by their header, and within bounds their pixels. An image's
 * pixels are counted before any is decoded, so a small file that says to be huge costs nothing. Called in task threads
 * only, where sharp (libvips) is loaded with the first image; holds no state.
 */
import type { Sharp } from "sharp";
import { IMAGE_PIXELS_MAX, IMAGE_SIDE_MAX, THUMBNAIL_PIXELS } from "../../protocol/limits.js";
import type { RgbImage } from "./visual-feature.js";

const FORMATS = {
  png: "image/png",
  jpeg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  tiff: "image/tiff",
  heif: "image/avif",
} as const;

export type ImageFormat = keyof typeof FORMATS;
export type ImageMediaType = (typeof FORMATS)[ImageFormat];

export interface ImageFacts {
  readonly format: ImageFormat;
  readonly mediaType: ImageMediaType;
  /** Pixels, as it is looked at: turned as its EXIF says. */
  readonly width: number;
  readonly height: number;
  /** Pictures in the file; the first is the one that is used. */
  readonly frames: number;
}

/** `unsupported`: no image, or of another format. `too_large`: more pixels than are decoded. `broken`: cut off or damaged. */
export class ImageError extends Error {
  override readonly name = "ImageError";

  constructor(
    readonly reason: "unsupported" | "too_large" | "broken",
    message: string,
  ) {
    super(message);
  }
}

/** How an image is fitted into a size that has another shape: cut at its edges, or drawn out of shape. */
export type Fit = "crop" | "stretch";

/** Reads the header alone. Throws ImageError. */
export async function inspectImage(bytes: Uint8Array): Promise<ImageFacts> {
  const { default: sharp } = await import("sharp");
  const supported = "PNG, JPEG, WebP, GIF, TIFF and AVIF are supported";
  const none = () => new ImageError("unsupported", `the bytes are no image; ${supported}`);
  if (bytes.length === 0) throw none();
  const found = await sharp(bytes, { limitInputPixels: false })
    .metadata()
    .catch((error: Error) => {
      if (!looksLikeImage(bytes)) throw none();
      throw new ImageError("broken", `the image is cut off or damaged (${error.message.split("\n")[0]})`);
    });
  const { format, width, height, orientation = 1, pages = 1 } = found;
  // The file of vectors (SVG) may name other files.
  if (!Object.hasOwn(FORMATS, format ?? "")) {
    throw new ImageError("unsupported", `images of the format ${format} are not supported; ${supported}`);
  }
  if (!(width > 0 && height > 0)) throw new ImageError("broken", "the image has no pixels");
  if (width * height > IMAGE_PIXELS_MAX || Math.max(width, height) > IMAGE_SIDE_MAX) {
    throw new ImageError(
      "too_large",
      `the image has ${width} × ${height} pixels; ${IMAGE_PIXELS_MAX} pixels are allowed, ${IMAGE_SIDE_MAX} a side`,
    );
  }
  const turned = orientation >= 5;
  return {
    format: format as ImageFormat,
    mediaType: FORMATS[format as ImageFormat],
    width: turned ? height : width,
    height: turned ? width : height,
    frames: pages,
  };
}

const STARTS: readonly (readonly [at: number, text: string])[] = [
  [0, "\x89PNG"],
  [0, "\xff\xd8\xff"],
  [0, "GIF8"],
  [8, "WEBP"],
  [0, "II*\0"],
  [0, "MM\0*"],
  [4, "ftypavif"],
];

/** By its first bytes. */
function looksLikeImage(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  return STARTS.some(([at, text]) => head.startsWith(text, at));
}

/**
 * The first picture, upright, in plain red, green and blue on white, in that size where one is given. Throws ImageError;
 * an image that is cut off is no image.
 */
export async function decodeImage(
  bytes: Uint8Array,
  size?: { readonly width: number; readonly height: number; readonly fit: Fit },
): Promise<RgbImage> {
  await inspectImage(bytes);
  let image = (await opened(bytes)).autoOrient().flatten({ background: "#ffffff" }).toColourspace("srgb");
  if (size !== undefined) {
    const { width, height, fit } = size;
    image = image.resize(width, height, { fit: fit === "crop" ? "cover" : "fill", kernel: "cubic" });
  }
  const { data, info } = await decoded(image.removeAlpha().raw().toBuffer({ resolveWithObject: true }));
  if (info.channels === 3) return { width: info.width, height: info.height, rgb: data };
  // What has one channel stays so in libvips.
  const rgb = new Uint8Array(info.width * info.height * 3);
  for (let i = 0; i < rgb.length; i++) rgb[i] = data[Math.floor(i / 3) * info.channels]!;
  return { width: info.width, height: info.height, rgb };
}

/** WebP, upright, THUMBNAIL_PIXELS wide and high at most. Throws ImageError. */
export async function thumbnailOf(bytes: Uint8Array): Promise<Buffer> {
  await inspectImage(bytes);
  const image = (await opened(bytes)).autoOrient();
  const size = { width: THUMBNAIL_PIXELS, height: THUMBNAIL_PIXELS, fit: "inside", withoutEnlargement: true } as const;
  return decoded(image.resize(size).webp({ quality: 75 }).toBuffer());
}

/** As a PNG or JPEG that any service reads, no side longer than `sideMax`. Throws ImageError. */
export async function plainImage(
  bytes: Uint8Array,
  sideMax: number,
): Promise<{ bytes: Buffer; mediaType: ImageMediaType }> {
  const { format } = await inspectImage(bytes);
  const image = (await opened(bytes)).autoOrient();
  image.resize({ width: sideMax, height: sideMax, fit: "inside", withoutEnlargement: true });
  if (format === "jpeg")
    return { bytes: await decoded(image.jpeg({ quality: 90 }).toBuffer()), mediaType: FORMATS.jpeg };
  return { bytes: await decoded(image.png().toBuffer()), mediaType: FORMATS.png };
}

async function opened(bytes: Uint8Array): Promise<Sharp> {
  const { default: sharp } = await import("sharp");
  return sharp(bytes, { limitInputPixels: IMAGE_PIXELS_MAX, failOn: "error" });
}

async function decoded<T>(pixels: Promise<T>): Promise<T> {
  try {
    return await pixels;
  } catch (error) {
    throw new ImageError("broken", `the image is cut off or damaged (${(error as Error).message.split("\n")[0]})`);
  }
}
