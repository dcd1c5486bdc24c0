/**
 * Sound as numbers, of WAV files (RIFF/WAVE): PCM of 8 to 32 bits and floating point, any number of channels. Microsoft
 * and IBM, "Multimedia Programming Interface and Data Specifications 1.0", 1991, and WAVEFORMATEXTENSIBLE. Called in
 * task threads by src/ingest/media; pure.
 */
import { AUDIO_SECONDS_MAX } from "../../protocol/limits.js";

export interface Sound {
  /** Samples a second. */
  readonly rate: number;
  /** The mean of the channels, -1 to 1. */
  readonly samples: Float32Array;
}

/** What is no sound that can be read, and why. */
export class SoundError extends Error {
  override readonly name: string = "SoundError";
}

/** What may well be a sound, of a form that is not read here. */
export class SoundFormatError extends SoundError {
  override readonly name = "SoundFormatError";
}

/** A WAV file whose format is known. */
export interface OpenWav {
  /** Samples a second. */
  readonly rate: number;
  /** Samples of each channel. */
  readonly count: number;
  /** The mean of the channels, -1 to 1, of some samples. */
  read(from: number, count: number): Float32Array;
}

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;

export function isWav(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  return head.startsWith("RIFF") && head.endsWith("WAVE");
}

/** Throws SoundError, also for what is longer than AUDIO_SECONDS_MAX. */
export function readWav(bytes: Uint8Array): Sound {
  const { rate, count, read } = openWav(bytes);
  if (count / rate > AUDIO_SECONDS_MAX) throw new SoundError(`the sound is longer than ${AUDIO_SECONDS_MAX} seconds`);
  return { rate, samples: read(0, count) };
}

/** Throws SoundError. */
export function openWav(bytes: Uint8Array): OpenWav {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: { code: number; channels: number; rate: number; bits: number } | null = null;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = Buffer.from(bytes.subarray(at, at + 4)).toString("latin1");
    const length = view.getUint32(at + 4, true);
    const start = at + 8;
    if (name === "fmt ") {
      if (length < 16 || start + length > bytes.length) throw new SoundError("the WAV file has no whole format");
      const code = view.getUint16(start, true);
      format = {
        // The real format of an extensible one is at the beginning of its GUID.
        code: code === EXTENSIBLE && length >= 26 ? view.getUint16(start + 24, true) : code,
        channels: view.getUint16(start + 2, true),
        rate: view.getUint32(start + 4, true),
        bits: view.getUint16(start + 14, true),
      };
    } else if (name === "data") {
      if (format === null) throw new SoundError("the WAV file has no format before its sound");
      // The writer of a stream does not know the length in advance.
      const isOpen = length === 0xffffffff;
      if (!isOpen && start + length > bytes.length) throw new SoundError("the WAV file is cut off");
      return samplesOf(view, start, isOpen ? bytes.length - start : length, format);
    }
    at = start + length + (length % 2);
  }
  throw new SoundError("the WAV file has no sound, or is cut off");
}

function samplesOf(
  view: DataView,
  start: number,
  length: number,
  { code, channels, rate, bits }: { code: number; channels: number; rate: number; bits: number },
): OpenWav {
  const read = readerOf(view, code, bits);
  if (read === null)
    throw new SoundFormatError(`WAV of format ${code} with ${bits} bits is not supported; use PCM or float`);
  if (channels < 1 || channels > 64 || rate < 1000 || rate > 768_000) {
    throw new SoundError(`the WAV file has ${channels} channels and ${rate} samples a second`);
  }
  const width = bits / 8;
  const count = Math.floor(length / (width * channels));
  if (count === 0) throw new SoundError("the WAV file is empty");
  const samplesFrom = (from: number, wanted: number): Float32Array => {
    const samples = new Float32Array(Math.min(wanted, count - from));
    for (let i = 0; i < samples.length; i++) {
      let sum = 0;
      for (let c = 0; c < channels; c++) sum += read(start + ((from + i) * channels + c) * width);
      samples[i] = Number.isFinite(sum) ? sum / channels : 0;
    }
    return samples;
  };
  return { rate, count, read: samplesFrom };
}

function readerOf(view: DataView, code: number, bits: number): ((at: number) => number) | null {
  if (code === FLOAT && bits === 32) return (at) => view.getFloat32(at, true);
  if (code === FLOAT && bits === 64) return (at) => view.getFloat64(at, true);
  if (code !== PCM) return null;
  if (bits === 8) return (at) => (view.getUint8(at) - 128) / 128;
  if (bits === 16) return (at) => view.getInt16(at, true) / 0x8000;
  if (bits === 24) return (at) => (view.getUint16(at, true) | (view.getInt8(at + 2) << 16)) / 0x800000;
  return bits === 32 ? (at) => view.getInt32(at, true) / 0x80000000 : null;
}
