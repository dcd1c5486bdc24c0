/** The input and output of every parser; parse-file.ts makes the one and finishes the other. */

import { DbError } from "../../protocol/errors.js";
import { FILE_METADATA_CHARACTERS_MAX, FILE_TITLE_CHARACTERS_MAX } from "../../protocol/limits.js";
import type { SpeechSound } from "../audio/speech-sound.js";
import { storableText, TextBuilder } from "../chunk/extracted-text.js";
import type { ImageLooks } from "../image/image-looks.js";
import type { FileKind, ParseJob } from "./contract.js";

export interface ParserInput {
  readonly job: ParseJob;
  readonly kind: FileKind;
  readonly bytes: Buffer;
}

/** A parser may throw DbErrors; anything else that it throws means `file_corrupt`. */
export type Parser = (input: ParserInput, content: ParsedContent) => Promise<void> | void;

/** Filled by a parser. */
export class ParsedContent {
  readonly text = new TextBuilder();
  readonly notes: string[] = [];
  readonly metadata: Record<string, unknown> = {};
  title: string | undefined;
  mediaType: string | undefined;
  thumbnail: Uint8Array | undefined;
  looks: ImageLooks | undefined;
  sound: SpeechSound | undefined;
  private readonly endsAtMs: number;

  constructor(timeoutMs: number) {
    this.endsAtMs = performance.now() + timeoutMs;
  }

  /** The first that is not blank stays. */
  setTitle(title: string | null | undefined): void {
    const plain = (title ?? "").replace(/\s+/g, " ").trim();
    if (this.title === undefined && plain !== "") this.title = storableText(plain.slice(0, FILE_TITLE_CHARACTERS_MAX));
  }

  /** Keeps a fact unless it is empty. */
  fact(name: string, value: string | number | boolean | readonly unknown[] | null | undefined): void {
    if (value === null || value === undefined || value === "") return;
    if (Array.isArray(value) && value.length === 0) return;
    if (typeof value === "number" && !Number.isFinite(value)) return;
    this.metadata[name] = typeof value === "string" ? plainText(value) : value;
  }

  /** Milliseconds left. */
  get remainingMs(): number {
    return this.endsAtMs - performance.now();
  }

  /** Called between the parts of a long parse. Throws DbError `file_timeout`. */
  checkTime(): void {
    if (this.remainingMs <= 0) throw new DbError("file_timeout");
  }
}

function plainText(value: string): string {
  return storableText(value.slice(0, FILE_METADATA_CHARACTERS_MAX)).trim();
}
