/**
 * What a sound sounds like, as a vector of fixed length that needs no model: near vectors, by their cosine, are sounds
 * of like timbre, whatever their loudness. It does not know what is said. Called in task threads by src/ingest/media;
 * pure.
 *
 * 64 numbers, made of frames of 25 ms every 10 ms at 16 kHz: of each of the mel-frequency cepstral coefficients 1 to 20
 * (40 mel bands, HTK's scale, liftered by 22; the 0th is the loudness) the mean, the deviation and the mean change from
 * frame to frame; and mean and deviation of the spectrum's centroid and of the rate of zero crossings. Davis and
 * Mermelstein, "Comparison of parametric representations for monosyllabic word recognition", IEEE ASSP 1980; Young et
 * al., "The HTK Book", section 5; statistics over frames as in Tzanetakis and Cook, "Musical genre classification of
 * audio signals", IEEE SAP 2002.
 */
import type { Sound } from "./wav.js";

/** Name of this feature where models are named; another way to compute it needs another name. */
export const AUDIO_MODEL = "tessera-audio-1";
export const AUDIO_DIMENSIONS = 64;

const RATE = 16_000;
const FRAME = 400;
const HOP = 160;
const SIZE = 512;
const BANDS = 40;
const COEFFICIENTS = 20;
const LIFTER = 22;
const PREEMPHASIS = 0.97;
/** Centroid and crossings, 0 to 1, on the scale of the coefficients. */
const SHAPE_SCALE = 20;

/** Of length 1. */
export function audioFeature(sound: Sound): Float32Array {
  const samples = atRate(sound);
  const mel = melBands();
  const window = Float64Array.from(
    { length: FRAME },
    (_, i) => 0.54 - 0.46 * Math.cos((2 * Math.PI * i) / (FRAME - 1)),
  );
  const perFrame = COEFFICIENTS + 2;
  const sums = new Float64Array(perFrame);
  const squares = new Float64Array(perFrame);
  const changes = new Float64Array(perFrame);
  let before: Float64Array | null = null;
  const frames = Math.max(1, Math.floor((samples.length - FRAME) / HOP) + 1);
  for (let frame = 0; frame < frames; frame++) {
    const numbers = ofFrame(samples, frame * HOP, window, mel);
    for (let i = 0; i < perFrame; i++) {
      sums[i] = sums[i]! + numbers[i]!;
      squares[i] = squares[i]! + numbers[i]! ** 2;
      if (before !== null) changes[i] = changes[i]! + Math.abs(numbers[i]! - before[i]!);
    }
    before = numbers;
  }
  return summary(sums, squares, changes, frames);
}

function summary(sums: Float64Array, squares: Float64Array, changes: Float64Array, frames: number): Float32Array {
  const feature = new Float32Array(AUDIO_DIMENSIONS);
  for (let i = 0; i < COEFFICIENTS + 2; i++) {
    const mean = sums[i]! / frames;
    const deviation = Math.sqrt(Math.max(0, squares[i]! / frames - mean * mean));
    const at = i < COEFFICIENTS ? i * 3 : COEFFICIENTS * 3 + (i - COEFFICIENTS) * 2;
    feature[at] = mean;
    feature[at + 1] = deviation;
    if (i < COEFFICIENTS) feature[at + 2] = changes[i]! / Math.max(1, frames - 1);
  }
  let square = 0;
  for (const x of feature) square += x * x;
  const scale = square === 0 ? 0 : 1 / Math.sqrt(square);
  for (let i = 0; i < feature.length; i++) feature[i] = feature[i]! * scale;
  return feature;
}

/** Coefficients 1 to COEFFICIENTS, centroid, zero crossings. */
function ofFrame(
  samples: Float32Array,
  start: number,
  window: Float64Array,
  mel: readonly Float64Array[],
): Float64Array {
  const re = new Float64Array(SIZE);
  const im = new Float64Array(SIZE);
  let crossings = 0;
  for (let i = 0; i < FRAME; i++) {
    const x = samples[start + i] ?? 0;
    const last = samples[start + i - 1] ?? 0;
    if (x > 0 !== last > 0) crossings++;
    re[i] = (x - PREEMPHASIS * last) * window[i]!;
  }
  fourier(re, im);
  const power = Float64Array.from({ length: SIZE / 2 + 1 }, (_, i) => re[i]! ** 2 + im[i]! ** 2);
  const logs = mel.map((band) => {
    let sum = 0;
    for (let i = 0; i < band.length; i++) sum += band[i]! * power[i]!;
    return Math.log(sum + 1e-10);
  });
  const out = new Float64Array(COEFFICIENTS + 2);
  for (let n = 1; n <= COEFFICIENTS; n++) {
    let sum = 0;
    for (let band = 0; band < BANDS; band++) sum += logs[band]! * Math.cos((Math.PI * n * (band + 0.5)) / BANDS);
    out[n - 1] = sum * Math.sqrt(2 / BANDS) * (1 + (LIFTER / 2) * Math.sin((Math.PI * n) / LIFTER));
  }
  let weighted = 0;
  let total = 0;
  for (const [i, x] of power.entries()) {
    weighted += i * x;
    total += x;
  }
  out[COEFFICIENTS] = total === 0 ? 0 : (SHAPE_SCALE * weighted) / total / (SIZE / 2);
  out[COEFFICIENTS + 1] = (SHAPE_SCALE * crossings) / FRAME;
  return out;
}

/** At RATE: if there are more samples, each result is the mean of the samples it replaces. */
function atRate({ rate, samples }: Sound): Float32Array {
  if (rate === RATE) return samples;
  const step = rate / RATE;
  const out = new Float32Array(Math.max(1, Math.floor(samples.length / step)));
  for (let i = 0; i < out.length; i++) {
    const from = i * step;
    if (step <= 1) {
      const low = Math.floor(from);
      const share = from - low;
      out[i] = samples[low]! * (1 - share) + (samples[low + 1] ?? samples[low]!) * share;
      continue;
    }
    const end = Math.min(samples.length, Math.max(Math.floor(from) + 1, Math.floor(from + step)));
    let sum = 0;
    for (let k = Math.floor(from); k < end; k++) sum += samples[k]!;
    out[i] = sum / (end - Math.floor(from));
  }
  return out;
}

const toMel = (hertz: number) => 2595 * Math.log10(1 + hertz / 700);
const toHertz = (mel: number) => 700 * (10 ** (mel / 2595) - 1);

/** Triangles that overlap by half, equally wide in mel, from 20 Hz to half the rate. */
function melBands(): Float64Array[] {
  const [low, high] = [toMel(20), toMel(RATE / 2)];
  const edge = (i: number) => (toHertz(low + ((high - low) * i) / (BANDS + 1)) * SIZE) / RATE;
  return Array.from({ length: BANDS }, (_, band) => {
    const [from, middle, to] = [edge(band), edge(band + 1), edge(band + 2)];
    return Float64Array.from({ length: SIZE / 2 + 1 }, (_, i) =>
      Math.max(0, Math.min((i - from) / (middle - from), (to - i) / (to - middle))),
    );
  });
}

/** The fast Fourier transform in place, radix 2. Cooley and Tukey, Mathematics of Computation 19, 1965. */
function fourier(re: Float64Array, im: Float64Array): void {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; (j & bit) !== 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [re[i], re[j]] = [re[j]!, re[i]!];
      [im[i], im[j]] = [im[j]!, im[i]!];
    }
  }
  for (let length = 2; length <= n; length *= 2) {
    const half = length / 2;
    for (let k = 0; k < half; k++) {
      const angle = (-2 * Math.PI * k) / length;
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      for (let start = k; start < n; start += length) {
        const other = start + half;
        const x = re[other]! * c - im[other]! * s;
        const y = re[other]! * s + im[other]! * c;
        re[other] = re[start]! - x;
        im[other] = im[start]! - y;
        re[start] = re[start]! + x;
        im[start] = im[start]! + y;
      }
    }
  }
}
