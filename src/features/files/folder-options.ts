/** The options of a filesystem collection, as requests, statements of SQL and records have them. */
import { DbError } from "../../protocol/errors.js";
import {
  CHUNK_CHARACTERS_DEFAULT,
  CHUNK_CHARACTERS_MAX,
  CHUNK_CHARACTERS_MIN,
  CHUNK_OVERLAP_DEFAULT,
  FOLDER_DEBOUNCE_MS_DEFAULT,
  FOLDER_DEBOUNCE_MS_MAX,
  GLOB_CHARACTERS_MAX,
  GLOBS_MAX,
} from "../../protocol/limits.js";

export interface FolderOptions {
  readonly recursive: boolean;
  readonly embed_text: boolean;
  readonly ocr_images: boolean;
  /** UTF-16 code units. */
  readonly chunk_size: number;
  readonly overlap: number;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Without a further change, until a change is looked at. */
  readonly debounce_ms: number;
}

/** What is hidden stays out, unless a collection says otherwise. */
const EXCLUDED_DEFAULT: readonly string[] = ["**/.*"];

type Given = Readonly<Record<string, unknown>>;

export const OPTION_NAMES = [
  "recursive",
  "embed_text",
  "ocr_images",
  "chunk_size",
  "overlap",
  "chunk_overlap",
  "include",
  "exclude",
  "debounce_ms",
] as const;

export type GivenOptions = Readonly<Partial<Record<(typeof OPTION_NAMES)[number], unknown>>>;

/** Those of a request's body. */
export function optionsIn(body: Given): GivenOptions {
  return Object.fromEntries(OPTION_NAMES.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])));
}

/** Throws invalid_request with the field. Also for records, since administrators can write those. */
export function folderOptions(given: Given): FolderOptions {
  const unknown = Object.keys(given).find((name) => !(OPTION_NAMES as readonly string[]).includes(name));
  if (unknown !== undefined) throw invalid(unknown, `is no option; known: ${OPTION_NAMES.join(", ")}`);
  const size = wholeNumber(given, "chunk_size", CHUNK_CHARACTERS_DEFAULT, CHUNK_CHARACTERS_MIN, CHUNK_CHARACTERS_MAX);
  const overlapName = given.chunk_overlap === undefined ? "overlap" : "chunk_overlap";
  const usual = Math.min(CHUNK_OVERLAP_DEFAULT, Math.floor(size / 4));
  return {
    recursive: flag(given, "recursive", true),
    embed_text: flag(given, "embed_text", true),
    ocr_images: flag(given, "ocr_images", false),
    chunk_size: size,
    overlap: wholeNumber(given, overlapName, usual, 0, Math.floor(size / 2)),
    include: globs(given, "include", []),
    exclude: globs(given, "exclude", EXCLUDED_DEFAULT),
    debounce_ms: wholeNumber(given, "debounce_ms", FOLDER_DEBOUNCE_MS_DEFAULT, 0, FOLDER_DEBOUNCE_MS_MAX),
  };
}

function invalid(field: string, message: string): DbError {
  return new DbError("invalid_request", `The field "${field}" ${message}.`, { field });
}

function flag(given: Given, field: string, usual: boolean): boolean {
  const value = given[field] ?? usual;
  if (typeof value === "boolean") return value;
  throw invalid(field, "must be true or false");
}

function wholeNumber(given: Given, field: string, usual: number, min: number, max: number): number {
  const value = given[field] ?? usual;
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  throw invalid(field, `must be a whole number from ${min} to ${max}`);
}

/** A list, or one text with commas between patterns. */
function globs(given: Given, field: string, usual: readonly string[]): readonly string[] {
  const value = given[field] ?? usual;
  const list = typeof value === "string" ? value.split(",").map((glob) => glob.trim()) : value;
  if (!Array.isArray(list) || list.length > GLOBS_MAX)
    throw invalid(field, `must be a list of at most ${GLOBS_MAX} patterns`);
  for (const glob of list) {
    if (typeof glob === "string" && glob !== "" && glob.length <= GLOB_CHARACTERS_MAX) continue;
    throw invalid(field, `must have patterns of 1 to ${GLOB_CHARACTERS_MAX} characters, say "**/*.md"`);
  }
  return list as string[];
}
