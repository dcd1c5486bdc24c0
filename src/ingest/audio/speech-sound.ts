/**
 * A sound as models of speech want it: 16 kHz, one channel, 16 bits, in memory that threads share, so that it is handed
 * on without a copy. Filled by decoders, block after block; no more than so many seconds are kept.
 */
import { Resampler } from "./resampler.js";
import { SoundError } from "./wav.js";

export const SPEECH_RATE = 16_000;
/** Samples of a part: a minute. */
const PART = 60 * SPEECH_RATE;
const RATE_MIN = 2000;
const RATE_MAX = 192_000;

export interface SpeechSound {
  /** One after the other, on shared memory. */
  readonly parts: readonly Int16Array[];
  /** Of all parts together. */
  readonly samples: number;
  /** There was more, which was not kept. */
  readonly isCut: boolean;
}

export class SpeechSoundBuilder {
  private readonly parts: Int16Array[] = [];
  private samples = 0;
  private resampler: Resampler | null = null;
  private rate = 0;
  private readonly samplesMax: number;
  private cut = false;

  constructor(secondsMax: number) {
    this.samplesMax = secondsMax * SPEECH_RATE;
  }

  /** As much is there as is kept: more would be in vain. */
  get isFull(): boolean {
    return this.cut;
  }

  /** -1 to 1, a list per channel. Throws SoundError for a rate that no sound has. */
  push(channels: readonly Float32Array[], rate: number): void {
    const [first] = channels;
    if (first === undefined || first.length === 0) return;
    if (rate !== this.rate) this.change(rate);
    const mono = channels.length === 1 ? first : meanOf(channels);
    this.keep(this.resampler === null ? mono : this.resampler.push(mono));
  }

  /** Throws SoundError when there is nothing. */
  finish(): SpeechSound {
    if (this.resampler !== null) this.keep(this.resampler.end());
    if (this.samples === 0) throw new SoundError("there is no sound in it");
    const { parts, samples } = this;
    const last = samples % PART;
    if (last > 0) parts.push(parts.pop()!.subarray(0, last));
    return { parts, samples, isCut: this.cut };
  }

  /** Streams may go on at another rate. */
  private change(rate: number): void {
    if (!Number.isInteger(rate) || rate < RATE_MIN || rate > RATE_MAX) {
      throw new SoundError(
        `sounds of ${rate} samples a second are not supported; those of ${RATE_MIN} to ${RATE_MAX} are`,
      );
    }
    if (this.resampler !== null) this.keep(this.resampler.end());
    this.rate = rate;
    this.resampler = rate === SPEECH_RATE ? null : new Resampler(rate, SPEECH_RATE);
  }

  private keep(samples: Float32Array): void {
    const room = this.samplesMax - this.samples;
    if (samples.length > room) this.cut = true;
    const count = Math.min(samples.length, room);
    for (let i = 0; i < count; i++) {
      const at = this.samples % PART;
      if (at === 0) this.parts.push(new Int16Array(new SharedArrayBuffer(PART * 2)));
      const x = samples[i]!;
      this.parts.at(-1)![at] = Math.round(Math.max(-1, Math.min(1, x)) * 0x7fff);
      this.samples++;
    }
  }
}

function meanOf(channels: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(channels[0]!.length);
  for (const channel of channels)
    for (let i = 0; i < mean.length; i++) mean[i] = mean[i]! + channel[i]! / channels.length;
  return mean;
}
