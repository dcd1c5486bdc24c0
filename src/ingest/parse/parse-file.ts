/**
 * Turns one file on disk into chunks: reads it with care, finds its kind by its content, parses it, cuts it. Called in
 * task threads through workers/task.ts; each parser is loaded with the first file of its kind.
 *
 *   read-file.ts → detect-kind.ts → a parser → ParsedContent → chunk/chunk-text.ts
 */
import { DbError } from "../../protocol/errors.js";
import { chunkText } from "../chunk/chunk-text.js";
import type { FileKind, ParsedFile, ParseJob } from "./contract.js";
import { detectKind } from "./detect-kind.js";
import { inflateFile } from "./inflate-file.js";
import { withoutGzip } from "./kind-of.js";
import { ParsedContent, type Parser } from "./parsed-content.js";
import { readWholeFile } from "./read-file.js";

const CHUNK_CHARACTERS_MIN = 50;

const PARSERS: Readonly<Record<Exclude<FileKind, "other">, () => Promise<Parser>>> = {
  text: async () => (await import("./text.js")).parseText,
  markdown: async () => (await import("./markdown.js")).parseMarkdown,
  html: async () => (await import("./html.js")).parseHtml,
  xml: async () => (await import("./xml.js")).parseXml,
  pdf: async () => (await import("./pdf.js")).parsePdf,
  docx: async () => (await import("./docx.js")).parseDocx,
  pptx: async () => (await import("./pptx.js")).parsePptx,
  xlsx: async () => (await import("./xlsx.js")).parseXlsx,
  csv: async () => (await import("./csv.js")).parseCsv,
  json: async () => (await import("./json.js")).parseJson,
  email: async () => (await import("./email.js")).parseEmail,
  epub: async () => (await import("./epub.js")).parseEpub,
  code: async () => (await import("./code.js")).parseCode,
  image: async () => (await import("./image.js")).parseImage,
  audio: async () => (await import("./audio.js")).parseAudio,
  video: async () => (await import("./video.js")).parseVideo,
};

/**
 * Throws DbError: `file_unsupported`, `file_too_large`, `file_encrypted`, `file_corrupt`, `file_timeout`,
 * `file_changed`, `forbidden` (outside of its root, or not readable), `not_found`; `invalid_request` for sizes of
 * chunks that make no sense.
 */
export async function parseFile(job: ParseJob): Promise<ParsedFile> {
  checkSizes(job);
  const { content: packed, ...facts } = readWholeFile(job);
  const bytes = inflateFile(job.path, packed);
  const isPacked = bytes !== packed;
  const named = isPacked ? { ...job, path: withoutGzip(job.path) } : job;
  const { kind, mediaType } = await detectKind(named.path, bytes);
  // Sounds and videos are read from their files.
  if (kind === "other" || (isPacked && (kind === "audio" || kind === "video")))
    throw new DbError("file_unsupported", `${job.path}: files of this kind are not read.`);
  const content = new ParsedContent(job.timeoutMs);
  content.mediaType = mediaType;
  const parser = await PARSERS[kind]();
  try {
    await parser({ job: named, kind, bytes }, content);
  } catch (error) {
    if (error instanceof DbError) throw error;
    throw new DbError("file_corrupt", `${job.path} cannot be read as ${kind}: ${(error as Error).message}`);
  }
  content.checkTime();
  const extracted = content.text.finish();
  const chunks = chunkText(extracted, { characters: job.chunkCharacters, overlap: job.overlapCharacters });
  return {
    ...facts,
    kind,
    mediaType: content.mediaType ?? "application/octet-stream",
    ...(content.title === undefined ? {} : { title: content.title }),
    metadata: content.metadata,
    chunks,
    characters: extracted.text.length,
    ...(content.thumbnail === undefined ? {} : { thumbnail: content.thumbnail }),
    ...(content.looks === undefined ? {} : { looks: content.looks }),
    notes: content.notes,
    ...(content.sound === undefined ? {} : { sound: content.sound }),
  };
}

function checkSizes({ chunkCharacters, overlapCharacters }: ParseJob): void {
  if (!Number.isInteger(chunkCharacters) || chunkCharacters < CHUNK_CHARACTERS_MIN) {
    throw new DbError("invalid_request", `A chunk has at least ${CHUNK_CHARACTERS_MIN} characters.`);
  }
  if (!Number.isInteger(overlapCharacters) || overlapCharacters < 0 || overlapCharacters >= chunkCharacters) {
    throw new DbError("invalid_request", "The overlap of chunks is from 0 to below the size of a chunk.");
  }
}
