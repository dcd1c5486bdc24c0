/**
 * What a file becomes: the job, the answer and the words for kinds of files. Types only, so that plans and the owner of
 * a filesystem collection load no parser; `parseFile` itself is parse-file.ts, run in a task thread as workers/task.ts
 * `parseFile`.
 *
 * What the caller owes a parse:
 * - **A pool of its own** for files, so that a poison file ends no other task: `taskPool({ threads, waitingMax,
 *   resourceLimits: PARSE_THREAD_LIMITS })`. A thread out of memory rejects with ERR_WORKER_OUT_OF_MEMORY: quarantine
 *   the file as `file_too_large`. Memory outside the heap is bounded here: the file's bytes (`bytesMax`), what its
 *   archive inflates to, the pixels of an image, and some 150 MiB of the reader of pictures' texts while that is in
 *   use.
 * - **The end of a parse that overruns.** A parser may loop without giving way, which nothing in its thread can stop:
 *   give the pool an `AbortSignal.timeout(job.timeoutMs)`. Piscina then ends that thread (and whatever it started) and
 *   rejects with an AbortError: quarantine the file as `file_timeout`. Work that does give way ends by itself with that
 *   code.
 * - **Retry** only `file_changed` and `not_found` (and `overloaded`): all other codes come from what the file holds, so
 *   the same bytes fail again.
 */
import type { DbError } from "../../protocol/errors.js";
import type { SpeechSound } from "../audio/speech-sound.js";
import type { ImageLooks, LooksWanted } from "../image/image-looks.js";

export const FILE_KINDS = [
  "text",
  "markdown",
  "html",
  "xml",
  "pdf",
  "docx",
  "pptx",
  "xlsx",
  "csv",
  "json",
  "email",
  "epub",
  "code",
  "image",
  "audio",
  "video",
] as const;

/** `other` is no kind that is read: parsing answers `file_unsupported`. */
export type FileKind = (typeof FILE_KINDS)[number] | "other";

/** Where a file is, and within what it has to be once links are followed. */
export interface FilePlace {
  readonly path: string;
  /** Folder that the file has to be in; `..` and links out of it are refused. */
  readonly root: string;
  readonly bytesMax: number;
}

export interface ParseJob extends FilePlace {
  /** Read the words in images, and in pages of PDF files that have no text. */
  readonly ocrImages: boolean;
  /** UTF-16 code units of one chunk, at most. */
  readonly chunkCharacters: number;
  /** UTF-16 code units that a chunk repeats of the one before, at most. Whole sentences are repeated, or nothing. */
  readonly overlapCharacters: number;
  readonly timeoutMs: number;
  readonly thumbnails: boolean;
  /** Of images and videos. Absent: nobody asks what they look like. */
  readonly looks?: LooksWanted;
  /** How the sound is wanted, to be transcribed; a text, which becomes a note, says why it is not. */
  readonly speech?: SpeechWish | string;
}

export interface SpeechWish {
  /** The program that reads what nothing else here does. */
  readonly ffmpeg: string;
  /** What is longer is cut there, and a note says so. */
  readonly secondsMax: number;
}

/** What a file was when it was read; another digest is another content. */
export interface FileFacts {
  /** SHA-256 of the bytes, hexadecimal. */
  readonly digest: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

export interface ParsedChunk {
  readonly text: string;
  /** Page, slide or sheet, from 1. */
  readonly page?: number;
  /** Path of headings, joined by " > ". */
  readonly heading?: string;
  /** UTF-16 offsets in the extracted text. */
  readonly start: number;
  readonly end: number;
  /** Of what is said: from the sound's beginning. */
  readonly startSeconds?: number;
  readonly endSeconds?: number;
}

export interface ParsedFile extends FileFacts {
  readonly kind: FileKind;
  readonly mediaType: string;
  readonly title?: string;
  /** JSON values only. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** In the order of the text. None for a file without text. */
  readonly chunks: readonly ParsedChunk[];
  /** UTF-16 code units of the extracted text. */
  readonly characters: number;
  /** WebP, at most THUMBNAIL_PIXELS wide and high. */
  readonly thumbnail?: Uint8Array;
  readonly looks?: ImageLooks;
  /** What was not done and why, in words for a user. */
  readonly notes: readonly string[];
  /** Where it was wanted and there is one. */
  readonly sound?: SpeechSound;
}

/** Errors lose their class between threads, so a task answers them. Exactly one of the two is not null. */
export interface ParseAnswer<T> {
  readonly result: T | null;
  readonly error: (Pick<DbError, "code" | "message"> & Partial<Pick<DbError, "details">>) | null;
}

/** For the threads of a pool that parses files. */
export const PARSE_THREAD_LIMITS = { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 };
