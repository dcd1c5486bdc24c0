/**
 * Blocks of sound out of MP3, FLAC, Ogg Vorbis and Opus, by decoders in WebAssembly (mpg123, libFLAC, libvorbis,
 * libopus), each loaded with the first sound of its kind. Called in task threads by src/ingest/media.
 */
import { SoundError } from "./wav.js";

export type Codec = "mp3" | "flac" | "vorbis" | "opus";

export interface SoundBlock {
  /** -1 to 1, a list per channel. */
  readonly channels: readonly Float32Array[];
  readonly rate: number;
}

interface Decoded {
  readonly channelData: readonly Float32Array[];
  readonly samplesDecoded: number;
  readonly sampleRate: number;
  readonly errors: readonly { readonly message: string }[];
}

interface Decoder {
  readonly ready: Promise<void>;
  decode(bytes: Uint8Array): Decoded | Promise<Decoded>;
  flush?(): Promise<Decoded>;
  free(): void;
}

const DECODERS: Readonly<Record<Codec, () => Promise<Decoder>>> = {
  mp3: async () => new (await import("mpg123-decoder")).MPEGDecoder(),
  flac: async () => new (await import("@wasm-audio-decoders/flac")).FLACDecoder(),
  vorbis: async () => new (await import("@wasm-audio-decoders/ogg-vorbis")).OggVorbisDecoder(),
  opus: async () => new (await import("ogg-opus-decoder")).OggOpusDecoder(),
};

/** Bytes that are decoded at once: what they become is bounded by it. */
const PIECE_BYTES = 32 * 1024;

/** Pieces in which something is broken, after which nothing good is to come. */
const BROKEN_PIECES_MAX = 8;

/** By its first bytes; null: another. */
export function codecOf(bytes: Uint8Array): Codec | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 4096)).toString("latin1");
  if (head.startsWith("fLaC")) return "flac";
  if (head.startsWith("OggS")) {
    if (head.includes("OpusHead")) return "opus";
    return head.includes("\x01vorbis") ? "vorbis" : null;
  }
  if (head.startsWith("ID3")) return "mp3";
  // Eleven bits of a frame's beginning, and a layer; layer 0 is AAC's.
  const [first = 0, second = 0] = bytes;
  return first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0 ? "mp3" : null;
}

/** Throws SoundError for what is broken or cut off. */
export async function* blocksOf(codec: Codec, bytes: Uint8Array): AsyncGenerator<SoundBlock, void> {
  const decoder = await DECODERS[codec]();
  await decoder.ready;
  let problem: string | null = null;
  let broken = 0;
  let samples = 0;
  let rate = 0;
  const take = ({ channelData: channels, samplesDecoded, sampleRate, errors }: Decoded): SoundBlock => {
    problem ??= errors[0]?.message ?? null;
    if (errors.length > 0 && ++broken > BROKEN_PIECES_MAX) throw new SoundError(`it is broken (${problem})`);
    samples += samplesDecoded;
    if (samplesDecoded > 0) rate = sampleRate;
    return { channels: samplesDecoded === 0 ? [] : channels, rate: sampleRate };
  };
  try {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      yield take(await decoder.decode(bytes.subarray(at, at + PIECE_BYTES)));
    }
    if (decoder.flush !== undefined) yield take(await decoder.flush());
  } finally {
    decoder.free();
  }
  if (samples === 0)
    throw new SoundError(`no ${codec} sound can be read of it${problem === null ? "" : ` (${problem})`}`);
  const wanted = samplesSaid(codec, bytes);
  // Encoders pad; what is missing of a file that was cut off is more.
  if (wanted !== null && samples < wanted - rate / 10) {
    const [is, was] = [samples, wanted].map((count) => (count / rate).toFixed(2));
    throw new SoundError(`it is cut off or broken: ${is} of ${was} s can be read`);
  }
  if (problem !== null && wanted === null && codec !== "mp3") throw new SoundError(`it is broken (${problem})`);
}

/** Samples that the file itself says to have; null: it does not say. */
function samplesSaid(codec: Codec, bytes: Uint8Array): number | null {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (codec === "flac") {
    // STREAMINFO is the first block: 36 bits behind 20 of the rate, 3 of channels and 5 of bits.
    if (view.length < 26) return null;
    const samples = (view[21]! & 0x0f) * 2 ** 32 + view.readUInt32BE(22);
    return samples === 0 ? null : samples;
  }
  if (codec === "mp3") return samplesOfXing(view);
  // The last page of a whole Ogg stream is marked as such; a stream that was cut off has none.
  const last = view.lastIndexOf("OggS");
  return (view[last + 5]! & 0x04) === 0 ? Number.POSITIVE_INFINITY : null;
}

/** Samples of the frames that an encoder counted (Xing's header, which LAME and libav write, in the first frame). */
function samplesOfXing(view: Buffer): number | null {
  const head = view.subarray(0, 16_384);
  const xing = Math.max(head.indexOf("Xing"), head.indexOf("Info"));
  if (xing < 0 || xing + 12 > view.length || (view.readUInt32BE(xing + 4) & 1) === 0) return null;
  // Of the frame it is in: MPEG 1 has 1152 samples a frame, the others half as many.
  const frame = [36, 21, 13]
    .map((distance) => xing - distance)
    .find((at) => at >= 0 && view[at] === 0xff && (view[at + 1]! & 0xe0) === 0xe0);
  if (frame === undefined) return null;
  const isFirst = (view[frame + 1]! & 0x18) === 0x18;
  return view.readUInt32BE(xing + 8) * (isFirst ? 1152 : 576);
}
