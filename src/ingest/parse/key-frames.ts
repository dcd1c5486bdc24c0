/** Key frames of a video through the program ffmpeg, which is not a part of this installation. Used by video.ts. */
import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { DbError } from "../../protocol/errors.js";

const FRAMES_MAX = 8;
const SIDE_PIXELS = 1280;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const PNG_START = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/**
 * PNG, at most `FRAMES_MAX`; null when there is no ffmpeg on PATH. It may open this file only: no network, no
 * playlists' other files. A text says why ffmpeg cannot read the video. Throws DbError `file_timeout`; when that time
 * is over, ffmpeg is killed.
 */
export async function keyFrames(path: string, timeoutMs: number): Promise<Uint8Array[] | string | null> {
  // Frames at an even pace, so that none is repeated to fill the time between two; the options for that differ by
  // version.
  const filter = `setpts=N/25/TB,scale='min(${SIDE_PIXELS},iw)':-2`;
  const only = ["-nostdin", "-v", "error", "-protocol_whitelist", "file", "-threads", "1", "-skip_frame", "nokey"];
  const out = ["-frames:v", String(FRAMES_MAX), "-vf", filter, "-r", "25", "-an", "-sn", "-dn"];
  const command = [...only, "-i", `file:${realpathSync(path)}`, ...out, "-f", "image2pipe", "-c:v", "png", "pipe:1"];
  return new Promise((resolve, reject) => {
    const options = {
      timeout: Math.max(1, Math.floor(timeoutMs)),
      killSignal: "SIGKILL",
      maxBuffer: OUTPUT_BYTES_MAX,
    } as const;
    execFile("ffmpeg", command, { ...options, encoding: "buffer" }, (error, stdout, stderr) => {
      if (error === null) resolve(imagesOf(stdout));
      else if ((error as NodeJS.ErrnoException).code === "ENOENT") resolve(null);
      else if (error.killed === true)
        reject(new DbError("file_timeout", "Taking the video's key frames took too long."));
      else resolve(stderr.toString().split("\n")[0]!.slice(0, 200));
    });
  });
}

/** ffmpeg writes one image after the other. */
function imagesOf(stream: Buffer): Uint8Array[] {
  const images: Uint8Array[] = [];
  let from = stream.indexOf(PNG_START);
  while (from >= 0) {
    const next = stream.indexOf(PNG_START, from + PNG_START.length);
    images.push(stream.subarray(from, next < 0 ? stream.length : next));
    from = next;
  }
  return images;
}
