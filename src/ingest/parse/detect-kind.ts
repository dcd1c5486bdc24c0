/**
 * Finds the kind of a file whose bytes have been read: by its content, with its name as a hint. If the two disagree,
 * it says what is wrong. Called by parse-file.ts.
 */
import { fileTypeFromBuffer } from "file-type";
import { DbError } from "../../protocol/errors.js";
import { openArchive } from "./archive.js";
import type { FileKind } from "./contract.js";
import { isArchive, isTextual, kindByName, kindOf } from "./kind-of.js";

export interface DetectedKind {
  readonly kind: FileKind;
  /** Where the content tells it. */
  readonly mediaType: string | undefined;
}

/** Entries that make an archive a document of a kind. */
const DOCUMENTS: readonly (readonly [string, FileKind])[] = [
  ["word/document.xml", "docx"],
  ["ppt/presentation.xml", "pptx"],
  ["xl/workbook.xml", "xlsx"],
  ["META-INF/container.xml", "epub"],
];
/** Of Microsoft's compound files: older office documents, and newer ones with a password. */
const COMPOUND_START = Buffer.from("d0cf11e0a1b11ae1", "hex");
const ENCRYPTED_PART = Buffer.from("EncryptedPackage", "utf16le");

/** Throws DbError `file_unsupported`, `file_encrypted`, `file_too_large` or `file_corrupt`. */
export async function detectKind(path: string, bytes: Buffer): Promise<DetectedKind> {
  const named = kindByName(path);
  const kind = kindOf(path, bytes.subarray(0, 4100));
  if (isTextual(kind)) return { kind, mediaType: undefined };
  if (bytes.subarray(0, 4).equals(Buffer.from("PK\x03\x04"))) return detectArchive(path, named, bytes);
  if (bytes.subarray(0, 8).equals(COMPOUND_START) && bytes.includes(ENCRYPTED_PART))
    throw new DbError("file_encrypted");
  // Some writers of PDF put other bytes before its start.
  if (kind === "pdf" || (named === "pdf" && bytes.subarray(0, 1024).includes("%PDF-"))) {
    return { kind: "pdf", mediaType: "application/pdf" };
  }
  const found = await typeOf(bytes);
  if (kind === "other" || !isFamily(kind, found)) throw mismatch(path, named, found);
  return { kind: found?.startsWith("audio/") === true ? "audio" : kind, mediaType: found };
}

async function detectArchive(path: string, named: FileKind, bytes: Buffer): Promise<DetectedKind> {
  const names = new Set((await openArchive(bytes)).names);
  const found = DOCUMENTS.find(([entry]) => names.has(entry));
  if (found === undefined) throw mismatch(path, named, "application/zip");
  return { kind: found[1], mediaType: undefined };
}

/** Images are told by their own parser. */
function isFamily(kind: FileKind, mediaType: string | undefined): boolean {
  if (kind === "image") return true;
  return mediaType !== undefined && /^(audio|video)\/|^application\/(ogg|mxf|vnd\.rn-realmedia)/.test(mediaType);
}

async function typeOf(bytes: Buffer): Promise<string | undefined> {
  try {
    return (await fileTypeFromBuffer(bytes))?.mime.split(";")[0];
  } catch {
    return undefined;
  }
}

function mismatch(path: string, named: FileKind, found: string | undefined): DbError {
  const content = found === undefined ? "no format that is known" : found;
  if (named === "other") {
    return new DbError("file_unsupported", `${path} has an unsupported kind of content: ${content}.`);
  }
  const what = isArchive(named) || named === "pdf" ? named.toUpperCase() : named;
  return new DbError("file_corrupt", `${path} is named as ${what}, but its content is ${content}.`);
}
