/**
 * Chooses the next token by the model's logits: temperature, then the k most likely, then the least set of most likely
 * tokens whose probabilities reach `topP` (Holtzman et al., The Curious Case of Neural Text Degeneration, 2020). One
 * per generation; it owns the state of its random numbers.
 */

export interface SamplingOptions {
  /** 0: always the most likely. */
  readonly temperature: number;
  /** 1: all. */
  readonly topP: number;
  /** 0: all. */
  readonly topK: number;
  /** Null: by chance. */
  readonly seed: number | null;
}

/** Logits are sorted into so many bins, each this wide; what is less likely than the last bin counts as impossible. */
const BINS = 512;
const BIN_WIDTH = 1 / 16;

export class Sampler {
  private readonly random: () => number;

  constructor(private readonly options: SamplingOptions) {
    this.random = options.seed === null ? Math.random : sfc32(options.seed);
  }

  next(logits: Float32Array): number {
    const { temperature, topP, topK } = this.options;
    const best = mostLikely(logits);
    if (temperature <= 0 || topK === 1) return best;
    const weights = weightsFor(logits.length);
    const counts = new Uint32Array(BINS);
    const masses = new Float64Array(BINS);
    const largest = logits[best]!;
    let sum = 0;
    for (let id = 0; id < logits.length; id++) {
      const distance = (largest - logits[id]!) / temperature;
      const bin = Math.floor(distance / BIN_WIDTH);
      if (!(bin < BINS)) {
        weights[id] = 0;
        continue;
      }
      const weight = Math.exp(-distance);
      weights[id] = weight;
      counts[bin]!++;
      masses[bin]! += weight;
      sum += weight;
    }
    const most = topK > 0 ? topK : logits.length;
    return this.pick(weights, kept(weights, counts, masses, sum * Math.min(1, topP), most));
  }

  /** By weight, among those at least as likely as `least`. */
  private pick(weights: Float64Array, { least, mass }: Kept): number {
    let left = this.random() * mass;
    let last = 0;
    for (let id = 0; id < weights.length; id++) {
      if (weights[id]! < least) continue;
      last = id;
      left -= weights[id]!;
      if (left < 0) return id;
    }
    return last;
  }
}

/** What may be chosen: all weights from `least` on, `mass` together. */
interface Kept {
  readonly least: number;
  readonly mass: number;
}

/**
 * The most likely until their mass is `enough` or they are `most`. Only the bin in which that happens is sorted. Equals
 * of the last one are kept as well.
 */
function kept(weights: Float64Array, counts: Uint32Array, masses: Float64Array, enough: number, most: number): Kept {
  let bin = 0;
  let mass = 0;
  let count = 0;
  while (bin < BINS - 1 && mass + masses[bin]! < enough && count + counts[bin]! < most) {
    mass += masses[bin]!;
    count += counts[bin]!;
    bin++;
  }
  // A little wider than the bin, since weights were rounded.
  const [from, to] = [Math.exp(-bin * BIN_WIDTH), Math.exp(-(bin + 1) * BIN_WIDTH)];
  const inBin: number[] = [];
  for (let id = 0; id < weights.length; id++) {
    const weight = weights[id]!;
    if (weight > 0 && weight <= from && weight >= to * (1 - 1e-12)) inBin.push(weight);
  }
  inBin.sort((one, other) => other - one);
  // An empty bin: everything before it is kept.
  let least = from * (1 - 1e-12);
  for (const weight of inBin) {
    if (mass >= enough || count >= most) break;
    least = weight;
    mass += weight;
    count++;
  }
  let whole = 0;
  for (let id = 0; id < weights.length; id++) if (weights[id]! >= least) whole += weights[id]!;
  return { least, mass: whole };
}

/** Used by one choice at a time. */
let scratch = new Float64Array(0);

function weightsFor(length: number): Float64Array {
  if (scratch.length < length) scratch = new Float64Array(length);
  return scratch.length === length ? scratch : scratch.subarray(0, length);
}

function mostLikely(values: Float32Array | Float64Array): number {
  let best = 0;
  for (let id = 1; id < values.length; id++) if (values[id]! > values[best]!) best = id;
  return best;
}

/** Chris Doty-Humphrey's Small Fast Counter generator of PractRand, 32 bits; numbers from 0 to below 1. */
function sfc32(seed: number): () => number {
  let [a, b, c, counter] = [seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0, 0x9e3779b9, 1];
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 15; i++) next();
  return next;
}
