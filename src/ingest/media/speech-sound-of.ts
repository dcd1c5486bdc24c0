/**
 * A file's sound in the form that models of speech need: WAV, MP3, FLAC, Ogg Vorbis and Opus by the installed
 * decoders, everything else by ffmpeg if it is there. Called in task threads, for requests (listen-and-watch.ts) and
 * for files (src/ingest/parse).
 */
import { DbError } from "../../protocol/errors.js";
import { blocksOf, codecOf, type SoundBlock } from "../audio/compressed.js";
import { SPEECH_RATE, type SpeechSound, SpeechSoundBuilder } from "../audio/speech-sound.js";
import { isWav, openWav, SoundError, SoundFormatError } from "../audio/wav.js";
import { runFfmpeg } from "./ffmpeg.js";

export interface SpeechSoundJob {
  readonly bytes: Uint8Array;
  readonly ffmpeg: string;
  /** What is longer is cut there. */
  readonly secondsMax: number;
  /** Called between blocks; may throw. */
  readonly checkTime?: () => void;
}

/** Throws DbError: `file_corrupt` and other `file_…` for what cannot be read, `program_not_installed`. */
export async function speechSoundOf(job: SpeechSoundJob): Promise<SpeechSound> {
  try {
    return await decoded(job, blocksIn(job.bytes));
  } catch (error) {
    if (!(error instanceof SoundError)) throw error;
    if (!(error instanceof SoundFormatError)) throw new DbError("file_corrupt", error.message);
  }
  return byFfmpeg(job);
}

async function decoded(job: SpeechSoundJob, blocks: AsyncIterable<SoundBlock>): Promise<SpeechSound> {
  const builder = new SpeechSoundBuilder(job.secondsMax);
  for await (const { channels, rate } of blocks) {
    builder.push(channels, rate);
    job.checkTime?.();
    if (builder.isFull) break;
  }
  return builder.finish();
}

function blocksIn(bytes: Uint8Array): AsyncIterable<SoundBlock> {
  if (isWav(bytes)) return wavBlocks(bytes);
  const codec = codecOf(bytes);
  if (codec === null) throw new SoundFormatError("the sound is of a form that is not read here");
  return blocksOf(codec, bytes);
}

async function* wavBlocks(bytes: Uint8Array): AsyncGenerator<SoundBlock, void> {
  const { rate, count, read } = openWav(bytes);
  for (let from = 0; from < count; from += rate) yield { channels: [read(from, rate)], rate };
}

/** A second more than is kept, so that it is seen to be cut. */
async function byFfmpeg({ bytes, ffmpeg: program, secondsMax }: SpeechSoundJob): Promise<SpeechSound> {
  const form = ["-c:a", "pcm_s16le", "-f", "s16le"];
  const options = ["-vn", "-ac", "1", "-ar", `${SPEECH_RATE}`, "-t", `${secondsMax + 1}`, ...form];
  const outputBytesMax = SPEECH_RATE * 2 * (secondsMax + 2);
  const raw = await runFfmpeg({ program, bytes, options, outputBytesMax });
  const builder = new SpeechSoundBuilder(secondsMax);
  for (let at = 0; at + 1 < raw.length; at += SPEECH_RATE * 2) {
    const count = Math.min(SPEECH_RATE, Math.floor((raw.length - at) / 2));
    const channel = Float32Array.from({ length: count }, (_, i) => raw.readInt16LE(at + 2 * i) / 0x8000);
    builder.push([channel], SPEECH_RATE);
  }
  try {
    return builder.finish();
  } catch (error) {
    throw error instanceof SoundError ? new DbError("file_corrupt", error.message) : error;
  }
}
