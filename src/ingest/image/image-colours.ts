/** Finds the colours that an image has most of, by their plain names. Called by src/ingest/media; pure. */
import type { DecodedImage } from "./decode-image.js";

export interface ImageColour {
  /** One of the eleven basic names (Berlin and Kay 1969). */
  readonly name: string;
  /** The mean of its pixels, as "#rrggbb". */
  readonly hex: string;
  /** Of all pixels, 0 to 1. */
  readonly share: number;
}

/** Below this a colour is left out. */
const SHARE_MIN = 0.03;
const COLOURS_MAX = 6;
/** Below these a colour has no hue: saturation and value, 0 to 1. */
const GREY_SATURATION = 0.15;
const BLACK_VALUE = 0.18;
const WHITE_VALUE = 0.9;

/** The most frequent first. */
export function coloursOf({ rgb }: Pick<DecodedImage, "rgb">): ImageColour[] {
  const sums = new Map<string, [count: number, red: number, green: number, blue: number]>();
  for (let at = 0; at < rgb.length; at += 3) {
    const [red, green, blue] = [rgb[at]!, rgb[at + 1]!, rgb[at + 2]!];
    const name = nameOf(red / 255, green / 255, blue / 255);
    const sum = sums.get(name) ?? [0, 0, 0, 0];
    sums.set(name, [sum[0] + 1, sum[1] + red, sum[2] + green, sum[3] + blue]);
  }
  const pixels = rgb.length / 3;
  return [...sums]
    .map(([name, [count, ...parts]]) => {
      const hex = parts.map((part) =>
        Math.round(part / count)
          .toString(16)
          .padStart(2, "0"),
      );
      return { name, hex: `#${hex.join("")}`, share: Math.round((count / pixels) * 100) / 100 };
    })
    .filter(({ share }) => share >= SHARE_MIN)
    .sort((a, b) => b.share - a.share)
    .slice(0, COLOURS_MAX);
}

function nameOf(red: number, green: number, blue: number): string {
  const value = Math.max(red, green, blue);
  const spread = value - Math.min(red, green, blue);
  const saturation = value === 0 ? 0 : spread / value;
  if (value < BLACK_VALUE) return "black";
  if (saturation < GREY_SATURATION) return value > WHITE_VALUE ? "white" : "grey";
  const sixth =
    value === red ? (green - blue) / spread : value === green ? 2 + (blue - red) / spread : 4 + (red - green) / spread;
  const degrees = ((sixth + 6) % 6) * 60;
  if (degrees < 12 || degrees >= 345) return value > 0.7 && saturation < 0.5 ? "pink" : "red";
  if (degrees < 45) return value < 0.6 ? "brown" : "orange";
  if (degrees < 68) return value < 0.4 ? "brown" : "yellow";
  if (degrees < 165) return "green";
  if (degrees < 258) return "blue";
  if (degrees < 295) return "purple";
  return value > 0.7 ? "pink" : "purple";
}
