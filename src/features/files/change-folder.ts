/**
 * PATCH /v1/filesystem-collections/{id}: pauses and resumes a collection, and changes its options. The files that the
 * change concerns become pending in one transaction with the record. Which files belong to the collection follows from
 * the next scan.
 */

import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import type { Answer } from "../../session/answer.js";
import { type RunStatement, writeTogether } from "../documents/document-session.js";
import { workOf } from "./file-jobs.js";
import { changeFolder, type Folder } from "./file-store.js";
import { alone } from "./file-turns.js";
import { type FolderOptions, folderOptions, type GivenOptions, optionsIn } from "./folder-options.js";
import { requireFolderAdmin } from "./make-folder.js";
import { type FilesConcerned, readAnew } from "./read-anew.js";

/** Where pictures are that have words. */
const KINDS_WITH_PICTURES: readonly string[] = ["image", "pdf", "video"];
/** Errors of files that were set aside which reading words in images may have caused. */
const ERRORS_OF_OCR: readonly string[] = ["file_timeout", "file_too_large", "reader_failed"];

/** What is what it was when the collection was made; its name in requests. */
function fixed({ name, root, options }: Folder): readonly (readonly [field: string, value: unknown, hint: string])[] {
  const another = "Create another collection for that, and delete this one.";
  return [
    ["name", name, another],
    ["watch_dir", root, another],
    ["path", root, another],
    ["embed_text", options.embed_text, "PATCH /v1/collections/{name} adds vectors to a field or removes them."],
  ];
}

/**
 * `answerOf` is called before the commit, with the number of files that will be read again. Throws invalid_request with
 * the field if it cannot be changed or has a wrong value, and forbidden if the caller is not an administrator.
 */
export async function updateFolder<T>(
  request: Request,
  folder: Folder,
  body: Readonly<Record<string, unknown>>,
  answerOf: (changed: Folder, queued: number) => Answer<T>,
): Promise<Answer<T>> {
  for (const [field, value, hint] of fixed(folder)) {
    if (body[field] === undefined || body[field] === value) continue;
    throw new DbError("invalid_request", `The field "${field}" of a filesystem collection cannot be changed.`, {
      field,
      hint,
    });
  }
  if (Object.keys(body).length === 0) {
    throw new DbError("invalid_request", 'Send "paused" or the options to change.', { field: "paused" });
  }
  const given = optionsIn(body);
  const { paused = folder.paused } = body as { readonly paused?: boolean };
  const options = await changedOptions(request, folder.options, given);
  const write = async (run: RunStatement): Promise<Answer<T>> => {
    await changeFolder(run, folder.id, {
      paused,
      ...(options !== folder.options && { options: { ...folder, options } }),
    });
    const concerned = filesConcerned(folder.options, options);
    const now = new Date().toISOString();
    const queued = concerned === null ? 0 : await readAnew(run, folder.id, concerned, now);
    return answerOf({ ...folder, paused, options }, queued);
  };
  const answer = await alone(request, () => writeTogether(request, write));
  workOf(request.partition, request.tenant.number, folder.id)?.poke();
  return answer;
}

async function changedOptions(request: Request, options: FolderOptions, given: GivenOptions): Promise<FolderOptions> {
  if (Object.keys(given).length === 0) return options;
  // Which files of the server are read is an admin's to say, as when a collection is made.
  requireFolderAdmin(request);
  const { chunk_overlap: overlap, ...others } = given;
  const changed = folderOptions({ ...options, ...others, ...(overlap !== undefined && { overlap }) });
  (await import("../../ingest/watch/path-filter.js")).pathFilter(changed);
  return changed;
}

/** Of those that have been read; null: none. */
function filesConcerned(before: FolderOptions, after: FolderOptions): FilesConcerned | null {
  if (before.chunk_size !== after.chunk_size || before.overlap !== after.overlap) {
    return { kind: "read", kinds: null, errors: before.ocr_images === after.ocr_images ? [] : ERRORS_OF_OCR };
  }
  if (before.ocr_images === after.ocr_images) return null;
  return { kind: "read", kinds: KINDS_WITH_PICTURES, errors: ERRORS_OF_OCR };
}
