/**
 * FFmpeg, if it is installed, for sounds and videos that nothing else here reads. It gets a file of its own, may open
 * nothing else, and is ended when it takes too long or writes too much. Run in task threads; each run owns its folder.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DbError } from "../../protocol/errors.js";
import { FFMPEG_MS_MAX } from "../../protocol/limits.js";

const ERROR_CHARACTERS_MAX = 300;

export interface FfmpegRun {
  /** The program: a name that is looked for in PATH, or a path. */
  readonly program: string;
  readonly bytes: Uint8Array;
  /** Behind the input. */
  readonly options: readonly string[];
  readonly outputBytesMax: number;
}

/**
 * What it writes. Throws `program_not_installed`, and file_corrupt or file_timeout for what it cannot read or not in
 * time.
 */
export async function runFfmpeg({ program, bytes, options, outputBytesMax }: FfmpegRun): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "tessera-media-"));
  try {
    const input = join(folder, "input");
    await writeFile(input, bytes, { mode: 0o600 });
    const safe = ["-nostdin", "-hide_banner", "-v", "error", "-protocol_whitelist", "file,pipe"];
    return await outputOf(program, [...safe, "-i", input, ...options, "pipe:1"], outputBytesMax);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function outputOf(program: string, args: readonly string[], bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: { PATH: process.env.PATH ?? "" } });
    const pieces: Buffer[] = [];
    let bytes = 0;
    let said = "";
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new DbError("file_timeout", `ffmpeg took longer than ${FFMPEG_MS_MAX / 1000} s`));
    }, FFMPEG_MS_MAX);
    child.stdout.on("data", (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= bytesMax) pieces.push(piece);
      else child.kill("SIGKILL");
    });
    child.stderr.on("data", (piece: Buffer) => {
      if (said.length < ERROR_CHARACTERS_MAX) said += piece.toString();
    });
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(error.code === "ENOENT" || error.code === "EACCES" ? notInstalled(program) : error);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      if (bytes > bytesMax) reject(new DbError("file_too_large", `decoded, it is larger than ${bytesMax} bytes`));
      else if (code === 0) resolve(Buffer.concat(pieces));
      else reject(new DbError("file_corrupt", `ffmpeg cannot read it (${lastLineOf(said) || `exit code ${code}`})`));
    });
  });
}

/** Without the name of the temporary file. */
function lastLineOf(said: string): string {
  const lines = said.split("\n").filter((line) => line.trim() !== "");
  return (lines.at(-1) ?? "").replaceAll(/[^\s:]*tessera-media-[^\s:]*/g, "input").slice(0, ERROR_CHARACTERS_MAX);
}

function notInstalled(program: string): DbError {
  return new DbError(
    "program_not_installed",
    `Videos need ffmpeg, and so do sounds other than WAV, MP3, FLAC, Ogg Vorbis and Opus. "${program}" cannot be run. Install it (apt-get install ffmpeg), or set its path in multimodal.ffmpeg.`,
    { program: "ffmpeg" },
  );
}
