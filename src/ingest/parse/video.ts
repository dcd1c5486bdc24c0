/**
 * Video: length, size and tracks by mediainfo.js. If ffmpeg is installed, also the first key frames: one of them is
 * the thumbnail, all of them give visual features and, when asked for, words.
 */
import { createRequire } from "node:module";
import { DbError } from "../../protocol/errors.js";
import { thumbnailOf } from "../image/decode-image.js";
import { looksOf } from "../image/image-looks.js";
import { readImageText } from "../image/read-text.js";
import { keyFrames } from "./key-frames.js";
import type { ParsedContent, ParserInput } from "./parsed-content.js";
import { readSpeech } from "./speech.js";

type Track = { readonly "@type": string } & Record<string, unknown>;

export async function parseVideo(input: ParserInput, content: ParsedContent): Promise<void> {
  const tracks = await tracksOf(input.bytes);
  const general = tracks.find((track) => track["@type"] === "General");
  const video = tracks.find((track) => track["@type"] === "Video");
  const audio = tracks.filter((track) => track["@type"] === "Audio");
  if (video === undefined && audio.length === 0) {
    throw new DbError("file_corrupt", "The file has neither a video track nor an audio track.");
  }
  content.setTitle(text(general?.Title) ?? text(general?.Movie));
  content.fact("container", text(general?.Format));
  content.fact("duration_seconds", number(general?.Duration));
  content.fact("width", number(video?.Width));
  content.fact("height", number(video?.Height));
  content.fact("frame_rate", number(video?.FrameRate));
  content.fact("video_codec", text(video?.Format));
  content.fact("audio_codec", text(audio[0]?.Format));
  content.fact("recorded", text(general?.Recorded_Date) ?? text(general?.Encoded_Date));
  const description = [content.title, text(general?.Performer), text(general?.Description), text(general?.Comment)];
  content.text.block(description.filter((line) => line !== undefined).join("\n"));
  for (const track of tracks.filter((track) => track["@type"] === "Menu")) content.text.block(chaptersOf(track));
  await readKeyFrames(input, content);
  if (audio.length > 0) await readSpeechOfVideo(input, content);
}

/** A video whose sound cannot be read is a video all the same. */
async function readSpeechOfVideo(input: ParserInput, content: ParsedContent): Promise<void> {
  try {
    await readSpeech(input, content);
  } catch (error) {
    if (!(error instanceof DbError) || error.code !== "file_corrupt") throw error;
    content.notes.push(`transcription: not made: ${error.message}`);
  }
}

async function tracksOf(bytes: Buffer): Promise<readonly Track[]> {
  const { default: mediaInfoFactory } = await import("mediainfo.js");
  const wasm = createRequire(import.meta.url).resolve("mediainfo.js/MediaInfoModule.wasm");
  const reader = await mediaInfoFactory({ format: "object", locateFile: () => wasm });
  try {
    const read = (size: number, offset: number): Uint8Array => new Uint8Array(bytes.subarray(offset, offset + size));
    const { media } = await reader.analyzeData(() => bytes.length, read);
    return (media?.track ?? []) as unknown as readonly Track[];
  } finally {
    reader.close();
  }
}

async function readKeyFrames({ job }: ParserInput, content: ParsedContent): Promise<void> {
  if (!job.thumbnails && job.looks === undefined && !job.ocrImages) return;
  const frames = await keyFrames(job.path, content.remainingMs);
  if (frames === null) {
    content.notes.push("key frames: not available: install ffmpeg, then process the file again");
    return;
  }
  if (typeof frames === "string") {
    content.notes.push(`key frames: not taken: ffmpeg cannot read the video: ${frames}`);
    return;
  }
  content.fact("key_frames", frames.length);
  if (job.thumbnails && frames[0] !== undefined) content.thumbnail = await thumbnailOf(frames[0]);
  if (job.looks !== undefined && frames.length > 0) content.looks = await looksOf(frames, job.looks);
  if (!job.ocrImages) return;
  const seen = new Set<string>();
  for (const frame of frames) {
    const { text } = await readImageText(frame, { timeoutMs: content.remainingMs });
    if (!seen.has(text)) content.text.block(text);
    seen.add(text);
  }
}

/** A menu's extra fields are its chapters: `_00_01_30_000` → name. */
function chaptersOf(track: Track): string {
  const extra = (track.extra ?? {}) as Record<string, unknown>;
  return Object.values(extra)
    .filter((name) => typeof name === "string")
    .join("\n");
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

function number(value: unknown): number | undefined {
  const result = Number(value);
  return value === undefined || value === "" || !Number.isFinite(result) ? undefined : result;
}
