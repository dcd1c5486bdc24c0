/**
 * A sound at another rate, as it comes: windowed-sinc interpolation, a filter per place between two samples
 * (polyphase). Where the rate falls, what the new one cannot hold is filtered out. Smith, "Digital audio resampling",
 * CCRMA Stanford; Kaiser windows: Oppenheim and Schafer, "Discrete-time signal processing", 7.6. One per sound, which
 * owns it; pure.
 */

/** Zero crossings of the sinc at each side. */
const CROSSINGS = 16;
/** Of Kaiser's window: what is filtered out is 80 dB down. */
const BETA = 8;
/** Of what the lower rate can hold, what is let through. */
const PASS = 0.95;

export class Resampler {
  /** The rates as a ratio in lowest terms: `up` new samples take as long as `down` old ones. */
  private readonly up: number;
  private readonly down: number;
  /** Old samples at each side of a new one that it is made of. */
  private readonly reach: number;
  private readonly filters: readonly Float32Array[];
  /** Old samples that are still needed, the first of which is number `first` (from -reach on). */
  private kept: Float32Array;
  private first: number;
  private given = 0;
  private made = 0;

  constructor(from: number, to: number) {
    const common = divisor(from, to);
    this.up = to / common;
    this.down = from / common;
    const cutoff = PASS * Math.min(1, to / from);
    this.reach = Math.ceil(CROSSINGS / cutoff);
    this.filters = Array.from({ length: this.up }, (_, phase) => this.filterOf(phase / this.up, cutoff));
    this.kept = new Float32Array(this.reach);
    this.first = -this.reach;
  }

  /** The new samples that these old ones, after those before, make known. */
  push(samples: Float32Array): Float32Array {
    this.given += samples.length;
    const all = new Float32Array(this.kept.length + samples.length);
    all.set(this.kept);
    all.set(samples, this.kept.length);
    const out = this.make(all, Math.floor(((this.given - this.reach - 1) * this.up) / this.down));
    const next = Math.floor((this.made * this.down) / this.up) - this.reach + 1;
    this.kept = all.slice(Math.max(0, next - this.first));
    this.first = Math.max(this.first, next);
    return out;
  }

  /** What is left, as if silence followed. */
  end(): Float32Array {
    const all = new Float32Array(this.kept.length + this.reach + 1);
    all.set(this.kept);
    return this.make(all, Math.ceil((this.given * this.up) / this.down) - 1);
  }

  /** New samples up to number `last`. */
  private make(all: Float32Array, last: number): Float32Array {
    const { up, down, reach, filters, first } = this;
    const out = new Float32Array(Math.max(0, last + 1 - this.made));
    for (let i = 0; i < out.length; i++) {
      const place = (this.made + i) * down;
      const filter = filters[place % up]!;
      const from = Math.floor(place / up) - reach + 1 - first;
      let sum = 0;
      for (let k = 0; k < filter.length; k++) sum += filter[k]! * all[from + k]!;
      out[i] = sum;
    }
    this.made += out.length;
    return out;
  }

  /** Of a new sample that lies `part` behind an old one. A constant stays what it is. */
  private filterOf(part: number, cutoff: number): Float32Array {
    const { reach } = this;
    const filter = Float32Array.from({ length: 2 * reach }, (_, k) => {
      const x = k - reach + 1 - part;
      const inside = 1 - (x / reach) ** 2;
      return inside <= 0 ? 0 : sinc(cutoff * x) * bessel(BETA * Math.sqrt(inside));
    });
    const sum = filter.reduce((total, weight) => total + weight, 0);
    return filter.map((weight) => weight / sum);
  }
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** The modified Bessel function of order 0, by its series. */
function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}
