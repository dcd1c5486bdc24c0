/**
 * Prepares sounds and videos of requests for their vectors. Run in task threads (workers/task.ts); pure but for
 * ffmpeg.
 */
import { DbError } from "../../protocol/errors.js";
import { AUDIO_SECONDS_MAX, VIDEO_FRAMES_MAX } from "../../protocol/limits.js";
import { audioFeature } from "../audio/audio-feature.js";
import { SPEECH_RATE, type SpeechSound } from "../audio/speech-sound.js";
import { isWav, readWav, type Sound, SoundError } from "../audio/wav.js";
import type { DecodedImage } from "../image/decode-image.js";
import type { Fit } from "../image/fit-image.js";
import { VISUAL_SIDE, visualFeature } from "../image/visual-feature.js";
import { runFfmpeg } from "./ffmpeg.js";
import { blamingRequest, bytesOf, type MediaBytes } from "./media-bytes.js";
import { speechSoundOf } from "./speech-sound-of.js";

export interface SoundJob {
  readonly audio: MediaBytes;
  readonly ffmpeg: string;
}

export interface VideoJob {
  readonly video: MediaBytes;
  readonly ffmpeg: string;
  /** As a model reads its frames; null: their classical feature is wanted. */
  readonly pixels: { readonly side: number; readonly fit: Fit } | null;
}

/** Exactly one of the two is not empty. */
export interface SeenVideo {
  readonly features: readonly Float32Array[];
  readonly frames: readonly DecodedImage[];
}

/** The classical feature. Throws invalid_request and program_not_installed. */
export function listen({ audio, ffmpeg }: SoundJob): Promise<Float32Array> {
  return blamingRequest(audio.field, async () => {
    const bytes = bytesOf(audio);
    try {
      return audioFeature(isWav(bytes) ? readWav(bytes) : plain(await speechOf(bytes, ffmpeg)));
    } catch (error) {
      if (error instanceof SoundError) throw new DbError("file_corrupt", error.message);
      throw error;
    }
  });
}

/** As models of speech want it. Throws as `listen`. */
export function hear({ audio, ffmpeg }: SoundJob): Promise<SpeechSound> {
  return blamingRequest(audio.field, () => speechOf(bytesOf(audio), ffmpeg));
}

async function speechOf(bytes: Uint8Array, ffmpeg: string): Promise<SpeechSound> {
  const sound = await speechSoundOf({ bytes, ffmpeg, secondsMax: AUDIO_SECONDS_MAX });
  if (!sound.isCut) return sound;
  throw new DbError("file_too_large", `the sound is longer than ${AUDIO_SECONDS_MAX} seconds`);
}

function plain({ parts, samples: count }: SpeechSound): Sound {
  const samples = new Float32Array(count);
  let at = 0;
  for (const part of parts) {
    for (let i = 0; i < part.length; i++) samples[at + i] = part[i]! / 0x8000;
    at += part.length;
  }
  return { rate: SPEECH_RATE, samples };
}

/** The first VIDEO_FRAMES_MAX key frames. Throws invalid_request and program_not_installed. */
export function watch({ video, ffmpeg, pixels }: VideoJob): Promise<SeenVideo> {
  return blamingRequest(video.field, async () => {
    const side = pixels?.side ?? VISUAL_SIDE;
    const scaled =
      pixels?.fit === "crop"
        ? `scale=${side}:${side}:force_original_aspect_ratio=increase,crop=${side}:${side}`
        : `scale=${side}:${side}`;
    const filter = `select=eq(pict_type\\,I),${scaled}`;
    const ends = ["-frames:v", `${VIDEO_FRAMES_MAX}`, "-pix_fmt", "rgb24", "-f", "rawvideo"];
    const options = ["-an", "-vf", filter, "-fps_mode", "vfr", ...ends];
    const length = side * side * 3;
    const outputBytesMax = length * VIDEO_FRAMES_MAX;
    const raw = await runFfmpeg({ program: ffmpeg, bytes: bytesOf(video), options, outputBytesMax });
    const frames = Array.from({ length: Math.floor(raw.length / length) }, (_, i) => ({
      width: side,
      height: side,
      rgb: Uint8Array.from(raw.subarray(i * length, (i + 1) * length)),
    }));
    if (frames.length === 0) throw new DbError("file_corrupt", "there is no picture in it");
    return pixels === null ? { features: frames.map(visualFeature), frames: [] } : { features: [], frames };
  });
}
