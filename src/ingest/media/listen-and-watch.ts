/** Sounds and videos of requests as what their vectors are made of. Run in task threads (workers/task.ts); pure but for ffmpeg. */
import { DbError } from "../../protocol/errors.js";
import { AUDIO_SECONDS_MAX, VIDEO_FRAMES_MAX } from "../../protocol/limits.js";
import { audioFeature } from "../audio/audio-feature.js";
import { isWav, readWav, SoundError } from "../audio/wav.js";
import type { DecodedImage } from "../image/decode-image.js";
import type { Fit } from "../image/fit-image.js";
import { VISUAL_SIDE, visualFeature } from "../image/visual-feature.js";
import { runFfmpeg } from "./ffmpeg.js";
import { blamingRequest, bytesOf, type MediaBytes } from "./media-bytes.js";

const RATE = 16_000;

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
    const wav = isWav(bytes) ? bytes : await asWav(bytes, ffmpeg);
    try {
      return audioFeature(readWav(wav));
    } catch (error) {
      if (error instanceof SoundError) throw new DbError("file_corrupt", error.message);
      throw error;
    }
  });
}

function asWav(bytes: Uint8Array, program: string): Promise<Buffer> {
  const options = ["-vn", "-ac", "1", "-ar", `${RATE}`, "-t", `${AUDIO_SECONDS_MAX}`, "-c:a", "pcm_s16le", "-f", "wav"];
  return runFfmpeg({ program, bytes, options, outputBytesMax: RATE * 2 * (AUDIO_SECONDS_MAX + 1) + 4096 });
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
