/** What a camera wrote into an image: when, where, with what. Used for metadata of images and as searchable text. */
import exifr from "exifr";

export interface ExifFacts {
  /** ISO 8601; cameras do not say their time zone. */
  readonly taken?: string;
  readonly camera?: string;
  readonly lens?: string;
  /** Degrees, north and east positive. */
  readonly latitude?: number;
  readonly longitude?: number;
  readonly description?: string;
  readonly artist?: string;
  readonly copyright?: string;
  readonly keywords?: readonly string[];
  readonly exposureSeconds?: number;
  readonly aperture?: number;
  readonly iso?: number;
  readonly focalLengthMm?: number;
}

/** Empty when there is none or it cannot be read: EXIF is no reason to refuse an image. */
export async function readExif(bytes: Uint8Array): Promise<ExifFacts> {
  let tags: Record<string, unknown> | undefined;
  try {
    tags = await exifr.parse(bytes, { tiff: true, exif: true, gps: true, iptc: true, xmp: false, reviveValues: true });
  } catch {
    return {};
  }
  if (tags === undefined || tags === null) return {};
  const keywords = [tags.Keywords].flat().filter((keyword) => typeof keyword === "string");
  return present({
    taken: timeOf(tags.DateTimeOriginal ?? tags.CreateDate ?? tags.ModifyDate),
    camera: textOf([textOf(tags.Make), textOf(tags.Model)].filter((part) => part !== undefined).join(" ")),
    lens: textOf(tags.LensModel),
    latitude: numberOf(tags.latitude),
    longitude: numberOf(tags.longitude),
    description: textOf(tags.ImageDescription ?? tags.Caption),
    artist: textOf(tags.Artist ?? tags.Byline),
    copyright: textOf(tags.Copyright),
    keywords: keywords.length > 0 ? (keywords as string[]) : undefined,
    exposureSeconds: numberOf(tags.ExposureTime),
    aperture: numberOf(tags.FNumber),
    iso: numberOf(tags.ISO),
    focalLengthMm: numberOf(tags.FocalLength),
  });
}

function textOf(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const text = value.replaceAll("\0", "").trim();
  return text === "" ? undefined : text;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** exifr reads the camera's clock as this machine's local time; the clock's own figures are kept. */
function timeOf(value: unknown): string | undefined {
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) return undefined;
  const two = (part: number): string => String(part).padStart(2, "0");
  const day = `${value.getFullYear()}-${two(value.getMonth() + 1)}-${two(value.getDate())}`;
  return `${day}T${two(value.getHours())}:${two(value.getMinutes())}:${two(value.getSeconds())}`;
}

function present(facts: { [K in keyof ExifFacts]: ExifFacts[K] | undefined }): ExifFacts {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}
