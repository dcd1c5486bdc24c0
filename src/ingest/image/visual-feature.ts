/**
 * What an image looks like, as a vector of fixed length that needs no model: near vectors, by their cosine, are images
 * with like colours in like places and like edges. It does not know what is in them. Called in task threads by
 * src/ingest/media; pure.
 *
 * 192 numbers of three parts, each of length 1 by itself and then weighted:
 *  - 27, where the colours are: the lowest cosine coefficients of an 8 × 8 grid of mean colours in YCbCr, 15 of
 *    brightness and 6 of each colour difference. Kasutani and Yamada, "The MPEG-7 color layout descriptor", ICIP 2001
 *    (without its quantisation).
 *  - 37, which colours there are: a histogram of hue (8) by saturation (2) by value (2), and 5 bins of what has no hue.
 *    Swain and Ballard, "Color indexing", IJCV 1991. Square roots of the shares, so that their product is Hellinger's.
 *  - 128, where which edges are: 8 unsigned orientations in each of 4 × 4 cells, weighted by the gradient, clipped at
 *    0.2 and normalised again. Dalal and Triggs, "Histograms of oriented gradients for human detection", CVPR 2005.
 */
import type { DecodedImage } from "./decode-image.js";

/** Name of this feature where models are named; another way to compute it needs another name. */
export const VISUAL_MODEL = "tessera-visual-1";
export const VISUAL_DIMENSIONS = 192;
/** Pixels a side of the image from which the feature is taken. */
export const VISUAL_SIDE = 64;

const GRID = 8;
/** As JPEG reads a block: coefficients from low to high frequencies. */
const ZIGZAG = [0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4];
const LAYOUT_BRIGHTNESS = 15;
const LAYOUT_COLOUR = 6;
const HUES = 8;
const GREYS = 5;
const COLOUR_BINS = HUES * 4 + GREYS;
const CELLS = 4;
const ORIENTATIONS = 8;
const WEIGHTS = { layout: 0.5, colours: 0.6, edges: 0.6 };
/** Below these a colour is a grey: saturation, and value (0 to 1). */
const GREY_SATURATION = 0.12;
const GREY_VALUE = 0.12;

/** Of length 1. `image` is VISUAL_SIDE pixels wide and high, whatever the shape of what it was made of. */
export function visualFeature({ width, height, rgb }: DecodedImage): Float32Array {
  if (width !== VISUAL_SIDE || height !== VISUAL_SIDE) throw new Error(`expected ${VISUAL_SIDE} pixels a side`);
  const feature = new Float32Array(VISUAL_DIMENSIONS);
  const layout = LAYOUT_BRIGHTNESS + 2 * LAYOUT_COLOUR;
  colourLayout(rgb, feature.subarray(0, layout));
  colourHistogram(rgb, feature.subarray(layout, layout + COLOUR_BINS));
  orientedGradients(rgb, feature.subarray(layout + COLOUR_BINS));
  scaleTo(feature.subarray(0, layout), WEIGHTS.layout);
  scaleTo(feature.subarray(layout, layout + COLOUR_BINS), WEIGHTS.colours);
  scaleTo(feature.subarray(layout + COLOUR_BINS), WEIGHTS.edges);
  scaleTo(feature, 1);
  return feature;
}

/** To that length; what is all zeros stays so. */
function scaleTo(part: Float32Array, length: number): void {
  let square = 0;
  for (const x of part) square += x * x;
  if (square === 0) return;
  const scale = length / Math.sqrt(square);
  for (let i = 0; i < part.length; i++) part[i] = part[i]! * scale;
}

function colourLayout(rgb: Uint8Array, out: Float32Array): void {
  const planes = [new Float64Array(GRID * GRID), new Float64Array(GRID * GRID), new Float64Array(GRID * GRID)] as const;
  const block = VISUAL_SIDE / GRID;
  for (let y = 0; y < VISUAL_SIDE; y++) {
    for (let x = 0; x < VISUAL_SIDE; x++) {
      const at = (y * VISUAL_SIDE + x) * 3;
      const [r, g, b] = [rgb[at]!, rgb[at + 1]!, rgb[at + 2]!];
      const cell = Math.floor(y / block) * GRID + Math.floor(x / block);
      const luma = 0.299 * r + 0.587 * g + 0.114 * b;
      planes[0][cell] = planes[0][cell]! + luma - 128;
      planes[1][cell] = planes[1][cell]! + 0.564 * (b - luma);
      planes[2][cell] = planes[2][cell]! + 0.713 * (r - luma);
    }
  }
  const [brightness, blue, red] = planes.map(cosines) as [Float64Array, Float64Array, Float64Array];
  for (let i = 0; i < LAYOUT_BRIGHTNESS; i++) out[i] = brightness[ZIGZAG[i]!]!;
  for (let i = 0; i < LAYOUT_COLOUR; i++) {
    out[LAYOUT_BRIGHTNESS + i] = blue[ZIGZAG[i]!]!;
    out[LAYOUT_BRIGHTNESS + LAYOUT_COLOUR + i] = red[ZIGZAG[i]!]!;
  }
}

const COSINES = Float64Array.from({ length: GRID * GRID }, (_, i) => {
  const [frequency, place] = [Math.floor(i / GRID), i % GRID];
  return Math.cos(((2 * place + 1) * frequency * Math.PI) / (2 * GRID)) * (frequency === 0 ? Math.SQRT1_2 : 1);
});

/** The discrete cosine transform (DCT-II, orthogonal up to a factor) of a grid. */
function cosines(grid: Float64Array): Float64Array {
  const rows = new Float64Array(GRID * GRID);
  const out = new Float64Array(GRID * GRID);
  for (let y = 0; y < GRID; y++) {
    for (let u = 0; u < GRID; u++) {
      let sum = 0;
      for (let x = 0; x < GRID; x++) sum += grid[y * GRID + x]! * COSINES[u * GRID + x]!;
      rows[y * GRID + u] = sum;
    }
  }
  for (let v = 0; v < GRID; v++) {
    for (let u = 0; u < GRID; u++) {
      let sum = 0;
      for (let y = 0; y < GRID; y++) sum += rows[y * GRID + u]! * COSINES[v * GRID + y]!;
      out[v * GRID + u] = sum;
    }
  }
  return out;
}

function colourHistogram(rgb: Uint8Array, out: Float32Array): void {
  for (let at = 0; at < rgb.length; at += 3) {
    const bin = colourBin(rgb[at]! / 255, rgb[at + 1]! / 255, rgb[at + 2]! / 255);
    out[bin] = out[bin]! + 1;
  }
  const pixels = rgb.length / 3;
  for (let i = 0; i < out.length; i++) out[i] = Math.sqrt(out[i]! / pixels);
}

function colourBin(r: number, g: number, b: number): number {
  const value = Math.max(r, g, b);
  const spread = value - Math.min(r, g, b);
  const saturation = value === 0 ? 0 : spread / value;
  if (saturation < GREY_SATURATION || value < GREY_VALUE) {
    return HUES * 4 + Math.min(GREYS - 1, Math.floor(value * GREYS));
  }
  const sixth = value === r ? (g - b) / spread : value === g ? 2 + (b - r) / spread : 4 + (r - g) / spread;
  // Red is the middle of a bin, not a border between two.
  const hue = Math.floor((((sixth + 6) % 6) / 6) * HUES + 0.5) % HUES;
  return hue * 4 + (saturation > 0.55 ? 2 : 0) + (value > 0.6 ? 1 : 0);
}

function orientedGradients(rgb: Uint8Array, out: Float32Array): void {
  const grey = new Float32Array(VISUAL_SIDE * VISUAL_SIDE);
  for (let i = 0; i < grey.length; i++) {
    grey[i] = 0.299 * rgb[i * 3]! + 0.587 * rgb[i * 3 + 1]! + 0.114 * rgb[i * 3 + 2]!;
  }
  const cell = VISUAL_SIDE / CELLS;
  for (let y = 1; y < VISUAL_SIDE - 1; y++) {
    for (let x = 1; x < VISUAL_SIDE - 1; x++) {
      const at = y * VISUAL_SIDE + x;
      const dx = grey[at + 1]! - grey[at - 1]!;
      const dy = grey[at + VISUAL_SIDE]! - grey[at - VISUAL_SIDE]!;
      const size = Math.hypot(dx, dy);
      // Less is noise.
      if (size < 2) continue;
      // Between the two nearest orientations, by how near they are.
      const place = ((Math.atan2(dy, dx) + Math.PI) / Math.PI) * ORIENTATIONS;
      const low = Math.floor(place);
      const base = (Math.floor(y / cell) * CELLS + Math.floor(x / cell)) * ORIENTATIONS;
      const [first, second] = [base + (low % ORIENTATIONS), base + ((low + 1) % ORIENTATIONS)];
      out[first] = out[first]! + size * (1 - (place - low));
      out[second] = out[second]! + size * (place - low);
    }
  }
  scaleTo(out, 1);
  for (let i = 0; i < out.length; i++) out[i] = Math.min(0.2, out[i]!);
}
