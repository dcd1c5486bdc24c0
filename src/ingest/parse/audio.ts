/** Audio: tags, length and format by music-metadata; its text are the lyrics. Speech is transcribed elsewhere. */
import type { IAudioMetadata } from "music-metadata";
import type { ParsedContent, ParserInput } from "./parsed-content.js";
import { readSpeech } from "./speech.js";

export async function parseAudio(input: ParserInput, content: ParsedContent): Promise<void> {
  const { bytes } = input;
  const { parseBuffer } = await import("music-metadata");
  const found = await parseBuffer(bytes, { mimeType: content.mediaType, size: bytes.length }, { skipCovers: true });
  const { common, format } = found;
  content.setTitle(common.title);
  content.fact("artist", common.artist);
  content.fact("album", common.album);
  content.fact("album_artist", common.albumartist);
  content.fact("year", common.year);
  content.fact("track", common.track?.no);
  content.fact("genre", common.genre);
  content.fact("composer", common.composer?.join(", "));
  content.fact("duration_seconds", format.duration === undefined ? null : Number(format.duration.toFixed(3)));
  content.fact("codec", format.codec);
  content.fact("container", format.container);
  content.fact("bitrate", format.bitrate === undefined ? null : Math.round(format.bitrate));
  content.fact("sample_rate", format.sampleRate);
  content.fact("channels", format.numberOfChannels);
  content.text.block(describe(found));
  for (const lyrics of common.lyrics ?? []) content.text.block(lyrics.text ?? "");
  await readSpeech(input, content);
}

function describe({ common }: IAudioMetadata): string {
  const lines = [
    common.title,
    common.artist && `Artist: ${common.artist}`,
    common.album && `Album: ${common.album}`,
    common.composer && `Composer: ${common.composer.join(", ")}`,
    common.genre && `Genre: ${common.genre.join(", ")}`,
    common.year && `Year: ${common.year}`,
    ...(common.comment ?? []).map(({ text }) => text),
  ];
  return lines.filter((line) => typeof line === "string" && line !== "").join("\n");
}
