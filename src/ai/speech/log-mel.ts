/**
 * The input of Whisper for a sound: the logarithms of its energy in mel bands, over a window of 30 s at 16 kHz. As
 * `log_mel_spectrogram` of https://github.com/openai/whisper (whisper/audio.py): frames of 25 ms every 10 ms under a
 * Hann window, mirrored at both ends; bands on Slaney's scale, each of the same area (librosa.filters.mel); at most 8
 * below the loudest, as tens of decibels; then (x + 4) / 4. Made by transcriber.ts; keeps its tables and buffers.
 */
import FFT from "fft.js";

export const RATE = 16_000;
export const WINDOW_SECONDS = 30;
export const WINDOW_SAMPLES = RATE * WINDOW_SECONDS;
const FRAME = 400;
const HOP = 160;
export const WINDOW_FRAMES = WINDOW_SAMPLES / HOP;
const BINS = FRAME / 2 + 1;
/** The least power of two that holds a convolution of two frames. */
const SIZE = 1024;

interface Band {
  readonly first: number;
  readonly weights: Float64Array;
}

export class LogMel {
  private readonly hann = Float64Array.from(
    { length: FRAME },
    (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / FRAME),
  );
  private readonly bands: readonly Band[];
  private readonly fourier = new FrameFourier();
  private readonly powers: readonly [Float64Array, Float64Array] = [new Float64Array(BINS), new Float64Array(BINS)];

  constructor(private readonly count: number) {
    this.bands = slaneyBands(count);
  }

  /**
   * `samples`: -1 to 1 at RATE, at most WINDOW_SAMPLES; what is missing is silence. Answers [bands, WINDOW_FRAMES], a
   * band's frames one after the other.
   */
  of(samples: Float32Array): Float32Array {
    const { count, fourier, powers } = this;
    const logs = new Float32Array(count * WINDOW_FRAMES).fill(-10);
    // Behind the sound there is nothing to hear; frames go two by two.
    const heard = Math.min(WINDOW_FRAMES, Math.ceil((samples.length + FRAME / 2) / HOP) + 1);
    for (let frame = 0; frame < heard; frame += 2) {
      this.put(samples, frame, fourier.first);
      this.put(samples, frame + 1, fourier.second);
      fourier.powers(powers[0], powers[1]);
      for (let i = 0; i < 2 && frame + i < WINDOW_FRAMES; i++) this.bandsOf(powers[i]!, logs, frame + i);
    }
    let loudest = Number.NEGATIVE_INFINITY;
    for (const x of logs) if (x > loudest) loudest = x;
    for (let i = 0; i < logs.length; i++) logs[i] = (Math.max(logs[i]!, loudest - 8) + 4) / 4;
    return logs;
  }

  /** The frame around that place, in the window's mirror where it begins or ends. */
  private put(samples: Float32Array, frame: number, into: Float64Array): void {
    const start = frame * HOP - FRAME / 2;
    for (let i = 0; i < FRAME; i++) {
      const place = Math.abs(start + i);
      const at = place < WINDOW_SAMPLES ? place : 2 * (WINDOW_SAMPLES - 1) - place;
      into[i] = (samples[at] ?? 0) * this.hann[i]!;
    }
  }

  private bandsOf(power: Float64Array, logs: Float32Array, frame: number): void {
    for (const [band, { first, weights }] of this.bands.entries()) {
      let sum = 0;
      for (let i = 0; i < weights.length; i++) sum += weights[i]! * power[first + i]!;
      logs[band * WINDOW_FRAMES + frame] = Math.log10(Math.max(sum, 1e-10));
    }
  }
}

/**
 * The spectrum of two real frames at once, as one complex one. Their 400 samples are no power of two, so they are
 * convolved with a chirp, by transforms of SIZE: Bluestein, "A linear filtering approach to the computation of the
 * discrete Fourier transform", IEEE Trans. Audio 18, 1970.
 */
class FrameFourier {
  readonly first = new Float64Array(FRAME);
  readonly second = new Float64Array(FRAME);
  private readonly fft = new FFT(SIZE);
  private readonly cos = new Float64Array(FRAME);
  private readonly sin = new Float64Array(FRAME);
  /** Of the chirp. */
  private readonly spectrum = new Float64Array(2 * SIZE);
  private readonly time = new Float64Array(2 * SIZE);
  private readonly turned = new Float64Array(2 * SIZE);

  constructor() {
    const chirp = new Float64Array(2 * SIZE);
    for (let n = 0; n < FRAME; n++) {
      const angle = (Math.PI * ((n * n) % (2 * FRAME))) / FRAME;
      this.cos[n] = Math.cos(angle);
      this.sin[n] = Math.sin(angle);
      for (const at of [n, (SIZE - n) % SIZE]) {
        chirp[2 * at] = this.cos[n]!;
        chirp[2 * at + 1] = this.sin[n]!;
      }
    }
    this.fft.transform(this.spectrum, chirp);
  }

  /** Squares of the magnitudes of bins 0 to BINS - 1 of `first` and of `second`. */
  powers(ofFirst: Float64Array, ofSecond: Float64Array): void {
    const { fft, cos, sin, spectrum, time, turned } = this;
    time.fill(0);
    for (let n = 0; n < FRAME; n++) {
      const [re, im] = [this.first[n]!, this.second[n]!];
      time[2 * n] = re * cos[n]! + im * sin[n]!;
      time[2 * n + 1] = im * cos[n]! - re * sin[n]!;
    }
    fft.transform(turned, time);
    for (let i = 0; i < 2 * SIZE; i += 2) {
      const [re, im] = [turned[i]!, turned[i + 1]!];
      turned[i] = re * spectrum[i]! - im * spectrum[i + 1]!;
      turned[i + 1] = re * spectrum[i + 1]! + im * spectrum[i]!;
    }
    fft.inverseTransform(time, turned);
    // Its last turn by the chirp's angle is left out where it changes no magnitude: here it is needed, since two are
    // mixed.
    const re = (k: number) => time[2 * k]! * cos[k]! + time[2 * k + 1]! * sin[k]!;
    const im = (k: number) => time[2 * k + 1]! * cos[k]! - time[2 * k]! * sin[k]!;
    for (let k = 0; k < BINS; k++) {
      const mirror = (FRAME - k) % FRAME;
      const [a, b, c, d] = [re(k), im(k), re(mirror), im(mirror)];
      ofFirst[k] = ((a + c) ** 2 + (b - d) ** 2) / 4;
      ofSecond[k] = ((a - c) ** 2 + (b + d) ** 2) / 4;
    }
  }
}

/** Slaney, "Auditory Toolbox", 1998: linear up to 1 kHz, logarithmic above. */
function toHertz(mel: number): number {
  return mel < 15 ? (200 / 3) * mel : 1000 * 6.4 ** ((mel - 15) / 27);
}

/** Triangles of area 1 between 0 Hz and half the rate. */
function slaneyBands(count: number): Band[] {
  const top = 15 + (27 * Math.log(RATE / 2 / 1000)) / Math.log(6.4);
  const edge = (i: number) => toHertz((top * i) / (count + 1));
  return Array.from({ length: count }, (_, band) => {
    const [low, middle, high] = [edge(band), edge(band + 1), edge(band + 2)];
    const weights = Array.from({ length: BINS }, (_, bin) => {
      const hertz = (bin * RATE) / FRAME;
      const triangle = Math.min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
      return (Math.max(0, triangle) * 2) / (high - low);
    });
    const first = weights.findIndex((weight) => weight > 0);
    if (first < 0) return { first: 0, weights: new Float64Array() };
    return {
      first,
      weights: Float64Array.from(weights.slice(first, weights.findLastIndex((weight) => weight > 0) + 1)),
    };
  });
}
