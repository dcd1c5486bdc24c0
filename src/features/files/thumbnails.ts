/**
 * Thumbnails of a tenant's files, in a table of their own, so that lists of files do not carry them; made with the
 * first collection, or by the first thumbnail where collections were there before. Called by file-reader.ts,
 * file-store.ts and the handlers; holds no state.
 */

import type { Request } from "../../actor/request.js";
import type { RunStatement } from "../documents/document-session.js";
import { ownRowsOf } from "../statements/run-alone.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { CREATE_THUMBNAILS, THUMBNAILS, THUMBNAILS_NAME } from "./file-tables.js";

/** Thumbnails are WebP whatever the file is, and are served as such: the tenant's rows hold no media type. */
export const THUMBNAIL_TYPE = "image/webp";

function hasThumbnails(request: Request): boolean {
  return withDefinitions(request, (catalog) => catalog.table(null, THUMBNAILS_NAME)) !== null;
}

export async function putThumbnail(
  request: Request,
  run: RunStatement,
  folderId: string,
  fileId: string,
  image: Uint8Array,
): Promise<void> {
  if (!hasThumbnails(request)) await run({ own: true, sql: CREATE_THUMBNAILS, params: [] });
  await run({
    own: true,
    sql: `INSERT INTO ${THUMBNAILS} VALUES ($1::text, $2::text, decode($3::text, 'base64'))`,
    params: [folderId, fileId, Buffer.from(image).toString("base64")],
  });
}

/** Null: of all files of the folder. */
export async function removeThumbnails(
  request: Request,
  run: RunStatement,
  folderId: string,
  fileId: string | null,
): Promise<void> {
  if (!hasThumbnails(request)) return;
  const one = fileId === null ? "" : " AND file_id = $2::text";
  const sql = `DELETE FROM ${THUMBNAILS} WHERE folder_id = $1::text${one}`;
  await run({ own: true, sql, params: [folderId, ...(fileId === null ? [] : [fileId])] });
}

/** Null: the file has none, or there is no such file. */
export async function thumbnailOf(request: Request, folderId: string, fileId: string): Promise<Buffer | null> {
  if (!hasThumbnails(request)) return null;
  const sql = `SELECT encode(image, 'base64') FROM ${THUMBNAILS} WHERE folder_id = $1::text AND file_id = $2::text`;
  const [row] = await ownRowsOf(request, { sql, params: [folderId, fileId] });
  return row === undefined ? null : Buffer.from(row[0] as string, "base64");
}

/** Which of these files have one. */
export async function withThumbnails(
  request: Request,
  folderId: string,
  fileIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (fileIds.length === 0 || !hasThumbnails(request)) return new Set();
  const sql = `SELECT file_id FROM ${THUMBNAILS} WHERE folder_id = $1::text AND file_id = ANY($2::text[])`;
  const rows = await ownRowsOf(request, { sql, params: [folderId, fileIds] });
  return new Set(rows.map(([id]) => id as string));
}
