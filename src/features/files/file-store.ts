/**
 * A tenant's filesystem collections, and the files in them, as they are stored: in tables of the tenant, by statements
 * like a client's. Called by the handlers and by the work on folders; holds no state.
 */
import { randomBytes } from "node:crypto";
import type { Request } from "../../actor/request.js";
import type { FileStatus, FoundFile, KnownFile } from "../../ingest/watch/found-file.js";
import { DbError, type ErrorCode } from "../../protocol/errors.js";
import type { RunStatement } from "../documents/document-session.js";
import { ownRowsOf, timeOf } from "../statements/run-alone.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { FILES, FOLDERS, FOLDERS_NAME } from "./file-tables.js";
import { type FolderOptions, folderOptions } from "./folder-options.js";

export interface Folder {
  readonly id: string;
  /** Of the collection that has the passages. */
  readonly name: string;
  /** Of that collection; null: it was made before this was recorded. */
  readonly tableId: number | null;
  /** With all links followed, when it was made. */
  readonly root: string;
  readonly options: FolderOptions;
  readonly paused: boolean;
  /** Why the folder is not watched, or only in part. */
  readonly problem: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly scannedAt: string | null;
}

export interface FileRecord extends KnownFile {
  readonly id: string;
  /** A number that changes whenever a change of the file is noticed. */
  readonly revision: number;
  readonly size: number;
  /** SHA-256 of what was read last; null: nothing was, or it is to be read whatever it holds. */
  readonly hash: string | null;
  readonly chunks: number;
  readonly errorCode: string | null;
  /** How often it was begun since it was last finished. */
  readonly attempts: number;
}

/** What a list shows beside it. */
export interface ListedFile extends FileRecord {
  readonly kind: string | null;
  readonly mediaType: string | null;
  readonly title: string | null;
  readonly metadata: unknown;
  readonly notes: readonly string[] | null;
  readonly error: string | null;
  readonly dueAt: string;
  readonly foundAt: string;
  readonly readAt: string | null;
}

/** By status. */
export type FileCounts = Readonly<
  Record<FileStatus, { readonly files: number; readonly bytes: number; readonly chunks: number }>
>;

type Row = readonly unknown[];

const FOLDER_COLUMNS = "id, name, root, options, paused, problem, created_at, updated_at, scanned_at";
const FILE_COLUMNS = "path, id, status, revision, size, stamp, hash, chunks, error_code, attempts";
const LISTED_COLUMNS = `${FILE_COLUMNS}, kind, media_type, title, metadata, notes, error, due_at, found_at, read_at`;

/** Later ones are greater, from one millisecond to the next. */
export function newId(kind: "fsc" | "file"): string {
  return `${kind}_${Date.now().toString(36)}${randomBytes(8).toString("hex")}`;
}

export function hasFolders(request: Request): boolean {
  return withDefinitions(request, (catalog) => catalog.table(null, FOLDERS_NAME)) !== null;
}

/** Null: there is none. */
export async function folderById(request: Request, id: string): Promise<Folder | null> {
  if (!hasFolders(request)) return null;
  const sql = `SELECT ${FOLDER_COLUMNS} FROM ${FOLDERS} WHERE id = $1::text`;
  const [row] = await ownRowsOf(request, { sql, params: [id] });
  return row === undefined ? null : folderOf(row);
}

/** By the collection's name, in a transaction; null: there is none. */
export async function folderNamed(
  run: RunStatement,
  name: string,
): Promise<Pick<Folder, "id" | "name" | "tableId"> | null> {
  const sql = `SELECT id, (options ->> 'table_id')::float8 FROM ${FOLDERS} WHERE name = $1::text`;
  const [row] = (await run({ own: true, sql, params: [name] })).rows;
  return row === undefined ? null : { id: row[0] as string, name, tableId: row[1] as number | null };
}

/** By id, or by the collection's name. Throws not_found. */
export async function findFolder(request: Request, idOrName: string): Promise<Folder> {
  if (hasFolders(request)) {
    const sql = `SELECT ${FOLDER_COLUMNS} FROM ${FOLDERS} WHERE id = $1::text OR name = $1::text`;
    const [row] = await ownRowsOf(request, { sql, params: [idOrName] });
    if (row !== undefined) return folderOf(row);
  }
  throw noFolder(idOrName);
}

export function noFolder(id: string): DbError {
  return new DbError("not_found", `The filesystem collection "${id.slice(0, 100)}" does not exist.`, {
    hint: "POST /v1/filesystem-collections creates one. GET /v1/filesystem-collections lists them.",
  });
}

/** All of the tenant, the oldest first. */
export async function allFolders(request: Request): Promise<Folder[]> {
  if (!hasFolders(request)) return [];
  const sql = `SELECT ${FOLDER_COLUMNS} FROM ${FOLDERS} ORDER BY created_at, id`;
  return (await ownRowsOf(request, { sql, params: [] })).map(folderOf);
}

export async function insertFolder(run: RunStatement, folder: Folder, userId: string): Promise<void> {
  const { id, name, root, createdAt } = folder;
  await run({
    own: true,
    sql: `INSERT INTO ${FOLDERS} VALUES ($1, $2, $3, $4::jsonb, false, NULL, $5, $6::timestamptz, $6::timestamptz, NULL)`,
    params: [id, name, root, recordedOptions(folder), userId, createdAt],
  });
}

/** Throws not_found. */
export async function changeFolder(
  run: RunStatement,
  id: string,
  change: {
    readonly paused?: boolean;
    /** With the rest of the folder, to which they belong. */
    readonly options?: Pick<Folder, "options" | "tableId">;
    readonly problem?: string | null;
    readonly scannedAt?: string;
  },
): Promise<void> {
  const { paused, options, problem, scannedAt } = change;
  const sets: string[] = [];
  const params: unknown[] = [id];
  const set = (column: string, type: string, value: unknown) =>
    sets.push(`${column} = $${params.push(value)}::${type}`);
  if (paused !== undefined) set("paused", "boolean", paused);
  if (options !== undefined) set("options", "jsonb", recordedOptions(options));
  if (problem !== undefined) set("problem", "text", problem);
  if (scannedAt !== undefined) set("scanned_at", "timestamptz", scannedAt);
  set("updated_at", "timestamptz", new Date().toISOString());
  const { affected } = await run({
    own: true,
    sql: `UPDATE ${FOLDERS} SET ${sets.join(", ")} WHERE id = $1::text`,
    params,
  });
  if (affected === 0) throw noFolder(id);
}

/** Whether its options are still these. */
export async function hasOptions(run: RunStatement, { id, options }: Folder): Promise<boolean> {
  const [row] = (await run({ own: true, sql: `SELECT options FROM ${FOLDERS} WHERE id = $1::text`, params: [id] }))
    .rows;
  if (row === undefined) return false;
  return JSON.stringify(optionsOf(row[0]).options) === JSON.stringify(options);
}

/** With what is known of its files. Throws not_found. */
export async function deleteFolder(run: RunStatement, id: string): Promise<void> {
  const { affected } = await run({ own: true, sql: `DELETE FROM ${FOLDERS} WHERE id = $1::text`, params: [id] });
  if (affected === 0) throw noFolder(id);
  await run({ own: true, sql: `DELETE FROM ${FILES} WHERE folder_id = $1::text`, params: [id] });
}

/** Of all of the tenant's folders. */
export async function tenantUse(request: Request): Promise<{ readonly files: number; readonly bytes: number }> {
  const sql = `SELECT count(*), coalesce(sum(size), 0)::float8 FROM ${FILES} WHERE status <> 'gone'`;
  const [row] = await ownRowsOf(request, { sql, params: [] });
  return { files: Number(row![0]), bytes: Number(row![1]) };
}

/** `seen`: a condition on files; "": all. */
export async function countFiles(request: Request, folderId: string, seen = ""): Promise<FileCounts> {
  const none = { files: 0, bytes: 0, chunks: 0 };
  const counts = { pending: none, indexed: none, failed: none, gone: none };
  const rows = await ownRowsOf(request, {
    sql: `SELECT status, count(*), sum(size)::float8, sum(chunks)::float8 FROM ${FILES} WHERE folder_id = $1::text${seen} GROUP BY status`,
    params: [folderId],
  });
  for (const [status, files, bytes, chunks] of rows) {
    counts[status as FileStatus] = { files: Number(files), bytes: Number(bytes), chunks: Number(chunks) };
  }
  return counts;
}

/** Behind `after` and, if it is not null, up to `to`, in the order of paths. */
export async function knownFiles(
  request: Request,
  folderId: string,
  after: string,
  to: string | null,
  max: number,
): Promise<KnownFile[]> {
  const bound = to === null ? "" : " AND path <= $4::text";
  const rows = await ownRowsOf(request, {
    sql: `SELECT path, status, stamp FROM ${FILES} WHERE folder_id = $1::text AND path > $2::text${bound} ORDER BY path LIMIT $3::int8`,
    params: [folderId, after, max, ...(to === null ? [] : [to])],
  });
  return rows.map(([path, status, stamp]) => ({ path, status, stamp }) as KnownFile);
}

/** Null: there is no record of it. */
export async function fileAt(request: Request, folderId: string, path: string): Promise<FileRecord | null> {
  const sql = `SELECT ${FILE_COLUMNS} FROM ${FILES} WHERE folder_id = $1::text AND path = $2::text`;
  const [row] = await ownRowsOf(request, { sql, params: [folderId, path] });
  return row === undefined ? null : recordOf(row);
}

/** By its id, and if it is seen. */
export async function hasFile(request: Request, folderId: string, id: string, seen: string): Promise<boolean> {
  const sql = `SELECT 1 FROM ${FILES} WHERE folder_id = $1::text AND id = $2::text${seen}`;
  return (await ownRowsOf(request, { sql, params: [folderId, id] })).length > 0;
}

export async function fileIn(run: RunStatement, folderId: string, path: string): Promise<FileRecord | null> {
  const sql = `SELECT ${FILE_COLUMNS} FROM ${FILES} WHERE folder_id = $1::text AND path = $2::text`;
  const [row] = (await run({ own: true, sql, params: [folderId, path] })).rows;
  return row === undefined ? null : recordOf(row);
}

/** Those that are to be read next. */
export async function dueFiles(request: Request, folderId: string, now: string, max: number): Promise<FileRecord[]> {
  const rows = await ownRowsOf(request, {
    sql: `SELECT ${FILE_COLUMNS} FROM ${FILES} WHERE folder_id = $1::text AND status = 'pending' AND due_at <= $2::timestamptz
          ORDER BY due_at LIMIT $3::int8`,
    params: [folderId, now, max],
  });
  return rows.map(recordOf);
}

/** When the next one is to be read; null: none is. */
export async function nextDueMs(request: Request, folderId: string): Promise<number | null> {
  const rows = await ownRowsOf(request, {
    sql: `SELECT due_at FROM ${FILES} WHERE folder_id = $1::text AND status = 'pending' ORDER BY due_at LIMIT 1`,
    params: [folderId],
  });
  return rows.length === 0 ? null : Date.parse(rows[0]![0] as string);
}

/**
 * Those that have gone from the folder, but for such whose size a file has that nobody has read yet: it may be the
 * same.
 */
export async function removableFiles(request: Request, folderId: string, max: number): Promise<FileRecord[]> {
  const gone = await ownRowsOf(request, {
    sql: `SELECT ${FILE_COLUMNS} FROM ${FILES} WHERE folder_id = $1::text AND status = 'gone' ORDER BY due_at LIMIT $2::int8`,
    params: [folderId, max],
  });
  if (gone.length === 0) return [];
  const sizes = await ownRowsOf(request, {
    sql: `SELECT DISTINCT size FROM ${FILES} WHERE folder_id = $1::text AND status = 'pending' AND attempts <= 1`,
    params: [folderId],
  });
  const unread = new Set(sizes.map(([size]) => Number(size)));
  return gone.map(recordOf).filter(({ size }) => !unread.has(size));
}

/** Records of files that have gone and held that many bytes with that digest. */
export async function goneWith(request: Request, folderId: string, size: number, hash: string): Promise<FileRecord[]> {
  const rows = await ownRowsOf(request, {
    sql: `SELECT ${FILE_COLUMNS} FROM ${FILES} WHERE folder_id = $1::text AND status = 'gone' AND size = $2::int8 AND hash = $3::text`,
    params: [folderId, size, hash],
  });
  return rows.map(recordOf);
}

export async function hasGoneOfSize(request: Request, folderId: string, size: number): Promise<boolean> {
  const rows = await ownRowsOf(request, {
    sql: `SELECT 1 FROM ${FILES} WHERE folder_id = $1::text AND status = 'gone' AND size = $2::int8 LIMIT 1`,
    params: [folderId, size],
  });
  return rows.length > 0;
}

export async function insertFile(run: RunStatement, folderId: string, file: FoundFile, now: string): Promise<void> {
  await run({
    own: true,
    sql: `INSERT INTO ${FILES} (folder_id, path, id, status, revision, size, stamp, chunks, attempts, due_at, found_at)
          VALUES ($1, $2, $3, 'pending', 0, $4::int8, $5, 0, 0, $6::timestamptz, $6::timestamptz)
          ON CONFLICT (folder_id, path) DO NOTHING`,
    params: [folderId, file.path, newId("file"), file.size, file.stamp, now],
  });
}

/** It has to be looked at again. */
export async function fileChanged(run: RunStatement, folderId: string, file: FoundFile, now: string): Promise<void> {
  await run({
    own: true,
    sql: `UPDATE ${FILES} SET status = 'pending', size = $3::int8, stamp = $4::text, revision = revision + 1, attempts = 0,
            due_at = $5::timestamptz
          WHERE folder_id = $1::text AND path = $2::text`,
    params: [folderId, file.path, file.size, file.stamp, now],
  });
}

export async function fileGone(run: RunStatement, folderId: string, path: string, now: string): Promise<void> {
  await run({
    own: true,
    sql: `UPDATE ${FILES} SET status = 'gone', revision = revision + 1, due_at = $3::timestamptz
          WHERE folder_id = $1::text AND path = $2::text`,
    params: [folderId, path, now],
  });
}

/** Before a file is read, so that one that ends the server is known afterwards. */
export async function fileBegun(run: RunStatement, folderId: string, path: string): Promise<void> {
  await run({
    own: true,
    sql: `UPDATE ${FILES} SET attempts = attempts + 1 WHERE folder_id = $1::text AND path = $2::text`,
    params: [folderId, path],
  });
}

export interface FinishedFile {
  readonly status: "indexed" | "failed";
  readonly hash: string | null;
  readonly kind: string | null;
  readonly mediaType: string | null;
  readonly title: string | null;
  readonly metadata: object | null;
  readonly notes: readonly string[];
  readonly chunks: number;
  readonly error: { readonly code: ErrorCode; readonly message: string } | null;
}

/** `status`: pending where it has changed while it was read. */
export async function fileFinished(
  run: RunStatement,
  folderId: string,
  path: string,
  done: Omit<FinishedFile, "status">,
  status: FileStatus,
  now: string,
): Promise<void> {
  const { hash, kind, mediaType, title, metadata, notes, chunks, error } = done;
  await run({
    own: true,
    sql: `UPDATE ${FILES} SET status = $3::text, hash = $4::text, kind = $5::text, media_type = $6::text, title = $7::text,
            metadata = $8::jsonb, notes = $9::jsonb, chunks = $10::int8, error_code = $11::text, error = $12::text,
            attempts = 0, read_at = $13::timestamptz
          WHERE folder_id = $1::text AND path = $2::text`,
    params: [
      folderId,
      path,
      status,
      hash,
      kind,
      mediaType,
      title,
      metadata === null ? null : JSON.stringify(metadata),
      JSON.stringify(notes),
      chunks,
      error?.code ?? null,
      error?.message ?? null,
      now,
    ],
  });
}

/** As it was read before: its content is the same. */
export async function fileUnchanged(run: RunStatement, folderId: string, path: string): Promise<void> {
  await run({
    own: true,
    sql: `UPDATE ${FILES} SET status = CASE WHEN error_code IS NULL THEN 'indexed' ELSE 'failed' END, attempts = 0
          WHERE folder_id = $1::text AND path = $2::text`,
    params: [folderId, path],
  });
}

export async function fileDelayed(run: RunStatement, folderId: string, path: string, dueAt: string): Promise<void> {
  await run({
    own: true,
    sql: `UPDATE ${FILES} SET due_at = $3::timestamptz WHERE folder_id = $1::text AND path = $2::text`,
    params: [folderId, path, dueAt],
  });
}

export async function removeFile(run: RunStatement, folderId: string, path: string): Promise<void> {
  const sql = `DELETE FROM ${FILES} WHERE folder_id = $1::text AND path = $2::text`;
  await run({ own: true, sql, params: [folderId, path] });
}

/** The record of a file that lies elsewhere now. */
export async function moveFile(run: RunStatement, folderId: string, from: string, to: FoundFile): Promise<void> {
  await run({
    own: true,
    sql: `UPDATE ${FILES} SET path = $3::text, stamp = $4::text, revision = revision + 1, attempts = 0,
            status = CASE WHEN error_code IS NULL THEN 'indexed' ELSE 'failed' END
          WHERE folder_id = $1::text AND path = $2::text`,
    params: [folderId, from, to.path, to.stamp],
  });
}

export async function listFiles(
  request: Request,
  folderId: string,
  status: string | null,
  { limit, offset, seen }: { readonly limit: number; readonly offset: number; readonly seen: string },
): Promise<{ readonly files: readonly ListedFile[]; readonly total: number }> {
  const where = `folder_id = $1::text AND ${status === null ? "status <> 'gone'" : "status = $2::text"}${seen}`;
  const params = [folderId, ...(status === null ? [] : [status])];
  const rows = await ownRowsOf(request, {
    sql: `SELECT ${LISTED_COLUMNS} FROM ${FILES} WHERE ${where} ORDER BY path
          LIMIT $${params.length + 1}::int8 OFFSET $${params.length + 2}::int8`,
    params: [...params, limit, offset],
  });
  const [counted] = await ownRowsOf(request, { sql: `SELECT count(*) FROM ${FILES} WHERE ${where}`, params });
  return { files: rows.map(listedOf), total: Number(counted![0]) };
}

/** The collection's number is recorded beside them. */
function recordedOptions({ options, tableId }: Pick<Folder, "options" | "tableId">): string {
  return JSON.stringify(tableId === null ? options : { ...options, table_id: tableId });
}

function optionsOf(recorded: unknown): Pick<Folder, "options" | "tableId"> {
  const { table_id: tableId = null, ...options } = recorded as Readonly<Record<string, unknown>>;
  return { options: folderOptions(options), tableId: tableId as number | null };
}

function folderOf(row: Row): Folder {
  const [id, name, root, options, paused, problem, createdAt, updatedAt, scannedAt] = row;
  return {
    id: id as string,
    name: name as string,
    root: root as string,
    ...optionsOf(options),
    paused: paused as boolean,
    problem: problem as string | null,
    createdAt: timeOf(createdAt),
    updatedAt: timeOf(updatedAt),
    scannedAt: scannedAt === null ? null : timeOf(scannedAt),
  };
}

function recordOf(row: Row): FileRecord {
  const [path, id, status, revision, size, stamp, hash, chunks, errorCode, attempts] = row;
  return {
    path: path as string,
    id: id as string,
    status: status as FileStatus,
    revision: Number(revision),
    size: Number(size),
    stamp: stamp as string,
    hash: hash as string | null,
    chunks: Number(chunks),
    errorCode: errorCode as string | null,
    attempts: Number(attempts),
  };
}

function listedOf(row: Row): ListedFile {
  const [kind, mediaType, title, metadata, notes, error, dueAt, foundAt, readAt] = row.slice(10);
  return {
    ...recordOf(row),
    kind: kind as string | null,
    mediaType: mediaType as string | null,
    title: title as string | null,
    metadata,
    notes: notes as readonly string[] | null,
    error: error as string | null,
    dueAt: timeOf(dueAt),
    foundAt: timeOf(foundAt),
    readAt: readAt === null ? null : timeOf(readAt),
  };
}
