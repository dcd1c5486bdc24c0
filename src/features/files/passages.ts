/** The documents of a file: one for each of its passages, with where in the file it stands. Pure; called by file-reader.ts. */
import type { ParsedChunk, ParsedFile } from "../../ingest/parse/contract.js";
import type { FileRecord } from "./file-store.js";

const DESCRIPTION_CHARACTERS_MAX = 2000;

/** `vectors`: of what the file looks like, by field. Its first passage has them, so that an image is found once. */
export function documentsOf(
  { id, path }: FileRecord,
  parsed: ParsedFile,
  vectors: Readonly<Record<string, readonly number[]>> = {},
): Readonly<Record<string, unknown>>[] {
  const { kind, title, chunks } = parsed;
  // What has no text is found by what is known about it.
  const passages: readonly ParsedChunk[] =
    chunks.length > 0 ? chunks : [{ text: description(parsed), start: 0, end: 0 }];
  return passages.map((passage, i) => ({
    id: `${id}-${String(i).padStart(5, "0")}`,
    text: passage.text,
    file: path,
    ...(title !== undefined && { title }),
    ...(passage.heading !== undefined && { heading: passage.heading }),
    ...(passage.page !== undefined && { page: passage.page }),
    kind,
    chunk: i,
    start_offset: passage.start,
    end_offset: passage.end,
    ...(passage.startSeconds !== undefined && { start_seconds: passage.startSeconds }),
    ...(passage.endSeconds !== undefined && { end_seconds: passage.endSeconds }),
    document_id: id,
    ...(i === 0 && vectors),
  }));
}

/** Nothing of its name, which may change without a change of the file. */
function description({ kind, title, metadata }: ParsedFile): string {
  const facts = Object.entries(metadata)
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
    .map(([fact, value]) => `${fact}: ${value}`);
  return [...(title === undefined ? [] : [title]), kind, ...facts].join("\n").slice(0, DESCRIPTION_CHARACTERS_MAX);
}
